"""Graphs of any operators: valid calls as their pages' ``cases`` draw them, joined with operators that fit shapes.

The input of an operator is a variable, or an earlier result. A result of another shape is flattened, repeated or cut,
and reshaped, so that any operator may follow any other. A result is read by one operator, by two, or by seven to
twelve: implementations that sum gradients treat these differently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...kernels.foundation import Op, distinct, get, known
from ...kernels.foundation.loops import zero  # noqa: F401  # loads every page
from ...kernels.foundation.refusal import MXNetError
from ...op_registry.signatures import parsed
from ...symbol.calls import attribute_text
from .choices import NOTHING, Capabilities, Exclusions, NothingToDraw
from .drawn_calls import drawn_call
from .draws import Draw, Shape


class Entry(NamedTuple):
    """One output of a node."""

    node: int
    output: int
    shape: Shape
    dtype: np.dtype
    exact: bool
    """Whether it is a variable, so that it may hold any kind of values."""


KEEP_SHAPE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("_copy", {}), ("negative", {}), ("relu", {}), ("_mul_scalar", {"scalar": 0.5}), ("tanh", {}), ("square", {}),
    ("sigmoid", {}), ("BlockGrad", {}), ("_plus_scalar", {"scalar": 1.0}), ("abs", {}),
    ("LeakyReLU", {"act_type": "leaky", "slope": 0.25}), ("clip", {"a_min": -1.0, "a_max": 1.0}),
)
"""Operators of one input whose output has its shape: they follow results, and read them several times.

A choice of this search and no fact about operators: seeds mean the order.
"""
FIT = ("Reshape", "tile", "slice_axis")
"""Operators that give a result another shape."""
JOIN = ("elemwise_add", "elemwise_mul", "elemwise_sub", "_maximum")
"""Operators of two inputs of one shape."""
FAN_OUT = (1, 1, 1, 2, 1, 2, 3, 7, 8, 9, 12)
SMALL = 400
"""Elements that an input of a drawn call may have: pages in Python take a microsecond for each."""


SOMETIMES_RANDOM: dict[str, Callable[[Any], bool]] = {
    "LeakyReLU": lambda p: p.act_type == "rrelu", "RNN": lambda p: p.p > 0,
}
"""Operator -> whether a call of it may use random numbers."""


@cache
def drawable() -> tuple[str, ...]:
    """Names of all operators of which a deterministic call can be drawn in a graph, in order."""
    return tuple(
        op.name for op in distinct()
        if op.cases is not None and (not op.random or op.name in SOMETIMES_RANDOM)
        and not op.name.startswith("_backward_") and set(op.mutates) <= set(op.aux)
    )


@cache
def changing() -> tuple[str, ...]:
    """Names of all operators that change one of their arguments, in order: BatchNorm may write its gamma."""
    return tuple(
        op.name for op in distinct()
        if op.cases is not None and not op.random and len(set(op.mutates) - set(op.aux)) == 1
    )


@lru_cache(maxsize=1 << 12)  # the same few operators follow everything
def _outputs(op: Op, p: Any, shapes: tuple[Shape, ...], dtypes: tuple[np.dtype, ...]) -> tuple[tuple[Shape, Any], ...]:
    """Shapes and types of a call's visible outputs."""
    outs = [None] * len(op.output_names(p))
    _, made = op.infer(p, list(shapes), list(outs))
    _, types = op.infer_type(p, list(dtypes), list(outs))
    return tuple((tuple(made[i]), np.dtype(types[i] or np.float32)) for i in range(op.visible_count(p)))


class Graph:
    """A graph that grows while it is drawn."""

    def __init__(self, draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> None:
        self.draw, self.capabilities, self.exclude = draw, capabilities, exclude
        self.nodes: list[dict[str, Any]] = []
        self.arrays: dict[str, dict[str, Any]] = {}
        self.results: list[Entry] = []
        self.no_gradient: set[str] = set()
        """Variables of which no gradient can be asked."""
        self.zero_gradient: set[str] = set()
        """Variables of which a gradient can be asked that is zero: labels, lengths."""
        self.states: set[str] = set()
        self.style = draw.choice(capabilities.styles)
        self.dtype = np.dtype(draw.choice(capabilities.dtypes))
        self.beyond = capabilities.corners and draw.one_in(5)
        """Whether values need not be what an operator expects."""
        if capabilities.corners and draw.one_in(24):
            self.dtype = np.dtype("int32")  # which many operators take besides floating types

    def may(self, name: str) -> bool:
        """Whether an operator may join the graph."""
        if not self.capabilities.has(name) or self.exclude.leaves_out(name, self.dtype):
            return False
        met = [pair for pair in self.exclude.together if name in pair]
        return not met or not any(pair - {name} <= {node["op"] for node in self.nodes} for pair in met)

    def variable(self, shape: Shape, dtype: np.dtype, kind: Any = "any", stem: str = "v") -> Entry:
        """Add a variable with values."""
        name = f"{stem}{len(self.arrays)}"
        kind = self._beyond(kind, dtype) if self.beyond and self.draw.boolean() else kind
        spec = {"shape": list(shape), "dtype": dtype.name, "seed": self.draw.integer(0, 9999)}
        if kind != "any":
            spec["kind"] = list(kind) if isinstance(kind, tuple) else kind
        spec["style"] = self.style if kind != "apart" or self.style != "normal" else "dyadic"
        self.arrays[name] = spec
        self.nodes.append({"op": "null", "name": name})
        return Entry(len(self.nodes) - 1, 0, shape, dtype, True)

    def _beyond(self, kind: Any, dtype: np.dtype) -> Any:
        """A kind of values that goes beyond another."""
        if isinstance(kind, tuple) and (self.style != "special" or dtype.kind != "f"):
            low, high = (0, kind[1] - 1) if kind[0] == "labels" else kind[1:]
            further = 1000 if self.draw.one_in(3) else 3
            return ("ints", max(low - 2, 1 - 2**31), min(high + further, 2**31 - 1))
        return kind if kind in ("apart", "definite", "regular") and self.style != "special" else "any"

    def apply(self, name: str, inputs: Sequence[Entry], params: dict[str, Any]) -> list[Entry]:
        """Add an operator; returns its visible outputs."""
        op = get(name)
        made = _outputs(op, parsed(op, params), tuple(e.shape for e in inputs), tuple(e.dtype for e in inputs))
        number = len(self.nodes)
        self.nodes.append({
            "op": name, "name": f"n{number}", "inputs": [[e.node, e.output] for e in inputs],
            "attrs": {key: attribute_text(value) for key, value in params.items()},
        })
        return [Entry(number, i, shape, dtype, False) for i, (shape, dtype) in enumerate(made)]

    # --- drawn calls ----------------------------------------------------------------------------

    def call(self, op: Op) -> list[Entry] | None:
        """Add a drawn call of an operator; returns its visible outputs, or None where the call does not suit."""
        try:
            call = drawn_call(op, self.draw, self.dtype, corners=self.capabilities.corners)
        except MXNetError:  # the operator does not take the type
            return None
        if op.random and SOMETIMES_RANDOM[op.name](call.p):
            return None
        all_shapes = (*call.shapes, *call.out_shapes)
        ranked = all(call.shapes if self.capabilities.corners else all_shapes)  # of shape (): 0-dim, or not known
        suits = ranked and known(*all_shapes) and all(prod(s) <= SMALL for s in all_shapes)
        if not suits or (not self.capabilities.empty and any(0 in s for s in all_shapes)):
            return None
        inputs = [
            self._input(op, name, tuple(shape), dtype, kind)
            for name, shape, dtype, kind in zip(call.names, call.shapes, call.types, call.kinds, strict=True)
        ]
        return self.apply(op.name, inputs, call.params)

    def _input(self, op: Op, name: str, shape: Shape, dtype: np.dtype, kind: Any) -> Entry:
        apart = name in op.aux or name in op.mutates or name in op.no_gradient
        free = kind == "any" and dtype == self.dtype and not apart
        if free and (result := self._result(shape, dtype)) is not None:
            return result
        entry = self.variable(shape, dtype, kind)
        variable = self.nodes[entry.node]["name"]
        if name in op.aux:
            self.states.add(variable)
        constant = name in op.no_gradient and not (self.capabilities.corners and self.draw.one_in(4))
        if dtype.kind != "f" or name in op.aux or name in op.refuses_gradient or constant:
            self.no_gradient.add(variable)
        elif name in op.no_gradient:
            self.zero_gradient.add(variable)
        if free:
            self.results.append(entry)
        return entry

    def _result(self, shape: Shape, dtype: np.dtype) -> Entry | None:
        """A result that becomes an input of this shape."""
        if self.results and self.draw.boolean():
            entry = self.draw.choice(self.results[::-1])
            if entry.shape == shape or all(self.may(name) for name in FIT):
                return self.fitted(entry, shape)
        if self.draw.one_in(6):
            return next((e for e in self.results if e.exact and e.shape == shape and e.dtype == dtype), None)
        return None

    def fitted(self, entry: Entry, shape: Shape) -> Entry:
        """``entry``, or the result of operators that move its elements into another shape."""
        if entry.shape == shape:
            return entry
        have, wanted = prod(entry.shape), prod(shape)
        if have < wanted or len(entry.shape) > 1:
            (entry,) = self.apply("Reshape", [entry], {"shape": (-1,)})
        if have < wanted:
            (entry,) = self.apply("tile", [entry], {"reps": (-(-wanted // have),)})
        if prod(entry.shape) != wanted:
            (entry,) = self.apply("slice_axis", [entry], {"axis": 0, "begin": 0, "end": wanted})
        if entry.shape != shape:
            (entry,) = self.apply("Reshape", [entry], {"shape": shape})
        return entry

    # --- consumers ------------------------------------------------------------------------------

    def read(self, entry: Entry, times: int) -> list[Entry]:
        """Let ``times`` operators of its shape read a result."""
        made: list[Entry] = []
        for _ in range(times):
            if self.exclude.together or not made:  # else what may follow stays the same
                possible = [pair for pair in KEEP_SHAPE if self.may(pair[0])]
            if not possible:
                break
            name, params = self.draw.choice(possible)
            made += self.apply(name, [entry], params)
        return made

    def joined(self, entries: Sequence[Entry]) -> Entry:
        """One result of several of one shape."""
        total = entries[0]
        for entry in entries[1:]:
            (total,) = self.apply("elemwise_add", [total, entry], {})
        return total


@lru_cache(maxsize=64)
def _names(
    allowed: frozenset[str] | None, excluded: frozenset[str], dtype: np.dtype, *, corners: bool
) -> tuple[str, ...]:
    """The operators that a graph may be drawn of."""
    exclude = Exclusions(operators=excluded)
    return tuple(
        name for name in ((*drawable(), *changing()) if corners else drawable())
        if (allowed is None or name in allowed) and not exclude.leaves_out(name, dtype)
    )


def draw_graph(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> tuple[Graph, list[Entry]]:
    """A graph and its heads.

    Args:
        draw: the source of choices.
        capabilities: what may be drawn.
        exclude: what is not drawn.

    Raises:
        NothingToDraw: no operator is left.
    """
    graph = Graph(draw, capabilities, exclude)
    names = _names(capabilities.operators, exclude.operators, graph.dtype, corners=capabilities.corners)
    if not names:
        raise NothingToDraw("the capabilities name no operator that can be drawn and is not excluded")
    fan_out = [times for times in FAN_OUT if times < 7 or not exclude.many_readers]
    heads: list[Entry] = []
    for _ in range(1 + draw.integer(0, capabilities.most_operators - 1)):
        name = draw.choice(names)
        outputs = graph.call(get(name)) if graph.may(name) else None
        if outputs is None:
            continue
        for entry in outputs:
            if entry.dtype != graph.dtype or not entry.shape or graph.dtype.kind != "f":
                heads.append(entry)
            else:
                made = _readers(draw, graph, entry, fan_out)
                graph.results += made
                heads += made
    if not heads:
        variable = graph.variable((2,), graph.dtype)
        heads = graph.read(variable, 1) if any(graph.may(pair[0]) for pair in KEEP_SHAPE) else [variable]
    return graph, heads[-12:]


def _readers(draw: Draw, graph: Graph, entry: Entry, fan_out: list[int]) -> list[Entry]:
    """An output itself, several operators that read it, or their sum."""
    times = draw.choice(fan_out) if any(graph.may(pair[0]) for pair in KEEP_SHAPE) else 1
    if times == 1:
        return [entry]
    readers = graph.read(entry, times)
    if readers and draw.boolean() and graph.may("elemwise_add"):
        return [graph.joined(readers)]
    return readers


def draw_elementwise(
    draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING
) -> tuple[Graph, list[Entry]]:
    """A graph over variables of one shape whose operators keep it, so that it can be given another shape.

    Args:
        draw: the source of choices.
        capabilities: what may be drawn.
        exclude: what is not drawn.
    """
    graph = Graph(draw, capabilities, exclude)
    graph.dtype = np.dtype(draw.choice(capabilities.dtypes))  # whole numbers are not for all of these operators
    shape = draw.shape(1, 3)
    values = [graph.variable(shape, graph.dtype) for _ in range(draw.integer(1, 3))]
    joins = [name for name in JOIN if graph.may(name)]
    for _ in range(draw.integer(1, 6)):
        if joins and draw.boolean():
            values += graph.apply(draw.choice(joins), [draw.choice(values), draw.choice(values)], {})
        else:
            values += graph.read(draw.choice(values), 1)
    return graph, values[-draw.integer(1, 2):]
