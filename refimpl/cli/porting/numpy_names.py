"""Restores names that NumPy has removed since the days of MXNet, during a block.

The table compares the names of NumPy 1.23.5, the last version that MXNet 1.9.1 runs with, and of 2.4, without names
that no script calls: module names that leaked, switches of NumPy's own C code, and helpers of its documentation.
``asscalar`` and ``alen`` were removed before 1.23 and are in many scripts.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...base import decides

_SCALARS = {
    "bool8": np.bool_, "bytes0": np.bytes_, "string_": np.bytes_, "str0": np.str_, "unicode_": np.str_,
    "object0": np.object_, "void0": np.void, "int0": np.intp, "uint0": np.uintp, "float_": np.float64,
    "longfloat": np.longdouble, "complex_": np.complex128, "cfloat": np.complex128, "singlecomplex": np.complex64,
    "clongfloat": np.clongdouble, "longcomplex": np.clongdouble,
}
_BUILTINS = {
    "bool": bool, "int": int, "float": float, "complex": complex, "object": object, "str": str, "long": int,
    "unicode": str,
}
_CONSTANTS = {
    "Inf": np.inf, "Infinity": np.inf, "infty": np.inf, "PINF": np.inf, "NINF": -np.inf, "NaN": np.nan, "NAN": np.nan,
    "PZERO": 0.0, "NZERO": -0.0,
}
_ERRORS = ("AxisError", "ComplexWarning", "ModuleDeprecationWarning", "TooHardError", "VisibleDeprecationWarning")


def _trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    return np.trapezoid(y, x, dx, axis)


def _in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> np.ndarray:
    return np.isin(np.asarray(ar1).ravel(), ar2, assume_unique=assume_unique, invert=invert)


def _asfarray(a: Any, dtype: Any = np.float64) -> np.ndarray:
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def _find_common_type(array_types: Any, scalar_types: Any) -> np.dtype:
    """The type of the arrays, unless a scalar is of a higher kind."""
    arrays, scalars = ([np.dtype(one) for one in types] for types in (array_types, scalar_types))
    if not arrays or not scalars:
        return np.result_type(*arrays, *scalars)
    array, scalar = np.result_type(*arrays), np.result_type(*scalars)
    kinds = "buifcSUVOMm"
    return scalar if kinds.index(scalar.kind) > kinds.index(array.kind) else array


def _issubclass(arg1: Any, arg2: Any) -> bool:
    return isinstance(arg1, type) and issubclass(arg1, arg2)


def _obj2sctype(rep: Any, default: Any = None) -> Any:
    if isinstance(rep, type) and issubclass(rep, np.generic):
        return rep
    try:
        return rep.dtype.type if isinstance(rep, np.ndarray) else np.dtype(rep).type
    except TypeError:
        return default


class _Cast(Mapping[Any, Callable[[Any], np.ndarray]]):
    """``np.cast["float32"](values)``."""

    def __getitem__(self, key: Any) -> Callable[[Any], np.ndarray]:
        return lambda values: np.asarray(values).astype(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(np.typecodes["All"])

    def __len__(self) -> int:
        return len(np.typecodes["All"])


class _Bytes(Mapping[Any, int]):
    """``np.nbytes[np.float32]``."""

    def __getitem__(self, key: Any) -> int:
        return np.dtype(key).itemsize

    def __iter__(self) -> Iterator[Any]:
        return iter(np.typecodes["All"])

    def __len__(self) -> int:
        return len(np.typecodes["All"])


_FUNCTIONS: dict[str, Any] = {
    "alltrue": np.all, "sometrue": np.any, "product": np.prod, "cumproduct": np.cumprod, "round_": np.round,
    "in1d": _in1d, "trapz": _trapz, "row_stack": np.vstack, "msort": lambda a: np.sort(a, axis=0), "mat": np.asmatrix,
    "asfarray": _asfarray, "find_common_type": _find_common_type, "issubclass_": _issubclass,
    "issubsctype": np.issubdtype, "obj2sctype": _obj2sctype, "sctype2char": lambda sctype: np.dtype(sctype).char,
    "cast": _Cast(), "nbytes": _Bytes(), "math": math, "safe_eval": ast.literal_eval,
    "asscalar": lambda a: a.item(), "alen": lambda a: len(np.array(a, ndmin=1)),
}


def table() -> dict[str, Any]:
    """Every name that can be restored -> its object, without names that this NumPy has."""
    errors = {name: getattr(np.exceptions, name) for name in _ERRORS if hasattr(np.exceptions, name)}
    errors["RankWarning"] = getattr(np.exceptions, "RankWarning", UserWarning)
    every = _SCALARS | _BUILTINS | _CONSTANTS | errors | _FUNCTIONS
    return {name: value for name, value in every.items() if name not in vars(np)}


def binary_fromstring(original: Callable[..., Any]) -> Callable[..., Any]:
    """``np.fromstring`` that reads bytes too, as it did where ``sep`` is not given."""

    def fromstring(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "") -> Any:
        if sep:
            return original(string, dtype, count, sep=sep)
        data = string.encode() if isinstance(string, str) else bytes(string)
        size = np.dtype(dtype).itemsize
        if count < 0 and len(data) % size:
            raise ValueError("string size must be a multiple of element size")
        if count >= 0 and len(data) < count * size:
            raise ValueError("string is smaller than requested size")
        if not data or count == 0:
            return np.empty(0, dtype)
        return np.frombuffer(data, dtype, count).copy()

    return fromstring


@contextmanager
@decides("run/numpy-names")
def given_back() -> Iterator[set[str]]:
    """Within the block NumPy has its old names again. Yields the names that were used so far."""
    used: set[str] = set()
    names = table()
    lookup, fromstring = np.__getattr__, np.fromstring
    reading = binary_fromstring(fromstring)

    def __getattr__(name: str) -> Any:  # noqa: N807  # it stands for NumPy's
        if name in names:
            used.add(name)
            return names[name]
        return lookup(name)

    def counted(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "") -> Any:
        if not sep:
            used.add("fromstring")
        return reading(string, dtype, count, sep=sep)

    np.__getattr__, np.fromstring = __getattr__, counted  # type: ignore[assignment]  # put back below
    try:
        yield used
    finally:
        np.__getattr__, np.fromstring = lookup, fromstring  # type: ignore[assignment]
