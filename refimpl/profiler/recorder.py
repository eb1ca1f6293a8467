"""What the profiler remembers: events in the order in which they ended, and sums of them.

Times are whole nanoseconds on a clock that never goes back; files hold microseconds since this module was loaded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..base import decides
from ..context import Context
from ..kernels.foundation import devices
from ..kernels.foundation.forks import own_lock

_BEGIN = time.perf_counter_ns()

OPERATOR = "operator"
"""Category of everything that an operator does."""


class Sums:
    """Count, sum, least and greatest of the values that one name had: milliseconds, or a counter's own unit."""

    __slots__ = ("count", "greatest", "least", "total")

    def __init__(self) -> None:
        self.count, self.total, self.least, self.greatest = 0, 0.0, 0.0, 0.0

    def add(self, value: float) -> None:
        """Take one more value in."""
        self.least = min(self.least, value) if self.count else value
        self.greatest = max(self.greatest, value) if self.count else value
        self.count += 1
        self.total += value

    @property
    def average(self) -> float:
        """Mean of the values."""
        return self.total / self.count


class _Begun(NamedTuple):
    name: str
    place: str
    arguments: dict[str, Any]
    device: str
    start: int


class Recorder:
    """The one memory of the profiler, and the watch that times operators.

    ``rows`` are events of the trace format; ``times`` and ``counters`` hold sums by category and name.
    """

    def __init__(self) -> None:
        self.lock = own_lock()
        self.keeps_sums = False
        self.clear_rows()
        self.clear_sums()

    def clear_rows(self) -> None:
        """Forget all events."""
        self.rows: list[dict[str, Any]] = []
        self.places: dict[str, int] = {}
        self.threads: dict[int, tuple[int, str]] = {}

    def clear_sums(self) -> None:
        """Forget all sums."""
        self.times: dict[str, dict[str, Sums]] = {}
        self.counters: dict[str, dict[str, Sums]] = {}

    # --- operators ---------------------------------------------------------------------------------

    def begin(self, name: str, context: Context, shapes: Sequence[tuple[int, ...]], node: str = "") -> _Begun:
        """An operator begins; work on a GPU that was begun before it is waited for."""
        arguments: dict[str, Any] = {"shapes": [list(shape) for shape in shapes]}
        if node:
            arguments["node"] = node
        device = context.memory
        if device != "cpu":
            devices.synchronize(device)
        place = f"{context.device_type}/{context.device_id}"
        return _Begun(name, place, arguments, device, time.perf_counter_ns())

    def end(self, begun: _Begun) -> None:
        """An operator has ended, on a GPU too."""
        if begun.device != "cpu":
            devices.synchronize(begun.device)
        now = time.perf_counter_ns()
        took = now - begun.start
        self.add("X", begun.name, OPERATOR, begun.place, begun.start, dur=took / 1000, args=begun.arguments)
        self.sum(self.times, OPERATOR, begun.name, took / 1e6)

    # --- everything --------------------------------------------------------------------------------

    def add(self, phase: str, name: str, category: str, place: str, when: int, **more: Any) -> None:
        """Remember one event; ``place`` is shown as a process of its own."""
        thread = threading.current_thread()
        with self.lock:
            pid = self.places.setdefault(place, len(self.places))
            tid, _ = self.threads.setdefault(threading.get_ident(), (len(self.threads), thread.name))
            self.rows.append({
                "name": name, "cat": category, "ph": phase, "ts": (when - _BEGIN) / 1000, "pid": pid, "tid": tid,
                **more,
            })

    def sum(self, table: dict[str, dict[str, Sums]], category: str, name: str, value: float) -> None:
        """Take a value into the sums, if they are kept."""
        if not self.keeps_sums:
            return
        with self.lock:
            table.setdefault(category, {}).setdefault(name, Sums()).add(value)

    @decides("Profiler/trace")
    def trace(self) -> dict[str, Any]:
        """Everything remembered, in Chrome's trace-event format."""
        with self.lock:
            named = [
                {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": place}}
                for place, pid in self.places.items()
            ]
            named += [
                {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
                for pid in self.places.values() for tid, name in self.threads.values()
            ]
            return {"traceEvents": [*named, *self.rows], "displayTimeUnit": "ms"}


RECORDER = Recorder()
