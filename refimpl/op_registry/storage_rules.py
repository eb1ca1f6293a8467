"""Which operators work on sparse storage, as a table that ``refimpl/ndarray/sparse/`` fills.

A :class:`Rule` is one line of storage inference: this operator on these storages gives that storage, under this
condition, by that function. What follows from a page is read there (``Op.keeps_zero``, ``Op.row_updates``); a rule
with a function of its own stands in ``sparse/rules_*.py``, since it works on sparse arrays, which pages do not know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Storages = tuple[str, ...]


def always(_p: Any, _arrays: Sequence[Any]) -> bool:
    """The condition of a rule without one."""
    return True


class Rule(NamedTuple):
    """``run(p, arrays) -> array`` of storage ``output``, for inputs of storages ``inputs`` where ``when`` holds.

    ``inputs`` that end with an ellipsis mean any number of arrays of the storage before it. ``condition`` says
    ``when`` in words. An operator that updates its first input has ``updates`` and a ``run(p, arrays, target)``.
    A rule that ``refuses`` raises in ``run``. One that is ``dense`` runs the operator itself, on dense copies.
    """

    operator: str
    inputs: tuple[Any, ...]
    output: str
    run: Callable[..., Any]
    when: Callable[[Any, Sequence[Any]], bool] = always
    condition: str = ""
    updates: bool = False
    refuses: bool = False
    dense: bool = False


RULES: dict[tuple[str, tuple[Any, ...]], list[Rule]] = {}
"""(operator, storages of its inputs) -> its rules, the first whose condition holds counts."""

FALLBACK_STORAGE: dict[str, Callable[[Any, Storages], str]] = {}
"""Operators whose result has a storage of its own even when it is computed on dense copies."""


def add_rule(rule: Rule) -> None:
    """Enter one line into the table."""
    RULES.setdefault((rule.operator, rule.inputs), []).append(rule)


def rules() -> list[Rule]:
    """Every line of the table, by operator."""
    every = (rule for lines in RULES.values() for rule in lines)
    return sorted(every, key=lambda rule: (rule.operator, rule.inputs[0]))
