"""The events of the workers of a parameter server, and files of JSON lines with them.

The first line of a file is ``{"workers": 2, "pushes": 3}``; each other line is one event, such as
``{"worker": 0, "kind": "push", "key": "w", "push": 0}`` or
``{"worker": 1, "kind": "pull", "key": "w", "value": [[1, 0, 0, 0, 0, 0]]}``.
Only the order of one worker's lines counts, so files of several workers may be joined.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from ..base import MXNetError, decides, printable, refusal, require
from ..files.atomic import write_atomically
from ..files.reading import open_file
from .messages import Key

KINDS = ("init", "push", "pull", "wait", "barrier", "leave", "lost")
FIELDS = ("worker", "kind", "key", "push", "value")
WITH_KEY = ("init", "push", "pull", "wait")
MOST_COLUMNS = 1 << 20
MOST_EVENTS = 1 << 20
MOST_NUMBERS = 1 << 26  # in all arrays of a history
LONGEST_LINE = 1 << 25  # bytes


def tag(worker: int, push: int, workers: int, pushes: int, rows: int = 1) -> np.ndarray:
    """The gradient that marks push ``push`` of ``worker``: float32 (rows, workers * pushes), 1 in its own column."""
    require(
        "History/tag", 0 <= worker < workers and 0 <= push < pushes and rows >= 1,
        f"push {push} of worker {worker} is none of {pushes} pushes of {workers} workers, in {rows} rows",
    )
    made = np.zeros((rows, workers * pushes), np.float32)
    made[:, worker * pushes + push] = 1
    return made


@dataclass(frozen=True, eq=False)
class HistoryEvent:
    """One event of a worker.

    ``kind`` is "init", "push", "pull", "wait" (a pull that was not answered), "barrier", "leave" (the worker left, and
    all its messages count) or "lost" (the worker vanished). The first four have a ``key``. A push has its number
    ``push``, and its ``value`` if that is no tag; a pull has its result ``value`` (rows, columns).
    """

    worker: int
    kind: str
    key: Key | None = None
    push: int | None = None
    value: np.ndarray | None = None


class History:
    """The events of ``workers`` workers, each of which pushes at most ``pushes`` times."""

    def __init__(self, workers: int, pushes: int) -> None:
        for name, count in (("workers", workers), ("pushes", pushes)):
            if type(count) is not int or count < 1:
                raise refusal("History/size", f"{name} must be a whole number above 0, got {_short(count)}")
        require(
            "History/size", workers * pushes <= MOST_COLUMNS,
            f"{workers} workers with {pushes} pushes need more than {MOST_COLUMNS} columns",
        )
        self.workers, self.pushes, self.width = workers, pushes, workers * pushes
        self.events: list[HistoryEvent] = []
        self._made = [0] * workers
        self._shapes: dict[Key, tuple[int, ...]] = {}
        self._numbers = 0

    def init(self, worker: int, key: Key) -> None:
        """Note that a worker initialised a key."""
        self.add(HistoryEvent(worker, "init", key))

    def push(self, worker: int, key: Key, rows: int = 1, value: Any = None) -> np.ndarray:
        """Note the next push of a worker; return the tag to push, or ``value`` if that is given.

        Args:
            worker: the number of the worker, from 0.
            key: the key of the push.
            rows: the number of rows of the tag.
            value: a gradient to push instead of a tag.
        """
        number = self._made[worker] if 0 <= worker < self.workers else 0
        given = None if value is None else np.array(value, np.float32)
        self.add(HistoryEvent(worker, "push", key, number, given))
        return tag(worker, number, self.workers, self.pushes, rows) if given is None else given

    def pull(self, worker: int, key: Key, value: Any) -> None:
        """Note that a worker's pull returned ``value``."""
        self.add(HistoryEvent(worker, "pull", key, value=np.array(value, np.float32)))

    def wait(self, worker: int, key: Key) -> None:
        """Note that a worker's pull was not answered when all workers had finished."""
        self.add(HistoryEvent(worker, "wait", key))

    def barrier(self, worker: int) -> None:
        """Note that a worker passed a barrier."""
        self.add(HistoryEvent(worker, "barrier"))

    @decides("History/gone")
    def leave(self, worker: int) -> None:
        """Note that a worker left."""
        self.add(HistoryEvent(worker, "leave"))

    @decides("History/gone")
    def lost(self, worker: int) -> None:
        """Note that a worker was lost; it may connect again."""
        self.add(HistoryEvent(worker, "lost"))

    def named(self, column: int) -> str:
        """The push of a column, in words."""
        worker, push = divmod(int(column), self.pushes)
        return f"worker {worker}'s push {push} of all"

    def add(self, event: HistoryEvent) -> None:
        """Append an event.

        Raises:
            MXNetError: ``event`` is no valid event, or contradicts earlier events.
        """
        _require(type(event.worker) is int and 0 <= event.worker < self.workers, "worker", event.worker)
        _require(isinstance(event.kind, str) and event.kind in KINDS, "kind", event.kind)
        keyed = event.kind in WITH_KEY
        _require((type(event.key) in (int, str)) if keyed else event.key is None, f"key of a {event.kind}", event.key)
        numbered = event.kind == "push"
        _require((type(event.push) is int) == numbered, f"number of a {event.kind}", event.push)
        _require((event.value is not None) or event.kind != "pull", "value of a pull", event.value)
        _require(event.value is None or event.kind in ("push", "pull"), f"value of a {event.kind}", "one")
        if numbered:
            _require(event.push == self._made[event.worker], "number of a push", event.push, self._made[event.worker])
            _require(self._made[event.worker] < self.pushes, "number of a push", event.push, f"less than {self.pushes}")
        if event.value is not None:
            self._measure(event)
        require("History/size", len(self.events) < MOST_EVENTS, f"a history has at most {MOST_EVENTS} events")
        self._made[event.worker] += numbered
        self.events.append(event)

    def _measure(self, event: HistoryEvent) -> None:
        """Refuse an array that has another shape than the other arrays of its key."""
        assert event.value is not None
        assert event.key is not None
        shape = self._shapes.get(event.key, event.value.shape)
        _require(event.value.ndim == 2, f"number of dimensions of a {event.kind}", event.value.ndim, 2)
        _require(event.value.shape == shape, f"shape of key {event.key!r}", event.value.shape, shape)
        self._numbers += event.value.size
        require("History/size", self._numbers <= MOST_NUMBERS, f"a history has at most {MOST_NUMBERS} numbers")
        self._shapes[event.key] = shape

    # --- files -----------------------------------------------------------------------------------

    @decides("History/file")
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write JSON lines.

        Raises:
            MXNetError: the file cannot be written.
        """
        write_atomically(str(path), self.text().encode())

    def text(self) -> str:
        """The text that :meth:`save` writes."""
        lines = [json.dumps({"workers": self.workers, "pushes": self.pushes})]
        for event in self.events:
            record = {name: getattr(event, name) for name in FIELDS if getattr(event, name) is not None}
            if event.value is not None:
                record["value"] = event.value.tolist()
            lines.append(json.dumps(record))
        return "".join(line + "\n" for line in lines)

    @classmethod
    @decides("History/file")
    def load(cls, path: str | os.PathLike[str]) -> History:
        """Read JSON lines from an untrusted file: every line is checked, within the limits of this module.

        Raises:
            MXNetError: a line is no valid event; the message has the number of the line.
            OSError: the file cannot be read.
        """
        try:
            file = open_file(path)
        except OSError as error:
            raise refusal("History/readable", f"cannot read {path}: {error.strerror}", type(error)) from None
        with file:
            return cls.read(file, str(path))

    @classmethod
    @decides("History/file")
    def read(cls, file: BinaryIO, name: str = "the history") -> History:
        """Read JSON lines from an open file, as :meth:`load` does.

        Args:
            file: the open file, which is read from its present position.
            name: the name of the file in messages.

        Raises:
            MXNetError: a line is no valid event; the message has the number of the line.
        """
        history: History | None = None
        for number in range(1, MOST_EVENTS + 3):
            line = file.readline(LONGEST_LINE + 1)
            if not line:
                break
            try:
                record = _record(line)
                if history is None:
                    unknown = record.keys() - {"workers", "pushes"}
                    _require(not unknown, "first line", ", ".join(sorted(unknown)), "workers and pushes")
                    history = cls(record.get("workers"), record.get("pushes"))  # type: ignore[arg-type]
                else:
                    history.add(_event(record))
            except MXNetError as error:
                error.args = (printable(f"{name}, line {number}: {error}"),)
                raise
        if history is None:
            raise refusal("History/line", f"{name} is empty: its first line gives the numbers of workers and pushes")
        return history


def _record(line: bytes) -> dict[str, Any]:
    require("History/size", len(line) <= LONGEST_LINE, f"a line has at most {LONGEST_LINE} bytes")
    try:
        record = json.loads(line, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise refusal("History/line", f"this is no JSON: {error}") from None
    _require(isinstance(record, dict), "event", record, "an object")
    return record


def _integer(digits: str) -> int:
    require("History/line", len(digits) <= 20, "a number has more than 20 digits")
    return int(digits)


def _event(record: dict[str, Any]) -> HistoryEvent:
    unknown = record.keys() - set(FIELDS)
    _require(not unknown, "names in an event", ", ".join(sorted(unknown)), "only " + ", ".join(FIELDS))
    given = dict(record)
    if given.get("value") is not None:
        rows = given["value"]
        alike = isinstance(rows, list) and rows and all(isinstance(row, list) for row in rows)
        _require(alike and len({len(row) for row in rows}) == 1, "value", rows, "rows of numbers, equally long")
        _require(all(type(number) in (int, float) for row in rows for number in row), "value", rows, "numbers")
        try:
            with np.errstate(over="ignore"):
                given["value"] = np.array(rows, np.float64).astype(np.float32)
        except OverflowError:
            raise refusal("History/line", "value holds a number that is too large") from None
    return HistoryEvent(**{"worker": None, "kind": None, **given})


def _require(holds: object, what: str, given: Any, expected: Any = None) -> None:
    if not holds:
        wanted = "" if expected is None else f", expected {expected}"
        raise refusal("History/line", f"{what} is wrong: {_short(given)}{wanted}")


def _short(given: Any) -> str:
    """A value, which may be huge, in at most 60 letters."""
    if isinstance(given, (list, dict)):
        return f"a {type(given).__name__} of {len(given)}"
    text = repr(given[:60] if isinstance(given, str) else given)
    return text if len(text) <= 60 else text[:57] + "..."


__all__ = ["History", "HistoryEvent", "Key", "tag"]
