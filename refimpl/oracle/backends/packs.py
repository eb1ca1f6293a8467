"""Packs: several programs, or parts of them, that an implementation compiles or runs as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def run_in_packs(
    items: Sequence[Item], size: int, run: Callable[[Sequence[Item]], None], failed: Callable[[Item, Exception], None],
) -> None:
    """Run items in packs. A pack that fails is halved until each error belongs to one item.

    Args:
        items: what is run, in order.
        size: the number of items in a pack.
        run: runs some items at once; it raises an exception where one of them fails.
        failed: is given an item that fails alone, and the exception.
    """
    for begin in range(0, len(items), size):
        _run_halves(items[begin : begin + size], run, failed)


def _run_halves(
    some: Sequence[Item], run: Callable[[Sequence[Item]], None], failed: Callable[[Item, Exception], None]
) -> None:
    try:
        run(some)
    except Exception as error:  # noqa: BLE001  # of one item; which one, is not known
        if len(some) == 1:
            failed(some[0], error)
            return
        half = len(some) // 2
        for part in (some[:half], some[half:]):
            _run_halves(part, run, failed)
