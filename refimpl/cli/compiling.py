"""Listens to Numba while kernels compile for the first time, so that nobody waits in silence."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core.event import Event, Listener, install_listener


def _unheard(watch: CompileWatch) -> None:
    """Nobody asks how far it is."""


class CompileWatch(Listener):
    """Counts compilations. ``changed`` is called, from whichever thread compiles, as each begins and ends."""

    def __init__(self, changed: Callable[[CompileWatch], None] = _unheard) -> None:
        self.done = 0
        self.current = ""
        self.seconds = 0.0
        self._changed = changed
        self._depth = threading.local()
        self._started = 0.0

    def on_start(self, event: Event) -> None:
        """A kernel, or a formula that a kernel calls, begins to compile."""
        depth = getattr(self._depth, "value", 0)
        self._depth.value = depth + 1
        if depth:
            return
        function = event.data["dispatcher"].py_func
        self.current = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self._started = time.monotonic()
        self._changed(self)

    def on_end(self, event: Event) -> None:
        """It is compiled."""
        del event
        self._depth.value -= 1
        if self._depth.value:
            return
        self.done += 1
        self.current = ""
        self.seconds += time.monotonic() - self._started
        self._changed(self)

    def text(self) -> str:
        """Say how far it is."""
        now = f", now {self.current}" if self.current else ""
        running = time.monotonic() - self._started if self.current else 0.0
        return f"{self.done} done{now} ({self.seconds + running:.0f} s)"


@contextmanager
def watched(changed: Callable[[CompileWatch], None]) -> Iterator[CompileWatch]:
    """Watch compilations within a block."""
    watch = CompileWatch(changed)
    with install_listener("numba:compile", watch):
        yield watch
