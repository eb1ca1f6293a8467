"""Layers, orders and selections as nodes of ONNX graphs; ``onnx_operators`` has the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from ...kernels.reduce import reduced_axes
from .common import windows
from .onnx_building import Builder, Rule, after
from .protocol import Unsupported


def _pad(b: Builder, p: Any, s: Any, x: str) -> str:
    widths = b.whole(*p.pad_width[0::2], *p.pad_width[1::2])
    if p.mode != "constant" and min(p.pad_width) < 0:
        raise Unsupported(f"Pad {p.mode} that takes elements away")
    return b.add("Pad", x, widths, *([b.constant(p.constant_value)] if p.mode == "constant" else []), mode=p.mode)


def _local_response(b: Builder, p: Any, s: Any, x: str) -> str:
    if p.nsize % 2 == 0 or len(s[0]) != 4:
        raise Unsupported("LRN over an even number of channels, of which ONNX sees one more, or not of images")
    return b.add("LRN", x, size=p.nsize, alpha=p.alpha, beta=p.beta, bias=p.knorm)


def _deconvolution(b: Builder, p: Any, s: Any, *inputs: str) -> str:
    strides, dilations, pads = windows(p, name="Deconvolution")
    adj = tuple(p.adj) or (0,) * len(p.kernel)
    if any(p.target_shape) or any(a >= k for a, k in zip(adj, strides, strict=True)):
        raise Unsupported("Deconvolution with target_shape, or with adj as long as its stride")
    return b.add(
        "ConvTranspose", *inputs, strides=strides, dilations=dilations, pads=pads * 2, group=p.num_group,
        kernel_shape=p.kernel, output_padding=adj,
    )


def _arg(op: str) -> Rule:
    def rule(b: Builder, p: Any, s: Any, x: str) -> str:
        flat = x if p.axis is not None else b.shaped(x, (-1,))
        found = b.add(op, flat, axis=0 if p.axis is None else p.axis, keepdims=0)
        return b.shaped(b.add("Cast", found, to=TensorProto.FLOAT), after(op.lower(), p, *s))

    return rule


def _norm(b: Builder, p: Any, s: Any, x: str) -> str:
    if p.out_dtype is not None:
        raise Unsupported(f"norm with out_dtype {p.out_dtype}")
    axes = reduced_axes(p, len(s[0])) or tuple(range(len(s[0])))
    found = b.add("ReduceL1" if p.ord == 1 else "ReduceL2", x, b.whole(*axes), keepdims=0)
    return b.shaped(found, after("norm", p, *s))


def _cumsum(b: Builder, p: Any, s: Any, x: str) -> str:
    if p.dtype is not None:
        raise Unsupported("_np_cumsum with dtype")
    return b.add("CumSum", b.shaped(x, (-1,)) if p.axis is None else x, b.constant(p.axis or 0, np.int64))


def _where(b: Builder, p: Any, s: Any, condition: str, x: str, y: str) -> str:
    if len(s[0]) == 1 < len(s[1]):
        condition = b.shaped(condition, (-1, *(1,) * (len(s[1]) - 1)))
    return b.add("Where", b.add("Cast", condition, to=TensorProto.BOOL), x, y)


def _axis_slice(b: Builder, p: Any, s: Any, x: str) -> str:
    end = p.end if p.end is not None else s[0][p.axis]
    return b.add("Slice", x, b.whole(p.begin), b.whole(end), b.whole(p.axis))


def _swapped(b: Builder, p: Any, s: Any, x: str) -> str:
    order = list(range(len(s[0])))
    order[p.dim1], order[p.dim2] = order[p.dim2], order[p.dim1]
    return b.add("Transpose", x, perm=order)


def _take(b: Builder, p: Any, s: Any, x: str, indices: str) -> str:
    if p.mode == "wrap":
        raise Unsupported("take with mode wrap")
    rows = b.add("Clip", indices, b.constant(0), b.constant(s[0][p.axis] - 1))
    return b.add("Gather", x, b.add("Cast", rows, to=TensorProto.INT64), axis=p.axis)


def _sort(b: Builder, p: Any, s: Any, x: str) -> str:
    along, axis = (b.shaped(x, (-1,)), 0) if p.axis is None else (x, p.axis)
    side = int(np.prod(s[0])) if p.axis is None else s[0][p.axis]
    return b.several("TopK", 2, along, b.whole(side), axis=axis, largest=int(not p.is_ascend), sorted=1)[0]


def _logical(op: str) -> Rule:
    return lambda b, p, s, *xs: b.add(
        "Cast", b.add(op, *[b.add("Cast", x, to=TensorProto.BOOL) for x in xs]), to=TensorProto.FLOAT
    )


LAYERS: dict[str, Rule] = {
    "Pad": _pad, "LRN": _local_response, "Deconvolution": _deconvolution, "argmax": _arg("ArgMax"),
    "argmin": _arg("ArgMin"), "norm": _norm, "_np_cumsum": _cumsum, "where": _where, "SwapAxis": _swapped,
    "slice_axis": _axis_slice, "take": _take, "sort": _sort, "logical_not": _logical("Not"),
    **{
        f"{way}logical_{name}": _logical(name.capitalize())
        for way in ("_", "broadcast_") for name in ("and", "or", "xor")
    },
}
