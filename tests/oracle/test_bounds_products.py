"""Products and quotients of sums taken term by term: no drawn way to compute them lies outside of its bound.

An evaluation is exact rationals, rounded to few bits after each operation, so that what rounds shows soon.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from refimpl.oracle.bounds import number, rigorous
from refimpl.oracle.bounds.number import SHORT
from refimpl.oracle.bounds.precision import Precision, use

from .test_bounds_numbers import evaluated

FEW = Precision(2.0**-7, 7, 2.0**100, 2.0**-100)
"""Numbers of seven bits."""


@pytest.fixture(autouse=True)
def _in_few_bits():
    rigorous.made.numbers = 0
    before = use(FEW)
    yield
    use(before)


def rounded(value: Fraction) -> Fraction:
    """The nearest number of seven bits, to even."""
    if value == 0:
        return value
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    exponent -= abs(value) < Fraction(2) ** exponent
    step = Fraction(2) ** (exponent - FEW.bits + 1)
    return round(value / step) * step


class Way:
    """One way to compute an expression: sums in any order and with any tree, products of sums term by term or not.

    Args:
        seed: of its choices.
        longest: terms of a product that may be added one by one to what the product is added to; None for all.
    """

    def __init__(self, seed: int, longest: int | None) -> None:
        self.draw, self.longest = random.Random(seed), longest

    def added(self, terms: list[Fraction]) -> Fraction:
        """The sum of some terms, each addition rounded."""
        terms = list(terms)
        while len(terms) > 1:
            self.draw.shuffle(terms)
            terms.append(rounded(terms.pop() + terms.pop()))
        return terms[0]

    def terms(self, tree) -> list[Fraction]:
        """Terms that add up to what an expression is."""
        if not isinstance(tree, tuple):
            return [rounded(Fraction(tree))]
        kind, parts = tree[0], [self.terms(part) for part in tree[1]]
        if kind == "sum":
            kept = [part if self.draw.random() < 0.7 else [self.added(part)] for part in parts]
            return [term for part in kept for term in part]
        first, second = parts
        if kind == "product" and self.draw.random() < 0.5:
            first, second = second, first
        factor = self.added(second)
        kept = first if self.draw.random() < 0.8 else [self.added(first)]
        made = [rounded(term * factor if kind == "product" else term / factor) for term in kept]
        return made if self.longest is None or len(made) <= self.longest else [self.added(made)]

    def value(self, tree) -> Fraction:
        """What an expression is."""
        return self.added(self.terms(tree))


def bounded(tree, arithmetic):
    """The number with its bound."""
    return evaluated(
        tree, arithmetic.exactly, lambda parts: sum(parts[1:], parts[0]), lambda a, b: a * b, lambda a, b: a / b
    )


def drawn(draw: random.Random, divide: tuple[float, ...], depth: int = 3):
    """An expression: sums of whole numbers and of products of sums, or of their quotients by one of ``divide``."""
    if depth == 0 or draw.random() < 0.3:
        return float(draw.randint(-40, 40))
    if divide and draw.random() < 0.3:
        return ("quotient", [drawn(draw, divide, depth - 1), draw.choice(divide)])
    kind = draw.choice(("sum", "sum", "product"))
    return (kind, [drawn(draw, divide, depth - 1) for _ in range(2 if kind == "product" else draw.randint(2, 3))])


def test_the_terms_of_a_product_are_terms_of_the_sum_that_it_joins() -> None:
    # 71 + 2 * (31 - 30) is 73, but 71 + 62 has eight bits
    tree = ("sum", [71.0, ("product", [2.0, ("sum", [31.0, -30.0])])])
    found = {Way(seed, None).value(tree) for seed in range(40)}
    assert found == {72, 73}
    for arithmetic in (number, rigorous):
        assert bounded(tree[1][1], arithmetic).grain is not None
        assert bounded(tree, arithmetic).bound() >= 1


def test_of_two_sums_one_or_the_other_is_taken_apart() -> None:
    a, b = number.exactly(20.0) - number.exactly(18.0), number.exactly(9.0) - number.exactly(8.0)
    assert (a.mass, b.mass) == (38, 17)
    assert (a * b).mass == 38 == max(38 * 1, 17 * 2)  # 20 * 9 has eight bits


def test_what_joins_a_rounded_product_of_a_sum_is_rounded_with_each_of_its_terms() -> None:
    # 65 + (0.75 + 0.75) rounds once; (65 + 0.75) + 0.75 twice, the same way
    tree = ("sum", [65.0, ("product", [("quotient", [1.0, 4.0]), ("sum", [3.0, 3.0])])])
    assert {Way(seed, None).value(tree) for seed in range(40)} == {66, 67}
    for arithmetic, third in ((number, number.rounded(1 / 3, 0.0)), (rigorous, rigorous.rounded(Fraction(1, 3), 0))):
        once = arithmetic.exactly(65.0) + third * arithmetic.exactly(6.0)
        twice = arithmetic.exactly(65.0) + third * (arithmetic.exactly(3.0) + arithmetic.exactly(3.0))
        assert once.bound() < 1.1 * FEW.unit * 67
        assert twice.bound() > 2 * FEW.unit * 67


@pytest.mark.clause("oracle/exact", "oracle/sum-order")
@pytest.mark.parametrize("arithmetic", [number, rigorous], ids=["first", "proved"])
def test_what_is_exact_is_equal_however_products_are_taken_apart(arithmetic) -> None:
    exact = rounds = 0
    for seed in range(2000):
        draw = random.Random(seed)
        tree = drawn(draw, (2.0, -4.0))
        wanted, way = bounded(tree, arithmetic), Way(seed, None)
        found = {way.value(tree) for _ in range(6)}
        if wanted.grain is not None:
            exact += isinstance(tree, tuple)
            assert found == {Fraction(wanted.value)}, tree
        rounds += len(found) > 1
    assert exact > 150
    assert rounds > 150


@pytest.mark.clause("oracle/sum-order", "oracle/confirmed")
def test_no_way_lies_outside_of_the_bound_that_is_proved() -> None:
    judged = 0
    for seed in range(1500):
        tree = drawn(random.Random(seed), (3.0, -7.0, 4.0))
        rigorous.made.numbers = 0
        wanted, way = bounded(tree, rigorous), Way(seed, SHORT + 1)
        if not 0 < wanted.bound() < abs(wanted.value):
            continue
        judged += 1
        for _ in range(6):
            assert abs(way.value(tree) - Fraction(wanted.value)) <= wanted.bound(), tree
    assert judged > 500
