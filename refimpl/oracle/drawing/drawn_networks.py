"""Networks for modules: layers whose parameters do not depend on the number of rows, with data, labels and losses.

A network is drawn for a nominal number of rows. The same network is bound for any other: only the descriptions of data
and labels change.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ...kernels.foundation import get
from ...symbol.calls import attribute_text
from .choices import NOTHING, Capabilities, Exclusions, Program
from .draws import Draw, Shape

KERNEL_STYLES = ("dyadic", "dyadic", "dyadic", "normal", "smooth", "tied")
IN_NETWORKS = ("BatchNorm", "LeakyReLU")
"""Operators of networks that are not drawn as calls: BatchNorm writes to gamma, LeakyReLU may draw slopes."""
SIDE = 6
"""Elements of a row along one axis, at most."""


class Value(NamedTuple):
    """One output of a node."""

    node: int
    output: int
    shape: Shape


class Input(NamedTuple):
    """Data or a label: its shape without the axis of the batch, and where that axis is."""

    name: str
    tail: Shape
    axis: int
    kind: Any
    layout: str

    def shape(self, rows: int) -> list[int]:
        """Its shape for a number of rows."""
        return [*self.tail[: self.axis], rows, *self.tail[self.axis :]]


class Network:
    """Nodes that grow while they are drawn; parameters get values, inputs get descriptions."""

    def __init__(self, draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING, rows: int = 4) -> None:
        self.draw, self.capabilities, self.exclude, self.rows = draw, capabilities, exclude, rows
        self.nodes: list[dict[str, Any]] = []
        self.parameters: dict[str, dict[str, Any]] = {}
        self.variables: dict[str, Value] = {}
        self.data: list[Input] = []
        self.labels: list[Input] = []
        self.states: list[str] = []
        self.heads: list[Value] = []
        self.losses = True
        self.dtype = "float32"
        self.axes: list[int] = []
        """The axis of the rows of each head; 0 for heads beyond the list."""
        self.length = False
        """Whether data and labels begin with an axis of any length, the same for all."""
        self.count = 0
        self.called = "layer" if capabilities.corners and draw.boolean() else ""
        """What nodes are called; else after their operators."""
        styles = [style for style in KERNEL_STYLES if style in capabilities.styles]
        self.style = draw.choice(styles or capabilities.styles)

    def has(self, operator: str) -> bool:
        """Whether the operator, or a feature of modules, may be used."""
        return (
            (self.capabilities.has(operator) or "/" in operator) and operator not in self.exclude.operators
            and self.exclude.allowed("write", [operator])
        )

    # --- variables ------------------------------------------------------------------------------

    def values(self, shape: Sequence[int], kind: Any = "any", style: str | None = None) -> dict[str, Any]:
        """An array of the network's style."""
        spec: dict[str, Any] = {"shape": list(shape), "dtype": self.dtype, "seed": self.draw.integer(0, 9999)}
        if kind != "any":
            spec["kind"] = kind
        spec["style"] = style or self.style
        return spec

    def variable(self, name: str, shape: Shape) -> Value:
        """The variable of that name."""
        if name not in self.variables:
            self.nodes.append({"op": "null", "name": name})
            self.variables[name] = Value(len(self.nodes) - 1, 0, shape)
        return self.variables[name]

    def input(self, name: str, tail: Shape, axis: int = 0, kind: Any = "any", layout: str = "NCHW") -> Value:
        """A variable for data."""
        self.data.append(Input(name, tail, axis, kind, layout))
        return self.variable(name, tuple(self.data[-1].shape(self.rows)))

    def label(self, name: str, value_shape: Shape, axis: int = 0, kind: Any = "any", layout: str = "NCHW") -> Value:
        """A variable for a label, with the shape that a loss wants."""
        tail = tuple(side for i, side in enumerate(value_shape) if i != axis)
        self.labels.append(Input(name, tail, axis, kind, layout))
        return self.variable(name, value_shape)

    def batch(self, inputs: Sequence[Input], rows: int) -> list[dict[str, Any]]:
        """Arrays for inputs."""
        return [self.values(each.shape(rows), each.kind) for each in inputs]

    def described(self, inputs: Sequence[Input], rows: int) -> list[dict[str, Any]]:
        """Descriptions of inputs."""
        dtype = {"dtype": self.dtype} if self.dtype != "float32" else {}
        return [
            {
                "name": each.name, "shape": each.shape(rows), **dtype,
                **({"layout": each.layout} if each.layout != "NCHW" else {}),
            } for each in inputs
        ]

    def lengthen(self, length: int) -> None:
        """Give data and labels another length."""
        for inputs in (self.data, self.labels):
            inputs[:] = [each._replace(tail=(length, *each.tail[1:])) for each in inputs]

    # --- layers ---------------------------------------------------------------------------------

    def apply(self, operator: str, inputs: Sequence[Value], params: dict[str, Any] | None = None, *,
              name: str | None = None, weights: Sequence[str] = (), layout: str | None = None) -> Value:
        """Add an operator. Inputs that are not given become parameters, named ``weights`` or after the node."""
        op = get(operator)
        params = dict(params or {})
        if op.variadic:
            params.setdefault(op.variadic, len(inputs))
        p = op.parse(params)
        if name is None:
            name = f"{self.called or operator.lower().strip('_')}{self.count}"
            self.count += 1
        slots = op.input_names(p)
        given: list[Any] = [each.shape for each in inputs] + [None] * (len(slots) - len(inputs))
        shapes, outs = op.infer(p, given, [None] * len(op.output_names(p)))
        entries = [[each.node, each.output] for each in inputs]
        for place, (slot, shape) in enumerate(zip(slots[len(inputs):], shapes[len(inputs):], strict=True)):
            called = weights[place] if place < len(weights) else f"{name}_{slot}"
            entry = self.variable(called, tuple(shape))
            if called not in self.parameters:
                self.parameters[called] = self.values(shape, "positive" if slot == "moving_var" else "any")
            entries.append([entry.node, entry.output])
        attrs = {key: attribute_text(value) for key, value in params.items()}
        if layout is not None:
            attrs["__layout__"] = layout
        self.nodes.append({"op": operator, "name": name, "inputs": entries, "attrs": attrs})
        return Value(len(self.nodes) - 1, 0, tuple(outs[0]))

    def dense(self, value: Value, hidden: int | None = None, flatten: bool = True, weights: Sequence[str] = (),
              name: str | None = None) -> Value:
        """A FullyConnected."""
        params: dict[str, Any] = {"num_hidden": hidden or self.draw.integer(1, 5)}
        if not weights and self.draw.one_in(4):
            params["no_bias"] = True
        if not flatten:
            params["flatten"] = False
        return self.apply("FullyConnected", [value], params, weights=weights, name=name)

    def activation(self, value: Value) -> Value:
        """Something elementwise."""
        kind = self.draw.choice(("relu", "relu", "tanh", "sigmoid", "softrelu", "leaky", "square"))
        if kind == "leaky" and self.has("LeakyReLU"):
            return self.apply("LeakyReLU", [value], {"act_type": "leaky", "slope": 0.25})
        if kind == "square" and self.has("_mul_scalar"):
            return self.apply("_mul_scalar", [value], {"scalar": 0.5})
        if not self.has("Activation"):
            return value
        kind = kind if kind in ("tanh", "sigmoid", "softrelu") else "relu"
        return self.apply("Activation", [value], {"act_type": kind})

    def normalised(self, value: Value) -> Value:
        """A BatchNorm, if there may be one."""
        if not self.has("BatchNorm"):
            return value
        params: dict[str, Any] = {"eps": 0.125, "momentum": self.draw.choice((0.5, 0.9)),
                                  "fix_gamma": self.draw.boolean()}
        if self.draw.one_in(6):
            params["use_global_stats"] = True
        return self.apply("BatchNorm", [value], params)

    def picture(self, value: Value) -> Value:
        """A layer over a picture."""
        side = min(value.shape[2:])
        kind = self.draw.choice(("convolution", "convolution", "pooling", "activation", "normalised"))
        if kind == "convolution" and self.has("Convolution"):
            size = self.draw.integer(1, min(3, side))
            params = {"kernel": (size, size), "num_filter": self.draw.integer(1, 3)}
            if self.draw.one_in(3):
                params["pad"] = (1, 1)
            if self.draw.one_in(4):
                params["no_bias"] = True
            return self.apply("Convolution", [value], params)
        if kind == "pooling" and side >= 2 and self.has("Pooling"):
            return self.apply("Pooling", [value], {
                "kernel": (2, 2), "stride": (2, 2), "pool_type": self.draw.choice(("max", "avg", "sum")),
            })
        return self.normalised(value) if kind == "normalised" else self.activation(value)

    # --- parts of networks ----------------------------------------------------------------------

    def stem(self) -> Value:
        """Data, and an operator on it: a value with the batch along axis 0."""
        draw = self.draw
        kind = draw.choice(("vector", "vector", "picture", "words", "two", "sequence"))
        if kind == "picture" and self.has("Flatten"):
            value = self.input("data", (draw.integer(1, 2), draw.integer(2, 4), draw.integer(2, 4)))
            for _ in range(draw.integer(1, 3)):
                value = self.picture(value)
            return self.apply("Flatten", [value])
        if kind == "words" and self.has("Embedding") and self.has("Flatten"):
            words = draw.integer(2, 5)
            value = self.input("data", (draw.integer(1, 3),), kind=["labels", words])
            value = self.apply("Embedding", [value], {"input_dim": words, "output_dim": draw.integer(1, 3)})
            return self.apply("Flatten", [value])
        if kind == "two" and self.has("Concat") and self.has("elemwise_add"):
            one = self.dense(self.input("second", (draw.integer(1, SIDE),)), 3)
            value = self.input("data", (3,))
            return (
                self.apply("Concat", [one, value], {"dim": 1}) if draw.boolean()
                else self.apply("elemwise_add", [value, one])
            )
        if kind == "sequence" and self.has("sum"):
            value = self.input("data", (draw.integer(1, 3), draw.integer(1, 3)))
            value = self.dense(value, flatten=False)
            return self.apply("sum", [value], {"axis": 1})
        return self.input("data", (draw.integer(1, SIDE),))

    def body(self, value: Value) -> Value:
        """Layers over rows."""
        for _ in range(self.draw.integer(0, 2)):
            kind = self.draw.choice(("dense", "activation", "normalised", "shared", "state"))
            if kind == "dense":
                value = self.dense(value)
            elif kind == "activation":
                value = self.activation(value)
            elif kind == "normalised":
                value = self.normalised(value)
            elif kind == "shared" and prod(value.shape[1:]) <= SIDE:
                width = value.shape[1]
                names = (f"shared{width}_weight", f"shared{width}_bias")
                value = self.dense(self.dense(value, width, weights=names), width, weights=names)
            elif kind == "state" and self.has("elemwise_add") and self.has("module/states") and not self.states:
                self.states.append("begin_state")
                value = self.apply("elemwise_add", [value, self.variable("begin_state", value.shape)])
        return value

    def loss(self, value: Value, number: int = 0) -> Value:
        """A loss over rows, or now and then none: head gradients are then given."""
        if not number and self.capabilities.corners and self.draw.one_in(6):
            self.losses = False
            return self.dense(value)
        draw, kind = self.draw, self.draw.choice(("softmax", "linear", "softmax", "linear", "mae", "logistic", "make"))
        name = "softmax" if not number else f"loss{number}"
        label = f"{name}_label"
        if kind == "softmax" and self.has("SoftmaxOutput"):
            value = self.dense(value, draw.integer(2, 5))
            target = self.label(label, (value.shape[0],), kind=["labels", value.shape[1]])
            params: dict[str, Any] = {}
            if draw.one_in(3):
                params["normalization"] = draw.choice(("batch", "valid"))
            if draw.one_in(4):
                params["grad_scale"] = 0.5
            if draw.one_in(6):
                params.update(use_ignore=True, ignore_label=0.0)
            return self.apply("SoftmaxOutput", [value, target], params, name=name)
        regressions = {
            "linear": "LinearRegressionOutput", "mae": "MAERegressionOutput", "logistic": "LogisticRegressionOutput",
        }
        if kind in regressions and self.has(regressions[kind]):
            target = self.label(label, value.shape)
            return self.apply(regressions[kind], [value, target], {}, name=name)
        if kind == "make" and self.has("MakeLoss") and self.has("elemwise_sub") and self.has("square"):
            target = self.label(label, value.shape)
            apart = self.apply("square", [self.apply("elemwise_sub", [value, target])])
            params = {"grad_scale": 0.5} if draw.boolean() else {}
            return self.apply("MakeLoss", [apart], params, name=name)
        self.losses = False
        return self.dense(value)

    def time_major(self) -> None:
        """A network over (steps, rows, elements): the batch is along axis 1."""
        value = self.input("data", (self.draw.integer(1, 3), self.draw.integer(1, 3)), 1, layout="TNC")
        value = self.activation(self.dense(value, flatten=False))
        self.length = True
        if self.capabilities.corners and self.draw.boolean() and self.has("transpose"):  # heads are cut along an axis
            self.losses = False
            for _ in range(1 + self.draw.one_in(3)):
                axis = self.draw.integer(0, 2)
                axes, layout = (((1, 0, 2), "NTC"), ((0, 1, 2), "TNC"), ((0, 2, 1), "TCN"))[axis]
                self.axes.append(axis)
                self.heads.append(self.apply("transpose", [value], {"axes": axes}, layout=layout))
            return
        label = self.label("softmax_label", value.shape, 1, layout="TNC")
        self.heads = [self.apply("LinearRegressionOutput", [value, label], {}, name="softmax", layout="TNC")]

    def half(self) -> None:
        """A network in half precision, with operators whose parameters have the type of their data."""
        self.dtype, self.called = "float16", ""
        value = self.dense(self.input("data", (self.draw.integer(1, SIDE),)))
        if self.draw.boolean():
            value = self.dense(self.activation(value))
        self.heads = [self.loss(value)]


def draw_network(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> Network:
    """A network with losses, or with outputs that need head gradients."""
    network = Network(draw, capabilities, exclude)
    if draw.one_in(6 if capabilities.corners else 10) and network.has("LinearRegressionOutput"):
        network.time_major()
        return network
    if capabilities.corners and draw.one_in(10) and network.has("module/half"):
        network.half()
        return network
    value = network.body(network.stem())
    if capabilities.corners and draw.one_in(12):  # many parameters
        for _ in range(5):
            value = network.dense(value, draw.integer(1, 2))
    if not network.parameters and "module/no parameters" in exclude.operators:
        value = network.dense(value)
    network.heads = [network.loss(value)]
    if not network.losses and capabilities.corners:
        if draw.boolean():
            network.heads.append(network.dense(value))
    elif draw.one_in(5) and network.losses:
        network.heads.append(network.loss(value, 1))
    elif draw.one_in(5) and network.losses and network.has("BlockGrad"):
        network.heads.append(network.apply("BlockGrad", [value]))
    return network


def program_of(level: int, network: Network, steps: list[dict[str, Any]]) -> Program:
    """A program of one network."""
    return {
        "version": 1, "level": level, "nodes": network.nodes, "heads": [[h.node, h.output] for h in network.heads],
        "arrays": network.parameters, "steps": steps,
    }
