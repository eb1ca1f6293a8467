"""Automatic names: ``fullyconnected0``, ``fullyconnected1``, ... per thread."""

from __future__ import annotations

import threading
from typing import Any


class NameManager:
    """Counts names by hint; ``with NameManager():`` starts again at zero."""

    _local = threading.local()

    def __init__(self) -> None:
        self._counter: dict[str, int] = {}

    @classmethod
    def current(cls) -> NameManager:
        """Return the innermost manager of this thread."""
        stack = getattr(NameManager._local, "stack", None)
        if not stack:
            stack = NameManager._local.stack = [NameManager()]
        return stack[-1]

    def get(self, name: str | None, hint: str) -> str:
        """Return ``name`` if given, else ``hint`` with the next number."""
        if name:
            return name
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f"{hint}{count}"

    def __enter__(self) -> NameManager:
        NameManager.current()
        NameManager._local.stack.append(self)
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
