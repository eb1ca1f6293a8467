"""What both loops do: run the body step by step, hand states on, and go back through the steps for gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

from ...base import decides
from ...executor.memory_pool import part
from ...kernels.foundation import Buffer, NoParams, allocate, get
from ...kernels.foundation import run as runner
from .bodies import Body, Derived
from .parameters import GraphUse


class Pair(NamedTuple):
    """``outer`` is an input of the node, ``inner`` the variable of the body that it is."""

    outer: int
    inner: int


class LoopLayout(NamedTuple):
    """How a loop feeds its body: ``data`` row by row, ``states`` from step to step, ``rest`` as they are.

    The body's outputs are ``rows`` outputs of the step, then the next states.
    """

    body: Body
    data: list[Pair]
    states: list[Pair]
    rest: list[Pair]
    rows: int


def row_of(array: Buffer, index: int) -> Buffer:
    """One row along the first axis: the same memory. The rows of an array of one axis have the shape (1,)."""
    shape = array.shape[1:] or (1,)
    return part(array, index * prod(shape) * array.dtype.itemsize, array.dtype, shape)


def step_inputs(layout: LoopLayout, inputs: Sequence[Buffer], states: Sequence[Buffer], step: int) -> list[Buffer]:
    """What the body reads in one step.

    Args:
        layout: how the loop feeds its body.
        inputs: the inputs of the node.
        states: the states at the beginning of the step.
        step: the number of the step.
    """
    reads: list[Any] = [None] * len(layout.body.variables)
    for outer, inner in layout.data:
        reads[inner] = row_of(inputs[outer], step)
    for (_, inner), state in zip(layout.states, states, strict=True):
        reads[inner] = state
    for outer, inner in layout.rest:
        reads[inner] = inputs[outer]
    return reads


def run_step(
    p: GraphUse, layout: LoopLayout, inputs: Sequence[Buffer], states: Sequence[Buffer], step: int
) -> tuple[list[Buffer], list[Buffer]]:
    """Run the body once: (outputs of the step, next states).

    Args:
        p: the node's parameters, which keep what backward reads.
        layout: how the loop feeds its body.
        inputs: the inputs of the node.
        states: the states at the beginning of the step.
        step: the number of the step.
    """
    frame = p.frame(step)
    if frame.heads and not p.remembers:  # the states lie in the frame that is used again
        states = [_copy(state) for state in states]
    heads = layout.body.forward(frame, step_inputs(layout, inputs, states, step), p.place(), p.is_train)
    return heads[: layout.rows], heads[layout.rows :]


def backward_buffers(
    p: GraphUse, buffers: Sequence[Any], run: Callable[[GraphUse, Sequence[Buffer], Sequence[Buffer]], None]
) -> tuple[Sequence[Buffer], Sequence[Buffer], Sequence[Buffer | None]]:
    """(head gradients, inputs, where their gradients go) among the buffers of a backward.

    What the graphs computed is needed: where forward kept nothing of it, ``run`` computes it again.
    """
    count, outputs = p.input_count, len(p.outputs)
    heads, ins, targets = buffers[:outputs], buffers[outputs : outputs + count], buffers[outputs + count + 1 :]
    if not p.remembers:
        p.keeps = True
        run(p, ins, ())
    return heads, ins, targets


def _copy(buffer: Buffer) -> Buffer:
    made = allocate(buffer.shape, buffer.dtype, buffer.device)
    made.copy_from(buffer)
    return made


class GradientAccumulator:
    """Gradients of inputs that are written as the sum of what several steps give, in the order they come."""

    def __init__(self, targets: Sequence[Buffer | None]) -> None:
        self.targets = targets
        self.begun: set[int] = set()

    def add(self, index: int, gradient: Buffer | None) -> None:
        """Add to the gradient of one input; None is zero."""
        target = self.targets[index]
        if target is None or gradient is None:
            return
        if index in self.begun:
            runner.forward(get("_grad_add"), NoParams(), [target, gradient], [target])
        else:
            target.copy_from(gradient)
            self.begun.add(index)

    def finish(self) -> None:
        """Write zeros where nothing came."""
        for index, target in enumerate(self.targets):
            if target is not None and index not in self.begun:
                target.fill(0)


def _needed(layout: LoopLayout, targets: Sequence[Buffer | None]) -> tuple[set[int], Derived]:
    """Numbers of the states whose gradients have to be known, and the gradient of the body that gives them."""
    wanted = {
        pair.inner for pair in [*layout.data, *layout.states, *layout.rest] if targets[pair.outer] is not None
    }
    summed = {pair.inner for pair in layout.rest}
    needed = _states_that_reach(layout, wanted)
    derived = layout.body.derived(wanted | {layout.states[j].inner for j in needed}, summed)
    if derived.refused is not None:
        # a state that only chooses, such as an index, has no gradient to hand on
        needed = {
            j for j in needed
            if layout.states[j].inner in wanted or layout.body.derived({layout.states[j].inner}).refused is None
        }
        derived = layout.body.derived(wanted | {layout.states[j].inner for j in needed}, summed)
        if derived.refused is not None:
            raise derived.refused
    return needed, derived


def _states_that_reach(layout: LoopLayout, wanted: set[int]) -> set[int]:
    """Numbers of the states that are wanted or lead, through later steps, to something wanted."""
    reached = layout.body.reached()[layout.rows :]
    found: set[int] = set()
    for _ in layout.states:  # what the next state leads to grows until nothing is new
        through = wanted | {layout.states[j].inner for j in found}
        found |= {
            j for j, pair in enumerate(layout.states) if pair.inner in wanted or reached[j] & through
        }
    return found


@decides("control-flow/gradient")
def back_in_time(
    p: GraphUse, layout: LoopLayout, steps: int, heads: Sequence[Buffer], inputs: Sequence[Buffer],
    targets: Sequence[Buffer | None], is_train: bool,
) -> None:
    """Gradients of the inputs of a loop, from the last step to the first.

    Args:
        p: the node's parameters, with the frames that forward left.
        layout: how the loop feeds its body.
        steps: how many steps forward ran.
        heads: the gradients of the node's outputs.
        inputs: the inputs of the node.
        targets: where their gradients go, None where one is not wanted.
        is_train: whether operators run as in training.
    """
    needed, derived = _needed(layout, targets)
    carried: list[Buffer | None] = list(heads[layout.rows :])
    sums = GradientAccumulator(targets)
    shared: dict[int, Buffer] = {}  # gradients of weights, to which the body itself adds
    for step in reversed(range(steps)):
        states = p.frames[step - 1].heads[layout.rows :] if step else [inputs[pair.outer] for pair in layout.states]
        reads = step_inputs(layout, inputs, states, step)
        given = [*(row_of(head, step) for head in heads[: layout.rows]), *carried]
        found = layout.body.backward(p.frames[step], reads, given, derived, p.place(), is_train, shared)
        carried = [found[pair.inner] if j in needed else None for j, pair in enumerate(layout.states)]
        for outer, inner in layout.data:
            target, gradient = targets[outer], found[inner]
            if target is not None:
                sums.begun.add(outer)
                row = row_of(target, step)
                if gradient is None:
                    row.fill(0)
                else:
                    row.copy_from(gradient)
        for outer, inner in layout.rest:
            gradient = found[inner]
            if gradient is not None and layout.body.keys[inner][0] in derived.begun:
                shared[inner] = gradient
            else:
                sums.add(outer, gradient)
    for outer, inner in layout.rest:
        sums.add(outer, shared.get(inner))
    for pair, gradient in zip(layout.states, carried, strict=True):
        sums.add(pair.outer, gradient)
    sums.finish()


__all__ = ["LoopLayout", "Pair", "back_in_time", "row_of", "run_step"]
