"""Every refusal of the machine, one row each: the clause, MXNet's exception type, what a message must say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import refimpl as mx

nd, sym = mx.nd, mx.sym


def _net() -> mx.sym.Symbol:
    return sym.FullyConnected(sym.Variable("data"), num_hidden=2, name="fc")


def _bound(**kwargs: object) -> mx.executor.Executor:
    return _net().simple_bind(mx.cpu(), data=(3, 4), **kwargs)


def _readonly() -> mx.nd.NDArray:
    array = nd.zeros((2,))
    array.writable = False
    return array


def _arguments() -> list[mx.nd.NDArray]:
    return [nd.zeros((3, 4)), nd.zeros((2, 4)), nd.zeros((2,))]


def _twice() -> mx.sym.Symbol:
    return sym.Variable("a") + sym.Variable("a")


def _buffer_of_integers() -> object:
    return _net().simple_bind(mx.cpu(), data=(3, 4), shared_buffer={"data": nd.zeros((12,), dtype="int32")})


def _assign(array: mx.nd.NDArray) -> None:
    array[:] = 1


ROWS: list[tuple[str, type[Exception], str, Callable[[], object]]] = [
    ("types/known", TypeError, "complex64", lambda: nd.zeros((2,), dtype="complex64")),
    ("AttrScope/strings", ValueError, "string", lambda: mx.AttrScope(a=1)),
    ("NDArray/len", IndexError, "0-d", lambda: len(nd.array(3))),
    ("NDArray/truth", ValueError, "ambiguous", lambda: bool(nd.zeros((2,)))),
    ("NDArray/asscalar", ValueError, "not a scalar", lambda: nd.zeros((2,)).asscalar()),
    ("NDArray/copy-shape", mx.MXNetError, "shape", lambda: nd.zeros((2,)).copyto(nd.zeros((3,)))),
    ("NDArray/copy-shape", mx.MXNetError, "(3, 1)", lambda: nd.sparse.zeros("csr", (2, 1)).copyto(nd.zeros((3, 1)))),
    ("NDArray/copy-shape", mx.MXNetError, "(3, 1)",
     lambda: nd.zeros((2, 1)).copyto(nd.sparse.zeros("row_sparse", (3, 1)))),
    ("take/raise", mx.MXNetError, "0 and 2",
     lambda: nd.take(nd.sparse.csr_matrix(np.ones((3, 2))), nd.array([0, 3]), mode="raise")),
    ("take/raise", mx.MXNetError, "0 and 2",
     lambda: nd.take(nd.sparse.csr_matrix(np.ones((3, 2))), nd.array([0, -1]), mode="raise")),
    ("KVStore/key-range", OverflowError, "32 bits", lambda: mx.kv.create("local").init(2**31, nd.zeros((1,)))),
    ("KVStore/key-range", OverflowError, "32 bits", lambda: mx.kv.create("local").init(-(2**31) - 1, nd.zeros((1,)))),
    ("NDArray/copy-target", TypeError, "copyto", lambda: nd.zeros((2,)).copyto(np.zeros(2))),
    ("NDArray/reshape-arguments", TypeError, "order", lambda: nd.zeros((2,)).reshape((2,), order="F")),
    ("NDArray/reshape-size", ValueError, "size 6", lambda: nd.zeros((2, 3)).reshape((2, 2))),
    ("NDArray/reshape-size", mx.MXNetError, "size 6", lambda: nd.zeros((2, 3)).reshape((4, 2))),
    ("NDArray/writable", ValueError, "readonly", lambda: _assign(_readonly())),
    ("NDArray/key", ValueError, "'x'", lambda: nd.zeros((2,))["x"]),
    ("NDArray/source", TypeError, "array like", lambda: nd.array([[1, 2], [3]])),
    ("NDArray/broadcast-to", ValueError, "(2, 4)", lambda: nd.zeros((2, 3)).broadcast_to((2, 4))),
    ("NDArray/broadcast-to", ValueError, "(3,)", lambda: nd.zeros((2, 3)).broadcast_to((3,))),
    ("NDArray/shape", mx.MXNetError, "(-1,)", lambda: nd.zeros((-1,))),
    ("NDArray/shape", mx.MXNetError, "'a'", lambda: nd.empty("a")),
    ("NDArray/context-type", mx.MXNetError, "'cpu'", lambda: nd.zeros((2,), ctx="cpu")),
    ("NDArray/moveaxis", ValueError, "between -2 and 1", lambda: nd.moveaxis(nd.zeros((2, 3)), 0, 9)),
    ("NDArray/moveaxis", ValueError, "one place", lambda: nd.moveaxis(nd.zeros((2, 3)), [0, 0], [0, 1])),
    ("NDArray/reshape-shape", AssertionError, "Shape", lambda: nd.zeros((2,)).reshape()),
    ("NDArray/index-range", IndexError, "(2,)", lambda: nd.zeros((2,))[2]),
    ("NDArray/index-range", IndexError, "(2,)", lambda: nd.zeros((2,)).__setitem__((0, 0), 1)),
    ("NDArray/assign", ValueError, "(2,)", lambda: nd.zeros((2,)).__setitem__(slice(None), [1, 2, 3])),
    ("nd/context", mx.MXNetError, "tpu(0)", lambda: nd._internal._zeros(shape=(2,), ctx="tpu(0)")),
    ("NDArray/concatenate", AssertionError, "at least one", lambda: nd.concatenate([])),
    ("nd/known-shape", mx.MXNetError, "shape", lambda: nd._internal._random_uniform()),
    ("nd/out-shape", mx.MXNetError, "(3,)", lambda: nd.relu(nd.zeros((2,)), out=nd.zeros((3,)))),
    ("nd/out-type", TypeError, "3", lambda: nd.relu(nd.zeros((2,)), out=3)),
    ("nd/out-count", mx.MXNetError, "2 outputs",
     lambda: nd.split(nd.zeros((2,)), num_outputs=2, axis=0, out=[nd.zeros((1,))])),
    ("nd/input-count", mx.MXNetError, "2 inputs", lambda: nd.broadcast_add(nd.zeros((2,)))),
    ("nd/operand", TypeError, "ndarray", lambda: nd.zeros((2,)) + np.zeros(2)),
    ("nd/input", AssertionError, "ndarray", lambda: nd.relu(np.zeros(2))),
    ("nd/input", AssertionError, "int", lambda: nd.Concat(nd.zeros((2,)), 3)),
    ("nd/arguments", TypeError, "twice", lambda: nd.relu(nd.zeros((2,)), data=nd.zeros((2,)))),
    ("random/seed-integer", ValueError, "int", lambda: mx.random.seed("x")),
    ("random/seed-context", ValueError, "Context", lambda: mx.random.seed(1, ctx=3)),
    ("Symbol/string-attributes", ValueError, "string", lambda: sym.Variable("a", attr={"x": 1})),
    ("Symbol/variable-name", TypeError, "string", lambda: sym.Variable(3)),
    ("Symbol/variable-keyword", ValueError, "__yourattr__", lambda: sym.Variable("a", colour="red")),
    ("Symbol/single-input", mx.MXNetError, "one output",
     lambda: sym.relu(sym.SliceChannel(sym.Variable("a"), num_outputs=2))),
    ("Symbol/input-count", mx.MXNetError, "1 inputs",
     lambda: sym.add_n(sym.Variable("a"), sym.Variable("b"), num_args=1)),
    ("Symbol/input-name", mx.MXNetError, "bias",
     lambda: sym.FullyConnected(sym.Variable("a"), bias=sym.Variable("b"), num_hidden=1, no_bias=True)),
    ("Symbol/input-type", AssertionError, "Symbol", lambda: sym.FullyConnected(nd.zeros((2, 2)), num_hidden=1)),
    ("Symbol/input-type", AssertionError, "int", lambda: sym.Concat(sym.Variable("a"), 3)),
    ("Symbol/arguments", TypeError, "twice", lambda: sym.relu(sym.Variable("a"), data=sym.Variable("b"))),
    ("Symbol/arguments", TypeError, "at most", lambda: sym.relu(sym.Variable("a"), 1, 2)),
    ("Symbol/list-attr", DeprecationWarning, "attr_dict", lambda: _net().list_attr(recursive=True)),
    ("Symbol/compose-mixed", TypeError, "keyword", lambda: _net()(_net(), data=_net())),
    ("Symbol/compose-type", TypeError, "Symbol", lambda: _net()(data=3)),
    ("Symbol/compose-keyword", mx.MXNetError, "net(data=other)", lambda: _net()(_net())),
    ("Symbol/compose-name", mx.MXNetError, "nothing", lambda: _net()(nothing=_net())),
    ("Symbol/output-name", ValueError, "nothing", lambda: _net()["nothing"]),
    ("Symbol/index", IndexError, "past", lambda: _net()[1]),
    ("Symbol/save-name", TypeError, "string", lambda: _net().save(3)),
    ("Symbol/operand", TypeError, "not supported", lambda: _net() + "x"),
    ("Symbol/operand", TypeError, "not supported", lambda: mx.sym.maximum("a", 2)),
    ("Symbol/operand", TypeError, "not supported", lambda: mx.sym.maximum(2, "a")),
    ("Symbol/group", TypeError, "symbols", lambda: sym.Group([_net(), 3])),
    ("Symbol/load-json", TypeError, "string", lambda: sym.load_json(3)),
    ("Symbol/load-name", TypeError, "string", lambda: sym.load(3)),
    ("infer/known-name", mx.MXNetError, "nothing", lambda: _net().infer_shape(data=(3, 4), nothing=(1,))),
    ("infer/known-name", mx.MXNetError, "nothing", lambda: _net().infer_type(nothing="float32")),
    ("infer/known-name", mx.MXNetError, "4 shapes", lambda: _net().infer_shape(*[(1, 1)] * 4)),
    ("infer/shape-type", TypeError, "'data'", lambda: _net().infer_shape(data=3)),
    ("infer/shape-type", TypeError, "2.5", lambda: _net().infer_shape(data=(2.5, 3))),
    ("infer/shape-type", TypeError, "2.0", lambda: _net().simple_bind(mx.cpu(), data=(2.0, 3))),
    ("infer/positional-or-keyword", ValueError, "positional", lambda: _net().infer_shape((3, 4), data=(3, 4))),
    ("gradient/differentiable", mx.MXNetError, "BlockGrad",
     lambda: sym.sgd_update(sym.Variable("w"), sym.Variable("g"), lr=0.5).bind(
         mx.cpu(), [nd.ones((2,))] * 2, [nd.ones((2,)), nd.ones((2,))])),
    ("Executor/context", TypeError, "Context", lambda: _net().bind("cpu", _arguments())),
    ("Executor/group2ctx", TypeError, "group2ctx",
     lambda: _net().bind(mx.cpu(), _arguments(), group2ctx=[mx.cpu(1)])),
    ("Executor/group2ctx", TypeError, "no Context",
     lambda: _net().bind(mx.cpu(), _arguments(), group2ctx={"dev1": "cpu"})),
    ("Executor/group2ctx", TypeError, "names no group",
     lambda: _net().bind(mx.cpu(), _arguments(), group2ctx={"dev1": mx.cpu(), 1: mx.cpu()})),
    ("Executor/known-shapes", mx.MXNetError, "inferred", lambda: sym.random.uniform().bind(mx.cpu(), [])),
    ("Executor/bind-length", ValueError, "args", lambda: _net().bind(mx.cpu(), _arguments()[:2])),
    ("Executor/bind-length", ValueError, "1 for", lambda: _net().bind(mx.cpu(), _arguments()[0])),
    (
        "Executor/bind-length", ValueError, "args_grad",
        lambda: _net().bind(mx.cpu(), _arguments(), args_grad=_arguments()[0]),
    ),
    ("Executor/bind-missing", ValueError, "fc_weight", lambda: _net().bind(mx.cpu(), {"data": nd.zeros((3, 4))})),
    ("Executor/bind-type", TypeError, "NDArrays", lambda: _net().bind(mx.cpu(), [1, 2, 3])),
    ("Executor/one-context", mx.MXNetError, "cpu(1)", lambda: _net().bind(mx.cpu(1), _arguments())),
    ("Executor/gradient-alike", mx.MXNetError, "(2, 2)",
     lambda: _net().bind(mx.cpu(), _arguments(), {"fc_weight": nd.zeros((2, 2))})),
    ("Executor/gradient-alike", mx.MXNetError, "float64",
     lambda: _net().bind(mx.cpu(), _arguments(), {"data": nd.zeros((3, 4), dtype="float64")})),
    ("Executor/grad-req", ValueError, "'foo'", lambda: _net().bind(mx.cpu(), _arguments(), grad_req="foo")),
    ("Executor/grad-req", KeyError, "foo", lambda: _net().bind(mx.cpu(), _arguments(), grad_req={"data": "foo"})),
    ("Executor/grad-req-length", ValueError, "3 arguments",
     lambda: _net().bind(mx.cpu(), _arguments(), grad_req=["write"])),
    ("Executor/grad-req-type", TypeError, "dict", lambda: _net().bind(mx.cpu(), _arguments(), grad_req=3)),
    ("Executor/forward-name", TypeError, "nothing", lambda: _bound().forward(nothing=nd.zeros((1,)))),
    ("Executor/forward-value", ValueError, "list", lambda: _bound().forward(data=[1, 2])),
    ("Executor/forward-shape", ValueError, "(3, 4)", lambda: _bound().forward(data=nd.zeros((2, 4)))),
    ("Executor/head-needed", mx.MXNetError, "make_loss", lambda: _bound().backward()),
    ("Executor/head-type", TypeError, "NDArray", lambda: _bound().backward([np.zeros((3, 2))])),
    ("Executor/head-names", KeyError, "fc_output", lambda: _bound().backward({"other": nd.zeros((3, 2))})),
    ("Executor/head-shape", mx.MXNetError, "(3, 2)", lambda: _bound().backward(nd.zeros((2, 2)))),
    ("Executor/duplicate-names", ValueError, "Duplicate",
     lambda: _twice().bind(mx.cpu(), [nd.zeros((2,))] * 2).arg_dict),
    ("Executor/copy-name", ValueError, "nothing", lambda: _bound().copy_params_from({"nothing": nd.zeros((1,))})),
    ("Executor/copy-shape", mx.MXNetError, "fc_bias", lambda: _bound().copy_params_from({"fc_bias": nd.zeros((9,))})),
    ("Executor/reshape-grow", mx.MXNetError, "allow_up_sizing", lambda: _bound().reshape(data=(9, 4))),
    ("Executor/reshape-partial", mx.MXNetError, "partial_shaping", lambda: _bound().reshape(data=(3, 2))),
    ("Executor/reshape-known", mx.MXNetError, "determine", lambda: _bound().reshape(data=(0, 4))),
    ("binding/shared-type", RuntimeError, "simple_bind error. Arguments:", _buffer_of_integers),
    ("binding/known-shapes", RuntimeError, "simple_bind error. Arguments:", lambda: _net().simple_bind(mx.cpu())),
    ("binding/shared-buffer-type", ValueError, "dict",
     lambda: _net().simple_bind(mx.cpu(), data=(3, 4), shared_buffer=[])),
    ("binding/shared-names-type", ValueError, "list",
     lambda: _net().simple_bind(mx.cpu(), data=(3, 4), shared_arg_names="data")),
    ("binding/empty-grad-req", RuntimeError, "empty", lambda: _net().simple_bind(mx.cpu(), grad_req=[], data=(3, 4))),
    ("contract/known-operator", mx.MXNetError, "refimpl ops", lambda: sym.load_json(
        '{"nodes": [{"op": "Nothing", "name": "x", "inputs": []}], "heads": [[0, 0, 0]]}')),
    ("params/required", mx.MXNetError, "num_hidden", lambda: sym.FullyConnected(sym.Variable("a"))),
    ("params/unknown-name", mx.MXNetError, "colour",
     lambda: sym.FullyConnected(sym.Variable("a"), num_hidden=1, colour="red")),
    ("params/bad-value", mx.MXNetError, "'five'",
     lambda: sym.Variable("a", attr={"__shape__": "five"}).infer_shape()),
    ("params/bad-value", mx.MXNetError, "num_hidden",
     lambda: sym.FullyConnected(sym.Variable("a"), num_hidden="many")),
    ("types/one-dtype", mx.MXNetError, "Cast",
     lambda: nd.broadcast_add(nd.zeros((2,)), nd.zeros((2,), dtype="int32"))),
]


@pytest.mark.parametrize(
    ("clause", "kind", "words", "call"),
    [pytest.param(*row, marks=pytest.mark.clause(row[0]), id=f"{row[0]}-{row[1].__name__}") for row in ROWS],
)
def test_refusal(clause: str, kind: type[Exception], words: str, call: Callable[[], object]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
    assert words in str(caught.value)
