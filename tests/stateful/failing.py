"""Make the n-th use of something fail: memory, a write, a flush to the disk, a new name, the start of a thread."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import refimpl as mx
from refimpl.kernels.foundation import buffer

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Counter:
    """Counts uses; the n-th one fails."""

    def __init__(self, n: int) -> None:
        self.n, self.uses = n, 0
        self._lock = threading.Lock()

    @property
    def failed(self) -> bool:
        """Whether the n-th use has come."""
        return self.uses >= self.n

    def failing(self, function: Callable[..., Any], error: Exception) -> Callable[..., Any]:
        """The function, with the n-th of all calls failing before it does anything."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            with self._lock:
                self.uses += 1
                mine = self.uses == self.n
            if mine:
                raise error
            return function(*args, **kwargs)

        return counted


class HalfWritten:
    """A file whose disk is full after half of what is to be written."""

    def __init__(self, file: Any, counter: Counter) -> None:
        self._file = file
        self._checked = counter.failing(lambda: None, FULL)

    def __enter__(self) -> HalfWritten:
        return self

    def __exit__(self, *unused: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def writelines(self, pieces: Any) -> None:
        content = b"".join(pieces)
        self._file.write(content[: len(content) // 2])
        self._checked()
        self._file.write(content[len(content) // 2 :])


def _memory(counter: Counter) -> list[Any]:
    error = mx.MXNetError("there is no memory")
    return [mock.patch.object(buffer, "aligned_empty", counter.failing(buffer.aligned_empty, error))]


def _write(counter: Counter) -> list[Any]:
    opened = os.fdopen
    return [mock.patch.object(os, "fdopen", lambda *args, **kwargs: HalfWritten(opened(*args, **kwargs), counter))]


KINDS: dict[str, Callable[[Counter], list[Any]]] = {
    "memory": _memory,
    "write": _write,
    "flush": lambda counter: [mock.patch.object(os, "fsync", counter.failing(os.fsync, FULL))],
    "rename": lambda counter: [mock.patch.object(Path, "replace", counter.failing(Path.replace, FULL))],
    "thread": lambda counter: [
        mock.patch.object(
            threading.Thread, "start", counter.failing(threading.Thread.start, RuntimeError("can't start new thread"))
        )
    ],
}
"""What can fail -> the patches that make its n-th use do so."""


@contextlib.contextmanager
def nth(kind: str, n: int) -> Iterator[Counter]:
    """Within this block the n-th use of ``kind`` fails."""
    counter = Counter(n)
    with contextlib.ExitStack() as patches:
        for patch in KINDS[kind](counter):
            patches.enter_context(patch)
        yield counter


class Scenario:
    """What is there (made anew for each n), what is done to it, and what must hold when that failed."""

    def act(self) -> None:
        raise NotImplementedError

    def check(self, error: mx.MXNetError | None) -> None:
        raise NotImplementedError


def fail_each(make: Callable[[], Scenario], kind: str, stride: int) -> int:
    """Let the first use of ``kind`` fail, and every ``stride``-th after it, one run for each; how many there were."""
    n = 1
    while True:
        scenario, error = make(), None
        with nth(kind, n) as counter:
            try:
                scenario.act()
            except mx.MXNetError as caught:
                error = caught
        if not counter.failed:
            return (n - 1) // stride
        scenario.check(error)
        n += stride
