"""mx.mon.Monitor: a statistic of every array that passes through an executor."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import decides, refusal
from .log import LOG
from .ndarray import NDArray, array
from .ndarray.undo import undo

Entry = tuple[int, str, str]


@decides("Monitor/statistic")
def _root_mean_square(values: NDArray) -> NDArray:
    """The norm divided by the root of the size: the usual magnitude of an element."""
    plain = values.asnumpy().astype(np.float64).ravel()
    return array([math.sqrt(plain @ plain / plain.size) if plain.size else 0.0])


class Monitor:
    """Watch outputs, and at the end of a batch arguments and auxiliary states, of executors.

    Args:
        interval: batches from one watched batch to the next; the first is always watched.
        stat_func: function from an array to the array (or list of arrays) to note; the norm divided by
            the root of the size without it.
        pattern: regular expression that must match from the beginning of a name.
        sort: order the entries by name instead of by time.
        monitor_all: watch the inputs of operators too.
    """

    def __init__(
        self, interval: int, stat_func: Callable[[NDArray], Any] | None = None, pattern: str = ".*",
        sort: bool = False, monitor_all: bool = False,
    ) -> None:
        self.interval = interval
        self.stat_func = stat_func if stat_func is not None else _root_mean_square
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all
        self.activated = False
        self.queue: list[tuple[int, str, Any]] = []
        self.step = 0
        self.exes: list[Any] = []

    @decides("Monitor/pattern")
    def stat_helper(self, name: str, value: NDArray) -> None:
        """Note the statistic of an array; what executors call."""
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(value)))

    def install(self, exe: Any) -> None:
        """Watch an executor from now on."""
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    @decides("Monitor/interval")
    def tic(self) -> None:
        """Begin a batch, a watched one if ``interval`` batches have passed."""
        if self.step % self.interval == 0:
            self.queue = []
            self.activated = True
        self.step += 1

    @decides("Monitor/interval", "Monitor/arguments")
    def toc(self) -> list[Entry]:
        """End a batch and return its entries (batch, name, text); none if it was not watched.

        The text is one number, or the array as NumPy prints it, with a tab after each.

        Raises:
            AssertionError: ``stat_func`` returned something other than an array or a list of arrays.
        """
        if not self.activated:
            return []
        with undo(dicts=[self.queue]):
            for exe in self.exes:
                for values in (exe.arg_dict, exe.aux_dict):
                    for name, value in values.items():
                        self.stat_helper(name, value)
        self.activated = False
        queue = sorted(self.queue, key=lambda entry: entry[1]) if self.sort else self.queue
        self.queue = []
        return [(step, name, _text(value)) for step, name, value in queue]

    def toc_print(self) -> None:
        """End a batch and log its entries."""
        for step, name, text in self.toc():
            LOG.info("Batch: %7d %-30s %s", step, name, text)


@decides("Monitor/statistic")
def _text(noted: Any) -> str:
    shown = []
    for value in noted if isinstance(noted, list) else [noted]:
        if not isinstance(value, NDArray):
            raise refusal(
                "Monitor/arrays", "the argument stat_func must return an NDArray or a list of them, got a"
                f" {type(value).__name__}", AssertionError,
            )
        single = value.size == 1 and value.ndim < 2
        shown.append(str(value.asscalar() if single else value.asnumpy()) + "\t")
    return "".join(shown)


__all__ = ["Monitor"]
