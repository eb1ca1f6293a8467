"""How this project says no: one exception type, one clause, one sentence that mends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Decided = TypeVar("Decided", bound=Callable)


class MXNetError(RuntimeError):
    """The error of MXNet's native side. ``clause`` names the rule that was broken, when one was."""

    clause: str | None = None


def refusal(clause: str, message: str, kind: type[Exception] = MXNetError) -> Exception:
    """Build (not raise) an error of MXNet's type ``kind`` that names its clause."""
    error = kind(f"{message} [{clause}]")
    error.clause = clause  # type: ignore[attr-defined]  # every refusal carries its clause, whatever its type
    return error


def require(
    clause: str, holds: object, message: str, kind: type[Exception] = MXNetError
) -> None:
    """Refuse with ``clause`` unless ``holds``."""
    if not holds:
        raise refusal(clause, message, kind)


def decides(*clauses: str) -> Callable[[Decided], Decided]:
    """Name the clauses that the function or class beneath decides, and leave it as it is.

    ``spec/trace.py`` reads the names: a clause leads to the code that makes it true. A refusal names its clause itself.
    """
    del clauses
    return _unchanged


def _unchanged(decided: Decided) -> Decided:
    return decided
