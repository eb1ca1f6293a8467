"""mx.engine: the order of execution, and when failures are raised.

[engine/deferred] An operator whose arguments are right may still fail while it runs (a negative scale of
``random.normal``). Nothing is raised by the call: the arrays it should have written remember the failure, arrays
computed from them inherit it, and whoever reads one of them (``asnumpy``, ``wait_to_read``) gets it, every time,
until other values are written there. ``waitall`` raises each failure once.

[engine/choice] ``with mx.engine.use("naive" | "threaded" | "shuffled"):`` chooses how work is ordered
(``tasks.py``); no choice changes a number. The default is ``naive``; ``MXNET_ENGINE_TYPE`` may say
``ThreadedEngine`` or ``ThreadedEnginePerDevice`` (threaded), or ``NaiveEngine`` (naive, failures raised at once).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..base import MXNetError, decides, refusal
from ..kernels.foundation import Buffer
from ..quirks import quirks
from .failures import Failures
from .tasks import Engine, Naive, Queue, Shuffled, Task, Threaded

attention = False
"""Whether some memory holds a failure or may wait for work: the one flag that the usual path reads."""

queueing = False
"""Whether work may run later: the engine is not ``naive``."""

# --- failures ----------------------------------------------------------------------------------------


def _refresh() -> None:
    global attention  # noqa: PLW0603  # one flag for the process, read on every call
    attention = bool(_failures) or queueing


_failures = Failures(_refresh)
_at_once = os.environ.get("MXNET_ENGINE_TYPE") == "NaiveEngine"


@decides("random/deferred")
def fail(error: Exception, written: Iterable[Buffer]) -> None:
    """Remember that the buffers ``written`` hold no values because of ``error``; raise it at once for NaiveEngine."""
    if _at_once and not _inside.task:  # inside a task, maybe on another thread, nobody would catch it
        raise error
    _failures.add(error, written)


def spoil(error: Exception, written: Iterable[Buffer]) -> None:
    """Remember that the buffers ``written`` hold no values, because the call that writes them did not finish."""
    _failures.add(error, written)


def overwrite(buffer: Buffer) -> None:
    """Prepare ``buffer`` for new values: wait for all work on its memory, and forget its failure."""
    if attention:
        _finish(buffer)
        _failures.overwritten(buffer)


def settle(buffer: Buffer) -> None:
    """Wait until ``buffer`` holds its values.

    Raises:
        MXNetError: the operator that writes it failed.
    """
    _finish(buffer)
    failure = _failures.of(buffer)
    if failure is not None:
        _failures.told(failure)
        raise failure.again()


def wait_all() -> None:
    """Wait until all work is done.

    Raises:
        MXNetError: an operator failed, its outputs are still alive, and its failure has not been raised yet.
    """
    if not _inside.task:  # a task would wait for itself
        _engine.finish_all()
    failure = _failures.report()
    if failure is not None:
        raise failure.again()


# --- the engine --------------------------------------------------------------------------------------


class _Inside(threading.local):
    """Whether this thread is inside a task; operators that it runs then belong to that task."""

    task = False


_inside = _Inside()
_engine: Engine = Naive()


def _finish(buffer: Buffer) -> None:
    if queueing and not _inside.task:
        _engine.finish([buffer])


def run(
    name: str, context: str, work: Callable[[], None], reads: list[Buffer], writes: list[Buffer],
    changes: Iterable[Buffer] = (), alone: bool = False,
) -> None:
    """Do ``work`` now or later, as the engine decides; if it fails, the buffers ``writes`` hold the failure.

    Args:
        name: the name that the profiler shows.
        context: the device whose thread does the work.
        work: runs the operator.
        reads: the buffers that the work reads.
        writes: the buffers that the work writes.
        changes: buffers that the work also writes, and that hold values even after a failure: random streams,
            auxiliary states.
        alone: whether the work runs a user's code, which may read any memory: all earlier work is done first, then
            this thread runs the code.
    """

    def guarded() -> None:
        before, _inside.task = _inside.task, True
        try:
            attempt(work, reads, writes)
        finally:
            _inside.task = before

    if queueing and not _inside.task and alone:
        _engine.finish_all()
        guarded()
    elif queueing and not _inside.task:
        _engine.push(Task(name, context, quirks.carried(guarded), reads, [*writes, *changes]))
    else:
        attempt(work, reads, writes)


@decides("engine/user-code")
def goes_alone(p: Any) -> bool:
    """Whether an operator with parameters ``p`` runs a user's code, which may use memory beside its arguments."""
    return getattr(p, "runs_user_code", False)


@decides("engine/interrupted")
def attempt(work: Callable[[], None], reads: list[Buffer], writes: list[Buffer]) -> None:
    """Do ``work`` now; if a buffer of ``reads`` holds a failure, ``writes`` inherit it instead."""
    if _failures:
        for source in reads:
            failure = _failures.of(source)
            if failure is not None:
                fail(failure.error, writes)
                return
        for target in writes:
            _failures.overwritten(target)
    try:
        work()
    except MXNetError as error:
        fail(error, writes)
    except Exception as error:  # inside a task nobody would catch it
        if not _inside.task:
            raise
        fail(error, writes)
    except BaseException:
        if _inside.task:  # the task counts as done and will not run again
            spoil(unfinished("operator"), writes)
        raise


def unfinished(what: str) -> Exception:
    """The error of reading an array whose operator or call was interrupted."""
    return refusal(
        "engine/unfinished", f"the last {what} did not finish, so that this array holds no values; run it again"
    )


_KINDS: dict[str, Callable[[int], Engine]] = {
    "naive": lambda _: Naive(), "threaded": lambda _: Threaded(), "shuffled": Shuffled,
}


def set_engine(kind: str, seed: int = 0) -> None:
    """Choose the engine for the whole process, once all work is done.

    Raises:
        ValueError: ``kind`` is none of naive, threaded and shuffled.
    """
    if kind not in _KINDS:
        raise refusal("engine/choice", f"unknown engine {kind!r}; there are {', '.join(_KINDS)}", ValueError)
    _install(_KINDS[kind](seed))


def _install(engine: Engine) -> None:
    global _engine, queueing  # noqa: PLW0603  # there is one engine
    _engine.finish_all()
    if isinstance(_engine, Threaded) and engine is not _engine:
        _engine.stop()
    _engine = engine
    queueing = not isinstance(engine, Naive)
    _refresh()


@contextmanager
def use(kind: str, seed: int = 0) -> Iterator[Engine]:
    """Within the block another engine orders the work; at the end of the block all work is done.

    Raises:
        ValueError: ``kind`` is none of naive, threaded and shuffled.
    """
    before = _engine
    set_engine(kind, seed)
    try:
        yield _engine
    finally:
        _install(before)


def current() -> Engine:
    """The engine that orders the work; ``print(mx.engine.current().queue)`` shows which task waits for which."""
    return _engine


# --- MXNet's names -----------------------------------------------------------------------------------

_bulk_size = 15  # MXNet's default


def set_bulk_size(size: int) -> int:
    """Remember how many operators MXNet would hand over at once; returns the previous number. It has no effect."""
    global _bulk_size  # a setting of the process
    before, _bulk_size = _bulk_size, size
    return before


@contextmanager
def bulk(size: int) -> Iterator[None]:
    """Set the bulk size within the block."""
    before = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(before)


if os.environ.get("MXNET_ENGINE_TYPE", "").startswith("ThreadedEngine"):
    set_engine("threaded")

__all__ = [
    "Engine", "Queue", "Task", "attempt", "bulk", "current", "fail", "goes_alone", "overwrite", "run",
    "set_bulk_size", "set_engine", "settle", "spoil", "unfinished", "use", "wait_all",
]
