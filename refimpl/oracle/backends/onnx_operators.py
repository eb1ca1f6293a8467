"""Our operators as nodes of ONNX graphs: those whose parameters mean the same there. Pages may not import ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from ...kernels.reduce import reduced_axes
from .common import SAME_ELEMENTS, windows
from .onnx_building import Builder, Rule, after
from .onnx_layers import LAYERS
from .protocol import Unsupported

UNARY = {
    "abs": "Abs", "negative": "Neg", "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "sin": "Sin", "cos": "Cos",
    "tan": "Tan", "arcsin": "Asin", "arccos": "Acos", "arctan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh",
    "arcsinh": "Asinh", "arccosh": "Acosh", "arctanh": "Atanh", "floor": "Floor", "ceil": "Ceil",
    "sign": "Sign", "reciprocal": "Reciprocal", "sigmoid": "Sigmoid", "softsign": "Softsign", "erf": "Erf",
    "relu": "Relu", "_copy": "Identity", "BlockGrad": "Identity",
}
PAIRS = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "maximum": "Max", "minimum": "Min", "power": "Pow"}
TESTS = {
    "equal": "Equal", "greater": "Greater", "greater_equal": "GreaterOrEqual", "lesser": "Less",
    "lesser_equal": "LessOrEqual",
}
REDUCTIONS = {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin", "prod": "ReduceProd"}
ACTIVATIONS = {
    "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softsign": "Softsign", "softrelu": "Softplus",
}


def _simple() -> dict[str, Rule]:
    made: dict[str, Rule] = {n: lambda b, p, s, x, op=op: b.add(op, x) for n, op in UNARY.items()}
    for name, op in PAIRS.items():
        plain = f"elemwise_{name}" if name in ("add", "sub", "mul", "div") else f"_{name}"
        scalar = {"add": "plus", "sub": "minus"}.get(name, name)
        made[plain] = made[f"broadcast_{name}"] = lambda b, p, s, x, y, op=op: b.add(op, x, y)
        made[f"_{scalar}_scalar"] = lambda b, p, s, x, op=op: b.add(op, x, b.constant(p.scalar))
        if name in ("sub", "div", "power"):
            made[f"_r{scalar}_scalar"] = lambda b, p, s, x, op=op: b.add(op, b.constant(p.scalar), x)
    for name, op in TESTS.items():
        made[f"_{name}"] = made[f"broadcast_{name}"] = lambda b, p, s, x, y, op=op: b.add(
            "Cast", b.add(op, x, y), to=TensorProto.FLOAT)
        made[f"_{name}_scalar"] = lambda b, p, s, x, op=op: b.add(
            "Cast", b.add(op, x, b.constant(p.scalar)), to=TensorProto.FLOAT)
    for name, op in REDUCTIONS.items():
        made[name] = lambda b, p, s, x, name=name, op=op: _reduced(b, p, s, x, name, op)
    for name in SAME_ELEMENTS:
        made[name] = lambda b, p, s, x, *like, name=name: b.shaped(x, after(name, p, *s))
    for name in ("broadcast_to", "broadcast_axis", "broadcast_like"):
        made[name] = lambda b, p, s, x, *like, name=name: b.add("Expand", x, b.whole(*after(name, p, *s)))
    return made


def _reduced(b: Builder, p: Any, shapes: Any, x: str, name: str, op: str) -> str:
    axes = reduced_axes(p, len(shapes[0]))
    found = b.add(op, x, b.whole(*axes), keepdims=0) if axes else b.add("Identity", x)
    return b.shaped(found, after(name, p, *shapes))


def _softmax(op: str, *, negate: bool = False) -> Rule:
    def rule(b: Builder, p: Any, s: Any, x: str, *length: str) -> str:
        if length or p.dtype is not None:
            raise Unsupported("softmax with lengths or dtype")
        x = b.add("Neg", x) if negate else x
        return b.add(op, b.add("Div", x, b.constant(p.temperature)) if p.temperature else x, axis=p.axis)

    return rule


def _leaky(b: Builder, p: Any, s: Any, x: str, *gamma: str) -> str:
    runs = {"leaky": ("LeakyRelu", {"alpha": p.slope}), "elu": ("Elu", {"alpha": p.slope}), "selu": ("Selu", {}),
            "gelu": ("Gelu", {})}
    if p.act_type not in runs:
        raise Unsupported(f"LeakyReLU {p.act_type}")
    op, attributes = runs[p.act_type]
    return b.add(op, x, **attributes)


def _convolution(b: Builder, p: Any, s: Any, *inputs: str) -> str:
    strides, dilations, pads = windows(p, name="Convolution")
    return b.add(
        "Conv", *inputs, strides=strides, dilations=dilations, pads=pads * 2, group=p.num_group, kernel_shape=p.kernel
    )


def _pooling(b: Builder, p: Any, s: Any, x: str) -> str:
    strides, _, pads = windows(p, name="Pooling")
    if p.pool_type not in ("max", "avg") or (p.pooling_convention != "valid" and not p.global_pool):
        raise Unsupported(f"Pooling {p.pool_type} with convention {p.pooling_convention}")
    if p.global_pool:
        return b.add({"max": "GlobalMaxPool", "avg": "GlobalAveragePool"}[p.pool_type], x)
    if any(2 * pad > k for pad, k in zip(pads, p.kernel, strict=True)):
        raise Unsupported("Pooling with a pad of more than half the kernel")
    window = {"kernel_shape": p.kernel, "strides": strides, "pads": pads * 2}
    if p.pool_type == "max":
        return b.add("MaxPool", x, **window)
    return b.add("AveragePool", x, count_include_pad=int(p.count_include_pad is not False), **window)


def _dense(b: Builder, p: Any, s: Any, x: str, weight: str, bias: str = "") -> str:
    rows = b.shaped(x, (s[0][0], int(np.prod(s[0][1:])))) if p.flatten else x
    product = b.add("MatMul", rows, b.add("Transpose", weight, perm=(1, 0)))
    return b.add("Add", product, b.shaped(bias, (-1,))) if bias else product


def _batch_dot(b: Builder, p: Any, s: Any, x: str, y: str) -> str:
    rank = len(s[0])
    turned = (*range(rank - 2), rank - 1, rank - 2)
    return b.add("MatMul", b.add("Transpose", x, perm=turned) if p.transpose_a else x,
                 b.add("Transpose", y, perm=turned) if p.transpose_b else y)


def _embedding(b: Builder, p: Any, s: Any, data: str, weight: str) -> str:
    rows = b.add("Cast", b.add("Clip", data, b.constant(0), b.constant(p.input_dim - 1)), to=TensorProto.INT64)
    return b.add("Gather", weight, rows, axis=0)


def _layer_norm(b: Builder, p: Any, s: Any, x: str, gamma: str, beta: str) -> str:
    if p.output_mean_var or p.axis % len(s[0]) != len(s[0]) - 1:
        raise Unsupported("LayerNorm along another axis than the last, or with its statistics")
    return b.add("LayerNormalization", x, gamma, beta, axis=-1, epsilon=p.eps)


def _tile(b: Builder, p: Any, s: Any, x: str) -> str:
    rank = max(len(p.reps), len(s[0]))
    x = b.shaped(x, (1,) * (rank - len(s[0])) + tuple(s[0]))
    return b.add("Tile", x, b.whole(*((1,) * (rank - len(p.reps)) + tuple(p.reps))))


RULES: dict[str, Rule] = {
    **_simple(), **LAYERS, "softmax": _softmax("Softmax"), "log_softmax": _softmax("LogSoftmax"),
    "softmin": _softmax("Softmax", negate=True), "LeakyReLU": _leaky, "Convolution": _convolution, "Pooling": _pooling,
    "FullyConnected": _dense, "batch_dot": _batch_dot, "Embedding": _embedding, "LayerNorm": _layer_norm,
    "InstanceNorm": lambda b, p, s, *inputs: b.add("InstanceNormalization", *inputs, epsilon=p.eps),
    "Activation": lambda b, p, s, x: b.add(ACTIVATIONS[p.act_type], x), "add_n": lambda b, p, s, *xs: b.add("Sum", *xs),
    "clip": lambda b, p, s, x: b.add("Clip", x, b.constant(p.a_min), b.constant(p.a_max)),
    "hard_sigmoid": lambda b, p, s, x: b.add("HardSigmoid", x, alpha=p.alpha, beta=p.beta),
    "square": lambda b, p, s, x: b.add("Mul", x, x), "tile": _tile,
    "Concat": lambda b, p, s, *xs: b.add("Concat", *xs, axis=p.dim),
    "stack": lambda b, p, s, *xs: b.add("Concat", *[b.add("Unsqueeze", x, b.whole(p.axis)) for x in xs], axis=p.axis),
    "transpose": lambda b, p, s, x: b.add("Transpose", x, perm=tuple(p.axes) or tuple(range(len(s[0])))[::-1]),
    "depth_to_space": lambda b, p, s, x: b.add("DepthToSpace", x, blocksize=p.block_size),
    "space_to_depth": lambda b, p, s, x: b.add("SpaceToDepth", x, blocksize=p.block_size),
    "_linalg_det": lambda b, p, s, x: b.shaped(b.add("Det", x), after("_linalg_det", p, *s)),
}
