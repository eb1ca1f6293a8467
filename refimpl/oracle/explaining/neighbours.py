"""Variants of a failing program: each has one change, and is run.

The changes are: requirements, readers of a value, repetitions, the mode, the dtype, the style of values, an operator, a
parameter. The number of attempts is small and fixed. A variant that passes shows a condition of the fault; a variant
that fails shows that the fault does not need what was changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any, NamedTuple

import refimpl

from ...kernels.foundation import get
from ...kernels.foundation.params import defaults
from ...symbol.calls import attribute_text
from ..backends import Backend, declared_of
from ..drawing.choices import Capabilities
from ..drawing.drawn_graphs import JOIN, KEEP_SHAPE
from ..judging.comparing import answers_of, judge_answer
from ..judging.reference import Program
from ..programs.program import symbol_json
from .shrinking import shapes_of

ATTEMPTS = 16
"""Neighbours that are run at most."""
CRASH_ATTEMPTS = 5
"""The same where each of them may end the process."""

OTHER = "other"
"""The variable that readers read instead."""
Changed = Iterator[tuple[str, Program]]


class Neighbour(NamedTuple):
    """A program that differs in one thing."""

    change: str
    """What was changed: "v0=write", "clip->tanh", "3 readers of v0"."""
    passes: bool
    program: Program


def neighbours(backend: Backend, program: Program, seen: str = "", attempts: int = ATTEMPTS) -> list[Neighbour]:
    """Run the variants; variants that backend or reference refuses are left out.

    Args:
        backend: the implementation.
        program: a program that it fails.
        seen: the name of the array that differs, see ``changes``.
        attempts: the largest number of variants to run.
    """
    loading = (each for each in changes(program, backend.capabilities, seen) if _loads(each[1]))
    chosen = list(islice(loading, attempts))
    answers = answers_of(backend, [changed for _, changed in chosen])
    found = []
    for (change, changed), answer in zip(chosen, answers, strict=True):
        proved = program["level"] <= 2  # else it takes seconds each
        verdict = judge_answer(changed, answer, confirm=proved, declared=declared_of(backend), loosely=not proved)
        refused = any(m.kind == "refused" for m in verdict.mismatches)
        if verdict.status in ("passed", "failed") and not refused:
            found.append(Neighbour(change, verdict.status == "passed", changed))
    return found


def _loads(program: Program) -> bool:
    """Whether its operators have as many inputs and outputs as are used: another parameter may change that."""
    if not program.get("nodes"):
        return True
    try:
        refimpl.sym.load_json(symbol_json(program))
    except refimpl.MXNetError:
        return False
    return True


def changes(program: Program, capabilities: Capabilities, seen: str = "") -> Changed:
    """Programs with one change, in turn one of each kind of change.

    Args:
        program: a checked program.
        capabilities: those of the implementation.
        seen: the name of the array that differs: ``gradient:v0``. No change makes it vanish.
    """
    kinds = (
        _requirements(program, seen.partition(":")[2]), _readers(program), _operators(program, capabilities),
        _modes(program), _repetitions(program), _styles(program, capabilities), _dtypes(program, capabilities),
        _parameters(program),
    )
    for several in zip_longest(*kinds):
        yield from (change for change in several if change is not None)


def _requirements(program: Program, seen: str) -> Changed:
    """One requirement is another; a gradient that was added to begins with nothing."""
    for number, step in enumerate(program["steps"]):
        for name, requirement in (step.get("requirements") or {}).items():
            for other in {"add": ("write",), "write": ("null", "add"), "null": ("write",)}[requirement]:
                gradients = {n: spec for n, spec in (step.get("gradients") or {}).items() if n != name}
                if other == "add":
                    gradients[name] = {**program["arrays"][name], "style": "dyadic", "seed": 1}
                    gradients[name].pop("elements", None)
                    gradients[name].pop("kind", None)
                asked = {**step["requirements"], name: other}
                if other != "null" or name != seen:
                    changed = {**step, "requirements": asked, "gradients": gradients}
                    yield f"{name}={other}", _with_step(program, number, changed)


def _with_step(program: Program, number: int, step: dict[str, Any]) -> Program:
    return {**program, "steps": [*program["steps"][:number], step, *program["steps"][number + 1 :]]}


def _readers(program: Program) -> Changed:
    """A value has fewer readers: the others read a variable of the same shape, of which no gradient is wanted."""
    if program["level"] > 2:
        return
    nodes = program["nodes"]
    places = [(i, k) for i, node in enumerate(nodes) for k in range(len(node.get("inputs", ())))]
    read = Counter(tuple(nodes[i]["inputs"][k]) for i, k in places)
    shapes = shapes_of(program) if read and read.most_common(1)[0][1] > 1 else {}
    for entry, count in read.most_common(2):
        if count < 2 or entry not in shapes:
            continue
        source, (shape, dtype) = nodes[entry[0]], shapes[entry]
        spec = {"shape": list(shape), "dtype": dtype, "style": "dyadic", "seed": 1}
        arrays = {**program["arrays"], OTHER: program["arrays"].get(source["name"], spec)}
        for fewer in dict.fromkeys((count - 1, count // 2, 1)):
            moved = [(i, k) for i, k in places if tuple(nodes[i]["inputs"][k]) == entry][fewer:]
            made: list[dict[str, Any]] = [{"op": "null", "name": OTHER}]
            for i, node in enumerate(nodes):
                inputs = [[0, 0] if (i, k) in moved else [e[0] + 1, e[1]] for k, e in enumerate(node.get("inputs", ()))]
                made.append({**node, "inputs": inputs} if inputs else node)
            heads = [[number + 1, output] for number, output in program["heads"]]
            changed = {**program, "nodes": made, "heads": heads, "arrays": arrays}
            yield f"{fewer} reader{'s' * (fewer > 1)} of {source['name']}", changed


def _others(name: str, nodes: list[dict[str, Any]]) -> Sequence[tuple[str, dict[str, Any]]]:
    """Operators that keep the shape of as many inputs as ``nodes`` have, where these have one output; parameters."""
    op = get(name)
    if op.aux or any(op.visible_count(op.parse(node.get("attrs", {}))) > 1 for node in nodes):
        return ()
    counts = {len(node["inputs"]) for node in nodes}
    if counts == {1}:
        return KEEP_SHAPE
    return tuple((other, {}) for other in JOIN) if counts == {2} else ()


def _operators(program: Program, capabilities: Capabilities) -> Changed:
    """An operator is another one of the same number of inputs whose output has the shape of the first."""
    if program["level"] > 4:
        return
    nodes = program.get("nodes", [])
    for name in dict.fromkeys(node["op"] for node in nodes if node["op"] != "null"):
        others = _others(name, [node for node in nodes if node["op"] == name])
        fitting = [each for each in others if each[0] not in (name, "BlockGrad") and capabilities.has(each[0])]
        for other, params in fitting[:2]:
            attrs = {key: attribute_text(value) for key, value in params.items()}
            changed = [{**node, "op": other, "attrs": attrs} if node["op"] == name else node for node in nodes]
            yield f"{name}->{other}", {**program, "nodes": changed}


def _modes(program: Program) -> Changed:
    """All forward passes are in the other mode; a backward pass needs training."""
    if program["level"] > 2:
        return
    flags = {step.get("train", False) for step in program["steps"] if step["do"] == "forward"}
    back = any(step["do"] == "backward" for step in program["steps"])
    for name, train in (("prediction", False), ("training", True)):
        if flags == {not train} and (train or not back):
            steps = [{**step, "train": train} if step["do"] == "forward" else step for step in program["steps"]]
            yield name, {**program, "steps": steps}


def _repetitions(program: Program) -> Changed:
    """Replace a repeated step by a single one."""
    counts = Counter(step["do"] for step in program["steps"])
    for do in ("backward", "forward", "update", "push", "pull", "fit"):
        if counts[do] > 1:
            last = max(i for i, step in enumerate(program["steps"]) if step["do"] == do)
            steps = [step for i, step in enumerate(program["steps"]) if i != last]
            yield f"{do} {counts[do] - 1} times", {**program, "steps": steps}
    for number, step in enumerate(program["steps"]):
        if step["do"] == "share":
            yield "no shared executor", {**program, "steps": program["steps"][:number] + program["steps"][number + 1 :]}


def _styles(program: Program, capabilities: Capabilities) -> Changed:
    """All arrays have values of another style."""
    used = _used(program, "style")
    for style in ("dyadic", "smooth", "tied", "wide"):
        if used and style in capabilities.styles and used != {style}:
            yield f"{style} values", _everywhere(program, "style", style)


def _dtypes(program: Program, capabilities: Capabilities) -> Changed:
    """All floating arrays have another dtype."""
    used = {dtype for dtype in _used(program, "dtype") if dtype.startswith("float")}
    for dtype in capabilities.dtypes:
        if len(used) == 1 and used != {dtype}:
            yield dtype, _everywhere(program, "dtype", dtype, used)


def _used(program: Program, field: str) -> set[str]:
    found: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if "shape" in value and "dtype" in value and field in value:
                found.add(value[field])
            for part in value.values():
                look(part)
        elif isinstance(value, list):
            for part in value:
                look(part)

    look({"arrays": program.get("arrays", {}), "steps": program["steps"]})
    return found


def _everywhere(program: Program, field: str, new: str, old: set[str] | None = None) -> Program:
    def replaced(value: Any) -> Any:
        if isinstance(value, list):
            return [replaced(part) for part in value]
        if not isinstance(value, dict):
            return value
        made = {key: replaced(part) for key, part in value.items()}
        if "shape" in made and "dtype" in made and "elements" not in made and field in made:
            made[field] = new if old is None or made[field] in old else made[field]
        return made

    return {**program, "arrays": replaced(program.get("arrays", {})), "steps": replaced(program["steps"])}


def _parameters(program: Program) -> Changed:
    """A parameter has its default."""
    for number, node in enumerate(program.get("nodes", [])):
        if node["op"] == "null":
            continue
        optional = defaults(get(node["op"]).params)
        for name in node.get("attrs", {}):
            if name in optional and attribute_text(optional[name]) != node["attrs"][name]:
                attrs = {key: value for key, value in node["attrs"].items() if key != name}
                nodes = [{**node, "attrs": attrs} if i == number else n for i, n in enumerate(program["nodes"])]
                yield f"{node['op']} without {name}={node['attrs'][name]}", {**program, "nodes": nodes}


def told(found: list[Neighbour] | tuple[Neighbour, ...]) -> dict[str, list[str]]:
    """The changes that pass and those that fail, as words."""
    return {
        "passes": [each.change for each in found if each.passes],
        "fails": [each.change for each in found if not each.passes],
    }
