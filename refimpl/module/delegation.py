"""Attributes that MXNet's scripts reach for and that live in a part of a module."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def delegated(path: str) -> Any:
    """Return a property for an attribute of a part, such as "_updates.optimizer", to be read and set."""
    part, name = path.split(".")
    return property(attrgetter(path), lambda self, value: setattr(getattr(self, part), name, value))
