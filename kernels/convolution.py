"""Convolution: every filter slides over the data, and each output is one sum of products.

[Convolution/cross-correlation] out[n, f, y, x] = bias[f] + sum over c, i, j of
    weight[f, c, i, j] . data[n, c, y stride - pad + i dilate, x stride - pad + j dilate]:
    the filter is not turned round. One, two or three spatial axes work alike.
    >>> run("Convolution", [[[1, 2, 4, 8]]], [[[1, 10]]], [0.5], kernel=(2,), num_filter=1)
    [[[21.5, 42.5, 84.5]]]
    >>> run("Convolution", [[[[1, 2], [3, 4]]]], [[[[1, 0], [0, 10]]]], [0], kernel=(2, 2), num_filter=1)
    [[[[41.0]]]]

[Convolution/output-size] along each axis (size + 2 pad - dilate (kernel - 1) - 1) // stride + 1.
    >>> run("Convolution", [[[1, 2, 3, 4, 5]]], [[[1, 1]]], [0], kernel=2, num_filter=1, stride=2)
    [[[3.0, 7.0]]]
    >>> run("Convolution", [[[1, 2, 3, 4, 5]]], [[[1, 1]]], [0], kernel=2, num_filter=1, dilate=3)
    [[[5.0, 7.0]]]

[Convolution/padding] pad adds that many zeros on both sides. They are multiplied like any pixel: a
    weight that is not finite turns the sums that reach the padding into NaN, and so does a head the
    gradients of weights that reach it. (MXNet's own loops do so; by oneDNN it leaves the padding out
    from 16 channels on.) A finite number adds nothing there, so a twin may leave it out.
    >>> run("Convolution", [[[1, 2]]], [[[1, 10, 100]]], kernel=3, pad=1, num_filter=1, no_bias=True)
    [[[210.0, 21.0]]]

[Convolution/groups] channels and filters fall into num_group groups in order; a filter sees only the
    channels of its group. Both numbers must be divisible by num_group.
    >>> run("Convolution", [[[1, 2], [3, 4]]], [[[1]], [[10]]], [0, 0], kernel=1, num_filter=2, num_group=2)
    [[[1.0, 2.0], [30.0, 40.0]]]

[Convolution/weight-shape] weight is (num_filter, channels / num_group, *kernel); an unknown weight is
    inferred, any other refused.

[Convolution/bias-shape] bias is (num_filter,); with no_bias there is none.

[Convolution/rank] kernel has one to three axes, data two more than the kernel.

[Convolution/lengths] stride, dilate (default 1) and pad (default 0) are as long as the kernel; kernel,
    stride and dilate are at least 1, pad at least 0.

[Convolution/kernel-fits] the dilated kernel is not larger than the padded data.

[Convolution/layout] channels come first: NCW, NCHW or NCDHW as the rank says, or None.

[Convolution/output-shape] an output shape that is given must be the inferred one. It tells the batch, and
    the size of the data along every axis with stride 1.

[Convolution/floating-point] only floating-point types are convolved.

[Convolution/gradient] d_data sends every head back along its products, d_weight sums head . data over
    batch and pixels, d_bias sums the head.
    >>> grad("Convolution", [[[1, 2, 4, 8]]], [[[1, 10]]], [0], kernel=2, num_filter=1,
    ...      head=[[[1, 0, 2]]])
    ([[[1.0, 10.0, 2.0, 20.0]]], [[[9.0, 18.0]]], [3.0])

[Convolution/sum-order] forward adds products in the order channel, kernel offsets, and the bias last (a
    tuned twin fuses product and sum, and may sum gradients otherwise, the same way on every run).
    >>> run("Convolution", [[[1e8], [1], [-1e8]]], [[[1], [1], [1]]], [0], kernel=1, num_filter=1)
    [[[0.0]]]
"""

from math import prod
from typing import Annotated, Literal, NamedTuple

import numpy as np

from .foundation import REQUIRED, UNKNOWN, AtLeast, Case, Long, Loop, Op, Shape, items, merge, require, same_type, told
from .foundation.facts import Sources
from .multilinear import register_multilinear
from .shared.convolution_geometry import Geometry, geometry_of


class Params(NamedTuple):
    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()
    num_filter: Annotated[int, AtLeast(1)] = REQUIRED
    num_group: Annotated[int, AtLeast(1)] = 1
    workspace: Annotated[Long, AtLeast(0)] = 1024
    no_bias: bool = False
    cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = None
    cudnn_off: bool = False
    layout: Literal["NCW", "NCHW", "NCDHW", "NHWC", "NDHWC"] | None = None


LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def steps(p):
    """Stride, dilate and pad, with their defaults."""
    rank = len(p.kernel)
    return p.stride or (1,) * rank, p.dilate or (1,) * rank, p.pad or (0,) * rank


def inputs(p):
    return ("data", "weight") if p.no_bias else ("data", "weight", "bias")


def require_params(p):
    rank = len(p.kernel)
    require("Convolution/rank", 1 <= rank <= 3, f"kernel {p.kernel} must have 1 to 3 axes")
    for name, values in zip(("kernel", "stride", "dilate", "pad"), (p.kernel, *steps(p)), strict=True):
        least = 0 if name == "pad" else 1
        require(
            "Convolution/lengths", len(values) == rank and min(values) >= least,
            f"{name} {values} must hold {rank} numbers, as kernel does, of at least {least}",
        )
    require(
        "Convolution/layout", p.layout in (None, LAYOUTS[rank]),
        f"layout {p.layout} does not fit kernel {p.kernel}; give {LAYOUTS[rank]} or None",
    )
    require(
        "Convolution/groups", p.num_filter % p.num_group == 0,
        f"num_filter {p.num_filter} must be divisible by num_group {p.num_group}",
    )


def infer(p, ins, outs):
    require_params(p)
    data, weight, out = ins[0], ins[1], outs[0]
    weight = merge("Convolution/weight-shape", "weight", weight, (p.num_filter, UNKNOWN, *p.kernel))
    if data is not None:
        axes = f"data {data} must have two more axes than kernel {p.kernel}, for batch and channels"
        require("Convolution/rank", len(data) == len(p.kernel) + 2, axes)
        require(
            "Convolution/groups", data[1] % p.num_group == 0,
            f"{data[1]} channels must be divisible by num_group {p.num_group}",
        )
        wanted = (p.num_filter, data[1] // p.num_group, *p.kernel)
        weight = merge("Convolution/weight-shape", "weight", weight, wanted)
        sizes, pixels = [], []
        every = zip(data[2:], (out or (UNKNOWN,) * len(data))[2:], p.kernel, *steps(p), strict=False)
        for size, out_size, kernel, stride, dilate, pad in every:
            reach = dilate * (kernel - 1) + 1
            if stride == 1 and told(out_size) and not told(size):
                size = out_size + reach - 1 - 2 * pad
            require(
                "Convolution/kernel-fits", not told(size) or reach <= size + 2 * pad,
                f"kernel {p.kernel} with dilate {steps(p)[1]} is larger than data {data} with pad {steps(p)[2]}",
            )
            sizes.append(size)
            pixels.append((size + 2 * pad - reach) // stride + 1)
        out = merge("Convolution/output-shape", "output", out, (data[0], p.num_filter, *pixels))
        data = (out[0], weight[1] * p.num_group, *sizes)
    shapes = [data, weight]
    if not p.no_bias:
        shapes.append(merge("Convolution/bias-shape", "bias", ins[2], (p.num_filter,)))
    return shapes, [out]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "Convolution/floating-point", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}; only floating-point types are supported, use Cast",
    )
    return ins, outs


def geometry(p, data, out):
    """What the loops need to know of shapes and parameters."""
    stride, dilate, pad = steps(p)
    return geometry_of(data, out, p.kernel, stride, pad, dilate, p.num_group)


# --- loops --------------------------------------------------------------------------------------
# One item is one output, one pixel or one weight. Tap (k, i, j) of output (z, y, x) reads pixel (depth, row, column).
# The gradient of a weight is summed in double precision.


def convolve(data, weight, out, g: Geometry):
    """out[n, f, z, y, x] = sum over c, k, i, j of weight[f, c, k, i, j] . data[n, c, depth, row, column]."""
    group_channels, group_filters = g.channels // g.num_group, g.num_filter // g.num_group
    taps = group_channels * g.kernel_d * g.kernel_h * g.kernel_w
    for item in items(g.batch_size * g.num_filter * g.out_d * g.out_h * g.out_w):
        z, y, x = item // (g.out_h * g.out_w) % g.out_d, item // g.out_w % g.out_h, item % g.out_w
        plane = item // (g.out_d * g.out_h * g.out_w)
        n, f = plane // g.num_filter, plane % g.num_filter
        out[item] = 0
        for tap in range(taps):
            c = f // group_filters * group_channels + tap // (g.kernel_d * g.kernel_h * g.kernel_w)
            k, i, j = tap // (g.kernel_h * g.kernel_w) % g.kernel_d, tap // g.kernel_w % g.kernel_h, tap % g.kernel_w
            depth = z * g.stride_d - g.pad_d + k * g.dilate_d
            row = y * g.stride_h - g.pad_h + i * g.dilate_h
            column = x * g.stride_w - g.pad_w + j * g.dilate_w
            value = weight[f * taps + tap]
            if 0 <= depth < g.depth and 0 <= row < g.height and 0 <= column < g.width:
                line = ((n * g.channels + c) * g.depth + depth) * g.height + row
                out[item] += value * data[line * g.width + column]
            else:
                out[item] += value * 0


def send_back(head, weight, d_data, g: Geometry):
    """d_data[n, c, depth, row, column] = sum over f, k, i, j of weight[f, c, k, i, j] . head[n, f, z, y, x]."""
    group_channels, group_filters = g.channels // g.num_group, g.num_filter // g.num_group
    taps = g.kernel_d * g.kernel_h * g.kernel_w
    for item in items(g.batch_size * g.channels * g.depth * g.height * g.width):
        depth, row, column = item // (g.height * g.width) % g.depth, item // g.width % g.height, item % g.width
        plane = item // (g.depth * g.height * g.width)
        n, c = plane // g.channels, plane % g.channels
        d_data[item] = 0
        for step in range(group_filters * taps):
            f, tap = c // group_channels * group_filters + step // taps, step % taps
            k, i, j = tap // (g.kernel_h * g.kernel_w), tap // g.kernel_w % g.kernel_h, tap % g.kernel_w
            z = depth + g.pad_d - k * g.dilate_d
            y = row + g.pad_h - i * g.dilate_h
            x = column + g.pad_w - j * g.dilate_w
            if z % g.stride_d == 0 and y % g.stride_h == 0 and x % g.stride_w == 0:
                z, y, x = z // g.stride_d, y // g.stride_h, x // g.stride_w
                if 0 <= z < g.out_d and 0 <= y < g.out_h and 0 <= x < g.out_w:
                    value = weight[(f * group_channels + c % group_channels) * taps + tap]
                    line = ((n * g.num_filter + f) * g.out_d + z) * g.out_h + y
                    d_data[item] += value * head[line * g.out_w + x]


def gather_weight(head, data, d_weight, g: Geometry):
    """d_weight[f, c, k, i, j] = sum over n, z, y, x of head[n, f, z, y, x] . data[n, c, depth, row, column]."""
    group_channels, group_filters = g.channels // g.num_group, g.num_filter // g.num_group
    taps, pixels = group_channels * g.kernel_d * g.kernel_h * g.kernel_w, g.out_d * g.out_h * g.out_w
    for item in items(g.num_filter * taps):
        f, tap = item // taps, item % taps
        c = f // group_filters * group_channels + tap // (g.kernel_d * g.kernel_h * g.kernel_w)
        k, i, j = tap // (g.kernel_h * g.kernel_w) % g.kernel_d, tap // g.kernel_w % g.kernel_h, tap % g.kernel_w
        total = np.float64(0)
        for step in range(g.batch_size * pixels):
            n, pixel = step // pixels, step % pixels
            z, y, x = pixel // (g.out_h * g.out_w), pixel // g.out_w % g.out_h, pixel % g.out_w
            depth = z * g.stride_d - g.pad_d + k * g.dilate_d
            row = y * g.stride_h - g.pad_h + i * g.dilate_h
            column = x * g.stride_w - g.pad_w + j * g.dilate_w
            value = head[(n * g.num_filter + f) * pixels + pixel]
            if 0 <= depth < g.depth and 0 <= row < g.height and 0 <= column < g.width:
                line = ((n * g.channels + c) * g.depth + depth) * g.height + row
                total += value * data[line * g.width + column]
            else:
                total += value * 0
        d_weight[item] = total


def add_bias(bias, out, n, f, pixels):
    for item in items(n * f):
        for q in range(pixels):
            out[item * pixels + q] += bias[item % f]


def gather_bias(head, d_bias, n, f, pixels):
    for one in items(f):
        total = np.float64(0)
        for image in range(n):
            for q in range(pixels):
                total += head[(image * f + one) * pixels + q]
        d_bias[one] = total


CONVOLVE, SEND_BACK, GATHER_WEIGHT = Loop(convolve), Loop(send_back), Loop(gather_weight)
ADD_BIAS, GATHER_BIAS = Loop(add_bias), Loop(gather_bias)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, weight, bias, out):
    g = geometry(p, data.shape, out.shape)
    CONVOLVE(data, weight, out, g)
    if bias is not None:
        ADD_BIAS(bias, out, data.shape[0], p.num_filter, prod(out.shape[2:]))


def backward(p, head, data, weight, d_data, d_weight, d_bias):
    g = geometry(p, data.shape, head.shape)
    if d_data is not None:
        SEND_BACK(head, weight, d_data, g)
    if d_weight is not None:
        GATHER_WEIGHT(head, data, d_weight, g)
    if d_bias is not None:
        GATHER_BIAS(head, d_bias, head.shape[0], p.num_filter, prod(head.shape[2:]))


def cases(draw):
    rank = draw.integer(1, 3)
    groups = draw.integer(1, 2)
    kernel = tuple(draw.integer(1, 3) for _ in range(rank))
    stride = tuple(draw.integer(1, 2) for _ in range(rank))
    dilate = tuple(draw.integer(1, 2) for _ in range(rank))
    pad = tuple(draw.integer(0, 2) for _ in range(rank))
    sizes = tuple(
        max(1, e * (k - 1) + 1 - 2 * p) + draw.integer(0, 3)
        for k, e, p in zip(kernel, dilate, pad, strict=True)
    )
    params = {
        "kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "num_group": groups,
        "num_filter": groups * draw.integer(1, 3), "no_bias": draw.boolean(),
    }
    return Case(params, {"data": (draw.integer(1, 2), groups * draw.integer(1, 2), *sizes)})


def refuses(data=(2, 4, 5, 5), kernel=(3, 3), num_filter=4, dtype="float32", **given):
    shapes = {"data": data, **{k: given.pop(k) for k in ("weight", "bias", "output") if k in given}}
    return {
        "params": {"kernel": kernel, "num_filter": num_filter, **given}, "shapes": shapes,
        "dtypes": dict.fromkeys(shapes, dtype),
    }


register_multilinear(Op(
    name="Convolution", doc=__doc__, params=Params,
    inputs=inputs, all_inputs=("data", "weight", "bias"),
    infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, needs=("data", "weight"),
    aliases=("Convolution_v1",), cases=cases,
    refusals={
        "Convolution/groups": refuses(num_group=3, num_filter=3),
        "Convolution/weight-shape": refuses(weight=(4, 4, 3, 2)),
        "Convolution/bias-shape": refuses(bias=(5,)),
        "Convolution/rank": refuses(data=(2, 4, 5)),
        "Convolution/lengths": refuses(stride=(2,)),
        "Convolution/kernel-fits": refuses(data=(2, 4, 2, 5)),
        "Convolution/layout": refuses(layout="NHWC"),
        "Convolution/floating-point": refuses(dtype="int32"),
    },
    tier=1, alias_tiers={"Convolution_v1": 2}, reports=Sources(1, outputs=True), type_of_data=True, keeps_rank=True,
    label="Convolution\n{kernel}/{stride}, {num_filter}",
    color="#fb8072",
    difference_clauses={
        "": "Convolution/cross-correlation",
        "bias-missing": "Convolution/bias-shape",
        "transposed": "Convolution/weight-shape",
        "pad-or-stride": "Convolution/output-size",
        "half-precision": "Convolution/sum-order",
    },
), ("data",), ("weight",), bias_axis=1)
