"""Pooling_v1: the Pooling of MXNet before 1.0, in which padding is zeros.

[Pooling_v1/windows] windows lie as in Pooling, over images of two sides; the convention is valid or full, the pool_type
    max, avg or sum. Elements beyond pad belong to no window.
    >>> run("Pooling_v1", [[[[1, 3, 2], [4, 8, 6]]]], kernel=(2, 2))
    [[[[8.0, 8.0]]]]

[Pooling_v1/sides] data is (batch, channels, height, width), and kernel, stride and pad have two numbers.

[Pooling_v1/padding] padding is zeros, also for a maximum. A window without any element has minus infinity as maximum.
    >>> run("Pooling_v1", [[[[-1, -2]]]], kernel=(1, 2), pad=(0, 1))
    [[[[0.0, -1.0, 0.0]]]]

[Pooling_v1/nan] a NaN in a window is its maximum, and takes no gradient.
    >>> import numpy as np
    >>> bool(np.isnan(run("Pooling_v1", [[[[1, float("nan")]]]], kernel=(1, 2))[0][0][0][0]))
    True

[Pooling_v1/average] avg divides by the size of the kernel, however much of the window is outside.
    >>> run("Pooling_v1", [[[[2, 4, 6]]]], kernel=(1, 2), stride=(1, 2), pool_type="avg", pooling_convention="full")
    [[[[3.0, 3.0]]]]

[Pooling_v1/global] global_pool takes the whole image as one window and ignores kernel, stride and pad.
    >>> run("Pooling_v1", [[[[1, 2], [3, 6]]]], global_pool=True, pool_type="avg")
    [[[[3.0]]]]

[Pooling_v1/gradient] every maximum of a window takes its whole head; sum and avg as in Pooling.
    >>> grad("Pooling_v1", [[[[1, 5], [5, 2]]]], kernel=(2, 2))
    [[[[0.0, 1.0], [1.0, 0.0]]]]

[Pooling_v1/sum-order] windows are summed in double precision, in C order.

[Pooling_v1/floating] data is of a floating-point type.
"""

from math import inf
from typing import Literal, NamedTuple

from . import pooling
from .foundation import Case, Loop, Op, Shape, Sources, items, merge, register, require, same_type, steps
from .foundation.walks import integers
from .shared.convolution_geometry import volume
from .shared.pooling_windows import Geometry, checked, count, windows


class Params(NamedTuple):
    kernel: Shape = ()
    pool_type: Literal["avg", "max", "sum"] = "max"
    global_pool: bool = False
    pooling_convention: Literal["full", "valid"] = "valid"
    stride: Shape = ()
    pad: Shape = ()


def plain(p):
    """The parameters as Pooling has them."""
    return pooling.Params(**p._asdict())


def infer(p, ins, outs):
    data, out = ins[0], outs[0]
    fits = len(p.kernel) == 2 and all(len(each) in (0, 2) for each in (p.stride, p.pad))
    require(
        "Pooling_v1/sides", p.global_pool or fits,
        f"kernel {p.kernel}, stride {p.stride} and pad {p.pad} must have two numbers each",
    )
    if data is None:
        return [data], [out]
    require("Pooling_v1/sides", len(data) == 4, f"data {list(data)} must be (batch, channels, height, width)")
    every = zip(data[2:], *checked(plain(p), 2), strict=True)
    out = merge("Pooling_v1/windows", "output", out, (*data[:2], *(count(plain(p), *numbers) for numbers in every)))
    return [(*out[:2], *data[2:])], [out]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "Pooling_v1/floating", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- loops --------------------------------------------------------------------------------------
# begin, end and size hold one window along depth, then those along height, then those along width: those of output
# (y, x) are at row and column. size counts padding too.


def largest(data, out, begin, end, size, least, g: Geometry):
    """out[n, c, y, x] = the largest element of the window, where padding counts as 0."""
    for n, c, y, x in items(out.shape):
        row, column = 1 + y, 1 + g.out_h + x
        seen = max(end[row] - begin[row], 0) * max(end[column] - begin[column], 0)
        best = 0.0 if size[row] * size[column] > seen else least
        for h in range(begin[row], end[row]):
            for w in range(begin[column], end[column]):
                best = best if best >= data[n, c, h, w] or best != best else data[n, c, h, w]
        out[n, c, y, x] = best


def largest_back(head, data, out, d_data, begin, end, g: Geometry):
    """d_data[n, c, h, w] = sum of head over the windows whose largest number is that of (h, w)."""
    for n, c in items(d_data.shape[:2]):
        for h, w in steps(d_data.shape[2:]):
            d_data[n, c, h, w] = 0
        for y, x in steps(head.shape[2:]):
            row, column = 1 + y, 1 + g.out_h + x
            for h in range(begin[row], end[row]):
                for w in range(begin[column], end[column]):
                    if data[n, c, h, w] == out[n, c, y, x]:
                        d_data[n, c, h, w] += head[n, c, y, x]


LARGEST, LARGEST_BACK = Loop(largest), Loop(largest_back)
SUM, SUM_BACK = pooling.SUM[1]


# --- the operator -------------------------------------------------------------------------------


def table(p, data, out, device):
    """What Pooling's ``windows`` gives, but an average divides by the size of the kernel."""
    begin, end, size, g = windows(plain(p), data, out, device)
    if p.pool_type == "avg":
        kernel = data[2:] if p.global_pool else p.kernel
        size = integers((1, *(side for side, n in zip(kernel, out[2:], strict=True) for _ in range(n))), device)
    return begin, end, size, g


def forward(p, data, out):
    begin, end, size, g = table(p, data.shape, out.shape, data.device)
    if p.pool_type == "max":
        LARGEST(data, out, begin, end, size, -inf, g)
    else:
        SUM(volume(data), volume(out), begin, end, size, g)


def needs(p):
    return ("data", "output") if p.pool_type == "max" else ()


def backward(p, head, *others):
    *seen, d_data = others
    if d_data is None:
        return
    begin, end, size, g = table(p, d_data.shape, head.shape, head.device)
    if p.pool_type == "max":
        LARGEST_BACK(head, *seen, d_data, begin, end, g)
    else:
        head, d_data = volume(head), volume(d_data)
        SUM_BACK(head, d_data, head, d_data, begin, end, size, g)


def cases(draw):
    kernel = draw.shape(2, 2, 3)
    pad = tuple(draw.integer(0, k // 2) for k in kernel)
    image = tuple(max(k - 2 * b, 1) + draw.integer(0, 3) for k, b in zip(kernel, pad, strict=True))
    params = {
        "kernel": kernel, "pad": pad, "stride": tuple(draw.integer(1, k - b) for k, b in zip(kernel, pad, strict=True)),
        "pool_type": draw.choice(("max", "avg", "sum")), "pooling_convention": draw.choice(("valid", "full")),
        "global_pool": draw.integer(0, 4) == 0,
    }
    return Case(params, {"data": (draw.integer(1, 2), draw.integer(1, 3), *image)}, {"data": "apart"})


def refused(data, dtype="float32", **params):
    return {"params": params, "shapes": {"data": data}, "dtypes": {"data": dtype}}


register(Op(
    name="Pooling_v1", doc=__doc__, params=Params, infer=infer, infer_type=infer_type, forward=forward,
    backward=backward, needs=needs, cases=cases,
    refusals={
        "Pooling_v1/sides": refused((1, 1, 5), kernel=(2,)),
        "Pooling/kernel-fits": refused((1, 1, 5, 5), kernel=(6, 6)),
        "Pooling_v1/floating": refused((1, 1, 4, 4), kernel=(2, 2), dtype="int32"),
    },
    tier=2, reports=Sources(),
))
