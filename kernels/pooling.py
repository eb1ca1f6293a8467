"""Pooling: each output element is the maximum, mean, sum or Lp norm of a window of data.

[Pooling/window] window o of an axis begins at o * stride - pad and has kernel elements; what lies
    outside data (the padding, the end) is left out. stride defaults to 1, pad to 0. kernel has 1, 2
    or 3 sides, data two axes more.
    >>> run("Pooling", [[[1, 3, 2, 5]]], kernel=(2,))
    [[[3.0, 3.0, 5.0]]]
    >>> run("Pooling", [[[1, 3, 2, 5]]], kernel=(2,), stride=(2,))
    [[[3.0, 5.0]]]
    >>> run("Pooling", [[[[1, 2], [3, 4]]]], kernel=(2, 2), pad=(1, 1), stride=(2, 2), pool_type="sum")
    [[[[1.0, 2.0], [3.0, 4.0]]]]

[Pooling/convention] pooling_convention valid gives floor((side + 2 pad - kernel) / stride) + 1 windows, full the
    ceiling instead of the floor; same gives ceil(side / stride), and takes one side only, without pad.
    >>> run("Pooling", [[[1, 3, 2]]], kernel=(2,), stride=(2,), pooling_convention="full")
    [[[3.0, 2.0]]]

[Pooling/kernel-fits] a side of the kernel is at most side + 2 pad.

[Pooling/sides] kernel, stride and pad have one number per side of the image, positive ones for
    kernel and stride.

[Pooling/global] global_pool takes the whole image as one window and ignores kernel, stride and pad.
    >>> run("Pooling", [[[[1, 2], [3, 6]]]], global_pool=True, pool_type="avg")
    [[[[3.0]]]]

[Pooling/padding-never-wins] padding is no candidate for a maximum, nor is NaN; a window without a
    candidate gives the least finite number of the type.
    >>> run("Pooling", [[[-1, float("nan")]]], kernel=(2,), pad=(1,))
    [[[-1.0, -1.0, -3.4028234663852886e+38]]]

[Pooling/ties-first] the first maximum of a window, in C order, takes the gradient.
    >>> grad("Pooling", [[[[1, 5], [5, 2]]]], kernel=(2, 2))
    [[[[0.0, 1.0], [0.0, 0.0]]]]

[Pooling/average] avg divides by the size of the window, in which pad counts and what lies further beyond the end does
    not; with count_include_pad=False it divides by the number of elements of data in the window. An empty window
    gives 0.
    >>> run("Pooling", [[[2, 4, 6]]], kernel=(2,), pad=(1,), pool_type="avg")
    [[[1.0, 3.0, 5.0, 3.0]]]
    >>> run("Pooling", [[[2, 4, 6]]], kernel=(2,), pad=(1,), pool_type="avg", count_include_pad=False)
    [[[2.0, 3.0, 5.0, 6.0]]]
    >>> run("Pooling", [[[2, 4, 6]]], kernel=(2,), stride=(2,), pool_type="avg", pooling_convention="full")
    [[[3.0, 6.0]]]

[Pooling/lp] lp is the root of the sum of x^p for p_value 1, 2 or 3, without absolute values; d_x =
    head * (x / output)^(p - 1).
    >>> run("Pooling", [[[3, -4]]], kernel=(2,), pool_type="lp", p_value=2)
    [[[5.0]]]
    >>> grad("Pooling", [[[3, -4]]], kernel=(2,), pool_type="lp", p_value=2)
    [[[0.6, -0.8]]]
    >>> run("Pooling", [[[3, -4]]], kernel=(2,), pool_type="lp", p_value=1)
    [[[-1.0]]]

[Pooling/p-value] pool_type lp needs a p_value of 1, 2 or 3.

[Pooling/gradient] windows add their shares to d_data in C order.
    >>> grad("Pooling", [[[2, 4, 6]]], kernel=(2,), pool_type="avg")
    [[[0.5, 1.0, 0.5]]]

[Pooling/sum-order] a window is summed in double precision, in C order.

[Pooling/layout] channels come second (NCW, NCHW, NCDHW, the default) or last (NWC, NHWC, NDHWC).
    >>> run("Pooling", [[[1, 10], [3, 20], [2, 50]]], kernel=(3,), layout="NWC")
    [[[3.0, 50.0]]]

[Pooling/floating] data is float16, float32 or float64.
"""

from math import sqrt
from typing import Literal, NamedTuple

import numpy as np

from .foundation import (
    Case,
    Loop,
    Op,
    Shape,
    Sources,
    decides,
    items,
    merge,
    register,
    require,
    same_type,
    scalar,
    steps,
)
from .shared.convolution_geometry import planes, volume
from .shared.pooling_windows import (
    Geometry,
    channel_last,
    checked,
    count,
    image_of,
    in_planes,
    pairs,
    windows,
)


class Params(NamedTuple):
    kernel: Shape = ()
    pool_type: Literal["avg", "lp", "max", "sum"] = "max"
    global_pool: bool = False
    cudnn_off: bool = False
    pooling_convention: Literal["full", "same", "valid"] = "valid"
    stride: Shape = ()
    pad: Shape = ()
    p_value: int | None = None
    count_include_pad: bool | None = None
    layout: Literal["None", "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] = "None"


def infer(p, ins, outs):
    require(
        "Pooling/p-value", p.pool_type != "lp" or p.p_value in (1, 2, 3),
        f"pool_type lp needs p_value 1, 2 or 3, got {p.p_value}",
    )
    data, out = ins[0], outs[0]
    if data is None:
        return [data], [out]
    image = image_of(p, data)
    counts = tuple(
        count(p, *numbers) for numbers in zip(image, *checked(p, len(image)), strict=True)
    )
    last = channel_last(p)
    wanted = (data[0], *counts, data[-1]) if last else (*data[:2], *counts)
    out = merge("Pooling/window", "output", out, wanted)
    batch, channels = out[0], out[-1] if last else out[1]
    return [(batch, *image, channels) if last else (batch, channels, *image)], [out]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "Pooling/floating", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- the formulas of a sum over a window: term of each element, root of the sum, slope -------------


@scalar
def term_1(x):
    return x


@scalar
def root_1(total):
    return total


@scalar
def slope_1(x, y):
    return 1.0


@scalar
def term_2(x):
    return x * x


@scalar
def root_2(total):
    return sqrt(total)


@scalar
def slope_2(x, y):
    return x / y


@scalar
def term_3(x):
    return x * x * x


@scalar
def root_3(total):
    return total ** (1.0 / 3.0) if total >= 0 else -((-total) ** (1.0 / 3.0))


@scalar
def slope_3(x, y):
    return (x / y) * (x / y)


# --- loops --------------------------------------------------------------------------------------
# Arrays have three sides (``volume``), those of 2 x 2 windows side by side have two, and those in which max_back seeks
# one (``planes``). begin, end and size hold the windows along depth, then those along height, then those along width
# (``windows``): those of output (z, y, x) are at z, row and column.


def max_rows(data, out, begin, end, least, g: Geometry):
    """out[n, c, z, y, x] = the largest element of the window, or the least number."""
    for n, c, z, y, x in items(out.shape):
        row, column = g.out_d + y, g.out_d + g.out_h + x
        best = least
        for d in range(begin[z], end[z]):
            for h in range(begin[row], end[row]):
                for w in range(begin[column], end[column]):
                    best = data[n, c, d, h, w] if data[n, c, d, h, w] > best else best
        out[n, c, z, y, x] = best


def max_back(head, data, d_data, begin, end, least, g: Geometry):
    """d_data[n, c, q] = sum of head over the windows whose first largest element is pixel q."""
    for n, c in items(d_data.shape[:2]):
        for q in range(d_data.shape[2]):
            d_data[n, c, q] = 0
        for z, y, x in steps(head.shape[2:]):
            row, column = g.out_d + y, g.out_d + g.out_h + x
            best = least
            first = -1
            for d in range(begin[z], end[z]):
                for h in range(begin[row], end[row]):
                    line = (d * g.height + h) * g.width
                    for w in range(begin[column], end[column]):
                        first = line + w if data[n, c, line + w] > best else first
                        best = data[n, c, line + w] if data[n, c, line + w] > best else best
            if first >= 0:
                d_data[n, c, first] += head[n, c, z, y, x]


def max_pairs(data, out, least):
    """max_rows for windows of 2 x 2 side by side, the commonest."""
    for n, c, y, x in items(out.shape):
        best = least
        for i, j in steps((2, 2)):
            best = data[n, c, 2 * y + i, 2 * x + j] if data[n, c, 2 * y + i, 2 * x + j] > best else best
        out[n, c, y, x] = best


def max_pairs_back(head, data, d_data, least, g: Geometry):
    """max_back for windows of 2 x 2 side by side: what no window holds gets 0 with the last one of its line."""
    for n, c, y in items(head.shape[:3]):
        for x in range(head.shape[3]):
            best = least
            at_i, at_j = 0, 0
            for i in range(2):
                before = best
                for j in range(2):
                    d_data[n, c, 2 * y + i, 2 * x + j] = 0
                    at_j = j if data[n, c, 2 * y + i, 2 * x + j] > best else at_j
                    best = data[n, c, 2 * y + i, 2 * x + j] if data[n, c, 2 * y + i, 2 * x + j] > best else best
                at_i = i if best > before else at_i
            if best > least:
                d_data[n, c, 2 * y + at_i, 2 * x + at_j] = head[n, c, y, x]
        for i, w in steps((2, g.width - 2 * g.out_w)):
            d_data[n, c, 2 * y + i, 2 * g.out_w + w] = 0
        if y == g.out_h - 1:
            for h, w in steps((g.height - 2 * g.out_h, g.width)):
                d_data[n, c, 2 * g.out_h + h, w] = 0


def sum_rows(data, out, begin, end, size, g: Geometry):
    """out[n, c, z, y, x] = root of the sum of term(element) over the window, or of their mean."""
    for n, c, z, y, x in items(out.shape):
        row, column = g.out_d + y, g.out_d + g.out_h + x
        total = np.float64(0)
        for d in range(begin[z], end[z]):
            for h in range(begin[row], end[row]):
                for w in range(begin[column], end[column]):
                    total += term(data[n, c, d, h, w])  # noqa: F821  # bound by Loop
        count = max(size[z] * size[row] * size[column], 1) if g.average else 1
        out[n, c, z, y, x] = root(total) / count  # noqa: F821  # bound by Loop


def sum_back(head, data, out, d_data, begin, end, size, g: Geometry):
    """d_data[n, c, d, h, w] = sum of slope(element, out) . head over the windows that hold (d, h, w)."""
    for n, c in items(d_data.shape[:2]):
        for d, h, w in steps(d_data.shape[2:]):
            d_data[n, c, d, h, w] = 0
        for z, y, x in steps(head.shape[2:]):
            row, column = g.out_d + y, g.out_d + g.out_h + x
            count = max(size[z] * size[row] * size[column], 1) if g.average else 1
            share = head[n, c, z, y, x] / count
            for d in range(begin[z], end[z]):
                for h in range(begin[row], end[row]):
                    for w in range(begin[column], end[column]):
                        part = slope(data[n, c, d, h, w], out[n, c, z, y, x])  # noqa: F821  # likewise
                        d_data[n, c, d, h, w] += share * part


MAX, MAX_BACK = Loop(max_rows), Loop(max_back)
MAX_PAIRS, MAX_PAIRS_BACK = Loop(max_pairs), Loop(max_pairs_back)
SUM = {
    1: (Loop(sum_rows, term=term_1, root=root_1), Loop(sum_back, slope=slope_1)),
    2: (Loop(sum_rows, term=term_2, root=root_2), Loop(sum_back, slope=slope_2)),
    3: (Loop(sum_rows, term=term_3, root=root_3), Loop(sum_back, slope=slope_3)),
}


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, out):
    def work(reads, writes):
        (x,), (y,) = reads, writes
        begin, end, size, g = windows(p, x.shape, y.shape, x.device)
        least = float(np.finfo(x.dtype).min)
        if p.pool_type != "max":
            power = p.p_value if p.pool_type == "lp" else 1
            SUM[power][0](volume(x), volume(y), begin, end, size, g)
        elif pairs(p, x.shape[2:]):
            MAX_PAIRS(x, y, least)
        else:
            MAX(volume(x), volume(y), begin, end, least, g)

    in_planes(p, [data], [out], work)


def needs(p):
    return {"max": ("data",), "lp": ("data", "output")}.get(p.pool_type, ())


@decides("Pooling/ties-first")
def backward(p, head, *others):
    *seen, d_data = others
    if d_data is None:
        return

    def work(reads, writes):
        h, *seen = reads
        (d_x,) = writes
        begin, end, size, g = windows(p, d_x.shape, h.shape, h.device)
        least = float(np.finfo(h.dtype).min)
        if p.pool_type != "max":
            power = p.p_value if p.pool_type == "lp" else 1
            x, y = seen or (d_x, h)  # sums do not look at them
            SUM[power][1](volume(h), volume(x), volume(y), volume(d_x), begin, end, size, g)
        elif pairs(p, d_x.shape[2:]):
            MAX_PAIRS_BACK(h, *seen, d_x, least, g)
        else:
            MAX_BACK(volume(h), *map(planes, seen), planes(d_x), begin, end, least, g)

    in_planes(p, [head, *seen], [d_data], work)


def cases(draw):
    rank = draw.integer(1, 3)
    kernel = tuple(draw.integer(1, 3) for _ in range(rank))
    pad = tuple(draw.integer(0, k // 2) for k in kernel)
    common = rank == 2 and draw.integer(0, 2) == 0  # largest numbers of 2 x 2 side by side have loops of their own
    if common:
        kernel, pad = (2, 2), (0, 0)
    image = tuple(max(k - 2 * b, 1) + draw.integer(0, 3) for k, b in zip(kernel, pad, strict=True))
    batch, channels = draw.integer(1, 2), draw.integer(1, 3)
    last = draw.integer(0, 3) == 0
    layout = (("NWC", "NHWC", "NDHWC") if last else ("NCW", "NCHW", "NCDHW"))[rank - 1]
    pool_type = "max" if common else draw.choice(("max", "avg", "sum", "lp"))
    stride = kernel if common else tuple(draw.integer(1, k - b) for k, b in zip(kernel, pad, strict=True))  # none empty
    params = {
        "kernel": kernel, "stride": stride, "pad": pad,
        "pool_type": pool_type, "pooling_convention": draw.choice(("valid", "full")),
        "global_pool": draw.integer(0, 4) == 0, "count_include_pad": draw.boolean(),
        "p_value": draw.integer(1, 3), "layout": layout,
    }
    shape = (batch, *image, channels) if last else (batch, channels, *image)
    return Case(params, {"data": shape}, {"data": "positive" if pool_type == "lp" else "apart"})


def refused(data, dtype="float32", **params):
    return {"params": params, "shapes": {"data": data}, "dtypes": {"data": dtype}}


register(Op(
    name="Pooling", doc=__doc__, params=Params, infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, needs=needs, cases=cases,
    refusals={
        "Pooling/sides": refused((1, 1, 5, 5), kernel=(2,)),
        "Pooling/kernel-fits": refused((1, 1, 5, 5), kernel=(6, 6)),
        "Pooling/convention": refused((1, 1, 4, 4), kernel=(2, 2), pooling_convention="same"),
        "Pooling/layout": refused((1, 1, 4, 4), kernel=(2, 2), layout="NCW"),
        "Pooling/p-value": refused((1, 1, 4), kernel=(2,), pool_type="lp"),
        "Pooling/floating": refused((1, 1, 4), kernel=(2,), dtype="int32"),
    },
    tier=1, reports=Sources(), color="#80b1d3", keeps_rank=True,
    label="Pooling\n{pool_type}, {kernel}/{stride}", difference_clauses={"": "Pooling/window"},
))
