"""The second bound: proved over exact rationals, it holds every legitimate result and is near the first."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels.foundation import Op
from refimpl.oracle.bounds import FIRST_ORDER, RIGOROUS, precision, rigorous, rigorous_functions, tracking
from refimpl.oracle.bounds.precision import HALF
from refimpl.oracle.bounds.rigorous import Enclosure, cast, exactly, free, number
from refimpl.oracle.pages.calls import Trial, has_gradient
from refimpl.oracle.pages.draws import SeededDraw, example

from .test_bounds_numbers import ORDERS, SINGLES, SMALL, evaluated, in_single, trees, with_errors
from .test_bounds_pages import ALL, SEED

UNIT = Fraction(1, 2**24)


@pytest.fixture(autouse=True)
def _from_the_start() -> None:
    rigorous.made.numbers = 0


def enclosed(tree) -> Enclosure:
    return evaluated(tree, exactly, lambda parts: sum(parts[1:], parts[0]), lambda a, b: a * b, lambda a, b: a / b)


# --- worked examples ----------------------------------------------------------------------------


def test_a_value_is_an_exact_rational() -> None:
    tenth = exactly(1.0) / exactly(10.0)
    assert abs(tenth.value - Fraction(1, 10)) < Fraction(1, 2**150)
    assert 2 * UNIT / 10 < tenth.bound() < 2 * UNIT / 10 * (1 + 4 * UNIT)
    assert abs(tenth.value - Fraction(1, 10)) < tenth.bound() - 2 * UNIT / 10  # what was cut off is counted


@pytest.mark.clause("oracle/confirmed")
def test_errors_of_second_order_are_counted() -> None:
    two = Enclosure(Fraction(2), Fraction(1, 2), Fraction(5, 2), 0, None)
    assert (two * two).bound() > Fraction(9, 4)  # 2.5 * 2.5 - 4, of which a quarter is the product of the errors
    total = two + exactly(1.0) + exactly(1.0)
    assert total.bound() > Fraction(1, 2) + 2 * UNIT * Fraction(9, 2)  # the term may be 2.5


@pytest.mark.clause("oracle/exact")
def test_exact_numbers_stay_exact() -> None:
    assert (exactly(1.5) + exactly(0.25)).bound() == (exactly(1.5) * exactly(-2.25)).bound() == 0
    assert (exactly(2.0**24) + exactly(1.0)).bound() > 0
    assert (exactly(3.0) / exactly(4.0)).bound() == 0
    assert number(0.1).bound() == Fraction(0.1) * UNIT
    assert [cast(exactly(value), HALF).bound() for value in (2048.0, 0.0)] == [0, 0]
    assert cast(exactly(2049.0), HALF).bound() >= 2049 * 2.0**-11
    assert cast(exactly(1e6), HALF).bound() == math.inf


def test_zeros_infinities_and_nan_follow_ieee_754() -> None:
    assert math.copysign(1, (exactly(-2.0) * exactly(0.0)).value) == -1
    assert math.copysign(1, (exactly(2.0) - exactly(2.0)).value) == 1
    assert ((exactly(-1.0) / exactly(0.0)).value, (exactly(-1.0) / exactly(0.0)).bound()) == (-math.inf, 0)
    assert math.isnan((exactly(math.inf) - exactly(math.inf)).value)
    assert (exactly(math.inf) - exactly(math.inf)).bound() == 0
    pole = exactly(1.0) / exactly(0.0)
    assert (pole - pole).bound() == (pole * exactly(0.0)).bound() == (free(1.0) + exactly(1.0)).bound() == math.inf
    assert (pole + exactly(1.0)).bound() == 0
    assert ((exactly(3.0) - exactly(3.0)) * number(0.1)).bound() > 0


@pytest.mark.clause("oracle/branch")
def test_branches_are_undecided_where_errors_overlap() -> None:
    near = Enclosure(Fraction(1), Fraction(1, 4), Fraction(5, 4), 0, None)
    with precision.watched_branches() as undecided:
        assert near < 1.5
        assert int(near + exactly(0.5)) == 1
        assert not undecided()
        assert near > 0.9
        assert undecided()
    with precision.watched_branches() as undecided:
        assert math.floor(near) == 1
        assert undecided()


@pytest.mark.clause("oracle/functions")
def test_functions_are_bounded_at_both_ends() -> None:
    near = Enclosure(Fraction(2), Fraction(1), Fraction(3), 0, None)
    functions = rigorous_functions.MATH
    assert functions.log(near).bound() > math.log(2)
    assert functions.log(Enclosure(Fraction(2), Fraction(2), Fraction(4), 0, None)).bound() == math.inf
    assert functions.gamma(near).bound() > 1 - 0.8856  # between 1 and 3 it is smallest at 1.46
    assert functions.tan(near).bound() == math.inf  # there is a pole at 1.57
    assert functions.sqrt(exactly(2.25)).bound() == functions.exp(exactly(0.0)).bound() == 0
    assert functions.tanh(exactly(30.0)).bound() > 0  # 1 in double precision only
    assert functions.atan2(Enclosure(Fraction(0), Fraction(1, 8), Fraction(1, 8), 0, None), -1.0).bound() == math.inf
    assert functions.pow(near, 3.0).bound() > 19
    with pytest.raises(TypeError, match="must not be turned into a float"):
        float(near)


def test_what_is_beyond_double_precision_is_infinite_and_free() -> None:
    huge = exactly(1e300) * exactly(1e300)
    assert (huge.value, huge.bound(), huge.pair()) == (math.inf, math.inf, (math.inf, math.inf))


def test_too_many_numbers_are_given_up(monkeypatch) -> None:
    monkeypatch.setattr(rigorous, "MOST", rigorous.made.numbers + 3)
    with pytest.raises(rigorous.TooLong):
        sum((exactly(1.0) for _ in range(9)), exactly(0.0))


# --- laws ---------------------------------------------------------------------------------------


@pytest.mark.clause("oracle/sum-order", "oracle/confirmed")
@given(tree=trees(SINGLES, divide=True))
def test_every_order_lies_inside_and_the_first_bound_is_near(tree) -> None:
    rigorous.made.numbers = 0
    wanted, first = enclosed(tree), with_errors(tree)
    value, bound = wanted.pair()
    for order in ORDERS:
        found = in_single(tree, order)
        if bound < math.inf and not np.array_equal(found, value, equal_nan=True):
            assert abs(Fraction(found) - Fraction(wanted.value)) <= wanted.bound(), order
    assert (bound == 0) == (first.bound() == 0)
    if 0 < bound < math.inf:
        assert abs(value - first.value) <= bound
        assert bound >= first.bound() * (1 - 1e-5)  # each rounding of the first bound has four units to spare


@pytest.mark.clause("oracle/exact")
@given(tree=trees(SMALL, divide=False))
def test_what_is_exact_is_the_rational(tree) -> None:
    rigorous.made.numbers = 0
    wanted = enclosed(tree)
    assert Fraction(wanted.value) == evaluated(tree, Fraction, sum, lambda a, b: a * b, None) or wanted.bound() > 0


@pytest.mark.clause("oracle/functions")
@given(
    name=st.sampled_from(["exp", "log", "tanh", "sqrt", "erf", "cosh", "sin", "lgamma", "expm1", "gamma", "tan"]),
    value=st.floats(0.125, 8), error=st.floats(0, 0.5), part=st.floats(-1, 1),
)
def test_a_function_stays_inside_its_bound(name: str, value: float, error: float, part: float) -> None:
    rigorous.made.numbers = 0
    at, off = Fraction(value), Fraction(error)
    found = getattr(rigorous_functions.MATH, name)(Enclosure(at, off, at + off, 0, None))
    if found.bound() < math.inf:
        other = np.float32(getattr(math, name)(value + part * error))
        assert abs(Fraction(float(other)) - Fraction(found.value)) <= found.bound()


# --- pages --------------------------------------------------------------------------------------


def bounds_of(of, arithmetic):
    trial = Trial(of, is_train=True)
    with tracking(arithmetic) as shadow:
        trial.forward()
        found = [shadow.of(out.buffer) for out in trial.outs]
        if has_gradient(of) and of.op.backward is not None:
            trial.backward()
            found += [shadow.of(gradient.buffer) for gradient in trial.grads if gradient is not None]
    return found


def check(op: Op, seed: int) -> None:
    of = example(op, SeededDraw(seed), smooth=seed % 2 == 0)
    for (values, bounds), (first, narrow) in zip(bounds_of(of, RIGOROUS), bounds_of(of, FIRST_ORDER), strict=True):
        with np.errstate(all="ignore"):
            same = (np.abs(values - first) <= bounds + narrow) | (values == first) | np.isnan(values) & np.isnan(first)
            assert (same | np.isinf(bounds)).all()
            # where a page computes in double precision the first bound has twice the error, for its value has it too
            assert ((bounds >= 0.45 * narrow) | np.isinf(narrow)).all()
            assert ((bounds <= 2 * narrow) | np.isinf(bounds)).all()


@pytest.mark.heavy
@pytest.mark.clause("oracle/confirmed")
@pytest.mark.parametrize("op", ALL[SEED % 20 :: 20], ids=lambda op: op.name)
def test_both_bounds_of_a_page_agree(op: Op) -> None:
    rigorous.made.numbers = 0
    check(op, SEED)


@pytest.mark.long  # ten minutes
@pytest.mark.parametrize("op", ALL, ids=lambda op: op.name)
def test_both_bounds_agree_in_many_draws(op: Op) -> None:
    for seed in range(SEED + 1, SEED + 9):
        rigorous.made.numbers = 0
        check(op, seed)
