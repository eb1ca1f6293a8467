"""The quirks of SVRG: where MXNet 1.9.1 computes something else than the algorithm."""

from ...quirks import declare

NO_RESET = declare(
    "svrg-no-reset", "SVRG/full-gradient",
    "a full pass adds to the mean of the pass before, and divides both; only init_optimizer starts from zero",
    "the mean over the rows, at one snapshot, is meant",
)
ZEROED_WEIGHTS = declare(
    "svrg-zeroed-weights", "SVRG/init-optimizer",
    "init_optimizer with a store leaves zeros in the weights of every context, until the first update",
    "the first gradient would be that of other weights",
)
MEAN_PER_DEVICE = declare(
    "svrg-mean-per-device", "SVRG/mean-once",
    "every context adds its share of the mean, which is rounded on 3, 5, 6, ... contexts",
    "the mean is added once",
)
UPDATE_CORRECTS = declare(
    "svrg-update-corrects", "SVRG/corrected-once",
    "update corrects the gradients, and does so again when it is called again",
    "a gradient is corrected once",
)
STALE_SNAPSHOT = declare(
    "svrg-stale-snapshot", "SVRG/snapshot-follows",
    "the snapshot sees a batch only if forward is told is_train=True; otherwise an older batch is subtracted",
    "forward(batch) means training in a module that is bound for it",
)
ADD_ACCUMULATES = declare(
    "svrg-add-accumulates", "SVRG/add",
    "with grad_req='add' the snapshot adds up its gradients too, from batch to batch and from pass to pass",
    "the sum of corrected gradients is meant",
)
LOAD_MODULE = declare(
    "svrg-load-module", "SVRG/load",
    "SVRGModule.load returns a Module, and refuses update_freq",
    "training would go on without SVRG",
)
PADDING = declare(
    "svrg-padding", "SVRG/full-gradient",
    "the gradients of padded rows are in the full gradient, though its divisor leaves them out",
    "the mean over the rows that there are is meant",
)
FULL_NAMES = declare(
    "svrg-full-names", "SVRG/accumulator-names",
    'a parameter whose name contains "full" is no parameter: every update writes its gradient over it',
    "FullyConnected layers without a name of their own would not learn",
)
SHARED_SNAPSHOT = declare(
    "svrg-shared-snapshot", "SVRG/no-store",
    "without a store the snapshot of every context is the mean of their weights",
    "gradients are compared to those of weights that are near",
)
