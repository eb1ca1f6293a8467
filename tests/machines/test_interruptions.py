"""Ctrl-C at every moment of a call: what is left is what was before, or what the whole call leaves, and nothing between.

For each call here a new object is made, the call is interrupted at one moment, and everything that can be seen of the
object is compared with one that never ran the call and with one that ran it to its end. Then a training step goes on
from there, and must come to the same numbers as theirs. Outputs and gradients may refuse to be read until the step.

The long lane tries REFIMPL_INTERRUPTION_COUNT moments of each, drawn from REFIMPL_INTERRUPTION_SEED.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import refimpl as mx

from . import planted

ROWS = 4
CONTEXTS = [mx.cpu(0), mx.cpu(1)]


def network(width: int = 3) -> mx.sym.Symbol:
    """Two outputs, an auxiliary state, and a state that lasts."""
    data = mx.sym.Variable("data")
    net = mx.sym.FullyConnected(data, num_hidden=2, name="one")
    net = mx.sym.BatchNorm(net, fix_gamma=False, name="norm")
    top = mx.sym.FullyConnected(net + mx.sym.Variable("kept", shape=(0, 2)), num_hidden=width, name="two")
    return mx.sym.Group([mx.sym.SoftmaxOutput(top, name="softmax"), mx.sym.MakeLoss(mx.sym.square(net), name="size")])


def batch(rows: int = ROWS, shift: int = 0, **more: Any) -> mx.io.DataBatch:
    data = (np.arange(rows * 2).reshape(rows, 2) + shift) % 5 - 2
    return mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array((np.arange(rows) + shift) % 3)], **more)


def shapes(rows: int = ROWS) -> dict[str, Any]:
    return {"data_shapes": [("data", (rows, 2))], "label_shapes": [("softmax_label", (rows,))]}


OPTIMIZER = {"learning_rate": 0.5, "momentum": 0.5, "lr_scheduler": None}


def settings() -> dict[str, Any]:
    return {**OPTIMIZER, "lr_scheduler": mx.lr_scheduler.FactorScheduler(1, 0.5)}


def unbound(**more: Any) -> mx.mod.Module:
    return mx.mod.Module(network(), context=CONTEXTS, state_names=["kept"], **more)


def initialised(grad_req: str = "write") -> mx.mod.Module:
    made = unbound()
    made.bind(**shapes(), grad_req=grad_req)
    mx.random.seed(5)
    made.init_params(mx.init.Uniform(1.0))
    return made


def trained(store: Any = "device", grad_req: str = "write", compressed: bool = False) -> mx.mod.Module:
    """After a step, with the gradients of another batch at hand."""
    made = initialised(grad_req)
    if compressed:
        made._compression_params = {"type": "2bit", "threshold": 0.25}
    made.init_optimizer(store, optimizer_params=settings())
    made.forward_backward(batch())
    made.update()
    made.forward_backward(batch(shift=1))
    return made


def go_on(one: Any) -> Any:
    """A step from here: it needs whatever is missing first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not one.binded:
            one.bind(**shapes())
        if not one.params_initialized:
            one.init_params(mx.init.One())
        if not one.optimizer_initialized:
            one.init_optimizer("device", optimizer_params=settings())
    for arrays in one._exec_group.grad_arrays:
        for array in arrays:
            if "add" in one._exec_group.grad_req.values():
                continue
            array[:] = 0
    one.forward_backward(batch(one.data_shapes[0].shape[0], 2))
    one.update()
    return planted.module(one)


class Sum(mx.metric.EvalMetric):
    """Sums in a number, an array, a list and a metric inside."""

    def __init__(self) -> None:
        self.array, self.list, self.inside = np.zeros(3), [], mx.metric.create("acc")
        super().__init__("sum")

    def update(self, labels: Any, preds: Any) -> None:
        self.list.append(1)
        self.array += preds[0].asnumpy().sum(0)
        self.inside.update(labels, preds[:1])
        self._add(preds[1].asnumpy().sum(), 1)


def metric_of(one: Any) -> Any:
    return [one.metric.num_inst, one.metric.sum_metric, one.metric.array.tolist(), list(one.metric.list),
            one.metric.inside.num_inst, one.metric.inside.sum_metric]


def with_metric() -> Any:
    one = trained()
    one.metric = Sum()
    one.update_metric(one.metric, batch(shift=1).label)
    return one


class Case(NamedTuple):
    """A call: what is made for it, the call, what can be seen, and how to go on."""

    make: Callable[[], Any]
    call: Callable[[Any], object]
    see: Callable[[Any], Any] = planted.module
    go_on: Callable[[Any], Any] = go_on


VALUES = {
    "one_weight": np.ones((2, 2)), "one_bias": np.ones(2), "two_weight": np.ones((3, 2)), "two_bias": np.ones(3),
    "norm_gamma": np.ones(2), "norm_beta": np.ones(2),
}


def values() -> dict[str, Any]:
    return {name: mx.nd.array(value) for name, value in VALUES.items()}


def states() -> dict[str, Any]:
    return {"norm_moving_mean": mx.nd.ones(2), "norm_moving_var": mx.nd.ones(2)}


MODULE = {
    "bind": Case(unbound, lambda m: m.bind(**shapes())),
    "rebind": Case(trained, lambda m: m.bind(**shapes(6), force_rebind=True)),
    "reshape": Case(trained, lambda m: m.reshape(**shapes(6))),
    "init_params": Case(lambda: bound(), lambda m: m.init_params(mx.init.One())),
    "init_params again": Case(trained, lambda m: m.init_params(mx.init.One(), force_init=True)),
    "set_params": Case(trained, lambda m: m.set_params(values(), states())),
    "set_params of some": Case(trained, lambda m: m.set_params({"one_bias": mx.nd.ones(2)}, {}, allow_missing=True)),
    "set_params beside": Case(
        lambda: trained(None), lambda m: m.set_params({"one_bias": mx.nd.ones(2)}, {}, allow_missing=True)
    ),
    "init_optimizer": Case(initialised, lambda m: m.init_optimizer("device", optimizer_params=settings())),
    "init_optimizer again": Case(
        trained, lambda m: m.init_optimizer("local", "adam", {"learning_rate": 0.5}, force_init=True)
    ),
    "forward": Case(trained, lambda m: m.forward(batch(shift=3))),
    "forward of another size": Case(trained, lambda m: m.forward(batch(6))),
    "forward of a list": Case(trained, lambda m: m.forward([batch(2), batch(2, 1)])),
    "forward without labels": Case(
        trained, lambda m: m.forward(mx.io.DataBatch([mx.nd.ones((ROWS, 2))]), is_train=False)
    ),
    "backward": Case(trained, lambda m: m.backward([mx.nd.ones((ROWS, 3)), mx.nd.ones((ROWS, 2))])),
    "backward that adds": Case(lambda: trained(grad_req="add"), lambda m: m.backward()),
    "update on the store": Case(trained, lambda m: m.update()),
    "update on a compressing store": Case(lambda: trained(compressed=True), lambda m: m.update()),
    "update beside": Case(lambda: trained(None), lambda m: m.update()),
    "update after summing": Case(lambda: summing(), lambda m: m.update()),
    "get_params": Case(trained, lambda m: m.get_params()),
    "set_states": Case(trained, lambda m: m.set_states(value=2.0)),
    "update_metric": Case(
        with_metric, lambda m: m.update_metric(m.metric, batch(shift=1).label), metric_of,
        lambda m: (m.update_metric(m.metric, batch(shift=1).label), metric_of(m))[1],
    ),
    "install_monitor": Case(trained, lambda m: m.install_monitor(mx.mon.Monitor(1))),
    "borrow_optimizer": Case(initialised, lambda m: m.borrow_optimizer(_LENDER.setdefault(0, trained()))),
}
_LENDER: dict[int, Any] = {}


def bound() -> mx.mod.Module:
    made = unbound()
    made.bind(**shapes())
    return made


def summing() -> mx.mod.Module:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
        return trained()


# --- buckets -------------------------------------------------------------------------------------


def bucket(key: int) -> tuple:
    data = mx.sym.Variable("data")
    net = mx.sym.FullyConnected(mx.sym.sum(data, axis=1, keepdims=True), num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(net, name="softmax"), ["data"], ["softmax_label"]


def bucket_batch(key: int, shift: int = 0) -> mx.io.DataBatch:
    data = (np.arange(ROWS * key).reshape(ROWS, key) + shift) % 5 - 2
    return mx.io.DataBatch(
        [mx.nd.array(data)], [mx.nd.array(np.arange(ROWS) % 3)], bucket_key=key,
        provide_data=[("data", (ROWS, key))], provide_label=[("softmax_label", (ROWS,))],
    )


def buckets(trains: bool = True) -> Any:
    made = mx.mod.BucketingModule(bucket, default_bucket_key=4, context=CONTEXTS)
    made.bind([("data", (ROWS, 4))], [("softmax_label", (ROWS,))])
    made.init_params(mx.init.One())
    made.install_monitor(mx.mon.Monitor(1))
    if trains:
        made.init_optimizer("device", optimizer_params=settings())
        for key in (4, 2):
            made.forward_backward(bucket_batch(key))
            made.update()
    return made


def see_buckets(one: Any) -> Any:
    flags = ("binded", "params_initialized", "optimizer_initialized", "_curr_bucket_key")
    seen: dict[str, Any] = {flag: getattr(one, flag) for flag in flags}
    seen["current"] = [key for key, each in one._buckets.items() if each is one._curr_module]
    for key, each in one._buckets.items():
        for name, value in planted.module(each).items():
            seen[f"{name} of {key}"] = value
    seen["watched"] = [len(monitor.exes) for monitor in one._monitors]
    return seen


def go_on_with_buckets(one: Any) -> Any:
    if not one.optimizer_initialized:
        one.init_optimizer("device", optimizer_params=settings())
    for key in (2, 3, 4):
        one.forward_backward(bucket_batch(key, 1))
        one.update()
    return see_buckets(one)


def _buckets(call: Callable[[Any], object], trains: bool = True) -> Case:
    return Case(lambda: buckets(trains), call, see_buckets, go_on_with_buckets)


BUCKETS = {
    "rebind": _buckets(lambda m: m.bind([("data", (ROWS, 4))], [("softmax_label", (ROWS,))], force_rebind=True)),
    "switch to a new bucket": _buckets(
        lambda m: m.switch_bucket(3, [("data", (ROWS, 3))], [("softmax_label", (ROWS,))])
    ),
    "switch": _buckets(lambda m: m.switch_bucket(4, None)),
    "forward in a known bucket": _buckets(lambda m: m.forward(bucket_batch(4, 2))),
    "init_optimizer": _buckets(lambda m: m.init_optimizer("local", "adam", force_init=True)),
    "init_params": _buckets(lambda m: m.init_params(mx.init.Zero(), force_init=True)),
    "update": _buckets(lambda m: m.update()),
    "install_monitor": _buckets(lambda m: m.install_monitor(mx.mon.Monitor(1))),
    "set_params": _buckets(lambda m: m.set_params({"fc_bias": mx.nd.ones(3)}, {}, allow_missing=True)),
}


# --- SVRG ----------------------------------------------------------------------------------------


def rows(_: Any = None) -> mx.io.NDArrayIter:
    return mx.io.NDArrayIter(np.arange(12).reshape(6, 2) % 5, np.arange(6) % 3, ROWS, last_batch_handle="discard")


def svrg(grad_req: str = "write") -> Any:
    made = mx.contrib.svrg_optimization.svrg_module.SVRGModule(
        network(), context=CONTEXTS, state_names=["kept"], update_freq=1
    )
    made.bind(**shapes(), grad_req=grad_req)
    mx.random.seed(5)
    made.init_params(mx.init.Uniform(1.0))
    made.init_optimizer("device", optimizer_params=settings())
    made.update_full_grads(rows())
    made.forward_backward(batch())
    made.update()
    made.forward_backward(batch(shift=1))
    return made


def see_svrg(one: Any) -> Any:
    seen = planted.module(one)
    seen["means"] = planted.remembered(one._param_dict)
    group = one._mod_aux._exec_group
    seen["snapshot"] = [[planted.read(array) for array in copies] for copies in group.param_arrays]
    seen["snapshot shapes"] = [tuple(shape) for _, shape in one._mod_aux.data_shapes]
    return seen


def go_on_with_svrg(one: Any) -> Any:
    if one._param_dict is None:
        one.update_full_grads(rows())
    one.forward_backward(batch(one.data_shapes[0].shape[0], 2))
    one.update()
    return see_svrg(one)


def _svrg(call: Callable[[Any], object], grad_req: str = "write") -> Case:
    return Case(lambda: svrg(grad_req), call, see_svrg, go_on_with_svrg)


SVRG = {
    "forward": _svrg(lambda m: m.forward(batch(shift=3))),
    "forward of another size": _svrg(lambda m: m.forward(batch(6))),
    "backward": _svrg(lambda m: m.backward()),
    "backward that adds": _svrg(lambda m: m.backward(), "add"),
    "update": _svrg(lambda m: m.update()),
    "rebind": _svrg(lambda m: m.bind(**shapes(6), force_rebind=True)),
    "reshape": _svrg(lambda m: m.reshape(**shapes(6))),
    "set_states": _svrg(lambda m: m.set_states(value=2.0)),
    "init_optimizer": _svrg(lambda m: m.init_optimizer("device", optimizer_params=settings(), force_init=True)),
}


# --- executors -----------------------------------------------------------------------------------


def executor(grad_req: str = "write") -> Any:
    made = network().simple_bind(mx.cpu(), grad_req=grad_req, data=(ROWS, 2), kept=(ROWS, 2), softmax_label=(ROWS,))
    for number, array in enumerate(made.arg_arrays):
        array[:] = number + mx.nd.arange(array.size).reshape(array.shape) * 0.25
    made.forward(is_train=True)
    made.backward([mx.nd.ones((ROWS, 3)), mx.nd.ones((ROWS, 2))])
    return made


def see_executor(one: Any) -> Any:
    return {
        "arguments": [planted.read(array) for array in one.arg_arrays],
        "states": [planted.read(array) for array in one.aux_arrays],
        "outputs": [planted.read(array) for array in one.outputs],
        "gradients": [planted.read(array) for array in one.grad_arrays],
    }


def go_on_with_executor(one: Any) -> Any:
    one.forward(is_train=True)
    one.backward()
    return see_executor(one)


def executor_2(grad_req: str = "write") -> Any:
    given = dict(zip(network().list_arguments(), executor().arg_arrays, strict=True))
    kept = {name: mx.nd.ones(array.shape) for name, array in given.items()}
    aux = dict(zip(network().list_auxiliary_states(), executor().aux_arrays, strict=True))
    made = network()._bind(mx.cpu(), given, kept, grad_req, aux)
    made.kept = kept
    made.forward(is_train=True)
    made.backward()
    made.forward(is_train=True)
    return made


def see_executor_2(one: Any) -> Any:
    return {
        "arguments": [planted.read(array) for array in one.arg_arrays],
        "states": [planted.read(array) for array in one.aux_arrays],
        "outputs": [planted.read(array) for array in one.outputs],
        "gradients": [planted.read(array) for array in (*one.grad_arrays, *one.kept.values())],
    }


def go_on_with_executor_2(one: Any) -> Any:
    one.forward(is_train=True)
    one.backward()
    return see_executor_2(one)


def _executor(call: Callable[[Any], object], grad_req: str = "write") -> Case:
    return Case(lambda: executor(grad_req), call, see_executor, go_on_with_executor)


def _executor_2(call: Callable[[Any], object], grad_req: str = "write") -> Case:
    return Case(lambda: executor_2(grad_req), call, see_executor_2, go_on_with_executor_2)


GIVEN = {"data": np.ones((ROWS, 2), np.float32), "softmax_label": np.ones(ROWS, np.float32)}
EXECUTORS = {
    "forward": _executor(lambda e: e.forward(is_train=True, **GIVEN)),
    "backward": _executor(lambda e: e.backward()),
    "backward that adds": _executor(lambda e: e.backward(), "add"),
    "copy_params_from": _executor(lambda e: e.copy_params_from({"two_bias": mx.nd.ones(3), "one_bias": mx.nd.ones(2)})),
    "forward of 2.0": _executor_2(lambda e: e.forward(is_train=True, **GIVEN)),
    "backward of 2.0": _executor_2(lambda e: e.backward()),
    "backward of 2.0 that adds": _executor_2(lambda e: e.backward(), "add"),
    "copy_params_from of 2.0": _executor_2(
        lambda e: e.copy_params_from({"two_bias": mx.nd.ones(3), "one_bias": mx.nd.ones(2)})
    ),
}


# --- stores --------------------------------------------------------------------------------------

KEYS = ["a", "b", "c"]


def pushed(number: float = 1) -> list:
    return [[mx.nd.full(2, number + key, ctx) for ctx in CONTEXTS] for key in range(len(KEYS))]


def store(optimizer: bool = False, compressed: bool = False) -> Any:
    made = mx.kv.create("device")
    made.init(KEYS, [mx.nd.full(2, key) for key in range(len(KEYS))])
    if optimizer:
        made.set_optimizer(mx.optimizer.SGD(momentum=0.5, **{k: v for k, v in settings().items() if k != "momentum"}))
    if compressed:
        made.set_gradient_compression({"type": "2bit", "threshold": 1.5})
    made.out = pushed()
    made.push(KEYS, pushed())
    return made


def see_store(one: Any) -> Any:
    return {**planted.stored(one), "out": [[planted.read(array) for array in arrays] for arrays in one.out]}


def go_on_with_store(one: Any) -> Any:
    one.pushpull(KEYS, pushed(2), out=one.out)
    return see_store(one)


def _store(call: Callable[[Any], object], optimizer: bool = False, compressed: bool = False) -> Case:
    return Case(lambda: store(optimizer, compressed), call, see_store, go_on_with_store)


STORES = {
    "push": _store(lambda s: s.push(KEYS, pushed())),
    "push to an optimizer": _store(lambda s: s.push(KEYS, pushed()), optimizer=True),
    "push of compressed arrays": _store(lambda s: s.push(KEYS, pushed()), compressed=True),
    "pushpull": _store(lambda s: s.pushpull(KEYS, pushed(), out=s.out), optimizer=True),
    "pushpull in place": _store(lambda s: s.pushpull(KEYS, s.out)),
    "replace": _store(lambda s: s.replace(KEYS, [mx.nd.ones(2)] * 3), optimizer=True),
    "set_optimizer": _store(lambda s: s.set_optimizer(mx.optimizer.Adam()), optimizer=True),
}


# --- iterators -----------------------------------------------------------------------------------


def arrays(**more: Any) -> mx.io.NDArrayIter:
    np.random.seed(3)  # noqa: NPY002  # where NDArrayIter draws
    made = mx.io.NDArrayIter({"x": np.arange(7.0), "y": np.arange(7.0)}, np.arange(7.0), batch_size=3, **more)
    made.next()
    return made


def see_iterator(one: Any) -> Any:
    """The rest of this epoch and one more. Looking moves on, so this comes last."""
    seen = []
    for _ in range(2):
        seen.append([[a.asnumpy().tolist() for a in (*b.data, *b.label)] for b in one])
        np.random.seed(4)  # noqa: NPY002
        one.reset()
    return seen


def aligned(one: Any) -> Any:
    """Of a shuffled epoch, that all arrays were shuffled alike and every row came."""
    epoch = [[a.asnumpy().tolist() for a in (*b.data, *b.label)] for b in one]
    found = [sum((parts[i] for parts in epoch), []) for i in range(3)]
    return found[0] == found[1] == found[2], sorted(set(found[0]))


def nothing(_: Any) -> Any:
    return None


def _iterator(make: Callable[[], Any], call: Callable[[Any], object]) -> Case:
    return Case(make, call, nothing, see_iterator)


def _next_or_not(one: Any) -> None:
    next(one, None)


def prefetching() -> Any:
    return mx.io.PrefetchingIter([arrays(), arrays()], [{}, {"x": "u", "y": "v"}], [{}, {"softmax_label": "l"}])


def resized(**more: Any) -> Any:
    made = mx.io.ResizeIter(arrays(), 2, **more)
    made.next()
    return made


def sentences() -> Any:
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    made = mx.rnn.BucketSentenceIter([[1, 2], [3, 4], [1, 2, 3], [4, 5, 6]] * 2, 2, buckets=[2, 3], invalid_label=0)
    made.next()
    return made


ITERATORS = {
    "next": _iterator(arrays, _next_or_not),
    "next into the last batch": _iterator(lambda: arrays(last_batch_handle="roll_over"), _next_or_not),
    "reset": _iterator(arrays, lambda i: i.reset()),
    "reset that rolls over": _iterator(
        lambda: (lambda i: (i.next(), next(i, None), i)[2])(arrays(last_batch_handle="roll_over")), lambda i: i.reset()
    ),
    "reset that shuffles": Case(lambda: arrays(shuffle=True), lambda i: i.reset(), nothing, lambda i: (i.hard_reset(), aligned(i))[1]),
    "next of ResizeIter": _iterator(resized, _next_or_not),
    "next of ResizeIter that goes on": _iterator(lambda: resized(reset_internal=False), _next_or_not),
    "reset of ResizeIter": _iterator(resized, lambda i: i.reset()),
    "next of PrefetchingIter": _iterator(prefetching, _next_or_not),
    "reset of PrefetchingIter": _iterator(prefetching, lambda i: i.reset()),
    "next of BucketSentenceIter": _iterator(sentences, _next_or_not),
}

CASES = {
    f"{what}: {name}": case
    for what, cases in (
        ("Module", MODULE), ("BucketingModule", BUCKETS), ("SVRGModule", SVRG), ("Executor", EXECUTORS),
        ("store", STORES), ("iterator", ITERATORS),
    )
    for name, case in cases.items()
}


def tried(name: str, count: int, seed: int) -> None:
    """Interrupt a call at ``count`` moments drawn from ``seed``, one of them among its last lines."""
    case = CASES[name]
    before, done = case.make(), case.make()
    wanted = [case.see(before)]
    last = planted.moments(lambda: case.call(done))
    wanted.append(case.see(done))
    afterwards = [case.go_on(before), case.go_on(done)]
    draw = random.Random(f"{name} {seed}")  # noqa: S311  # nobody is to be kept from guessing
    chosen = {draw.randint(1, last) for _ in range(count - 1)} | {draw.randint(max(1, last - 15), last)}
    for moment in sorted(chosen):
        one = case.make()
        if not planted.interrupted(lambda one=one: case.call(one), moment):
            continue  # fewer lines this time: what was there once is remembered
        seen = case.see(one)
        faults = [planted.differences(seen, each) for each in wanted]
        fitting = [number for number in (0, 1) if not faults[number]]
        assert fitting, f"moment {moment}: neither as before\n{faults[0]}\nnor as afterwards\n{faults[1]}"
        went_on = case.go_on(one)
        faults = [planted.differences(went_on, afterwards[number]) for number in fitting]
        assert [] in faults, f"moment {moment}: goes on wrongly {faults}"


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", CASES)
def test_interrupted_calls(name):
    tried(name, 2, 1)


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_calls_interrupted_often(name):
    count, seed = (int(os.environ.get(f"REFIMPL_INTERRUPTION_{what}", "200")) for what in ("COUNT", "SEED"))
    tried(name, count, seed)
