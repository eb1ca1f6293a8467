"""Level 3: modules over several devices. Every step acts on the current module, which is the last one made.

==================  ===================================================================================================
create              ``contexts`` (how many), names of ``data``, ``labels``, ``fixed`` parameters and ``states``, and
                    ``loads`` (a weight for each context, or null)
bind                descriptions of ``data`` and ``labels`` (name, shape, layout), ``train``, ``inputs`` (whether
                    gradients of data are wanted), ``requirement``, ``again`` (whether to bind a bound module anew).
                    Lets see the shapes of outputs.
init_params         the program's arrays named ``given`` (null: no dict at all), ``rest`` (a constant initializer, or
                    null), ``missing`` (``allow_missing``), ``force``
set_params          ``arrays``, ``missing`` and ``extra`` (what is allowed), ``force``
init_optimizer      ``store`` (a kind, or null), ``optimizer``, ``parameters``, ``schedule``, ``force``; ``rates``: the
                    optimizer is made beforehand, with these multipliers (pairs of a name and a factor);
                    ``on_store`` (false: MXNET_UPDATE_ON_KVSTORE is 0)
forward             ``data``, ``labels``, ``pad``, ``train`` (null: as bound); ``apart``: as a list of batches, one for
                    each context, that are equally large parts along the first axis. Lets see outputs.
backward            ``heads``, or null for losses. Lets see gradients of data, where they are wanted.
forward_backward    ``data``, ``labels``, ``pad``. Lets see outputs and gradients of data.
outputs             Lets see the outputs of the last forward pass once more.
update              one step of the optimizer
get_params          Lets see arguments and auxiliary states.
reshape             descriptions of ``data`` and ``labels``. Lets see the shapes of outputs.
shapes              Lets see the shapes of data and labels.
infer               ``shapes`` of some variables, 0 where a side is not known. Lets see what follows from them: for each
                    variable and output the number of axes, then the sides.
share               makes a module bound with ``data`` and ``labels`` to the arrays of the current one
borrow              makes a module bound with ``data`` and ``labels``, with parameters of its own that are equal, and
                    the optimizer of the current one
use                 makes module ``number`` the current one
save                a checkpoint, with optimizer states if ``states``
load                makes a module of the last checkpoint over ``contexts``, with optimizer states if ``states``
save_states         optimizer states to a file; load_states reads them back
update_metric       ``labels``, and ``metric``: a name, an object of a ``name`` and arguments, or none. Lets see labels
                    and predictions that a metric is handed, context by context, and the value of that metric. ``own``:
                    a composite metric is handed ``labels`` and the module's outputs, as loops of one's own do.
score               ``data``, ``labels``, ``batch`` (rows), ``batches`` (at most; null: all), ``metric``. Lets see what
                    update_metric does. ``last``: what becomes of a last batch that is not full (pad by default).
                    ``again``: twice, over one iterator.
predict             ``data``, ``batch``, ``batches``, ``merge``, ``last``. Lets see outputs.
fit                 ``data``, ``labels``, ``batch``, ``epochs``, ``last``, and what init_optimizer has. Lets see
                    parameters.
set_states          ``value``: a number for every state, or ``parts``: for each state a list with one for each context.
                    get_states lets see them, context by context.
monitor             installs a monitor and begins a batch of it. Lets see nothing: it changes nothing.
watched             Lets see how many entries the monitor has.
==================  ===================================================================================================
"""

import os
from collections import OrderedDict

from .optimizers import schedule_of
from .session import Session


def collecting_metric(mx):
    """A metric that keeps copies of all that it is handed."""

    class Pairs(mx.metric.EvalMetric):
        """Labels and predictions of each call."""

        def __init__(self):
            self.pairs = []
            super(Pairs, self).__init__("pairs")

        def update(self, labels, preds):
            """Record the arrays of one context."""
            self.pairs.append(([a.copy() for a in labels], [a.copy() for a in preds]))

    return Pairs()


def described(metric):
    """The name of a metric, with its arguments behind it."""
    if not isinstance(metric, dict):
        return metric
    return " ".join([metric["name"]] + ["%s=%s" % (key, metric[key]) for key in sorted(metric) if key != "name"])


ON_STORE = "MXNET_UPDATE_ON_KVSTORE"


class Modules(Session):
    """See the module's text."""

    def __init__(self, mx, program, look):
        super(Modules, self).__init__(mx, program, look)
        self.module = None
        self.made = []
        self.options = {}
        self.data_names, self.label_names = [], []
        self.wants_inputs = False
        self.watching = None

    def _current(self, module):
        self.module = module
        self.made.append(module)
        return ()

    def _contexts(self, count):
        return [self.mx.cpu(i) for i in range(count)]

    def create(self, contexts, data, labels, loads=None, fixed=None, states=None):
        """See the module's text."""
        self.data_names, self.label_names = data, labels
        self.options = {
            "data_names": data, "label_names": labels or None, "context": self._contexts(contexts),
            "work_load_list": loads, "fixed_param_names": fixed, "state_names": states,
        }
        return self._current(self._new())

    def _new(self):
        return self.mx.mod.Module(self.graph, **self.options)

    # --- binding --------------------------------------------------------------------------------

    def _described(self, descriptions):
        if not descriptions:
            return None
        return [
            self.mx.io.DataDesc(d["name"], tuple(d["shape"]), d.get("dtype", "float32"), d.get("layout", "NCHW"))
            for d in descriptions
        ]

    def bind(self, data, labels=None, train=True, inputs=False, requirement="write", again=False):
        """See the module's text."""
        self.wants_inputs = inputs
        self.data_names = [each["name"] for each in data]  # batches follow this order
        self.label_names = [each["name"] for each in labels or []]
        self.module.bind(
            self._described(data), self._described(labels), for_training=train, inputs_need_grad=inputs,
            force_rebind=again, grad_req=requirement,
        )
        return self._shapes()

    def _shapes(self):
        return [("shape%d" % i, self.plain(list(shape))) for i, (_, shape) in enumerate(self.module.output_shapes)]

    def reshape(self, data, labels=None):
        """See the module's text."""
        self.mx.nd.waitall()
        self.module.reshape(self._described(data), self._described(labels))
        return self._shapes()

    def shapes(self):
        """See the module's text."""
        described = [("data:", self.module.data_shapes), ("label:", self.module.label_shapes or [])]
        return [(kind + each.name, self.plain(list(each.shape))) for kind, some in described for each in some]

    def infer(self, shapes):
        """See the module's text."""
        graph = self.module.symbol
        lists = graph.infer_shape_partial(**{name: tuple(shape) for name, shape in shapes.items()})
        names = graph.list_arguments(), graph.list_outputs(), graph.list_auxiliary_states()
        for some, found in zip(names, lists):
            for name, shape in zip(some, found):
                yield "inferred:" + name, self.plain([len(shape)] + list(shape))

    def share(self, data, labels=None):
        """See the module's text."""
        self.mx.nd.waitall()
        other = self._new()
        other.bind(
            self._described(data), self._described(labels), inputs_need_grad=self.wants_inputs,
            shared_module=self.module,
        )
        return self._current(other)

    def borrow(self, data, labels=None):
        """See the module's text."""
        self.mx.nd.waitall()
        other = self._new()
        other.bind(self._described(data), self._described(labels), inputs_need_grad=self.wants_inputs)
        other.set_params(*self.module.get_params())
        other.borrow_optimizer(self.module)
        return self._current(other)

    def use(self, number):
        """See the module's text."""
        self.module = self.made[number]
        return ()

    # --- parameters -----------------------------------------------------------------------------

    def _parted(self, specs):
        """Arrays of parameters and of auxiliary states, by name."""
        states = set(self.graph.list_auxiliary_states())
        arrays = {name: self.array(spec) for name, spec in sorted(specs.items())}
        return (
            {name: array for name, array in arrays.items() if name not in states},
            {name: array for name, array in arrays.items() if name in states},
        )

    def init_params(self, given=None, rest=None, missing=False, force=False):
        """See the module's text."""
        options = {"allow_missing": missing, "force_init": force}
        if given is not None:
            arrays = self.program["arrays"]
            options["arg_params"], options["aux_params"] = self._parted({name: arrays[name] for name in given})
        self.module.init_params(None if rest is None else self.mx.init.Constant(rest), **options)
        return ()

    def set_params(self, arrays, missing=False, extra=False, force=True):
        """See the module's text."""
        self.mx.nd.waitall()
        arguments, states = self._parted(arrays)
        self.module.set_params(arguments, states, allow_missing=missing, force_init=force, allow_extra=extra)
        return ()

    def get_params(self):
        """See the module's text."""
        self.mx.nd.waitall()
        arguments, states = self.module.get_params()
        yield from [("argument:" + name, self.seen(arguments[name])) for name in sorted(arguments)]
        yield from [("state:" + name, self.seen(states[name])) for name in sorted(states)]

    # --- training -------------------------------------------------------------------------------

    def init_optimizer(
        self, store="local", optimizer="sgd", parameters=None, schedule=None, force=False, rates=None, on_store=True,
    ):
        """See the module's text."""
        made = self._parameters(parameters, schedule)
        if rates is not None:
            optimizer, made = self.mx.optimizer.create(optimizer, **made), {}
            optimizer.set_lr_mult(dict(rates))
        before = os.environ.get(ON_STORE)
        if not on_store:
            os.environ[ON_STORE] = "0"
        try:
            self.module.init_optimizer(
                kvstore=store, optimizer=optimizer, optimizer_params=made, force_init=force,
            )
        finally:
            if not on_store:
                os.environ.pop(ON_STORE)
                os.environ.update({} if before is None else {ON_STORE: before})
        return ()

    def _parameters(self, parameters, schedule):
        made = dict(parameters or {})
        if schedule is not None:
            made["lr_scheduler"] = schedule_of(self.mx, schedule)
        return made

    def _batch(self, data, labels, pad):
        return self.mx.io.DataBatch(
            [self.array(spec) for spec in data], None if labels is None else [self.array(spec) for spec in labels],
            pad=pad,
        )

    def _outputs(self):
        for i, output in enumerate(self.module.get_outputs()):
            yield "output%d" % i, self.seen(output)

    def _input_gradients(self):
        if self.wants_inputs:
            for i, gradient in enumerate(self.module.get_input_grads()):
                yield "gradient%d" % i, self.seen(gradient)

    def forward(self, data, labels=None, pad=0, train=None, apart=False):
        """See the module's text."""
        batch = self._batch(data, labels, pad)
        self.module.forward(self._parts(batch) if apart else batch, is_train=train)
        return list(self._outputs())

    def _parts(self, batch):
        """A batch for each context."""
        count = len(self.options["context"])
        rows = batch.data[0].shape[0] // count
        cuts = [(i * rows, (i + 1) * rows) for i in range(count)]
        return [
            self.mx.io.DataBatch(*[[a[start:stop] for a in some or []] for some in (batch.data, batch.label)])
            for start, stop in cuts
        ]

    def outputs(self):
        """See the module's text."""
        return list(self._outputs())

    def backward(self, heads=None):
        """See the module's text."""
        self.module.backward(None if heads is None else [self.array(spec) for spec in heads])
        self.mx.nd.waitall()
        return list(self._input_gradients())

    def forward_backward(self, data, labels=None, pad=0):
        """See the module's text."""
        self.module.forward_backward(self._batch(data, labels, pad))
        self.mx.nd.waitall()
        return list(self._outputs()) + list(self._input_gradients())

    def update(self):
        """See the module's text."""
        self.mx.nd.waitall()
        self.module.update()
        return ()

    def fit(
        self, data, labels, batch, epochs, store="local", optimizer="sgd", parameters=None, schedule=None, last="pad",
    ):
        """See the module's text."""
        self.module.fit(
            self._iterator(data, labels, batch, last), eval_metric=collecting_metric(self.mx), kvstore=store,
            optimizer=optimizer, optimizer_params=self._parameters(parameters, schedule), num_epoch=epochs,
            initializer=self.mx.init.Constant(0.25),  # fit's own draws random numbers where nothing was initialised
        )
        return list(self.get_params())

    # --- files ----------------------------------------------------------------------------------

    def _path(self, name):
        return os.path.join(self.folder(), name)

    def save(self, states=False):
        """See the module's text."""
        self.mx.nd.waitall()
        self.module.save_checkpoint(self._path("net"), 1, save_optimizer_states=states)
        return ()

    def load(self, contexts, states=False):
        """See the module's text."""
        self.options = dict(self.options, context=self._contexts(contexts), work_load_list=None)
        return self._current(
            self.mx.mod.Module.load(self._path("net"), 1, load_optimizer_states=states, **self.options)
        )

    def save_states(self):
        """See the module's text."""
        self.mx.nd.waitall()
        self.module.save_optimizer_states(self._path("kept.states"))
        return ()

    def load_states(self):
        """See the module's text."""
        self.module.load_optimizer_states(self._path("kept.states"))
        return ()

    # --- evaluation -----------------------------------------------------------------------------

    def _iterator(self, data, labels, batch, last):
        def named(names, specs):
            return OrderedDict((name, self.array(spec)) for name, spec in zip(names, specs))

        return self.mx.io.NDArrayIter(
            named(self.data_names, data), named(self.label_names, labels) if labels else None, batch_size=batch,
            last_batch_handle=last,
        )

    def _metrics(self, metric):
        """A metric that records its arguments, then the described metric, if any."""
        if isinstance(metric, dict):
            made = [self.mx.metric.create(metric["name"], **{k: v for k, v in metric.items() if k != "name"})]
        else:
            made = [self.mx.metric.create(metric)] if metric else []
        return [collecting_metric(self.mx)] + made

    def _shown(self, metric, kept, *others):
        for call, (labels, predictions) in enumerate(kept.pairs):
            yield from [("label%d@%d" % (i, call), self.seen(a)) for i, a in enumerate(labels)]
            yield from [("prediction%d@%d" % (i, call), self.seen(a)) for i, a in enumerate(predictions)]
        for each in others:
            yield "metric:" + described(metric), self.plain([each.get()[1]])

    def update_metric(self, labels, metric=None, own=False):
        """See the module's text."""
        metrics = self._metrics(metric)
        given = [self.array(spec) for spec in labels]
        if own:
            self.mx.metric.CompositeEvalMetric(metrics).update(given, self.module.get_outputs())
        else:
            for each in metrics:
                self.module.update_metric(each, given)
        return list(self._shown(metric, *metrics))

    def score(self, data, labels, batch, batches=None, metric=None, last="pad", again=False):
        """See the module's text."""
        metrics = self._metrics(metric)
        iterator, whole = self._iterator(data, labels, batch, last), self.mx.metric.CompositeEvalMetric(metrics)
        for _ in range(2 if again else 1):
            self.module.score(iterator, whole, num_batch=batches)
        return list(self._shown(metric, *metrics))

    def predict(self, data, batch, batches=None, merge=True, last="pad"):
        """See the module's text."""
        found = self.module.predict(
            self._iterator(data, None, batch, last), num_batch=batches, merge_batches=merge, always_output_list=True,
        )
        rows = [("", found)] if merge else [("@%d" % i, part) for i, part in enumerate(found)]
        return [("output%d%s" % (i, at), self.seen(out)) for at, part in rows for i, out in enumerate(part)]

    # --- states ---------------------------------------------------------------------------------

    def set_states(self, value=None, parts=None):
        """See the module's text."""
        if parts is None:
            self.module.set_states(value=value)
        else:
            self.module.set_states(states=[[self.array(spec, i) for i, spec in enumerate(some)] for some in parts])
        return ()

    def get_states(self):
        """See the module's text."""
        held = self.module.get_states(merge_multi_context=False)
        return [
            ("state%d@%d" % (i, context), self.seen(array))
            for i, arrays in enumerate(held) for context, array in enumerate(arrays)
        ]

    # --- watching -------------------------------------------------------------------------------

    def monitor(self):
        """See the module's text."""
        self.watching = self.mx.mon.Monitor(1)
        self.module.install_monitor(self.watching)
        self.watching.tic()
        return ()

    def watched(self):
        """See the module's text."""
        self.mx.nd.waitall()
        return [("watched", self.plain([len(self.watching.toc())]))]
