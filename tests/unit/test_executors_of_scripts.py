"""What scripts of MXNet 1.x ask of executors, groups and monitors, and which errors they catch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels import distinct
from refimpl.module.executor_group import DataParallelExecutorGroup

CPU = mx.cpu()
DATA = mx.sym.var("data")
FC = mx.sym.FullyConnected(DATA, num_hidden=3, name="fc")
NET = mx.sym.SoftmaxOutput(FC, name="sm")

# MXNet 1.9.1, with fc as FC above, each bind(**keywords) of fc.simple_bind(mx.cpu(), **keywords):
#   try: bind()
#   except Exception as e: print(type(e))
FAILURES: list[tuple[type[Exception], dict[str, Any]]] = [
    (RuntimeError, {}), (RuntimeError, {"data": (2, 3), "fc_weight": (4, 4)}),
    (RuntimeError, {"data": (2, 3), "grad_req": "foo"}), (RuntimeError, {"data": (2, 3), "grad_req": ""}),
    (RuntimeError, {"data": (2, 3), "grad_req": ["write", "foo", "write"]}),
    (RuntimeError, {"data": (2, 3), "grad_req": ["write"]}), (RuntimeError, {"data": (2, 3), "grad_req": []}),
    (RuntimeError, {"data": (2, 3), "grad_req": {}}), (RuntimeError, {"data": (2, 3), "grad_req": {"data": "foo"}}),
    (TypeError, {"data": (2, 3), "grad_req": 3}), (TypeError, {"data": (2, 3), "type_dict": {"data": "float33"}}),
    (RuntimeError, {"data": (2, 3), "type_dict": {"data": "float32", "fc_weight": "float64"}}),
    (AttributeError, {"data": (2, 3), "type_dict": ["float32"]}),
    (RuntimeError, {"data": (2, 3), "stype_dict": {"data": "foo"}}), (RuntimeError, {"data": 3}),
    (RuntimeError, {"data": (10**6, 10**6)}), (AttributeError, {"data": (2, 3), "shared_exec": 3}),
]


@pytest.mark.clause("binding/failures", "Executor/grad-req", "Executor/grad-req-length")
@pytest.mark.parametrize(("kind", "keywords"), FAILURES)
def test_failures_of_simple_bind(kind: type[Exception], keywords: dict[str, Any]) -> None:
    with pytest.raises(kind) as caught:
        FC.simple_bind(CPU, **keywords)
    assert not issubclass(caught.type, (ValueError, KeyError)), "MXNet raised none of these"
    if kind is RuntimeError and keywords.get("grad_req", "write") not in ([], {}):
        assert str(caught.value).startswith("simple_bind error. Arguments:")


@pytest.mark.clause("binding/context")
@pytest.mark.parametrize("ctx", ["cpu", None])
def test_context_of_simple_bind(ctx: Any) -> None:
    with pytest.raises(AttributeError, match="must be a Context"):  # as in MXNet 1.9.1
        FC.simple_bind(ctx, data=(2, 3))


# MXNet 1.9.1:
#   e = fc.simple_bind(mx.cpu(), data=(2, 3), shared_arg_names=["fc_weight", "fc_bias"], shared_buffer={})
#   f = fc.simple_bind(mx.cpu(), data=shape, shared_exec=e, shared_arg_names=names, shared_buffer={})
#   e.arg_dict["fc_bias"][:] = 7; e.arg_dict["fc_weight"][:] = 5; print(f.arg_dict["fc_bias"], f.arg_dict["fc_weight"])
# names ["fc_weight"], shape (2, 5): RuntimeError; shape (1, 3): 0 and 5. ["fc_bias"]: 7 and 0 with both shapes.
# type_dict={"data": "float64"} and both names: RuntimeError. BatchNorm with a shared gamma and another width: too.
@pytest.mark.clause("binding/shared-alike")
def test_shared_arguments_are_alike() -> None:
    both = ["fc_weight", "fc_bias"]

    def shared(names: list[str], shape: tuple[int, ...], **keywords: Any) -> list[float]:
        one = FC.simple_bind(CPU, data=(2, 3), shared_arg_names=both, shared_buffer={})
        two = FC.simple_bind(
            CPU, data=shape, shared_exec=one, shared_arg_names=names, shared_buffer={}, **keywords
        )
        one.arg_dict["fc_bias"][:], one.arg_dict["fc_weight"][:] = 7, 5
        return [float(two.arg_dict[name].asnumpy().max()) for name in ("fc_bias", "fc_weight")]

    assert shared(["fc_weight"], (1, 3)) == [0, 5]
    assert shared(["fc_bias"], (1, 3)) == shared(["fc_bias"], (2, 5)) == [7, 0]
    for names in (["fc_weight"], both):
        with pytest.raises(RuntimeError, match=r"fc_weight is shared .* \(3, 3\).* \(3, 5\)"):
            shared(names, (2, 5))
    with pytest.raises(RuntimeError, match=r"float32 \(3, 3\).*float64"):
        shared(both, (2, 3), type_dict={"data": "float64"})
    norm = mx.sym.BatchNorm(DATA, name="bn")
    one = norm.simple_bind(CPU, data=(2, 3), shared_arg_names=[], shared_buffer={})
    with pytest.raises(RuntimeError, match="bn_moving_mean is shared"):
        norm.simple_bind(CPU, data=(2, 5), shared_exec=one, shared_arg_names=[], shared_buffer={})


# MXNet 1.9.1, with args of ones for FC: fc.bind(mx.cpu(), args, ...).grad_arrays
#   nothing more: None; grad_req="null": None; args_grad={}: [None, None, None]; args_grad=[None] * 3: the same;
#   fc.simple_bind(mx.cpu(), grad_req="null", data=(2, 3)).grad_arrays: [None, None, None]
@pytest.mark.clause("Executor/gradient-arrays")
def test_gradient_arrays_of_an_executor() -> None:
    args = {"data": mx.nd.ones((2, 3)), "fc_weight": mx.nd.ones((3, 3)), "fc_bias": mx.nd.ones((3,))}
    alone = FC.bind(CPU, args)
    assert alone.grad_arrays is None
    assert FC.bind(CPU, args, grad_req="null").grad_arrays is None
    assert alone.reshape(data=(1, 3)).grad_arrays is None
    assert alone.forward()[0].asnumpy().tolist() == [[4, 4, 4]] * 2
    alone.backward(mx.nd.ones((2, 3)))
    assert FC.bind(CPU, args, args_grad={}).grad_arrays == [None] * 3
    assert FC.bind(CPU, args, args_grad=[None] * 3).grad_arrays == [None] * 3
    assert FC.simple_bind(CPU, grad_req="null", data=(2, 3)).grad_arrays == [None] * 3


# MXNet 1.9.1: m = mx.mod.Module(net, label_names=["sm_label"], context=[mx.cpu(0), mx.cpu(1)]), bound with data (4, 3):
#   for_training=False: m._exec_group.grad_arrays and input_grad_arrays are None; training: two entries, and None
#   get_input_grads of either: AssertionError
@pytest.mark.clause("ExecutorGroup/gradient-arrays", "Module/needs-input-gradients")
@pytest.mark.parametrize("contexts", [1, 2])
def test_gradient_arrays_of_a_group(contexts: int) -> None:
    module = mx.mod.Module(NET, label_names=["sm_label"], context=[mx.cpu(i) for i in range(contexts)])
    module.bind([("data", (4, 3))], [("sm_label", (4,))], for_training=False)
    assert module._exec_group.grad_arrays is None
    assert module._exec_group.input_grad_arrays is None
    with pytest.raises(AssertionError, match="inputs_need_grad"):
        module._exec_group.get_input_grads()
    module.bind([("data", (4, 3))], [("sm_label", (4,))], force_rebind=True)
    assert len(module._exec_group.grad_arrays) == 2
    assert module._exec_group.input_grad_arrays is None


# MXNet 1.9.1: G = DataParallelExecutorGroup
#   g = G(net, [mx.cpu()], [1], [("data", (4, 3))], [("sm_label", (4,))], ["fc_weight", "fc_bias"], True, False)
#   g.execs[0].arg_dict["data"].shape, g.batch_size        # (4, 3), 4; the same with lists, and without labels
@pytest.mark.clause("ExecutorGroup/descriptions")
@pytest.mark.parametrize("pair", [tuple, list])
def test_groups_take_pairs(pair: type) -> None:
    def shapes(rows: int) -> tuple[list, list]:
        return [pair(("data", (rows, 3)))], [pair(("sm_label", (rows,)))]

    group = DataParallelExecutorGroup(
        NET, [CPU], [1], *shapes(4), ["fc_weight", "fc_bias"], for_training=True, inputs_need_grad=True
    )
    assert group.execs[0].arg_dict["data"].shape == (4, 3)
    assert group.batch_size == 4
    assert group.execs[0].grad_dict["data"] is not None
    assert group.data_shapes == [mx.io.DataDesc("data", (4, 3))]
    group.reshape(*shapes(2))
    assert group.execs[0].arg_dict["data"].shape == (2, 3)
    group = DataParallelExecutorGroup(
        NET, [CPU], [1], shapes(4)[0], None, ["fc_weight", "fc_bias"], for_training=True, inputs_need_grad=False
    )
    assert group.label_shapes is None


# MXNet 1.9.1, m as above with n contexts:
#   for i, e in enumerate(m._exec_group.execs): e.set_monitor_callback(lambda name, _, i=i: seen.append((i, name)))
#   m.reshape(...); m.forward(...); print(seen)     # fc_output and sm_output of each; so after a second reshape
@pytest.mark.clause("ExecutorGroup/callbacks")
@pytest.mark.parametrize("contexts", [1, 2])
def test_callbacks_follow_a_reshape(contexts: int) -> None:
    module = mx.mod.Module(NET, label_names=["sm_label"], context=[mx.cpu(i) for i in range(contexts)])
    module.bind([("data", (4, 3))], [("sm_label", (4,))])
    module.init_params()
    seen: list[tuple[int, str]] = []
    for number, executor in enumerate(module._exec_group.execs):
        executor.set_monitor_callback(lambda name, _, number=number: seen.append((number, name)))
    for rows in (2, 8):
        module.reshape([("data", (rows, 3))], [("sm_label", (rows,))])
        module.forward(mx.io.DataBatch([mx.nd.ones((rows, 3))], [mx.nd.ones((rows,))]))
        module.get_outputs()[0].wait_to_read()
        assert sorted(seen) == [(n, name) for n in range(contexts) for name in ("fc_output", "sm_output")]
        seen.clear()


# MXNet 1.9.1: x = mx.sym.relu(d, name="a") + mx.sym.relu(d, name="b"); s = x.simple_bind(mx.cpu(), data=(2,))
#   .get_optimized_symbol(); s.list_arguments(), s.list_outputs(), s.get_internals().list_outputs()
@pytest.mark.clause("Executor/optimized-symbol")
def test_optimized_symbol() -> None:
    with mx.name.NameManager():
        twice = mx.sym.relu(DATA, name="a") + mx.sym.relu(DATA, name="b")
    found = twice.simple_bind(CPU, data=(2,)).get_optimized_symbol()
    assert found.list_arguments() == ["data"]
    assert found.list_outputs() == ["_plus0_output"]
    assert found.get_internals().list_outputs() == ["data", "a_output", "_plus0_output"]
    again = found.bind(CPU, {"data": mx.nd.array([-1, 3])})
    assert again.forward()[0].asnumpy().tolist() == [0, 6]
    found._set_attr(mood="1")  # the executor's own graph stays
    assert twice.attr("mood") is None


# MXNet 1.9.1: e = fc.simple_bind(mx.cpu(), data=(4, 3)), all arguments 1; o = e.forward()[0]
#   f = e.reshape(data=(2, 3)), all arguments of f 2; f.forward(); print(o)     # rows 14, 14, 4, 4: the deviation
@pytest.mark.clause("Executor/reshape")
def test_outputs_stay_after_a_reshape() -> None:
    executor = FC.simple_bind(CPU, data=(4, 3))
    for array in executor.arg_arrays:
        array[:] = 1
    first = executor.forward()[0]
    half = executor.reshape(data=(2, 3))
    for array in half.arg_arrays:
        array[:] = 2
    assert half.forward()[0].asnumpy().tolist() == [[14] * 3] * 2
    assert first.asnumpy().tolist() == [[4] * 3] * 4


# MXNet 1.9.1: a BaseModule with these two methods and nothing else; forward_backward("B") logged the same.
@pytest.mark.clause("Module/own-modules")
def test_modules_without_flags() -> None:
    class Own(mx.mod.BaseModule):
        def __init__(self) -> None:
            super().__init__()
            self.log: list[tuple] = []

        def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
            self.log.append(("forward", data_batch, is_train))

        def backward(self, out_grads: Any = None) -> None:
            self.log.append(("backward", out_grads))

    module = Own()
    module.forward_backward("B")
    assert module.log == [("forward", "B", True), ("backward", None)]


# MXNet 1.9.1: FileNotFoundError for kvstore None, "local" and a store's own save_optimizer_states
@pytest.mark.clause("States/folder")
def test_states_into_a_missing_folder(tmp_path: Path) -> None:
    for store in (None, "local", mx.kv.create("local")):
        module = mx.mod.Module(NET, label_names=["sm_label"])
        module.bind([("data", (4, 3))], [("sm_label", (4,))])
        module.init_params()
        module.init_optimizer(kvstore=store)
        with pytest.raises(FileNotFoundError, match="no folder"):
            module.save_optimizer_states(str(tmp_path / "missing" / "x.states"))
    kvstore = mx.kv.create("local")
    kvstore.set_optimizer(mx.optimizer.SGD())
    with pytest.raises(FileNotFoundError, match="no folder"):
        kvstore.save_optimizer_states(str(tmp_path / "missing" / "x.states"))
    (tmp_path / "link").symlink_to(tmp_path / "missing" / "x.states")
    with pytest.raises(FileNotFoundError, match=r"no folder '.*missing'"):
        kvstore.save_optimizer_states(str(tmp_path / "link"))


# MXNet 1.9.1: x = Activation(data, relu, "act"), NET on it with num_hidden=2; a Module bound with inputs_need_grad,
# Monitor(1, monitor_all=True); tic, forward_backward, [name for _, name, _ in toc()], up to the first backward name.
@pytest.mark.clause("Executor/monitor")
def test_monitored_inputs() -> None:
    x = mx.sym.Activation(DATA, act_type="relu", name="act")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=2, name="fc"), name="sm")
    module = mx.mod.Module(net, label_names=["sm_label"])
    module.bind([("data", (2, 3))], [("sm_label", (2,))], inputs_need_grad=True)
    module.init_params(mx.init.One())
    monitor = mx.mon.Monitor(1, monitor_all=True)
    module.install_monitor(monitor)
    monitor.tic()
    module.forward_backward(mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.ones((2,))]))
    assert [name for _, name, _ in monitor.toc()][:13] == [
        "data", "act_input0", "act_output", "fc_data", "fc_weight", "fc_weight", "fc_bias", "fc_bias", "fc_output",
        "sm_data", "sm_label", "sm_label", "sm_output",
    ]


@pytest.mark.clause("Executor/monitor")
def test_operators_whose_input_has_a_number() -> None:
    numbered = {op.name for op in distinct() if op.numbered_input}
    # MXNet 1.9.1, asked as executor/monitored_names.py says
    assert numbered >= {"Activation", "Cast", "sum", "_mul_scalar", "topk", "_shuffle", "erfinv", "argmax_channel"}
    assert not numbered & {"softmax", "Pooling", "Dropout", "squeeze", "tile", "LeakyReLU", "reverse", "SliceChannel"}


# MXNet 1.9.1: e = NET.simple_bind(mx.cpu(), data=(2, 3)); m = Monitor(1); m.install(e); tic, forward(is_train=True),
# backward, toc: sm_backward_output1 of 0.0 stands between sm_backward_output0 and fc_backward_output0
@pytest.mark.clause("Executor/monitor")
@pytest.mark.parametrize(("req", "shown"), [("write", 0), ("add", 5)])
def test_gradients_of_labels_are_reported(req: str, shown: float) -> None:
    executor = NET.simple_bind(CPU, data=(2, 3), grad_req=req)
    executor.grad_dict["sm_label"][:] = 5
    seen: list[tuple[str, float]] = []
    executor.set_monitor_callback(lambda name, array: seen.append((name, float(np.abs(array.asnumpy()).max()))))
    executor.forward(is_train=True)
    executor.backward()
    assert [name for name, _ in seen[2:]] == [
        "sm_backward_output0", "sm_backward_output1", *(f"fc_backward_output{i}" for i in range(3))
    ]
    assert seen[3] == ("sm_backward_output1", shown)
    assert executor.grad_dict["sm_label"].asnumpy().tolist() == [shown] * 2
