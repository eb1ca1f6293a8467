"""Order of execution, and when failures are seen.

[engine/deferred] An operator whose arguments are right may still fail while it runs (a negative scale of
``random.normal``). Nothing is raised by the call: the arrays it should have written remember the failure, arrays
computed from them inherit it, and whoever reads one of them (``asnumpy``, ``wait_to_read``) gets it, every time,
until other values are written there. ``waitall`` raises each failure once.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from .base import MXNetError
from .kernels.foundation import Buffer

attention = False
"""Whether any memory has a story: this is all that the usual path, where nothing failed, ever asks."""

_failures: dict[int, _Failure] = {}


class _Failure:
    """Why the memory of ``owner`` holds no values, and whether ``wait_all`` has said so."""

    def __init__(self, owner: weakref.ref, error: MXNetError) -> None:
        self.owner, self.error, self.reported = owner, error, False


def memory_of(buffer: Buffer) -> Any:
    """The object that owns a buffer's memory: views of one array have one owner."""
    flat = buffer.flat
    base = getattr(flat, "base", None)
    return flat if base is None else base


def _refresh() -> None:
    global attention  # noqa: PLW0603  # one flag for the process, read on every call
    attention = bool(_failures)


def fail(error: MXNetError, written: Iterable[Buffer]) -> None:
    """Remember that ``written`` hold no values because of ``error``."""
    for buffer in written:
        owner = memory_of(buffer)
        number = id(owner)

        def forget(_: Any, number: int = number) -> None:
            _failures.pop(number, None)
            _refresh()

        _failures[number] = _Failure(weakref.ref(owner, forget), error)
    _refresh()


def failure_of(buffer: Buffer) -> MXNetError | None:
    """Why ``buffer`` holds no values, None when it does."""
    found = _failures.get(id(memory_of(buffer)))
    return None if found is None else found.error


def overwrite(buffer: Buffer) -> None:
    """Forget a failure: the memory is about to get new values."""
    if _failures.pop(id(memory_of(buffer)), None) is not None:
        _refresh()


def settle(buffer: Buffer) -> None:
    """Return when ``buffer`` holds its values.

    Raises:
        MXNetError: the operator that should have written it failed.
    """
    error = failure_of(buffer)
    if error is not None:
        raise error


def wait_all() -> None:
    """Return when all work is done.

    Raises:
        MXNetError: an operator failed whose arrays are still alive; each failure is raised here once.
    """
    for failure in list(_failures.values()):
        if not failure.reported:
            for other in _failures.values():
                other.reported |= other.error is failure.error
            raise failure.error
