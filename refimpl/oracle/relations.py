"""What must hold between two runs of one implementation, whatever the right numbers are.

A relation takes a program, changes it so that the answer to the change is known, runs both and compares. No reference
is asked, so these also check the reference itself, and implementations whose numbers nobody can bound.

How far two results may differ is the clause oracle/relations of ``spec/oracle.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..base import decides
from ..kernels.foundation import get
from .backends import Backend
from .programs.program import pruned
from .programs.values import array_of
from .reference import Program, Trace

Relation = Callable[[Backend, Program], list[str]]
SLACK = 64
RELATIONS: dict[str, Relation] = {}
"""Name -> relation; each returns what differs, one line for each array."""


class Applied(NamedTuple):
    """A relation that a program breaks."""

    name: str
    program: Program
    differences: list[str]


def relation(name: str) -> Callable[[Relation], Relation]:
    """Register a relation under its name."""

    def register(function: Relation) -> Relation:
        RELATIONS[name] = function
        return function

    return register


def broken(backend: Backend, program: Program, names: list[str] | None = None) -> list[Applied]:
    """The relations that an implementation breaks on a program of level 2.

    Args:
        backend: the implementation.
        program: the program; its own requirements, heads and steps are what relations change.
        names: of relations; all by default.

    Raises:
        Unsupported, Refused, Crashed: as the implementation's ``run``.
    """
    found = []
    for name in names or RELATIONS:
        differences = RELATIONS[name](backend, program)
        if differences:
            found.append(Applied(name, program, differences))
    return found


# --- comparing ----------------------------------------------------------------------------------


def _gradients(trace: Trace) -> dict[str, np.ndarray]:
    """The gradients that the last backward pass left, by variable."""
    found: dict[str, np.ndarray] = {}
    for name, value in trace.items():
        what, _, variable = name.partition("/")[2].partition(":")
        if what == "gradient":
            found[variable] = value
    return found


@decides("oracle/relations")
def _differences(
    wanted: dict[str, np.ndarray], found: dict[str, np.ndarray], slack: dict[str, Any] | None = None
) -> list[str]:
    """Lines on arrays of equal names that differ by more than their slack, which is an array of magnitudes."""
    lines = []
    for name, value in wanted.items():
        other = found.get(name)
        if other is None or other.shape != value.shape:
            lines.append(f"{name} is {'missing' if other is None else list(other.shape)}")
            continue
        if value.dtype.kind != "f":
            same = value == other
        else:
            unit = np.finfo(value.dtype).eps / 2
            allowed = 0.0 if slack is None else SLACK * unit * slack[name]
            with np.errstate(all="ignore"):
                near = np.abs(value.astype(float) - other.astype(float)) <= allowed
                same = (value == other) | near | (np.isnan(value) & np.isnan(other))
        if not same.all():
            at = tuple(int(i) for i in np.argwhere(~np.asarray(same))[0])
            lines.append(f"{name}{list(at)}: {other[at]:.9g} instead of {value[at]:.9g}")
    return lines


# --- making other programs ----------------------------------------------------------------------


def _simple(program: Program) -> Program | None:
    """One bind, one forward and one backward pass of a program, every gradient written; None where it has none."""
    bind = next((step for step in program["steps"] if step["do"] == "bind"), None)
    backward = next((step for step in program["steps"] if step["do"] == "backward"), None)
    if program["level"] != 2 or bind is None or backward is None:
        return None
    asked = {name: "write" for name, wanted in bind.get("requirements", {}).items() if wanted != "null"}
    steps = [{"do": "bind", "requirements": asked}, {"do": "forward", "train": True}, backward]
    return {**program, "steps": steps}


def _asking(program: Program, requirements: dict[str, str], gradients: dict[str, Any] | None = None) -> Program:
    bind = {"do": "bind", "requirements": requirements, "gradients": gradients or {}}
    return {**program, "steps": [bind, *program["steps"][1:]]}


def _requirements(program: Program) -> dict[str, str]:
    return program["steps"][0]["requirements"]


# --- relations ----------------------------------------------------------------------------------


@relation("add")
def adds(backend: Backend, program: Program) -> list[str]:
    """With requirement add the gradient is what was there plus what write gives."""
    base = _simple(program)
    if base is None:
        return []
    written = _gradients(backend.run(base))
    initial = {
        name: {"shape": list(value.shape), "dtype": value.dtype.name, "style": "dyadic", "seed": 11}
        for name, value in written.items()
    }
    added = _gradients(backend.run(_asking(base, dict.fromkeys(written, "add"), initial)))
    start = {name: array_of(spec) for name, spec in initial.items()}
    wanted = {name: (start[name] + value).astype(value.dtype) for name, value in written.items()}
    return _differences(wanted, added, {n: np.abs(start[n]) + np.abs(v) for n, v in written.items()})


@relation("others' requirements")
def ignores_others(backend: Backend, program: Program) -> list[str]:
    """A gradient does not depend on which other gradients are asked for."""
    base = _simple(program)
    if base is None or len(_requirements(base)) < 2:
        return []
    together = _gradients(backend.run(base))
    lines = []
    for name in together:
        alone = _gradients(backend.run(_asking(base, {name: "write"})))
        lines += [f"alone: {line}" for line in _differences({name: together[name]}, alone)]
    return lines


@relation("heads")
def sums_heads(backend: Backend, program: Program) -> list[str]:
    """The gradient of several outputs is the sum of the gradients of each, where every gradient is a derivative."""
    base = _simple(program)
    heads = base and base["steps"][2].get("heads")
    if base is None or not heads or len(heads) < 2 or _has_own_gradient(base):
        return []
    together = _gradients(backend.run(base))
    total = {name: np.zeros(value.shape) for name, value in together.items()}
    mass = {name: np.zeros(value.shape) for name, value in together.items()}
    for position in range(len(heads)):
        zeros = [
            spec if i == position else {**spec, "style": "dyadic", "elements": [0.0] * int(np.prod(spec["shape"]))}
            for i, spec in enumerate(heads)
        ]
        changed = {**base, "steps": [*base["steps"][:2], {"do": "backward", "heads": zeros}]}
        for name, value in _gradients(backend.run(changed)).items():
            total[name] += value
            mass[name] += np.abs(value)
    for name, value in total.items():  # zero times infinity is no number: such elements say nothing
        value[~np.isfinite(mass[name])] = together[name][~np.isfinite(mass[name])]
    return _differences({n: v.astype(together[n].dtype) for n, v in total.items()}, together, mass)


def _has_own_gradient(program: Program) -> bool:
    """Whether some gradient is no derivative, so that it is not linear in the head gradients."""
    return any(n["op"] != "null" and not get(n["op"]).differentiable for n in program["nodes"])


@relation("eight readers")
def counts_readers(backend: Backend, program: Program) -> list[str]:
    """Eight outputs that are one result, each with one eighth of its head gradient, give the gradient of one."""
    base = _simple(program)
    heads = base and base["steps"][2].get("heads")
    if base is None or not heads:
        return []
    steps = [*base["steps"][:2], {"do": "backward", "heads": heads[:1]}]
    kept = pruned({**base, "heads": base["heads"][:1], "steps": steps})
    nodes = list(kept["nodes"])
    head = kept["heads"][0]
    for number in range(8):
        nodes.append({"op": "_copy", "name": f"reader{number}", "inputs": [head], "attrs": {}})
    eighth = (array_of(heads[0]) / 8).reshape(-1).tolist()
    spec = {"shape": heads[0]["shape"], "dtype": heads[0]["dtype"], "elements": [_word(e) for e in eighth]}
    many = {
        **kept, "nodes": nodes, "heads": [[len(kept["nodes"]) + i, 0] for i in range(8)],
        "steps": [*kept["steps"][:2], {"do": "backward", "heads": [spec] * 8}],
    }
    one = _gradients(backend.run(kept))
    return _differences(one, _gradients(backend.run(many)), {name: np.abs(value) for name, value in one.items()})


def _word(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)


@relation("everything is written")
def writes_all(backend: Backend, program: Program) -> list[str]:
    """What was in a gradient's memory before does not matter when it is written."""
    base = _simple(program)
    if base is None:
        return []
    first = _gradients(backend.run(base))
    other = {
        name: {"shape": list(value.shape), "dtype": value.dtype.name, "elements": [77.0] * value.size}
        for name, value in first.items()
    }
    return _differences(first, _gradients(backend.run(_asking(base, _requirements(base), other))))


@relation("again")
def repeats(backend: Backend, program: Program) -> list[str]:
    """The same program gives the same bits."""
    return _differences(backend.run(program), backend.run(program))


@relation("names")
def ignores_names(backend: Backend, program: Program) -> list[str]:
    """The names of variables do not matter."""
    base = _simple(program)
    if base is None:
        return []
    renamed = {name: f"z{99 - i:02d}_{name}" for i, name in enumerate(base["arrays"])}

    def other(part: dict[str, Any]) -> dict[str, Any]:
        return {renamed[name]: value for name, value in part.items()}

    nodes = [{**n, "name": renamed.get(n["name"], n["name"])} for n in base["nodes"]]
    changed = {**base, "nodes": nodes, "arrays": other(base["arrays"])}
    found = _gradients(backend.run(_asking(changed, other(_requirements(base)))))
    return _differences({renamed[name]: v for name, v in _gradients(backend.run(base)).items()}, found)
