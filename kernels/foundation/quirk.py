"""Quirks: results of MXNet 1.9.1 that this project corrects, and which of them are active in this thread.

A page or a module declares its quirk beside the code that implements it (:func:`declare`), and this code reads
``QUIRK.active`` when it runs. The scopes that users open are in ``refimpl/quirks.py``.
"""

from __future__ import annotations

import difflib
import functools
import os
from contextvars import ContextVar
from dataclasses import dataclass

from .refusal import decides, refusal

VARIABLE = "REFIMPL_QUIRKS"
EVERY = "mxnet-1.9.1"
"""The profile with every quirk."""
NONE = "intended"
"""The profile without any; it also switches off what was active outside."""

DECLARED: dict[str, Quirk] = {}
"""Every quirk by its name."""
SCOPE: ContextVar[frozenset[str] | None] = ContextVar("quirks", default=None)
"""The names that are active in this thread; None where no scope is open."""


@dataclass(frozen=True)
class Quirk:
    """One result of MXNet 1.9.1 that differs from the result of this project.

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
        """Whether MXNet's result is wanted in this thread, now."""
        names = current()
        return bool(names) and (self.name in names or EVERY in names)


def declare(name: str, clause: str, upstream: str, reason: str) -> Quirk:
    """Make a quirk known; the module that implements it calls this when it is imported.

    Raises:
        ValueError: another module has a quirk of this name.
    """
    quirk = Quirk(name, clause, upstream, reason)
    if name in (EVERY, NONE) or DECLARED.setdefault(name, quirk) != quirk:
        raise refusal("Quirks/one-meaning", f"a quirk or profile is called {name!r} already", ValueError)
    return quirk


def current() -> frozenset[str]:
    """The names of active quirks; profiles are not expanded."""
    scope = SCOPE.get()
    return from_environment() if scope is None else scope


@functools.cache
@decides("Quirks/environment")
def from_environment() -> frozenset[str]:
    """The names in the environment variable, read when a quirk is first asked for."""
    names = [name.strip() for name in os.environ.get(VARIABLE, "").split(",")]
    return extended(frozenset(), [name for name in names if name])


@decides("Quirks/profile")
def extended(outer: frozenset[str], names: tuple[str, ...] | list[str]) -> frozenset[str]:
    """Return the names active inside a scope that adds ``names``, from left to right, to those of ``outer``."""
    for name in names:
        require_known(name)
        outer = frozenset() if name == NONE else outer | {name}
    return outer


def require_known(name: str) -> None:
    """Refuse a name that is neither a quirk nor a profile.

    Raises:
        ValueError: there is no such name; the message lists similar ones.
    """
    known = [EVERY, NONE, *sorted(DECLARED)]
    if name in known:
        return
    near = difflib.get_close_matches(str(name), known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
    raise refusal("Quirks/known-name", f"there is no quirk called {name!r}; {hint}", ValueError)
