"""The coverage of a search: the requirements, fan-outs, dtypes and modes with which each operator ran.

Programs of levels 5 and 6 have no graph: optimizers and the steps of stores take the place of operators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .drawing.choices import Capabilities
from .drawing.drawn_graphs import drawable
from .judging.reference import Program


class Cell(NamedTuple):
    """One combination of the five axes."""

    operator: str
    requirement: str
    """Of a gradient that goes back through the operator: write or add; none where none is wanted."""
    fan_out: str
    """How many operators and heads read its results: 0, 1, 2, 3-6 or 7+."""
    dtype: str
    """Of its first input."""
    mode: str
    """train or predict."""


def cells_of(program: Program) -> set[Cell]:
    """The combinations that a program has.

    Args:
        program: a checked program.
    """
    modes = _modes(program)
    nodes = program.get("nodes", [])
    if not nodes:
        return {Cell(name, "none", "0", "", mode) for name in _named_steps(program) for mode in modes}
    asked: dict[str, set[str]] = {}
    for step in program["steps"]:
        for name, requirement in (step.get("requirements") or {}).items():
            if requirement != "null":
                asked.setdefault(name, set()).add(requirement)
    everywhere = _module_requirements(program)
    read = Counter(entry[0] for node in nodes for entry in node.get("inputs", ()))
    read.update(head[0] for head in program["heads"])
    wanted: list[set[str]] = []
    dtypes: list[str] = []
    found: set[Cell] = set()
    for number, node in enumerate(nodes):
        sources = [entry[0] for entry in node.get("inputs", ())]
        if node["op"] == "null":
            wanted.append(asked.get(node["name"], everywhere))
            dtypes.append(program["arrays"].get(node["name"], {}).get("dtype", "float32"))
            continue
        wanted.append(set().union(*(wanted[source] for source in sources)))
        dtypes.append(dtypes[sources[0]] if sources else "")
        for requirement in wanted[number] or ("none",):
            for mode in modes:
                found.add(Cell(node["op"], requirement, _fan_out(read[number]), dtypes[number], mode))
    return found


def _modes(program: Program) -> set[str]:
    default = program["level"] > 2  # modules train unless told otherwise
    flags = [step.get("train", default) for step in program["steps"] if step["do"] in ("bind", "forward")]
    if not default:
        flags = [step.get("train", False) for step in program["steps"] if step["do"] == "forward"]
    return {"train" if flag or (flag is None and default) else "predict" for flag in flags} or {"train"}


def _module_requirements(program: Program) -> set[str]:
    """Requirements of modules: one for all, or one by name."""
    found: set[str] = set()
    for step in program["steps"]:
        if program["level"] > 2 and step["do"] == "bind" and step.get("train", True):
            given = step.get("requirement", "write")
            found |= {given} if isinstance(given, str) else set(given.values())
    return found - {"null"}


def _named_steps(program: Program) -> set[str]:
    found = {f"step {step['do']}" for step in program["steps"]}
    return found | {f"optimizer {step['optimizer']}" for step in program["steps"] if step.get("optimizer")}


def _fan_out(readers: int) -> str:
    return str(readers) if readers < 3 else "3-6" if readers < 7 else "7+"


def axes(covered: Iterable[tuple[str, ...]]) -> dict[str, Counter[str]]:
    """The number of combinations with each value of each axis.

    Args:
        covered: combinations, see :class:`Cell`.
    """
    found: dict[str, Counter[str]] = {name: Counter() for name in Cell._fields}
    for cell in covered:
        for name, value in zip(Cell._fields, cell, strict=True):
            found[name][value] += 1
    return found


def short(covered: Mapping[Any, int], capabilities: Capabilities | None = None) -> str:
    """The coverage in a few words: operators, and combinations of the five axes.

    Args:
        covered: combinations and the number of programs with each.
        capabilities: limits of drawing, for the number of all operators.
    """
    names = {cell[0] for cell in covered}
    of = ""
    if capabilities is not None and capabilities.level <= 4:
        of = f" of {sum(map(capabilities.has, drawable()))}"
    return f"{len(names)}{of} operators, {len(covered)} combinations"


def table(covered: Iterable[tuple[str, ...]]) -> list[str]:
    """The coverage axis by axis, one line each; operators are counted and not listed.

    Args:
        covered: combinations, see :class:`Cell`.
    """
    cells = set(covered)
    operators: dict[tuple[str, str], set[str]] = {}
    for cell in cells:
        for axis, value in list(zip(Cell._fields, cell, strict=True))[1:]:
            operators.setdefault((axis, value), set()).add(cell[0])
    count = len({cell[0] for cell in cells})
    lines = [f"{count} operators in {len(cells)} combinations of operator, requirement, fan-out, dtype and mode"]
    for axis in Cell._fields[1:]:
        values = sorted((value, len(names)) for (a, value), names in operators.items() if a == axis)
        told = ", ".join(f"{value or '-'}: {count}" for value, count in values)
        lines.append(f"operators by {axis.replace('_', '-')}: {told}")
    return lines
