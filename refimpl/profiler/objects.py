"""What users measure themselves: tasks, frames, events, counters and markers."""

from __future__ import annotations

import itertools
import time
from typing import Any, ClassVar

from ..base import decides, refusal
from .control import recording
from .recorder import RECORDER

_IDENTITIES = itertools.count(1)


@decides("Profiler/objects")
class Domain:
    """A name under which tasks, frames, counters and markers are grouped."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise refusal("Profiler/name", f"the name of a domain is a string, got {name!r}", TypeError)
        self.name = name

    def __str__(self) -> str:
        return self.name

    def new_task(self, name: str) -> Task:
        """A task of this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> Frame:
        """A frame of this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: int | None = None) -> Counter:
        """A counter of this domain, that begins with ``value``."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Marker:
        """A marker of this domain."""
        return Marker(self, name)


def _named(domain: Any, name: Any) -> str:
    """The domain's name, where both are what they should be."""
    if not isinstance(domain, Domain) or not isinstance(name, str):
        raise refusal("Profiler/name", f"expected a Domain and a name, got {domain!r} and {name!r}", TypeError)
    return domain.name


@decides("Profiler/objects")
class _Span:
    """Something that starts and stops, perhaps across threads; it may start again."""

    def __init__(self, category: str, name: str) -> None:
        self.name = name
        self._category = category
        self._started: int | None = None

    def __str__(self) -> str:
        return self.name

    def start(self) -> None:
        """Begin; a start that was not stopped is forgotten."""
        self._started = time.perf_counter_ns()

    def stop(self) -> None:
        """End, and be remembered if the profiler runs. A stop without a start does nothing."""
        started, self._started = self._started, None
        if started is None or not recording():
            return
        now, identity = time.perf_counter_ns(), next(_IDENTITIES)
        for phase, when in (("b", started), ("e", now)):
            RECORDER.add(phase, self.name, self._category, self._category, when, id=identity)
        RECORDER.sum(RECORDER.times, self._category, self.name, (now - started) / 1e6)


class Task(_Span):
    """A piece of work of a domain; tasks may overlap."""

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(_named(domain, name), name)


class Frame(_Span):
    """One of many passes through the same work, such as a batch."""

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(f"{_named(domain, name)},frame", name)


class Event(_Span):
    """A piece of work that belongs to no domain."""

    def __init__(self, name: str) -> None:
        super().__init__("event", name)


@decides("Profiler/objects")
class Counter:
    """A whole number that changes over time.

    Raises:
        ValueError: a value is not a number.
    """

    def __init__(self, domain: Domain, name: str, value: int | None = None) -> None:
        self._domain = _named(domain, name)
        self.name = name
        self._value = 0
        if value is not None:
            self.set_value(value)

    def __str__(self) -> str:
        return self.name

    def set_value(self, value: int) -> None:
        """Change the counter to ``value``."""
        self._value = int(value)
        if recording():
            RECORDER.add(
                "C", self.name, self._domain, self._domain, time.perf_counter_ns(), args={self.name: self._value}
            )
            RECORDER.sum(RECORDER.counters, self._domain, self.name, self._value)

    def increment(self, delta: int = 1) -> None:
        """Add ``delta``."""
        self.set_value(self._value + int(delta))

    def decrement(self, delta: int = 1) -> None:
        """Take ``delta`` away."""
        self.set_value(self._value - int(delta))

    def __iadd__(self, delta: int) -> Counter:
        self.increment(delta)
        return self

    def __isub__(self, delta: int) -> Counter:
        self.decrement(delta)
        return self


class Marker:
    """A moment."""

    _SCOPES: ClassVar[dict[str, str]] = {"global": "g", "process": "p", "thread": "t", "task": "t", "marker": "t"}

    def __init__(self, domain: Domain, name: str) -> None:
        self._category = f"{_named(domain, name)},instant_marker"
        self.name = name

    def mark(self, scope: str = "process") -> None:
        """Remember that it is now; ``scope`` says how far a viewer draws the line.

        Raises:
            MXNetError: ``scope`` is not global, process, thread, task or marker.
        """
        if scope not in self._SCOPES:
            raise refusal(
                "Profiler/scope", f"Invalid Input: {scope!r}, valid values are: {', '.join(self._SCOPES)}"
            )
        if recording():
            RECORDER.add(
                "i", self.name, self._category, self._category, time.perf_counter_ns(), s=self._SCOPES[scope]
            )
