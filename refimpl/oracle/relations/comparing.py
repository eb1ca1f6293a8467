"""How far two runs of one implementation may differ."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...base import decides
from ..backends import Refused
from ..judging.comparing import LOOSE
from ..judging.reference import Expected, Trace


def line(name: str, wrong: np.ndarray, value: np.ndarray, other: np.ndarray) -> str:
    """The first difference in an array."""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{name}{list(at)}: {other[at]:.9g} instead of {value[at]:.9g}"


@decides("oracle/relations")
def differences(wanted: Trace, found: Trace) -> list[str]:
    """Lines on arrays of equal names that are not equal, NaN for NaN."""
    lines = []
    for name, value in wanted.items():
        other = found.get(name)
        if other is None or other.shape != value.shape:
            lines.append(f"{name} is {'missing' if other is None else list(other.shape)}")
        elif not np.array_equal(value, other, equal_nan=value.dtype.kind == "f"):
            wrong = (value != other) & ~((value != value) & (other != other))  # noqa: PLR0124  # NaN
            lines.append(line(name, wrong, value, other))
    return lines


@decides("oracle/relations-bounds")
def differences_beyond(
    wanted: Trace, found: Trace, bounds: Callable[[], list[dict[str, Expected]]],
) -> list[str]:
    """Lines on arrays of equal names that differ by more than the sum of both bounds.

    Args:
        wanted: the results of the program.
        found: the results of the changed program, by the same names.
        bounds: the reference's values and bounds of both, by the same names; called only where results differ.
    """
    lines, both = [], None
    for name, value in wanted.items():
        other = found.get(name)
        if other is None or other.shape != value.shape:
            lines.append(f"{name} is {'missing' if other is None else list(other.shape)}")
        elif not np.array_equal(value, other, equal_nan=value.dtype.kind == "f"):
            try:
                both = bounds() if both is None else both
            except Refused:  # by the reference, which then has no bounds either
                return []
            wrong = _too_far(value, other, [each[name] for each in both])
            if wrong.any():
                lines.append(line(name, wrong, value, other))
    return lines


def _too_far(value: np.ndarray, other: np.ndarray, both: list[Expected]) -> np.ndarray:
    allowed = np.zeros(value.shape)
    free = np.zeros(value.shape, bool)
    with np.errstate(all="ignore"):
        for values, bounds in both:
            largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
            free |= ~np.isfinite(values) | ~(bounds <= max(LOOSE * largest, np.finfo(np.float32).tiny))
            allowed += bounds + 1e-12 * np.abs(values)
        near = np.abs(value.astype(float) - other.astype(float)) <= allowed
        return ~(near | free | (value == other) | (np.isnan(value) & np.isnan(other)))
