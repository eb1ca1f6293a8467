"""How a computed gradient goes into its array: MXNet's ``grad_req``, and ``req`` in an operator of the user."""

from __future__ import annotations

from collections.abc import Sequence

from ..base import refusal

REQUIREMENTS = {
    "null": "no gradient is computed",
    "write": "the gradient replaces what the array held",
    "add": "the gradient is added to what the array held",
}
"""What ``grad_req`` may be for one argument, and what it means."""

ASSIGNMENTS = {**REQUIREMENTS, "inplace": "as write, where the array may be the memory of an input"}
"""What ``req`` may be for one array that an operator of the user writes."""


def require_known(clause: str, found: Sequence[str]) -> None:
    """Refuse what is no requirement.

    Raises:
        KeyError: one of ``found`` is none of ``REQUIREMENTS``.
    """
    for req in found:
        if req not in REQUIREMENTS:
            raise refusal(clause, f"{req!r} is not one of {', '.join(sorted(REQUIREMENTS))}", KeyError)


__all__ = ["ASSIGNMENTS", "REQUIREMENTS", "require_known"]
