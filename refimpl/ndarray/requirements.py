"""How a gradient is written into its array: MXNet's ``grad_req``, and ``req`` in a user's operator."""

from __future__ import annotations

from collections.abc import Sequence

from ..base import refusal

REQUIREMENTS = {
    "null": "no gradient is computed",
    "write": "the gradient replaces what the array held",
    "add": "the gradient is added to what the array held",
}
"""The values of ``grad_req`` for one argument, and their meanings."""

ASSIGNMENTS = {**REQUIREMENTS, "inplace": "as write, where the array may be the memory of an input"}
"""The values of ``req`` for one array that a user's operator writes."""


def require_known(clause: str, found: Sequence[str]) -> None:
    """Refuse unknown requirements; ``clause`` is the clause of the error.

    Raises:
        KeyError: an entry of ``found`` is not in ``REQUIREMENTS``.
    """
    for req in found:
        if req not in REQUIREMENTS:
            raise refusal(clause, f"{req!r} is not one of {', '.join(sorted(REQUIREMENTS))}", KeyError)


__all__ = ["ASSIGNMENTS", "REQUIREMENTS", "require_known"]
