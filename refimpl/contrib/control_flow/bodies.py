"""The graph inside a node: inference through it, one run of it on buffers, and its gradient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ...base import decides, refusal, require
from ...context import Context
from ...executor.steps import BackwardStep, gradient_buffers
from ...kernels.foundation import Buffer, allocate, known, merge
from ...kernels.foundation import run as runner
from ...ndarray.run_operator import run_operator
from ...symbol import gradient, inference, shared_weights
from ...symbol.inference import Key, key_of
from ...symbol.ir import Entry, Node, post_order
from ...util import is_np_shape

Sizes = dict[Key, tuple[tuple[int, ...], np.dtype]]
SHAPES, TYPES = "infer", "infer_type"
"""The two rules of an operator that inference follows."""


def agreed(rule: str, what: str, one: Any, other: Any) -> Any:
    """What two partial shapes, or two types, of one array say together.

    Args:
        rule: ``SHAPES`` or ``TYPES``.
        what: the array, for messages.
        one: what is known, None for nothing.
        other: what else is known, None for nothing.

    Raises:
        MXNetError: they contradict each other.
    """
    if rule == SHAPES:
        return merge("control-flow/shape", what, one, other)
    if one is None or other is None:
        return other if one is None else one
    require("control-flow/type", one == other, f"the type of {what} is {one}, inferred {other}")
    return one


def all_agreed(rule: str, what: str, some: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """:func:`agreed` for each pair of two lists; messages add its number to ``what``."""
    return [agreed(rule, f"{what} {j}", *pair) for j, pair in enumerate(zip(some, others, strict=True))]


def unchanged(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two lists of shapes or types say the same (a dtype may equal None, so that is asked for first)."""
    return all((a is None) == (b is None) and a == b for a, b in zip(one, other, strict=True))


class Frame:
    """One run of a body: the outputs of every operator, and the parameters that are its own."""

    __slots__ = ("buffers", "heads", "own", "sized")

    def __init__(self) -> None:
        self.buffers: dict[Key, Buffer] = {}
        self.own: dict[int, Any] = {}
        self.heads: list[Buffer] = []
        self.sized: Any = None


class Derived:
    """The gradient of a body for some of its variables, as nodes to run after a forward run.

    ``begun`` says for which variables, by their ids, it is added to a sum that is handed in, and what stands for that.
    """

    def __init__(self, heads: Sequence[Entry], wanted: set[int], continued: set[int]) -> None:
        made = gradient.build(heads, wanted, taped=True, continued=continued)
        self.refused = made.refused
        self.heads, self.of, self.begun = made.heads, made.of, made.begun
        self.nodes = [node for node in made.nodes if not node.is_variable]
        self.read = {key_of(e) for node in self.nodes for e in node.inputs} | {key_of(e) for e in made.of.values()}


class Body:
    """A graph with ``variables``, its inputs in depth-first order, and ``heads``, its outputs."""

    def __init__(self, heads: Sequence[Entry]) -> None:
        self.heads = list(heads)
        self.order = post_order(heads)
        self.variables = [node for node in self.order if node.is_variable]
        self.operators = [node for node in self.order if not node.is_variable]
        self.keys: list[Key] = [(id(node), 0) for node in self.variables]
        self._sizes: dict[Any, Sizes] = {}
        self._inferred: dict[Any, tuple[list, list]] = {}
        self._derived: dict[tuple, Derived] = {}

    @decides("control-flow/state-of-the-body")
    def changed(self) -> set[int]:
        """Positions of the variables that an operator changes in place, as BatchNorm does."""
        found = set()
        for node in self.operators:
            assert node.op is not None
            if node.op.mutates:
                names = node.op.input_names(node.params)
                found |= {key_of(e) for n, e in zip(names, node.inputs, strict=True) if n in node.op.mutates}
        return {i for i, key in enumerate(self.keys) if key in found}

    def reached(self) -> list[set[int]]:
        """For each head the positions of the variables that it depends on."""
        of: dict[int, set[int]] = {id(node): {i} for i, node in enumerate(self.variables)}
        for node in self.operators:
            of[id(node)] = set().union(*(of[id(entry.node)] for entry in node.inputs))
        return [of[id(head.node)] for head in self.heads]

    # --- inference ---------------------------------------------------------------------------------

    def infer(self, rule: str, ins: Sequence[Any], outs: Sequence[Any]) -> tuple[list, list]:
        """Shapes (or types) of variables and heads, from what is known of both.

        Remembered, because a loop in a loop asks again and again: without that, each level would double the time.
        """
        asked = rule, tuple(ins), tuple(outs)
        key = is_np_shape(), *asked  # which says what a 0 in the shape of zeros means
        found = self._inferred.get(key)
        if found is None:
            found = self._inferred[key] = self._infer(*asked)
        return list(found[0]), list(found[1])

    def _infer(self, rule: str, ins: Sequence[Any], outs: Sequence[Any]) -> tuple[list, list]:
        told: dict[Key, Any] = {}
        names = [*(n.name for n in self.variables), *(e.node.entry_name(e.index) for e in self.heads)]
        keys = [*self.keys, *map(key_of, self.heads)]
        for key, name, value in zip(keys, names, [*ins, *outs], strict=True):
            told[key] = agreed(rule, name, told.get(key), value)
        found = inference.fixpoint(self.order, {k: v for k, v in told.items() if v is not None}, rule)
        return [found.get(key) for key in self.keys], [found.get(key_of(e)) for e in self.heads]

    def sizes(self, inputs: Sequence[Buffer]) -> Sizes:
        """Shape and type of every output of every operator, for inputs like these.

        Raises:
            MXNetError: they cannot all be known.
        """
        asked = (tuple(b.shape for b in inputs), tuple(b.dtype for b in inputs))
        found = self._sizes.get(asked)
        if found is None:
            shapes = inference.fixpoint(self.order, dict(zip(self.keys, asked[0], strict=True)), SHAPES)
            types = inference.fixpoint(self.order, dict(zip(self.keys, asked[1], strict=True)), TYPES)
            found = {}
            for node in self.operators:
                for index in range(node.output_count()):
                    key = (id(node), index)
                    if not known(shapes.get(key)):
                        raise refusal(
                            "control-flow/known-shapes",
                            f"the shape of {node.entry_name(index)} cannot be inferred from the inputs",
                        )
                    kind = types.get(key)
                    found[key] = shapes[key], np.dtype(np.float32 if kind is None else kind)
            self._sizes[asked] = found
        return found

    # --- running -----------------------------------------------------------------------------------

    @decides("control-flow/random")
    def forward(self, frame: Frame, inputs: Sequence[Buffer], context: Context, is_train: bool) -> list[Buffer]:
        """Run every operator; the values of the heads, which are the frame's memory or inputs.

        Args:
            frame: where the outputs of the operators go, for :meth:`backward` to read.
            inputs: the values of the variables.
            context: where it runs.
            is_train: whether operators run as in training.
        """
        sizes = self.sizes(inputs)
        if frame.sized is not sizes:
            frame.buffers = {k: allocate(shape, kind, context.memory) for k, (shape, kind) in sizes.items()}
            frame.own, frame.sized = {}, sizes
        values = {**dict(zip(self.keys, inputs, strict=True)), **frame.buffers}
        for node in self.operators:
            op = node.op
            assert op is not None
            reads = [values[key_of(entry)] for entry in node.inputs]
            writes = [values[id(node), i] for i in range(node.output_count())]
            if id(node) not in frame.own:
                frame.own[id(node)] = op.own(node.params, context, reads)
            run_operator(op, frame.own[id(node)], reads, writes, context, is_train=is_train)
        frame.heads = [values[key_of(entry)] for entry in self.heads]
        return frame.heads

    def derived(self, wanted: Iterable[int], continued: Iterable[int] = ()) -> Derived:
        """The gradient with respect to the variables at positions ``wanted``.

        Args:
            wanted: the positions.
            continued: those of variables whose gradients are added up over several runs.

        Raises:
            MXNetError: the way to one of them leads through an operator without a gradient.
        """
        key = frozenset(wanted), frozenset(continued), shared_weights.kind()
        if key not in self._derived:
            ids = ({self.keys[i][0] for i in positions} for positions in key[:2])
            self._derived[key] = Derived(self.heads, *ids)
        return self._derived[key]

    def backward(
        self, frame: Frame, inputs: Sequence[Buffer], heads: Sequence[Buffer | None], derived: Derived,
        context: Context, is_train: bool, sums: Mapping[int, Buffer] = MappingProxyType({}),
    ) -> list[Buffer | None]:
        """Gradients of the variables, None for zero.

        Args:
            frame: what a forward run has left.
            inputs: the values of the variables in that run.
            heads: the gradients of the heads, None for zero.
            derived: what :meth:`derived` gives for the wanted variables.
            context: where it runs.
            is_train: whether operators run as in training.
            sums: what gradients are added to, by the position of the variable; nothing as yet where there is none.
        """
        values = {**dict(zip(self.keys, inputs, strict=True)), **frame.buffers}
        for position, (number, _) in enumerate(self.keys):
            if number in derived.begun:
                before = sums.get(position)
                values[id(derived.begun[number]), 0] = _zeros_like(inputs[position]) if before is None else before
        for head, given, entry in zip(derived.heads, heads, self.heads, strict=True):
            if head is not None:
                values[id(head), 0] = _zeros_like(values[key_of(entry)]) if given is None else given
        for node in derived.nodes:
            run = _compose if node.primal is None else _differentiate
            run(node, values, derived.read, frame, context, is_train)
        found = (derived.of.get(key[0]) for key in self.keys)
        return [None if entry is None else values[key_of(entry)] for entry in found]


def _zeros_like(buffer: Buffer) -> Buffer:
    made = allocate(buffer.shape, buffer.dtype, buffer.device)
    made.fill(0)
    return made


def _compose(
    node: Node, values: dict[Key, Buffer], read: set[Key], frame: Frame, context: Context, is_train: bool
) -> None:
    """Run an operator that a gradient is composed of."""
    del read, frame
    op = node.op
    assert op is not None
    reads = [values[key_of(entry)] for entry in node.inputs]
    writes = [allocate(shape, kind, context.memory) for shape, kind in runner.plan(op, node.params, reads).results]
    run_operator(op, op.own(node.params, context, reads), reads, writes, context, is_train=is_train)
    values.update({(id(node), i): buffer for i, buffer in enumerate(writes)})


def _differentiate(
    node: Node, values: dict[Key, Buffer], read: set[Key], frame: Frame, context: Context, is_train: bool
) -> None:
    """Run the gradient of an operator; what nobody reads is not computed."""
    primal = node.primal
    assert primal is not None
    targets = gradient_buffers(node, [values[key_of(entry)] for entry in primal.inputs], read, context.memory)
    reads = [values[key_of(entry)] for entry in node.inputs]
    BackwardStep(node, reads, targets, context, frame.own[id(primal)]).run(is_train)
    values.update({(id(node), i): buffer for i, buffer in enumerate(targets) if buffer is not None})


__all__ = ["SHAPES", "TYPES", "Body", "Derived", "Frame", "agreed", "unchanged"]
