"""What partial inference reports of calls that are partly known, as recorded from MXNet 1.9.1.

The script, in MXNet: for each row, ``eval("mx.sym." + text)`` with ``x, y, z = map(mx.sym.Variable, "xyz")``, then
``infer_shape_partial(**given)`` or ``infer_type_partial(**given)``, types by their names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels import distinct
from refimpl.oracle.pages.draws import SeededDraw, example
from refimpl.symbol.inferred_lists import known_shapes

SHAPES: list[tuple[str, dict[str, Any], tuple]] = [
    ('FullyConnected(x, num_hidden=4, name="op")', {},
     ([(), (), ()], [()], [])),
    ('FullyConnected(x, num_hidden=4, name="op")', {"op_weight": (4, 3)},
     ([(), (4, 3), ()], [()], [])),
    ('FullyConnected(x, num_hidden=4, flatten=False, name="op") + y', {"x": (0, 2, 3), "y": (5, 2, 4)},
     ([(5, 2, 3), (4, 3), (4,), (5, 2, 4)], [(5, 2, 4)], [])),
    ('Convolution(x, num_filter=2, kernel=(3,3), name="op")', {"x": (1, 0, 5, 5), "op_weight": (2, 3, 3, 3)},
     ([(1, 0, 5, 5), (2, 3, 3, 3), (2,)], [(1, 2, 3, 3)], [])),
    ('Convolution(x, num_filter=2, kernel=(3,3), name="op") + y', {"x": (0, 3, 5, 5), "y": (2, 2, 3, 3)},
     ([(2, 3, 5, 5), (2, 3, 3, 3), (2,), (2, 2, 3, 3)], [(2, 2, 3, 3)], [])),
    ('Deconvolution(x, num_filter=2, kernel=(3,3), name="op")', {"op_weight": (3, 2, 3, 3)},
     ([(), (3, 2, 3, 3)], [()], [])),
    ('Embedding(x, input_dim=5, output_dim=2, name="op")', {},
     ([(), ()], [()], [])),
    ('BatchNorm(x, name="op")', {"op_gamma": (3,)},
     ([(), (3,), ()], [()], [(), ()])),
    ('LayerNorm(x, name="op")', {"x": (2, 0), "op_gamma": (3,), "op_beta": (3,)},
     ([(2, 0), (3,), (3,)], [(2, 0)], [])),
    ('SoftmaxOutput(x, name="op") + y', {"y": (2, 3)},
     ([(), (), (2, 3)], [(2, 3)], [])),
    ("LinearRegressionOutput(x, y)", {"x": (0, 3)},
     ([(0, 3), ()], [()], [])),
    ("LinearRegressionOutput(x, y)", {"x": (2, 3)},
     ([(2, 3), (2, 3)], [(2, 3)], [])),
    ("Dropout(x) + y", {"y": (2, 3)},
     ([(), (2, 3)], [(2, 3)], [])),
    ("Pooling(x, kernel=(2,2)) + y", {"x": (0, 3, 4, 4), "y": (2, 3, 3, 3)},
     ([(0, 3, 4, 4), (2, 3, 3, 3)], [(2, 3, 3, 3)], [])),
    ("LRN(x, nsize=3)", {"x": (0, 3, 4, 4)},
     ([(0, 3, 4, 4)], [()], [])),
    ("argmax(x, axis=1)", {"x": (0, 3)},
     ([(0, 3)], [()], [])),
    ("max(x, axis=1)", {"x": (0, 3)},
     ([(0, 3)], [()], [])),
    ("sum(x, axis=1)", {"x": (0, 3)},
     ([(0, 3)], [(0,)], [])),
    ("one_hot(x, depth=3)", {"x": (0,)},
     ([(0,)], [()], [])),
    ("tile(x, reps=(2,2))", {"x": (0, 3)},
     ([(0, 3)], [()], [])),
    ("take(x, y)", {"x": (0, 3), "y": (4,)},
     ([(0, 3), (4,)], [(4, 3)], [])),
    ("take(x, y)", {"x": (5, 3), "y": (0,)},
     ([(5, 3), (0,)], [()], [])),
    ("where(x, y, z)", {"y": (2, 3)},
     ([(), (2, 3), ()], [()], [])),
    ("where(x, y, z)", {"x": (2, 3)},
     ([(2, 3), (), ()], [()], [])),
    ("where(x, y, z)", {"x": (2, 3), "y": (2, 0)},
     ([(2, 3), (2, 0), (2, 0)], [(2, 0)], [])),
    ("stack(x, y)", {"x": (2, 3)},
     ([(2, 3), ()], [(2, 2, 3)], [])),
    ("stack(x, y)", {"x": (2, 0)},
     ([(2, 0), ()], [()], [])),
    ("stack(x, y)", {"x": (2, 0), "y": (0, 3)},
     ([(2, 0), (0, 3)], [(2, 2, 3)], [])),
    ("broadcast_add(x, y)", {"x": (0, 3), "y": (2, 1)},
     ([(0, 3), (2, 1)], [(0, 3)], [])),
    ("broadcast_add(x, y)", {"x": (0, 3), "y": (1, 0)},
     ([(0, 3), (1, 0)], [(0, 0)], [])),
    ("SliceChannel(x, num_outputs=2)[0] + y", {"y": (2, 3)},
     ([(), (2, 3)], [(2, 3)], [])),
    ("SliceChannel(x, num_outputs=2)[0] + y", {"x": (0, 6), "y": (2, 3)},
     ([(2, 6), (2, 3)], [(2, 3)], [])),
    ("linalg_gemm2(x, y)", {"x": (2, 3)},
     ([(2, 3), ()], [()], [])),
    ("scatter_nd(x, y, shape=(4,))", {"y": (1, 3)},
     ([(), (1, 3)], [(4,)], [])),
    ('RNN(x, state_size=2, num_layers=1, mode="rnn_tanh", name="op")', {"op_state": (1, 3, 2)},
     ([(), (), (1, 3, 2)], [()], [])),
]
TYPES: list[tuple[str, dict[str, str], tuple]] = [
    ('BatchNorm(x, name="op")', {"op_gamma": "float64"},
     ([None, "float64", None], [None], [None, None])),
    ('BatchNorm(x, name="op")', {"x": "float64"},
     (["float64", "float64", "float64"], ["float64"], ["float64", "float64"])),
    ('Convolution(x, num_filter=2, kernel=(3,3), name="op")', {"op_weight": "float64"},
     ([None, "float64", None], [None], [])),
    ('Convolution(x, num_filter=2, kernel=(3,3), name="op") + y', {"y": "float64"},
     (["float64", "float64", "float64", "float64"], ["float64"], [])),
    ('SoftmaxOutput(x, name="op")', {"op_label": "float64"},
     ([None, "float64"], [None], [])),
    ('FullyConnected(x, num_hidden=4, name="op")', {"op_weight": "float64"},
     (["float64", "float64", "float64"], ["float64"], [])),
    ("broadcast_add(x, y)", {"y": "float64"},
     (["float64", "float64"], ["float64"], [])),
]


def net(text: str) -> mx.sym.Symbol:
    x, y, z = map(mx.sym.Variable, "xyz")
    return eval("sym." + text, {"sym": mx.sym, "x": x, "y": y, "z": z})


@pytest.mark.clause("infer/sources")
@pytest.mark.parametrize(("text", "given", "expected"), SHAPES)
def test_shapes_are_reported_as_by_mxnet(text: str, given: dict[str, Any], expected: tuple) -> None:
    assert net(text).infer_shape_partial(**given) == expected


@pytest.mark.clause("infer/sources")
@pytest.mark.parametrize(("text", "given", "expected"), TYPES)
def test_types_are_reported_as_by_mxnet(text: str, given: dict[str, str], expected: tuple) -> None:
    answer = net(text).infer_type_partial(**given)
    assert tuple([kind and np.dtype(kind).name for kind in part] for part in answer) == expected


@pytest.mark.clause("FullyConnected/output-shape", "cumsum/shape", "_split_v2/shapes")
@pytest.mark.parametrize(("text", "given", "data"), [
    ("FullyConnected(x, num_hidden=2, no_bias=True, flatten=False) + y", {"x": (0, 2), "y": (3, 2)}, (3, 2)),
    ("FullyConnected(x, num_hidden=4, no_bias=True) + y", {"x": (0, 4, 1), "y": (2, 4)}, (2, 4, 1)),
    ("cumsum(x, axis=0) + y", {"y": (3, 1)}, (3, 1)),
    ("_internal._split_v2(x, indices=(), sections=1, axis=0) + y", {"x": (2, 0), "y": (2, 4)}, (2, 4)),
])
def test_data_follows_from_the_output(text: str, given: dict[str, Any], data: tuple[int, ...]) -> None:
    # MXNet's infer_shape gives the same
    assert net(text).infer_shape(**given)[0][0] == data


@pytest.mark.clause("infer/sources")
def test_what_is_given_is_reported() -> None:
    # MXNet shows (0,) for gamma here, though 3 was given
    arguments, outputs, _ = mx.sym.BatchNorm(mx.sym.Variable("x"), name="op").infer_shape_partial(
        x=(2, 0, 4), op_gamma=(3,)
    )
    assert arguments == [(2, 0, 4), (3,), (0,)]
    assert outputs == [(2, 0, 4)]


@pytest.mark.clause("infer/sources")
def test_contradictions_are_refused_though_nothing_would_be_reported() -> None:
    data = mx.sym.Variable("x")
    with pytest.raises(mx.MXNetError) as caught:
        mx.sym.FullyConnected(data, num_hidden=4, name="op").infer_shape_partial(op_weight=(5, 3))
    assert caught.value.clause == "FullyConnected/weight-shape"


@pytest.mark.clause("infer/sources")
def test_reshape_infers_with_all_that_is_known() -> None:
    executor = mx.sym.Dropout(mx.sym.Variable("x")).bind(mx.cpu(), {"x": mx.nd.zeros((4, 2))})
    assert executor.reshape(x=(2, 2)).arg_dict["x"].shape == (2, 2)
    rows = mx.sym.Dropout(mx.sym.Variable("x")) + mx.sym.Variable("y")
    executor = rows.bind(mx.cpu(), {"x": mx.nd.zeros((4, 2)), "y": mx.nd.zeros((4, 2))})
    assert executor.reshape(y=(2, 2), partial_shaping=True).arg_dict["x"].shape == (2, 2)


def weaker(one: Any, other: Any) -> bool:
    """Whether a shape says no more than another."""
    return one == () or (len(one) == len(other) and all(a in (0, b) for a, b in zip(one, other, strict=True)))


@pytest.mark.clause("infer/sources")
@pytest.mark.parametrize("operator", [op.name for op in distinct() if op.reports])
def test_the_report_lies_between_what_is_given_and_what_follows(operator: str) -> None:
    op = next(op for op in distinct() if op.name == operator)
    for number in range(4):
        draw = SeededDraw(number)
        of = example(op, draw, untied=True)
        function = mx.symbol.operators.make_function(op, op.name)
        inputs = {name: mx.sym.Variable(name) for name in of.names}
        symbol = function(*inputs.values(), **of.params) if op.variadic else function(**inputs, **of.params)
        shapes = {name: array.shape for name, array in zip(of.names, of.arrays, strict=True)}
        for _ in range(4):
            given = {
                name: tuple(side * draw.integer(0, 1) for side in shape)
                for name, shape in shapes.items() if draw.boolean()
            }
            reported, follows = symbol.infer_shape_partial(**given), known_shapes(symbol.entries, given)
            for part, whole in zip(reported, follows, strict=True):
                assert all(map(weaker, part, whole)), (of, given, reported, follows)
            told = dict(zip(symbol.list_arguments(), reported[0], strict=True))
            told.update(zip(symbol.list_auxiliary_states(), reported[2], strict=True))
            assert all(weaker(shape, told[name]) for name, shape in given.items()), (of, given, reported)


# 1.9.1, recorded with: mx.sym._internal._rnn_param_concat(*[mx.sym.var(f"p{i}", shape=s) for i, s in enumerate(
# shapes)], dim=dim, num_args=len(shapes)) + mx.sym.var("t", shape=total), and infer_shape_partial()[0][:-1]
@pytest.mark.clause("rnn_param_concat/two-unknown")
@pytest.mark.parametrize(("shapes", "total", "dim", "found"), [
    ([(48, 0), (48, 12), (48, 0), (48, 12)], (48, 40), 1, [(48, 8), (48, 12), (48, 8), (48, 12)]),
    ([(48, 0), (48, 12), (48, 0), (48, 12)], (48, 40), -1, [(48, 8), (48, 12), (48, 8), (48, 12)]),
    ([(0,), (12,), (0,)], (40,), 0, [(14,), (12,), (14,)]),
])
def test_two_unknown_parameters_share_the_rest(shapes, total, dim, found) -> None:
    variables = [mx.sym.var(f"p{i}", shape=shape) for i, shape in enumerate(shapes)]
    joined = mx.sym._internal._rnn_param_concat(*variables, dim=dim, num_args=len(shapes))
    symbol = mx.sym.elemwise_add(joined, mx.sym.var("t", shape=total))
    assert symbol.infer_shape_partial()[0][:-1] == found


@pytest.mark.clause("rnn_param_concat/two-unknown")
def test_an_odd_rest_is_refused() -> None:
    variables = [mx.sym.var(f"p{i}", shape=(side,)) for i, side in enumerate((0, 12, 0))]
    joined = mx.sym._internal._rnn_param_concat(*variables, dim=0, num_args=3)
    with pytest.raises(mx.MXNetError) as caught:
        mx.sym.elemwise_add(joined, mx.sym.var("t", shape=(41,))).infer_shape_partial()
    assert caught.value.clause == "rnn_param_concat/two-unknown"


@pytest.mark.clause("rnn_param_concat/two-unknown")
def test_both_directions_of_an_rnn_learn_the_width_of_its_data() -> None:
    shapes = [(48, 0), (48, 12), (48, 0), (48, 12), (48,), (48,), (48,), (48,)]
    flat = [mx.sym.reshape(mx.sym.var(f"p{i}", shape=shape), shape=(-1,)) for i, shape in enumerate(shapes)]
    states = [mx.sym.zeros(shape=(2, 0, 12)) for _ in range(2)]  # the batch size is inferred
    network = mx.sym.RNN(
        mx.sym.var("data"), mx.sym._internal._rnn_param_concat(*flat, dim=0, num_args=8), *states,
        state_size=12, num_layers=1, mode="lstm", bidirectional=True,
    )
    given, outputs, _ = network.infer_shape(data=(5, 3, 8))
    assert given == [(5, 3, 8), (48, 8), (48, 12), (48, 8), (48, 12), (48,), (48,), (48,), (48,)]
    assert outputs == [(5, 3, 24)]
    assert network.simple_bind(mx.cpu(), data=(5, 3, 8)).forward()[0].shape == (5, 3, 24)
