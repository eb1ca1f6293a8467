"""The process of ``isolate``: ``python -m refimpl.oracle.backends.worker package.module:object``; see ``named``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..judging.reference import Program, Trace
from ..programs.messages import serve
from .hello import hello_of
from .named import named
from .packs import run_in_packs


def _start(name: str) -> Callable[[], Any]:
    def start() -> Any:
        backend = named(name)
        hello = hello_of(backend)
        return hello, together(backend) if "pack" in hello else backend.run

    return start


def together(backend: Any) -> Callable[[Sequence[Program]], list[Trace | Exception]]:
    """The function that answers programs by the ``run_many`` of a backend; where it raises, halves of them run."""
    def answers(programs: Sequence[Program]) -> list[Trace | Exception]:
        found: dict[int, Trace | Exception] = {}

        def run(numbers: Sequence[int]) -> None:
            some = [programs[number] for number in numbers]
            found.update(zip(numbers, backend.run_many(some) if some[1:] else [backend.run(*some)], strict=True))

        run_in_packs(range(len(programs)), backend.pack, run, found.__setitem__)
        return [found[number] for number in range(len(programs))]

    return answers


if __name__ == "__main__":
    serve(_start(sys.argv[1]))
