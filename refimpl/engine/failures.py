"""Memory that holds no values because an operator failed, with the failure."""

from __future__ import annotations

import copy
import traceback
import weakref
from collections.abc import Callable, Iterable

from ..base import decides
from ..kernels.foundation import Buffer
from ..kernels.foundation.forks import own_lock
from .tasks import Span, overlap, owner_of, span_of


class Told(Exception):
    """The text of a traceback whose frames are not kept."""


def _without_frames(error: Exception) -> Exception:
    """The error without the frames of its tracebacks: frames would keep alive the arrays that hold the failure.

    The traceback of the cause, the user's own code, stays as text.
    """
    cause = error.__cause__
    if cause is not None and cause.__traceback__ is not None:
        told = Told("".join(traceback.format_exception(type(cause), cause, cause.__traceback__)))
        pending: list[BaseException | None] = [cause]
        while pending:
            found = pending.pop()
            if found is not None and found.__traceback__ is not None:
                found.__traceback__ = None
                pending += [found.__cause__, found.__context__]
        cause.__cause__ = told
    return error.with_traceback(None)


class Failure:
    """The error because of which the bytes of ``span`` hold no values, and whether it was raised already."""

    def __init__(self, span: Span, error: Exception, owner: weakref.ref) -> None:
        self.span, self.error, self.owner = span, error, owner
        self.reported = False

    def part(self, span: Span) -> Failure:
        """The same failure for the bytes of another span."""
        made = Failure(span, self.error, self.owner)
        made.reported = self.reported
        return made

    def again(self) -> Exception:
        """A copy of the error to raise: each reader gets a traceback of its own."""
        raised = copy.copy(self.error)
        raised.__cause__ = self.error.__cause__
        return raised


@decides("engine/deferred")
class Failures:
    """All failures whose memory is alive; ``changed`` is called whenever a failure is added or forgotten."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._all: list[Failure] = []
        self._changed = changed
        self._lock = own_lock()  # tasks fail on many threads, and an array may be freed at any line below

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, error: Exception, buffers: Iterable[Buffer]) -> None:
        """Remember that ``buffers`` hold no values because of ``error``."""
        error = _without_frames(error)
        with self._lock:
            for buffer in buffers:
                self._all.append(Failure(span_of(buffer), error, weakref.ref(owner_of(buffer), self._ended)))
            self._changed()

    def of(self, buffer: Buffer) -> Failure | None:
        """The failure of a buffer; None when the buffer holds values."""
        span = [span_of(buffer)]
        return next((f for f in self._all if f.owner() is not None and overlap(span, [f.span])), None)

    def overwritten(self, buffer: Buffer) -> None:
        """Forget failures of the bytes of ``buffer``, which get new values; bytes beside them keep their failures."""
        start, stop = span = span_of(buffer)
        with self._lock:
            gone = [failure for failure in self._all if overlap([span], [failure.span])]
            for failure in gone:
                first, last = failure.span
                self._all += [failure.part(piece) for piece in ((first, start), (stop, last)) if piece[0] < piece[1]]
            self._forget(gone)

    def _ended(self, owner: weakref.ref) -> None:
        self._forget([failure for failure in self._all if failure.owner is owner])

    def _forget(self, gone: list[Failure]) -> None:
        if gone:
            with self._lock:
                self._all = [f for f in self._all if f not in gone and f.owner() is not None]
                self._changed()

    def report(self) -> Failure | None:
        """A failure that was not raised yet, or None; it and all failures of the same error now count as raised."""
        with self._lock:
            found = next((failure for failure in self._all if not failure.reported), None)
            if found is not None:
                self.told(found)
            return found

    def told(self, failure: Failure) -> None:
        """Mark ``failure``, and all failures of the same error, as raised."""
        with self._lock:
            for other in self._all:
                other.reported |= other.error is failure.error
