"""A backend of five operators in which each bug can be planted by name."""

from __future__ import annotations

import numpy as np

from refimpl.oracle.backends import executor_backend

RULES = {
    "relu": lambda p, x: np.maximum(x, 0),
    "negative": lambda p, x: -x,
    "square": lambda p, x: x * x,
    "elemwise_add": lambda p, a, b: a + b,
    "elemwise_mul": lambda p, a, b: a * b,
}


def slopes_of(op, d, ins, bugs):
    if op == "relu":
        return [d * (ins[0] >= 0 if "tie" in bugs else ins[0] > 0)]
    if op == "negative":
        return [-d]
    if op == "square":
        return [2 * ins[0] * d]
    return [d, d] if op == "elemwise_add" else [d * ins[1], d * ins[0]]


def summed(symbol, values, head_grads, bugs):
    """The gradient of every node, summed over its readers."""
    found = [np.zeros_like(value) for value in values]
    for (number, _), head in zip(symbol.heads, head_grads, strict=True):
        found[number] = found[number] + head
    readers = [0] * len(values)
    for number in range(len(values) - 1, -1, -1):
        node = symbol.nodes[number]
        if node.op == "null":
            continue
        ins = [values[i] for i, _ in node.inputs]
        for position, ((i, _), d) in enumerate(
            zip(node.inputs, slopes_of(node.op, found[number], ins, bugs), strict=True)
        ):
            readers[i] += 1
            lost = "overwritten" in bugs and node.op == "elemwise_mul" and position == 1
            lost |= "crowd" in bugs and readers[i] >= 7
            found[i] = d if lost else found[i] + d
    return found


def planted(*bugs):
    """A backend with some of the bugs "tie", "overwritten", "no add", "rounded", "crowd"."""

    @executor_backend(operators=RULES, styles=("dyadic", "smooth", "normal", "tied", "wide", "onehot"))
    def run(symbol, args, aux, grads_in, grad_req, head_grads):
        values = []
        for node in symbol.nodes:
            ins = [values[number] for number, _ in node.inputs]
            values.append(args[node.name] if node.op == "null" else RULES[node.op](node.p, *ins))
        outputs = [values[number] for number, _ in symbol.heads]
        if "rounded" in bugs:
            outputs = [(out * np.float32(1 + 1e-4)).astype(out.dtype) for out in outputs]
        if head_grads is None:
            return outputs, {}, aux
        found = summed(symbol, values, head_grads, bugs)
        place = {node.name: number for number, node in enumerate(symbol.nodes)}
        grads = {
            name: found[place[name]] + (grads_in[name] if wanted == "add" and "no add" not in bugs else 0)
            for name, wanted in grad_req.items() if wanted != "null"
        }
        return outputs, grads, aux

    return run


sound = planted()
rounded = planted("rounded")
tie = planted("tie")
three_bugs = planted("tie", "overwritten", "no add")
