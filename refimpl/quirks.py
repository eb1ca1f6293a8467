"""``mx.quirks``: MXNet 1.9.1's own results, brought back by name where a port needs them.

The module that has a quirk declares it beside the code (``declare``) and asks ``QUIRK.active`` there; so do operator
pages (``kernels/foundation/quirk.py``). Whoever needs the old result says so: ``with mx.quirks("kvstore-alias"): ...``.
"""

from __future__ import annotations

import contextlib
import functools
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from .base import decides
from .kernels.foundation.quirk import (
    DECLARED,
    EVERY,
    NONE,
    SCOPE,
    VARIABLE,
    Quirk,
    current,
    declare,
    extended,
    from_environment,
    require_known,
)


class Quirks:
    """``mx.quirks``: a scope when called, a table when printed."""

    def __call__(self, *names: str) -> Any:
        """A scope in which the quirks ``names`` are active beside those outside: for ``with``, or a decorator.

        A name may be a profile: "mxnet-1.9.1" for every quirk, "intended" for none from here on.

        Raises:
            ValueError: a name is not known; the message lists names that are near.
        """
        extended(frozenset(), names)
        return self._scope(names)

    @staticmethod
    @contextlib.contextmanager
    @decides("Quirks/scope")
    def _scope(names: tuple[str, ...]) -> Iterator[None]:
        token = SCOPE.set(extended(current(), names))
        try:
            yield
        finally:
            SCOPE.reset(token)

    @staticmethod
    def active(name: str) -> bool:
        """Whether a quirk is active in this thread.

        Raises:
            ValueError: the name is not that of a quirk.
        """
        if name not in DECLARED:
            require_known(name)
            return name in current()
        return DECLARED[name].active

    @staticmethod
    @decides("Quirks/threads")
    def carried(function: Callable) -> Callable:
        """``function`` for another thread: it runs with the quirks that are active now, in this one."""
        held = SCOPE.get()

        @functools.wraps(function)
        def carry(*args: Any, **kwargs: Any) -> Any:
            token = SCOPE.set(held)
            try:
                return function(*args, **kwargs)
            finally:
                SCOPE.reset(token)

        return carry

    @staticmethod
    def names() -> list[str]:
        """Every name, sorted."""
        return sorted(DECLARED)

    def __iter__(self) -> Iterator[Quirk]:
        return iter([DECLARED[name] for name in self.names()])

    def __len__(self) -> int:
        return len(DECLARED)

    def __bool__(self) -> bool:
        return True

    @staticmethod
    def read_environment() -> None:
        """Check the names in REFIMPL_QUIRKS.

        Raises:
            ValueError: one is not known.
        """
        from_environment()

    def __repr__(self) -> str:
        """A table: name, whether it is active, clause, what MXNet does, why it is not done here."""
        lines = [f"{len(self)} quirks of MXNet 1.9.1 (* active)"]
        for quirk in self:
            mark = "*" if quirk.active else " "
            lines.append(f"{mark} {quirk.name:28}{quirk.clause}")
            for what, text in (("MXNet:", quirk.upstream), ("here:", quirk.reason)):
                lines += textwrap.wrap(
                    text, 92, initial_indent=f"      {what:8}", subsequent_indent=" " * 14
                )
        return "\n".join(lines)


quirks = Quirks()

__all__ = ["EVERY", "NONE", "VARIABLE", "Quirk", "Quirks", "declare", "quirks"]
