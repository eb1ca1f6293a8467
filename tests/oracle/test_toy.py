"""A toy of five operators, whose glue is fifteen lines: its three bugs, one of them a tie, are all named."""

from __future__ import annotations

import numpy as np

from refimpl.oracle import judge, search
from refimpl.oracle.backends import executor_backend
from refimpl.oracle.programs.program import operators

FORWARD = {
    "relu": lambda x: np.maximum(x, 0), "negative": lambda x: -x, "square": lambda x: x * x,
    "elemwise_add": lambda a, b: a + b, "elemwise_mul": lambda a, b: a * b,
}
BACKWARD = {  # wrong: relu at 0, the sign of negative, the second gradient of elemwise_mul
    "relu": lambda d, x: [d * (x >= 0)], "negative": lambda d, x: [d], "square": lambda d, x: [2 * x * d],
    "elemwise_add": lambda d, a, b: [d, d], "elemwise_mul": lambda d, a, b: [d * b, d * b],
}


@executor_backend(operators=FORWARD, styles=("dyadic", "tied"))
def toy(symbol, args, aux, grads_in, grad_req, head_grads):
    values = []
    for node in symbol.nodes:
        ins = [values[i] for i, _ in node.inputs]
        values.append(args[node.name] if node.op == "null" else FORWARD[node.op](*ins))
    slopes = [np.zeros_like(value) for value in values]
    for (i, _), head in zip(symbol.heads, head_grads or (), strict=False):
        slopes[i] = slopes[i] + head
    for number, node in reversed([*enumerate(symbol.nodes)]):
        ins = [values[i] for i, _ in node.inputs]
        for (i, _), d in zip(node.inputs, BACKWARD[node.op](slopes[number], *ins) if ins else (), strict=True):
            slopes[i] = slopes[i] + d
    found = {node.name: slope for node, slope in zip(symbol.nodes, slopes, strict=True) if node.name in grads_in}
    grads = {name: slope + grads_in[name] if grad_req[name] == "add" else slope for name, slope in found.items()}
    return [values[i] for i, _ in symbol.heads], grads, aux


def test_its_three_bugs_are_named() -> None:
    result = search(toy, seed=0, programs=250)  # a minute has 3,000
    named = {(found.cause.operator, found.cause.place, found.cause.look) for found in result.found}
    assert {name for name, _, _ in named} == {"relu", "negative", "elemwise_mul"}
    assert {place for _, place, _ in named} == {"gradient"}
    assert ("relu", "gradient", "zero is expected") in named
    assert ("negative", "gradient", "the sign is wrong") in named
    for found in result.found:
        assert operators(found.program) == [found.cause.operator]
        assert judge(toy, found.program).status == "failed"
