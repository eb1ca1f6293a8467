"""The fast road: repeated calls are replayed, and tuned twins run in the place of loops.

``refimpl/replay`` records and replays. It lies above the modules whose calls it replays, so it puts itself here, into
``road``, when it is imported. Each of these modules asks :func:`is_open` before a call: only this function decides.
Without the folder ``refimpl/replay`` ``road`` stays None, and every call runs its page. The clauses are in the chapter
fast-road.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import engine
from ..base import asked_for, decides
from ..kernels.foundation.loop import CHOICE
from . import profiling_hook

SWITCH = "REFIMPL_FAST"
KINDS = {"1": "what repeats is replayed, and twins run", "0": "every call runs its page"}
"""The values of ``REFIMPL_FAST`` and their meanings."""

road: Any = None
"""The module ``refimpl.replay``; None where nothing is replayed."""


@decides("fast-road/replay")
def is_open() -> bool:
    """Whether a call may be replayed now."""
    return not (
        road is None or CHOICE.plain or CHOICE.python or engine.attention
        or profiling_hook.imperative is not None or profiling_hook.symbolic is not None
    )


def is_on() -> bool:
    """Whether loops run as machine code and their twins: then the kernels of a program can be foreseen."""
    return not (road is None or CHOICE.plain or CHOICE.python)


def is_quiet() -> bool:
    """Whether a page can run at once on this thread: no work waits, no memory holds a failure, no profiler is on."""
    return not (
        engine.attention or profiling_hook.imperative is not None or profiling_hook.symbolic is not None
    )


@decides("fast-road/switch")
def read_switch() -> None:
    """Read ``REFIMPL_FAST`` from the environment.

    Raises:
        MXNetError: ``REFIMPL_FAST`` is neither 0 nor 1.
    """
    CHOICE.plain = asked_for("fast-road/switch", SWITCH, KINDS) == "0"


@contextmanager
def use(active: bool) -> Iterator[None]:
    """Within the block the fast road is on or off, in the whole process."""
    before, CHOICE.plain = CHOICE.plain, not active
    try:
        yield
    finally:
        CHOICE.plain = before


@contextmanager
def without_replays() -> Iterator[None]:
    """Within the block nothing is replayed, but twins run; the laws of replays compare with such runs."""
    global road  # noqa: PLW0603  # one road for the process
    before, road = road, None
    try:
        yield
    finally:
        road = before


__all__ = ["KINDS", "SWITCH", "is_on", "is_open", "is_quiet", "read_switch", "use", "without_replays"]
