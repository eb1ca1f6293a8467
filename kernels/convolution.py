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

from typing import Annotated, Literal, NamedTuple

import numpy as np

from .foundation import (
    REQUIRED,
    UNKNOWN,
    AtLeast,
    Case,
    Long,
    Loop,
    Op,
    Shape,
    items,
    merge,
    require,
    same_type,
    steps,
    told,
)
from .foundation.facts import Sources
from .multilinear import register_multilinear
from .shared.convolution_geometry import Geometry, geometry_of, planes, volume


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


def spacing(p):
    """Stride, dilate and pad, with their defaults."""
    rank = len(p.kernel)
    return p.stride or (1,) * rank, p.dilate or (1,) * rank, p.pad or (0,) * rank


def inputs(p):
    return ("data", "weight") if p.no_bias else ("data", "weight", "bias")


def require_params(p):
    rank = len(p.kernel)
    require("Convolution/rank", 1 <= rank <= 3, f"kernel {p.kernel} must have 1 to 3 axes")
    for name, values in zip(("kernel", "stride", "dilate", "pad"), (p.kernel, *spacing(p)), strict=True):
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
        every = zip(data[2:], (out or (UNKNOWN,) * len(data))[2:], p.kernel, *spacing(p), strict=False)
        for size, out_size, kernel, stride, dilate, pad in every:
            reach = dilate * (kernel - 1) + 1
            if stride == 1 and told(out_size) and not told(size):
                size = out_size + reach - 1 - 2 * pad
            require(
                "Convolution/kernel-fits", not told(size) or reach <= size + 2 * pad,
                f"kernel {p.kernel} with dilate {spacing(p)[1]} is larger than data {data} with pad {spacing(p)[2]}",
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
    stride, dilate, pad = spacing(p)
    return geometry_of(data, out, p.kernel, stride, pad, dilate, p.num_group)


# --- loops --------------------------------------------------------------------------------------
# An item is an output, a pixel or a weight. Tap (k, i, j) of output (z, y, x) reads pixel (depth, row, column). Arrays
# have three sides (``volume``). The gradient of a weight is summed in double precision.


def convolve(data, weight, out, g: Geometry):
    """out[n, f, z, y, x] = sum over c, k, i, j of weight[f, c, k, i, j] . data[n, c, depth, row, column]."""
    for n, f, z, y, x in items(out.shape):
        first = f // (out.shape[1] // g.num_group) * weight.shape[1]
        out[n, f, z, y, x] = 0
        for c, k, i, j in steps(weight.shape[1:]):
            depth = z * g.stride_d - g.pad_d + k * g.dilate_d
            row = y * g.stride_h - g.pad_h + i * g.dilate_h
            column = x * g.stride_w - g.pad_w + j * g.dilate_w
            value = weight[f, c, k, i, j]
            if 0 <= depth < data.shape[2] and 0 <= row < data.shape[3] and 0 <= column < data.shape[4]:
                out[n, f, z, y, x] += value * data[n, first + c, depth, row, column]
            else:
                out[n, f, z, y, x] += value * 0


def send_back(head, weight, d_data, g: Geometry):
    """d_data[n, c, depth, row, column] = sum over f, k, i, j of weight[f, c, k, i, j] . head[n, f, z, y, x]."""
    filters = head.shape[1] // g.num_group
    for n, c, depth, row, column in items(d_data.shape):
        first, own = c // weight.shape[1] * filters, c % weight.shape[1]
        d_data[n, c, depth, row, column] = 0
        for f, k, i, j in steps((filters, *weight.shape[2:])):
            z = depth + g.pad_d - k * g.dilate_d
            y = row + g.pad_h - i * g.dilate_h
            x = column + g.pad_w - j * g.dilate_w
            if z % g.stride_d == 0 and y % g.stride_h == 0 and x % g.stride_w == 0:
                z, y, x = z // g.stride_d, y // g.stride_h, x // g.stride_w
                if 0 <= z < head.shape[2] and 0 <= y < head.shape[3] and 0 <= x < head.shape[4]:
                    d_data[n, c, depth, row, column] += weight[first + f, own, k, i, j] * head[n, first + f, z, y, x]


def gather_weight(head, data, d_weight, g: Geometry):
    """d_weight[f, c, k, i, j] = sum over n, z, y, x of head[n, f, z, y, x] . data[n, c, depth, row, column]."""
    for f, c, k, i, j in items(d_weight.shape):
        first = f // (head.shape[1] // g.num_group) * d_weight.shape[1]
        total = np.float64(0)
        for n, z, y, x in steps((head.shape[0], *head.shape[2:])):
            depth = z * g.stride_d - g.pad_d + k * g.dilate_d
            row = y * g.stride_h - g.pad_h + i * g.dilate_h
            column = x * g.stride_w - g.pad_w + j * g.dilate_w
            value = head[n, f, z, y, x]
            if 0 <= depth < data.shape[2] and 0 <= row < data.shape[3] and 0 <= column < data.shape[4]:
                total += value * data[n, first + c, depth, row, column]
            else:
                total += value * 0
        d_weight[f, c, k, i, j] = total


def add_bias(bias, out):
    """out[n, f, q] += bias[f]."""
    for n, f in items(out.shape[:2]):
        for q in range(out.shape[2]):
            out[n, f, q] += bias[f]


def gather_bias(head, d_bias):
    """d_bias[f] = sum over n, q of head[n, f, q]."""
    for f in items(head.shape[1]):
        total = np.float64(0)
        for n in range(head.shape[0]):
            for q in range(head.shape[2]):
                total += head[n, f, q]
        d_bias[f] = total


CONVOLVE, SEND_BACK, GATHER_WEIGHT = Loop(convolve), Loop(send_back), Loop(gather_weight)
ADD_BIAS, GATHER_BIAS = Loop(add_bias), Loop(gather_bias)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, weight, bias, out):
    CONVOLVE(volume(data), volume(weight), volume(out), geometry(p, data.shape, out.shape))
    if bias is not None:
        ADD_BIAS(bias, planes(out))


def backward(p, head, data, weight, d_data, d_weight, d_bias):
    g = geometry(p, data.shape, head.shape)
    if d_data is not None:
        SEND_BACK(volume(head), volume(weight), volume(d_data), g)
    if d_weight is not None:
        GATHER_WEIGHT(volume(head), volume(data), volume(d_weight), g)
    if d_bias is not None:
        GATHER_BIAS(planes(head), d_bias)


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
