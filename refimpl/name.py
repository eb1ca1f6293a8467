"""Automatic names: ``fullyconnected0``, ``fullyconnected1``, ... per thread."""

from __future__ import annotations

import threading
from typing import Any

from .base import decides


def _stack() -> list[NameManager]:
    stack = getattr(NameManager._local, "stack", None)
    if not stack:
        stack = NameManager._local.stack = [NameManager()]
    return stack


class _NameManagerType(type):
    @property
    def current(cls) -> NameManager:
        """The innermost manager of this thread; assigning replaces it."""
        return _stack()[-1]

    @current.setter
    def current(cls, manager: NameManager) -> None:
        _stack()[-1] = manager


@decides("Symbol/automatic-names")
class NameManager(metaclass=_NameManagerType):
    """Counts names by hint; ``with NameManager():`` starts again at zero."""

    _local = threading.local()

    def __init__(self) -> None:
        self._counter: dict[str, int] = {}

    def get(self, name: str | None, hint: str) -> str:
        """Return ``name`` if given, else ``hint`` with the next number."""
        if name:
            return name
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f"{hint}{count}"

    def __enter__(self) -> NameManager:
        _stack().append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        NameManager._local.stack.pop()


class Prefix(NameManager):
    """Puts ``prefix`` before every automatic and given operator name."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """Return the prefixed name."""
        return self._prefix + super().get(name, hint)
