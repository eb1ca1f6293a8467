"""Progress of a training: bars on a terminal, MXNet's log lines anywhere else.

Both are ordinary MXNet callbacks of ``Module.fit``.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from ..base import decides
from ..callback import Speedometer
from ..log import LOG
from .compiling import CompileWatch, watched

SILENCE = 1.5  # seconds after which the log report speaks up
COMPILING = "Compiling kernels (first run only)"


WIDE = 100  # columns of a terminal into which everything fits


@decides("Cli/narrow")
def noted(told: dict[str, float], *, narrow: bool) -> str:
    """The text behind the bar of an epoch; a narrow terminal has fewer digits, and held-out accuracy replaces speed."""
    if not narrow:
        pieces = [f"loss {told['loss']:.4f}", f"accuracy {told['accuracy']:.4f}", f"{told['speed']:,.0f} samples/s"]
        return "  ".join([*pieces, *([f"held-out {told['held-out']:.4f}"] if "held-out" in told else [])])
    last = f"held-out {told['held-out']:.3f}" if "held-out" in told else f"{told['speed']:,.0f}/s"
    return f"loss {told['loss']:.3f} acc {told['accuracy']:.3f} {last}"


class TerminalReport:
    """One bar per epoch with loss, accuracy and samples per second."""

    def __init__(self, console: Console, batch_size: int, batches: int, last_epoch: int) -> None:
        self._narrow = console.width < WIDE
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(6 if self._narrow else 24), TextColumn("{task.fields[note]}"),
            console=console,
        )
        self._batch_size, self._batches, self._last = batch_size, batches, last_epoch
        self._epoch = -1
        self._bar: TaskID | None = None
        self._compile_bar: TaskID | None = None
        self._watch: CompileWatch | None = None
        self._started = 0.0
        self._told: dict[str, float] = {}

    def _clock(self) -> float:
        """Seconds without the time of the compiler."""
        return time.monotonic() - (self._watch.seconds if self._watch is not None else 0.0)

    def __enter__(self) -> TerminalReport:
        self._progress.start()
        self._started = self._clock()
        return self

    def __exit__(self, *unused: object) -> None:
        self._progress.stop()

    def compiling(self, watch: CompileWatch) -> None:
        """Show a line for the compiler while it works."""
        self._watch = watch
        if self._compile_bar is None:
            words = "Compiling" if self._narrow else COMPILING
            self._compile_bar = self._progress.add_task(words, total=None, note="")
        finished = 1 if not watch.current else None
        self._progress.update(
            self._compile_bar, note=watch.text(), total=finished, completed=finished or 0
        )

    def batch_end(self, param: Any) -> None:
        """MXNet's ``batch_end_callback``."""
        if param.epoch != self._epoch:
            self._epoch = param.epoch
            self._bar = self._progress.add_task(
                f"Epoch {param.epoch + 1}/{self._last}", total=self._batches, note=""
            )
        assert self._bar is not None
        done = param.nbatch + 1
        values = dict(param.eval_metric.get_global_name_value())
        speed = done * self._batch_size / max(self._clock() - self._started, 1e-9)
        self._told = {"loss": values["cross-entropy"], "accuracy": values["accuracy"], "speed": speed}
        self._progress.update(self._bar, completed=done, note=noted(self._told, narrow=self._narrow))

    def eval_end(self, param: Any) -> None:
        """MXNet's ``eval_end_callback``: held-out accuracy joins the epoch's line."""
        values = dict(param.eval_metric.get_name_value())
        if self._bar is not None:
            told = {**self._told, "held-out": values["accuracy"]}
            self._progress.update(self._bar, note=noted(told, narrow=self._narrow))
        self._started = self._clock()


class _Output(logging.StreamHandler):
    """Standard output; where its reader went away, the call that logs says so instead of a traceback for each line."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging calls it so
        """Raise the error of a closed pipe; leave other errors to logging."""
        error = sys.exc_info()[1]
        if isinstance(error, BrokenPipeError):
            raise error
        super().handleError(record)


class LogReport:
    """Plain lines in MXNet's format on standard output; speaks up when nothing was said for a while."""

    def __init__(self, batch_size: int, disp_batches: int) -> None:
        self._speedometer = Speedometer(batch_size, disp_batches)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._speak_up, daemon=True)
        self._handler = _Output(sys.stdout)
        self._handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
        self._handler.addFilter(self._heard)
        self._last_line = time.monotonic()
        self._doing = ""
        self._watch: CompileWatch | None = None
        self._told = 0

    def _heard(self, record: logging.LogRecord) -> bool:
        del record
        self._last_line = time.monotonic()
        return True

    def __enter__(self) -> LogReport:
        root = logging.getLogger()
        self._level = root.level
        root.setLevel(logging.INFO)
        root.addHandler(self._handler)
        self._thread.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._stop.set()
        self._thread.join()
        root = logging.getLogger()
        try:
            self._sum_up()
        finally:
            root.removeHandler(self._handler)
            root.setLevel(self._level)

    def _speak_up(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # the training itself finds out
            self._break_silence()

    def _break_silence(self) -> None:
        while not self._stop.wait(0.1):
            if time.monotonic() - self._last_line > SILENCE:
                if self._watch is not None and self._watch.current:
                    LOG.info("%s: %s", COMPILING, self._watch.text())
                elif self._doing:
                    LOG.info(self._doing)

    def _sum_up(self) -> None:
        watch = self._watch
        if watch is not None and watch.done > self._told and not watch.current:
            self._told = watch.done
            LOG.info("Compiled %d kernels in %.1f s", watch.done, watch.seconds)

    def compiling(self, watch: CompileWatch) -> None:
        """Say so at the first kernel; the rest is left to the watch on silence."""
        first = self._watch is None
        self._watch = watch
        if first:
            LOG.info("%s; later runs read them from disk", COMPILING)

    def batch_end(self, param: Any) -> None:
        """MXNet's ``batch_end_callback``."""
        self._sum_up()
        self._doing = f"Epoch[{param.epoch}] Batch [{param.nbatch}]"
        self._speedometer(param)

    def eval_end(self, param: Any) -> None:
        """MXNet's ``eval_end_callback``; ``fit`` itself logs the values."""
        del param
        self._doing = ""


Report = TerminalReport | LogReport


@contextmanager
def reporting(
    batch_size: int, batches: int, last_epoch: int, disp_batches: int
) -> Iterator[Report]:
    """Choose the report that suits standard output and keep it up to date within a block."""
    console = Console()
    report: Report
    if console.is_terminal:
        report = TerminalReport(console, batch_size, batches, last_epoch)
    else:
        report = LogReport(batch_size, disp_batches)
    with report, watched(report.compiling):
        yield report
