"""Program: a graph bound to memory, with its lists of steps. Binding makes it in six steps, in this order.

1. derive    the gradient graph of the wanted arguments
2. infer     shapes and dtypes of every value, from the bound arrays
3. simplify  common expressions, dead branches; copies between contexts
4. place     outputs, head gradients and final gradients in arrays that users see
5. plan      memory for all other values
6. list      the steps of forward and backward, with their buffers looked up
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..base import decides, refusal
from ..context import Context
from ..engine import fast_road
from ..kernels.foundation import Buffer, allocate, known
from ..ndarray import NDArray
from ..ndarray.creation import zeros_of
from ..symbol import Symbol, devices, gradient, inference, memory, passes
from ..symbol.graph import Facts, Graph
from ..symbol.ir import Entry, Node, is_placeholder, variables
from .memory_pool import Parts, Pool
from .steps import (
    AddStep,
    BackwardStep,
    CopyStep,
    ForwardStep,
    KeptValues,
    SpendStep,
    Step,
    TransferStep,
    ViewBackwardStep,
    ViewStep,
    ZeroStep,
)

if TYPE_CHECKING:
    from .binding import Bound


class Wanted(NamedTuple):
    """A wanted gradient: its argument, the array for it, and its requirement ("write" or "add")."""

    argument: NDArray
    array: NDArray
    requirement: str


_Later = tuple[int | None, Wanted]
"""A gradient that a last step has to bring into its array: the number of its value (None for zero), the array."""


class Program:
    """A graph with memory: ``forward_steps`` and ``backward_steps`` to run, and their arrays.

    ``forward_table`` and ``backward_table`` record the kernel calls of the steps for replays; None while the fast road
    is off.

    ``outputs`` are the arrays of the graph's outputs, ``heads`` the arrays of the head gradients (None for a head
    gradient that nobody reads), ``head_needed`` says which outputs have such an array. ``derived`` is the graph with
    its gradient before the passes, ``graph`` the graph after them, which runs, ``plan`` the memory plan.
    ``without_gradient`` has the wanted gradients that are zero, by the id of their argument. ``buffers`` has the buffer
    of each value.

    Args:
        symbol: the graph.
        ctx: the context of nodes that belong to no group.
        bound: the arrays and requirements.
        pool: the pool of the memory; executors with the same pool share memory.
        lasting: returns, for the graph that runs, the numbers of the values that are read after backward.
    """

    def __init__(
        self, symbol: Symbol, ctx: Context, bound: Bound, pool: Pool,
        lasting: Callable[[Graph], set[int]] = lambda _: set(),
    ) -> None:
        self.symbol, self.ctx, self.bound, self.pool = symbol, ctx, bound, pool
        order = bound.order or symbol.order()
        contexts, wanted = self._take_bound(order)
        self.gradients = self._derive(order, wanted)
        shapes, types = self._infer(order)
        self.derived, self.graph = self._simplify(order, contexts, shapes, types, wanted)
        later = self._place(wanted)
        self.plan = self._plan({number for number, _ in later if number is not None} | lasting(self.graph))
        self.forward_steps, self.backward_steps = self._list(later)
        self.forward_table: Any = None
        self.backward_table: Any = None
        self.make_tables()

    def make_tables(self) -> None:
        """Make the tables; while the fast road is off there are none, and a later run makes them."""
        if fast_road.is_on():
            self.forward_table, self.backward_table = fast_road.road.tables_of(self)

    @property
    def allocated(self) -> int:
        """Bytes of the arenas and the outputs; as in MXNet, without bound arrays and head gradients."""
        return self.plan.total + sum(a.size * np.dtype(a.dtype).itemsize for a in self.outputs)

    def results(self) -> list[Entry]:
        """The computed entries: outputs, then gradients in the order of the arguments."""
        made = dict(zip(self.gradients.of, self.graph.gradients, strict=True))
        arguments, _ = variables(self.bound.order or self.symbol.order())
        return [*self.graph.outputs, *(made[id(node)] for node in arguments if id(node) in made)]

    # --- what is bound, and the six steps ----------------------------------------------------------

    def _take_bound(self, order: list[Node]) -> tuple[dict[int, Context], dict[int, Wanted]]:
        """Take the bound arrays; returns every node's context, and the wanted gradients by the id of the argument."""
        bound = self.bound
        contexts = devices.contexts(order, self.ctx, bound.places)
        arguments, auxiliary = variables(order)
        self._given: dict[int, Buffer] = {}
        for node, array in zip([*arguments, *auxiliary], [*bound.arguments, *bound.auxiliary], strict=True):
            self._given[id(node)] = array._data
            contexts[id(node)] = array.context
        _require_states_near(order, contexts)
        given = zip(arguments, bound.arguments, bound.gradients, bound.requirements, strict=True)
        return contexts, {
            id(node): Wanted(argument, array, req)
            for node, argument, array, req in given if req != "null" and array is not None
        }

    def _derive(self, order: list[Node], wanted: dict[int, Wanted]) -> gradient.Gradients:
        """Step 1: the graph of the wanted gradients."""
        if not wanted:
            return gradient.Gradients()
        return gradient.build(self.symbol.entries, set(wanted), order=order)

    def _infer(self, order: list[Node]) -> tuple[Facts, Facts]:
        """Step 2: shapes and dtypes of every value, the gradient graph included."""
        if self.bound.inferred is not None:
            shapes, types = self.bound.inferred
        else:
            values, given = inference.numbered(order), self._given
            shapes = inference.shapes(order, {number: b.shape for number, b in given.items()}, values=values)
            types = inference.types(order, {number: b.dtype for number, b in given.items()}, values=values)
        if not known(*set(shapes.found)) or None in set(types.found):
            _require_known(order, shapes, types)
        self._infer_gradients(shapes, types)
        return shapes, types

    def _infer_gradients(self, shapes: Facts, types: Facts) -> None:
        """Add the shapes and dtypes of the nodes of the gradient graph."""
        values, tables = shapes.numbers, (shapes.found, types.found)
        rules = tuple(zip(tables, ("infer", "infer_type"), strict=True))
        for head, entry in zip(self.gradients.heads, self.symbol.entries, strict=False):
            if head is not None:
                values.add(head)
                for found in tables:
                    found.append(found[values.of(entry)])
        outputs = inference.Outputs()
        for node in self.gradients.nodes:
            if node.primal is not None:
                values.add(node)
                numbers = values.read_by(node.primal)
                for found in tables:
                    found.extend([found[number] for number in numbers])
            elif not node.is_variable:
                values.add(node)
                numbers = values.read_by(node)
                for found, rule_name in rules:
                    found.extend(outputs.of(node, rule_name, [found[number] for number in numbers]))

    def _simplify(
        self, order: list[Node], contexts: dict[int, Context], shapes: Facts, types: Facts,
        wanted: dict[int, Wanted],
    ) -> tuple[Graph, Graph]:
        """Step 3: forward and backward as one graph, before and after the passes.

        A gradient node runs on the context of its operator.
        """
        for head, entry in zip(self.gradients.heads, self.symbol.entries, strict=False):
            if head is not None:
                contexts[id(head)] = contexts[id(entry.node)]
        for number, node in self.gradients.serves.items():
            contexts[number] = contexts[id(node)]
        found = list(self.gradients.of.values())
        derived = Graph(list(self.symbol.entries), found, shapes, types, contexts, {id(node) for node in order})
        targets = [wanted[number].argument.context for number in self.gradients.of]
        return derived, passes.simplified(derived, targets)

    def _place(self, wanted: dict[int, Wanted]) -> list[_Later]:
        """Step 4: memory of its own for each value that users see or that must not share memory.

        Returns the wanted gradients that have to be copied, added or zeroed after all other steps.
        """
        self._forward, self._backward = self.graph.steps()
        values = self._values = self.graph.values
        self._memory: list[Buffer | None] = [None] * values.count
        self.buffers = Facts(values, self._memory)
        for variable, buffer in self._given.items():
            self._memory[values.made[variable][0]] = buffer
        self._read = {*chain.from_iterable(self.graph.reads), *map(values.of, self.graph.entries())}
        self._place_outputs()
        self._place_heads()
        later = self._place_gradients(wanted)
        self._place_placeholders()
        self._place_partial()
        return later

    @decides("Executor/outputs-keep-memory")
    def _place_outputs(self) -> None:
        """Give each output memory of its own; an output that is an argument is copied."""
        self.outputs: list[NDArray] = []
        self._output_copies: list[Step] = []
        for entry in self.graph.outputs:
            made, number = self._array(entry), self._values.of(entry)
            if entry.node.is_variable:
                self._output_copies.append(CopyStep(self._at(number), made._data))
            else:
                self._memory[number] = made._data
            self.outputs.append(made)

    def _array(self, entry: Entry) -> NDArray:
        number, graph = self._values.of(entry), self.graph
        return zeros_of(graph.shapes.found[number], graph.contexts[id(entry.node)], graph.types.found[number])

    def _at(self, number: int) -> Buffer:
        found = self._memory[number]
        assert found is not None
        return found

    def _place_heads(self) -> None:
        """Give each head gradient that some step reads memory of its own."""
        self.heads: list[NDArray | None] = []
        for head in self.gradients.heads:
            made = None
            if head is not None and self._values.made_by(head)[0] in self._read:
                made = self._array(Entry(head, 0))
                self._memory[self._values.made_by(head)[0]] = made._data
            self.heads.append(made)
        self.head_needed = [head is not None for head in self.heads]

    @decides("Executor/grad-req-independent")
    def _place_gradients(self, wanted: dict[int, Wanted]) -> list[_Later]:
        """Let the node that computes an argument's gradient write into the gradient array, where possible.

        Returns the gradients that have to be copied, added or zeroed after all other steps.
        """
        later: list[_Later] = []
        self.without_gradient: dict[int, Wanted] = {}
        made = {id(node) for node in self._backward}
        entries = dict(zip(self.gradients.of, self.graph.gradients, strict=True))
        for number, gradient_wanted in wanted.items():
            req, target = gradient_wanted.requirement, gradient_wanted.array._buffer  # the array may hold no values
            entry = entries.get(number)
            if entry is None:
                self.without_gradient[number] = gradient_wanted
            place = None if entry is None else self._values.of(entry)
            is_free = entry is not None and id(entry.node) in made and self._memory[self._values.of(entry)] is None
            if place is not None and req == "write" and is_free:
                self._memory[place] = target
            elif place is not None or req == "write":
                later.append((place, gradient_wanted))
        return later

    def _place_placeholders(self) -> None:
        """Give a placeholder, which stands for a shape only, a buffer without elements."""
        for node in self.graph.order():
            if node.op is None and is_placeholder(node):
                device = self.graph.contexts[id(node)].memory
                nothing = allocate((0,), np.dtype(np.float32), device).flat
                self._memory[self._values.made_by(node)[0]] = Buffer(nothing, self.graph.shapes[id(node), 0], device)

    def _place_partial(self) -> None:
        """Give an output that its operator may leave unwritten in part memory of its own, zeros at first."""
        for node in self._forward:
            assert node.op is not None
            if node.op.partial is not None and node.op.partial(node.params):
                for index, number in enumerate(self._values.made_by(node)):
                    if self._memory[number] is None:
                        self._memory[number] = self._array(Entry(node, index))._data

    def _plan(self, held: set[int]) -> memory.Plan:
        """Step 5: memory for all other values; ``held`` has the numbers of values that are read after the last step."""
        unused = {  # gradients that nobody reads are neither computed nor given memory
            number for node in (*self._forward, *self._backward) if node.primal is not None
            for number in self._values.made_by(node) if number not in self._read
        }
        placed = {number for number, buffer in enumerate(self._memory) if buffer is not None}
        self._mode = memory.mode()
        plan = memory.plan(self.graph, placed | unused, held, self._mode)
        arenas = {context: self.pool.arena(context, size).memory for context, size in plan.arenas.items()}
        shapes, types, parts = self.graph.shapes.found, self.graph.types.found, Parts()
        for block in plan.laid:
            whole = arenas[block.context] if block.output is None else self._at(block.output)
            kind = shape = None
            for number in block.values:
                if types[number] != kind or shapes[number] != shape:
                    kind, shape = types[number], shapes[number]
                    same = parts.part(whole, block.offset, kind, shape)
                self._memory[number] = same  # one Buffer object, so that a page sees that it writes in place
        return plan

    def _list(self, later: list[_Later]) -> tuple[list[Step], list[Step]]:
        """Step 6: the steps of forward and the steps of backward, with their buffers."""
        self._own: dict[int, Any] = {}
        reads = iter(self.graph.reads)
        forward: list[Step] = [*map(self._step, self._forward, reads), *self._output_copies]
        backward = [*map(self._step, self._backward, reads), *(self._last_step(n, wanted) for n, wanted in later)]
        if self._mode == "once":
            kept = KeptValues()
            forward.append(kept)
            backward.insert(0, SpendStep(kept))
        return forward, backward

    def _last_step(self, number: int | None, wanted: Wanted) -> Step:
        """The step that copies, adds or zeroes a gradient in its array; ``number`` is None for a gradient of zero."""
        target = wanted.array._buffer
        if number is None:
            return ZeroStep(target)
        return (AddStep if wanted.requirement == "add" else CopyStep)(self._at(number), target)

    # --- one step of an executor -------------------------------------------------------------------

    def _step(self, node: Node, numbers: list[int]) -> Step:
        reads: list[Any] = [self._memory[number] for number in numbers]
        made = self._values.made_by(node)
        writes: list[Any] = self._memory[made.start : made.stop]
        is_view, context = made.start in self.plan.view_numbers, self.graph.contexts[id(node)]
        if node.primal is not None:
            own = self._own.get(id(node.params))
            return (ViewBackwardStep if is_view else BackwardStep)(node, reads, writes, context, own)
        assert node.op is not None
        own = self._own[id(node.params)] = node.op.own(node.params, context, reads)
        kind = ViewStep if is_view else TransferStep if node.op.name == devices.COPY else ForwardStep
        return kind(node, reads, writes, context, own)


def _require_known(order: list[Node], shapes: Facts, types: Facts) -> None:
    for node in order:
        for index in range(node.output_count()):
            key = id(node), index
            if not known(shapes[key]) or types[key] is None:
                raise refusal(
                    "Executor/known-shapes",
                    f"the shape or the type of {node.entry_name(index)} cannot be inferred from the arguments",
                )


def _require_states_near(order: list[Node], contexts: dict[int, Context]) -> None:
    """Refuse an auxiliary state on another context than its operator, which updates the state in place."""
    for node in order:
        if node.op is None or not node.op.aux:
            continue
        for name, entry in zip(node.signature.inputs, node.inputs, strict=True):
            if name in node.op.aux and contexts[id(entry.node)] != contexts[id(node)]:
                raise refusal(
                    "Executor/state-context",
                    f"{entry.node.name} is in {contexts[id(entry.node)]}, but {node.name}, which updates it, runs"
                    f" on {contexts[id(node)]}; give array.as_in_context({contexts[id(node)]})",
                )
