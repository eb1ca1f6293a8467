"""Relations of executors, level 2: requirements, heads, readers, memory and names."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..backends import Backend, declared_of
from ..judging.reference import Expected, Program, expected_of
from ..programs.program import pruned
from ..programs.values import array_of
from .comparing import differences, differences_beyond
from .registry import changed, relation

T = TypeVar("T")


def gradients_of(trace: dict[str, T]) -> dict[str, T]:
    """The gradients that the last backward pass left, by variable."""
    found: dict[str, T] = {}
    for name, value in trace.items():
        what, _, variable = name.partition("/")[2].partition(":")
        if what == "gradient":
            found[variable] = value
    return found


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


@relation("add", 2)
def adds(backend: Backend, program: Program) -> list[str]:
    """With requirement add the gradient is the old content plus the result of write."""
    base = _simple(program)
    if base is None:
        return []
    written = gradients_of(backend.run(base))
    initial = {
        name: {"shape": list(value.shape), "dtype": value.dtype.name, "style": "dyadic", "seed": 11}
        for name, value in written.items()
    }
    adding = _asking(base, dict.fromkeys(written, "add"), initial)
    added = gradients_of(changed(backend, adding))
    start = {name: array_of(spec) for name, spec in initial.items()}
    wanted = {name: (start[name] + value).astype(value.dtype) for name, value in written.items()}

    def bounds() -> list[dict[str, Expected]]:
        alone = gradients_of(expected_of(base, declared_of(backend)))
        return [
            {name: Expected(start[name] + each.values, each.bounds) for name, each in alone.items()},
            gradients_of(expected_of(adding, declared_of(backend))),
        ]

    return differences_beyond(wanted, added, bounds)


@relation("others' requirements", 2)
def ignores_others(backend: Backend, program: Program) -> list[str]:
    """A gradient does not depend on which other gradients are asked for."""
    base = _simple(program)
    if base is None or len(_requirements(base)) < 2:
        return []
    together = gradients_of(backend.run(base))
    lines = []
    for name in together:
        alone = gradients_of(changed(backend, _asking(base, {name: "write"})))
        lines += [f"alone: {line}" for line in differences({name: together[name]}, alone)]
    return lines


@relation("heads", 2)
def sums_heads(backend: Backend, program: Program) -> list[str]:
    """The gradient of several outputs is the sum of the gradients of each, where every gradient is a derivative."""
    base = _simple(program)
    heads = base and base["steps"][2].get("heads")
    if base is None or not heads or len(heads) < 2:
        return []
    together = gradients_of(backend.run(base))
    single = []
    for position in range(len(heads)):
        zeros = [
            spec if i == position else {**spec, "style": "dyadic", "elements": [0.0] * int(np.prod(spec["shape"]))}
            for i, spec in enumerate(heads)
        ]
        single.append({**base, "steps": [*base["steps"][:2], {"do": "backward", "heads": zeros}]})
    each = [gradients_of(changed(backend, one)) for one in single]
    total = {name: np.sum([found[name].astype(float) for found in each], axis=0) for name in together}
    for name, value in total.items():  # zero times infinity is no number: such elements say nothing
        value[~np.isfinite(value)] = together[name][~np.isfinite(value)]

    def bounds() -> list[dict[str, Expected]]:
        parts = [gradients_of(expected_of(one, declared_of(backend))) for one in single]
        return [gradients_of(expected_of(base, declared_of(backend))), {
            name: Expected(*(np.sum(pair, axis=0) for pair in zip(*[part[name] for part in parts], strict=True)))
            for name in together
        }]

    return differences_beyond({n: v.astype(together[n].dtype) for n, v in total.items()}, together, bounds)


@relation("eight readers", 2)
def counts_readers(backend: Backend, program: Program) -> list[str]:
    """Eight outputs that are one result, each with one eighth of its head gradient, give the gradient of one."""
    base = _simple(program)
    heads = base and base["steps"][2].get("heads")
    if base is None or not heads:
        return []
    rounded = np.round(np.nan_to_num(array_of(heads[0]).astype(float)) * 4)
    quarters = np.clip(rounded, -64, 64) / 4  # no sum of eighths of these rounds
    given = {"shape": heads[0]["shape"], "dtype": heads[0]["dtype"]}
    whole = {**given, "elements": quarters.reshape(-1).tolist()}
    steps = [*base["steps"][:2], {"do": "backward", "heads": [whole]}]
    kept = pruned({**base, "heads": base["heads"][:1], "steps": steps})
    nodes = list(kept["nodes"])
    head = kept["heads"][0]
    for number in range(8):
        nodes.append({"op": "_copy", "name": f"reader{number}", "inputs": [head], "attrs": {}})
    eighth = {**given, "elements": (quarters / 8).reshape(-1).tolist()}
    many = {
        **kept, "nodes": nodes, "heads": [[len(kept["nodes"]) + i, 0] for i in range(8)],
        "steps": [*kept["steps"][:2], {"do": "backward", "heads": [eighth] * 8}],
    }
    return differences(gradients_of(backend.run(kept)), gradients_of(changed(backend, many)))


@relation("everything is written", 2)
def writes_all(backend: Backend, program: Program) -> list[str]:
    """A gradient with requirement write does not depend on the old content of its memory."""
    base = _simple(program)
    if base is None:
        return []
    first = gradients_of(backend.run(base))
    other = {
        name: {"shape": list(value.shape), "dtype": value.dtype.name, "elements": [77.0] * value.size}
        for name, value in first.items()
    }
    return differences(first, gradients_of(changed(backend, _asking(base, _requirements(base), other))))


@relation("again", 1, 2, 3, 4, 5)
def repeats(backend: Backend, program: Program) -> list[str]:
    """The same program gives the same bits."""
    return differences(backend.run(program), changed(backend, program))


@relation("names", 2)
def ignores_names(backend: Backend, program: Program) -> list[str]:
    """The names of variables do not matter."""
    base = _simple(program)
    if base is None:
        return []
    renamed = {name: f"z{99 - i:02d}_{name}" for i, name in enumerate(base["arrays"])}

    def other(part: dict[str, Any]) -> dict[str, Any]:
        return {renamed[name]: value for name, value in part.items()}

    nodes = [{**n, "name": renamed.get(n["name"], n["name"])} for n in base["nodes"]]
    named = {**base, "nodes": nodes, "arrays": other(base["arrays"])}
    found = gradients_of(changed(backend, _asking(named, other(_requirements(base)))))
    return differences({renamed[name]: v for name, v in gradients_of(backend.run(base)).items()}, found)
