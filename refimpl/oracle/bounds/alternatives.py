"""Other formulas that are as good as a page's own and round otherwise.

The rule is oracle/alternatives of ``spec/reference/tools/oracle.md``. An implementation may compute a value by another
formula than the page; bounds then cover both. A row names the page and the loop, or the field of its geometry, and says
why the other form is as accurate. A form that loses digits which the page's own form keeps is no alternative: such a
difference is a fault.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import exp, log
from types import FunctionType
from typing import Any

from ...base import decides


def _determinant(lu: Any, pivots: Any, out: Any, count: int, n: int) -> None:
    for g in range(count):
        turns, total = 1, 0.0
        for k in range(n):
            pivot = lu[(g * n + k) * n + k]
            turns = -turns if (pivots[g * n + k] != k) != (pivot < 0) else turns
            total += log(abs(pivot))
        out[g] = turns * exp(total)


def _quadratic(data: Any, out: Any, a: Any, b: Any, c: Any, n: int) -> None:
    for i in range(n):
        out[i] = a * data[i] * data[i] + b * data[i] + c


def _sgd(weight: Any, grad: Any, out: Any, n: int, keep: Any, lr: Any, rescale: Any, clip: Any) -> None:
    for i in range(n):
        out[i] = weight[i] - (1 - keep) * weight[i] - lr * max(min(rescale * grad[i], clip), -clip)


def _normalise_rows(
    data: Any, gamma: Any, beta: Any, mean: Any, std: Any, out: Any, g: Any, outer: int, groups: int, side: int,
    inner: int,
) -> None:  # fmt: skip
    for o, k, j in product(range(outer), range(groups), range(inner)):
        row = (o * groups + k) * inner + j
        for i in range(side):
            weight, at = i if g.along else k, ((o * groups + k) * side + i) * inner + j
            scale = gamma[weight] / std[row]
            out[at] = data[at] * scale + (beta[weight] - mean[row] * scale)


LOOPS: dict[str, Callable[..., None]] = {
    "linalg_lu.determinant": _determinant,  # the sum of logarithms of pivots does not overflow
    "layer_norm.normalise_rows": _normalise_rows,  # one factor and one term for all that is averaged together
    "quadratic.quadratic": _quadratic,  # the sum of the three terms, as the formula is written
    "sgd.step": _sgd,  # the decay may be taken off by itself, or added to the gradient
}
"""Page and loop -> a loop with the same arguments."""
CONSTANTS = {
    # 1 - beta**t, from a power in the precision of the arrays: the page rounds it once, from double precision
    "ftml.correction1", "ftml.correction2", "lamb.correction1", "lamb.correction2",
}
"""Page and field of a geometry -> the page's host computed it as 1 less a power."""
QUOTIENTS = {
    # by the side of a picture: the page rounds it to the precision of the arrays, others divide by the side itself
    "multibox_prior.step_x", "multibox_prior.step_y",
}
"""Page and field of a geometry -> the page's host computed it as a quotient."""
COORDINATES: dict[str, tuple[int, ...]] = {
    # in the precision of the arrays, and with a reciprocal of the side: the page has them in double precision
    "resize.place_of": (), "regions.between": (3, 4),
    "deformable_sampling.row_of": (), "deformable_sampling.column_of": (),
}
"""Page and formula -> positions of arguments that are coordinates; none, if the result is one."""
COORDINATE_UNITS, ORDINARY_SIDE = 2, 4
"""A coordinate x may be wrong by 2 units of x + 4: it is a difference of numbers as large as the side of a picture."""
POWER_UNITS = 4
"""Of the power in CONSTANTS, as other functions have."""


@decides("oracle/alternatives")
def loop_beside(function: FunctionType) -> FunctionType | None:
    """The loop that an implementation may run instead of ``function``."""
    found = LOOPS.get(f"{_page(function)}.{function.__name__}")
    return found if isinstance(found, FunctionType) else None


def coordinates_of(function: FunctionType) -> tuple[int, ...] | None:
    """The row of COORDINATES for a formula."""
    return COORDINATES.get(f"{_page(function)}.{function.__name__}")


def is_rest_of_power(kind: type, field: str) -> bool:
    """Whether a field of a geometry is in CONSTANTS."""
    return f"{_page(kind)}.{field}" in CONSTANTS


def is_quotient(kind: type, field: str) -> bool:
    """Whether a field of a geometry is in QUOTIENTS."""
    return f"{_page(kind)}.{field}" in QUOTIENTS


def _page(of: Any) -> str:
    return of.__module__.rpartition(".")[2]
