"""Arrays as plain data: their shape and their first rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np

WINDOW = (24, 40)
"""Rows and columns of the part of an array that is shown."""
GLANCE = (6, 12)
"""The same of a value within the graph, of which there are many."""


def plain_number(value: Any) -> float | None:
    """A float that JSON can hold; None for NaN and infinities."""
    return float(value) if np.isfinite(value) else None


def window(values: np.ndarray, part: tuple[int, int] = WINDOW) -> dict[str, Any]:
    """An array's shape and its first rows and columns, as two axes."""
    table = values.reshape(values.shape[0] if values.ndim > 1 else 1, -1) if values.size else np.zeros((0, 0))
    shown = table[: part[0], : part[1]]
    return {
        "shape": list(values.shape), "dtype": values.dtype.name, "rows": table.shape[0], "columns": table.shape[1],
        "window": [[plain_number(value) for value in row] for row in shown],
        "norm": plain_number(np.linalg.norm(values.astype(np.float64))),
    }
