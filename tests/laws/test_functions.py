"""The functions of ``math`` in loops that run as Python, beside those of machine code: types and units."""

from __future__ import annotations

import math
from contextlib import nullcontext

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.kernels.foundation.ieee import FUNCTIONS
from refimpl.kernels.foundation.loop import python_loops
from refimpl.oracle.pages.compiled_math import COMPILED

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with the JIT disabled"),
]
UNITS = 8  # in the last place of the result, or of 1 where the logarithm of gamma is smaller
OF_TWO = {math.pow, math.hypot, math.copysign, math.atan2}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, math.inf, -math.inf, math.nan]
numbers = st.one_of(st.sampled_from(SPECIAL), st.floats(-30, 30, width=32), st.floats(-1, 1, width=32))


@pytest.mark.clause("numbers/specification")
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@given(data=st.data())
def test_functions_agree_within_units(function, kind, data) -> None:
    args = [kind(data.draw(numbers)) for _ in range(2 if function in OF_TWO else 1)]
    with np.errstate(all="ignore"):
        python, machine = FUNCTIONS[function](*args), COMPILED[function](*args)
    assert type(python) is type(machine) is kind
    if not (math.isfinite(python) and math.isfinite(machine)):
        assert str(python) == str(machine)
        return
    size = max(abs(machine), kind(1)) if function is math.lgamma else max(abs(machine), np.finfo(kind).tiny)
    assert abs(float(python) - float(machine)) <= UNITS * float(np.spacing(size))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_double_among_the_arguments_makes_a_double(function) -> None:
    args = [np.float32(1.5), np.float64(1.5)][: 2 if function in OF_TWO else 1]
    with np.errstate(all="ignore"):
        assert type(FUNCTIONS[function](*args)) is (np.float64 if len(args) == 2 else np.float32)


@pytest.mark.clause("numbers/specification")
@pytest.mark.parametrize(("value", "dtype", "stored"), [(300, "int8", 44), (-129, "int8", 127), (300, "uint8", 44)])
def test_numbers_too_large_for_a_type_lose_their_upper_bits(value: float, dtype: str, stored: int) -> None:
    """By hand: 300 - 256, and 256 - 129."""
    for loops in (nullcontext(), python_loops()):
        with loops:
            hot = mx.nd.one_hot(mx.nd.array([1]), 2, on_value=value, dtype=dtype)
            assert hot.asnumpy().tolist() == [[0, stored]]
