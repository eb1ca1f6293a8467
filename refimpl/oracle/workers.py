"""Who judges the programs of a search: this process, several processes, or processes on the machines of a Ray cluster.

To judge a program, to shrink a failure and to explain a cause are functions of the program and the implementation (see
``examining``), so anybody may do it at any time. The search reads the results in the order of the programs: the number
of workers changes nothing but the time.
"""

from __future__ import annotations

import math
import multiprocessing
import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Protocol

from ..base import decides
from ..kvstore.machines.ray import join, require_usable
from . import examining
from .backends import Backend
from .drawing.choices import Exclusions
from .examining import Explained, Shrunk
from .explaining.causes import Cause
from .judging.comparing import Verdict
from .judging.reference import Program

CHUNK = 32
"""Programs that an implementation with ``run_many`` gets at once, at most."""
Shrink = Callable[[], Shrunk]


class WorkersEnded(RuntimeError):
    """There are no processes for a search, or one ended; the message says which."""


class Workers(Protocol):
    """Whoever answers a search."""

    def judged(
        self, programs: Sequence[Program], wanted: Callable[[Program, Verdict], bool], exclude: Exclusions,
        left: Callable[[], float | None],
    ) -> Iterator[tuple[Verdict, Shrink]]:
        """The verdict of each program by the first bound, in order, and the function that shrinks it.

        Args:
            programs: checked programs.
            wanted: whether a verdict is of a failure that will be shrunk, as far as is known.
            exclude: what is set aside.
            left: the seconds until the search ends; None where only attempts count.
        """
        ...

    def explained(self, cause: Cause, program: Program, verdict: Verdict) -> Explained:
        """See ``examining.explained``."""
        ...


class Alone:
    """Only this process, which does everything when it is asked for.

    Args:
        backend: the implementation.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    def judged(
        self, programs: Sequence[Program], wanted: Callable[[Program, Verdict], bool], exclude: Exclusions,
        left: Callable[[], float | None],
    ) -> Iterator[tuple[Verdict, Shrink]]:
        """See :class:`Workers`."""
        for begin in range(0, len(programs), CHUNK):
            some = programs[begin : begin + CHUNK]
            for program, verdict in zip(some, examining.judged(self.backend, some), strict=True):
                def shrink(program: Program = program, verdict: Verdict = verdict) -> Shrunk:
                    return examining.shrunk(self.backend, program, verdict, exclude, left())

                yield verdict, shrink

    def explained(self, cause: Cause, program: Program, verdict: Verdict) -> Explained:
        """See :class:`Workers`."""
        return examining.explained(self.backend, cause, program, verdict)


class Several:
    """Several processes, here or on a Ray cluster, each with the implementation for itself.

    Args:
        load: makes the implementation; it is pickled.
        workers: the number of processes.
        address: of a Ray cluster; the processes are on this machine without.

    Raises:
        MXNetError: the cluster cannot be used.
    """

    def __init__(self, load: Callable[[], Backend], workers: int, address: str | None = None) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | ThreadPoolExecutor
        self._call: Callable[..., Any] = _called
        if address is None:
            self._pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _load, (load,))
        else:
            self._call = _Actors(load, workers, address)
            self._pool = ThreadPoolExecutor(workers)

    def _run(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Hand a function of the implementation and more arguments to a process."""
        return self._pool.submit(self._call, function, *arguments)

    def judged(
        self, programs: Sequence[Program], wanted: Callable[[Program, Verdict], bool], exclude: Exclusions,
        left: Callable[[], float | None],
    ) -> Iterator[tuple[Verdict, Shrink]]:
        """See :class:`Workers`. Failures are shrunk beside, as soon as they are known."""
        size = min(CHUNK, math.ceil(len(programs) / (2 * self.workers)))
        parts = [programs[begin : begin + size] for begin in range(0, len(programs), size)]
        judged = [self._run(_judged, part) for part in parts]
        found: list[tuple[Verdict, Future[Any] | None]] = []
        for part, several in zip(parts, judged, strict=True):
            for program, verdict in zip(part, _result(several), strict=True):
                shrinks = wanted(program, verdict)
                found.append((verdict, self._shrunk(program, verdict, exclude, left()) if shrinks else None))
        for program, (verdict, shrunk) in zip(programs, found, strict=True):
            def shrink(
                program: Program = program, verdict: Verdict = verdict, shrunk: Future[Any] | None = shrunk
            ) -> Shrunk:
                made: Shrunk = _result(shrunk or self._shrunk(program, verdict, exclude, left()))
                return made

            yield verdict, shrink

    def _shrunk(self, program: Program, verdict: Verdict, exclude: Exclusions, left: float | None) -> Future[Any]:
        return self._run(examining.shrunk, program, verdict, exclude, left)

    def explained(self, cause: Cause, program: Program, verdict: Verdict) -> Explained:
        """See :class:`Workers`."""
        made: Explained = _result(self._run(examining.explained, cause, program, verdict))
        return made

    def close(self) -> None:
        """End the processes; what they still do is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)


@decides("oracle/workers")
@contextmanager
def several(load: Callable[[], Backend], workers: int, address: str | None) -> Iterator[Several | None]:
    """The processes of a search within a block; None where the search's own process is enough.

    Args:
        load: makes the implementation; it is pickled.
        workers: the number of processes.
        address: of a Ray cluster.

    Raises:
        WorkersEnded: the number is below 1.
        MXNetError: the cluster cannot be used.
    """
    if workers < 1:
        raise WorkersEnded(f"{workers} processes judge no programs; --workers is 1 or more")
    if workers == 1 and address is None:
        yield None
        return
    made = Several(load, workers, address)
    try:
        yield made
    finally:
        made.close()


def _judged(backend: Backend, programs: Sequence[Program]) -> list[Verdict]:
    return list(examining.judged(backend, programs))


def _result(future: Future[Any]) -> Any:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise WorkersEnded(
            "a process of the search ended; if the implementation ended it, run it with --isolate"
        ) from error


# --- a process of this machine ------------------------------------------------------------------

_OWN: list[Backend] = []


def _load(load: Callable[[], Backend]) -> None:
    _OWN[:] = [load()]


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(_OWN[0], *arguments)


# --- a process of a Ray cluster -----------------------------------------------------------------


class Actor:
    """A process of a Ray cluster.

    Args:
        load: makes the implementation.
    """

    def __init__(self, load: Callable[[], Backend]) -> None:
        self.backend = load()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """``function`` with the implementation and more arguments."""
        return function(self.backend, *arguments)


class _Actors:
    """The processes of a Ray cluster; a call waits until one is free."""

    def __init__(self, load: Callable[[], Backend], workers: int, address: str) -> None:
        require_usable(address)
        self.ray: Any = join(address)
        make = self.ray.remote(Actor).options(num_cpus=1, scheduling_strategy="SPREAD")
        self.free: queue.Queue[Any] = queue.Queue()
        for _ in range(workers):
            self.free.put(make.remote(load))

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        actor = self.free.get()
        try:
            return self.ray.get(actor.call.remote(function, *arguments))
        except self.ray.exceptions.RayActorError as error:
            raise WorkersEnded(
                f"a process of the search ended: {error}; if the implementation ended it, run it with --isolate"
            ) from error
        finally:
            self.free.put(actor)


__all__ = ["Alone", "Several", "Shrink", "Workers", "WorkersEnded", "several"]
