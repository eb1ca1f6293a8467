"""BatchNorm_v1, _contrib_SyncBatchNorm, _contrib_BatchNormWithReLU: BatchNorm with small differences.

[batch-norm-family/same] all clauses of BatchNorm hold for data, gamma, beta and the moving statistics. BatchNorm_v1 and
    SyncBatchNorm take axis 1 as channels.
    >>> run("BatchNorm_v1", [[1], [3]], [2], [10], [0], [1], fix_gamma=False, eps=0, is_train=True)
    [[8.0], [12.0]]
    >>> run("_contrib_SyncBatchNorm", [[1], [3]], [2], [10], [5], [4], fix_gamma=False, eps=0, key="bn")
    [[6.0], [8.0]]

[batch-norm-family/var] the output var of BatchNorm_v1 and SyncBatchNorm is the variance; in evaluation it is
    moving_var.
    >>> run("BatchNorm_v1", [[1], [5]], [1], [0], [0], [1], eps=0.1, output_mean_var=True, is_train=True)[1:]
    ([3.0], [4.0])
    >>> run("BatchNorm_v1", [[1], [5]], [1], [0], [7], [2], eps=0, output_mean_var=True)[1:]
    ([7.0], [2.0])

[batch-norm-family/gradient] backward after evaluation takes moving_mean and moving_var as constants, and moves nothing.
    >>> options = {"fix_gamma": False, "eps": 0, "head": [[1], [2]], "is_train": False}
    >>> grad("BatchNorm_v1", [[1], [3]], [2], [0], [5], [4], **options)[:3]
    ([[1.0], [2.0]], [-4.0], [3.0])

[_contrib_SyncBatchNorm/devices] statistics are those of one device's part of the batch: ndev and key change nothing.
    >>> options = {"ndev": 4, "key": "bn", "fix_gamma": False, "eps": 0, "is_train": True}
    >>> run("_contrib_SyncBatchNorm", [[1], [3]], [2], [10], [0], [1], **options)
    [[8.0], [12.0]]

[_contrib_BatchNormWithReLU/relu] what is negative after BatchNorm becomes 0, and so does NaN.
    >>> run("_contrib_BatchNormWithReLU", [[1], [3]], [2], [1], [0], [1], fix_gamma=False, eps=0, is_train=True)
    [[0.0], [3.0]]

[_contrib_BatchNormWithReLU/gradient] where the output is 0 the head counts as 0; the rest is BatchNorm's gradient.
    >>> options = {"fix_gamma": False, "eps": 0, "head": [[5], [2]], "is_train": False}
    >>> grad("_contrib_BatchNormWithReLU", [[1], [3]], [2], [0], [2], [4], **options)[:3]
    ([[0.0], [2.0]], [1.0], [2.0])
"""

from typing import NamedTuple

import numpy as np

from . import batch_norm
from .batch_norm import BATCH_STATISTICS, MOVING_STATISTICS, NORMALISE, SET_TO_ONE, by_channel
from .foundation import REQUIRED, Loop, Op, Sources, items, register, scratch
from .foundation.loops import COPY


class Params(NamedTuple):
    eps: float = 0.00100000005
    momentum: float = 0.899999976
    fix_gamma: bool = True
    use_global_stats: bool = False
    output_mean_var: bool = False


class SyncParams(NamedTuple):
    eps: float = 0.00100000005
    momentum: float = 0.899999976
    fix_gamma: bool = True
    use_global_stats: bool = False
    output_mean_var: bool = False
    ndev: int = 1
    key: str = REQUIRED


def plain(p):
    """The parameters as BatchNorm has them."""
    return batch_norm.Params(p.eps, p.momentum, p.fix_gamma, p.use_global_stats, p.output_mean_var)


def infer(p, ins, outs):
    return batch_norm.infer(plain(p), ins, outs)


# --- loops --------------------------------------------------------------------------------------


def variances(inverse, var, channels, eps):
    for c in items(channels):
        var[c] = max(1.0 / (np.float64(inverse[c]) * inverse[c]) - eps, 0.0)


def keep_positive(out, n):
    for i in items(n):
        out[i] = out[i] if out[i] > 0 else 0


def where_positive(head, out, kept, n):
    for i in items(n):
        kept[i] = head[i] if out[i] > 0 else 0


VARIANCES, KEEP_POSITIVE, WHERE_POSITIVE = Loop(variances), Loop(keep_positive), Loop(where_positive)


# --- the operators ------------------------------------------------------------------------------


def forward(p, data, gamma, beta, moving_mean, moving_var, out, mean, var, *, is_train):
    (data, out), channels = by_channel(plain(p), data, out), gamma.size
    if p.fix_gamma:
        SET_TO_ONE(gamma, channels)
    (inverse,) = scratch(mean, channels)
    if is_train and not p.use_global_stats:
        BATCH_STATISTICS(data, mean, inverse, p.eps)
        VARIANCES(inverse, var, channels, p.eps)
    else:
        MOVING_STATISTICS(moving_mean, moving_var, mean, inverse, channels, p.eps)
        COPY(moving_var, var, channels)
    NORMALISE(data, gamma, beta, mean, inverse, out)


def backward(p, head, *others, is_train):
    *_, data, gamma, mean, var, moving_mean, moving_var, d_data, d_gamma, d_beta, _, _ = others
    channels = gamma.size
    # the first slot is the one that batch_norm.backward borrows
    _, same, inverse = scratch(mean, 2 * channels, channels, channels)
    MOVING_STATISTICS(mean, var, same, inverse, channels, p.eps)
    needs, gradients = (data, gamma, same, inverse, moving_mean, moving_var), (d_data, d_gamma, d_beta, None, None)
    batch_norm.backward(plain(p), head, *needs, *gradients, is_train=is_train)


def forward_relu(p, *buffers, is_train):
    batch_norm.forward(p, *buffers, is_train=is_train)
    out = buffers[5]
    KEEP_POSITIVE(out, out.size)


def backward_relu(p, head, *others, is_train):
    *_, data, gamma, mean, var, moving_mean, moving_var, out, d_data, d_gamma, d_beta, _, _ = others
    _, kept = scratch(head, 2 * gamma.size, head.size)
    WHERE_POSITIVE(head, out, kept, head.size)
    needs, gradients = (data, gamma, mean, var, moving_mean, moving_var), (d_data, d_gamma, d_beta, None, None)
    batch_norm.backward(p, kept.reshape(head.shape), *needs, *gradients, is_train=is_train)


def cases(draw):
    case = batch_norm.cases(draw)
    return case._replace(params={k: v for k, v in case.params.items() if k != "axis"})


def cases_sync(draw):
    case = cases(draw)
    return case._replace(params={**case.params, "key": f"bn{case.shapes['data'][1]}"})


def page(name, params, infer, forward, backward, cases, **more):
    extra = {"key": "bn"} if params is SyncParams else {}
    options = {
        "needs": ("data", "gamma", "mean", "var", "moving_mean", "moving_var"),
        "inplace_backward": (("head", "data"),), **more,
    }
    return Op(
        name=name, doc=__doc__, params=params, inputs=batch_norm.INPUTS, outputs=("output", "mean", "var"),
        hidden=2, visible=lambda p: 3 if p.output_mean_var else 1, aux=("moving_mean", "moving_var"), infer=infer,
        infer_type=batch_norm.infer_type, forward=forward, backward=backward, mode=True,
        mutates=("gamma", "moving_mean", "moving_var"), inplace=((0, 0),), cases=cases,
        initial_attrs={"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'},
        refusals={
            "BatchNorm/channel-shape": {"params": extra, "shapes": {"data": (2, 3), "gamma": (2,)}},
            "BatchNorm/types": {
                "params": extra, "shapes": {"data": (2, 3)}, "dtypes": {"data": "float64", "gamma": "float32"},
            },
        },
        type_of_data=params is batch_norm.Params, **options,
    )


register(page("BatchNorm_v1", Params, infer, forward, backward, cases, tier=2, reports=Sources(1)))
register(page(
    "_contrib_SyncBatchNorm", SyncParams, infer, forward, backward, cases_sync, tier=2, reports=Sources(1, whole=True),
))
register(page(
    "_contrib_BatchNormWithReLU", batch_norm.Params, batch_norm.infer, forward_relu, backward_relu, batch_norm.cases,
    needs=("data", "gamma", "mean", "var", "moving_mean", "moving_var", "output"),
    tier=3, reports=Sources(1),
))
