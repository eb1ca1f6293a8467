"""The parameters of an operator whose body is a graph: what its attributes say, the graphs, and what a run left."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...base import decides, require
from ...context import Context
from ...engine import goes_alone
from ...kernels.foundation import Buffer, Op
from ...kernels.foundation.params import parse
from ...ndarray import tape
from ...symbol.ir import Entry
from .bodies import Body, Frame

MOST_INPUTS = 100_000
SUBGRAPHS = "subgraphs"
"""Under this name the graphs (a list of heads each) come beside the attributes."""


class ChangedName(str):
    """Name of an input that the body changes in place."""

    __slots__ = ()


class _ChangedNames(tuple):
    """Which inputs a body changes differs from one node to the next."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, ChangedName)


CHANGED = _ChangedNames(("what the body changes",))


class GraphUse:
    """One use of an operator whose body is a graph. Like any parameters, it can be read as the values of ``_fields``.

    Args:
        op_name: the operator.
        values: what its attributes say.
        bodies: the graphs.
        wires: for each graph, which input of the node each of its variables is.
    """

    def __init__(self, op_name: str, values: Any, bodies: Sequence[Body], wires: Sequence[Sequence[int]]) -> None:
        self._fields = values._fields
        self.op_name, self.values, self.bodies, self.wires = op_name, values, tuple(bodies), tuple(wires)
        self.input_count = values.num_args - len(bodies)
        changed = {wire[i] for body, wire in zip(bodies, wires, strict=True) for i in body.changed()}
        names = (f"data{i}" for i in range(self.input_count))
        self.inputs = tuple(ChangedName(n) if i in changed else n for i, n in enumerate(names))
        count = values.num_outputs
        self.outputs = ("output",) if count == 1 else tuple(f"output{i}" for i in range(count))
        self.frames: list[Frame] = []
        self.context: Context | None = None
        self.taken = 0  # steps of a loop, or the branch, of the last forward
        self.keeps = self.is_train = False
        self.runs_user_code = any(goes_alone(node.params) for body in bodies for node in body.operators)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __repr__(self) -> str:
        return f"{self.values} with {len(self.bodies)} graphs"

    @property
    def remembers(self) -> bool:
        """Whether the last forward kept what backward reads."""
        return self.keeps or self.is_train

    @property
    def subgraphs(self) -> list[list[Entry]]:
        """The graphs, as the outputs of each."""
        return [body.heads for body in self.bodies]

    def own(self, context: Context) -> GraphUse:
        """A copy for one node of one executor, or one call, that remembers its runs."""
        made = copy.copy(self)
        made.context, made.frames = context, []
        made.keeps = tape.STATE.recording
        return made

    def place(self) -> Context:
        """Where the operator runs."""
        assert self.context is not None
        return self.context

    @decides("control-flow/memory")
    def frame(self, step: int) -> Frame:
        """The frame of a step. Only a run that backward may follow keeps one for each step."""
        number = step if self.remembers else 0
        while len(self.frames) <= number:
            self.frames.append(Frame())
        return self.frames[number]


@dataclass(frozen=True, kw_only=True, eq=False)
class ControlFlow(Op):
    """The record of an operator that holds ``graphs`` graphs; ``wiring(values, bodies)`` gives their wires."""

    graphs: int
    wiring: Any
    takes_half: ClassVar[bool] = True
    """float16 arrays come as they are: the operators of the body compute through float32."""

    def parse(self, attrs: dict[str, Any]) -> GraphUse:
        """The parameters and the graphs, found to fit each other.

        Raises:
            MXNetError: a parameter is missing or refused, or the graphs do not fit.
        """
        rest = dict(attrs)
        graphs = rest.pop(SUBGRAPHS, ())
        require(
            "control-flow/graphs", len(graphs) == self.graphs,
            f"{self.name} holds {self.graphs} graphs, {len(graphs)} are given; make it with mx.sym.contrib,"
            " or load it from a file",
        )
        values = parse(self.name, self.params, rest)
        require(
            "control-flow/locations", self.graphs <= values.num_args <= self.graphs + MOST_INPUTS,
            f"{self.name}: num_args is {values.num_args}, which counts the {self.graphs} graphs and up to"
            f" {MOST_INPUTS} inputs",
        )
        bodies = [Body(heads) for heads in graphs]
        wires = self.wiring(values, bodies)
        for body, wire in zip(bodies, wires, strict=True):
            require(
                "control-flow/locations", len(wire) == len(body.variables),
                f"{self.name}: {len(wire)} locations for the {len(body.variables)} inputs of a graph",
            )
            require(
                "control-flow/locations", all(0 <= w < values.num_args - self.graphs for w in wire),
                f"{self.name}: the locations {list(wire)} are not all among {values.num_args - self.graphs} inputs",
            )
        return GraphUse(self.name, values, bodies, wires)

    def own(self, p: GraphUse, context: Context, inputs: Sequence[Buffer]) -> GraphUse:
        """Parameters that remember what forward leaves for backward."""
        del inputs
        return p.own(context)

    def full_inputs(self, p: GraphUse, given: Sequence[Any]) -> list[Any]:
        """All inputs are always there."""
        del p
        return list(given)


def register_arguments(op_name: str) -> dict[str, Any]:
    """What the three records have in common."""
    return {
        "name": op_name, "inputs": lambda p: p.inputs, "all_inputs": ("data",), "outputs": lambda p: p.outputs,
        # an output among what backward reads makes backward wait for forward, whichever engine runs them
        "needs": lambda p: (*p.inputs, p.outputs[0]), "mutates": CHANGED, "mode": True, "random": True,
    }


def order_of(op_name: str, locations: Sequence[int]) -> list[int]:
    """Where each number of 0, 1, 2, ... stands in ``locations``.

    Raises:
        MXNetError: one is missing or there twice.
    """
    require(
        "control-flow/locations", sorted(locations) == list(range(len(locations))),
        f"{op_name}: the locations {list(locations)} must hold each of 0 to {len(locations) - 1} once",
    )
    found = [0] * len(locations)
    for index, location in enumerate(locations):
        found[location] = index
    return found


__all__ = ["CHANGED", "SUBGRAPHS", "ChangedName", "ControlFlow", "GraphUse", "order_of", "register_arguments"]
