"""Refusals: errors of MXNet's types that name the broken clause and say what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Decided = TypeVar("Decided", bound=Callable)


class MXNetError(RuntimeError):
    """The error of MXNet's native side. ``clause`` names the rule that was broken, when one was."""

    clause: str | None = None


def printable(text: str) -> str:
    """A text whose characters cannot steer a terminal: all but lines and tabs that are not printable are escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def refusal(clause: str, message: str, kind: type[Exception] = MXNetError) -> Exception:
    """Build, without raising it, an error of MXNet's type ``kind`` that names its clause."""
    error = kind(f"{printable(message)} [{clause}]")
    error.clause = clause  # type: ignore[attr-defined]  # every refusal carries its clause, whatever its type
    return error


def require(
    clause: str, holds: object, message: str, kind: type[Exception] = MXNetError
) -> None:
    """Raise a refusal with ``clause`` unless ``holds``.

    Args:
        clause: the name of the rule.
        holds: whether it is kept.
        message: what was given, what was expected and what to do.
        kind: the type of the exception.
    """
    if not holds:
        raise refusal(clause, message, kind)


def decides(*clauses: str) -> Callable[[Decided], Decided]:
    """Name the clauses that the function or class beneath decides, and leave it as it is.

    ``spec/trace.py`` reads these names, so that a clause leads to the code that decides it. A refusal names its clause
    itself.
    """
    del clauses
    return _unchanged


def _unchanged(decided: Decided) -> Decided:
    return decided
