"""Correlation: patches of one image compared with patches of another at small displacements (as in FlowNet).

[Correlation/formula] both inputs get pad_size zeros on every side. Output (i, j) compares the patch of kernel_size x
    kernel_size pixels of the padded data1 that begins at row max_displacement + i stride1 and column max_displacement +
    j stride1 with the patch of the padded data2 that begins dy stride2 rows and dx stride2 columns further. There is
    one channel for each dy and dx from -r to r in C order, r = max_displacement // stride2. The products are added up
    over pixels and channels and divided by their number.
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
    stride1); images that give less than 1 are refused.

[Correlation/lengths] kernel_size is odd; stride1 and stride2 are at least 1.

[Correlation/shapes] both inputs have one shape, (batch, channels, height, width).

[Correlation/gradient] by a product, each pixel gets the head times the other pixel, divided by the same number; by a
    difference, data1 gets the head times the sign of data1 - data2 (1 for 0), data2 its opposite, both divided by the
    same number. The other pixel of a pixel may be a zero of the padding. A pixel of data2 gets heads only from pixels
    of the padded data1 that lie inside a patch.
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
    steps,
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
# a and b are (batch, channels, height, width), out (batch, *displacements, height, width): displacement (v, u) compares
# pixel (y, x) of a with pixel (y + down, x + across) of b.


class Geometry(NamedTuple):
    kernel_size: int
    radius: int
    """Displacements go from -radius stride2 to radius stride2, along both axes."""
    first: int
    """The first pixel of the first patch, along each axis."""
    stride1: int
    stride2: int
    is_multiply: int


@scalar
def seen(image, n, c, y, x):
    """A pixel, or the zero of the padding."""
    if 0 <= y < image.shape[2] and 0 <= x < image.shape[3]:
        return np.float64(image[n, c, y, x])
    return np.float64(0)


def compare(a, b, out, g: Geometry):
    """out[n, v, u, i, j] = mean of a[n, c, y, x] . b[n, c, y + down, x + across] over channels and a patch."""
    for n, v, u, i, j in items(out.shape):
        down, across = (v - g.radius) * g.stride2, (u - g.radius) * g.stride2
        total = np.float64(0)
        for c, k, m in steps((a.shape[1], g.kernel_size, g.kernel_size)):
            y, x = g.first + i * g.stride1 + k, g.first + j * g.stride1 + m
            one, other = seen(a, n, c, y, x), seen(b, n, c, y + down, x + across)
            total += one * other if g.is_multiply else abs(one - other)
        out[n, v, u, i, j] = total / (g.kernel_size * g.kernel_size * a.shape[1])


@scalar
def with_patches(total, slope, head, n, v, u, y, x, g):
    """total + sum of slope . head[n, v, u, i, j] over the patches of a displacement that hold pixel (y, x) of a."""
    for k, m in steps((g.kernel_size, g.kernel_size)):
        i, j = y - g.first - k, x - g.first - m
        if i % g.stride1 == 0 and j % g.stride1 == 0:
            i, j = i // g.stride1, j // g.stride1
            if 0 <= i < head.shape[3] and 0 <= j < head.shape[4]:
                total += head[n, v, u, i, j] * slope
    return total


def send_to_first(head, a, b, d_a, g: Geometry):
    """d_a[n, c, y, x] = sum over displacements, and patches that hold (y, x), of slope . head."""
    for n, c, y, x in items(d_a.shape):
        total = np.float64(0)
        for v, u in steps(head.shape[1:3]):
            down, across = (v - g.radius) * g.stride2, (u - g.radius) * g.stride2
            one, other = seen(a, n, c, y, x), seen(b, n, c, y + down, x + across)
            slope = other if g.is_multiply else (1.0 if one >= other else -1.0)
            total = with_patches(total, slope, head, n, v, u, y, x, g)
        d_a[n, c, y, x] = total / (g.kernel_size * g.kernel_size * a.shape[1])


def send_to_second(head, a, b, d_b, g: Geometry):
    """d_b[n, c, y, x] likewise: a pixel of b belongs to the patches of the pixel of a that it is compared with."""
    for n, c, y, x in items(d_b.shape):
        total = np.float64(0)
        for v, u in steps(head.shape[1:3]):
            own_y, own_x = y - (v - g.radius) * g.stride2, x - (u - g.radius) * g.stride2
            one, other = seen(a, n, c, own_y, own_x), seen(b, n, c, y, x)
            slope = one if g.is_multiply else (-1.0 if one >= other else 1.0)
            total = with_patches(total, slope, head, n, v, u, own_y, own_x, g)
        d_b[n, c, y, x] = total / (g.kernel_size * g.kernel_size * a.shape[1])


COMPARE, SEND_TO_FIRST, SEND_TO_SECOND = Loop(compare), Loop(send_to_first), Loop(send_to_second)


# --- the operator -------------------------------------------------------------------------------


def geometry(p):
    radius, first = p.max_displacement // p.stride2, p.max_displacement - p.pad_size
    return Geometry(p.kernel_size, radius, first, p.stride1, p.stride2, int(p.is_multiply))


def by_displacement(p, out):
    """The output with an axis for each axis of a displacement."""
    count = 2 * (p.max_displacement // p.stride2) + 1
    return out.reshape((out.shape[0], count, count, *out.shape[2:]))


def forward(p, data1, data2, out):
    COMPARE(data1, data2, by_displacement(p, out), geometry(p))


def backward(p, head, data1, data2, d_data1, d_data2):
    head, g = by_displacement(p, head), geometry(p)
    if d_data1 is not None:
        SEND_TO_FIRST(head, data1, data2, d_data1, g)
    if d_data2 is not None:
        SEND_TO_SECOND(head, data1, data2, d_data2, g)


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
