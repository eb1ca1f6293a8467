"""One node made ready to run: its buffers are looked up once, at bind, and never again."""

from __future__ import annotations

from typing import Any

import numpy as np

from .context import Context
from .kernels.foundation import Buffer, NoParams, get
from .kernels.foundation import run as runner
from .resource import random_streams
from .symbol.ir import HEAD, Node

_HALF = np.dtype(np.float16)


class ForwardStep:
    """Runs an operator's forward over fixed buffers."""

    __slots__ = ("arguments", "context", "half", "inputs", "node", "op", "outputs", "params")

    def __init__(self, node: Node, inputs: list[Buffer], outputs: list[Buffer], context: Context) -> None:
        assert node.op is not None
        self.node, self.op, self.params = node, node.op, node.params
        self.inputs, self.outputs, self.context = inputs, outputs, context
        self.half = any(b.flat.dtype == _HALF for b in (*inputs, *outputs))
        self.arguments = (*self.op.full_inputs(self.params, inputs), *outputs)

    def run(self, is_train: bool) -> None:
        """Fill the outputs."""
        op = self.op
        if self.half or op.mode or op.random:
            rng = random_streams(self.context) if op.random else None
            runner.forward(op, self.params, self.inputs, self.outputs, is_train=is_train, rng=rng)
        else:
            op.forward(self.params, *self.arguments)


class BackwardStep:
    """Runs an operator's backward over fixed buffers; ``gradients`` holds None where nobody asks."""

    __slots__ = ("arguments", "gradients", "half", "heads", "needs", "node", "op", "params")

    def __init__(self, node: Node, reads: list[Buffer], gradients: list[Buffer | None]) -> None:
        assert node.op is not None
        assert node.primal is not None
        self.node, self.op, self.params = node, node.op, node.params
        op, p = self.op, self.params
        names = node.read_names()
        head_count = names.count(HEAD)
        self.heads = reads[:head_count]
        by_name = dict(zip(names[head_count:], reads[head_count:], strict=True))
        self.needs: list[Any] = [by_name.get(name) for name in op.need_names(p)]
        self.gradients = gradients
        every = [*self.heads, *self.needs, *gradients]
        self.half = any(b is not None and b.flat.dtype == _HALF for b in every)
        self.arguments = (*self.heads, *self.needs, *op.full_inputs(p, gradients))

    def run(self, is_train: bool) -> None:
        """Fill the wanted gradients."""
        op = self.op
        if self.half or op.mode:
            runner.backward(op, self.params, self.heads, self.needs, self.gradients, is_train=is_train)
        else:
            assert op.backward is not None
            op.backward(self.params, *self.arguments)


class CopyStep:
    """Copies one buffer into another: an output that is an argument, a gradient used twice."""

    __slots__ = ("source", "target")

    def __init__(self, source: Buffer, target: Buffer) -> None:
        self.source, self.target = source, target

    def run(self, is_train: bool) -> None:
        """Copy."""
        del is_train
        self.target.copy_from(self.source)


class AddStep:
    """``target += source``: what grad_req 'add' means."""

    __slots__ = ("inputs", "op", "target")

    def __init__(self, source: Buffer, target: Buffer) -> None:
        self.op, self.inputs, self.target = get("_grad_add"), [target, source], target

    def run(self, is_train: bool) -> None:
        """Add."""
        del is_train
        runner.forward(self.op, NoParams(), self.inputs, [self.target])


class ZeroStep:
    """Writes zeros: the gradient of an argument that the outputs do not depend on."""

    __slots__ = ("target",)

    def __init__(self, target: Buffer) -> None:
        self.target = target

    def run(self, is_train: bool) -> None:
        """Fill with zeros."""
        del is_train
        self.target.fill(0)


Step = ForwardStep | BackwardStep | CopyStep | AddStep | ZeroStep
