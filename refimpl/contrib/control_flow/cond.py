"""The record of ``_cond``: one of two graphs runs, and a third says which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...base import decides, require
from ...kernels.foundation import Buffer, register
from ...kernels.foundation.params import Shape
from .bodies import SHAPES, TYPES, Body, Frame, agreed, unchanged
from .loops import GradientAccumulator, backward_buffers
from .parameters import ControlFlow, GraphUse, register_arguments
from .while_loop import is_true, require_one


class CondParams(NamedTuple):
    """``num_args`` counts the three graphs and the inputs.

    The locations say which input of the node each input of the condition and of the two branches is.
    """

    num_args: int
    num_outputs: int
    cond_input_locs: Shape
    then_input_locs: Shape
    else_input_locs: Shape


def wiring(values: CondParams, bodies: Sequence[Body]) -> list[list[int]]:
    """Which input of the node each input of the three graphs is."""
    heads = [len(body.heads) for body in bodies]
    require(
        "control-flow/locations", heads == [1, values.num_outputs, values.num_outputs] and values.num_outputs > 0,
        f"_cond: the graphs have {heads} outputs, for num_outputs={values.num_outputs}",
    )
    return [list(values.cond_input_locs), list(values.then_input_locs), list(values.else_input_locs)]


def through(p: GraphUse, rule: str, ins: list, outs: list) -> tuple[list, list]:
    """Shapes or types of all inputs and outputs: both branches give the same."""
    found, made = list(ins), list(outs)
    while True:
        before = [*found, *made]
        for number, (body, wire) in enumerate(zip(p.bodies, p.wires, strict=True)):
            inner, heads = body.infer(rule, [found[outer] for outer in wire], made if number else [None])
            for outer, value in zip(wire, inner, strict=True):
                found[outer] = agreed(rule, f"input {outer}", found[outer], value)
            if number:
                made = heads
            elif rule == SHAPES:
                require_one("_cond", heads[0])
        if unchanged([*found, *made], before):
            return found, made


@decides("control-flow/cond")
def forward(p: GraphUse, *buffers: Buffer, is_train: bool, rng: Any) -> None:
    """Ask, then run one branch."""
    del rng  # the operators of a branch ask for the streams themselves
    p.is_train = is_train
    _run(p, buffers[: p.input_count], buffers[p.input_count :])


def _run(p: GraphUse, ins: Sequence[Buffer], outs: Sequence[Buffer]) -> None:
    asking, wire = p.bodies[0], p.wires[0]
    answer = asking.forward(Frame(), [ins[outer] for outer in wire], p.place(), p.is_train)[0]
    p.taken = 1 if is_true(answer) else 2
    frame = p.frame(p.taken if p.remembers else 0)  # each branch has its own memory
    heads = p.bodies[p.taken].forward(frame, [ins[outer] for outer in p.wires[p.taken]], p.place(), p.is_train)
    for out, head in zip(outs, heads, strict=False):
        out.copy_from(head)


def backward(p: GraphUse, *buffers: Any, is_train: bool) -> None:
    """The gradient of the branch that ran; what only the other one reads gets zeros."""
    heads, ins, targets = backward_buffers(p, buffers, _run)
    body, wire = p.bodies[p.taken], p.wires[p.taken]
    derived = body.derived(inner for inner, outer in enumerate(wire) if targets[outer] is not None)
    if derived.refused is not None:
        raise derived.refused
    reads = [ins[outer] for outer in wire]
    found = body.backward(p.frames[p.taken], reads, heads, derived, p.place(), is_train)
    sums = GradientAccumulator(targets)
    for outer, gradient in zip(wire, found, strict=True):
        sums.add(outer, gradient)
    sums.finish()


COND = register(ControlFlow(
    **register_arguments("_cond"), params=CondParams, graphs=3, wiring=wiring,
    tier=2, without_loops="runs the operators of its graphs",
    doc="Runs the second or the third graph inside, as the first one says: mx.sym.contrib.cond makes it.",
    infer=lambda p, ins, outs: through(p, SHAPES, ins, outs),
    infer_type=lambda p, ins, outs: through(p, TYPES, ins, outs),
    forward=forward, backward=backward,
))
"""What ``mx.sym.contrib.cond`` puts into a graph."""

__all__ = ["COND", "CondParams"]
