"""The messages between workers and servers. A message is a value: it does not change after it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Key = int | str


@dataclass(frozen=True)
class PartId:
    """The name of one part of an array: store, key, and number of the part (0 unless the array is split)."""

    table: int
    key: Key
    number: int = 0

    def __str__(self) -> str:
        return f"key {self.key!r}" + (f" (part {self.number})" if self.number else "")


@dataclass(frozen=True, eq=False)
class Rows:
    """A row_sparse array in a message: ascending ``ids`` (int64), their rows ``data``, and the whole ``shape``."""

    ids: np.ndarray
    data: np.ndarray
    shape: tuple[int, ...]

    dtype = property(lambda self: self.data.dtype)


@dataclass(frozen=True, eq=False)
class Packed:
    """A gradient as 2-bit codes: sixteen to a word of ``words``; each code is -threshold, 0 or +threshold."""

    words: np.ndarray
    threshold: float
    shape: tuple[int, ...]
    dtype: np.dtype


Value = np.ndarray | Rows


# --- what a worker asks ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Join:
    """Count as a worker (again)."""


@dataclass(frozen=True)
class Leave:
    """Count as a worker no longer: rounds and barriers stop waiting for this worker."""


@dataclass(frozen=True)
class Open:
    """Use store number ``table``; ``sync`` says whether its pushes are summed over the workers."""

    table: int
    sync: bool


@dataclass(frozen=True, eq=False)
class Init:
    """Give a part its first value: worker 0 sends ``value``; the others send None, and wait for the value."""

    part: PartId
    shape: tuple[int, ...]
    value: Value | None


@dataclass(frozen=True, eq=False)
class Push:
    """Push a gradient, or with ``replace`` a value that replaces the stored one."""

    part: PartId
    value: Value | Packed
    replace: bool = False


@dataclass(frozen=True)
class Pull:
    """Ask for a part."""

    part: PartId


@dataclass(frozen=True, eq=False)
class PullRows:
    """Ask for the rows ``ids`` (ascending, once each) of a row_sparse part."""

    part: PartId
    ids: np.ndarray


@dataclass(frozen=True)
class Barrier:
    """Wait at the barrier: the answer comes when every worker has sent this message."""

    table: int


@dataclass(frozen=True)
class Command:
    """A command to the server; ``head`` is one of the numbers in ``COMMANDS``."""

    table: int
    head: int
    body: str


@dataclass(frozen=True)
class Keep:
    """Keep ``content`` under ``name``, replacing earlier content, for this worker when it is started again."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Recall:
    """Ask for all kept contents. The message has a negative number, and is answered at once, out of order."""


START = "start"
"""The name under which a server keeps the random states at the start of a worker's first process."""

Body = Join | Leave | Open | Init | Push | Pull | PullRows | Barrier | Command | Keep | Recall

OPTIMIZER, MULTI_PRECISION, STOP, SYNC, COMPRESSION, PROFILER = range(6)
COMMANDS: Mapping[int, str] = {
    OPTIMIZER: "update with this optimizer", MULTI_PRECISION: "keep float16 weights in float32", STOP: "stop",
    SYNC: "sum over the workers", COMPRESSION: "expect 2-bit gradients", PROFILER: "profile",
}


# --- what a server answers ------------------------------------------------------------------------


@dataclass(frozen=True)
class Done:
    """The request was carried out; ``note`` is a message for the log, or empty."""

    note: str = ""


@dataclass(frozen=True, eq=False)
class Held:
    """The value of a part, after ``version`` rounds (dist_sync) or pushes (dist_async)."""

    value: Value
    version: int


@dataclass(frozen=True)
class Refused:
    """The request was refused, by the rule ``clause``."""

    clause: str
    message: str


@dataclass(frozen=True)
class Recalled:
    """The contents that a worker gave to keep, by name."""

    kept: Mapping[str, bytes]


Answer = Done | Held | Refused | Recalled


def size_of(body: Any) -> int:
    """The bytes of the arrays in a request or an answer."""
    value = getattr(body, "value", None)
    if isinstance(value, Packed):
        return value.words.nbytes
    if isinstance(value, Rows):
        return value.ids.nbytes + value.data.nbytes
    return 0 if value is None else int(value.nbytes)


# --- envelopes ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """A worker's message to one server.

    ``incarnation`` is 0 at first and one more each time the worker connects again after it was lost or had left.
    ``number`` counts the messages of this incarnation to this server, from 0; the worker has the answers to all numbers
    below ``answered``, and will not repeat these requests.
    """

    worker: int
    incarnation: int
    number: int
    answered: int
    body: Any


@dataclass(frozen=True)
class Reply:
    """A server's answer to the worker's request number ``number``."""

    worker: int
    incarnation: int
    number: int
    body: Any


__all__ = [
    "COMMANDS", "COMPRESSION", "MULTI_PRECISION", "OPTIMIZER", "PROFILER", "START", "STOP", "SYNC", "Answer",
    "Barrier", "Body", "Command", "Done", "Held", "Init", "Join", "Keep", "Key", "Leave", "Open", "Packed",
    "PartId", "Pull", "PullRows", "Push", "Recall", "Recalled", "Refused", "Reply", "Request", "Rows", "Value",
    "size_of",
]
