"""Numbers of rows that several contexts share: even or not, and now and then too few."""

from __future__ import annotations

from ...executor_manager import _split_input_slice
from .draws import Draw


def rows_over(draw: Draw, devices: int, loads: list[int] | None) -> int:
    """A number of rows for a number of devices: even, one more or less, halves, now and then too few."""
    each = draw.integer(1, 3)
    rows = draw.choice((
        each * devices, each * devices + 1, max(each * devices - 1, 1), each * devices + devices // 2,
        (2 * each + 1) * devices // 2, each * devices + 2,
    ))
    return rows if draw.one_in(30) else enough(rows, devices, loads)


def enough(rows: int, devices: int, loads: list[int] | None) -> int:
    """``rows``, or the next larger number of which every device gets some."""
    while not fits(rows, devices, loads):
        rows += 1
    return rows


def fits(rows: int, devices: int, loads: list[int] | None) -> bool:
    """Whether every device gets rows."""
    try:
        _split_input_slice(rows, loads or [1] * devices)
    except ValueError:
        return False
    return True
