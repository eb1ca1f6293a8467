"""An executor's graph and its memory plan, as plain data."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..executor.program import Program
from ..op_registry import pages as operator_pages
from ..symbol.inference import Key
from ..symbol.ir import Node, auxiliary_nodes

Data = dict[str, Any]


class Names:
    """Identities of nodes that stay the same from run to run: ``f0``, ``f1`` forward, ``b0`` backward, ``v0``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.forward, self.backward = program.graph.steps()
        self.variables = [node for node in program.graph.order() if node.is_variable]
        self.of: dict[int, str] = {}
        for letter, nodes in (("f", self.forward), ("b", self.backward), ("v", self.variables)):
            self.of.update({id(node): f"{letter}{number}" for number, node in enumerate(nodes)})

    def size(self, key: Key) -> int:
        """Bytes of a value."""
        graph = self.program.graph
        return prod(graph.shapes[key]) * np.dtype(graph.types[key]).itemsize


def graph(names: Names, group: Any) -> list[Data]:
    """Every node: variables first, then the nodes of forward, then the nodes of backward."""
    roles = _roles(names, group)
    served = _served(names)
    gradients = _gradient_names(names)
    found = []
    for phase, nodes in (("variable", names.variables), ("forward", names.forward), ("backward", names.backward)):
        for node in nodes:
            made: Data = {
                "id": names.of[id(node)], "name": node.name, "operator": node.kind, "phase": phase,
                "context": str(names.program.graph.contexts[id(node)]),
                "reads": [
                    {"node": names.of[id(entry.node)], "value": entry.node.entry_name(entry.index)}
                    for entry in node.inputs
                ],
                "values": [_value(names, node, index) for index in range(node.output_count())],
            }
            if phase == "variable":
                made["role"] = roles.get(node.name, "input")
            else:
                assert node.op is not None
                made["page"] = operator_pages.file_of(node.op)
                made["attributes"] = {k: v for k, v in sorted(node.attrs.items()) if not k.startswith("__")}
                made["rules"] = [clause.name for clause in operator_pages.clauses(node.op)]
            if phase == "backward":
                made["serves"] = served.get(node.name)
                made["gradients"] = gradients.get(id(node), [])
            found.append(made)
    return found


def _value(names: Names, node: Node, index: int) -> Data:
    graph, key = names.program.graph, (id(node), index)
    return {
        "name": node.entry_name(index), "shape": list(graph.shapes[key]), "dtype": np.dtype(graph.types[key]).name,
        "bytes": names.size(key), "kept": key in names.program.buffers,
    }


def _roles(names: Names, group: Any) -> dict[str, str]:
    """The role of each variable: parameter, data, label, state, auxiliary state or head gradient."""
    auxiliary = auxiliary_nodes(names.program.graph.order())
    found = {node.name: "auxiliary state" for node in names.variables if id(node) in auxiliary}
    found.update({node.name: "head gradient" for node in names.program.gradients.heads if node is not None})
    for role, members in (
        ("parameter", group.param_names), ("data", group.data_names), ("label", group.label_names),
        ("state", group.state_names),
    ):
        found.update(dict.fromkeys(members, role))
    return found


def _served(names: Names) -> dict[str, str]:
    """Name of a gradient node -> the forward node whose gradient it is part of."""
    forward = {node.name: names.of[id(node)] for node in [*names.variables, *names.forward]}
    gradients = names.program.gradients
    found = {
        node.name: forward[gradients.serves[id(node)].name] for node in gradients.nodes
        if id(node) in gradients.serves and gradients.serves[id(node)].name in forward
    }
    for node in names.backward:
        if node.primal is not None and node.primal.name in forward:
            found[node.name] = forward[node.primal.name]
        for entry in node.inputs:  # a copy to another device stays beside what it copies
            if node.name not in found and entry.node.name in found:
                found[node.name] = found[entry.node.name]
    return found


def _gradient_names(names: Names) -> dict[int, list[str]]:
    """Which arguments' gradients each node finishes."""
    arguments = {id(node): node.name for node in names.variables}
    program = names.program
    found: dict[int, list[str]] = {}
    for number, entry in zip(program.gradients.of, program.graph.gradients, strict=True):
        if number in arguments:
            found.setdefault(id(entry.node), []).append(arguments[number])
    return found


def memory(names: Names) -> Data:
    """Who lies where and for how long: one row per place, with the values that take turns in it."""
    program = names.program
    steps = [*names.forward, *names.backward]
    rows: dict[tuple[Any, ...], Data] = {}
    for step, node in enumerate(steps):
        for index in range(node.output_count()):
            key = (id(node), index)
            place = program.plan.place.get(key)
            if place is None:
                continue
            first, last = program.plan.lifetimes[key]
            where = (str(place.context), place.output, place.offset, place.size, first, last)
            row = rows.setdefault(where, {
                "context": str(place.context), "offset": place.offset, "size": place.size, "first": first,
                "last": min(last, len(steps) - 1), "kept": last >= len(steps),
                "within": None if place.output is None else _name_of(steps, place.output), "values": [],
            })
            row["values"].append({
                "name": node.entry_name(index), "node": names.of[id(node)], "born": step,
                "bytes": names.size(key), "view": key in program.plan.views,
            })
    return {
        "steps": [names.of[id(node)] for node in steps],
        "forward": len(names.forward),
        "arenas": {str(context): size for context, size in program.plan.arenas.items()},
        "requested": program.plan.requested,
        "planned": program.plan.total,
        "rows": list(rows.values()),
        "own": _own(names),
    }


def _name_of(steps: list[Node], key: Key) -> str:
    return next(node.entry_name(key[1]) for node in steps if id(node) == key[0])


def _own(names: Names) -> Data:
    """Bytes of the arrays that others see, which are not the plan's business."""
    bound = names.program.bound

    def total(arrays: Any) -> int:
        return sum(a.size * np.dtype(a.dtype).itemsize for a in arrays if a is not None)

    return {
        "arguments": total(bound.arguments), "gradients": total(bound.gradients),
        "auxiliary states": total(bound.auxiliary), "outputs": total(names.program.outputs),
    }


__all__ = ["Names", "graph", "memory"]
