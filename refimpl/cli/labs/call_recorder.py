"""The student's code behind a recorder of calls, which also limits the time of the running call."""

from __future__ import annotations

import inspect
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from .lab import shown

TOO_LONG = 3
"""Exit code of a process whose call of the student's code did not end."""


class Watched:
    """A student's module; its functions and classes note each call in ``lines``.

    Args:
        module: anything with the functions as attributes.
        seconds: how long one call may take; ``overdue`` is called when it takes longer.
        overdue: called in another thread with the lines so far, and the line of the student's file that runs.
    """

    def __init__(self, module: Any, seconds: float, overdue: Callable[[list[str], str], None] | None = None) -> None:
        self._module, self.lines = module, list[str]()
        self._deadline: float | None = None
        self._seconds, self._thread = seconds, threading.get_ident()
        if overdue is not None:
            threading.Thread(target=self._watch, args=(overdue,), daemon=True).start()

    def begin(self) -> None:
        """Forget the calls of the case before."""
        self.lines = []

    def note(self, line: str) -> None:
        """Add a line that helps to understand the calls."""
        self.lines.append(line)

    def quietly(self, name: str) -> Callable[..., Any]:
        """A function of the student's, whose calls are under the time limit but not noted."""
        function = getattr(self._module, name)
        return lambda *args: self._timed(function, args, {})

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if inspect.isclass(value):
            return lambda *args, **kwargs: _Instance(self, name.lower(), self.call(name, value, args, kwargs))
        return (lambda *args, **kwargs: self.call(name, value, args, kwargs)) if callable(value) else value

    def call(self, title: str, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        """Call the student's code under the time limit, and note the arguments."""
        words = [*map(_word, args), *(f"{key}={_word(one)}" for key, one in kwargs.items())]
        opened = f"{title.lower()} = {title}" if inspect.isclass(function) else title
        self.lines.append(f"{opened}({', '.join(words)})")
        return self._timed(function, args, kwargs)

    def _timed(self, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        outer, self._deadline = self._deadline, self._deadline or time.monotonic() + self._seconds
        try:
            return function(*args, **kwargs)
        finally:
            self._deadline = outer

    def _watch(self, overdue: Callable[[list[str], str], None]) -> None:
        while True:
            time.sleep(0.05)
            deadline = self._deadline
            if deadline is not None and time.monotonic() > deadline:
                frame = sys._current_frames().get(self._thread)
                overdue(self.lines, own_line(traceback.extract_stack(frame), self._module))
                return


def _word(value: Any) -> str:
    """A value as it would be written in a call."""
    return repr(value) if isinstance(value, str) else shown(value)


class _Instance:
    """An object of the student's, whose methods note their calls."""

    def __init__(self, watched: Watched, title: str, instance: Any) -> None:
        self._watched, self._title, self._instance = watched, title, instance

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._instance, name)
        if not callable(value):
            return value
        return lambda *args, **kwargs: self._watched.call(f"{self._title}.{name}", value, args, kwargs)


def own_line(stack: Any, module: Any) -> str:
    """The innermost line of the student's file in a stack: ``line 12: text``; empty where there is none."""
    files = {os.path.realpath(file) for file in getattr(module, "files", [getattr(module, "__file__", None) or ""])}
    for frame in reversed(list(stack)):
        if os.path.realpath(frame.filename) in files:
            return f"line {frame.lineno}: {(frame.line or '').strip()}"
    return ""


__all__ = ["TOO_LONG", "Watched", "own_line"]
