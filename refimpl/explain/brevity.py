"""Shorten the data of a large network, so that its page stays below a megabyte.

Short lists stay whole, so that the page of a small network is complete.
"""

from __future__ import annotations

from collections.abc import Sequence

WHOLE = 60
"""Operators with all their facts; of more than these the first and the last half, and a line for each other one."""
PARAMETERS = 24
"""The same of parameters, with their pictures."""
ROWS = 100
"""Lines of a table of places or times: the largest, or the slowest."""
NAMES = 6
"""Names or numbers of a list within a line."""

LEFT_OUT = "The page is kept small: <code>--json</code> has the rest."


def ends(count: int, most: int) -> set[int]:
    """Positions of a list's first and last entries, ``most`` of them; all of a list that is not longer."""
    return {*range(min(count, most) - min(count, most) // 2), *range(count - min(count, most) // 2, count)}


def greatest(amounts: Sequence[float], most: int) -> set[int]:
    """Positions of the ``most`` greatest amounts."""
    return set(sorted(range(len(amounts)), key=lambda at: -amounts[at])[:most])


__all__ = ["LEFT_OUT", "NAMES", "PARAMETERS", "ROWS", "WHOLE", "ends", "greatest"]
