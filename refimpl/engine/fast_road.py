"""The fast road: what repeats is replayed, and loops run in their tuned twins. The chapter fast-road has its clauses.

``refimpl/replay`` records and replays. It lies above everything that it replays, so it puts its functions here, into
``road``, when it is imported. Whoever runs something that may repeat asks :func:`is_open` first: that is the only
place where it is decided. Without that folder on the disk ``road`` stays None, and every call runs its page.
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
"""What ``REFIMPL_FAST`` may be, and what it means."""

road: Any = None
"""What ``refimpl/replay/__init__.py`` offers; None where nothing is replayed."""


@decides("fast-road/replay")
def is_open() -> bool:
    """Whether a call that is made now may be replayed."""
    return not (
        road is None or CHOICE.plain or CHOICE.python or engine.attention
        or profiling_hook.imperative is not None or profiling_hook.symbolic is not None
    )


def is_quiet() -> bool:
    """Whether nothing waits or has failed and no profiler looks on, so that a page can run at once, here."""
    return not (
        engine.attention or profiling_hook.imperative is not None or profiling_hook.symbolic is not None
    )


@decides("fast-road/switch")
def read_switch() -> None:
    """Take what the environment says of the fast road.

    Raises:
        MXNetError: ``REFIMPL_FAST`` is neither 0 nor 1.
    """
    CHOICE.plain = asked_for("fast-road/switch", SWITCH, KINDS) == "0"


@contextmanager
def use(active: bool) -> Iterator[None]:
    """Within this block the fast road is on or off, in the whole process."""
    before, CHOICE.plain = CHOICE.plain, not active
    try:
        yield
    finally:
        CHOICE.plain = before


@contextmanager
def without_replays() -> Iterator[None]:
    """Within this block nothing is replayed, and twins still run: what the laws of replays compare with."""
    global road  # noqa: PLW0603  # there is one
    before, road = road, None
    try:
        yield
    finally:
        road = before


__all__ = ["KINDS", "SWITCH", "is_open", "is_quiet", "read_switch", "use", "without_replays"]
