"""Operators that reshape, cut, choose and compare: inference from parts, types, refusals at run time.

Expected shapes and numbers were printed by MXNet 1.9.1, for a row (name, params, ins, outs) by
``getattr(mx.sym, name)(*variables, **params).infer_shape_partial(...)``, unless a comment says otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels import MXNetError, get, grad, run
from refimpl.kernels.foundation import UNKNOWN

Shapes = list[Any]


def inferred(name: str, params: dict[str, Any], ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    op = get(name)
    found_ins, found_outs = op.infer(op.parse(params), ins, outs)
    return list(found_ins), list(found_outs)


RESHAPES = [
    ((2, 3, 4), (4, 0, 2), False, (4, 3, 2)),
    ((2, 3, 4), (6, 1, -1), False, (6, 1, 4)),
    ((2, 3, 4), (2, -2), False, (2, 3, 4)),
    ((2, 3, 4), (-2, 1, 1), False, (2, 3, 4, 1, 1)),
    ((2, 3, 4), (-3, 4), False, (6, 4)),
    ((2, 3, 4), (0, -3), True, (2, 12)),
    ((2, 3, 4), (-4, 1, 2, -2), False, (1, 2, 3, 4)),
    ((2, 3, 4), (2, -4, -1, 3, -2), False, (2, 1, 3, 4)),
    ((2, 3, 4), (0, -4, 3, -1, 0), False, (2, 3, 1, 4)),
    ((2, 3, 4), (-1, 0), False, (8, 3)),
    ((2, 3, 4), (-1, 0), True, (6, 4)),
    ((2, 3, 4), (0, -1), True, (3, 8)),
    ((2, 3, 4), (-1, -2), False, (2, 3, 4)),
    ((2, 3, 4), (-2, -1), True, (2, 3, 4)),
    ((2, 12, 5), (0, 3, -1, -4, 0), True, (2, 3, 4, 5)),
    ((2, UNKNOWN, 4), (0, -4, 1, -1, 0), False, (2, 1, UNKNOWN, 4)),
    # by definition of -1: MXNet fills a wrong side here, (2, 1, 4, 1)
    ((2, 3, 4), (-2, -1), False, (2, 3, 4, 1)),
]


@pytest.mark.clause("Reshape/codes", "Reshape/reverse")
@pytest.mark.parametrize(("data", "codes", "reverse", "expected"), RESHAPES)
def test_reshape_codes(data: Shapes, codes: Shapes, reverse: bool, expected: Shapes) -> None:
    assert inferred("Reshape", {"shape": codes, "reverse": reverse}, [data], [None])[1] == [expected]


PARTS = [
    ("Reshape", {"shape": (-1, 12)}, [(UNKNOWN, 3, 4)], [(2, 12)], [(2, 3, 4)], [(2, 12)]),
    ("Reshape", {"shape": (2, 12)}, [(UNKNOWN, 3, 4)], [None], [(2, 3, 4)], [(2, 12)]),
    ("expand_dims", {"axis": -2}, [None], [(2, 1, 3)], [(2, 3)], [(2, 1, 3)]),
    ("transpose", {"axes": (1, 2, 0)}, [None], [(2, 3, 4)], [(4, 2, 3)], [(2, 3, 4)]),
    ("Concat", {"num_args": 2}, [(2, 3), (UNKNOWN, 4)], [None], [(2, 3), (2, 4)], [(2, 7)]),
    ("SliceChannel", {"num_outputs": 2}, [(UNKNOWN, 4)], [(2, 2), None], [(2, 4)], [(2, 2)] * 2),
    ("pick", {"axis": -1}, [(2, 3, 4), None], [None], [(2, 3, 4), (2, 3)], [(2, 3)]),
    ("SoftmaxOutput", {}, [(2, 3, 4), None], [None], [(2, 3, 4), (2, 3)], [(2, 3, 4)]),
    ("SoftmaxOutput", {}, [(2, 3), (UNKNOWN,)], [None], [(2, 3), (2,)], [(2, 3)]),
    ("SoftmaxOutput", {"multi_output": True}, [(2, 3, 4, 5), None], [None],
     [(2, 3, 4, 5), (2, 20)], [(2, 3, 4, 5)]),
    ("SoftmaxOutput", {"multi_output": True}, [(2, 3, 4, 5), (2, 1, 4, 5)], [None],
     [(2, 3, 4, 5), (2, 1, 4, 5)], [(2, 3, 4, 5)]),
    ("LinearRegressionOutput", {}, [(2, 3, 1), None], [None], [(2, 3, 1)] * 2, [(2, 3, 1)]),
    ("LinearRegressionOutput", {}, [(2, 1), None], [None], [(2, 1), (2,)], [(2, 1)]),
    ("LinearRegressionOutput", {}, [(2, 3, 4), (2, 12)], [None], [(2, 3, 4), (2, 12)], [(2, 3, 4)]),
    ("SVMOutput", {}, [(2, 3, 4), None], [None], [(2, 3, 4), (2, 3)], [(2, 3, 4)]),
    # by hand, where MXNet leaves more unknown
    ("Concat", {"num_args": 2}, [(2, 3), (2, UNKNOWN)], [(2, 7)], [(2, 3), (2, 4)], [(2, 7)]),
    ("stack", {"num_args": 2, "axis": 1}, [None, None], [(3, 2, 4)], [(3, 4)] * 2, [(3, 2, 4)]),
    ("batch_dot", {}, [(5, 2, UNKNOWN), (UNKNOWN, 3, 4)], [None], [(5, 2, 3), (5, 3, 4)], [(5, 2, 4)]),
]


@pytest.mark.clause(
    "SliceChannel/shapes", "SoftmaxOutput/label-shape", "RegressionOutput/label-shape",
    "SVMOutput/label-shape", "Concat/shapes",
)
@pytest.mark.parametrize(("name", "params", "ins", "outs", "found_ins", "found_outs"), PARTS)
def test_infers_what_is_missing(
    name: str, params: dict[str, Any], ins: Shapes, outs: Shapes, found_ins: Shapes, found_outs: Shapes
) -> None:
    assert inferred(name, params, ins, outs) == (found_ins, found_outs)


@pytest.mark.clause("Embedding/type")
@pytest.mark.parametrize(
    ("weight", "dtype", "found"),
    [(None, "float32", "float32"), (None, "float64", "float64"), ("float64", "float32", "float64")],
)
def test_type_of_embedding(weight: str | None, dtype: str, found: str) -> None:
    op = get("Embedding")
    given = [np.dtype("int32"), weight and np.dtype(weight)]
    ins, outs = op.infer_type(
        op.parse({"input_dim": 5, "output_dim": 4, "dtype": dtype}), given, [None]
    )
    assert [*ins, *outs] == [np.dtype("int32"), np.dtype(found), np.dtype(found)]


@pytest.mark.clause("Embedding/data-gradient")
@pytest.mark.clause("gradient/refused")
def test_embedding_refuses_a_data_gradient() -> None:
    net = mx.sym.Embedding(mx.sym.Variable("ids"), input_dim=4, output_dim=3, name="words")
    asking = net.simple_bind(mx.cpu(), ids=(5,))
    assert asking.forward()[0].shape == (5, 3)  # whoever only predicts is not bothered
    with pytest.raises(MXNetError, match="grad_req of ids") as caught:
        asking.backward(mx.nd.ones((5, 3)))
    assert caught.value.clause == "Embedding/data-gradient"
    free = net.simple_bind(mx.cpu(), grad_req={"ids": "null", "words_weight": "write"}, ids=(5,))
    assert free.grad_dict["words_weight"].shape == (4, 3)


@pytest.mark.clause("take/raise")
@pytest.mark.parametrize("index", [-1, 3, float("nan"), 1e30])
def test_take_refuses_indices_outside(index: float) -> None:
    with pytest.raises(MXNetError) as caught:
        run("take", [1, 2, 3], [0, index], mode="raise")
    assert caught.value.clause == "take/raise"
    assert run("take", [1, 2, 3], [2, -0.5], mode="raise") == [3.0, 1.0]


def test_indices_that_no_array_has() -> None:
    """By definition; MXNet converts them as the processor pleases."""
    odd = [float("nan"), float("inf"), -float("inf")]
    assert run("Embedding", odd, [[1], [2], [3]], input_dim=3, output_dim=1) == [[1.0], [3.0], [1.0]]
    assert run("one_hot", odd, depth=2) == [[0.0, 0.0]] * 3
    assert grad("SoftmaxOutput", [[0, 0]] * 3, odd)[0] == [[0.5, 0.5]] * 3


@pytest.mark.clause("SoftmaxOutput/ignore")
def test_an_ignored_row_may_hold_anything() -> None:
    data = [[float("nan"), 1], [0, 0]]
    gradient = grad("SoftmaxOutput", data, [-1, 1], use_ignore=True, normalization="valid")[0]
    assert gradient == [[0.0, 0.0], [0.5, -0.5]]


@pytest.mark.clause("RegressionOutput/table")
def test_logistic_does_not_overflow() -> None:
    assert run("LogisticRegressionOutput", [[-1000, 1000]], [[0, 1]]) == [[0.0, 1.0]]


@pytest.mark.clause("softmax/length")
def test_lengths_along_an_inner_axis() -> None:
    data = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    lengths = np.array([[1, 2], [3, 2]], np.int32)
    found = run("softmax", data, lengths, axis=1, use_length=True)
    expected = [
        [[1.0, 0.119203], [0.0, 0.880797], [0.0, 0.0]],
        [[0.015876, 0.119203], [0.11731, 0.880797], [0.866813, 0.0]],
    ]
    np.testing.assert_allclose(found, expected, atol=1.5e-6)
