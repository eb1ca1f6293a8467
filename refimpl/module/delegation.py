"""Attributes of MXNet's modules that scripts use, and that a part of a module has here."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def delegated(path: str) -> Any:
    """Return a property that reads and sets an attribute of a part, such as "_updates.optimizer"."""
    part, name = path.split(".")
    return property(attrgetter(path), lambda self, value: setattr(getattr(self, part), name, value))
