"""Make a failing program small, while it keeps failing.

The program is cut as data: steps, heads, nodes and requirements are removed, a node is replaced by a variable with its
result or by one of its own inputs, values are simplified. Each cut is kept if the program still fails in the same way.
For a program that was drawn from a list of choices, Hypothesis first makes the choices small (see ``drawing``), shapes
above all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

import refimpl

from ...kernels.foundation import get
from ..judging.reference import Program
from ..programs.program import BY_VARIABLE, operators, pruned, symbol_json, variables
from .shrinking_clusters import cluster_cuts

StillFails = Callable[[Program], bool]
SECONDS = 5.0
"""When shrinking ends at the latest, unless attempts alone limit it."""
ATTEMPTS = 2000
"""Programs that shrinking runs at most."""


def shrink(
    program: Program, still_fails: StillFails, seconds: float | None = SECONDS, attempts: int = ATTEMPTS,
    ahead: int = 1, prepare: Callable[[list[Program]], None] = lambda _: None,
) -> Program:
    """The smallest program that cutting finds.

    Args:
        program: a failing program.
        still_fails: whether another program fails in the same way.
        seconds: the time limit; None where the result must not depend on the machine's speed.
        attempts: the largest number of programs to try.
        ahead: how many programs ``prepare`` is given at once.
        prepare: is called with the next programs, for an implementation that runs many faster than one by one.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    inference = not is_sensible(program) and is_sensible(program, inference=True)
    improved = True
    while improved and attempts > 0:
        improved = False
        sensible = (smaller for smaller in cuts(program) if is_sensible(smaller, inference=inference))
        for smaller in _prepared(sensible, ahead, prepare):
            attempts -= 1
            if attempts <= 0 or time.monotonic() > deadline:
                return program
            if still_fails(smaller):
                program, improved = smaller, True
                break
    return program


def _prepared(
    programs: Iterator[Program], ahead: int, prepare: Callable[[list[Program]], None]
) -> Iterator[Program]:
    while some := list(islice(programs, ahead)):
        prepare(some)
        yield from some


def is_sensible(program: Program, *, inference: bool = False) -> bool:
    """Whether a backward pass comes only after a forward pass in training over the same arrays, and heads are results.

    With ``inference`` a forward pass for inference does as well: for programs that have such a backward pass already.
    A variable as a head, and one head twice, are faults of their own in some implementations:
    cutting must not turn another fault into these.
    """
    heads = [tuple(head) for head in program.get("heads", [])]
    if len(set(heads)) < len(heads) or any(program["nodes"][node]["op"] == "null" for node, _ in heads):
        return False
    ready = True
    for step in program["steps"]:
        if step["do"] in ("bind", "reshape", "share"):
            ready = False
        elif step["do"] == "forward":
            ready = inference or step.get("train", False)
        elif step["do"] == "backward" and not ready:
            return False
    return True


def cuts(program: Program) -> Iterator[Program]:
    """Programs that are one cut smaller, the largest cuts first."""
    if program["level"] == 7:
        yield from cluster_cuts(program)
        return
    yield from _fewer_steps(program)
    if program["level"] > 2:
        yield from _plainer_optimizer(program)
    if program.get("nodes"):
        yield from _single_operators(program)
        if not program.get("settings", {}).get("buckets"):  # which name heads by number
            yield from _fewer_heads(program)
        yield from _fewer_nodes(program)
    yield from _simpler_requirements(program)
    yield from _simpler_values(program)


def _fewer_steps(program: Program) -> Iterator[Program]:
    steps = program["steps"]
    for end in range(1, len(steps)):
        yield {**program, "steps": steps[:end]}
    for number in range(len(steps) - 1, 0, -1):
        if steps[number]["do"] != "reshape":  # what follows has the new shapes
            yield {**program, "steps": [*steps[:number], *steps[number + 1 :]]}
    for number, step in enumerate(steps):
        if step.get("arrays") and step["do"] == "forward":
            changed = {key: value for key, value in step.items() if key != "arrays"}
            yield {**program, "steps": [*steps[:number], changed, *steps[number + 1 :]]}


def _plainer_optimizer(program: Program) -> Iterator[Program]:
    """SGD instead of another optimizer; no schedule; fewer arguments."""
    names = sorted({step["optimizer"] for step in program["steps"] if "optimizer" in step} - {"sgd"})

    def changed(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Program:
        return {**program, "steps": [change(step) if "optimizer" in step else step for step in program["steps"]]}

    if names:
        plain = {"optimizer": "sgd", "parameters": {"learning_rate": 0.5}}
        yield changed(lambda step: {**{key: step[key] for key in step if key != "schedule"}, **plain})
    if any("schedule" in step for step in program["steps"]):
        yield changed(lambda step: {key: value for key, value in step.items() if key != "schedule"})
    given = {name for step in program["steps"] for name in step.get("parameters", ())}
    for name in sorted(given - {"learning_rate"}):
        yield changed(partial(_without_argument, name=name))


def _without_argument(step: dict[str, Any], name: str) -> dict[str, Any]:
    return {**step, "parameters": {key: value for key, value in step["parameters"].items() if key != name}}


def _with_heads(program: Program, kept: list[int]) -> Program:
    steps = []
    for step in program["steps"]:
        several = isinstance(step.get("heads"), list)
        steps.append({**step, "heads": [step["heads"][i] for i in kept]} if several else step)
    return pruned({**program, "heads": [program["heads"][i] for i in kept], "steps": steps})


def _single_operators(program: Program) -> Iterator[Program]:
    """One operator of several, alone: its inputs become variables."""
    if len(operators(program)) < 2:
        return
    shapes = shapes_of(program)
    style = next((spec["style"] for spec in program["arrays"].values() if "style" in spec), "dyadic")

    def spec(entry: tuple[int, int]) -> dict[str, Any]:
        shape, dtype = shapes[entry]
        return {"shape": list(shape), "dtype": dtype, "style": style, "seed": 1}

    for number, node in enumerate(program["nodes"]):
        if node["op"] == "null":
            continue
        op = get(node["op"])
        outputs = [(number, i) for i in range(op.visible_count(op.parse(node.get("attrs", {}))))]
        entries = list(dict.fromkeys((e[0], e[1]) for e in node.get("inputs", [])))
        if any(entry not in shapes for entry in (*entries, *outputs)):
            continue
        arrays: dict[str, Any] = {}
        for entry in entries:
            source = program["nodes"][entry[0]]
            known = source["op"] == "null"
            arrays[source["name"] if known else f"{source['name']}_{entry[1]}"] = (
                program["arrays"][source["name"]] if known else spec(entry)
            )
        nodes: list[dict[str, Any]] = [{"op": "null", "name": name} for name in arrays]
        inputs = [[entries.index((e[0], e[1])), 0] for e in node.get("inputs", [])]
        nodes.append({**node, "inputs": inputs})
        yield {
            **program, "nodes": nodes, "heads": [[len(nodes) - 1, i] for _, i in outputs], "arrays": arrays,
            "steps": _steps_of_one(program, arrays, [spec(entry) for entry in outputs]),
        }


def _steps_of_one(program: Program, arrays: Mapping[str, Any], heads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps of a program whose variables are now ``arrays`` and whose head gradients ``heads``."""
    backward = any(step["do"] == "backward" for step in program["steps"])
    made = sorted(set(arrays) - set(program["arrays"]))
    steps = []
    for old in program["steps"]:
        step = {
            key: {name: part for name, part in value.items() if name in arrays} if key in BY_VARIABLE else value
            for key, value in old.items()
        }
        if "requirements" in step and backward:
            step["requirements"].update(dict.fromkeys(made, "write"))
        if isinstance(step.get("heads"), list):
            step["heads"] = [dict(head) for head in heads]
        steps.append(step)
    return steps


def _fewer_heads(program: Program) -> Iterator[Program]:
    count = len(program["heads"])
    if count > 1:
        for i in range(count):
            yield _with_heads(program, [i])
        for i in range(count):
            yield _with_heads(program, [k for k in range(count) if k != i])


def shapes_of(program: Program) -> dict[tuple[int, int], tuple[tuple[int, ...], str]]:
    """Shape and dtype of every entry of the graph; none where it is not valid, or gets its data later."""
    if any(name not in program["arrays"] for name in variables(program)):
        return {}
    try:
        symbol = refimpl.sym.load_json(symbol_json(program))
        inner = symbol.get_internals()
        arrays = program["arrays"]
        shapes = inner.infer_shape(**{n: tuple(arrays[n]["shape"]) for n in variables(program)})[1]
        types = inner.infer_type(**{n: arrays[n]["dtype"] for n in variables(program)})[1]
    except refimpl.MXNetError:
        return {}
    if shapes is None or types is None:  # an output of shape () counts as unknown
        return {}
    place = {node["name"]: number for number, node in enumerate(program["nodes"])}
    found: dict[tuple[int, int], tuple[tuple[int, ...], str]] = {}
    seen: dict[str, int] = {}
    for name, shape, kind in zip(inner.list_outputs(), shapes, types, strict=True):
        owner = name
        while owner not in place and "_" in owner:  # outputs are called NODE_output0, NODE_moving_mean, ...
            owner = owner.rpartition("_")[0]
        output = seen.get(owner, 0)
        seen[owner] = output + 1
        if owner in place:
            found[place[owner], output] = (shape, np.dtype(kind).name)
    return found


def _fewer_nodes(program: Program) -> Iterator[Program]:
    shapes = shapes_of(program)
    reshaped = any(step["do"] == "reshape" for step in program["steps"])
    for number in range(len(program["nodes"]) - 1, -1, -1):
        node = program["nodes"][number]
        if node["op"] == "null":
            continue
        mine = shapes.get((number, 0))
        for entry in node.get("inputs", []):
            if mine is not None and shapes.get((entry[0], entry[1])) == mine:
                yield _redirected(program, number, entry)
        readers = [entry for n in program["nodes"] for entry in n.get("inputs", [])] + program["heads"]
        if mine is not None and not reshaped and not any(entry[0] == number and entry[1] for entry in readers):
            yield _as_variable(program, number, mine)


def _redirected(program: Program, number: int, entry: list[int]) -> Program:
    """Let the readers of a node's first output read one of the node's inputs."""
    nodes = [
        {**n, "inputs": [entry if e == [number, 0] else e for e in n["inputs"]]} if "inputs" in n else n
        for n in program["nodes"]
    ]
    heads = [entry if h == [number, 0] else h for h in program["heads"]]
    return pruned({**program, "nodes": nodes, "heads": heads})


def _as_variable(program: Program, number: int, like: tuple[tuple[int, ...], str]) -> Program:
    """A node becomes a variable with simple values."""
    name = program["nodes"][number]["name"]
    nodes = [{"op": "null", "name": name} if n is program["nodes"][number] else n for n in program["nodes"]]
    style = next((spec["style"] for spec in program["arrays"].values() if "style" in spec), "dyadic")
    arrays = {**program["arrays"], name: {"shape": list(like[0]), "dtype": like[1], "style": style, "seed": 1}}
    steps = []
    for step in program["steps"]:
        asks = step["do"] == "bind" and step.get("requirements")
        steps.append({**step, "requirements": {**step["requirements"], name: "write"}} if asks else step)
    return pruned({**program, "nodes": nodes, "arrays": arrays, "steps": steps})


def _simpler_requirements(program: Program) -> Iterator[Program]:
    for number, step in enumerate(program["steps"]):
        for name, requirement in (step.get("requirements") or {}).items():
            for simpler in {"add": ("null", "write"), "write": ("null",)}.get(requirement, ()):
                changed = {**step, "requirements": {**step["requirements"], name: simpler}}
                if simpler != "add" and name in step.get("gradients", {}):
                    changed["gradients"] = {n: v for n, v in step["gradients"].items() if n != name}
                yield _with_step(program, number, changed)


def _with_step(program: Program, number: int, step: dict[str, Any]) -> Program:
    return {**program, "steps": [*program["steps"][:number], step, *program["steps"][number + 1 :]]}


def _simpler_values(program: Program) -> Iterator[Program]:
    for name, spec in program.get("arrays", {}).items():
        for simpler in _simpler_array(spec):
            yield {**program, "arrays": {**program["arrays"], name: simpler}}
    for number, step in enumerate(program["steps"]):
        heads = step.get("heads")
        if isinstance(heads, list):
            for position, spec in enumerate(heads):
                for simpler in _simpler_array(spec):
                    changed = [*heads[:position], simpler, *heads[position + 1 :]]
                    yield _with_step(program, number, {**step, "heads": changed})


MOST_ELEMENTS = 4
"""Elements that a person reads easily: longer lists of them become a style and a seed."""
_ORDER = ("onehot", "dyadic", "tied", "smooth", "normal", "wide", "special")


def _simpler_array(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "elements" in spec:
        if len(spec["elements"]) > MOST_ELEMENTS:
            for style in _ORDER[:5]:
                yield {"shape": spec["shape"], "dtype": spec["dtype"], "style": style, "seed": 1}
        return
    style = spec.get("style", "dyadic")
    for simpler in _ORDER[: _ORDER.index(style)]:
        yield {**spec, "style": simpler}
    if spec.get("seed", 0) > 3:
        for seed in (0, 1, 2, 3):
            yield {**spec, "seed": seed}
