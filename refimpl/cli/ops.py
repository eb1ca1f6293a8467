"""``refimpl ops``: the operators, or the page of one."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Annotated, NamedTuple

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
        console = Console(width=WHOLE)  # nothing may be cut: people search this text
    shown = distinct()
    if console.width < COLUMNS[-1].least:
        console.print(textwrap.fill(", ".join(op.name for op in shown), console.width, break_on_hyphens=False))
    else:
        console.print(_table(shown, console.width))
    absent = [own for own in known_operators.tiers() if own not in REGISTRY]
    console.print(f"{len(shown)} operators; `refimpl ops NAME` prints the page of one")
    if absent:
        console.print(f"not here: {len(absent)} operators of MXNet 1.9.1: {', '.join(absent)}", soft_wrap=True)


def _table(shown: list[Op], width: int) -> Table:
    """A row for each operator, with the columns for which a terminal is wide enough; the last is cut at its edge."""
    table, chosen = Table(box=None, pad_edge=False), [column for column in COLUMNS if width >= column.least]
    left = width
    for column in chosen[:-1]:
        wide = min(max(len(column.heading), *(len(column.cell(op)) for op in shown)), MOST if width < WHOLE else width)
        table.add_column(column.heading, no_wrap=True, min_width=wide, max_width=wide)
        left -= wide + 2
    table.add_column(chosen[-1].heading, no_wrap=True, max_width=max(left, 1))
    for op in shown:
        table.add_row(*(column.cell(op) for column in chosen))
    return table


def _first_line(op: Op) -> str:
    return op.doc.strip().splitlines()[0].partition(": ")[2] or op.doc.strip().splitlines()[0]


def _inputs(op: Op) -> str:
    if op.variadic:
        return f"any number ({op.variadic})"
    return ", ".join(op.all_inputs or (op.inputs if not callable(op.inputs) else ()))


class Column(NamedTuple):
    """A column of the list: its heading, its text for an operator, and the width of terminal from which it is shown."""

    heading: str
    cell: Callable[[Op], str]
    least: int


WHOLE = 400
"""Columns of a text that nobody looks at in a terminal."""

MOST = 60
"""No column but the last is wider."""

# decides: Cli/ops-fits
COLUMNS = (
    Column("operator", lambda op: op.name, 0),
    Column("inputs", _inputs, 160),
    Column("parameters", lambda op: str(len(op.params._fields)), 160),
    Column("gradient", lambda op: "yes" if op.has_gradient else "", 100),
    Column("what its page computes", _first_line, 80),
)


def _page(op: Op, name: str) -> None:
    console = Console(highlight=False)
    console.print(operator_docs.document(op, name, "NDArray"), markup=False, soft_wrap=True)
    for fact, found in _facts(op):
        console.print(f"{fact}: {found}", markup=False, soft_wrap=True)


def _facts(op: Op) -> list[tuple[str, str]]:
    """Facts of the page that are no prose, as (name, line)."""
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
