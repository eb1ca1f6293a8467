"""The facts about an operator that a page states for other parts of the project: their types and checks.

A page's ``infer`` deduces shapes in every direction. MXNet's rules often read the shape of the data only, or deduce
nothing until it is completely known. Such a rule is ``Op.reports``: a function of the page's ``infer`` and of the
arguments of ``infer``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .refusal import decides, require
from .shapes import known

Infer = Callable[[Any, list, list], tuple[list, list]]


class Sources(NamedTuple):
    """The shapes that MXNet's rule for an operator reads; it infers nothing until their ranks are known."""

    inputs: int | None = None
    """How many of the first inputs are read; all of them where None."""
    whole: bool = False
    """Whether the rule infers nothing until every side of these inputs is known, too."""
    outputs: bool = False
    """Whether the known sides of the outputs are read."""

    @decides("infer/sources")
    def __call__(self, infer: Infer, p: Any, ins: list, outs: list) -> tuple[list, list]:
        """The shapes that can be inferred from the sources alone."""
        count = len(ins) if self.inputs is None else self.inputs
        if None in ins[:count] or (self.whole and not known(*ins[:count])):
            return ins, outs
        return read_first(infer, count, p, ins, outs if self.outputs else [None] * len(outs))


def read_first(infer: Infer, count: int, p: Any, ins: list, outs: list) -> tuple[list, list]:
    """A rule that reads only the first ``count`` inputs."""
    return infer(p, [*ins[:count], *[None] * len(ins[count:])], outs)


def outputs_only(infer: Infer, p: Any, ins: list, outs: list) -> tuple[list, list]:
    """A rule that infers no shape of an input."""
    return ins, infer(p, ins, outs)[1]


def inputs_only(infer: Infer, p: Any, ins: list, outs: list) -> tuple[list, list]:
    """A rule that does not read the shapes of outputs."""
    return infer(p, ins, [None] * len(outs))


class ZeroWhen(NamedTuple):
    """The parameters for which an operator maps zeros to zeros: in words, and as ``holds(p)``."""

    words: str
    holds: Callable[[Any], bool]


ALWAYS = ZeroWhen("", lambda p: True)
"""Whatever the parameters are."""

TIERS = frozenset((0, 1, 2, 3))
ROWS = ("", "head", "input", "none")
STORAGES = frozenset(("default", "row_sparse"))


def check(op: Any) -> None:
    """Refuse facts that cannot be true of an operator.

    Raises:
        MXNetError: one of its facts is none.
    """
    wrong = _wrong(op)
    require("contract/facts", not wrong, f"{op.name}: {wrong}")


def _wrong(op: Any) -> str:
    """The first fact of an operator that cannot be true, in words; empty where there is none."""
    if not TIERS.issuperset((op.tier, *op.alias_tiers.values())):
        return f"a tier is one of {sorted(TIERS)}, got {op.tier} and {op.alias_tiers}"
    if not op.alias_tiers.keys() <= set(op.aliases):
        return f"alias_tiers names aliases, got {op.alias_tiers}"
    if op.method not in ("", op.name, *op.aliases):
        return f"method is the name or an alias, got {op.method!r}"
    if op.numbered_input and (op.variadic or len(op.all_inputs) != 1):
        return "numbered_input is for operators of one input"
    if op.reports is not None and not callable(op.reports):
        return f"reports is Sources(...) or another function (infer, p, ins, outs), got {op.reports!r}"
    if op.keeps_zero is not None and not isinstance(op.keeps_zero, ZeroWhen):
        return f"keeps_zero is ALWAYS or ZeroWhen(...), got {op.keeps_zero!r}"
    if op.gradient_rows not in ROWS:
        return f"gradient_rows is one of {ROWS}, got {op.gradient_rows!r}"
    if not STORAGES.issuperset(op.row_updates):
        return f"row_updates names {sorted(STORAGES)}, got {op.row_updates}"
    for clause in op.difference_clauses.values():
        if op.doc and f"[{clause}]" not in op.doc:
            return f"difference_clauses names clauses of the page, got {clause}"
    return ""
