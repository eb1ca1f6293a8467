"""Which functions of the package run between two marks, and how often: in any thread, seen by a profile hook."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from refimpl.kernels.foundation.loop import Loop

ROOT = Path(__file__).parents[2]
PACKAGES = tuple(str(ROOT / name) + os.sep for name in ("refimpl", "kernels"))


class Function(NamedTuple):
    """A function of the package, by its file from the root, its first line and its name."""

    file: str
    line: int
    name: str

    @property
    def is_nameless(self) -> bool:
        """Whether it is a lambda or a comprehension."""
        return self.name.endswith(">")


class Count(NamedTuple):
    """What ran between two marks."""

    entries: dict[Function, int]
    """How often each function was entered, in the order of first entries; a generator is entered each time it goes on.
    """
    generated: int
    """Entries of code that was made from a string, such as the ``__init__`` of a dataclass."""
    loops: list[Function]
    """Loops of pages, with their formulas, that ran as machine code: it has no frames."""
    order: list[Function]
    """All functions and loops, in the order in which they ran first."""

    @property
    def calls(self) -> int:
        """Entries of all functions."""
        return sum(self.entries.values())

    @property
    def nameless(self) -> int:
        """Those of lambdas and comprehensions among them; Python 3.12 has no frames for most comprehensions."""
        return sum(times for function, times in self.entries.items() if function.is_nameless)

    @property
    def files(self) -> list[str]:
        """The files of the functions."""
        return sorted({function.file for function in self.entries})


@cache
def own_file(name: str) -> str | None:
    """The path of a file of the package from the root; None for any other file."""
    real = os.path.realpath(name)  # pages come through a link
    return Path(real).relative_to(ROOT).as_posix() if real.startswith(PACKAGES) else None


def _function(code: CodeType) -> Function:
    name = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has no names of classes here
    return Function(own_file(code.co_filename) or code.co_filename, code.co_firstlineno, name)


class Hook:
    """Counts from here on, in this thread and in all that start later; ``mark`` ends one count and begins the next."""

    def __init__(self) -> None:
        self._begin()
        self.counts: list[Count] = []
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    def _begin(self) -> None:
        self._entries: Counter[CodeType] = Counter()
        self._generated = 0
        self._loops: set[CodeType] = set()
        self._order: dict[CodeType, None] = {}

    def _profile(self, frame: Any, event: str, _: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        if own_file(code.co_filename) is not None:
            if code.co_name != "<module>":
                self._entries[code] += 1
                self._order[code] = None
            if code is Loop.__call__.__code__:
                loop = frame.f_locals["self"]
                parts = [part for part in (loop.function, *loop.formulas.values()) if isinstance(part, FunctionType)]
                self._loops.update(part.__code__ for part in parts)
                self._order.update(dict.fromkeys(part.__code__ for part in parts))
        elif code.co_filename.startswith("<") and frame.f_globals.get("__name__", "").startswith("refimpl"):
            self._generated += 1

    def mark(self) -> None:
        """End a count and begin the next."""
        entries, generated, loops, order = self._entries, self._generated, self._loops, self._order
        self._begin()
        times: Counter[Function] = Counter()
        for code, each in entries.items():
            times[_function(code)] += each  # two families bind one function: two objects of its code
        loop_functions, all_functions = sorted(set(map(_function, loops))), list(dict.fromkeys(map(_function, order)))
        self.counts.append(Count(dict(times), generated, loop_functions, all_functions))

    def end(self) -> list[Count]:
        """Count no more; return the counts between marks."""
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # None ends it
        return self.counts
