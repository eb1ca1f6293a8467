"""Quirks: results of MXNet 1.9.1 that this project mends, brought back by name where a port needs them.

The room that has a quirk declares it beside the code (:func:`declare`) and asks ``QUIRK.active`` there.
Whoever needs the old result says so: ``with mx.quirks("kvstore-alias"): ...``.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import os
import textwrap
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from .base import refusal

VARIABLE = "REFIMPL_QUIRKS"
EVERY = "mxnet-1.9.1"
"""The profile with every quirk."""
NONE = "intended"
"""The profile without any; it also switches off what was active outside."""

_declared: dict[str, Quirk] = {}
_scope: ContextVar[frozenset[str] | None] = ContextVar("quirks", default=None)


@dataclass(frozen=True)
class Quirk:
    """One result of MXNet's that is not ours.

    Attributes:
        name: how users call it.
        clause: the rule that holds here and is broken while the quirk is active.
        upstream: what MXNet 1.9.1 does, and what therefore happens while the quirk is active.
        reason: why it is not done here.
    """

    name: str
    clause: str
    upstream: str
    reason: str

    @property
    def active(self) -> bool:
        """Whether MXNet's result is wanted, here and now."""
        current = _current()
        return bool(current) and (self.name in current or EVERY in current)


def declare(name: str, clause: str, upstream: str, reason: str) -> Quirk:
    """Make a quirk known; the room that has it does so when it is imported.

    Raises:
        ValueError: another room has a quirk of this name.
    """
    quirk = Quirk(name, clause, upstream, reason)
    if name in (EVERY, NONE) or _declared.setdefault(name, quirk) != quirk:
        raise refusal("Quirks/one-meaning", f"a quirk or profile is called {name!r} already", ValueError)
    return quirk


def _current() -> frozenset[str]:
    scope = _scope.get()
    return _from_environment() if scope is None else scope


@functools.cache
def _from_environment() -> frozenset[str]:
    """The names in the environment variable, read when a quirk is first asked for."""
    names = [name.strip() for name in os.environ.get(VARIABLE, "").split(",")]
    return _extended(frozenset(), [name for name in names if name])


def _extended(outer: frozenset[str], names: tuple[str, ...] | list[str]) -> frozenset[str]:
    """What is active inside a scope of ``names``, from left to right."""
    for name in names:
        _require_known(name)
        outer = frozenset() if name == NONE else outer | {name}
    return outer


def _require_known(name: str) -> None:
    known = [EVERY, NONE, *sorted(_declared)]
    if name in known:
        return
    near = difflib.get_close_matches(str(name), known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
    raise refusal("Quirks/known-name", f"there is no quirk called {name!r}; {hint}", ValueError)


class Quirks:
    """``mx.quirks``: a scope when called, a table when printed."""

    def __call__(self, *names: str) -> Any:
        """A scope in which the quirks ``names`` are active beside those outside: for ``with``, or a decorator.

        A name may be a profile: "mxnet-1.9.1" for every quirk, "intended" for none from here on.

        Raises:
            ValueError: a name is not known; the message lists names that are near.
        """
        _extended(frozenset(), names)
        return self._scope(names)

    @staticmethod
    @contextlib.contextmanager
    def _scope(names: tuple[str, ...]) -> Iterator[None]:
        token = _scope.set(_extended(_current(), names))
        try:
            yield
        finally:
            _scope.reset(token)

    @staticmethod
    def active(name: str) -> bool:
        """Whether a quirk is active in this thread.

        Raises:
            ValueError: the name is not that of a quirk.
        """
        if name not in _declared:
            _require_known(name)
            return name in _current()
        return _declared[name].active

    @staticmethod
    def carried(function: Callable) -> Callable:
        """``function`` for another thread: it runs with the quirks that are active now, in this one."""
        held = _current()

        @functools.wraps(function)
        def carry(*args: Any, **kwargs: Any) -> Any:
            token = _scope.set(held)
            try:
                return function(*args, **kwargs)
            finally:
                _scope.reset(token)

        return carry

    @staticmethod
    def names() -> list[str]:
        """Every name, sorted."""
        return sorted(_declared)

    def __iter__(self) -> Iterator[Quirk]:
        return iter([_declared[name] for name in self.names()])

    def __len__(self) -> int:
        return len(_declared)

    def __bool__(self) -> bool:
        return True

    @staticmethod
    def read_environment() -> None:
        """Check the names in REFIMPL_QUIRKS.

        Raises:
            ValueError: one is not known.
        """
        _from_environment()

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
