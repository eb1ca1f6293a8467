"""How far two numbers may lie apart: |a - b| <= atol + rtol |b|, by the type of the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base import refusal

Tolerance = float | Mapping[np.dtype, float]

_WHOLE = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")


def _table(half: float, single: float, double: float, **others: float) -> dict[np.dtype, float]:
    numbers = {"float16": half, "float32": single, "float64": double, **others}
    return {np.dtype(name): number for name, number in numbers.items()}


def default_dtype() -> type:
    """The type that tests use unless told otherwise: float32."""
    return np.float32


def default_rtols() -> dict[np.dtype, float]:
    """Relative tolerances by type; 0 for whole numbers."""
    return _table(1e-2, 1e-4, 1e-5, **dict.fromkeys(_WHOLE, 0))


def default_atols() -> dict[np.dtype, float]:
    """Absolute tolerances by type; 0 for whole numbers."""
    return _table(1e-1, 1e-3, 1e-20, **dict.fromkeys(_WHOLE, 0))


def default_numeric_eps() -> dict[np.dtype, float]:
    """Steps of numeric gradients by type: powers of two, so that they are exact."""
    return _table(1 / 2**6, 1 / 2**9, 1 / 2**14)


def effective_dtype(dat: Any) -> np.dtype:
    """The type whose precision ``dat`` has: its own, float64 for Python's numbers."""
    return np.dtype(dat.dtype if hasattr(dat, "dtype") else np.asarray(dat).dtype)


def get_tolerance(dat: Any, tol: Tolerance | None, default_tol: Mapping[np.dtype, float]) -> float:
    """The tolerance for ``dat``: ``tol`` itself, or what it or ``default_tol`` says about its type.

    Raises:
        KeyError: a table has no line for the type.
    """
    if tol is not None and not isinstance(tol, Mapping):
        return tol
    table = default_tol if tol is None else tol
    kind = effective_dtype(dat)
    if kind not in table:
        raise refusal(
            "test_utils/tolerance-type",
            f"no tolerance for {kind.name}: the table knows {', '.join(k.name for k in table)};"
            " give rtol and atol as numbers", KeyError,
        )
    return table[kind]


def get_tols(x: Any, y: Any, rtol: Tolerance | None, atol: Tolerance | None) -> tuple[float, float]:
    """(rtol, atol) for comparing ``x`` with ``y``: those of the less precise one."""
    return (
        max(get_tolerance(x, rtol, default_rtols()), get_tolerance(y, rtol, default_rtols())),
        max(get_tolerance(x, atol, default_atols()), get_tolerance(y, atol, default_atols())),
    )


def get_rtol(rtol: Any = None, dtype: Any = np.dtype(np.float64)) -> Any:  # noqa: B008  # never changed
    """``rtol``, or by default what suits ``dtype``."""
    return default_rtols()[np.dtype(dtype)] if rtol is None else rtol


def get_atol(atol: Any = None, dtype: Any = np.dtype(np.float64)) -> Any:  # noqa: B008  # as above
    """``atol``, or by default what suits ``dtype``."""
    return default_atols()[np.dtype(dtype)] if atol is None else atol


def get_etol(etol: float | None = None) -> float:
    """``etol``, the share of elements that may be wrong, by default none."""
    return 0 if etol is None else etol
