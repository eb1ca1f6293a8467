"""The record of ``_foreach``: a body that runs once for each row of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...base import decides, require
from ...kernels.foundation import UNKNOWN, Buffer, agree, either, register
from ...kernels.foundation.params import Shape
from .bodies import SHAPES, Body, all_agreed, unchanged
from .loops import LoopLayout, Pair, back_in_time, backward_buffers, row_of, run_step
from .parameters import ControlFlow, GraphUse, order_of, register_arguments


class ForeachParams(NamedTuple):
    """``num_args`` counts the graph and the inputs. Inputs are data, states, then the rest.

    ``in_data_locs``, ``in_state_locs`` and ``remain_locs`` say which input of the graph each of them is.
    """

    num_args: int
    num_outputs: int
    num_out_data: int
    in_state_locs: Shape
    in_data_locs: Shape
    remain_locs: Shape


def wiring(values: ForeachParams, bodies: Sequence[Body]) -> list[list[int]]:
    """Which input of the node each input of the graph is."""
    rows, heads = values.num_out_data, len(bodies[0].heads)
    require(
        "control-flow/locations",
        heads == values.num_outputs == rows + len(values.in_state_locs) and rows >= 0 and values.in_data_locs,
        f"_foreach: the graph has {heads} outputs, for num_outputs={values.num_outputs},"
        f" num_out_data={rows}, {len(values.in_state_locs)} states and {len(values.in_data_locs)} data",
    )
    return [order_of("_foreach", (*values.in_data_locs, *values.in_state_locs, *values.remain_locs))]


def layout_of(p: GraphUse) -> LoopLayout:
    """How the inputs go to the body."""
    values = p.values
    data, states = len(values.in_data_locs), len(values.in_state_locs)
    pairs = [
        Pair(outer, inner)
        for outer, inner in enumerate((*values.in_data_locs, *values.in_state_locs, *values.remain_locs))
    ]
    rest = pairs[data + states :]
    return LoopLayout(p.bodies[0], pairs[:data], pairs[data : data + states], rest, values.num_out_data)


def _inside(shape: Any) -> Any:
    """The shape of a row; those of an array of one axis are (1,)."""
    return None if shape is None else tuple(shape[1:]) or (1,)


def _stacked(length: int, row: Any, stated: Any) -> Any:
    """The shape of an array with such rows; ``stated`` is what is known of it."""
    if stated is not None and len(stated) == 1:
        return (length,)
    return None if row is None else (length, *row)


def _length(shapes: Sequence[Any]) -> int:
    """The number of rows of all these arrays."""
    found: int = UNKNOWN
    for shape in shapes:
        rows = shape[0] if shape else UNKNOWN
        require(
            "control-flow/rows", agree(found, rows),
            f"_foreach: all data and all stacked outputs need one number of rows, there are {found} and {rows}",
        )
        found = either(found, rows)
    return found


def through(p: GraphUse, rule: str, ins: list, outs: list) -> tuple[list, list]:
    """Shapes or types of all inputs and outputs, by inference through the body."""
    layout, shapes = layout_of(p), rule == SHAPES
    rows, length = outs[: layout.rows], int(UNKNOWN)
    inner: list[Any] = [None] * len(layout.body.variables)
    for pair in [*layout.data, *layout.rest]:
        inner[pair.inner] = ins[pair.outer]
    if shapes:
        length = _length([*(ins[pair.outer] for pair in layout.data), *rows])
        for pair in layout.data:
            inner[pair.inner] = _inside(ins[pair.outer])
        rows = [_inside(shape) for shape in rows]
    states = all_agreed(rule, "state", [ins[pair.outer] for pair in layout.states], outs[layout.rows :])
    while True:
        for pair, state in zip(layout.states, states, strict=True):
            inner[pair.inner] = state
        inner, heads = layout.body.infer(rule, inner, [*rows, *states])
        rows, before = heads[: layout.rows], states
        states = all_agreed(rule, "state", [inner[pair.inner] for pair in layout.states], heads[layout.rows :])
        if unchanged(states, before):
            break
    found = list(ins)
    for pair in [*layout.data, *layout.states, *layout.rest]:
        found[pair.outer] = inner[pair.inner]
    if shapes:
        for pair in layout.data:
            found[pair.outer] = _stacked(length, inner[pair.inner], ins[pair.outer])
        rows = [_stacked(length, row, None) for row in rows]
    return found, [*rows, *states]


def infer(p: GraphUse, ins: list, outs: list) -> tuple[list, list]:
    """Shapes; all data and all stacked outputs have the same number of rows, states keep their shape."""
    return through(p, SHAPES, ins, outs)


def infer_type(p: GraphUse, ins: list, outs: list) -> tuple[list, list]:
    """Types; states keep theirs."""
    ins, outs = through(p, "infer_type", ins, outs)
    return ins, [None if kind is None else np.dtype(kind) for kind in outs]


@decides("control-flow/foreach")
def forward(p: GraphUse, *buffers: Buffer, is_train: bool, rng: Any) -> None:
    """Run the body for each row; each output is written row by row."""
    del rng  # the body's operators ask for the streams themselves
    ins, outs = buffers[: p.input_count], buffers[p.input_count :]
    p.is_train = is_train
    _run(p, ins, outs)


def _run(p: GraphUse, ins: Sequence[Buffer], outs: Sequence[Buffer]) -> None:
    layout = layout_of(p)
    states = [ins[pair.outer] for pair in layout.states]
    p.taken = ins[layout.data[0].outer].shape[0]
    for step in range(p.taken):
        rows, states = run_step(p, layout, ins, states, step)
        for stack, row in zip(outs, rows, strict=False):
            row_of(stack, step).copy_from(row)
    for final, state in zip(outs[layout.rows :], states, strict=False):
        final.copy_from(state)


def backward(p: GraphUse, *buffers: Any, is_train: bool) -> None:
    """Gradients through all steps."""
    heads, ins, targets = backward_buffers(p, buffers, _run)
    back_in_time(p, layout_of(p), p.taken, heads, ins, targets, is_train)


FOREACH = register(ControlFlow(
    **register_arguments("_foreach"), params=ForeachParams, graphs=1, wiring=wiring,
    tier=2, without_loops="runs the operators of its graph",
    doc="Runs the graph inside once for each row of the data, handing states on: mx.sym.contrib.foreach makes it.",
    infer=infer, infer_type=infer_type, forward=forward, backward=backward,
))
"""What ``mx.sym.contrib.foreach`` puts into a graph."""

__all__ = ["FOREACH", "ForeachParams"]
