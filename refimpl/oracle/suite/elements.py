"""Arrays in JSON: a shape, a dtype, and elements as the shortest decimals that give them back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..programs.inline import changed_arrays
from ..programs.values import array_of

WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""Texts that stand for elements which JSON has no number for."""
WHOLE = 2.0**53
"""Whole numbers below this one are written without a point."""
Number = float | int | str


def number(value: Any) -> Number:
    """A NumPy number as JSON has it.

    Args:
        value: a NumPy scalar; the shortest decimal that rounds to it in its own dtype is chosen.
    """
    if value.dtype.kind != "f":
        return int(value)
    if not np.isfinite(value):
        return "nan" if np.isnan(value) else "inf" if value > 0 else "-inf"
    double = float(value)
    if double.is_integer() and abs(double) < WHOLE and (double or math.copysign(1, double) > 0):
        return int(double)
    short = float(str(value))
    return short if value.dtype.type(short) == value else double  # two roundings might not give the one


def numbers(array: np.ndarray) -> list[Number]:
    """The elements of an array in order, the last axis fastest."""
    return [number(value) for value in array.reshape(-1)]


def listed(array: np.ndarray) -> dict[str, Any]:
    """An array with its elements: ``{"shape": [2], "dtype": "float32", "elements": [0.1, "nan"]}``."""
    return {"shape": list(array.shape), "dtype": array.dtype.name, "elements": numbers(array)}


def with_elements(value: Any) -> Any:
    """A part of a program in which every array has its elements instead of a style and a seed."""
    return changed_arrays(value, lambda spec: listed(array_of(spec)))


def rounded(elements: Any, dtype: str) -> np.ndarray:
    """Elements of an answer, rounded to a dtype, in double precision; one axis.

    Raises:
        ValueError: they are no list of numbers and words.
    """
    if not isinstance(elements, list):
        raise ValueError("its elements are no list")  # noqa: TRY004  # a file is at fault, not a caller
    try:
        values = np.array([_double(each) for each in elements], np.float64)
    except OverflowError:
        raise ValueError("an element is beyond the range of double precision") from None
    if np.dtype(dtype).kind != "f":
        return values
    with np.errstate(over="ignore"):
        return values.astype(dtype).astype(np.float64)


def _double(element: Any) -> float:
    if type(element) in (int, float):
        return float(element)
    if isinstance(element, str) and element in WORDS:
        return WORDS[element]
    raise ValueError("an element is neither a number nor one of the words nan, inf, -inf")
