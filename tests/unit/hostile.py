"""What the tests of hostile files share: traps, a guard that sees what Python does, and bounds of time and memory."""

from __future__ import annotations

import gc
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.lr_scheduler import LRScheduler
from refimpl.optimizer import Optimizer, states

READERS: dict[str, tuple[Callable[[bytes, str], Any], str]] = {
    "states": (states.loads, "States/valid"),
    "command": (states.loads_optimizer, "Command/optimizer"),
}
SECONDS = 2.0  # of processor time; each takes milliseconds, a first import more
MEMORY_PER_BYTE, MEMORY = 200, 2_000_000

_seen: list[str] = []
_watched: list[int] = []  # the thread that is watched, while one is


def _watch(event: str, _: Any) -> None:
    if _watched and _watched[0] == threading.get_ident() and event != "builtins.id":
        _seen.append(event)


@cache
def _start_watching() -> None:
    """Hear of every event from now on: Python knows no way to end that."""
    for codec in ("raw-unicode-escape", "utf-16-le"):  # Python imports these when they are first used
        "ab".encode(codec).decode(codec)
    sys.addaudithook(_watch)


@contextmanager
def nothing_happens() -> Iterator[None]:
    """Fail if what runs inside imports, opens, compiles, executes or does anything else that Python audits."""
    _start_watching()
    modules, folder = set(sys.modules), set(Path.cwd().iterdir())
    _seen.clear()
    gc.disable()  # garbage of other tests may remove files when it is collected
    _watched.append(threading.get_ident())
    try:
        yield
    finally:
        _watched.clear()
        gc.enable()
    assert _seen == [], _seen[:9]
    assert set(sys.modules) == modules, set(sys.modules) - modules
    assert set(Path.cwd().iterdir()) == folder


@contextmanager
def within_bounds(content: bytes, memory_per_byte: int = MEMORY_PER_BYTE) -> Iterator[None]:
    """Fail if what runs inside takes long, or much memory for so many bytes."""
    tracemalloc.start()
    start = time.process_time()
    try:
        yield
    finally:
        seconds = time.process_time() - start
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert seconds < SECONDS
    assert peak < MEMORY + memory_per_byte * len(content), peak


def refused(reader: str, content: bytes) -> str:
    """Demand that a reader refuses ``content`` as it should, doing nothing; the message."""
    read, clause = READERS[reader]
    with nothing_happens(), pytest.raises(mx.MXNetError) as caught:
        read(content, "some.file")
    assert caught.value.clause == clause
    message = str(caught.value)
    assert "some.file" in message
    assert "byte " in message
    assert len(message) < 1000
    return message


def is_inert(value: Any, depth: int = 0) -> bool:
    """Whether a value is of the kinds that a reader may give back."""
    if isinstance(value, (Optimizer, LRScheduler)):
        return depth > 9 or is_inert(vars(value), depth + 1)
    if isinstance(value, dict):
        return all(is_inert(part, depth) for item in value.items() for part in item)
    if isinstance(value, (list, tuple)):
        return all(is_inert(part, depth) for part in value)
    return value is None or isinstance(value, (bool, int, float, str, bytes, mx.nd.NDArray, np.dtype))


# --- traps: each makes a folder when Python's own reader touches it in one way ------------------------


def spring(*_: Any) -> None:
    """Make a folder, as a sign that something was executed."""
    Path("sprung").mkdir()


class _Type(type):
    def __call__(cls, *_: Any) -> None:
        spring()


class OnType(metaclass=_Type):
    """Springs by its metaclass."""


class OnNew:
    """Springs when an object is made without a call of the class."""

    def __new__(cls, *_: Any, **__: Any) -> OnNew:
        spring()
        return super().__new__(cls)


class OnInit:
    """Springs when the class is called."""

    def __init__(self, *_: Any) -> None:
        spring()


class OnState:
    """Springs when it is given a state."""

    __setstate__ = spring


class OnSlot:
    """Springs when an attribute is set, as a state of slots does."""

    slot = property(None, spring)


class OnUse:
    """Springs when it is filled, hashed or thrown away."""

    append = extend = add = __setitem__ = spring

    def __hash__(self) -> int:
        spring()
        return 0


class OnEnd:
    """Springs when it is thrown away."""

    __del__ = spring


class Unregistered:
    """No optimizer."""


__all__ = ["READERS", "is_inert", "nothing_happens", "refused", "spring", "within_bounds"]
