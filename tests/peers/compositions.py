"""An operator among other layers: graphs in which no array that it reads or writes is the caller's.

What stands before an operator hands on the values of a variable unchanged: an identity as a matrix, a normalisation
with mean 0 and variance 1. So what is known of a call holds in the graph too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import refimpl as mx
from refimpl.oracle.pages.calls import out_types
from refimpl.oracle.pages.draws import Example, SeededDraw
from refimpl.symbol.operators import make_function

Symbol = mx.sym.Symbol
Arrays = dict[str, np.ndarray]


class Composition(NamedTuple):
    """A graph, and arrays for those of its arguments and states that are no inputs of the operator.

    Their names begin with the input or output that their layer is next to, as in "data.weight" and "out0.weight".
    """

    net: Symbol
    arrays: Arrays
    around: str = ""
    again: bool = False


class Form(NamedTuple):
    """Which layers stand around an operator."""

    before: str
    behind: list[str]
    again: bool


class Layers:
    """Layers around an operator; the arrays of their parameters are gathered in ``arrays``."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}

    def parameter(self, name: str, value: np.ndarray) -> Symbol:
        self.arrays[name] = value
        return mx.sym.Variable(name)

    def weight(self, name: str, like: np.ndarray, outputs: int | None, inputs: int, kernel: int = 0) -> Symbol:
        """The identity, or numbers of a seed where there are ``outputs``."""
        value = np.eye(inputs) if outputs is None else np.arange(outputs * inputs).reshape(outputs, -1) % 7 / 4 - 0.5
        return self.parameter(f"{name}.weight", value.reshape(value.shape + (1,) * kernel).astype(like.dtype))

    def times(self, x: Symbol, name: str, like: np.ndarray, *, before: bool) -> Symbol:
        return x * 1

    def matrix(self, x: Symbol, name: str, like: np.ndarray, *, before: bool) -> Symbol:
        side = like.shape[-1]
        weight = self.weight(name, like, None if before else 3, side)
        return mx.sym.FullyConnected(
            x, weight, num_hidden=side if before else 3, no_bias=True, flatten=False, name=f"{name}.matrix"
        )

    def convolution(self, x: Symbol, name: str, like: np.ndarray, *, before: bool) -> Symbol:
        rank, side = like.ndim - 2, like.shape[1:2]
        if rank not in (1, 2, 3):
            return self.matrix(x, name, like, before=before)
        weight = self.weight(name, like, None if before else 3, *side, kernel=rank)
        return mx.sym.Convolution(
            x, weight, num_filter=side[0] if before else 3, kernel=(1,) * rank, no_bias=True, name=f"{name}.conv"
        )

    def norm(self, x: Symbol, name: str, like: np.ndarray, *, before: bool) -> Symbol:
        if like.ndim < 2:
            return self.activation(x, name, like, before=before)
        shape = like.shape[1]
        values = {"gamma": 1, "beta": 0, "moving_mean": 0, "moving_var": 0.75}
        inputs = {k: self.parameter(f"{name}.{k}", np.full(shape, v, like.dtype)) for k, v in values.items()}
        return mx.sym.BatchNorm(
            x, **inputs, eps=0.25, fix_gamma=False, use_global_stats=True, name=f"{name}.norm"
        )

    def activation(self, x: Symbol, name: str, like: np.ndarray, *, before: bool) -> Symbol:
        if not before:
            return mx.sym.Activation(x, act_type="tanh")
        if (like >= 0).all():
            return mx.sym.Activation(x, act_type="relu")
        return mx.sym.LeakyReLU(x, act_type="leaky", slope=1)

    def plus(self, x: Symbol, name: str, like: np.ndarray, *, before: bool) -> Symbol:
        return mx.sym.elemwise_add(self.parameter(f"{name}.other", np.zeros_like(like)), x)

    def parts(self, x: Symbol, name: str, like: np.ndarray, *, before: bool) -> Symbol:
        if not before:
            return mx.sym.elemwise_mul(x, x)
        other = self.parameter(f"{name}.other", np.zeros_like(like))
        return mx.sym.SliceChannel(mx.sym.Concat(other, x, dim=0), num_outputs=2, axis=0)[1]

    def reshape(self, x: Symbol, name: str, like: np.ndarray, *, before: bool) -> Symbol:
        return mx.sym.Reshape(mx.sym.Reshape(x * 2, shape=(-1,)) / 2, shape=like.shape)


KINDS = ("times", "convolution", "activation", "matrix", "plus", "parts", "norm", "reshape")


def around(x: Symbol, kind: str, layers: Layers, name: str, like: np.ndarray, *, before: bool) -> Symbol:
    """A layer of a kind before or behind ``x``, or a simpler one where the layer does not take such arrays."""
    if like.dtype not in (np.float32, np.float64) or not like.ndim or not like.size or not np.isfinite(like).all():
        return x * 1
    return getattr(layers, kind)(x, name, like, before=before)


def made(of: Example, inputs: dict[str, Symbol], name: str = "op") -> Symbol:
    """The operator on symbols."""
    function = make_function(of.op, of.op.name)
    if of.op.variadic:
        return function(*inputs.values(), name=name, **of.params)
    return function(**inputs, name=name, **of.params)


def outputs_like(of: Example) -> list[np.ndarray]:
    """Zeros of the shapes and types of the visible outputs."""
    _, shapes = of.op.infer(of.p, [a.shape for a in of.arrays], [None] * len(of.op.output_names(of.p)))
    count = of.op.visible_count(of.p)
    return [np.zeros(s, t) for s, t in zip(shapes[:count], out_types(of)[:count], strict=True)]


def alone(of: Example) -> Composition:
    """The operator on variables."""
    return Composition(made(of, {name: mx.sym.Variable(name) for name in of.names}), {})


def between(of: Example, form: Form, kept: Sequence[str], *, again: bool) -> Composition:
    """The operator behind layers of one kind, and before others that all read its outputs.

    ``again``: the operator itself may be among them. Inputs named in ``kept`` stay variables, and those that it
    changes.
    """
    before, behind, again = form.before, form.behind, form.again and again
    layers, inputs = Layers(), {}
    for name, array in zip(of.names, of.arrays, strict=True):
        inputs[name] = mx.sym.Variable(name)
        if name not in (*kept, *of.op.aux, *of.op.mutates):
            inputs[name] = around(inputs[name], before, layers, name, array, before=True)
    net = made(of, inputs)
    if again:
        others = {
            name: layers.parameter(f"{name}.again", array)
            for name, array in zip(of.names[1:], of.arrays[1:], strict=True)
        }
        net = made(of, {of.names[0]: net[0], **others}, "again")
    parts = list(zip(net, outputs_like(of), strict=True))
    outputs = [
        around(part, kind, layers, f"out{index + at * len(parts)}", like, before=False)
        for at, kind in enumerate(behind) for index, (part, like) in enumerate(parts)
    ]
    text = f", behind {before}, before {' and '.join([*['itself'] * again, *behind])}"
    return Composition(mx.sym.Group(outputs), layers.arrays, text, again)


def next_to(name: str) -> str:
    """The input or output of the operator that an argument is, or is next to."""
    return name.partition(".")[0]


def meant(result: str, outputs: int) -> str:
    """The result of the operator alone that a result of a composition follows from."""
    kind, _, name = result.rpartition(":")
    name = next_to(name)
    if re.fullmatch(r"out\d+", name):
        return f"out{int(name[3:]) % outputs}"
    return f"{kind}:{name}" if kind else name


def repeats(of: Example, kinds: dict[str, Any]) -> bool:
    """Whether the operator takes its first output as its first input: same shape and type, and any numbers."""
    if not of.arrays or kinds.get("args" if of.op.variadic else of.names[0], "any") not in ("any", "apart"):
        return False
    return [(a.shape, a.dtype) for a in outputs_like(of)[:1]] == [(a.shape, a.dtype) for a in of.arrays[:1]]


def form_of(number: int) -> Form:
    """Form number ``number``: one layer before, one or two behind, and in every second the operator itself."""
    draw = SeededDraw(number)
    behind = [draw.choice(KINDS) for _ in range(draw.integer(1, 2))]
    return Form(draw.choice(KINDS), behind, draw.boolean())
