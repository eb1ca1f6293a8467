"""Calls on modules that tests interrupt: what is made for each, what there is to see of it, and how to go on."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import refimpl as mx

from . import planted_failures

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
    return planted_failures.module(one)


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


def with_store() -> Any:
    """A module that was handed a store of the user's, in which it has not put anything yet."""
    one = initialised()
    one.given = mx.kv.create("device")
    return one


def see_with_store(one: Any) -> Any:
    return {**planted_failures.module(one), "given": planted_failures.stored(one.given)}


def metric_of(one: Any) -> Any:
    return [one.metric.num_inst, one.metric.sum_metric, one.metric.array.tolist(), list(one.metric.list),
            one.metric.inside.num_inst, one.metric.inside.sum_metric]


def with_metric() -> Any:
    one = trained()
    one.metric = Sum()
    one.update_metric(one.metric, batch(shift=1).label)
    return one


class Case(NamedTuple):
    """A call: what is made for it, the call, what can be seen, and how to go on.

    What a call that ``delivers`` has done must be undone when it raises: nobody got what it delivered.
    """

    make: Callable[[], Any]
    call: Callable[[Any], object]
    see: Callable[[Any], Any] = planted_failures.module
    go_on: Callable[[Any], Any] = go_on
    delivers: bool = False


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
    "init_optimizer with a store": Case(
        with_store, lambda m: m.init_optimizer(m.given, optimizer_params=settings()), see_with_store
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
        for name, value in planted_failures.module(each).items():
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
    seen = planted_failures.module(one)
    seen["means"] = planted_failures.remembered(one._param_dict)
    group = one._mod_aux._exec_group
    seen["snapshot"] = [[planted_failures.read(array) for array in copies] for copies in group.param_arrays]
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


# --- chains --------------------------------------------------------------------------------------


def chain(grad_req: str = "write") -> Any:
    first = mx.sym.BatchNorm(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="a"), name="n")
    second = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="b")
    second = mx.sym.SoftmaxOutput(second, name="softmax")
    made = mx.mod.SequentialModule()
    made.add(mx.mod.Module(first, label_names=None, context=CONTEXTS))
    made.add(mx.mod.Module(second, context=CONTEXTS), take_labels=True, auto_wiring=True)
    made.bind(**shapes(), grad_req=grad_req)
    mx.random.seed(5)
    made.init_params(mx.init.Uniform(1.0))
    made.init_optimizer("device", optimizer_params=OPTIMIZER)
    for shift in (0, 1):
        made.forward_backward(batch(shift=shift))
        made.update()
    return made


def see_chain(one: Any) -> Any:
    parts = [planted_failures.module(each) for each in one._modules]
    return {f"{name} in {number}": value for number, part in enumerate(parts) for name, value in part.items()}


def go_on_with_chain(one: Any) -> Any:
    one.forward_backward(batch(one.data_shapes[0].shape[0], 2))
    one.update()
    return see_chain(one)


def _chain(call: Callable[[Any], object], grad_req: str = "write") -> Case:
    return Case(lambda: chain(grad_req), call, see_chain, go_on_with_chain)


CHAINS = {
    "forward": _chain(lambda m: m.forward(batch(shift=3))),
    "forward of another size": _chain(lambda m: m.forward(batch(6))),
    "backward that adds": _chain(lambda m: m.backward(), "add"),
    "update": _chain(lambda m: m.update()),
    "init_optimizer": _chain(lambda m: m.init_optimizer("local", "adam", force_init=True)),
}
