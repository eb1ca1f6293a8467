"""Steps: each runs one node on buffers that are looked up once, at bind."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from ..base import decides, refusal
from ..context import Context
from ..kernels.foundation import Buffer, NoParams, allocate, get
from ..kernels.foundation import run as runner
from ..ndarray.run_operator import run_operator
from ..symbol.inference import Key
from ..symbol.ir import Node


class StepFailed(Exception):  # no user sees it
    """A step failed during a replay; steps before it have run, steps after it have not. ``__cause__`` is the error.

    Args:
        number: the index of the failed step.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class ForwardStep:
    """Runs an operator's forward on fixed buffers.

    Args:
        node: the operator's node.
        inputs: the buffers of its inputs.
        outputs: the buffers of its outputs.
        context: the context that it runs on.
        params: the operator's parameters; by default the node's.
    """

    __slots__ = ("context", "inputs", "node", "op", "outputs", "params")

    def __init__(
        self, node: Node, inputs: list[Buffer], outputs: list[Buffer], context: Context, params: Any = None
    ) -> None:
        assert node.op is not None
        self.node, self.op = node, node.op
        self.params = node.params if params is None else params
        self.inputs, self.outputs, self.context = inputs, outputs, context

    @property
    def is_direct(self) -> bool:
        """Whether the page's function runs on the arrays themselves and draws nothing."""
        types = [b.flat.dtype for b in (*self.inputs, *self.outputs)]
        return runner.is_direct(self.op, types, [b.shape for b in self.outputs])

    def run(self, is_train: bool) -> None:
        """Fill the outputs."""
        run_operator(self.op, self.params, self.inputs, self.outputs, self.context, is_train=is_train)


class ViewStep(ForwardStep):
    """Does nothing: the output is the memory of the input under another shape."""

    __slots__ = ()

    def run(self, is_train: bool) -> None:
        """Do nothing."""


class TransferStep(ForwardStep):
    """Copies a value to another context."""

    __slots__ = ()

    def run(self, is_train: bool) -> None:
        """Copy, from any device to any other."""
        del is_train
        self.outputs[0].copy_from(self.inputs[0])


class BackwardStep:
    """Runs an operator's backward on fixed buffers.

    Args:
        node: the gradient node.
        reads: the buffers of its inputs.
        gradients: the buffers of its outputs, None for a gradient that nobody reads.
        context: the context that it runs on.
        params: the operator's parameters; by default the node's.
    """

    __slots__ = ("context", "gradients", "heads", "needs", "node", "op", "params")

    def __init__(
        self, node: Node, reads: list[Buffer], gradients: list[Buffer | None], context: Context,
        params: Any = None,
    ) -> None:
        assert node.op is not None
        assert node.primal is not None
        self.node, self.op, self.context = node, node.op, context
        self.params = node.params if params is None else params
        signature = node.signature
        self.heads, needs = reads[: signature.heads], reads[signature.heads :]
        if len(needs) < len(signature.needs):  # some needs are inactive
            by_name = dict(zip(signature.reads[signature.heads :], needs, strict=True))
            self.needs: list[Any] = [by_name.get(name) for name in signature.needs]
        else:
            self.needs = needs
        self.gradients = gradients
        runner.check_backward(self.op, self.params, self.heads, self.needs, gradients)

    @property
    def is_direct(self) -> bool:
        """Whether the page's function runs on the arrays themselves and draws nothing."""
        written = [b for b in self.gradients if b is not None]
        types = [b.flat.dtype for b in (*self.heads, *self.needs, *written) if b is not None]
        return runner.is_direct(self.op, types, [b.shape for b in written])

    def run(self, is_train: bool) -> None:
        """Fill the wanted gradients."""
        runner.backward(self.op, self.params, self.heads, self.needs, self.gradients, is_train=is_train)


def gradient_buffers(
    node: Node, inputs: Sequence[Buffer], read: Container[Key], device: str
) -> list[Buffer | None]:
    """Memory for the outputs of a gradient node; each has the shape and dtype of the operator's input.

    Args:
        node: the gradient node.
        inputs: the inputs of its operator.
        read: the keys of the values that are read; the other outputs get None.
        device: the device of the memory.
    """
    return [
        allocate(like.shape, like.dtype, device) if (id(node), index) in read else None
        for index, like in enumerate(inputs)
    ]


class ViewBackwardStep(BackwardStep):
    """Does nothing: the gradient is the memory of the head gradient under another shape."""

    __slots__ = ()

    def run(self, is_train: bool) -> None:
        """Do nothing."""


@decides("Executor/output-is-argument")
class CopyStep:
    """Copies one buffer into another: an output that is an argument, a gradient used twice."""

    __slots__ = ("source", "target")

    def __init__(self, source: Buffer, target: Buffer) -> None:
        self.source, self.target = source, target

    def run(self, is_train: bool) -> None:
        """Copy."""
        del is_train
        self.target.copy_from(self.source)


@decides("ExecutorGroup/add-accumulates", "Executor/grad-req-add")
class AddStep:
    """``target += source``: accumulates a gradient, for grad_req 'add'."""

    __slots__ = ("inputs", "is_direct", "op", "outputs", "params", "target")

    def __init__(self, source: Buffer, target: Buffer) -> None:
        self.op, self.inputs, self.target = get("_grad_add"), [target, source], target
        self.params, self.outputs = NoParams(), [target]
        self.is_direct = runner.is_direct(self.op, [target.flat.dtype], [target.shape])

    def run(self, is_train: bool) -> None:
        """Add."""
        del is_train
        runner.forward(self.op, self.params, self.inputs, self.outputs)


@decides("gradient/unreached")
class ZeroStep:
    """Writes zeros: the gradient of an argument that the outputs do not depend on."""

    __slots__ = ("target",)

    def __init__(self, target: Buffer) -> None:
        self.target = target

    def run(self, is_train: bool) -> None:
        """Fill with zeros."""
        del is_train
        self.target.fill(0)


class KeptValues:
    """The last step of a forward whose values backward will overwrite: notes that the values are there."""

    __slots__ = ("there",)

    def __init__(self) -> None:
        self.there = False

    def run(self, is_train: bool) -> None:
        """Note that forward has run."""
        del is_train
        self.there = True


class SpendStep:
    """The first step of a backward that overwrites forward's values: refuses to run twice on one forward."""

    __slots__ = ("kept",)

    def __init__(self, kept: KeptValues) -> None:
        self.kept = kept

    def run(self, is_train: bool) -> None:
        """Refuse to run on values that an earlier backward has overwritten.

        Raises:
            MXNetError: forward has not run since the last backward.
        """
        del is_train
        if not self.kept.there:
            raise refusal(
                "memory/once",
                "backward has overwritten what it read of forward; run forward before each backward, or bind"
                " without REFIMPL_MEMORY_PLAN=once",
            )
        self.kept.there = False


Step = ForwardStep | BackwardStep | CopyStep | AddStep | ZeroStep | KeptValues | SpendStep
