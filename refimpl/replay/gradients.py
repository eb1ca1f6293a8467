"""Repeated gradients of autograd go straight to their kernels, as calls on arrays do.

The kernels of a page's backward depend only on the operator, its parameters, the shapes, dtypes and devices of its
buffers, which gradients are wanted, the mode and the active quirks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..context import Context
from ..executor.steps import BackwardStep
from ..kernels.foundation import Buffer
from ..kernels.foundation.contract import Op
from ..kernels.foundation.quirk import SCOPE
from ..symbol.ir import Node
from .asking import Memory, repeatable_calls
from .programs import exact, page_of
from .recorder import Recorder, Recording

GRADIENTS: Recorder[Recording] = Recorder(limit=4096, seen=4096)


def gradient(
    node: Node, reads: list[Buffer], gradients: list[Buffer | None], ctx: Context, is_train: bool
) -> None:
    """Fill the wanted gradients of one operator.

    Args:
        node: the gradient node.
        reads: the buffers of its inputs.
        gradients: the buffers of its outputs, None for a gradient that nobody wants.
        ctx: the context that it runs on.
        is_train: whether operators run as in training.
    """
    given = [*reads, *gradients]
    key = _key_for(node, given, is_train)
    recording = None if key is None else GRADIENTS.made.get(key)
    if recording is not None:
        recording.run([buffer.flat for buffer in given if buffer is not None])
        return
    step = BackwardStep(node, reads, gradients, ctx)
    step.run(is_train)
    if key is not None and GRADIENTS.is_due(key):
        GRADIENTS.keep(key, _recorded(step, [buffer for buffer in given if buffer is not None], is_train))


def _key_for(node: Node, given: Sequence[Buffer | None], is_train: bool) -> tuple | None:
    """The key of a gradient's recording; None where the gradient cannot be replayed."""
    op, p = node.op, node.params
    if type(op) is not Op or not isinstance(p, tuple):
        return None
    parts: list[Any] = [op, exact(p), is_train, SCOPE.get()]
    for buffer in given:
        parts += (None,) if buffer is None else (buffer.shape, buffer.flat.dtype, buffer.device)
    return tuple(parts)


def _recorded(step: BackwardStep, given: list[Buffer], is_train: bool) -> Recording | None:
    """The recording of a step whose buffers are ``given``, in this order; None where it cannot be replayed."""
    asked = page_of(step, is_train)
    if asked is None or any(buffer.device != "cpu" for buffer in given):
        return None
    _, page, buffers = asked
    there = [buffer for buffer in buffers if buffer is not None]
    if list(map(id, there)) != list(map(id, given)):
        return None
    numbers = iter(range(len(there)))  # two buffers that share memory now may not share it the next time
    memory = [None if b is None else Memory(next(numbers), b.shape, b.flat.dtype) for b in buffers]
    return Recording.of(repeatable_calls(page, memory, apart=False), len(there))


__all__ = ["GRADIENTS", "gradient"]
