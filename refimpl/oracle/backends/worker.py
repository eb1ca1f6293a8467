"""The process of ``isolate``: ``python -m refimpl.oracle.backends.worker package.module:object``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..programs.messages import serve
from .isolate import hello_of


def backend_of(name: str) -> Any:
    """The backend at ``package.module:object``; a class or a plain function there is called without arguments."""
    module, _, attribute = name.partition(":")
    found = getattr(import_module(module), attribute or "backend")
    return found() if inspect.isclass(found) or inspect.isfunction(found) else found


def _start(name: str) -> Callable[[], Any]:
    def start() -> Any:
        backend = backend_of(name)
        return hello_of(backend), backend.run

    return start


if __name__ == "__main__":
    serve(_start(sys.argv[1]))
