"""``refimpl ops``: the operators, or the page of one."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..kernels import distinct
from ..kernels.foundation import REGISTRY, Op
from ..op_registry import docs as operator_docs
from ..op_registry import facts
from ..op_registry import known as known_operators
from .errors import refuse


def ops(
    name: Annotated[str | None, typer.Argument(help="An operator; without it, list them all.")] = None,
) -> None:
    """List the operators, or print one operator's page: parameters, clauses, examples, loops, storages."""
    if name is None:
        _list()
        return
    if name not in REGISTRY:
        raise refuse("Cli/known-operator", known_operators.explanation(name))
    _page(REGISTRY[name], name)


def _list() -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=400)  # nothing may be cut: people search this text
    table = Table(box=None, pad_edge=False)
    for heading in ("operator", "inputs", "parameters", "gradient", "what its page computes"):
        table.add_column(heading, no_wrap=True)
    shown = distinct()
    for op in shown:
        table.add_row(
            op.name, _inputs(op), str(len(op.params._fields)), "yes" if op.has_gradient else "",
            _first_line(op),
        )
    console.print(table)
    absent = [own for own in known_operators.tiers() if own not in REGISTRY]
    console.print(f"{len(shown)} operators; `refimpl ops NAME` prints the page of one")
    if absent:
        console.print(f"not here: {len(absent)} operators of MXNet 1.9.1: {', '.join(absent)}", soft_wrap=True)


def _first_line(op: Op) -> str:
    return op.doc.strip().splitlines()[0].partition(": ")[2] or op.doc.strip().splitlines()[0]


def _inputs(op: Op) -> str:
    if op.variadic:
        return f"any number ({op.variadic})"
    return ", ".join(op.all_inputs or (op.inputs if not callable(op.inputs) else ()))


def _page(op: Op, name: str) -> None:
    console = Console(highlight=False)
    console.print(operator_docs.document(op, name, "NDArray"), markup=False, soft_wrap=True)
    for fact, found in _facts(op):
        console.print(f"{fact}: {found}", markup=False, soft_wrap=True)


def _facts(op: Op) -> list[tuple[str, str]]:
    """What the page says without words, as (what, in one line)."""
    own, whole = facts.examples(op), facts.page_examples(op)
    forward, backward = ([loop.name for loop in found(op)] for found in (facts.forward_loops, facts.backward_loops))
    kind = facts.gradient_kind(op)
    return [
        ("page", facts.file_of(op)),
        ("names", ", ".join(facts.own_names(op))),
        ("devices", facts.devices(op)),
        ("forward loops", ", ".join(forward) or "none"),
        ("backward loops", ", ".join(backward) or "none"),
        ("gradient", kind if op.has_gradient else f"none ({facts.denial(op)})"),
        ("types", ", ".join(facts.dtypes(op))),
        ("sparse storage", "; ".join(facts.storages(op)) or "through dense copies"),
        ("clauses", ", ".join(clause.name for clause in facts.clauses(op)) or "none"),
        ("worked examples", f"{own} of this operator, {whole} on its page"),
    ]
