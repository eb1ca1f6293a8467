"""The record of ``_while_loop``: a body that runs as long as another graph says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from ...base import decides, require
from ...kernels.foundation import Buffer, agree, register
from ...kernels.foundation.params import AtLeast, Shape
from .bodies import SHAPES, TYPES, Body, Frame, agreed, all_agreed, unchanged
from .loops import LoopLayout, Pair, back_in_time, backward_buffers, row_of, run_step
from .parameters import ControlFlow, GraphUse, register_arguments


class WhileLoopParams(NamedTuple):
    """``num_args`` counts the two graphs and the inputs.

    ``cond_input_locs`` and ``func_input_locs`` say which input of the node each input of the two graphs is;
    ``func_var_locs`` which input of the second graph each loop variable is.
    """

    num_args: int
    num_outputs: int
    num_out_data: int
    max_iterations: Annotated[int, AtLeast(1)]
    cond_input_locs: Shape
    func_input_locs: Shape
    func_var_locs: Shape


def wiring(values: WhileLoopParams, bodies: Sequence[Body]) -> list[list[int]]:
    """Which input of the node each input of the two graphs is."""
    heads, variables = [len(body.heads) for body in bodies], values.func_var_locs
    require(
        "control-flow/locations",
        heads == [1, values.num_outputs] and values.num_outputs == values.num_out_data + len(variables)
        and values.num_out_data >= 0 and variables,
        f"_while_loop: the graphs have {heads} outputs, for num_outputs={values.num_outputs},"
        f" num_out_data={values.num_out_data} and {len(variables)} loop variables",
    )
    inside = len(values.func_input_locs)
    require(
        "control-flow/locations", len(set(variables)) == len(variables) and all(0 <= v < inside for v in variables),
        f"_while_loop: func_var_locs={list(variables)} must be different numbers below {inside}",
    )
    return [list(values.cond_input_locs), list(values.func_input_locs)]


def layout_of(p: GraphUse) -> LoopLayout:
    """How the inputs go to the body."""
    locations, variables = p.values.func_input_locs, p.values.func_var_locs
    states = [Pair(locations[inner], inner) for inner in variables]
    rest = [Pair(outer, inner) for inner, outer in enumerate(locations) if inner not in variables]
    return LoopLayout(p.bodies[1], [], states, rest, p.values.num_out_data)


def _through_body(p: GraphUse, rule: str, found: list, rows: list) -> tuple[list, list]:
    """Infer through the body once; what it says of inputs goes to ``found``, of rows and states it is returned."""
    layout = layout_of(p)
    states = [found[pair.outer] for pair in layout.states]
    inner = [found[outer] for outer in p.values.func_input_locs]
    inner, heads = layout.body.infer(rule, inner, [*rows, *states])
    states = all_agreed(rule, "loop variable", [inner[pair.inner] for pair in layout.states], heads[layout.rows :])
    for pair in layout.rest:
        found[pair.outer] = agreed(rule, f"input {pair.outer}", found[pair.outer], inner[pair.inner])
    for pair, state in zip(layout.states, states, strict=True):
        found[pair.outer] = state
    return heads[: layout.rows], states


def through(p: GraphUse, rule: str, ins: list, outs: list) -> tuple[list, list]:
    """Shapes or types of all inputs and outputs, by inference through the two graphs."""
    layout, asking = layout_of(p), p.bodies[0]
    found = list(ins)
    states = all_agreed(rule, "loop variable", [ins[pair.outer] for pair in layout.states], outs[layout.rows :])
    for pair, state in zip(layout.states, states, strict=True):
        found[pair.outer] = state
    rows = list(outs[: layout.rows])
    if rule == SHAPES:
        rows = [None if row is None else tuple(row[1:]) for row in rows]
    while True:
        before = list(found)
        rows, states = _through_body(p, rule, found, rows)
        asked, answer = asking.infer(rule, [found[outer] for outer in p.values.cond_input_locs], [None])
        if rule == SHAPES:
            require_one("_while_loop", answer[0])
        for outer, value in zip(p.values.cond_input_locs, asked, strict=True):
            found[outer] = agreed(rule, f"input {outer}", found[outer], value)
        if unchanged(found, before):
            break
    if rule == SHAPES:
        rows = [None if row is None else (p.values.max_iterations, *row) for row in rows]
    return found, [*rows, *states]


def require_one(op_name: str, shape: Any) -> None:
    """A condition has one element.

    Raises:
        MXNetError: it has more.
    """
    require(
        "control-flow/condition", shape is None or all(agree(side, 1) for side in shape),
        f"{op_name}: the condition must have one element, its shape is {shape}; reduce it, with sum or prod say",
    )


def is_true(condition: Buffer) -> bool:
    """Whether the one element is not zero."""
    return bool(condition.to_numpy().reshape(-1)[0])


@decides("control-flow/while-loop")
def forward(p: GraphUse, *buffers: Buffer, is_train: bool, rng: Any) -> None:
    """Run the body while the condition holds; rows of steps that did not run are zero."""
    del rng  # the body's operators ask for the streams themselves
    p.is_train = is_train
    _run(p, buffers[: p.input_count], buffers[p.input_count :])


def _run(p: GraphUse, ins: Sequence[Buffer], outs: Sequence[Buffer]) -> None:
    layout, asking, frame = layout_of(p), p.bodies[0], Frame()
    states = [ins[pair.outer] for pair in layout.states]
    stacks = outs[: layout.rows]
    for stack in stacks:
        stack.fill(0)
    p.taken = 0
    while p.taken < p.values.max_iterations:
        now = dict(zip((pair.outer for pair in layout.states), states, strict=True))
        reads = [now.get(outer, ins[outer]) for outer in p.values.cond_input_locs]
        if not is_true(asking.forward(frame, reads, p.place(), p.is_train)[0]):
            break
        rows, states = run_step(p, layout, ins, states, p.taken)
        for stack, row in zip(stacks, rows, strict=False):
            row_of(stack, p.taken).copy_from(row)
        p.taken += 1
    for final, state in zip(outs[layout.rows :], states, strict=False):
        final.copy_from(state)


def backward(p: GraphUse, *buffers: Any, is_train: bool) -> None:
    """Gradients through the steps that ran; the condition has none."""
    heads, ins, targets = backward_buffers(p, buffers, _run)
    back_in_time(p, layout_of(p), p.taken, heads, ins, targets, is_train)


WHILE_LOOP = register(ControlFlow(
    **register_arguments("_while_loop"), params=WhileLoopParams, graphs=2, wiring=wiring,
    tier=2, without_loops="runs the operators of its graphs",
    doc="Runs the second graph inside while the first one says so: mx.sym.contrib.while_loop makes it.",
    infer=lambda p, ins, outs: through(p, SHAPES, ins, outs),
    infer_type=lambda p, ins, outs: through(p, TYPES, ins, outs),
    forward=forward, backward=backward,
))
"""What ``mx.sym.contrib.while_loop`` puts into a graph."""

__all__ = ["WHILE_LOOP", "WhileLoopParams", "is_true", "require_one"]
