"""Numbers for which the order of a sum shows, and sums made one addition after another."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Added = Callable[[Sequence[Any]], Any]


def in_order(kind: type, terms: Sequence[Any]) -> Any:
    number = float if kind is np.float64 else kind  # the same arithmetic, faster
    total = number(0)
    for term in terms:
        total = number(total + number(term))
    return kind(total)


def in_lanes(kind: type, terms: Sequence[Any]) -> Any:
    """One row of neighbours in sixteen lanes, as the clause reduce/sum-order says."""
    lanes = [in_order(kind, terms[i::16]) for i in range(16)]
    return in_order(kind, [in_order(kind, lanes[i::4]) for i in range(4)])


def in_pairs(kind: type, terms: Sequence[Any]) -> Any:
    terms = [kind(t) for t in terms]
    while len(terms) > 1:
        terms = [in_order(kind, terms[i : i + 2]) for i in range(0, len(terms), 2)]
    return terms[0] if terms else kind(0)


def other_orders(values: np.ndarray) -> Iterator[np.ndarray]:
    axes = range(values.ndim)
    for count in range(1, values.ndim + 1):
        for reversed_axes in itertools.combinations(axes, count):
            if any(values.shape[a] > 1 for a in reversed_axes):
                yield np.flip(values, reversed_axes)
    for a, b in itertools.combinations(axes, 2):
        if values.shape[a] > 1 and values.shape[b] > 1:
            yield np.swapaxes(values, a, b)


def signed(shape: tuple[int, ...], kind: type, tells: Callable[[np.ndarray], bool]) -> np.ndarray:
    """Small odd numbers among large ones that cancel, arranged so that orders differ."""
    large = 2.0**27 if kind is np.float32 else 2.0**60
    size = math.prod(shape)
    for seed in range(200):
        draw = np.random.RandomState(seed)
        values = draw.choice([1.0, 3.0, 5.0, -7.0], size)
        for k in range(min(3, -(-size // 4))):
            at = draw.choice(size, 2, replace=False)
            values[at] = (k + 1) * large, -(k + 1) * large
        if tells(values.reshape(shape)):
            return values.reshape(shape)
    raise AssertionError("no numbers tell the orders apart")


def squares(shape: tuple[int, ...], kind: type, tells: Callable[[np.ndarray], bool]) -> np.ndarray:
    """One pair whose squares are so large that each of the others is lost beside them, while all together are not."""
    values = np.resize([11.0, -11.0], shape)
    begin = 0 if shape[0] == 1 else shape[-1] - 2  # in the first row: columns first would be another order
    values[0, begin : begin + 2] = 2.0**30, -(2.0**30)
    assert tells(values)
    return values


def scattered_squares(shape: tuple[int, ...], kind: type, tells: Callable[[np.ndarray], bool]) -> np.ndarray:
    """Pairs of one number and its negative, of many sizes, arranged so that orders of their squares differ."""
    for seed in range(200):
        draw = np.random.RandomState(seed)
        size = math.prod(shape) // 2
        half = 2.0 ** draw.choice([4, 6, 26, 27, 28], size) * draw.choice([1, 3, 5], size)
        values = draw.permutation([*half, *-half]).reshape(shape)
        if tells(values):
            return values
    raise AssertionError("no numbers tell the orders apart")


# --- rules: what is made of a sum ------------------------------------------------------------------


def then(*more: float) -> Callable[[Sequence[Any], Added], Any]:
    return lambda terms, added: added([*terms, *more])


def mean(terms: Sequence[Any], added: Added) -> Any:
    return added(terms) / len(terms)


def deviation(terms: Sequence[Any], added: Added) -> Any:
    centre = mean(terms, added)
    return math.sqrt(mean([(t - centre) * (t - centre) for t in terms], added))
