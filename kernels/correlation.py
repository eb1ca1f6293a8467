"""Correlation: patches of one image compared with patches of another at small displacements (as in FlowNet).

[Correlation/formula] both inputs get pad_size zeros on every side. Output (i, j) compares the patch of kernel_size x
    kernel_size pixels of data1 that begins at max_displacement + i stride1 (and j) with that of data2 moved by (dy,
    dx) stride2, one channel for each dy and dx from -r to r in C order, r = max_displacement // stride2: the products
    are added up over pixels and channels and divided by their number.
    >>> first, second = [[[[1, 2], [3, 4]]]], [[[[5, 6], [7, 8]]]]
    >>> run("Correlation", first, second, max_displacement=0)
    [[[[5.0, 12.0], [21.0, 32.0]]]]
    >>> run("Correlation", first, second, kernel_size=1, max_displacement=1, pad_size=1)[0][5]
    [[6.0, 0.0], [24.0, 0.0]]
    >>> run("Correlation", [[[[1] * 3] * 3]], [[[[2] * 3] * 3]], kernel_size=3, max_displacement=0)
    [[[[2.0]]]]

[Correlation/difference] with is_multiply=False absolute differences stand for the products.
    >>> run("Correlation", first, second, max_displacement=0, is_multiply=False)
    [[[[4.0, 4.0], [4.0, 4.0]]]]

[Correlation/output-size] along each axis ceil((size + 2 pad_size - 2 (max_displacement + kernel_size // 2)) /
    stride1), at least 1.

[Correlation/lengths] kernel_size is odd; stride1 and stride2 are at least 1.

[Correlation/shapes] both inputs have one shape, (batch, channels, height, width).

[Correlation/gradient] by a product, each pixel gets the head times the other pixel, divided by the same number; by a
    difference, the sign of the difference (1 for 0) in place of the other pixel, and its opposite for data2.
    >>> options = {"max_displacement": 0, "is_multiply": False}
    >>> grad("Correlation", [[[[1, 2]]]], [[[[1, 3]]]], **options)
    ([[[[1.0, -1.0]]]], [[[[-1.0, 1.0]]]])

[Correlation/sum-order] sums are made in double precision, by channels, then pixels in C order.

[Correlation/types] both inputs are of one floating-point type.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    AtLeast,
    Case,
    Loop,
    Op,
    items,
    merge,
    merge_all,
    outputs_only,
    register,
    require,
    same_type,
    scalar,
    told,
)


class Params(NamedTuple):
    kernel_size: Annotated[int, AtLeast(0)] = 1
    max_displacement: Annotated[int, AtLeast(0)] = 1
    stride1: Annotated[int, AtLeast(0)] = 1
    stride2: Annotated[int, AtLeast(0)] = 1
    pad_size: Annotated[int, AtLeast(0)] = 0
    is_multiply: bool = True


def infer(p, ins, outs):
    require("Correlation/lengths", p.kernel_size % 2 == 1, f"kernel_size {p.kernel_size} must be odd")
    strides = f"stride1 {p.stride1} and stride2 {p.stride2} must be at least 1"
    require("Correlation/lengths", min(p.stride1, p.stride2) >= 1, strides)
    planes = (2 * (p.max_displacement // p.stride2) + 1) ** 2
    out = merge("Correlation/shapes", "output", outs[0], (UNKNOWN, planes, UNKNOWN, UNKNOWN))
    data = merge_all("Correlation/shapes", "data1 and data2", [*ins, (out[0], *(UNKNOWN,) * 3)])
    less = 2 * (p.max_displacement + p.kernel_size // 2 - p.pad_size)
    sides = tuple(-((less - side) // p.stride1) for side in data[2:])
    require(
        "Correlation/output-size", all(not told(s) or s > 0 for s in sides),
        f"images of {data[2:]} are too small for kernel_size {p.kernel_size}, max_displacement {p.max_displacement}"
        f" and pad_size {p.pad_size}",
    )
    return [data, data], [merge("Correlation/shapes", "output", out, (data[0], UNKNOWN, *sides))]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "Correlation/types", ins[0] is None or ins[0].kind == "f",
        f"data1 is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- loops --------------------------------------------------------------------------------------
# a and b are (batch, channels, height, width), out (batch, out_channels, out_h, out_w).


class Geometry(NamedTuple):
    batch_size: int
    channels: int
    height: int
    width: int
    out_h: int
    out_w: int
    kernel_size: int
    radius: int
    displacements: int
    """Along one axis: 2 radius + 1, from -radius stride2 to radius stride2."""
    out_channels: int
    """One for each displacement along both axes."""
    first: int
    """The first pixel of the first patch, along each axis."""
    stride1: int
    stride2: int
    is_multiply: int


@scalar
def seen(image, plane, y, x, g):
    """A pixel, or the zero of the padding."""
    if 0 <= y < g.height and 0 <= x < g.width:
        return np.float64(image[(plane * g.height + y) * g.width + x])
    return np.float64(0)


def compare(a, b, out, g: Geometry):
    for item in items(g.batch_size * g.out_channels * g.out_h * g.out_w):
        j, i = item % g.out_w, item // g.out_w % g.out_h
        channel = item // (g.out_w * g.out_h) % g.out_channels
        image = item // (g.out_w * g.out_h * g.out_channels)
        down = (channel // g.displacements - g.radius) * g.stride2
        across = (channel % g.displacements - g.radius) * g.stride2
        total = np.float64(0)
        for plane in range(image * g.channels, (image + 1) * g.channels):
            for tap in range(g.kernel_size * g.kernel_size):
                y, x = g.first + i * g.stride1 + tap // g.kernel_size, g.first + j * g.stride1 + tap % g.kernel_size
                one, other = seen(a, plane, y, x, g), seen(b, plane, y + down, x + across, g)
                total += one * other if g.is_multiply else abs(one - other)
        out[item] = total / (g.kernel_size * g.kernel_size * g.channels)


def compare_back(head, a, b, d_data, second, g: Geometry):
    """Gradient by a, or by b where ``second``: one item is one pixel, which sums over the patches that hold it."""
    for item in items(g.batch_size * g.channels * g.height * g.width):
        x, y, plane = item % g.width, item // g.width % g.height, item // (g.width * g.height)
        total = np.float64(0)
        for channel in range(g.out_channels):
            down = (channel // g.displacements - g.radius) * g.stride2
            across = (channel % g.displacements - g.radius) * g.stride2
            # the pixel of a that this pixel is compared with is (y, x) itself, or moved back from b
            own_y, own_x = (y - down, x - across) if second else (y, x)
            one = seen(a, plane, own_y, own_x, g)
            other = seen(b, plane, own_y + down, own_x + across, g)
            slope = (one if second else other) if g.is_multiply else (1.0 if (one >= other) != second else -1.0)
            for tap in range(g.kernel_size * g.kernel_size):
                i, j = own_y - g.first - tap // g.kernel_size, own_x - g.first - tap % g.kernel_size
                if i % g.stride1 == 0 and j % g.stride1 == 0:
                    i, j = i // g.stride1, j // g.stride1
                    if 0 <= i < g.out_h and 0 <= j < g.out_w:
                        patch = plane // g.channels * g.out_channels + channel
                        total += head[(patch * g.out_h + i) * g.out_w + j] * slope
        d_data[item] = total / (g.kernel_size * g.kernel_size * g.channels)


COMPARE, COMPARE_BACK = Loop(compare), Loop(compare_back)


# --- the operator -------------------------------------------------------------------------------


def geometry(p, data, out):
    radius, first = p.max_displacement // p.stride2, p.max_displacement - p.pad_size
    return Geometry(
        *data, *out[2:], p.kernel_size, radius, 2 * radius + 1, out[1], first, p.stride1, p.stride2, int(p.is_multiply)
    )


def forward(p, data1, data2, out):
    COMPARE(data1, data2, out, geometry(p, data1.shape, out.shape))


def backward(p, head, data1, data2, d_data1, d_data2):
    for second, target in enumerate((d_data1, d_data2)):
        if target is not None:
            COMPARE_BACK(head, data1, data2, target, bool(second), geometry(p, data1.shape, head.shape))


def cases(draw):
    params = {
        "kernel_size": draw.choice((1, 3)), "max_displacement": draw.integer(0, 2), "stride1": draw.integer(1, 2),
        "stride2": draw.integer(1, 2), "pad_size": draw.integer(0, 2), "is_multiply": draw.boolean(),
    }
    least = max(2 * (params["max_displacement"] + params["kernel_size"] // 2 - params["pad_size"]) + 1, 1)
    sides = (least + draw.integer(0, 2), least + draw.integer(0, 2))
    shape = (draw.integer(1, 2), draw.integer(1, 2), *sides)
    return Case(params, {"data1": shape, "data2": shape})


register(Op(
    name="Correlation", doc=__doc__, params=Params, inputs=("data1", "data2"), infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, needs=("data1", "data2"), cases=cases,
    refusals={
        "Correlation/shapes": {"params": {}, "shapes": {"data1": (1, 1, 4, 4), "data2": (1, 1, 4, 5)}},
        "Correlation/lengths": {"params": {"kernel_size": 2}, "shapes": {"data1": (1, 1, 4, 4)}},
        "Correlation/output-size": {"params": {"max_displacement": 2}, "shapes": {"data1": (1, 1, 4, 4)}},
        "Correlation/types": {"params": {}, "shapes": {"data1": (1, 1, 4, 4)}, "dtypes": {"data1": "int32"}},
    },
    tier=2, reports=outputs_only,
))
