"""Modules that take long to import and that most programs never need."""

from __future__ import annotations

import importlib
from typing import Any


class Later:
    """A module by its name, imported when one of its attributes is first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, what: str) -> Any:
        return getattr(importlib.import_module(self._name), what)


cuda = Later("numba.cuda")
"""Numba's CUDA, or its simulator."""

__all__ = ["Later", "cuda"]
