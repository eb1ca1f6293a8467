"""Ways to break a page on purpose. Each takes an operator and returns a broken copy of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from refimpl.kernels.foundation import Buffer, Op, either, known, refusal

Mutation = Callable[[Op], Op]


def _after_forward(op: Op, change: Callable[[list[Buffer], list[Buffer]], None]) -> Op:
    """Run ``change(inputs, outputs)`` after forward."""

    def forward(p: Any, *args: Any, **extra: Any) -> None:
        op.forward(p, *args, **extra)
        count = len(op.output_names(p))
        ins = args[0] if op.variadic else [b for b in args[:-count] if b is not None]
        change(list(ins), list(args[-count:]))

    return replace(op, forward=forward)


def _after_backward(op: Op, change: Callable[[list[Buffer | None]], None]) -> Op:
    """Run ``change(gradients)`` after backward; the last arguments are the gradients."""
    assert op.backward is not None

    def backward(p: Any, *args: Any, **extra: Any) -> None:
        op.backward(p, *args, **extra)  # type: ignore[misc]  # checked above
        change(list(args[-1] if op.variadic else args[-len(op.all_inputs) :]))

    return replace(op, backward=backward)


def output_element_unwritten(op: Op) -> Op:
    def forward(p: Any, *args: Any, **extra: Any) -> None:
        before = args[-1].flat[-1]
        op.forward(p, *args, **extra)
        args[-1].flat[-1] = before

    return replace(op, forward=forward)


def input_overwritten(op: Op) -> Op:
    def change(ins: list[Buffer], outs: list[Buffer]) -> None:
        del outs
        ins[0].flat[0] += 1

    return _after_forward(op, change)


def output_reversed(op: Op) -> Op:
    """Stands for a wrong axis: the right numbers in the wrong places."""

    def change(ins: list[Buffer], outs: list[Buffer]) -> None:
        del ins
        outs[0].flat[:] = outs[0].flat[::-1].copy()

    return _after_forward(op, change)


def output_differs_by_the_run(op: Op) -> Op:
    runs = iter(range(10**6))

    def change(ins: list[Buffer], outs: list[Buffer]) -> None:
        del ins
        outs[0].flat[0] += next(runs)

    return _after_forward(op, change)


def written_past_the_end(op: Op) -> Op:
    def change(ins: list[Buffer], outs: list[Buffer]) -> None:
        del ins
        flat = outs[0].flat
        memory = flat if flat.base is None else flat.base
        offset = (flat.__array_interface__["data"][0] - memory.__array_interface__["data"][0])
        memory.reshape(-1)[offset // flat.itemsize + flat.size] = 0

    return _after_forward(op, change)


def gradient_scaled(op: Op) -> Op:
    def change(grads: list[Buffer | None]) -> None:
        for grad in grads:
            if grad is not None:
                grad.flat *= grad.dtype.type(1.001)

    return _after_backward(op, change)


def gradient_dropped(op: Op) -> Op:
    def change(grads: list[Buffer | None]) -> None:
        for grad in grads[:1]:
            if grad is not None:
                grad.flat[:] = 0

    return _after_backward(op, change)


def gradient_reversed(op: Op) -> Op:
    def change(grads: list[Buffer | None]) -> None:
        for grad in grads[:1]:
            if grad is not None:
                grad.flat[:] = grad.flat[::-1].copy()

    return _after_backward(op, change)


def gradient_added_to_what_was_there(op: Op) -> Op:
    assert op.backward is not None

    def backward(p: Any, *args: Any, **extra: Any) -> None:
        grads = args[-1] if op.variadic else args[-len(op.all_inputs) :]
        before = [None if g is None else g.flat.copy() for g in grads]
        op.backward(p, *args, **extra)  # type: ignore[misc]  # checked above
        for grad, old in zip(grads, before, strict=True):
            if grad is not None:
                grad.flat += old

    return replace(op, backward=backward)


def gradient_depends_on_what_is_wanted(op: Op) -> Op:
    def change(grads: list[Buffer | None]) -> None:
        if any(g is None for g in grads):
            for grad in grads:
                if grad is not None:
                    grad.flat[:] = np.float32(2) * grad.flat + 1

    return _after_backward(op, change)


def _with_outputs(op: Op, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Op:
    def infer(p: Any, ins: list, outs: list) -> tuple[list, list]:
        ins, found = op.infer(p, ins, [None] * len(outs))
        return ins, [change(s) if known(s) else s for s in found]

    return replace(op, infer=infer)


def inferred_shape_too_large(op: Op) -> Op:
    return _with_outputs(op, lambda shape: (shape[0] + 1, *shape[1:]))


def inferred_shape_too_small(op: Op) -> Op:
    return _with_outputs(op, lambda shape: (max(1, shape[0] - 1), *shape[1:]))


def inference_needs_everything(op: Op) -> Op:
    def infer(p: Any, ins: list, outs: list) -> tuple[list, list]:
        if not known(*ins):
            raise refusal("meta/impatient", "cannot wait for shapes")
        return op.infer(p, ins, outs)

    return replace(op, infer=infer)


def inference_guesses(op: Op) -> Op:
    def infer(p: Any, ins: list, outs: list) -> tuple[list, list]:
        ins, outs = op.infer(p, ins, outs)
        return [s if s is None else tuple(either(side, 7) for side in s) for s in ins], outs

    return replace(op, infer=infer)


FORWARD: tuple[Mutation, ...] = (
    output_element_unwritten, input_overwritten, output_reversed, output_differs_by_the_run,
    written_past_the_end, inferred_shape_too_large, inferred_shape_too_small,
    inference_needs_everything, inference_guesses,
)
BACKWARD: tuple[Mutation, ...] = (
    gradient_scaled, gradient_dropped, gradient_reversed, gradient_added_to_what_was_there,
    gradient_depends_on_what_is_wanted,
)
