"""Numbers and functions of ``math`` for loops that run as Python, with the types and values of machine code.

In machine code 0.5 and 1 / 3 are doubles, and an element of float32 times either of them, or times an integer, is a
double. In NumPy a number without a type takes the type of the array element that it is combined with. So every number
gets a type here: literals, globals, counters of loops, arguments, and what a function of ``math`` returns. Functions
return NaN or infinity where Python's own raise. A whole number that is stored into fewer bits loses its upper bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from .axes import steps


def _gamma(x: float) -> float:
    """``math.gamma``: infinity beyond the largest double and at 0, NaN at its other poles."""
    try:
        return math.gamma(x)
    except OverflowError:
        return math.copysign(math.inf, x)
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 else math.nan


def _lgamma(x: float) -> float:
    """``math.lgamma``: infinity at its poles and where no double is as large."""
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):
        return math.inf


def precision(*args: Any) -> type[np.floating]:
    """The type of a function's result: float32 where all its arguments are float32, else float64."""
    return np.float32 if all(type(arg) is np.float32 for arg in args) else np.float64


def _rounded(function: Callable) -> Callable:
    """A function of doubles, its result rounded to the precision of the arguments."""
    return lambda *args: precision(*args)(function(*args))


FUNCTIONS: dict[Any, Callable] = {
    getattr(math, name): getattr(np, known_as)
    for name, known_as in {
        **{n: n for n in ("sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "hypot", "copysign")},
        **{n: n for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
        **{f"a{n}": f"arc{n}" for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
    }.items()
} | {
    math.pow: _rounded(np.float_power), math.gamma: _rounded(_gamma), math.lgamma: _rounded(_lgamma),
    math.erf: _rounded(math.erf), math.erfc: _rounded(math.erfc),
}
"""The functions of ``math`` whose results are rounded, each with what loops call in its place."""


class _Whole(np.ndarray):
    """Whole numbers; NumPy refuses to store one that does not fit."""

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, value.astype(self.dtype) if isinstance(value, np.number) else value)


def typed(value: Any) -> Any:
    """Return a number of Python as machine code has it: a double, or an integer of 64 bits where it fits into one.

    Arrays of whole numbers take whole numbers of any size.
    """
    if type(value) is float:
        return np.float64(value)
    if type(value) is np.ndarray and value.dtype.kind in "iu":
        return value.view(_Whole)
    return np.int64(value) if type(value) is int and -(2**63) <= value < 2**63 else value


def _range(*bounds: int) -> Iterator[np.int64]:
    return map(np.int64, range(*bounds))


def _places(sides: Any) -> Iterator[Any]:
    """The iterator of ``items`` and ``steps``."""
    return product(*map(_range, sides)) if isinstance(sides, tuple) else _range(sides)


class ShapedArray(_Whole):
    """A loop's array of several axes, with a shape of integers of 64 bits."""

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(map(np.int64, super().shape))


def shaped(flat: Any, shape: tuple[int, ...]) -> Any:
    """A flat array as a loop that runs as Python sees it, with the axes that its text names."""
    made = flat.reshape(shape)
    return made.view(ShapedArray) if isinstance(made, np.ndarray) else made


def _namespace(functions: dict[Any, Callable]) -> SimpleNamespace:
    """``math`` with other functions."""
    return SimpleNamespace(**{
        name: functions.get(value, value) if callable(value) else typed(value) for name, value in vars(math).items()
    })


def given(functions: dict[Any, Callable]) -> Callable[[Any], Any]:
    """A function from a global of a loop to its value in Python, with these functions of ``math``."""
    replaced = _namespace(functions)

    def for_global(value: Any) -> Any:
        if value is math:
            return replaced
        return functions.get(value, value) if type(value) is type(math.sqrt) else typed(value)

    return for_global


for_python = given(FUNCTIONS)
"""What a loop that runs as Python gets for a global."""


def _typed_code(code: CodeType) -> CodeType:
    return code.replace(co_consts=_typed_constants(code.co_consts))


def _typed_constants(constants: tuple) -> tuple:
    return tuple(
        _typed_code(c) if isinstance(c, CodeType) else _typed_constants(c) if isinstance(c, tuple) else typed(c)
        for c in constants
    )


def as_python(function: FunctionType, scope: dict[str, Any]) -> FunctionType:
    """The same function with other globals, whose numbers have the types that they have in machine code."""
    scope.update(range=_range, items=_places)
    if scope.get("steps") is steps:
        scope["steps"] = _places
    return FunctionType(_typed_code(function.__code__), scope, function.__name__, function.__defaults__)
