"""The notice that kernels compile, so that a user of a first run does not wait in silence.

Numba reports the begin and the end of each compilation. When compiling takes longer than half a second, a line on the
terminal says how many kernels are compiled and which layer of how many runs; the line goes away when all kernels are
compiled. Without a terminal the logger ``refimpl`` gets the line, if it is enabled for INFO and has a handler; else
there is no notice, nor is there one with ``REFIMPL_COMPILE_NOTICE=0`` in the environment.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from operator import length_hint
from typing import Any

from numba.core.event import Event, Listener, register

from ..base import decides
from ..kernels.foundation.forks import own_lock, renew_in_child

FIRST = 0.5
"""Seconds of compiling before the first notice."""
SILENCE = 1.5
"""Seconds between two lines in a log."""
_QUICK = 0.2  # seconds between two changes of the line on a terminal
_IDLE = 1.0  # seconds without a compilation, after which the line goes away


def _unheard(watch: CompileWatch) -> None:
    """The default of ``changed``: do nothing."""


class CompileWatch(Listener):
    """Counts compilations, also of helper processes: threads here report them (``kernels/foundation/ahead.py``).

    ``changed`` is called as each compilation begins and ends, from the thread that compiles. ``seconds`` is the time
    during which at least one kernel was compiling.
    """

    def __init__(self, changed: Callable[[CompileWatch], None] = _unheard) -> None:
        self.done = 0
        self.seconds = 0.0
        self._changed = changed
        self._lock = own_lock()
        self.after_fork()
        renew_in_child(self)

    def after_fork(self) -> None:
        """Start from "nothing compiles": a forked process has none of the threads that compile."""
        self.current = ""
        self._depth = threading.local()
        self._started = 0.0
        self._now: dict[int, str] = {}  # thread -> the kernel that it compiles

    def on_start(self, event: Event) -> None:
        """A kernel, or a formula that a kernel calls, begins to compile."""
        depth = getattr(self._depth, "value", 0)
        self._depth.value = depth + 1
        if depth:
            return
        function = event.data["dispatcher"].py_func
        with self._lock:
            if not self._now:
                self._started = time.monotonic()
            self._now[threading.get_ident()] = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
            self._name()
        self._changed(self)

    def on_end(self, event: Event) -> None:
        """A kernel, or a formula that a kernel calls, is compiled."""
        del event
        depth = getattr(self._depth, "value", 0)
        self._depth.value = max(depth - 1, 0)
        if depth != 1:  # inside another compilation, or begun before this watch
            return
        with self._lock:
            self.done += 1
            self._now.pop(threading.get_ident(), None)
            self._name()
            if not self._now:
                self.seconds += time.monotonic() - self._started
        self._changed(self)

    def _name(self) -> None:
        first, *others = [*self._now.values(), ""]
        self.current = f"{first} and {len(others) - 1} more" if len(others) > 1 else first

    def text(self) -> str:
        """The progress: how many kernels are compiled, which compile, for how many seconds."""
        now = f", now {self.current}" if self.current else ""
        running = time.monotonic() - self._started if self.current else 0.0
        return f"{self.done} done{now} ({self.seconds + running:.0f} s)"


class _Running:
    """The progress of the executor that runs: how many layers it has, and the layers left."""

    def __init__(self) -> None:
        self._total, self._left = 0, iter(())

    def begin(self, layers: Sequence[Any]) -> Iterator[Any]:
        """An iterator over the layers; its length hint counts the layers left, so counting costs no time."""
        self._total, self._left = len(layers), iter(layers)
        return self._left

    def text(self) -> str:
        """The number of the layer that runs, and of all layers; empty where none runs."""
        left = length_hint(self._left)
        return f", layer {self._total - left} of {self._total}" if left else ""


RUNNING = _Running()


class Notice:
    """Shows the notice, from a thread of its own, while kernels compile."""

    def __init__(self) -> None:
        self.watch = CompileWatch(self._changed)
        self._told, self._began = 0, 0.0
        self._busy = 0.0  # when a kernel was last compiled
        self._thread: threading.Thread | None = None
        self._lock = own_lock()
        self._quiet = 0

    @contextlib.contextmanager
    def left_to_others(self) -> Iterator[None]:
        """Within this block show no notice: the caller shows its own."""
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    def _changed(self, watch: CompileWatch) -> None:
        del watch
        self._busy = time.monotonic()
        if self._quiet or not (_terminal() or _logged()):
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():  # a fork has none
                self._told, self._began = self.watch.done, self.watch.seconds
                self._thread = threading.Thread(target=self._speak, name="refimpl-compiling", daemon=True)
                self._thread.start()

    def _speak(self) -> None:
        """Show the progress until no kernel compiles any more."""
        with contextlib.suppress(OSError, ValueError):  # the reader is gone, or the stream is closed
            self._until_idle()

    def _until_idle(self) -> None:
        shown, due = False, time.monotonic() + FIRST
        while self.watch.current or time.monotonic() - self._busy < _IDLE:
            time.sleep(_QUICK)
            now = time.monotonic()
            if self._quiet or now < due or not self.watch.current:
                continue
            due = now + (_QUICK if _terminal() else SILENCE)
            shown = True
            _say(self._text())
        if shown:
            done, seconds = self.watch.done - self._told, self.watch.seconds - self._began
            _say(f"compiled {done} kernels in {seconds:.0f} s; later runs read them from disk", last=True)

    def _text(self) -> str:
        done = self.watch.done - self._told
        return f"compiling kernels (first run only): {done} done, now {self.watch.current}{RUNNING.text()}"


def _terminal() -> bool:
    stream = sys.stderr
    with contextlib.suppress(ValueError, AttributeError):  # closed, or no stream at all
        return stream.isatty()
    return False


def _logged() -> bool:
    return LOGGER.isEnabledFor(logging.INFO) and LOGGER.hasHandlers()


def _say(text: str, *, last: bool = False) -> None:
    if _terminal():
        width = shutil.get_terminal_size().columns
        sys.stderr.write("\r\x1b[K" if last else f"\r{text[: width - 1]}\x1b[K")
        sys.stderr.flush()
    elif _logged():
        LOGGER.info(text)


LOGGER = logging.getLogger("refimpl")
NOTICE = Notice()


@decides("compiling/notice")
def listen() -> None:
    """Show notices from now on, unless ``REFIMPL_COMPILE_NOTICE`` is 0."""
    if os.environ.get("REFIMPL_COMPILE_NOTICE", "1") != "0":
        register("numba:compile", NOTICE.watch)


__all__ = ["LOGGER", "NOTICE", "RUNNING", "CompileWatch", "Notice", "listen"]
