"""Programs as the reference runs them: with less work than the sessions of ``programs``, and the same arrays.

A graph is made of the program's nodes without a symbol file. A shared executor that runs forward next is the existing
one, because a new one would compute the same values in the same memory. Where only some arrays are requested, an
executor runs only the steps that lead to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ...base import MXNetError
from ...executor import Executor
from ...executor.steps import AddStep, BackwardStep, CopyStep, ForwardStep, ZeroStep
from ...kernels.foundation import REGISTRY, allocate
from ...ndarray import NDArray
from ...symbol import Symbol
from ...symbol.ir import Entry, Node
from ..programs.buckets import Buckets
from ..programs.interpreter import SESSIONS, Graph
from ..programs.modules import Modules
from ..programs.values import array_of

LONGEST = 1000
"""Characters that a node of a symbol file may have too, whatever they mean."""


def symbol_of(nodes: list[dict[str, Any]], heads: list[list[int]]) -> Symbol | None:
    """The graph of a program; None where reading it from a symbol file may refuse something.

    Args:
        nodes: the program's nodes.
        heads: the program's heads.
    """
    made: list[Node] = []
    try:
        for fields in nodes:
            node = _node(fields, made)
            if node is None:
                return None
            made.append(node)
    except MXNetError:
        return None
    if not heads or not all(_is_output(made, *head) for head in heads):
        return None
    return Symbol([Entry(made[number], output) for number, output in heads])


def _is_output(made: list[Node], number: int, output: int) -> bool:
    return number < len(made) and output < made[number].output_count()


def _node(fields: dict[str, Any], made: list[Node]) -> Node | None:
    name, attrs, inputs = fields["name"], fields.get("attrs") or {}, fields.get("inputs") or []
    text = "".join((name, *attrs, *attrs.values()))
    if len(text) > LONGEST or not text.isprintable() or not all(_is_output(made, *entry) for entry in inputs):
        return None
    if fields["op"] == "null":
        return None if inputs else Node(None, name, dict(attrs))
    op = REGISTRY.get(fields["op"])
    if op is None or (op.variadic and op.variadic not in attrs):
        return None
    node = Node(op, name, dict(attrs), [Entry(made[number], output) for number, output in inputs])
    return node if len(node.signature.inputs) == len(inputs) else None


class _Made:
    """A session whose symbols are made of nodes."""

    def symbol_from(self, graph: dict[str, Any]) -> Any:
        """See ``Session``."""
        made = symbol_of(graph["nodes"], graph["heads"])
        return super().symbol_from(graph) if made is None else made  # type: ignore[misc]  # of the session beside this class


_Graph: Any = Graph  # the programs' package has no annotations
_Modules: Any = Modules
_Buckets: Any = Buckets


class OneModule(_Made, _Modules):
    """Level 3 with less work."""


class SomeBuckets(_Made, _Buckets):
    """Level 4 with less work."""


class OneExecutor(_Made, _Graph):
    """See the module's text."""

    wanted: Collection[str] | None = None
    """Names of arrays without the numbers of their steps; None for all."""
    leading: tuple[Any, Any] = (None, None)
    """A program, and those of its steps that lead to what is wanted."""

    def only(self, names: Collection[str]) -> None:
        """Record only these arrays, named as in a trace; all arrays with a monitor, which reads any value."""
        if not any(step["do"] == "monitor" for step in self.program["steps"]):
            self.wanted = {name.partition("/")[2] for name in names}

    def again(self, look: Any) -> bool:
        """See ``Session.again``."""
        self.wanted, self.leading = None, (None, None)
        known = super().again(look)
        if self.kept is not None:
            self.kept[0].set_monitor_callback(None)
        return known

    def array(self, spec: dict[str, Any], device: int = 0) -> NDArray:
        """See ``Session``."""
        if not spec["shape"] or 0 in spec["shape"]:
            return super().array(spec, device)
        value = array_of(spec)
        made = allocate(value.shape, value.dtype)
        made.fill_from(value)
        return NDArray(made, self.mx.cpu(device))

    def seen(self, array: NDArray) -> Any:
        """See ``Session``: here the reader of an array waits for it."""
        return self.look(array.tostype("default") if array.is_sparse else array)

    def share(self) -> Any:
        """See ``interpreter``; an output of which parts may stay as they are begins as zeros in a new executor."""
        later = [step["do"] for step in self.program["steps"][self.number + 1:] if step["do"] != "monitor"]
        partial = any(node.op is not None and node.op.partial is not None for node in self.symbol.order())
        if partial or later[:1] != ["forward"]:
            return super().share()
        self.executor.set_monitor_callback(None)
        self.watch = None
        return ()

    def forward(self, train: bool = False, arrays: Any = None, keywords: bool = False) -> Iterator[Any]:
        """See ``interpreter``."""
        return self._some(super().forward(train, arrays, keywords))

    def backward(self, heads: Any = None, train: bool = True) -> Iterator[Any]:
        """See ``interpreter``."""
        return self._some(super().backward(heads, train))

    def _some(self, seen: Iterator[Any]) -> Iterator[Any]:
        """The recorded arrays of a pass, which runs when they are read."""
        if self.wanted is None:
            yield from seen
            return
        program = self.executor.program
        steps = program.forward_steps, program.backward_steps
        if self.leading[0] is not program:
            self.leading = program, steps_to(self.executor, self.wanted)
        program.forward_steps, program.backward_steps = self.leading[1]
        try:
            yield from seen
        finally:
            program.forward_steps, program.backward_steps = steps

    def seen_of(self, name: str, array: Any) -> Any:
        """See ``interpreter.Graph``."""
        return super().seen_of(name, array) if self.wanted is None or name in self.wanted else None


def steps_to(executor: Executor, wanted: Collection[str]) -> tuple[list[Any], list[Any]]:
    """The steps of forward and of backward that lead to some outputs and gradients, named as in a trace.

    Args:
        executor: a bound graph whose operators do not change their inputs.
        wanted: names such as ``output0`` and ``gradient:a``.
    """
    program = executor.program
    graph = program.graph
    values, (forward, backward) = graph.values, graph.steps()
    needed = {values.of(entry) for i, entry in enumerate(graph.outputs) if f"output{i}" in wanted}
    of = dict(zip(program.gradients.of, graph.gradients, strict=True))
    others = set()  # memory of gradients that nobody wants
    for name, array in executor.grad_dict.items():
        if array is not None and f"gradient:{name}" not in wanted:
            others.add(id(array._buffer))
    for node in program.bound.order or ():
        if node.op is None and f"gradient:{node.name}" in wanted and id(node) in of:
            needed.add(values.of(of[id(node)]))
    run = set()
    for node, reads in reversed(list(zip([*forward, *backward], graph.reads, strict=True))):
        if not needed.isdisjoint(values.made_by(node)):
            run.add(id(node))
            needed.update(reads)

    def leads(step: Any) -> bool:
        if isinstance(step, (ForwardStep, BackwardStep)):
            return id(step.node) in run
        return not isinstance(step, (CopyStep, AddStep, ZeroStep)) or id(step.target) not in others

    return [*filter(leads, program.forward_steps)], [*filter(leads, program.backward_steps)]


REFERENCE = {**SESSIONS, 1: OneExecutor, 2: OneExecutor, 3: OneModule, 4: SomeBuckets}
"""Level -> what runs its programs here."""
