"""Refusals: errors of MXNet's types that name the broken clause and say what to do."""

from __future__ import annotations


class MXNetError(RuntimeError):
    """The error of MXNet's native side. ``clause`` names the rule that was broken, when one was."""

    clause: str | None = None


def refusal(clause: str, message: str, kind: type[Exception] = MXNetError) -> Exception:
    """Build, without raising it, an error of MXNet's type ``kind`` that names its clause."""
    error = kind(f"{message} [{clause}]")
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
