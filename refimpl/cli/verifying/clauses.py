"""Which clause is behind a difference: the rule of the layer's operator that the reference breaks."""

from __future__ import annotations

from ...kernels.foundation import REGISTRY
from ...op_registry import facts


def clause_of(kind: str, operator: str) -> str | None:
    """The name of a clause, for ``refimpl rule``; None for an operator whose page has none."""
    op = REGISTRY.get(operator)
    if op is None:
        return None
    special = op.difference_clauses.get(kind) or op.difference_clauses.get("")
    if special is not None:
        return special
    names = [clause.name for clause in facts.clauses(op)]
    return names[0] if names else None


__all__ = ["clause_of"]
