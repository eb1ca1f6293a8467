"""The steps that MXNet composes of many operators and that have a kernel here, where their pages cannot show it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels import get

nd = mx.nd
STEPS = {
    # operator: number of states, required parameters
    "_adadelta_step": (2, {}), "_adamax_step": (2, {"lr": 0.1}), "_dcasgd_step": (1, {"lr": 0.1}),
    "_dcasgd_mom_step": (2, {"lr": 0.1, "momentum": 0.5}),
    "_nadam_step": (2, {"lr": 0.1, "u": 0.5, "v": 0.5, "product": 0.5, "t": 1}),
}


def arrays(operator: str, dtype: str) -> list[Any]:
    """A weight, its gradient and states."""
    first = [nd.array([1, 2], dtype=dtype), nd.array([0.5, -1], dtype=dtype)]
    return first + [nd.array([0.25, 0.75], dtype=dtype) for _ in range(STEPS[operator][0])]


@pytest.mark.clause("adadelta/types", "adamax/types", "dcasgd/types", "nadam/types")
@pytest.mark.parametrize("operator", STEPS)
def test_one_type(operator: str) -> None:
    """float16 is what float32 gives, rounded once; states are rounded too."""
    function, attrs = getattr(nd._internal, operator), STEPS[operator][1]
    results = []
    for dtype in ("float16", "float32"):
        given = arrays(operator, dtype)
        made = function(*given, **attrs)
        assert np.dtype(made.dtype).name == dtype
        results.append([each.asnumpy().astype("float16").tolist() for each in (made, *given)])
    assert results[0] == results[1]
    with pytest.raises(mx.MXNetError, match="float64"):
        function(given[0], nd.array([0.5, -1], dtype="float64"), *given[2:], **attrs)


@pytest.mark.clause("adadelta/gradient", "adamax/gradient", "dcasgd/gradient", "nadam/gradient")
@pytest.mark.parametrize("operator", STEPS)
def test_no_step_has_a_gradient(operator: str) -> None:
    assert not get(operator).has_gradient
    given = arrays(operator, "float32")
    given[0].attach_grad()
    with mx.autograd.record():
        made = getattr(nd._internal, operator)(*given, **STEPS[operator][1])
    with pytest.raises(mx.MXNetError):
        made.backward()
        given[0].grad.wait_to_read()


@pytest.mark.clause("adamax/bias")
def test_the_average_of_adamax_is_not_corrected() -> None:
    weight, mean, largest = nd.zeros(1), nd.zeros(1), nd.zeros(1)
    nd._internal._adamax_step(weight, nd.array([4.0]), mean, largest, lr=0.5, beta1=0.75, out=weight)
    assert (mean.asscalar(), largest.asscalar(), weight.asscalar()) == (1.0, 4.0, -0.125)


@pytest.mark.clause("nadam/time", "nadam/schedule")
def test_time_corrects_the_squares_and_nothing_else_of_nadam() -> None:
    """beta2 = 0.5 and g = 2: var' is 2, the divisor sqrt(2 / (1 - 0.5 ** t)) is 2 and sqrt(8 / 3)."""
    moved = []
    for t in (1, 2):
        weight = nd.zeros(1)
        nd._internal._nadam_step(
            weight, nd.array([2.0]), nd.zeros(1), nd.zeros(1), lr=1, u=0.5, v=0, product=0.5, t=t, beta2=0.5, epsilon=0,
            out=weight,
        )
        moved.append(weight.asscalar())
    np.testing.assert_allclose(moved, [-1.0, -2 / (8 / 3) ** 0.5], rtol=1e-6)


@pytest.mark.clause("dcasgd/lamda")
def test_the_strength_of_a_correction() -> None:
    places = []
    for lamda in (0.0, 0.5, 1.0):
        weight = nd.ones(1)
        nd._internal._dcasgd_step(weight, nd.array([2.0]), nd.zeros(1), lr=1, lamda=lamda, out=weight)
        places.append(weight.asscalar())
    assert places == [-1.0, -3.0, -5.0]  # 1 - (2 + lamda * 4 * 1)
