"""im2col, col2im: the pixels under each position of a kernel as a column, and such columns added up again.

[im2col/columns] out is (batch, channels * taps, positions): row c * taps + k holds what tap k of the kernel sees in
    channel c at each of its positions, zeros in the padding. Taps and positions count in C order.
    >>> run("im2col", [[[1, 2, 3]]], kernel=2), run("im2col", [[[1, 2, 3]]], kernel=2, pad=1, stride=2)
    ([[[1.0, 2.0], [2.0, 3.0]]], [[[0.0, 2.0], [1.0, 3.0]]])
    >>> run("im2col", [[[[1, 2], [3, 4]]]], kernel=(2, 1))
    [[[1.0, 2.0], [3.0, 4.0]]]

[im2col/positions] along each axis there are (size + 2 pad - dilate (kernel - 1) - 1) // stride + 1 of them. The dilated
    kernel is not larger than the padded data.

[im2col/lengths] kernel has one to three numbers, data two axes more; stride, dilate (default 1) and pad (default 0) are
    as long as the kernel; kernel, stride and dilate are at least 1, pad at least 0.

[col2im/sums] turns columns into an image of output_size: each pixel is the sum of all entries that im2col would have
    filled from it, by taps in C order.
    >>> run("col2im", [[[1, 2], [10, 20]]], kernel=2, output_size=3)
    [[[1.0, 12.0, 20.0]]]

[col2im/shape] the rows are a multiple of the kernel's taps, and the columns are as many as there are positions.

[im2col/gradient] each is the gradient of the other.
    >>> grad("im2col", [[[1, 2, 3]]], kernel=2, head=[[[1, 2], [10, 20]]])
    [[[1.0, 12.0, 20.0]]]
    >>> grad("col2im", [[[1, 2], [10, 20]]], kernel=2, output_size=3, head=[[[1, 2, 3]]])
    [[[1.0, 2.0], [2.0, 3.0]]]

[im2col/types] data is of a floating-point type.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, Shape, Sources, items, merge, require, same_type, steps, told
from .multilinear import register_multilinear
from .shared.convolution_geometry import Geometry, geometry_of, volume


class Params(NamedTuple):
    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()


class BackParams(NamedTuple):
    output_size: Shape
    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()


def spacing(p):
    """Stride, dilate and pad, with their defaults, or a refusal."""
    rank = len(p.kernel)
    require("im2col/lengths", 1 <= rank <= 3, f"kernel {p.kernel} must have 1 to 3 numbers")
    found = p.stride or (1,) * rank, p.dilate or (1,) * rank, p.pad or (0,) * rank
    for name, values in zip(("kernel", "stride", "dilate", "pad"), (p.kernel, *found), strict=True):
        least = 0 if name == "pad" else 1
        require(
            "im2col/lengths", len(values) == rank and min(values) >= least,
            f"{name} {values} must hold {rank} numbers, as kernel does, of at least {least}",
        )
    return found


def positions(p, sizes):
    """How many positions the kernel has along each axis."""
    counts = []
    for size, kernel, stride, dilate, pad in zip(sizes, p.kernel, *spacing(p), strict=True):
        reach = dilate * (kernel - 1) + 1
        require(
            "im2col/positions", not told(size) or reach <= size + 2 * pad,
            f"kernel {p.kernel} with dilate {dilate} is larger than an image of {sizes} with pad {pad}",
        )
        counts.append((size + 2 * pad - reach) // stride + 1)
    return tuple(counts)


def infer(p, ins, outs):
    spacing(p)
    taps = prod(p.kernel)
    out = merge("im2col/columns", "output", outs[0], (UNKNOWN,) * 3)
    data = merge("im2col/lengths", "data", ins[0], (out[0], out[1] // taps, *(UNKNOWN,) * len(p.kernel)))
    out = merge("im2col/columns", "output", out, (data[0], data[1] * taps, prod(positions(p, data[2:]))))
    return [data], [out]


def infer_back(p, ins, outs):
    spacing(p)
    require(
        "col2im/shape", len(p.output_size) == len(p.kernel) and min(p.output_size) > 0,
        f"output_size {p.output_size} must have a positive number for each of kernel {p.kernel}",
    )
    taps = prod(p.kernel)
    out = merge("col2im/shape", "output", outs[0], (UNKNOWN, UNKNOWN, *p.output_size))
    data = merge("col2im/shape", "data", ins[0], (out[0], out[1] * taps, prod(positions(p, p.output_size))))
    require("col2im/shape", data[1] % taps == 0, f"{data[1]} rows are no multiple of the {taps} taps of {p.kernel}")
    return [data], [merge("col2im/shape", "output", out, (data[0], data[1] // taps, *p.output_size))]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "im2col/types", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- loops --------------------------------------------------------------------------------------


def gather_columns(data, out, g: Geometry):
    """out[n, c, k, i, j, z, y, x] = data[n, c, depth, row, column], what tap (k, i, j) sees; 0 in the padding."""
    for n, c, k, i, j in items(out.shape[:5]):
        for z, y, x in steps(out.shape[5:]):
            depth = z * g.stride_d - g.pad_d + k * g.dilate_d
            row = y * g.stride_h - g.pad_h + i * g.dilate_h
            column = x * g.stride_w - g.pad_w + j * g.dilate_w
            if 0 <= depth < data.shape[2] and 0 <= row < data.shape[3] and 0 <= column < data.shape[4]:
                out[n, c, k, i, j, z, y, x] = data[n, c, depth, row, column]
            else:
                out[n, c, k, i, j, z, y, x] = 0


def add_columns(columns, out, g: Geometry):
    """out[n, c, depth, row, column] = sum over k, i, j of columns[n, c, k, i, j, z, y, x], the taps that see it."""
    for n, c, depth, row, column in items(out.shape):
        total = np.float64(0)
        for k, i, j in steps(columns.shape[2:5]):
            z = depth + g.pad_d - k * g.dilate_d
            y = row + g.pad_h - i * g.dilate_h
            x = column + g.pad_w - j * g.dilate_w
            if z % g.stride_d == 0 and y % g.stride_h == 0 and x % g.stride_w == 0:
                z, y, x = z // g.stride_d, y // g.stride_h, x // g.stride_w
                if 0 <= z < columns.shape[5] and 0 <= y < columns.shape[6] and 0 <= x < columns.shape[7]:
                    total += columns[n, c, k, i, j, z, y, x]
        out[n, c, depth, row, column] = total


GATHER_COLUMNS, ADD_COLUMNS = Loop(gather_columns), Loop(add_columns)


# --- the operators ------------------------------------------------------------------------------


def geometry(p, image):
    """What both loops need to know; there is one filter that sees all channels."""
    stride, dilate, pad = spacing(p)
    return geometry_of(image, (image[0], 1, *positions(p, image[2:])), p.kernel, stride, pad, dilate)


def by_taps(columns, g):
    """Columns as (batch, channels, *kernel, *positions)."""
    return columns.reshape((g.batch_size, g.channels, *g.kernel, *g.out))


def forward(p, data, out):
    g = geometry(p, data.shape)
    GATHER_COLUMNS(volume(data), by_taps(out, g), g)


def backward(p, head, d_data):
    if d_data is not None:
        g = geometry(p, d_data.shape)
        ADD_COLUMNS(by_taps(head, g), volume(d_data), g)


def forward_back(p, data, out):
    backward(p, data, out)


def backward_back(p, head, d_data):
    if d_data is not None:
        forward(p, head, d_data)


def cases(draw):
    rank = draw.integer(1, 3)
    kernel, dilate, pad = (tuple(draw.integer(a, b) for _ in range(rank)) for a, b in ((1, 3), (1, 2), (0, 1)))
    sizes = tuple(
        max(1, e * (k - 1) + 1 - 2 * b) + draw.integer(0, 2) for k, e, b in zip(kernel, dilate, pad, strict=True)
    )
    params = {"kernel": kernel, "dilate": dilate, "pad": pad, "stride": tuple(draw.integer(1, 2) for _ in range(rank))}
    return Case(params, {"data": (draw.integer(1, 2), draw.integer(1, 2), *sizes)})


def cases_back(draw):
    params, shapes, values, _ = cases(draw)
    data = shapes["data"]
    _, (out,) = infer(Params(**params), [data], [None])
    return Case({**params, "output_size": data[2:]}, {"data": out}, values)


register_multilinear(Op(
    name="im2col", doc=__doc__, params=Params, infer=infer, infer_type=infer_type, forward=forward,
    backward=backward, cases=cases,
    refusals={
        "im2col/positions": {"params": {"kernel": (4,)}, "shapes": {"data": (1, 1, 3)}},
        "im2col/lengths": {"params": {"kernel": (2, 2)}, "shapes": {"data": (1, 1, 3)}},
        "im2col/types": {"params": {"kernel": (2,)}, "shapes": {"data": (1, 1, 3)}, "dtypes": {"data": "int32"}},
    },
    tier=2, reports=Sources(whole=True),
), ("data",))
register_multilinear(Op(
    name="col2im", doc=__doc__, params=BackParams, infer=infer_back, infer_type=infer_type, forward=forward_back,
    backward=backward_back, cases=cases_back,
    refusals={
        "col2im/shape": {"params": {"kernel": (2,), "output_size": (3,)}, "shapes": {"data": (1, 3, 2)}},
    },
    tier=2, reports=Sources(whole=True),
), ("data",))
