"""Layers of networks as nodes of ONNX graphs: convolutions, products, normalisation, resizing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import decides
from .building import Builder, Rule, in_single, product, require_fixed
from .pooling import pooled, pooled_as_before

Sides = tuple[int, ...]


def spacing(p: Any) -> tuple[Sides, Sides, Sides]:
    """stride, dilate and pad of a convolution with their defaults."""
    rank = len(p.kernel)
    return tuple(p.stride) or (1,) * rank, tuple(getattr(p, "dilate", ())) or (1,) * rank, tuple(p.pad) or (0,) * rank


def _convolution(b: Builder, p: Any, s: Any, *inputs: str) -> str:
    strides, dilations, pads = spacing(p)
    return b.add(
        "Conv", *inputs, strides=strides, dilations=dilations, pads=pads * 2, group=p.num_group, kernel_shape=p.kernel
    )


@decides("Onnx/deconvolution")
def _deconvolution(b: Builder, p: Any, s: Any, *inputs: str) -> str:
    strides, dilations, pads = spacing(p)
    adj = tuple(p.adj) or (0,) * len(p.kernel)
    if any(p.target_shape):
        require_fixed(s[0][2:], "Deconvolution with target_shape")
        whole = [
            step * (side - 1) + wide * (k - 1) + 1
            for side, k, step, wide in zip(s[0][2:], p.kernel, strides, dilations, strict=True)
        ]
        taken = [have - want for have, want in zip(whole, p.target_shape, strict=True)]
        pads, adj = tuple((much + 1) // 2 for much in taken), tuple(much % 2 for much in taken)
    end, further = [], []
    for pad, more in zip(pads, adj, strict=True):  # what adj adds is taken off less at the end, while there is some
        end.append(max(pad - more, 0))
        further.append(more - (pad - end[-1]))
    return b.add(
        "ConvTranspose", *inputs, strides=strides, dilations=dilations, pads=[*pads, *end], group=p.num_group,
        kernel_shape=p.kernel, output_padding=further,
    )


def _dense(b: Builder, p: Any, s: Any, x: str, weight: str, bias: str = "") -> str:
    if p.flatten or len(s[0]) == 2:
        rows = x if len(s[0]) == 2 else b.shaped(x, (s[0][0], product(s[0][1:])))
        if bias and len(s[2]) != 1:
            bias = b.shaped(bias, (p.num_hidden,))
        return b.add("Gemm", rows, weight, *([bias] if bias else []), transB=1)
    made = b.add("MatMul", x, b.add("Transpose", weight, perm=(1, 0)))
    return b.add("Add", made, b.shaped(bias, (p.num_hidden,)) if len(s[2]) != 1 else bias) if bias else made


# --- products -----------------------------------------------------------------------------------------


def _last_two(b: Builder, x: str, rank: int) -> str:
    return b.add("Transpose", x, perm=(*range(rank - 2), rank - 1, rank - 2))


def _batch_dot(b: Builder, p: Any, s: Any, x: str, y: str) -> str:
    rank = len(s[0])
    return b.add("MatMul", _last_two(b, x, rank) if p.transpose_a else x, _last_two(b, y, rank) if p.transpose_b else y)


def _dot(b: Builder, p: Any, s: Any, x: str, y: str) -> str:
    """The last axis of one with the first of the other; transposed, the first with the last."""
    left, right = tuple(s[0]), tuple(s[1])
    if p.transpose_a and len(left) > 1:
        x, left = b.add("Transpose", x, perm=[*range(1, len(left)), 0]), (*left[1:], left[0])
    if p.transpose_b and len(right) > 1:
        x_last = len(right) - 1
        y, right = b.add("Transpose", y, perm=[x_last, *range(x_last)]), (right[-1], *right[:-1])
    x = b.shaped(x, (product(left[:-1]), left[-1]))
    y = b.shaped(y, (right[0], product(right[1:])))
    return b.shaped(b.add("MatMul", x, y), b.outs[0])


def _gemm(b: Builder, p: Any, s: Any, x: str, y: str, *c: str) -> str:
    rank = len(s[0])
    order = list(range(rank))
    order.insert(rank - 2, order.pop(p.axis % rank))  # the rows of a matrix lie along the axis, its columns at the end
    turned = order != list(range(rank))
    if turned:
        x, y, *more = (b.add("Transpose", one, perm=order) for one in (x, y, *c))
        c = tuple(more)
    found = _batch_dot(b, p, s, x, y)
    found = found if p.alpha == 1 else b.add("Mul", found, b.constant(p.alpha))
    found = b.add("Add", found, b.add("Mul", c[0], b.constant(p.beta))) if c else found
    return b.add("Transpose", found, perm=[order.index(axis) for axis in range(rank)]) if turned else found


# --- normalisation ------------------------------------------------------------------------------------


def _batch_norm(b: Builder, p: Any, s: Any, x: str, gamma: str, beta: str, mean: str, variance: str) -> list[str]:
    found = _normalised(b, p, s, x, gamma, beta, mean, variance)
    if not p.output_mean_var:
        return [found]
    small = b.add("Add", variance, b.constant(p.eps, b.sources[4]))
    return [found, b.add("Identity", mean), b.add("Reciprocal", b.add("Sqrt", small))]


def _old_batch_norm(
    b: Builder, p: Any, s: Any, x: str, gamma: str, beta: str, mean: str, variance: str
) -> list[str]:
    """BatchNorm_v1 and SyncBatchNorm, whose third output is the variance, not 1 / its root."""
    found = _normalised(b, p, s, x, gamma, beta, mean, variance)
    return [found, b.add("Identity", mean), b.add("Identity", variance)] if p.output_mean_var else [found]


def _normalised(b: Builder, p: Any, s: Any, x: str, gamma: str, beta: str, mean: str, variance: str) -> str:
    rank, axis = len(s[0]), getattr(p, "axis", 1) % len(s[0])
    if p.fix_gamma:
        require_fixed((s[0][axis],), "BatchNorm along the batch")
        gamma = b.constant(np.ones(int(s[0][axis])), b.sources[1])
    order = list(range(rank))
    order.insert(1, order.pop(axis)) if rank > 1 else None
    turned = order != list(range(rank))
    data = b.add("Transpose", x, perm=order) if turned else x
    if rank == 1:
        data = b.add("Unsqueeze", data, b.whole(0))
    found = b.add("BatchNormalization", data, gamma, beta, mean, variance, epsilon=float(p.eps))
    if turned:
        found = b.add("Transpose", found, perm=[order.index(a) for a in range(rank)])
    if rank == 1:
        found = b.shaped(found, b.outs[0])
    return found


def _statistics(b: Builder, x: str, axes: list[int], eps: float) -> tuple[str, str]:
    """Mean and standard deviation along axes, which stay."""
    mean = b.reduced("ReduceMean", x, axes, keepdims=True)
    apart = b.add("Sub", x, mean)
    variance = b.reduced("ReduceMean", b.add("Mul", apart, apart), axes, keepdims=True)
    return mean, b.add("Sqrt", b.add("Add", variance, b.constant(eps)))


def _layer_norm(b: Builder, p: Any, s: Any, x: str, gamma: str, beta: str) -> list[str]:
    rank, axis = len(s[0]), p.axis % len(s[0])
    if axis == rank - 1:
        found = b.add("LayerNormalization", x, gamma, beta, axis=-1, epsilon=float(p.eps))
    else:
        order = [*(a for a in range(rank) if a != axis), axis]
        turned = b.add("Transpose", x, perm=order)
        turned = b.add("LayerNormalization", turned, gamma, beta, axis=-1, epsilon=float(p.eps))
        found = b.add("Transpose", turned, perm=[order.index(a) for a in range(rank)])
    return [found, *_statistics(b, x, [axis], p.eps)] if p.output_mean_var else [found]


def _group_norm(b: Builder, p: Any, s: Any, x: str, gamma: str, beta: str) -> list[str]:
    batch, groups = s[0][0], p.num_groups
    require_fixed(s[0][1:], "GroupNorm")
    rows = b.shaped(x, (batch, groups, math.prod(s[0][1:]) // groups))
    found = b.shaped(b.add("InstanceNormalization", rows, gamma, beta, epsilon=float(p.eps)), b.outs[0])
    if not p.output_mean_var:
        return [found]
    mean, deviation = _statistics(b, rows, [2], p.eps)
    return [found, b.shaped(mean, b.outs[1]), b.shaped(deviation, b.outs[2])]


def _local_response(b: Builder, p: Any, s: Any, x: str) -> str:
    size = p.nsize - (p.nsize + 1) % 2  # an even number sees as many channels as the odd one below it
    images = x if len(s[0]) == 4 else b.shaped(x, (*s[0][:2], product(s[0][2:]), 1))
    found = b.add("LRN", images, size=size, alpha=float(p.alpha * size / p.nsize), beta=p.beta, bias=p.knorm)
    return found if len(s[0]) == 4 else b.shaped(found, b.outs[0])


# --- images of another size ---------------------------------------------------------------------------


def _upsampling(b: Builder, p: Any, s: Any, *inputs: str) -> str:
    if p.sample_type == "bilinear":
        data, weight = inputs
        k, pad = 2 * p.scale - p.scale % 2, math.ceil((p.scale - 1) / 2)
        channels = int(s[0][1])
        return b.add(
            "ConvTranspose", data, weight, strides=[p.scale] * 2, pads=[pad] * 4, group=channels, kernel_shape=[k, k]
        )
    high, wide = (int(side) for side in b.outs[0][2:])
    larger = []
    for x, shape in zip(inputs, s, strict=True):
        scales = b.constant([1, 1, high // int(shape[2]), wide // int(shape[3])], np.float32)
        larger.append(b.add(
            "Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"
        ))
    if len(larger) == 1:
        return larger[0]
    return b.add("Sum", *larger) if p.multi_input_mode == "sum" else b.add("Concat", *larger, axis=1)


def _resized(b: Builder, p: Any, s: Any, x: str, *like: str) -> str:
    mode = "align_corners" if p.align_corners else "pytorch_half_pixel"
    return b.add("Resize", x, "", "", b.sizes(b.outs[0]), mode="linear", coordinate_transformation_mode=mode)


def _adaptive(b: Builder, p: Any, s: Any, x: str) -> str:
    """The mean over the rows and columns of each region: a product with a matrix of shares on either side."""
    require_fixed(s[0][2:], "_contrib_AdaptiveAvgPooling2D")
    shares = []
    for side, parts in zip(s[0][2:], b.outs[0][2:], strict=True):
        matrix = np.zeros((int(parts), int(side)))
        for part in range(int(parts)):
            first, end = part * side // parts, -(-(part + 1) * side // parts)
            matrix[part, first:end] = 1 / (end - first)
        shares.append(matrix)
    rows, columns = shares
    if rows.shape[0] == columns.shape[0] == 1:
        return b.add("GlobalAveragePool", x)
    return b.add("MatMul", b.constant(rows), b.add("MatMul", x, b.constant(columns.T)))


RULES: dict[str, Rule] = {
    "Convolution": _convolution, "Deconvolution": _deconvolution,
    "FullyConnected": _dense, "batch_dot": _batch_dot, "dot": _dot, "_linalg_gemm": _gemm, "_linalg_gemm2": _gemm,
    "BatchNorm": _batch_norm, "BatchNorm_v1": _old_batch_norm, "_contrib_SyncBatchNorm": _old_batch_norm,
    "LayerNorm": _layer_norm, "GroupNorm": _group_norm,
    "InstanceNorm": lambda b, p, s, *inputs: b.add("InstanceNormalization", *inputs, epsilon=float(p.eps)),
    "Pooling": pooled, "Pooling_v1": pooled_as_before,
    "LRN": _local_response, "UpSampling": _upsampling, "_contrib_BilinearResize2D": _resized,
    "_contrib_AdaptiveAvgPooling2D": in_single(_adaptive),
    "_linalg_det": lambda b, p, s, x: b.shaped(b.add("Det", x), b.outs[0]),
}
