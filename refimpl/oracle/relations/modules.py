"""Relations of modules, levels 3 and 4: devices, files, handles, parts of batches, buckets, full passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends import Backend, Refused, declared_of
from ..judging.reference import Expected, Program, expected_of
from ..programs.values import array_of
from .comparing import differences, differences_beyond
from .editing import Step, Steps, compared, kept, renamed
from .registry import changed, relation

OTHER_MODULES = ("share", "borrow", "use")
READING = ("backward", "forward_backward", "update", "update_metric", "get_params")
"""Steps after which the outputs of the last forward pass are there still."""
COUNTED = ("adam", "adamax", "nadam", "ftml", "lamb")
"""Rules that count updates, and counts are in no file."""


def _first(program: Program, *names: str) -> Step | None:
    return next((step for step in program["steps"] if step["do"] in names), None)


def _is_of_all(name: str) -> bool:
    """Whether an array covers all contexts together: a metric gets its arrays slice by slice."""
    return "@" not in name and "metric:" not in name


# --- devices ------------------------------------------------------------------------------------


@relation("number of devices", 3, 4)
def ignores_devices(backend: Backend, program: Program) -> list[str]:
    """Outputs, gradients and parameters are the same on one device as on several, whatever their loads."""
    create = program["steps"][0]
    if create.get("contexts", 1) < 2 or any("attempt" in step for step in program["steps"]):
        return []
    steps: list[tuple[int | None, Step]] = []
    for number, step in kept(program):
        here = {**step, "contexts": 1} if "contexts" in step else step
        steps.append((number, {key: value for key, value in here.items() if key != "loads"}))
    return compared(backend, program, steps, _is_of_all)


# --- files --------------------------------------------------------------------------------------


@relation("save and load", 3)
def resumes(backend: Backend, program: Program) -> list[str]:
    """A module that loads parameters and optimizer states trains on like the saved module.

    Rules that count updates, and schedules, start again: counts are in no file.
    """
    create, bind, rule = (_first(program, name) for name in ("create", "bind", "init_optimizer"))
    if create is None or bind is None or rule is None or any("attempt" in step for step in program["steps"]):
        return []
    lost = create.get("states") or bind.get("requirement", "write") != "write"
    counts = rule.get("schedule") or rule.get("optimizer") in COUNTED
    if lost or counts or _first(program, "load", "save_states") is not None:
        return []
    again = [
        {"do": "save", "states": True}, {"do": "load", "contexts": create["contexts"], "states": True}, bind, rule,
    ]
    steps: list[tuple[int | None, Step]] = []
    for number, step in kept(program):
        steps.append((number, step))
        if step["do"] in OTHER_MODULES or (step["do"] == "bind" and step.get("again")):
            return []
        if step["do"] == "update":
            steps += [(None, each) for each in again]
    return compared(backend, program, steps, _is_of_all)  # loads are in no file, so slices may be others


# --- handles ------------------------------------------------------------------------------------


@relation("outputs later", 2, 3)
def keeps_outputs(backend: Backend, program: Program) -> list[str]:
    """The outputs of a forward pass are there, unchanged, until the next one; and reading them changes nothing."""
    steps: list[tuple[int | None, Step]] = []
    asked: list[tuple[int, int]] = []
    shown = None
    for number, step in enumerate(program["steps"]):
        steps.append((number, step))
        if step["do"] in ("forward", "forward_backward") and "attempt" not in step:
            shown = len(steps) - 1
        elif step["do"] not in READING:
            shown = None
        if shown is not None and step["do"] in ("backward", "forward_backward", "update"):
            asked.append((shown, len(steps)))
            steps.append((None, {"do": "outputs"}))
    if not asked:
        return []
    first = backend.run(program)
    trace = changed(backend, {**program, "steps": [step for _, step in steps]})
    later = renamed(trace, steps)
    lines = differences(first, later)
    for before, after in asked:
        for name, value in trace.items():
            if name.startswith(f"{before}/output"):
                what = name.partition("/")[2]
                lines += differences({name: value}, {name: trace.get(f"{after}/{what}", np.zeros(0))})
    return lines


# --- parts of a batch ---------------------------------------------------------------------------


@relation("parts of a batch", 3)
def splits_batches(backend: Backend, program: Program) -> list[str]:
    """Two parts of a batch give the rows that the whole batch gives."""
    create, bind, batch = (
        _first(program, *names) for names in (("create",), ("bind",), ("forward", "forward_backward"))
    )
    if create is None or bind is None or batch is None or create.get("states"):
        return []
    described = [*bind["data"], *(bind.get("labels") or ())]
    axes = [1 if each.get("layout") == "TNC" else 0 for each in described]
    arrays = [array_of(spec) for spec in (*batch["data"], *(batch.get("labels") or ()))]
    described, axes = described[:len(arrays)], axes[:len(arrays)]
    rows = arrays[0].shape[axes[0]]
    if rows < 2:
        return []

    def part(begin: int, end: int) -> Program:
        chosen = [
            _given(a[(slice(None),) * axis + (slice(begin, end),)]) for a, axis in zip(arrays, axes, strict=True)
        ]
        descriptions = [{**d, "shape": spec["shape"]} for d, spec in zip(described, chosen, strict=True)]
        count = len(batch["data"])
        shapes: Step = {"data": descriptions[:count]}
        values: Step = {"data": chosen[:count]}
        if batch.get("labels"):
            shapes["labels"], values["labels"] = descriptions[count:], chosen[count:]
        steps = [
            {"do": "create", "contexts": 1, "data": create["data"], "labels": create["labels"]},
            {"do": "bind", "train": False, **shapes}, {"do": "init_params", "given": sorted(program["arrays"])},
            {"do": "forward", "train": False, **values},
        ]
        return {**program, "steps": steps}

    programs = [part(0, rows), part(0, rows // 2), part(rows // 2, rows)]

    def outputs(trace: dict[str, Any]) -> dict[str, Any]:  # bind also shows shapes
        return {name: value for name, value in trace.items() if name.startswith(f"{len(programs[0]['steps']) - 1}/")}

    def joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
        return {name: np.concatenate([value, second[name]], axes[0]) for name, value in outputs(first).items()}

    def bounds() -> list[dict[str, Expected]]:
        whole, first, second = (expected_of(each, declared_of(backend)) for each in programs)
        pairs = {name: (value, second[name]) for name, value in outputs(first).items()}
        return [outputs(whole), {
            name: Expected(*(np.concatenate(both, axes[0]) for both in zip(*pair, strict=True)))
            for name, pair in pairs.items()
        }]

    try:
        whole = outputs(backend.run(programs[0]))
    except Refused:  # the program itself may be bound in another way
        return []
    return differences_beyond(whole, joined(*[changed(backend, each) for each in programs[1:]]), bounds)


def _given(array: np.ndarray) -> Step:
    """An array with its elements."""
    elements = [value if np.isfinite(value) else str(value) for value in array.reshape(-1).tolist()]
    return {"shape": list(array.shape), "dtype": array.dtype.name, "elements": elements}


# --- buckets ------------------------------------------------------------------------------------


def _described(program: Program) -> dict[int, Step]:
    """The arguments of a switch to each bucket that batches name."""
    names = {bucket["key"]: bucket for bucket in program.get("settings", {}).get("buckets", [])}
    found: dict[int, Step] = {}
    for step in program["steps"]:
        bucket = names.get(step.get("key"))
        if bucket is not None and step["do"] in ("forward", "forward_backward"):
            found[step["key"]] = {"do": "switch", "key": step["key"], **{
                field: [
                    {"name": name, "shape": spec["shape"]}
                    for name, spec in zip(bucket[field], step.get(field) or [], strict=False)
                ] for field in ("data", "labels")
            }}
    return found


@relation("there and back", 4)
def switches_back(backend: Backend, program: Program) -> list[str]:
    """Switching to another bucket and back changes nothing."""
    described = _described(program)
    if len(described) < 2:
        return []
    steps: list[tuple[int | None, Step]] = []
    here = None
    for number, step in kept(program):
        steps.append((number, step))
        here = step.get("key", here)
        if here in described and step["do"] in ("forward", "switch", "update"):
            other = next(key for key in described if key != here)
            steps += [(None, described[other]), (None, described[here])]
    return compared(backend, program, steps)


@relation("order of buckets", 4)
def orders_buckets(backend: Backend, program: Program) -> list[str]:
    """Forward passes give the same in any order of buckets."""
    passes = [step for step in program["steps"] if step["do"] in ("forward", "forward_backward") and "key" in step]
    begin = [step for step in program["steps"] if step["do"] in ("create_buckets", "bind", "init_params")]
    if len({step["key"] for step in passes}) < 2:
        return []
    forward = [
        {**{k: v for k, v in step.items() if k != "train"}, "do": "forward", "train": False} for step in passes
    ]
    base = {**program, "steps": [*begin, *forward]}
    numbered = kept(base)
    steps: Steps = [*numbered[:len(begin)], *numbered[:len(begin) - 1:-1]]
    return compared(backend, base, steps)


# --- SVRG ---------------------------------------------------------------------------------------


@relation("full pass twice", 4)
def passes_twice(backend: Backend, program: Program) -> list[str]:
    """A second full pass over the same data at the same weights gives the same full gradients."""
    if _first(program, "full_pass") is None:
        return []
    steps: list[tuple[int | None, Step]] = []
    for number, step in kept(program):
        steps += [(None, step), (number, step)] if step["do"] == "full_pass" else [(number, step)]
    return compared(backend, program, steps)
