"""The process of ``isolate``: ``python -m refimpl.oracle.backends.worker package.module:object``; see ``named``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..programs.messages import serve
from .hello import hello_of
from .named import named


def _start(name: str) -> Callable[[], Any]:
    def start() -> Any:
        backend = named(name)
        return hello_of(backend), backend.run

    return start


if __name__ == "__main__":
    serve(_start(sys.argv[1]))
