"""Programs of levels 1 and 2: a graph, and the steps of an executor."""

from __future__ import annotations

from typing import Any

from ...kernels.foundation import get
from ..programs.program import VERSION, pruned
from .choices import NOTHING, Capabilities, Exclusions, Program, of_type
from .drawn_graphs import KEEP_SHAPE, Entry, Graph, draw_elementwise, draw_graph
from .draws import Draw
from .random_numbers import drawn_at_random

Step = dict[str, Any]
MONITOR = "executor/monitor"
"""What ``exclude.operators`` may name beside operators: executors are then drawn without monitors."""


def forward_program(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> Program:
    """Level 1: bind and one forward pass; or numbers are drawn, see ``random_numbers``."""
    random = drawn_at_random(draw, capabilities, exclude, 1)
    if random is not None:
        return random
    graph, heads = draw_graph(draw, capabilities, exclude)
    return of_graph(1, draw, graph, heads, capabilities, exclude)


def executor_program(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> Program:
    """Level 2: requirements, initial gradients, repeated passes, head gradients, new values, a shared executor."""
    random = drawn_at_random(draw, capabilities, exclude, 2)
    if random is not None:
        return random
    if draw.one_in(10) and any(capabilities.has(name) for name, _ in KEEP_SHAPE):
        graph, heads = draw_elementwise(draw, capabilities, exclude)
        program = of_graph(2, draw, graph, heads, capabilities, exclude)
        return {**program, "steps": [*program["steps"], *_reshaped(draw, program)]}
    graph, heads = draw_graph(draw, capabilities, exclude)
    return of_graph(2, draw, graph, heads, capabilities, exclude)


def _reshaped(draw: Draw, program: Program) -> list[dict[str, Any]]:
    """Steps that give every variable of an elementwise graph one other shape of the same rank, larger or smaller.

    A much larger shape needs more memory than an implementation may have allocated in reserve.
    """
    rank = len(next(iter(program["arrays"].values()))["shape"])
    shape = list(draw.shape(rank, rank))
    if rank and draw.one_in(3):
        shape = [1] * rank
        shape[draw.integer(0, rank - 1)] = draw.integer(200, 400)
    arrays = {
        name: {**spec, "shape": shape, "seed": draw.integer(0, 9999)} for name, spec in program["arrays"].items()
    }
    steps: list[dict[str, Any]] = [{"do": "reshape", "arrays": arrays}, {"do": "forward", "train": True}]
    backward = [step for step in program["steps"] if step["do"] == "backward"]
    if backward:
        steps.append({"do": "backward", "heads": [{**spec, "shape": shape} for spec in backward[0]["heads"]]})
    return steps


def of_graph(
    level: int, draw: Draw, graph: Graph, heads: list[Entry], capabilities: Capabilities, exclude: Exclusions = NOTHING
) -> Program:
    """A program of level 1 or 2 of a graph that was drawn.

    Args:
        level: 1 for one forward pass, 2 for the steps of an executor.
        draw: the source of choices.
        graph: the graph.
        heads: its outputs.
        capabilities: what may be drawn.
        exclude: what is not drawn.
    """
    if level == 1:
        return _program(1, graph, heads, [{"do": "bind"}, {"do": "forward", "train": draw.boolean()}])
    names = _names(graph, exclude)
    requirements, gradients = _requirements(draw, graph, names, capabilities, exclude)
    steps: list[Step] = [{"do": "bind", "requirements": requirements, "gradients": gradients}]
    repeated = exclude.allowed("repeated", names)
    zeros = any(requirements.get(name, "null") != "null" for name in graph.zero_gradient)
    seldom = 2 if zeros else 12  # a monitor is told of zeros that no step computes
    for _ in range(1 + (draw.one_in(3) and repeated)):
        if draw.one_in(8):
            steps.append({"do": "share"})
        if capabilities.corners and draw.one_in(seldom) and MONITOR not in exclude.operators:
            steps.append({"do": "monitor", "inputs": draw.boolean()})
        for number in range(1 + draw.one_in(5)):
            step = _forward(draw, graph, capabilities, changes=len(steps) > 2)
            if number:
                step["train"] = draw.boolean()
            steps.append(step)
        steps[-1]["train"] = not (capabilities.corners and draw.one_in(6))
        if set(requirements.values()) - {"null"}:
            backward: Step = {"do": "backward", "heads": head_gradients(draw, graph, heads)}
            if capabilities.corners and not steps[-1]["train"] and draw.boolean():
                backward["train"] = False
            steps += [backward] * (1 + (draw.one_in(6) and repeated))
    return _program(2, graph, heads, steps)


def _names(graph: Graph, exclude: Exclusions) -> list[str]:
    """The operators of a graph as ``exclude`` may name them."""
    names = [node["op"] for node in graph.nodes]
    if exclude.requirements:
        names += [of_type(name, graph.dtype) for name in names]
    return names


def _requirements(
    draw: Draw, graph: Graph, names: list[str], capabilities: Capabilities, exclude: Exclusions
) -> tuple[dict[str, str], dict[str, Any]]:
    """The requirement of each variable's gradient, and its old content for add."""
    wanted = [n for n in graph.arrays if n not in graph.no_gradient]
    requirements, gradients = {}, {}
    possible = [r for r in capabilities.requirements if exclude.allowed(r, names)]
    if not _differentiable(graph) or not exclude.allowed("write", names):
        possible = []
    alike = draw.choice((*possible, "each its own"))
    for name in wanted if possible else ():
        requirement = draw.choice(possible) if alike == "each its own" else alike
        requirements[name] = requirement
        if requirement == "add":
            gradients[name] = like(draw, graph, name)
    return requirements, gradients


def _forward(draw: Draw, graph: Graph, capabilities: Capabilities, *, changes: bool) -> Step:
    """A forward pass, which may change one array before."""
    step: Step = {"do": "forward", "train": True}
    changeable = [n for n in graph.arrays if n not in graph.states]
    if changes and changeable and draw.boolean():
        changed = draw.choice(changeable)
        step["arrays"] = {changed: like(draw, graph, changed)}
        if capabilities.corners and draw.one_in(4):
            step["keywords"] = True
    return step


def like(draw: Draw, graph: Graph, name: str) -> dict[str, Any]:
    """Other values for a variable."""
    return {**graph.arrays[name], "seed": draw.integer(0, 9999)}


def head_gradients(draw: Draw, graph: Graph, heads: list[Entry]) -> list[dict[str, Any]]:
    """A gradient for every head."""
    style = graph.style if graph.style != "special" else "dyadic"
    return [
        {"shape": list(h.shape), "dtype": h.dtype.name, "style": style, "seed": draw.integer(0, 9999)} for h in heads
    ]


def _differentiable(graph: Graph) -> bool:
    """Whether every operator of the graph has a gradient."""
    return all(node["op"] == "null" or get(node["op"]).has_gradient for node in graph.nodes)


def _program(level: int, graph: Graph, heads: list[Entry], steps: list[dict[str, Any]]) -> Program:
    return pruned({
        "version": VERSION, "level": level, "nodes": graph.nodes, "heads": [[h.node, h.output] for h in heads],
        "arrays": graph.arrays, "steps": steps,
    })
