"""The lab on the gradient pass: from the outputs of a graph back to its variables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import symbol as sym
from ...context import cpu
from ...ndarray import array
from ...oracle.drawing.draws import Draw
from .lab import Lab, Law, demand

STUB = '''
"""The gradient of a graph.

{rules}
"""

import numpy as np


def gradients(nodes, values, head, wanted):
    """The gradients of the last node of a graph with respect to some of its variables.

    Args:
        nodes: the nodes, inputs first. A node has three fields: node.name, node.kind and node.inputs, a tuple of the
            names of the nodes that it reads. A name may stand there twice. The kinds are:
                "variable"  a value that is given
                "add"       inputs[0] + inputs[1]
                "subtract"  inputs[0] - inputs[1]
                "multiply"  inputs[0] * inputs[1]
        values: the value of each node by its name, as forward computed it: NumPy arrays of float32. Change none.
        head: the head gradient: the derivative of the loss with respect to the last node.
        wanted: the names of the variables whose gradients are wanted.

    Returns:
        A dict from each wanted name to its gradient, an array of float32 in the shape of the variable. The order in
        which several gradients are added up is part of the rule.

    >>> from refimpl.cli.labs.gradient_lab import Node
    >>> nodes = [Node("x", "variable", ()), Node("y", "multiply", ("x", "x"))]
    >>> gradients(nodes, {"x": np.float32([3]), "y": np.float32([9])}, np.float32([1]), ["x"])
    {'x': array([6.], dtype=float32)}
    """
    raise NotImplementedError("write this function")
'''

LARGE = 2.0**25
"""A factor beside which float32 loses 1: sums of it tell the orders of addition apart."""


class Node(NamedTuple):
    """A node of a graph: its name, its kind, and the names of its inputs."""

    name: str
    kind: str
    inputs: tuple[str, ...]


MADE = {
    "add": sym.elemwise_add, "subtract": sym.elemwise_sub, "multiply": sym.elemwise_mul,
}


def forward(nodes: list[Node], given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The value of each node."""
    computed = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
    values = dict(given)
    for node in nodes:
        if node.kind != "variable":
            values[node.name] = computed[node.kind](*(values[name] for name in node.inputs))
    return values


def reference(nodes: list[Node], given: dict[str, np.ndarray], head: np.ndarray) -> dict[str, np.ndarray]:
    """The gradients of all variables, as an executor of this package computes them."""
    made: dict[str, Any] = {}
    for node in nodes:
        inputs = [made[name] for name in node.inputs]
        made[node.name] = MADE[node.kind](*inputs, name=node.name) if inputs else sym.Variable(node.name)
    last = made[nodes[-1].name]
    reached = last.list_arguments()
    arrays = {name: array(given[name]) for name in reached}
    slots = {name: array(np.full_like(given[name], 7)) for name in reached}
    executor = last.bind(cpu(), arrays, args_grad=slots)
    executor.forward(is_train=True)
    executor.backward(array(head))
    return {
        node.name: slots[node.name].asnumpy() if node.name in slots else np.zeros_like(given[node.name])
        for node in nodes if node.kind == "variable"
    }


def _judged(student: Any, nodes: list[Node], given: dict[str, np.ndarray], wanted: list[str]) -> None:
    values, head = forward(nodes, given), np.ones(1, np.float32)
    expected = reference(nodes, given, head)
    before = {name: value.copy() for name, value in values.items()}
    found = student.gradients(nodes, values, head, wanted)
    right = isinstance(found, dict) and set(found) == set(wanted) and all(
        isinstance(one, np.ndarray) and np.array_equal(one, expected[name]) for name, one in found.items()
    )
    demand(right, {name: expected[name] for name in wanted}, found)
    changed = [name for name, value in values.items() if not np.array_equal(value, before[name])]
    demand(not changed, "values that stay as they were", f"another {' and '.join(changed)}")


def _variables(draw: Draw, count: int) -> tuple[list[Node], dict[str, np.ndarray]]:
    names = [chr(ord("p") + at) for at in range(count)]
    given = {name: np.array([draw.integer(-3, 3)], np.float32) for name in names}
    return [Node(name, "variable", ()) for name in names], given


def _graph(draw: Draw, *, once: bool) -> tuple[list[Node], dict[str, np.ndarray]]:
    """A drawn graph; with ``once`` nothing is read twice."""
    count = draw.integer(1, 5)
    nodes, given = _variables(draw, count + 1 if once else draw.integer(1, 3))
    for number in range(count):
        kind = draw.choice(["add", "multiply", "subtract"])
        if once:
            inputs = [nodes[-1].name if number else nodes[0].name, nodes[number + 1].name]
            inputs = inputs[::-1] if draw.boolean() else inputs
        else:
            inputs = [nodes[-1].name, draw.choice(nodes).name]
        nodes.append(Node("abcde"[number], kind, tuple(inputs)))
    return nodes, given


def _chain(student: Any, draw: Draw) -> None:
    nodes, given = _graph(draw, once=True)
    _judged(student, nodes, given, list(given))


def _several(student: Any, draw: Draw) -> None:
    nodes, given = _graph(draw, once=False)
    read = {name for node in nodes for name in node.inputs}
    _judged(student, nodes, given, [name for name in given if name in read])


def _order(student: Any, draw: Draw) -> None:
    """One variable with many consumers, each of another weight: the sum of their gradients rounds."""
    count = draw.integer(2, 10)
    nodes = [Node("x", "variable", ())]
    given = {"x": np.ones(1, np.float32)}
    for at in range(count):
        nodes.append(Node(f"w{at}", "variable", ()))
        given[f"w{at}"] = np.array([draw.choice([1.0, LARGE, -LARGE])], np.float32)
    products = [Node(f"m{at}", "multiply", ("x", f"w{at}")) for at in range(count)]
    total, sums = products[0].name, []
    for at in range(1, count):
        sums.append(Node(f"s{at}", "add", (total, f"m{at}")))
        total = f"s{at}"
    _judged(student, [*nodes, *products, *sums], given, ["x"])


def _unreached(student: Any, draw: Draw) -> None:
    nodes, given = _graph(draw, once=False)
    others, more = [Node("z", "variable", ())], {"z": np.array([draw.integer(-3, 3)], np.float32)}
    wanted = ["z", *(name for name in given if draw.boolean())]
    _judged(student, [*others, *nodes], {**more, **given}, wanted)


LAB = Lab(
    name="gradient", title="A graph that computes gradients", chapter="spec/reference/graphs/gradient.md",
    task="""
The gradient of a graph is found by walking it once, from the outputs back to the variables. Write the walk for graphs
of three operators. A value that several nodes read gets a gradient from each, and its own gradient is their sum.
""",
    stub=STUB,
    answers=frozenset({"reference", "autograd", "bind", "simple_bind"}),
    words={
        "gradient/chain": "The walk visits nodes from the outputs back. The gradient of a node is the sum of what the"
        " nodes that read it give back, the last of them in the order of the graph first: (last + last but one) + ...",
        "gradient/unreached": "The gradient of a wanted variable that no output depends on is zeros of its shape.",
    },
    laws=(
        Law(_chain, "gradient/chain"), Law(_several, "gradient/chain"), Law(_order, "gradient/chain", 150),
        Law(_unreached, "gradient/unreached", 50),
    ),
)
"""The lab."""
