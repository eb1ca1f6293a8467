"""Bounds by theorems, for loops that iterate until a remainder is small enough.

Other implementations iterate by other steps, and stop elsewhere, so that the steps of a page's loop bound nothing. But
every backward-stable method gives the exact result of a matrix near the given one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import hypot, inf, isfinite, sqrt
from types import FunctionType
from typing import Any

import numpy as np

from ...base import decides
from ...kernels.foundation import LOOPS
from .arithmetic import Arithmetic
from .precision import NOW

NEAR = 32
"""Times n and the unit: how far the matrix may be from the given one, as part of its length (LAPACK promises 10)."""


@decides("oracle/eigenvectors")
def _eigen(
    rotate: Callable[..., None], arithmetic: Arithmetic, a: Any, vectors: Any, values: Any, work: Any, turns: Any,
    *sides: int,
) -> None:
    """Weyl's theorem bounds eigenvalues, the theorem of Davis and Kahan bounds eigenvectors."""
    count, n = sides[:2]
    given = np.array([a[i].pair() for i in range(count * n * n)]).reshape(count, n, n, 2)
    lower = np.tril(np.ones((n, n), bool))
    numbers, errors = (np.where(lower, x, x.swapaxes(1, 2)) for x in (given[..., 0], given[..., 1]))
    rows, sizes = np.empty(count * n * n), np.empty(count * n)
    rotate(numbers.reshape(-1), rows, sizes, np.empty(len(work)), np.empty(len(turns)), *sides)
    for g in range(count):
        own, length = sizes[g * n:(g + 1) * n], hypot(*numbers[g].flat)
        reach = hypot(*errors[g].flat) + NEAR * n * NOW.precision.unit * length
        for i in range(n):
            at = g * n + i
            values[at] = _near(arithmetic, own[i], reach)
            gap = min((abs(own[i] - own[j]) for j in range(n) if j != i), default=inf)
            turned = sqrt(2) * reach / (gap - reach) if gap > 2 * reach else inf
            row = rows[at * n:(at + 1) * n]
            largest = max(row, key=abs)
            if any(each * largest < 0 and abs(each) >= abs(largest) - 2 * turned for each in row):
                turned = inf  # its sign is that of the largest number
            for k in range(n):
                vectors[at * n + k] = _near(arithmetic, row[k], turned)


def _near(arithmetic: Arithmetic, value: float, error: float) -> Any:
    exact = arithmetic.exactly(float(value))
    if not isfinite(value):
        return exact
    return arithmetic.rounded(exact.value, error) if isfinite(error) else arithmetic.free(exact.value)


THEOREMS: dict[str, Callable[..., None]] = {"linalg_eigen.rotate": _eigen}
"""Page and loop -> what writes its results with their bounds; it also takes the compiled loop."""


def theorem_for(function: FunctionType) -> Callable[..., None] | None:
    """Writes the results of a loop in place of its steps; called with an Arithmetic and the loop's arguments."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    theorem = THEOREMS.get(name)
    return theorem and partial(theorem, next(loop.cpu for loop in LOOPS if loop.name == name))
