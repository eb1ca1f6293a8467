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
    weight that is not finite turns the sums that reach the padding into NaN.
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

from .foundation import UNKNOWN, AtLeast, Case, Long, Loop, Op, Shape, items, merge, require, same_type, scalar, told
from .multilinear import register_multilinear
from .tuned import convolution as tuned
from .tuned import convolution_back as tuned_back
from .tuned import sums


class Params(NamedTuple):
    kernel: Shape
    num_filter: Annotated[int, AtLeast(1)]
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()
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
    """Batch, channels, filters, groups, then for three axes size, kernel, output, stride, pad, dilate."""
    lack = 3 - len(p.kernel)
    one, none = (1,) * lack, (0,) * lack
    stride, dilate, pad = steps(p)
    return (
        data[0], data[1], p.num_filter, p.num_group,
        *one, *data[2:], *one, *p.kernel, *one, *out[2:], *one, *stride, *none, *pad, *one, *dilate,
    )


# --- loops --------------------------------------------------------------------------------------
# n images, c channels, f filters, g groups; along depth, height and width: sizes d h w, kernel kd kh kw,
# output od oh ow, stride sd sh sw, pad pd ph pw, dilate ed eh ew. Fewer axes are sides of 1.


@scalar
def first_inside(offset, stride, count):
    """The first of ``count`` outputs whose pixel, x stride + offset, is not left of the data."""
    return min(count, max(0, (stride - 1 - offset) // stride))


@scalar
def end_inside(offset, stride, count, size):
    """One past the last of ``count`` outputs whose pixel is not right of the data."""
    return min(count, max(0, (size - 1 - offset) // stride + 1))


def correlate(data, weight, out, n, c, f, g, d, h, w, kd, kh, kw, od, oh, ow,
              sd, sh, sw, pd, ph, pw, ed, eh, ew):  # fmt: skip
    """out = weight over data. One item is one filter over one image; the taps are added row by row."""
    share = c // g
    for item in items(n * f):
        image, one = item // f, item % f
        channel = image * c + one // (f // g) * share
        to = item * od * oh * ow
        for q in range(od * oh * ow):
            out[to + q] = 0
        for tap in range(share * kd * kh * kw):
            value = weight[one * share * kd * kh * kw + tap]
            k, i, j = tap // (kh * kw) % kd, tap // kw % kh, tap % kw
            sheet = (channel + tap // (kd * kh * kw)) * d
            for row in range(od * oh):
                z, y = row // oh * sd + k * ed - pd, row % oh * sh + i * eh - ph
                low, high = ow, ow
                if 0 <= z < d and 0 <= y < h:
                    low = first_inside(j * ew - pw, sw, ow)
                    high = max(low, end_inside(j * ew - pw, sw, ow, w))
                start = ((sheet + z) * h + y) * w + j * ew - pw
                for x in range(low):
                    out[to + row * ow + x] += value * 0
                for x in range(low, high):
                    out[to + row * ow + x] += value * data[start + x * sw]
                for x in range(high, ow):
                    out[to + row * ow + x] += value * 0


def correlate_cuda(data, weight, out, n, c, f, g, d, h, w, kd, kh, kw, od, oh, ow,
                   sd, sh, sw, pd, ph, pw, ed, eh, ew):  # fmt: skip
    """The same sums with one output per item."""
    share = c // g
    for item in items(n * f * od * oh * ow):
        plane, x = item // ow, item % ow
        z, y = plane // oh % od * sd - pd, plane % oh * sh - ph
        plane = plane // (oh * od)
        image, one = plane // f, plane % f
        channel = image * c + one // (f // g) * share
        out[item] = 0
        for tap in range(share * kd * kh * kw):
            k, i = z + tap // (kh * kw) % kd * ed, y + tap // kw % kh * eh
            j = x * sw - pw + tap % kw * ew
            value = weight[one * share * kd * kh * kw + tap]
            if 0 <= k < d and 0 <= i < h and 0 <= j < w:
                sheet = (channel + tap // (kd * kh * kw)) * d
                out[item] += value * data[((sheet + k) * h + i) * w + j]
            else:
                out[item] += value * 0


def send_back(head, weight, d_data, n, c, f, g, d, h, w, kd, kh, kw, od, oh, ow,
              sd, sh, sw, pd, ph, pw, ed, eh, ew):  # fmt: skip
    """Gradient by data. One item is one channel of one image, which gathers from its filters."""
    share, taps = c // g, kd * kh * kw
    for item in items(n * c):
        image, channel = item // c, item % c
        first = channel // share * (f // g)
        for q in range(d * h * w):
            d_data[item * d * h * w + q] = 0
        for step in range(f // g * taps):
            one, tap = first + step // taps, step % taps
            value = weight[(one * share + channel % share) * taps + tap]
            k, i, j = tap // (kh * kw), tap // kw % kh, tap % kw
            low = first_inside(j * ew - pw, sw, ow)
            high = end_inside(j * ew - pw, sw, ow, w)
            for row in range(od * oh):
                z, y = row // oh * sd + k * ed - pd, row % oh * sh + i * eh - ph
                if 0 <= z < d and 0 <= y < h:
                    start = ((item * d + z) * h + y) * w + j * ew - pw
                    source = ((image * f + one) * od * oh + row) * ow
                    for x in range(low, high):
                        d_data[start + x * sw] += value * head[source + x]


def send_back_cuda(head, weight, d_data, n, c, f, g, d, h, w, kd, kh, kw, od, oh, ow,
                   sd, sh, sw, pd, ph, pw, ed, eh, ew):  # fmt: skip
    """The same sums with one pixel per item."""
    share, taps = c // g, kd * kh * kw
    for item in items(n * c * d * h * w):
        plane, x = item // w, item % w
        z, y = plane // h % d + pd, plane % h + ph
        plane = plane // (h * d)
        image, channel = plane // c, plane % c
        first = channel // share * (f // g)
        d_data[item] = 0
        for step in range(f // g * taps):
            one, tap = first + step // taps, step % taps
            k, i, j = z - tap // (kh * kw) * ed, y - tap // kw % kh * eh, x + pw - tap % kw * ew
            if k % sd == 0 and i % sh == 0 and j % sw == 0:
                k, i, j = k // sd, i // sh, j // sw
                if 0 <= k < od and 0 <= i < oh and 0 <= j < ow:
                    value = weight[(one * share + channel % share) * taps + tap]
                    d_data[item] += value * head[(((image * f + one) * od + k) * oh + i) * ow + j]


def gather_weight(head, data, d_weight, n, c, f, g, d, h, w, kd, kh, kw, od, oh, ow,
                  sd, sh, sw, pd, ph, pw, ed, eh, ew):  # fmt: skip
    """Gradient by weight. One item is one weight, summed over images and outputs in double precision."""
    share, taps = c // g, kd * kh * kw
    for item in items(f * share * taps):
        one, tap = item // (share * taps), item % taps
        channel = one // (f // g) * share + item // taps % share
        k, i, j = tap // (kh * kw), tap // kw % kh, tap % kw
        total = np.float64(0)
        for row in range(n * od * oh):
            image, z, y = row // (od * oh), row // oh % od * sd + k * ed - pd, row % oh * sh + i * eh - ph
            source = ((image * f + one) * od * oh + row % (od * oh)) * ow
            low, high = ow, ow
            if 0 <= z < d and 0 <= y < h:
                low = first_inside(j * ew - pw, sw, ow)
                high = max(low, end_inside(j * ew - pw, sw, ow, w))
            start = (((image * c + channel) * d + z) * h + y) * w + j * ew - pw
            for x in range(low):
                total += head[source + x] * 0
            for x in range(low, high):
                total += head[source + x] * data[start + x * sw]
            for x in range(high, ow):
                total += head[source + x] * 0
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


CORRELATE = Loop(correlate, cuda_function=correlate_cuda, tuned=tuned.correlate)
SEND_BACK = Loop(send_back, cuda_function=send_back_cuda, tuned=tuned_back.send_back)
GATHER_WEIGHT = Loop(gather_weight, tuned=tuned.gather_weight)
ADD_BIAS, GATHER_BIAS = Loop(add_bias), Loop(gather_bias, tuned=sums.channel_sums)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, weight, bias, out):
    CORRELATE(data, weight, out, *geometry(p, data.shape, out.shape))
    if bias is not None:
        ADD_BIAS(bias, out, data.shape[0], p.num_filter, prod(out.shape[2:]))


def backward(p, head, data, weight, d_data, d_weight, d_bias):
    numbers = geometry(p, data.shape, head.shape)
    if d_data is not None:
        SEND_BACK(head, weight, d_data, *numbers)
    if d_weight is not None:
        GATHER_WEIGHT(head, data, d_weight, *numbers)
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
), ("data",), ("weight",), bias_axis=1)
