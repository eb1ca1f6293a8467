"""Kernels that will be needed are compiled by several processes at once: this one, and helpers that it starts.

A program that is bound registers a function that lists the kernels it will call (``expect``). As long as every kernel
is in the cache (``cache.py``), the function is not called. The first kernel that is missing there starts helper
processes. A helper gets one kernel after the other, by name and types of arguments, compiles it and writes it to the
cache. This process compiles too. It waits for a helper only when it needs the kernel that the helper compiles and no
other kernel is left to compile.

Helpers only save time. If a helper fails, this process compiles its kernel when the kernel is called. No helper is
started where the cache cannot be written, where there is one core, or where no Python can be started. A helper is a new
Python process that imports this package and nothing else: it never runs the user's program, and is not a fork.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from weakref import ref

import numba
from numba.core.event import trigger_event

from .collector_pause import paused
from .forks import own_lock, renew_in_child
from .interrupts import held
from .refusal import decides

Wanted = tuple[Any, tuple]
"""A kernel: what Numba compiles it with, and the types of its arguments."""

LEAST = 3
"""Fewer kernels are compiled as soon as a helper is ready."""
PROGRAMS = 16
"""The number of programs, the last ones that were bound, whose kernels are compiled ahead."""
MOST = 4
"""More processes compile only where somebody asked for them (:meth:`Ahead.by`): each takes memory."""
PATIENCE = 60.0
"""The seconds for which a call waits for a helper, which the system may have stopped."""

_WAITING, _TAKEN, _OVER = range(3)
_DECLARED: dict[tuple[str, str], Callable[[], Any] | None] = {}


def declare(module: str, name: str, make: Callable[[], Any]) -> None:
    """Say how a helper finds the kernel of that name; kernels that share a name are not compiled ahead."""
    _DECLARED[module, name] = None if (module, name) in _DECLARED else make


def _name_of(dispatcher: Any) -> tuple[str, str]:
    return dispatcher.py_func.__module__, dispatcher.py_func.__qualname__


def _parts(dispatcher: Any, found: dict[int, int]) -> dict[int, int]:
    """Bytes of Python code of a kernel and of the functions that it calls: an estimate of the time to compile it."""
    function = dispatcher.py_func
    if id(function) not in found:
        found[id(function)] = len(function.__code__.co_code)
        for name in function.__code__.co_names:
            called = function.__globals__.get(name)
            if hasattr(called, "py_func"):
                _parts(called, found)
    return found


def processes() -> int:
    """How many processes compile side by side: one a core, or as many as ``NUMBA_NUM_THREADS`` says.

    One among the workers of a cluster, which share the cores already.
    """
    return 1 if "DMLC_ROLE" in os.environ else numba.config.NUMBA_NUM_THREADS


def _command() -> list[str] | None:
    """The command that starts a helper; None in a frozen program, and in a program that embeds Python."""
    program = sys.executable or ""
    if getattr(sys, "frozen", False) or not Path(program).name.lower().startswith(("python", "pypy")):
        return None
    path = [place for place in sys.path if isinstance(place, str)]
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # -O, -I and their like
    return [program, *flags, "-c", f"import sys; sys.path[:] = {path!r}; from {__name__} import serve; serve()"]


def _environment() -> dict[str, str]:
    """The environment of a helper, without variables by which it would join a cluster or start helpers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DMLC_", "MXNET_"))}
    more = {"NUMBA_NUM_THREADS": "1", "REFIMPL_COMPILE_NOTICE": "0"}
    return {**kept, **more}


# Ctrl-C on a terminal goes to all processes of its group; it is none of a helper's business.
if sys.platform == "win32":
    _FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
else:
    _FLAGS = 0


class _Job:
    """A kernel that is to be compiled."""

    __slots__ = ("dispatcher", "kinds", "parts", "size", "state")

    def __init__(self, dispatcher: Any, kinds: tuple) -> None:
        self.dispatcher, self.kinds, self.state = dispatcher, kinds, _WAITING
        parts = _parts(dispatcher, {})
        self.parts, self.size = parts.keys(), sum(parts.values())

    def compile(self) -> None:
        """Compile the kernel in this process; an error in it is raised when it is called."""
        with contextlib.suppress(Exception), held(), paused():
            self.dispatcher.compile(self.kinds)


@decides("kernel-cache/ahead")
class Ahead:
    """The kernels that are expected, and the helpers that compile them."""

    def __init__(self) -> None:
        self._lock, self._planning = own_lock(), own_lock()
        self._expected: deque[tuple[ref, Callable[[Any], Iterable[Wanted]]]] = deque(maxlen=PROGRAMS)
        self._most: int | None = None
        self.after_fork()
        renew_in_child(self)

    def after_fork(self) -> None:
        """No helper serves this process."""
        self._changed = threading.Condition(self._lock)
        self._jobs: dict[tuple[int, tuple], _Job] = {}
        self._waiting: list[_Job] = []  # the largest first
        self._compiled: set[int] = set()  # parts that are in the cache, for some types
        self._helpers: set[subprocess.Popen] = set()

    def expect(self, owner: Any, tell: Callable[[Any], Iterable[Wanted]]) -> None:
        """Ask ``tell(owner)`` for the kernels that will be needed, if any is missing while the owner lives."""
        self._expected.append((ref(owner), tell))

    @contextlib.contextmanager
    def by(self, count: int | None) -> Iterator[None]:
        """Within this block ``count`` processes compile, this one included; None: as many as :func:`processes` says."""
        before, self._most = self._most, count
        try:
            yield
        finally:
            self._most = before

    @property
    def is_idle(self) -> bool:
        """Whether nothing is expected."""
        return not (self._expected or self._jobs)

    def obtain(self, dispatcher: Any, kinds: tuple) -> None:
        """Return when a kernel can be read from the cache, or is not at a helper, so that the caller compiles it."""
        with held():  # where LLVM is asked, an interrupt would leave its lock held
            if dispatcher._cache.keeps(kinds, dispatcher.targetctx):
                return
            self._plan()
        job = self._jobs.get((id(dispatcher), kinds))
        if job is not None:
            self._work_until(lambda: job.state == _OVER, job)

    def compile_all(self) -> None:
        """Compile all that is expected now."""
        with held():
            self._plan()
        self._work_until(lambda: not self._jobs)

    def _plan(self) -> None:
        """Find out what is expected, and have helpers begin."""
        count, command = self._most or min(processes(), MOST), _command()
        if count < 2 or command is None or numba.config.DISABLE_JIT:
            return
        with self._planning:
            told = [self._expected.popleft() for _ in range(len(self._expected))]
            found: dict[tuple[int, tuple], _Job] = {}
            for owner, tell in told:
                here = owner()
                for dispatcher, kinds in () if here is None else tell(here):
                    key = id(dispatcher), kinds
                    if key not in found and key not in self._jobs and _is_missing(dispatcher, kinds):
                        found[key] = _Job(dispatcher, kinds)
            if len(found) < LEAST:
                return
            with self._lock:
                self._jobs |= found
                self._waiting = sorted([*self._waiting, *found.values()], key=lambda job: -job.size)
            for _ in range(min(count - 1, len(found) // 2)):
                with contextlib.suppress(RuntimeError):  # the system has no more threads
                    threading.Thread(target=self._lead, args=(command,), name="refimpl-helper", daemon=True).start()

    def _work_until(self, is_done: Callable[[], bool], wanted: _Job | None = None) -> None:
        """Compile what waits, ``wanted`` first, until ``is_done``; where nothing waits, wait for the helpers."""
        try:
            waited = 0.0
            while waited < PATIENCE and not is_done():
                job = self._next(wanted)
                if job is not None:
                    job.compile()
                    self._end(job)
                    continue
                began = time.monotonic()
                with self._changed:
                    if not is_done():
                        self._changed.wait(0.5)  # on Windows Ctrl-C comes between two waits
                waited += time.monotonic() - began
        except BaseException:  # Ctrl-C: nobody wants the others any more
            self._forget()
            raise

    def _next(self, wanted: _Job | None = None) -> _Job | None:
        """Take ``wanted``, or the largest job, preferably one that shares no part with a kernel being compiled."""
        with self._lock:
            order = sorted(self._waiting, key=lambda job: job is not wanted)
            taken = [job.parts for job in self._jobs.values() if job.state == _TAKEN]
            busy = set[int]().union(*taken) - self._compiled
            job = next((job for job in order if job.parts.isdisjoint(busy)), order[0] if order else None)
            if job is not None:
                self._waiting.remove(job)
                job.state = _TAKEN
            return job

    def _end(self, job: _Job) -> None:
        with self._changed:
            job.state = _OVER
            self._compiled |= job.parts
            if not self._waiting and all(one.state == _OVER for one in self._jobs.values()):
                self._jobs.clear()
            self._changed.notify_all()

    def _forget(self) -> None:
        with self._changed:
            for job in self._jobs.values():
                job.state = _OVER
            self._waiting.clear()
            self._jobs.clear()
            self._changed.notify_all()

    # --- helpers -----------------------------------------------------------------------------------

    def _lead(self, command: list[str]) -> None:
        """Start a helper, and tell it what to compile until nothing waits."""
        try:
            helper = subprocess.Popen(  # noqa: S603  # our own Python
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=_environment(), creationflags=_FLAGS, start_new_session=sys.platform != "win32",
            )
        except OSError:
            return
        with self._lock:
            self._helpers.add(helper)
        try:
            while (job := self._next()) is not None:
                try:
                    answer = _asked(helper, job)
                finally:
                    self._end(job)
                if not answer:
                    return
        except OSError:  # it is gone
            return
        finally:
            with self._lock:
                self._helpers.discard(helper)
            _close(helper)

    def stop(self) -> None:
        """End the helpers: this process ends."""
        with self._lock:
            for helper in self._helpers:
                helper.kill()


def _asked(helper: subprocess.Popen, job: _Job) -> bytes:
    """Have a kernel compiled; empty when the helper is gone. Observers of compilations are notified."""
    assert helper.stdin is not None
    assert helper.stdout is not None
    details = {"dispatcher": job.dispatcher, "args": job.kinds, "return_type": None}
    with trigger_event("numba:compile", data=details):
        pickle.dump((_name_of(job.dispatcher), job.kinds), helper.stdin)
        helper.stdin.flush()
        return helper.stdout.read(1)


def _close(helper: subprocess.Popen) -> None:
    helper.kill()
    for pipe in (helper.stdin, helper.stdout):
        with contextlib.suppress(OSError):
            assert pipe is not None
            pipe.close()
    helper.wait()


def _is_missing(dispatcher: Any, kinds: tuple) -> bool:
    """Whether a kernel is neither in this process nor in the cache, and a helper can bring it there."""
    cache = dispatcher._cache
    return (
        _DECLARED.get(_name_of(dispatcher)) is not None and kinds not in dispatcher.overloads
        and hasattr(cache, "keeps") and not cache.keeps(kinds, dispatcher.targetctx)
        and os.access(cache.cache_path, os.W_OK)
    )


AHEAD = Ahead()
atexit.register(AHEAD.stop)


def share(dispatcher: Any) -> None:
    """Before a call of ``dispatcher`` compiles, check whether a helper compiles it; other calls are not slowed."""
    compile_for = dispatcher._compile_for_args

    @functools.wraps(compile_for)
    def obtain_or_compile(*args: Any, **kwargs: Any) -> Any:
        if not AHEAD.is_idle and not kwargs:
            AHEAD.obtain(dispatcher, tuple(map(dispatcher.typeof_pyval, args)))
        return compile_for(*args, **kwargs)

    dispatcher._compile_for_args = obtain_or_compile


def serve() -> None:
    """The main loop of a helper: compile the kernels that standard input names, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked, told = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), 1)  # whatever prints must not answer
    with contextlib.suppress(EOFError, OSError):  # who asked is gone
        while True:
            name, kinds = pickle.load(asked)  # noqa: S301  # our parent's
            told.write(b"y" if _compiled(name, kinds) else b"n")
            told.flush()


def _compiled(name: tuple[str, str], kinds: tuple) -> bool:
    """Whether a kernel is in the cache after it has been compiled."""
    make = _DECLARED.get(name)
    if make is None:
        return False
    job = _Job(make(), kinds)
    job.compile()
    return hasattr(job.dispatcher._cache, "keeps") and job.dispatcher._cache.keeps(kinds, job.dispatcher.targetctx)


__all__ = ["AHEAD", "Ahead", "declare", "processes", "serve", "share"]
