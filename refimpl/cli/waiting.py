"""A line about work that takes a while, on standard error, so that standard output holds results only."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from ..base import decides, printable
from .compiling import CompileWatch, watched
from .reports import COMPILING, SILENCE

FIRST = 0.5  # seconds; the program itself takes one to start, without a word


class Work:
    """The progress of a command.

    Args:
        what: the activity, such as "predicting".
        unit: the unit of the count, such as "rows"; empty without a count.
    """

    def __init__(self, what: str, unit: str) -> None:
        self.what, self._unit = what, unit
        self.done = 0
        self.total: int | None = None
        self.note = ""
        self.compiled = CompileWatch()
        self._started = time.monotonic()

    def text(self) -> str:
        """One line: the kernel that compiles now, or how much is done."""
        if self.compiled.current:
            return f"{COMPILING}: {self.compiled.text()}"
        total = "" if self.total is None else f" of {self.total}"
        note = f", {self.note}" if self.note else ""
        counted = f": {self.done}{total} {self._unit}" if self._unit else ""
        return f"{self.what}{counted}{printable(note)} ({time.monotonic() - self._started:.0f} s)"

    def _compiling(self, watch: CompileWatch) -> None:
        self.compiled = watch


@decides("Cli/waiting")
@contextmanager
def working(what: str, unit: str) -> Iterator[Work]:
    """Show how far the work of a block is: a line that changes on a terminal, else one whenever it was silent."""
    console = Console(stderr=True)
    work = Work(what, unit)
    if console.is_terminal:
        with (
            console.status("") as line,
            _ticking(lambda: line.update(Text(work.text(), no_wrap=True, overflow="ellipsis")), 0.1),
            watched(work._compiling),
        ):
            yield work
    else:
        with _ticking(lambda: print(work.text(), file=sys.stderr, flush=True), SILENCE), watched(work._compiling):
            yield work


@contextmanager
def _ticking(call: Callable[[], object], seconds: float) -> Iterator[None]:
    """Call something every so many seconds, in a thread, until the block ends; first after :data:`FIRST`."""
    stop = threading.Event()

    def run() -> None:
        with contextlib.suppress(OSError):  # nobody listens
            wait = min(FIRST, seconds)
            while not stop.wait(wait):
                call()
                wait = seconds

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
