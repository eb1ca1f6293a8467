"""Small backends for tests of the oracle: right, wrong, crashing and hanging ones."""

from __future__ import annotations

import os
import time

import numpy as np

from refimpl.oracle.backends import Capabilities, Refused, Unsupported, executor_backend, forward_backend


def dense(p, x, weight, *bias):
    if bias or not p.flatten:
        raise Unsupported("FullyConnected with a bias, or without flatten")
    return x.reshape(len(x), -1) @ weight.T


RULES = {
    "relu": lambda p, x: np.where(x <= 0, np.zeros_like(x), x),
    "negative": lambda p, x: -x,
    "elemwise_add": lambda p, a, b: a + b,
    "_mul_scalar": lambda p, x: x * np.float32(p.scalar),
    "FullyConnected": dense,
}
SLOPES = {  # from the heads' gradient to those of the inputs
    "relu": lambda p, g, x: [np.where(x > 0, g, 0 * x)],
    "negative": lambda p, g, x: [-g],
    "elemwise_add": lambda p, g, a, b: [g, g],
    "_mul_scalar": lambda p, g, x: [g * np.float32(p.scalar)],
    "FullyConnected": lambda p, g, x, w: [(g @ w).reshape(x.shape), g.T @ x.reshape(len(x), -1)],
}


STYLES = ("dyadic", "smooth", "normal", "tied", "wide", "onehot")


@forward_backend(operators=RULES, styles=STYLES)
def forward(symbol, args, aux, is_train):
    return symbol.evaluate({**args, **aux}, lambda node, inputs: RULES[node.op](node.p, *inputs))


@executor_backend(operators=RULES, styles=STYLES)
def executor(symbol, args, aux, grads_in, grad_req, head_grads):
    made = []
    for node in symbol.nodes:
        inputs = [made[number] for number, _ in node.inputs]
        made.append(args[node.name] if node.op == "null" else RULES[node.op](node.p, *inputs))
    outputs, slopes = [made[number] for number, _ in symbol.heads], [np.zeros_like(value) for value in made]
    for (number, _), head in zip(symbol.heads, head_grads or (), strict=False):
        slopes[number] = slopes[number] + head
    for number, node in reversed(list(enumerate(symbol.nodes))):
        if node.op != "null":
            ins = [made[i] for i, _ in node.inputs]
            for (i, _), slope in zip(node.inputs, SLOPES[node.op](node.p, slopes[number], *ins), strict=True):
                slopes[i] = slopes[i] + slope
    found = {node.name: slopes[i] for i, node in enumerate(symbol.nodes) if node.name in grads_in}
    grads = {name: g + grads_in[name] if grad_req[name] == "add" else g for name, g in found.items()}
    return outputs, grads, aux


class Troubled:
    """Does what the program's first node is called; the answer is how many programs this process has run."""

    capabilities = Capabilities(level=1, operators=frozenset({"relu"}))
    version = "troubled 1"

    def __init__(self):
        self.ran, self.spoilt = 0, False

    def describe(self):
        return "nothing but trouble"

    def run(self, program):
        self.ran += 1
        do = program["nodes"][0]["name"]
        if do == "crash" or (do == "fragile" and self.spoilt):
            os._exit(3)
        if do == "hang":
            time.sleep(1000)
        if do == "nonsense":
            for descriptor in range(3, 20):  # whichever the answers go through
                try:
                    os.write(descriptor, b"\xff" * 64)
                except OSError:
                    continue
            time.sleep(1000)
        if do == "refuse":
            raise Refused("no such thing")
        if do == "poison":
            raise Refused("could not execute a primitive")
        if do == "unsupported":
            raise Unsupported("not here")
        self.spoilt = self.spoilt or do == "spoil"
        print("noise on standard output")
        return {"0/ran": np.array([self.ran]), "0/nothing": np.zeros((2, 0)), "0/one": np.float32(2.5)}


class Together(Troubled):
    """Runs programs together, and refuses some packs as a whole."""

    pack = 16

    def run_many(self, programs):
        names = [program["nodes"][0]["name"] for program in programs]
        if "alone" in names and names[1:]:
            raise RuntimeError("these do not go together")
        found = []
        for program in programs:
            try:
                found.append({**self.run(program), "0/together": np.array(len(programs))})
            except (Refused, Unsupported) as error:
                found.append(error)
        return found
