"""Numbers with bounds: worked examples by hand, and laws over random expressions in many orders of evaluation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.oracle.bounds import number, number_functions, precision
from refimpl.oracle.bounds.number import Number, cast, exactly, free, rounded
from refimpl.oracle.bounds.precision import DOUBLE, HALF

UNIT = 2.0**-24


# --- worked examples ----------------------------------------------------------------------------


@pytest.mark.clause("oracle/sum-order")
def test_a_sum_may_be_added_in_any_order() -> None:
    total = exactly(1.0) + exactly(UNIT) + exactly(UNIT)
    assert total.value == 1 + 2 * UNIT
    assert total.bound() == 2 * UNIT * (1 + 2 * UNIT)  # two additions, and the magnitudes add up to 1 + 2 units
    one, tiny = np.float32(1), np.float32(UNIT)
    assert [(one + tiny) + tiny, one + (tiny + tiny)] == [1, 1 + 2 * UNIT]  # both are inside


@pytest.mark.clause("oracle/sum-order")
def test_one_difference_rounds_its_result_and_several_count_their_magnitudes() -> None:
    third = rounded(1 / 3, 0.0)
    assert third.bound() == pytest.approx(UNIT / 3, rel=1e-6)
    left = third - exactly(1 / 4)
    assert left.value == 1 / 3 - 1 / 4
    assert left.bound() == pytest.approx(UNIT / 3 + UNIT / 12, rel=1e-6)
    assert (left - exactly(1 / 16)).bound() == pytest.approx(UNIT / 3 + 2 * UNIT * (1 / 3 + 1 / 4 + 1 / 16), rel=1e-6)


@pytest.mark.clause("oracle/sum-order")
def test_nothing_is_rounded_where_zero_is_added() -> None:
    third = rounded(1 / 3, 0.0)
    assert (exactly(0.0) + third).bound() == third.bound() == (exactly(0.0) - third).bound()
    assert (exactly(0.0) - third).value == -third.value


@pytest.mark.clause("oracle/sum-order")
def test_a_product_with_a_sum_may_be_taken_term_by_term() -> None:
    # (100 - 99) * 0.1: the difference is exact, but 100 * 0.1 - 99 * 0.1 is rounded three times
    tenth = rounded(0.1, 0.0)
    product = (exactly(100.0) - exactly(99.0)) * tenth
    one, other = np.float32(100) * np.float32(0.1), np.float32(99) * np.float32(0.1)
    assert abs(float(one - other) - 0.1) > 4 * UNIT * 0.1
    assert abs(float(one - other) - 0.1) <= product.bound()


@pytest.mark.clause("oracle/exact")
@pytest.mark.parametrize(("terms", "is_exact"), [
    ([1.5, 0.25, -2.0], True),
    ([2.0**23, 1.0], True),
    ([2.0**24 - 2, 1.0], True),
    ([2.0**24, 1.0], False),  # 25 bits
    ([2.0**24, 1.0, -(2.0**24)], False),  # the sum is 1, but a partial sum has 25 bits
    ([2.0**-126, 2.0**-127], False),  # below the normal numbers, where an implementation may flush to zero
    ([3e38, 3e38], False),
])
def test_a_sum_is_exact_where_every_partial_sum_has_24_bits(terms: list[float], is_exact: bool) -> None:
    total = sum(map(exactly, terms), exactly(0.0))
    assert (total.bound() == 0) is is_exact
    assert total.grain is not None or not is_exact


@pytest.mark.clause("oracle/exact")
def test_products_and_quotients_are_exact_where_their_bits_fit() -> None:
    assert (exactly(1.5) * exactly(-2.25)).bound() == 0
    assert (exactly(4097.0) * exactly(4097.0)).bound() > 0  # 2**24 + 2**13 + 1
    assert (exactly(3.0) / exactly(4.0)).bound() == 0
    tenth = exactly(1.0) / exactly(10.0)
    assert tenth.bound() == pytest.approx(2 * UNIT / 10, rel=1e-6)  # a product with the reciprocal rounds twice
    assert number.number(0.1).bound() == 0.1 * UNIT  # no constant of 24 bits


@pytest.mark.clause("oracle/exact")
def test_the_precision_says_how_many_bits_there_are() -> None:
    before = precision.use(DOUBLE)
    try:
        assert (exactly(2.0**24) + exactly(1.0)).bound() == 0
        assert (exactly(2.0**53) + exactly(1.0)).bound() > 0
    finally:
        precision.use(before)
    assert cast(exactly(2049.0), HALF).bound() == 2049 * 2.0**-11
    assert cast(exactly(2048.0), HALF).bound() == 0
    assert cast(exactly(1e6), HALF).bound() == math.inf  # beyond its range


@pytest.mark.clause("oracle/branch")
def test_a_comparison_is_undecided_where_errors_overlap() -> None:
    near, other = Number(1.0, 0.25, 1.0, 0, None), Number(1.4, 0.25, 1.4, 0, None)
    with precision.watched_branches() as undecided:
        assert near < exactly(1.5)
        assert exactly(1.0) == exactly(1.0)
        assert near > 0.5
        assert not undecided()
        assert near < other
        assert undecided()
    with precision.watched_branches() as undecided:
        assert int(Number(1.9, 0.05, 1.9, 0, None)) == 1
        assert not undecided()
        assert int(Number(1.9, 0.2, 1.9, 0, None)) == 1
        assert undecided()


@pytest.mark.clause("oracle/functions")
def test_functions_are_wrong_by_some_units_of_their_own() -> None:
    assert number_functions.MATH.exp(exactly(1.0)).value == math.e
    assert number_functions.MATH.exp(exactly(1.0)).bound() == pytest.approx(4 * UNIT * math.e, rel=1e-9)
    assert number_functions.MATH.sqrt(exactly(2.0)).bound() == pytest.approx(2 * UNIT * math.sqrt(2), rel=1e-6)
    exact = [number_functions.MATH.sqrt(exactly(2.25)), number_functions.MATH.exp(exactly(0.0))]
    assert [each.bound() for each in exact] == [0, 0]
    assert number_functions.MATH.sqrt(exactly(2.28125)).bound() > 0  # although the root squared is rounded to 2.28125
    assert math.isnan(number_functions.MATH.sqrt(exactly(-1.0)).value)
    # between 1 and 3 the logarithm goes from 0 to log(3): farthest from log(2) at 1
    logarithm = number_functions.MATH.log(Number(2.0, 1.0, 2.0, 0, None))
    assert logarithm.bound() == pytest.approx(math.log(2) + 4 * UNIT * 2 * math.log(2), rel=1e-5)
    assert number_functions.MATH.log(Number(2.0, 2.0, 2.0, 0, None)).bound() == math.inf  # it has no lower end
    assert math.isnan(number_functions.MATH.log(exactly(-1.0)).value)
    arcsine = number_functions.MATH.asin(exactly(float(np.float32(-0.50044996))))
    assert 4 * UNIT < abs(arcsine.value - -0.5241186618804932) <= arcsine.bound()  # what ONNX Runtime 1.32.0 gives
    assert number_functions.MATH.cosh(Number(0.5, 1.0, 0.5, 0, None)).bound() > math.cosh(1.5) - math.cosh(0.5)


def test_the_sign_of_a_sum_of_zeros_is_not_known() -> None:
    zero = exactly(-0.0)
    assert (exactly(1.0) / zero).value == -math.inf
    assert (exactly(1.0) / zero).bound() == 0
    for either in (zero + zero, -(zero + zero), (zero + zero) * exactly(2.0), (zero + zero) / exactly(2.0)):
        assert (exactly(1.0) / either).bound() == math.inf  # 0 + -0 + -0 is 0, and -0 + -0 is -0


def test_what_is_free_stays_free_over_zero() -> None:
    assert (free(math.nan) / exactly(0.0)).bound() == math.inf


def test_a_number_with_an_error_is_no_float() -> None:
    with pytest.raises(TypeError, match="must not be turned into a float"):
        float(exactly(1.0))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_stays_so(value: float) -> None:
    for found in (exactly(value) + exactly(1.0), exactly(value) * exactly(2.0), exactly(value) / exactly(2.0)):
        assert np.array_equal(found.value, value, equal_nan=True)
        assert found.bound() == 0
    assert (free(1.0) + exactly(value)).bound() == math.inf


# --- laws ---------------------------------------------------------------------------------------

SMALL = st.integers(-8, 8).map(lambda quarters: quarters / 4)
SINGLES = st.floats(-1000, 1000, width=32).filter(lambda value: value == 0 or abs(value) > 1e-3)


def trees(leaves, divide):
    names = ("sum", "product", "quotient") if divide else ("sum", "product")

    def larger(parts):
        return st.one_of(
            st.tuples(st.just("sum"), st.lists(parts, min_size=2, max_size=7)),
            st.tuples(st.sampled_from(names[1:]), st.lists(parts, min_size=2, max_size=2)),
        )

    return larger(st.recursive(leaves, larger, max_leaves=12))


def evaluated(tree, leaf, total, product, quotient):
    if not isinstance(tree, tuple):
        return leaf(tree)
    parts = [evaluated(part, leaf, total, product, quotient) for part in tree[1]]
    return total(parts) if tree[0] == "sum" else (product if tree[0] == "product" else quotient)(*parts)


def pairwise(parts):
    middle = len(parts) // 2
    return parts[0] if len(parts) == 1 else pairwise(parts[:middle]) + pairwise(parts[middle:])


ORDERS = {
    "sequential": lambda parts: sum(parts[1:], parts[0]),
    "reversed": lambda parts: sum(parts[-2::-1], parts[-1]),
    "pairwise": pairwise,
    "double": lambda parts: np.float32(sum(float(part) for part in parts)),
    "smallest first": lambda parts: sum(sorted(parts, key=abs), np.float32(0)),
}


def with_errors(tree) -> Number:
    return evaluated(tree, exactly, lambda parts: sum(parts[1:], parts[0]), lambda a, b: a * b, lambda a, b: a / b)


def in_single(tree, order):
    with np.errstate(all="ignore"):
        return float(evaluated(tree, np.float32, ORDERS[order], lambda a, b: a * b, lambda a, b: a / b))


@pytest.mark.clause("oracle/sum-order")
@given(tree=trees(SINGLES, divide=True))
def test_every_order_lies_inside_the_bound(tree) -> None:
    wanted = with_errors(tree)
    for order in ORDERS:
        found = in_single(tree, order)
        if wanted.bound() < math.inf and not np.array_equal(found, wanted.value, equal_nan=True):
            assert abs(found - wanted.value) <= wanted.bound() * (1 + 1e-9), order


@pytest.mark.clause("oracle/exact")
@given(tree=trees(SMALL, divide=False))
def test_what_is_exact_is_equal_in_every_order(tree) -> None:
    wanted = with_errors(tree)
    if wanted.grain is not None:
        fraction = evaluated(tree, Fraction, sum, lambda a, b: a * b, None)
        assert Fraction(wanted.value) == fraction
        assert {in_single(tree, order) for order in ORDERS} == {float(fraction)}


@pytest.mark.clause("oracle/functions")
@given(
    name=st.sampled_from(["exp", "log", "tanh", "sqrt", "erf", "cosh", "sin", "lgamma", "expm1", "atan"]),
    value=st.floats(0.125, 8), error=st.floats(0, 0.5), part=st.floats(-1, 1),
)
def test_a_function_stays_inside_its_bound(name: str, value: float, error: float, part: float) -> None:
    found = getattr(number_functions.MATH, name)(Number(value, error, value, 0, None))
    assert found.value == getattr(math, name)(value)
    if found.bound() < math.inf:
        other = np.float32(getattr(math, name)(value + part * error))
        assert abs(float(other) - found.value) <= found.bound() * (1 + 1e-9)


# --- computed infinities, zeros that were sums, and other forms -----------------------------------


@pytest.mark.clause("oracle/not-a-number")
def test_what_meets_a_computed_infinity_in_a_sum_is_free() -> None:
    pole = exactly(1.0) / exactly(0.0)
    third = rounded(1 / 3, 0.0)
    assert (pole.value, pole.bound()) == (math.inf, 0)
    for still in (pole * exactly(-2.0), pole / third, pole + third, number_functions.MATH.exp(pole), cast(pole, HALF)):
        assert math.isinf(still.value)
        assert still.bound() == 0
    for unknown in (pole - pole, pole * exactly(0.0), pole * (exactly(3.0) - third), pole / pole):
        assert unknown.bound() == math.inf
    assert (exactly(math.inf) * exactly(0.0)).bound() == 0  # an infinity that was given


@pytest.mark.clause("oracle/sum-order")
def test_a_sum_that_is_zero_is_not_exact_as_a_factor() -> None:
    # (3 - 3) * 0.1 + 1 is 1, but 3 * 0.1 + (1 - 3 * 0.1) need not be: so do some libraries normalise
    tenth = number.number(0.1)
    for gone in ((exactly(3.0) - exactly(3.0)) * tenth, (exactly(3.0) - exactly(3.0)) / exactly(10.0)):
        assert gone.value == 0
        assert 0.3 * UNIT < gone.bound() < 3 * UNIT
    assert (exactly(0.0) * tenth).bound() == 0


def test_one_number_covers_others() -> None:
    one, other = exactly(1.0), Number(1.5, 0.25, 1.5, 0, None)
    assert number.covering(one, other).bound() == 0.75
    assert number.covering(one, other, Number(0.5, 0.0, 0.5, 0, None)).bound() == 1.25  # they may meet
    assert number.covering(one, exactly(1.0)) is one
    assert number.covering(one, free(1.0)).bound() == number.covering(exactly(math.nan), one).bound() == math.inf
