"""Changes to a symbol file of an older MXNet, so that it means today what it meant then.

UPGRADES lists what is done to the rows of a file, before a graph is made of them, with the first version that
needs it no more. Two upgrades happen while nodes are made (`finish_inputs`), since only a node knows its inputs.
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
"""major * 10000 + minor * 100 + patch of the MXNet whose format this is."""
BEFORE_VERSIONS = 800
"""A file without a version was written by MXNet 0.8 or older."""
INPUTS_WRITTEN = 900
"""From here on a file has all inputs; 0.8 left auxiliary states out."""
INITIALIZERS_WRITTEN = 904
"""From here on variables carry the initializer that their operator wants (BatchNorm: ones for moving_var)."""
MOST_NAMES = 100_000
"""No operator of a file has more inputs or outputs."""

# Attributes that are the graph's; until 0.9 files held them without underscores.
_HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


@dataclass(eq=False, slots=True)
class Row:
    """One node of a file: its fields, checked, before a graph is made of them."""

    number: int
    op: Op | None
    name: str
    attrs: dict[str, str] = field(default_factory=dict)
    inputs: list[tuple[int, int]] = field(default_factory=list)
    """(number of a row, output)"""
    subgraphs: list[list[Entry]] = field(default_factory=list)
    """The graphs that a loop or a branch holds, as the outputs of each."""

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
    """Give attributes of an operator to the variables at its inputs; whether there was one to give."""
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
    """``axis="-1"`` of argmax and argmin once meant "over all elements": it is left out."""
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
    """Bring the rows of a file of ``version`` up to date; returns the names of the upgrades it needed.

    ``at_node(row, function, *arguments)`` calls the function and adds the node to what it refuses.
    """
    needed = []
    for before, function in UPGRADES:
        if version < before and sum(at_node(row, function, row, rows) for row in rows):
            needed.append(function.__name__)
    return needed


@decides("symbol-file/np-shape")
def mark_unknown_sides(attrs: dict[str, str]) -> None:
    """Mark what is unknown in the shape of a variable as ``np_shape`` writes it: -1, or no shape at all."""
    stated = attrs.get("__shape__")
    if stated:
        attrs["__shape__"] = re.sub(r"\b0+[lL]?\b", "-1", stated)
        if not re.search(r"\d", stated):  # an unknown shape, which says nothing
            del attrs["__shape__"]


def input_names(op: Op, params: Any) -> tuple[str, ...]:
    """Names of an operator's inputs, unless a damaged parameter asks for a list of them without end."""
    if op.variadic or callable(op.inputs) or callable(op.outputs):
        for name, value in zip(params._fields, params, strict=True):
            if isinstance(value, int) and value > MOST_NAMES:
                raise refusal("symbol-file/valid", f"{name} is {value}, more than {MOST_NAMES}")
    return op.input_names(params)


@decides("symbol-file/missing-inputs", "symbol-file/initializers")
def finish_inputs(node: Node, version: int) -> None:
    """Make inputs that an old file leaves out, and tell variables how their operator wants them to begin."""
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
