"""Distribution functions of the random operators, with NumPy and ``math`` alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]
Numbers = Sequence[float] | np.ndarray


def lower_gamma(shape: float, x: np.ndarray) -> np.ndarray:
    """The regularised lower incomplete gamma function P(shape, x), to ten digits, by its series."""
    x = np.asarray(x, np.float64)
    safe = np.clip(x, 1e-300, 600.0)
    term = np.full(safe.shape, 1 / shape)
    total = term.copy()
    for k in range(1, 4000):
        term = term * (safe / (shape + k))
        total += term
        if (term <= 1e-16 * total).all():
            break
    found = total * np.exp(shape * np.log(safe) - safe - math.lgamma(shape))
    return np.where(x <= 0, 0.0, np.where(x >= 600.0, 1.0, np.minimum(found, 1.0)))


class Distribution(NamedTuple):
    """A distribution on the line."""

    text: str
    """Its name and parameters."""
    up_to: Function
    """P(X <= x)."""
    below: Function
    """P(X < x)."""
    possible: Callable[[np.ndarray], np.ndarray]
    """Whether x can be drawn."""
    centre: float = 0.0
    scale: float = 1.0
    low: float = -math.inf
    high: float = math.inf
    """The ends of what can be drawn."""

    def middle(self, x: np.ndarray) -> np.ndarray:
        """A number between -1/2 and 1/2 whose mean is 0: how much lies below x, less a half."""
        x = np.asarray(x, np.float64).ravel()
        return (self.up_to(x) + self.below(x)) / 2 - 0.5

    def standard(self, x: np.ndarray) -> np.ndarray:
        """x, shifted and scaled to the standard distribution."""
        return (x - self.centre) / self.scale

    @classmethod
    def continuous(
        cls, text: str, function: Function, low: float = -math.inf, high: float = math.inf, *,
        centre: float = 0.0, scale: float = 1.0,
    ) -> Distribution:
        """One with the distribution function ``function``, on an interval."""
        return cls(text, function, function, lambda x: (x >= low) & (x <= high), centre, scale, low, high)

    @classmethod
    def uniform(cls, low: float, high: float) -> Distribution:
        """Uniform between two numbers."""
        return cls.continuous(
            f"uniform({low:g}, {high:g})", lambda x: np.clip((x - low) / (high - low), 0, 1), low, high
        )

    @classmethod
    def steps(cls, text: str, values: Numbers, chances: Numbers) -> Distribution:
        """On some numbers, in order, with these chances."""
        sums = np.concatenate([[0.0], np.cumsum(chances)])
        sums[-1] = 1.0
        return cls(
            text, lambda x: sums[np.searchsorted(values, x, "right")], lambda x: sums[np.searchsorted(values, x)],
            lambda x: np.isin(x, values), low=float(values[0]), high=float(values[-1]),
        )

    @classmethod
    def whole(cls, text: str, chances: np.ndarray, first: int = 0, *, open_end: bool = True) -> Distribution:
        """On whole numbers from ``first`` on, with these chances; more may follow that hardly have any."""
        sums = np.minimum(np.concatenate([[0.0], np.cumsum(chances)]), 1.0)

        def up_to(x: np.ndarray) -> np.ndarray:
            return sums[np.clip(np.floor(x) - first + 1, 0, len(chances)).astype(int)]

        def possible(x: np.ndarray) -> np.ndarray:
            inside = (x == np.floor(x)) & (x >= first)
            if open_end:
                return inside
            place = np.clip(x - first, 0, len(chances) - 1).astype(int)
            return inside & (x < first + len(chances)) & (chances[place] > 0)

        last = math.inf if open_end else first + len(chances) - 1
        return cls(text, up_to, lambda x: up_to(np.ceil(x) - 1), possible, low=first, high=last)


def normal(mean: float, deviation: float) -> Distribution:
    """The normal distribution."""
    def function(x: np.ndarray) -> np.ndarray:
        z = (x - mean) / deviation
        half = lower_gamma(0.5, z * z / 2) / 2
        return np.where(z < 0, 0.5 - half, 0.5 + half)

    return Distribution.continuous(f"normal({mean:g}, {deviation:g})", function, centre=mean, scale=deviation)


def _exponential(rate: float) -> Distribution:
    return Distribution.continuous(f"exponential({rate:g})", lambda x: -np.expm1(-rate * np.maximum(x, 0)), 0.0)


def _gamma(shape: float, size: float) -> Distribution:
    return Distribution.continuous(f"gamma({shape:g}, {size:g})", lambda x: lower_gamma(shape, x / size), 0.0)


def _counts(text: str, logarithm: Callable[[int], float], mean: float, variance: float) -> Distribution:
    most = int(mean + 60 * math.sqrt(variance) + 60)
    return Distribution.whole(text, np.exp([logarithm(n) for n in range(most)]))


def _poisson(mean: float) -> Distribution:
    return _counts(
        f"Poisson({mean:g})", lambda n: n * math.log(mean) - mean - math.lgamma(n + 1), mean, mean
    )


def _failures(text: str, successes: float, chance: float) -> Distribution:
    mean = successes * (1 - chance) / chance
    return _counts(
        text, lambda n: math.lgamma(n + successes) - math.lgamma(successes) - math.lgamma(n + 1)
        + successes * math.log(chance) + n * math.log1p(-chance), mean, mean / chance,
    )


def _negative_binomial(successes: float, chance: float) -> Distribution:
    return _failures(f"negative binomial({successes:g}, {chance:g})", successes, chance)


def _generalized(mean: float, alpha: float) -> Distribution:
    return _failures(f"generalized negative binomial({mean:g}, {alpha:g})", 1 / alpha, 1 / (1 + mean * alpha))


def _classes(chances: np.ndarray) -> Distribution:
    return Distribution.whole("the classes' probabilities", np.asarray(chances, np.float64), open_end=False)


def _whole_numbers(low: int, high: int) -> Distribution:
    return Distribution.whole(
        f"whole numbers from {low} to {high - 1}", np.full(high - low, 1 / (high - low)), low, open_end=False
    )


KINDS: dict[str, tuple[Callable[..., Distribution], tuple[str, ...]]] = {
    "uniform": (Distribution.uniform, ("low", "high")), "normal": (normal, ("loc", "scale")),
    "exponential": (_exponential, ("lam",)), "gamma": (_gamma, ("alpha", "beta")), "poisson": (_poisson, ("lam",)),
    "negative_binomial": (_negative_binomial, ("k", "p")), "randint": (_whole_numbers, ("low", "high")),
    "generalized_negative_binomial": (_generalized, ("mu", "alpha")), "multinomial": (_classes, ()),
}
"""What follows ``_random_`` or ``_sample_`` in an operator's name: the distribution, and its parameters there."""


ROUNDED = 1e-6
"""How far probabilities in single precision may be from 1 together."""
DOMAINS: dict[str, Callable[..., bool]] = {
    "uniform": lambda low, high: low < high, "normal": lambda _, scale: scale > 0, "exponential": lambda lam: lam > 0,
    "gamma": lambda alpha, beta: alpha > 0 and beta > 0, "poisson": lambda lam: lam > 0,
    "negative_binomial": lambda k, p: k > 0 and 0 < p < 1, "randint": lambda low, high: low < high,
    "generalized_negative_binomial": lambda mu, alpha: mu > 0 and alpha > 0,
    "multinomial": lambda chances: np.min(chances) >= 0 and abs(np.sum(chances, dtype=np.float64) - 1) < ROUNDED,
}
"""For which parameters there is such a distribution; a shrunk program, or one by hand, may have others."""


def _parameters(name: str, p: Any, given: list[Any]) -> tuple[str, list[Any]]:
    kind = name.removeprefix("_random_").removeprefix("_sample_").removesuffix("_like")
    if given:
        return kind, [value if value.ndim else float(value) for value in map(np.asarray, given)]
    values = [getattr(p, parameter) for parameter in KINDS[kind][1]]
    return kind, [value if isinstance(value, int) else float(np.float32(value)) for value in values]


def has_distribution(name: str, p: Any, given: list[Any]) -> bool:
    """Whether there is a distribution with these parameters; see :func:`distribution_of`."""
    kind, values = _parameters(name, p, given)
    return all(np.size(value) and np.isfinite(value).all() for value in values) and bool(DOMAINS[kind](*values))


def distribution_of(name: str, p: Any, given: list[Any]) -> Distribution:
    """The distribution of an operator's numbers.

    Args:
        name: the name of the operator.
        p: its parameters.
        given: parameters that are inputs, for one block of the output; empty where they are in ``p``.
    """
    kind, values = _parameters(name, p, given)
    return KINDS[kind][0](*values)
