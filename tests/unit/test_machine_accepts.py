"""What lies just on the allowed side of the machine's refusals: a rule that refuses everything would fail here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import refimpl as mx
from refimpl import nd, sym

from .test_machine_refusals import _arguments, _bound, _net


def _equal(found: object, wanted: object) -> None:
    values = found.asnumpy().tolist() if isinstance(found, nd.NDArray) else found
    assert values == wanted


def _assigned(key: object, value: object) -> list:
    array = nd.zeros((2, 2))
    array[key] = value
    return array.asnumpy().tolist()


def _copied(target: mx.nd.NDArray) -> list:
    return nd.array([1, 2]).copyto(target).asnumpy().tolist()


def _backward(*heads: object) -> list:
    executor = _bound()
    executor.forward(is_train=True)
    executor.backward(*heads)
    return executor.grad_dict["fc_bias"].asnumpy().tolist()


def _key(store: mx.kvstore.KVStore, key: int) -> list:
    store.init(key, nd.array([3]))
    out = nd.zeros((1,))
    store.pull(key, out=out)
    return out.asnumpy().tolist()


def _taken(numbers: list[int]) -> list:
    rows = nd.sparse.csr_matrix(np.array([[1, 0], [0, 2], [3, 0]]))
    return nd.take(rows, nd.array(numbers), mode="raise").asnumpy().tolist()


def _stepped(**options: object) -> list:
    weight = nd.ones((1, 2))
    mx.optimizer.get_updater(mx.optimizer.create("groupadagrad", **options))(0, nd.array([[2, 2]]), weight)
    return weight.asnumpy().tolist()


def _chained(**options: object) -> list:
    chain = mx.mod.SequentialModule().add(mx.mod.Module(_net(), label_names=None))
    chain.bind([("data", (3, 4))], **options)
    return [tuple(shape) for _, shape in chain.output_shapes]


def _biases() -> list:
    module, found = mx.mod.Module(_net(), label_names=None), []
    module.bind([("data", (3, 4))])
    module.init_params(arg_params={"fc_weight": nd.ones((2, 4)), "fc_bias": nd.array([1, 2])})
    found.append(module.get_params()[0]["fc_bias"].asnumpy().tolist())
    module.set_params({"fc_weight": nd.ones((2, 4)), "fc_bias": nd.array([3, 4])}, {})
    return [*found, module.get_params()[0]["fc_bias"].asnumpy().tolist()]


A, B = sym.Variable("a"), sym.Variable("b")

TAKEN: list[tuple[str, Callable[[], object], object]] = [
    ("AttrScope/strings", lambda: mx.AttrScope(a="1").get({"b": "2"}), {"a": "1", "b": "2"}),
    ("NDArray/len", lambda: len(nd.array([3])), 1),
    ("NDArray/truth", lambda: [bool(nd.zeros((1,))), bool(nd.array([2]))], [False, True]),
    ("NDArray/asscalar", lambda: nd.array([2]).asscalar(), 2),
    ("NDArray/copy-shape", lambda: _copied(nd.zeros((2,))), [1, 2]),
    ("NDArray/copy-target", lambda: _copied(mx.cpu(1)), [1, 2]),  # type: ignore[arg-type]  # a place is a target too
    ("NDArray/reshape-size", lambda: nd.zeros((2, 3)).reshape((3, 2)).shape, (3, 2)),
    ("NDArray/reshape-size", lambda: nd.zeros((2, 3)).reshape((-1, 2)).shape, (3, 2)),
    ("NDArray/reshape-shape", lambda: nd.zeros((2,)).reshape(1, 2).shape, (1, 2)),
    ("NDArray/key", lambda: nd.array([1, 2])[1], [2]),
    ("NDArray/key", lambda: nd.array([1, 2])[None], [[1, 2]]),
    ("NDArray/broadcast-to", lambda: nd.ones((1, 2)).broadcast_to((2, 2)), [[1, 1], [1, 1]]),
    ("NDArray/context-type", lambda: nd.zeros((2,), ctx=mx.cpu(1)).context, mx.cpu(1)),
    ("NDArray/moveaxis", lambda: nd.moveaxis(nd.zeros((2, 3)), -2, 1).shape, (3, 2)),
    ("NDArray/moveaxis", lambda: nd.moveaxis(nd.zeros((2, 3, 4)), [0, 1], [1, 0]).shape, (3, 2, 4)),
    ("NDArray/index-range", lambda: [nd.array([1, 2])[-2].asscalar(), nd.array([1, 2])[1].asscalar()], [1, 2]),
    ("NDArray/assign", lambda: _assigned(slice(None), [1, 2]), [[1, 2], [1, 2]]),
    ("NDArray/concatenate", lambda: nd.concatenate([nd.ones((1,))]), [1]),
    ("nd/out-shape", lambda: nd.relu(nd.ones((2,)), out=nd.zeros((2,))), [1, 1]),
    ("nd/out-type", lambda: nd.relu(nd.ones((2,)), out=nd.zeros((2,))), [1, 1]),
    ("nd/out-count", lambda: len(nd.split(nd.zeros((2,)), num_outputs=2, axis=0, out=[nd.zeros((1,))] * 2)), 2),
    ("nd/input-count", lambda: nd.broadcast_add(nd.ones((2,)), nd.ones((2,))), [2, 2]),
    ("nd/operand", lambda: nd.ones((2,)) + nd.ones((2,)) + 1, [3, 3]),
    ("nd/operand", lambda: nd.ones((2,)) + np.float32(1), [2, 2]),
    ("nd/input", lambda: nd.Concat(nd.ones((1,)), nd.ones((1,)), dim=0), [1, 1]),
    ("nd/arguments", lambda: nd.relu(data=nd.ones((2,))), [1, 1]),
    ("nd/arguments", lambda: nd.clip(nd.array([3]), 0, 2), [2]),
    ("random/seed-integer", lambda: mx.random.seed(np.int64(3)), None),
    ("random/seed-context", lambda: [mx.random.seed(1, ctx=c) for c in (mx.cpu(0), "all")], [None, None]),
    ("Symbol/string-attributes", lambda: sym.Variable("a", attr={"x": "1"}).attr("x"), "1"),
    ("Symbol/variable-keyword", lambda: sym.Variable("a", __colour__="red").attr("__colour__"), "red"),
    ("Symbol/single-input", lambda: len(sym.relu(sym.SliceChannel(A, num_outputs=2)[1]).list_outputs()), 1),
    ("Symbol/input-count", lambda: sym.add_n(A, B, num_args=2).list_arguments(), ["a", "b"]),
    ("Symbol/input-name", lambda: sym.FullyConnected(A, bias=B, num_hidden=1, name="f").list_arguments(),
     ["a", "f_weight", "b"]),
    ("Symbol/input-type", lambda: sym.Concat(A, B).list_arguments(), ["a", "b"]),
    ("Symbol/arguments", lambda: sym.clip(A, 0, 2, name="c").list_outputs(), ["c_output"]),
    ("Symbol/arguments", lambda: sym.clip(A, 0, a_max=2, name="c").list_outputs(), ["c_output"]),
    ("Symbol/compose-mixed", lambda: _net()(data=A).list_arguments(), ["a", "fc_weight", "fc_bias"]),
    ("Symbol/compose-type", lambda: _net()(data=A).list_arguments(), ["a", "fc_weight", "fc_bias"]),
    ("Symbol/compose-name", lambda: _net()(fc_bias=B).list_arguments(), ["data", "fc_weight", "b"]),
    ("Symbol/output-name", lambda: _net()["fc_output"].list_outputs(), ["fc_output"]),
    ("Symbol/index", lambda: _net()[0].list_outputs(), ["fc_output"]),
    ("Symbol/operand", lambda: (_net() + 1).list_arguments(), ["data", "fc_weight", "fc_bias"]),
    ("Symbol/operand", lambda: [mx.sym.maximum(2, 3), mx.sym.maximum(A, 3).list_arguments()], [3, ["a"]]),
    ("Symbol/group", lambda: sym.Group([A, B]).list_outputs(), ["a", "b"]),
    ("infer/known-name", lambda: _net().infer_shape(data=(3, 4))[1], [(3, 2)]),
    ("infer/known-name", lambda: _net().infer_shape((3, 4), (2, 4), (2,))[1], [(3, 2)]),
    ("infer/shape-type", lambda: _net().infer_shape(data=[3, 4])[1], [(3, 2)]),
    ("Executor/group2ctx", lambda: len(_net().bind(mx.cpu(), _arguments(), group2ctx={"x": mx.cpu(1)}).outputs), 1),
    ("Executor/bind-length", lambda: len(_net().bind(mx.cpu(), _arguments()).arg_arrays), 3),
    ("Executor/one-context", lambda: len(_net().bind(mx.cpu(0), _arguments()).arg_arrays), 3),
    ("Executor/gradient-alike",
     lambda: _net().bind(mx.cpu(), _arguments(), {"fc_weight": nd.zeros((2, 4))}).grad_dict["fc_weight"].shape, (2, 4)),
    ("Executor/grad-req-length",
     lambda: len(_net().bind(mx.cpu(), _arguments(), grad_req=["null"] * 3).arg_arrays), 3),
    ("Executor/grad-req-type", lambda: len(_net().bind(mx.cpu(), _arguments(), grad_req="null").arg_arrays), 3),
    ("Executor/forward-name", lambda: _bound().forward(data=nd.zeros((3, 4)))[0].shape, (3, 2)),
    ("Executor/forward-value", lambda: _bound().forward(data=np.zeros((3, 4)))[0].shape, (3, 2)),
    ("Executor/forward-shape", lambda: _bound().forward(data=nd.zeros((3, 4)))[0].shape, (3, 2)),
    ("Executor/head-type", lambda: _backward([nd.ones((3, 2))]), [3, 3]),
    ("Executor/head-names", lambda: _backward({"fc_output": nd.ones((3, 2))}), [3, 3]),
    ("Executor/head-shape", lambda: _backward(nd.ones((3, 2))), [3, 3]),
    ("Executor/copy-name", lambda: _bound().copy_params_from({"fc_bias": nd.ones((2,))}), None),
    ("Executor/copy-name", lambda: _bound().copy_params_from({"no": nd.ones((2,))}, allow_extra_params=True), None),
    ("Executor/reshape-grow", lambda: _bound().reshape(allow_up_sizing=True, data=(9, 4)).outputs[0].shape, (9, 2)),
    ("Executor/reshape-grow", lambda: _bound().reshape(data=(2, 4)).outputs[0].shape, (2, 2)),
    ("Executor/reshape-partial", lambda: _bound().reshape(data=(2, 4)).outputs[0].shape, (2, 2)),
    ("Executor/reshape-partial",
     lambda: _bound().reshape(partial_shaping=True, data=(3, 2)).arg_dict["fc_weight"].shape, (2, 2)),
    ("Module/parameter-shape", _biases, [[1, 2], [3, 4]]),
    ("KVStore/key-range", lambda: [_key(mx.kv.create("local"), k) for k in (-(2**31), 2**31 - 1)], [[3], [3]]),
    ("take/raise", lambda: _taken([2, 0]), [[3, 0], [1, 0]]),
    ("Executor2/empty-slot",
     lambda: (A + B)._bind(mx.cpu(), {"a": nd.ones((1,)), "b": nd.ones((1,))}).forward()[0], [2]),
    ("Cluster/weather", lambda: [any(mx.kv.simulate(faults=f)._left.values()) for f in (True, False)], [True, False]),
    ("Cluster/weather", lambda: mx.kv.Faults(drops=1) == mx.kv.Faults(1, 0, 0), True),
    ("GroupAdaGrad/no-decay", lambda: _stepped(learning_rate=0.5, eps=0.0), [[0.5, 0.5]]),
    ("GroupAdaGrad/no-decay", lambda: _stepped(learning_rate=0.5, eps=0.0, wd=0.0), [[0.5, 0.5]]),
    ("Sequential/shared", lambda: [_chained(), _chained(shared_module=None)], [[(3, 2)]] * 2),
    ("types/one-dtype", lambda: nd.broadcast_add(nd.ones((2,), dtype="int32"), nd.ones((2,), dtype="int32")), [2, 2]),
]


@pytest.mark.parametrize(
    ("clause", "call", "wanted"),
    [pytest.param(*row, marks=pytest.mark.clause(row[0]), id=f"{k}-{row[0]}") for k, row in enumerate(TAKEN)],
)
def test_taken(clause: str, call: Callable[[], object], wanted: object) -> None:
    _equal(call(), wanted)
