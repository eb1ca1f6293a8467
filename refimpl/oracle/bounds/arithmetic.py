"""The arithmetic of a page's loop, in place of Python's floats, ``math`` and ``numpy``.

There are two: FIRST_ORDER is quick and finds suspects, RIGOROUS proves its bounds and confirms them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import number as numbers
from . import number_functions, rigorous_functions
from . import rigorous as enclosures
from .precision import DOUBLE, HALF, SINGLE, Precision


class Arithmetic:
    """One kind of numbers with bounds.

    Args:
        made: the module that makes them: ``number``, ``exactly``, ``free``, ``cast``, ``covering``, ``rounded`` and
            ``floor``.
        functions: the module of their functions: ``MATH``, ``larger`` and ``smaller``.
        kind: their class.
    """

    def __init__(self, made: Any, functions: Any, kind: Any) -> None:
        self.number, self.exactly, self.free, self.cast = made.number, made.exactly, made.free, made.cast
        self.covering, self.rounded = made.covering, made.rounded
        self.kind: Any = kind
        self._numpy = _NumPy(self, made.floor, functions.MATH.sqrt)
        self._math = functions.MATH
        self._by_function: dict[Any, Any] = {
            value: getattr(functions.MATH, name)
            for name, value in vars(math).items() if callable(value) and hasattr(functions.MATH, name)
        } | {max: functions.larger, min: functions.smaller}

    def replacement(self, value: Any) -> Any:
        """The replacement of a global of a loop: the global itself where it is no arithmetic."""
        if value is math:
            return self._math
        if value is np:
            return self._numpy
        try:
            return self._by_function.get(value, value)
        except TypeError:  # cannot be hashed
            return value


class _NumPy:
    """The replacement of ``numpy`` in loops: casts that keep errors; all other names are NumPy's."""

    def __init__(self, arithmetic: Arithmetic, floor: Callable[[Any], Any], sqrt: Callable[[Any], Any]) -> None:
        def to_float(kind: type, precision: Precision) -> Callable[[Any], Any]:
            def convert(value: Any = 0.0) -> Any:
                return arithmetic.cast(value, precision) if type(value) is arithmetic.kind else kind(value)

            return convert

        def to_whole(kind: Any) -> Callable[[Any], Any]:
            def convert(value: Any = 0) -> Any:
                return kind(math.trunc(value)) if type(value) is arithmetic.kind else kind(value)

            return convert

        self.float16, self.float32 = to_float(np.float16, HALF), to_float(np.float32, SINGLE)
        self.float64, self.floor, self.sqrt = to_float(np.float64, DOUBLE), floor, sqrt
        self.int64, self.int32, self.uint64 = to_whole(np.int64), to_whole(np.int32), to_whole(np.uint64)
        self.uint32, self.uint8, self.int8 = to_whole(np.uint32), to_whole(np.uint8), to_whole(np.int8)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


FIRST_ORDER = Arithmetic(numbers, number_functions, numbers.Number)
RIGOROUS = Arithmetic(enclosures, rigorous_functions, enclosures.Enclosure)
