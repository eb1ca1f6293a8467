"""The expected arrays of a case: everything that decides about an element is folded into a number and its bound.

``judging.comparing`` compares with two bounds and with the reference's own run. Which elements it would never report
does not depend on the answer, so the suite says it beforehand: such an element is "free". For the others it holds the
larger of both bounds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import decides
from ..judging.comparing import judged
from ..judging.reference import Expected, Program, Trace, Truth
from .elements import Number, number, numbers
from .random_cases import is_certain, is_known, known

SPARE_DIGITS = 3
"""Decimals of an expected value beyond the first one that its bound reaches."""


class Unproved(Exception):
    """Bounds of a program would need too many numbers to be proved."""


def expected_arrays(program: Program) -> dict[str, Any]:
    """The expected arrays of a program by their names in its trace.

    Args:
        program: a checked program of levels 1 to 6.

    Returns:
        for each array its shape, its dtype, and, unless everything is free, its elements and their bounds.

    Raises:
        Refused: the reference refuses the program.
        Unproved: the bounds cannot be proved.
    """
    truth = Truth(program)
    ours: Trace = truth.trace
    if not is_certain(program):
        found = known(program, ours) if is_known(program) else {}
        return {
            name: _written(array, *found[name]) if name in found else {**_form(array), "bound": "free"}
            for name, array in ours.items()
        }
    first, proved = truth.expected, truth.proved
    if proved is None:
        raise Unproved
    return {name: _written(array, *folded(array, first[name], proved[name])) for name, array in ours.items()}


@decides("oracle/suite-bounds")
def folded(reference: np.ndarray, first: Expected, proved: Expected) -> tuple[np.ndarray, np.ndarray]:
    """Values and bounds that allow what either bound allows; an infinite bound for elements that are not judged.

    Args:
        reference: the reference's array, in the program's own precision.
        first: values in double precision, and bounds of first order.
        proved: values and bounds from exact rationals.
    """
    with np.errstate(all="ignore"):
        free = judged(reference, reference, first)[0] | judged(reference, reference, proved)[0]
        if reference.dtype.kind != "f":
            return reference.astype(np.float64), np.where(free, np.inf, 0.0)
        same = (first.values == proved.values) | (np.isnan(first.values) & np.isnan(proved.values))
        apart = np.where(same, 0.0, np.abs(first.values - proved.values))
        bounds = np.maximum(first.bounds, apart + proved.bounds)
    return first.values, np.where(free | ~(bounds < np.inf), np.inf, bounds)


def _form(array: np.ndarray) -> dict[str, Any]:
    return {"shape": list(array.shape), "dtype": array.dtype.name}


def _written(reference: np.ndarray, values: np.ndarray, bounds: np.ndarray) -> dict[str, Any]:
    """An array of a case; one bound stands for all elements if it is the same for all."""
    form = _form(reference)
    if np.isinf(bounds).all() and bounds.size:
        return {**form, "bound": "free"}
    if not bounds.any():
        return {**form, "elements": numbers(reference), "bound": 0}
    pairs = [
        _pair(own, float(value), float(bound))
        for own, value, bound in zip(reference.reshape(-1), values.reshape(-1), bounds.reshape(-1), strict=True)
    ]
    return {**form, "elements": [value for value, _ in pairs], "bound": [bound for _, bound in pairs]}


def _pair(own: Any, value: float, bound: float) -> tuple[Number, Number]:
    """An element and its bound: few digits of the value, whose error the bound allows beside its own."""
    if bound == math.inf:
        return 0, "free"
    if bound == 0 or not math.isfinite(value):
        return number(own), 0
    digits = math.ceil(math.log10(abs(value) / bound)) + SPARE_DIGITS if value else 1
    short = float(f"{value:.{min(max(digits, 1), 17)}g}")
    return short, above(bound + abs(short - value))


def above(bound: float) -> float:
    """A bound with three digits that is not smaller.

    Args:
        bound: finite, not negative.
    """
    near = float(f"{bound:.2e}")
    return near if near >= bound else max(float(f"{bound * 1.01:.2e}"), bound)
