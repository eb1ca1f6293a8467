"""What a symbol file of an older MXNet needs before it means today what it meant then.

Each upgrade is a function over the rows of the file; UPGRADES lists them with the first version that needs
them no more. They run in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..base import refusal
from ..kernels.foundation import Op
from .ir import Entry, Node

CURRENT = 10901
"""major * 10000 + minor * 100 + patch of the MXNet whose format this is."""
BEFORE_VERSIONS = 800
"""A file without a version was written by MXNet 0.8 or older."""

# Attributes that are the graph's; until 0.9 files held them without underscores.
_HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


@dataclass(eq=False)
class Row:
    """One node of a file: its fields, checked, before a graph is made of them."""

    number: int
    op: Op | None
    name: str
    attrs: dict[str, str]
    inputs: list[tuple[int, int]] = field(default_factory=list)
    """(number of a row, output)"""
    completed: bool = False
    """Whether inputs that are missing are to be made."""
    hinted: bool = False
    """Whether variables without an initializer get the one that this operator wants."""

    def __str__(self) -> str:
        return f"node {self.number} ({self.name})"


def hide_keys(rows: Sequence[Row]) -> int:
    """``lr_mult`` becomes ``__lr_mult__``; an operator's ``weight_lr_mult`` moves to the variable at weight."""
    changed = 0
    for row in rows:
        moving = {}
        for key in list(row.attrs):
            hidden = next((h for h in _HIDDEN if key == h or key.endswith(f"_{h}")), None)
            if hidden == key:
                row.attrs[f"__{key}__"] = row.attrs.pop(key)
                changed += 1
            elif hidden is not None and row.op is not None:
                moving[key] = key[: -len(hidden) - 1], f"__{hidden}__"
        if not moving or row.op is None:
            continue
        rest = {k: v for k, v in row.attrs.items() if k not in moving and not k.startswith("__")}
        if row.op.variadic:
            rest[row.op.variadic] = str(len(row.inputs))
        names = row.op.input_names(row.op.parse(rest))
        for key, (input_name, hidden) in moving.items():
            place = names.index(input_name) if input_name in names else len(names)
            if place < len(row.inputs) and rows[row.inputs[place][0]].op is None:
                rows[row.inputs[place][0]].attrs[hidden] = row.attrs.pop(key)
                changed += 1
    return changed


def complete_inputs(rows: Sequence[Row]) -> int:
    """Inputs that 0.8 left out of the file (auxiliary states) are made, with the operator's attributes."""
    return _mark(rows, "completed")


def hint_initializers(rows: Sequence[Row]) -> int:
    """Variables carry the initializer that their operator wants, such as ones for BatchNorm's moving_var."""
    return _mark(rows, "hinted")


def _mark(rows: Sequence[Row], wish: str) -> int:
    operators = [row for row in rows if row.op is not None]
    for row in operators:
        setattr(row, wish, True)
    return len(operators)


def drop_last_axis(rows: Sequence[Row]) -> int:
    """``axis="-1"`` of argmax and argmin once meant "over all elements": it is left out."""
    found = [r for r in rows if r.op and r.op.name in ("argmax", "argmin") and r.attrs.get("axis") == "-1"]
    for row in found:
        del row.attrs["axis"]
    return len(found)


UPGRADES: tuple[tuple[int, Callable[[Sequence[Row]], int]], ...] = (
    (CURRENT, hide_keys),
    (900, complete_inputs),
    (904, hint_initializers),
    (905, drop_last_axis),
)


def upgrade(rows: Sequence[Row], version: int) -> list[str]:
    """Bring the rows of a file of ``version`` up to date; returns the names of the upgrades it needed."""
    wanted = [function for before, function in UPGRADES if version < before]
    return [function.__name__ for function in wanted if function(rows)]


def finish_inputs(node: Node, row: Row) -> None:
    """Make the inputs that a node lacks, where its file is old enough, and give hints to its variables."""
    assert node.op is not None
    names = node.op.input_names(node.params)
    if row.completed:
        for name in names[len(node.inputs) :]:
            node.inputs.append(Entry(Node(None, f"{node.name}_{name}", dict(node.attrs)), 0))
    if len(node.inputs) != len(names):
        raise refusal(
            "symbol-file/valid",
            f"{node.op.name} takes {len(names)} inputs ({', '.join(names)}), the file gives {len(node.inputs)}",
        )
    if row.hinted:
        for name, entry in zip(names, node.inputs, strict=True):
            if entry.node.is_variable and name in node.op.initial_attrs:
                entry.node.attrs.setdefault("__init__", node.op.initial_attrs[name])


def spelled(version: int) -> str:
    """10901 as "1.9.1"."""
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


__all__ = ["BEFORE_VERSIONS", "CURRENT", "UPGRADES", "Row", "finish_inputs", "spelled", "upgrade"]
