"""Quantized layers as nodes of ONNX graphs: QuantizeLinear and DequantizeLinear around sums of whole numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels.foundation import get
from ..kernels.quantize import calibrated
from ..kernels.shared.quantized import BYTE, SINGLE, STEPS, SUMS, UNSIGNED, WHOLE, WHOLE_STEPS
from .arranging import RULES as ARRANGING
from .building import Builder, NoForm, Rule, product
from .layers import spacing
from .pooling import pooled
from .reducing import places

LIMITS = {BYTE: (-128, 127), UNSIGNED: (0, 255)}


def _reach(b: Builder, low: str, high: str) -> str:
    """The larger absolute end of a range, (1,)."""
    return b.add("Max", b.add("Abs", low), b.add("Abs", high))


def _single(b: Builder, value: Any) -> str:
    return b.constant(np.reshape(value, (1,)), SINGLE)


def _quantized(b: Builder, x: str, size: str, steps: np.float32, kind: np.dtype) -> str:
    scale = b.add("Squeeze", b.add("Div", size, _single(b, steps)), b.whole(0))
    return b.add("QuantizeLinear", x, scale, b.constant(0, kind))


def _rounded(b: Builder, x: str, kind: np.dtype) -> str:
    low, high = (b.constant(end, SINGLE) for end in LIMITS[kind])
    return b.cast(b.add("Clip", b.add("Round", x), low, high), kind)


def _symmetric(b: Builder, size: str) -> list[str]:
    return [b.add("Neg", size), b.add("Identity", size)]


def _range(b: Builder, p: Any) -> list[str] | None:
    found = calibrated(p)  # type: ignore[no-untyped-call]  # of a page
    return None if found is None else [_single(b, end) for end in found]


def _quantize(b: Builder, p: Any, s: Any, x: str, low: str, high: str) -> list[str]:
    kind, size = b.types[0], _reach(b, low, high)
    ends = _symmetric(b, size) if kind == BYTE else [b.add("Identity", low), b.add("Identity", high)]
    return [_quantized(b, x, size, WHOLE_STEPS[kind], kind), *ends]


def _quantize_v2(b: Builder, p: Any, s: Any, x: str) -> list[str]:
    kind, ends = b.types[0], _range(b, p)
    if b.sources[0] in LIMITS:
        if b.sources[0] != kind:
            raise NoForm(f"_contrib_quantize_v2 of {b.sources[0]} numbers, whose bits are read as {kind},")
        steps = STEPS[b.sources[0]]
        ends = ends or [_single(b, 0 if b.sources[0] == UNSIGNED else -steps), _single(b, steps)]
        return [b.add("Identity", x), *(b.add("Identity", end) for end in ends)]
    if ends is None:
        axes = list(range(len(s[0])))
        ends = [b.shaped(b.reduced(op, x, axes, keepdims=True), (1,)) for op in ("ReduceMin", "ReduceMax")]
    size = _reach(b, *ends)
    made = _quantized(b, x, size, STEPS[kind], kind)
    return [made, *(_symmetric(b, size) if kind == BYTE else [b.add("Identity", end) for end in ends])]


def _requantize(b: Builder, p: Any, s: Any, x: str, low: str, high: str) -> list[str]:
    kind, ends = b.types[0], _range(b, p)
    part = b.add("Div", _reach(b, low, high), _single(b, SUMS))
    if ends is None:
        axes = list(range(len(s[0])))
        most = b.add("Abs", b.cast(x, np.float64))
        most = b.shaped(b.reduced("ReduceMax", most, axes, keepdims=True), (1,))
        size = b.add("Mul", part, b.cast(most, SINGLE))
    else:
        size = _reach(b, *ends)
    scale = b.add("Mul", part, b.add("Div", _single(b, WHOLE_STEPS[kind]), size))
    made = _rounded(b, b.add("Mul", b.cast(x, SINGLE), scale), kind)
    least = _single(b, 0) if kind == UNSIGNED else b.add("Neg", size)
    return [made, b.add("Identity", least), b.add("Identity", size)]


def _dequantize(b: Builder, p: Any, s: Any, x: str, low: str, high: str) -> str:
    kind = b.sources[0]
    scale = b.add("Squeeze", b.add("Div", _reach(b, low, high), _single(b, STEPS[kind])), b.whole(0))
    return b.add("DequantizeLinear", x, scale, b.constant(0, kind))


# --- layers -------------------------------------------------------------------------------------------


def _product_range(b: Builder, given: dict[str, str], steps_data: np.float32, steps_weight: np.float32) -> list[str]:
    data = b.add("Div", _reach(b, given["min_data"], given["max_data"]), _single(b, steps_data))
    weight = b.add("Div", _reach(b, given["min_weight"], given["max_weight"]), _single(b, steps_weight))
    return _symmetric(b, b.add("Mul", b.add("Mul", data, weight), _single(b, SUMS)))


def _dense(b: Builder, p: Any, s: Any, *inputs: str) -> list[str]:
    given = dict(zip(get("_contrib_quantized_fully_connected").input_names(p), inputs, strict=True))
    kind, x = b.sources[0], given["data"]
    if p.flatten and len(s[0]) != 2:
        x = b.shaped(x, (s[0][0], product(s[0][1:])))
    found = b.add("MatMulInteger", x, b.add("Transpose", given["weight"], perm=(1, 0)))
    if "bias" in given:
        by = b.add("Mul", b.add("Div", _single(b, STEPS[kind]), _reach(b, given["min_data"], given["max_data"])),
                   b.add("Div", _single(b, STEPS[BYTE]), _reach(b, given["min_weight"], given["max_weight"])))
        scale = b.add("Div", b.add("Mul", by, _reach(b, given["min_bias"], given["max_bias"])), _single(b, STEPS[BYTE]))
        value = b.add("Mul", b.cast(given["bias"], SINGLE), scale)
        found = b.add("Add", found, b.shaped(b.cast(value, WHOLE), (p.num_hidden,)))
    return [found, *_product_range(b, given, WHOLE_STEPS[BYTE], WHOLE_STEPS[kind])]


def _convolution(b: Builder, p: Any, s: Any, *inputs: str) -> list[str]:
    given = dict(zip(get("_contrib_quantized_conv").input_names(p), inputs, strict=True))
    strides, dilations, pads = spacing(p)
    found = b.add(
        "ConvInteger", given["data"], given["weight"], strides=strides, dilations=dilations, pads=pads * 2,
        group=p.num_group, kernel_shape=p.kernel,
    )
    if "bias" in given:
        bias = b.shaped(b.cast(given["bias"], WHOLE), (p.num_filter, *(1,) * len(p.kernel)))
        found = b.add("Add", found, bias)
    return [found, *_product_range(b, given, WHOLE_STEPS[BYTE], WHOLE_STEPS[BYTE])]


def _batch_norm(
    b: Builder, p: Any, s: Any, x: str, gamma: str, beta: str, mean: str, var: str, *ends: str
) -> list[str]:
    low, high = calibrated(p)  # type: ignore[no-untyped-call]  # of a page
    extent, eps = np.float32(max(abs(low), abs(high))), np.float32(p.eps)
    inverse = b.add("Reciprocal", b.add("Sqrt", b.add("Add", var, _single(b, eps))))
    scale = b.add("Mul", gamma, inverse)
    weight = b.add("Div", b.add("Mul", scale, _reach(b, *ends)), _single(b, extent * np.float32(math.sqrt(1 + eps))))
    bias = b.add("Mul", b.add("Sub", beta, b.add("Mul", mean, scale)), _single(b, STEPS[BYTE] / extent))
    wide = (-1, *(1,) * (len(s[0]) - 2))
    real = b.cast(x, SINGLE)
    if b.sources[0] == UNSIGNED:
        real = b.cast(_rounded(b, b.add("Mul", real, _single(b, STEPS[BYTE] / STEPS[UNSIGNED])), BYTE), SINGLE)
    moved = b.add("Add", b.add("Mul", real, b.shaped(weight, wide)), b.shaped(bias, wide))
    return [_rounded(b, moved, BYTE), *(b.add("Identity", _single(b, end)) for end in (low, high))]


def _pooling(b: Builder, p: Any, s: Any, x: str, low: str, high: str) -> list[str]:
    kind = b.sources[0]
    b.types = [SINGLE, SINGLE, SINGLE]
    whole = p.count_include_pad is not False
    if p.pool_type == "avg" and not p.global_pool and p.pooling_convention == "full" and whole:
        raise NoForm("_contrib_quantized_pooling avg with convention full")
    return [_rounded(b, pooled(b, p, s, b.cast(x, SINGLE)), kind), b.add("Identity", low), b.add("Identity", high)]


# --- arrangement and pairs ----------------------------------------------------------------------------


def _activation(b: Builder, p: Any, s: Any, x: str, low: str, high: str) -> list[str]:
    if b.sources[0] != BYTE:
        raise NoForm("_contrib_quantized_act of uint8 numbers, whose bits MXNet reads as int8,")
    positive = b.cast(b.add("Relu", b.cast(x, SINGLE)), BYTE)
    return [positive, b.add("Identity", low), b.add("Identity", high)]


def _flatten(b: Builder, p: Any, s: Any, x: str, low: str, high: str) -> list[str]:
    return [b.shaped(x, b.outs[0]), b.add("Identity", low), b.add("Identity", high)]


def _join(b: Builder, p: Any, s: Any, *inputs: str) -> list[str]:
    n, kind = p.num_args, b.types[0]
    zero = _single(b, 0)
    low, high = b.add("Min", *inputs[n::2], zero), b.add("Max", *inputs[n + 1 :: 2], zero)
    size, parts = _reach(b, low, high), []
    for place in range(n):
        own = _reach(b, inputs[n + 2 * place], inputs[n + 2 * place + 1])
        scale = b.add("Div", b.add("Div", _single(b, STEPS[kind]), size),
                      b.add("Div", _single(b, STEPS[b.sources[place]]), own))
        parts.append(_rounded(b, b.add("Mul", b.cast(inputs[place], SINGLE), scale), kind))
    joined = ARRANGING["Concat"](b, p, s, *parts)
    return [joined, b.add("Identity", low), b.add("Identity", high)]  # type: ignore[list-item]  # one output


def _embedding(b: Builder, p: Any, s: Any, data: str, weight: str, low: str, high: str) -> list[str]:
    rows = places(b, data, p.input_dim, "clip", b.sources[0])
    return [b.add("Gather", weight, rows, axis=0), b.add("Identity", low), b.add("Identity", high)]


def _sum(b: Builder, p: Any, s: Any, x: str, y: str, *ends: str) -> list[str]:
    found, kind = _range(b, p), b.types[0]
    if found is None or b.sources[0] != b.sources[1]:
        raise NoForm("_contrib_quantized_elemwise_add without a calibrated range, or of int8 and uint8,")
    size, total = _reach(b, *found), []
    for place, value in enumerate((x, y)):
        own = _reach(b, *ends[2 * place : 2 * place + 2])
        scale = b.add("Div", b.add("Div", _single(b, STEPS[kind]), size),
                      b.add("Div", _single(b, STEPS[b.sources[place]]), own))
        total.append(b.add("Mul", b.cast(value, SINGLE), scale))
    return [_rounded(b, b.add("Add", *total), kind), *(b.add("Identity", end) for end in found)]


RULES: dict[str, Rule] = {
    "_contrib_quantize": _quantize, "_contrib_quantize_v2": _quantize_v2, "_contrib_requantize": _requantize,
    "_contrib_dequantize": _dequantize, "_contrib_quantized_fully_connected": _dense,
    "_contrib_quantized_conv": _convolution, "_contrib_quantized_batch_norm": _batch_norm,
    "_contrib_quantized_pooling": _pooling, "_contrib_quantized_act": _activation,
    "_contrib_quantized_flatten": _flatten, "_contrib_quantized_concat": _join,
    "_contrib_quantized_embedding": _embedding, "_contrib_quantized_elemwise_add": _sum,
}
