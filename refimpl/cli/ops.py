"""``refimpl ops``: the operators, or the page of one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import refuse

if TYPE_CHECKING:
    from ..kernels.foundation import Op


def ops(
    name: Annotated[str | None, typer.Argument(help="An operator; without it, list them all.")] = None,
) -> None:
    """List the operators, or print one operator's page: text, clauses, parameters, examples."""
    from ..kernels.foundation import REGISTRY

    if name is None:
        _list()
        return
    if name not in REGISTRY:
        near = difflib.get_close_matches(name, REGISTRY, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`refimpl ops` lists them"
        raise refuse("Cli/known-operator", f"there is no operator {name} here; {hint}")
    _page(REGISTRY[name])


def _list() -> None:
    from rich.console import Console
    from rich.table import Table

    from ..kernels import distinct

    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # nothing may be cut: people search this text
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
    console.print(f"{len(shown)} operators; `refimpl ops NAME` prints the page of one")


def _first_line(op: Op) -> str:
    return op.doc.strip().splitlines()[0].partition(": ")[2] or op.doc.strip().splitlines()[0]


def _inputs(op: Op) -> str:
    if op.variadic:
        return f"any number ({op.variadic})"
    return ", ".join(op.all_inputs or (op.inputs if not callable(op.inputs) else ()))


def _default(params: Any, field: str) -> str:
    defaults = params._field_defaults
    return repr(defaults[field]) if field in defaults else "required"


def _page(op: Op) -> None:
    from rich.console import Console
    from rich.table import Table

    from ..kernels.foundation.params import describe, field_types

    console = Console(highlight=False)

    def out(text: str = "") -> None:
        console.print(text, markup=False, soft_wrap=True)

    out(op.name + (f"  (also {', '.join(op.aliases)})" if op.aliases else ""))
    out()
    out(op.doc.strip())
    out()
    out(f"inputs: {_inputs(op) or 'none'}")
    if op.aux:
        out(f"auxiliary states: {', '.join(op.aux)}")
    if not callable(op.outputs):
        out(f"outputs: {', '.join(op.outputs)}")
    out(f"gradient: {'yes' if op.has_gradient else 'none'}")
    if not op.params._fields:
        out("parameters: none")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("parameter", "type", "default"):
        table.add_column(heading)
    for field, annotation in field_types(op.params).items():
        table.add_row(field, describe(annotation), _default(op.params, field))
    console.print(table)
