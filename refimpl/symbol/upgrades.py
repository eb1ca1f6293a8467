"""Upgrades of symbol files of older MXNet releases to the present format.

UPGRADES lists functions on the rows of a file, which run before a graph is made of the rows, each with the first
version that does not need it. Two upgrades run when nodes are made (`finish_inputs`): only a node knows its inputs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base import decides, refusal
from ..kernels.foundation import Op
from .ir import Entry, Node

CURRENT = 10901
"""The version of MXNet with the present format: major * 10000 + minor * 100 + patch."""
BEFORE_VERSIONS = 800
"""A file without a version was written by MXNet 0.8 or older."""
INPUTS_WRITTEN = 900
"""The first version whose files have all inputs; 0.8 left auxiliary states out."""
INITIALIZERS_WRITTEN = 904
"""The first version in which variables have the initializer of their operator (BatchNorm: ones for moving_var)."""
MOST_NAMES = 100_000
"""The most inputs or outputs of an operator of a file."""

# Attributes for the graph, not the operator; until 0.9 files had them without underscores.
_HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


@dataclass(eq=False, slots=True)
class Row:
    """One node of a file: its checked fields, before a graph is made of the rows."""

    number: int
    op: Op | None
    name: str
    attrs: dict[str, str] = field(default_factory=dict)
    inputs: list[tuple[int, int]] = field(default_factory=list)
    """(number of a row, index of its output) of each input."""
    subgraphs: list[list[Entry]] = field(default_factory=list)
    """The outputs of each graph inside a loop or a branch."""

    def __str__(self) -> str:
        return f"node {self.number} ({self.name[:80]})"


@decides("symbol-file/hidden-keys")
def hide_keys(row: Row, rows: Sequence[Row]) -> bool:
    """``lr_mult`` becomes ``__lr_mult__``; an operator's ``weight_lr_mult`` moves to the variable at weight."""
    moving = {}
    changed = False
    for key in list(row.attrs):
        hidden = next((h for h in _HIDDEN if key == h or key.endswith(f"_{h}")), None)
        if hidden == key:
            row.attrs[f"__{key}__"] = row.attrs.pop(key)
            changed = True
        elif hidden is not None and row.op is not None:
            moving[key] = key[: -len(hidden) - 1], f"__{hidden}__"
    if moving:
        changed |= _move_to_variables(row, rows, moving)
    return changed


@decides("symbol-file/hidden-keys")
def _move_to_variables(row: Row, rows: Sequence[Row], moving: Mapping[str, tuple[str, str]]) -> bool:
    """Move attributes of an operator to the variables at its inputs; returns whether one was moved."""
    assert row.op is not None
    changed = False
    rest = {k: v for k, v in row.attrs.items() if k not in moving and not k.startswith("__")}
    if row.op.variadic:
        rest[row.op.variadic] = str(len(row.inputs))
    names = input_names(row.op, row.op.parse(rest))
    for key, (input_name, hidden) in moving.items():
        place = names.index(input_name) if input_name in names else len(names)
        if place < len(row.inputs) and rows[row.inputs[place][0]].op is None:
            rows[row.inputs[place][0]].attrs[hidden] = row.attrs.pop(key)
            changed = True
    return changed


@decides("symbol-file/argmax")
def drop_last_axis(row: Row, rows: Sequence[Row]) -> bool:
    """Remove ``axis="-1"`` of argmax and argmin, which in older files means "over all elements"."""
    del rows
    if row.op is None or row.op.name not in ("argmax", "argmin") or row.attrs.get("axis") != "-1":
        return False
    del row.attrs["axis"]
    return True


UPGRADES: tuple[tuple[int, Callable[[Row, Sequence[Row]], bool]], ...] = (
    (CURRENT, hide_keys),
    (905, drop_last_axis),
)


@decides("symbol-file/other-version")
def upgrade(rows: Sequence[Row], version: int, at_node: Callable[..., Any]) -> list[str]:
    """Upgrade the rows of a file of ``version``; returns the names of the upgrades that changed a row.

    ``at_node(row, function, *arguments)`` calls the function and adds the node to its error message.
    """
    needed = []
    for before, function in UPGRADES:
        if version < before and sum(at_node(row, function, row, rows) for row in rows):
            needed.append(function.__name__)
    return needed


@decides("symbol-file/np-shape")
def mark_unknown_sides(attrs: dict[str, str]) -> None:
    """Write unknown dimensions in the shape of a variable as under ``np_shape``: -1, or no shape at all."""
    stated = attrs.get("__shape__")
    if stated:
        attrs["__shape__"] = re.sub(r"\b0+[lL]?\b", "-1", stated)
        if not re.search(r"\d", stated):  # the whole shape is unknown
            del attrs["__shape__"]


def input_names(op: Op, params: Any) -> tuple[str, ...]:
    """Names of an operator's inputs; refuse a damaged parameter that asks for an endless list of them."""
    if op.variadic or callable(op.inputs) or callable(op.outputs):
        for name, value in zip(params._fields, params, strict=True):
            if isinstance(value, int) and value > MOST_NAMES:
                raise refusal("symbol-file/valid", f"{name} is {value}, more than {MOST_NAMES}")
    return op.input_names(params)


@decides("symbol-file/missing-inputs", "symbol-file/initializers")
def finish_inputs(node: Node, version: int) -> None:
    """Add inputs that an old file leaves out, and give variables the initializers of their operator."""
    assert node.op is not None
    names = input_names(node.op, node.params)
    if version < INPUTS_WRITTEN and node.inputs:
        for name in names[len(node.inputs) :]:
            node.inputs.append(Entry(Node(None, f"{node.name}_{name}", dict(node.attrs)), 0))
    if len(node.inputs) != len(names):
        raise refusal(
            "symbol-file/valid",
            f"{node.op.name} takes {len(names)} inputs ({', '.join(names)}), the file gives {len(node.inputs)}",
        )
    if version < INITIALIZERS_WRITTEN:
        for name, entry in zip(names, node.inputs, strict=True):
            if entry.node.is_variable and name in node.op.initial_attrs:
                entry.node.attrs.setdefault("__init__", node.op.initial_attrs[name])


def spelled(version: int) -> str:
    """10901 as "1.9.1"."""
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


__all__ = ["BEFORE_VERSIONS", "CURRENT", "UPGRADES", "Row", "finish_inputs", "input_names", "spelled", "upgrade"]
