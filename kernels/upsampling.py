"""UpSampling: larger images, by repeating pixels (nearest) or by a weighed sum of neighbours (bilinear).

[UpSampling/nearest] out[y, x] = data[y // scale, x // scale].
    >>> run("UpSampling", [[[[1, 2], [3, 4]]]], scale=2, sample_type="nearest")
    [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0], [3.0, 3.0, 4.0, 4.0], [3.0, 3.0, 4.0, 4.0]]]]

[UpSampling/inputs] nearest takes any number of inputs. The output is scale times as high and wide as the first; the
    sides of the others divide the output's, and each input is repeated as often as it takes.
    >>> run("UpSampling", [[[[1, 2]]]], [[[[9]]]], scale=2, sample_type="nearest")
    [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]], [[9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0]]]]

[UpSampling/multi-input-mode] their channels are put one after the other (concat), or added up in the order of the
    inputs (sum), which all have the same number of them then.
    >>> run("UpSampling", [[[[1, 2]]]], [[[[9]]]], scale=2, sample_type="nearest", multi_input_mode="sum")
    [[[[10.0, 10.0, 11.0, 11.0], [10.0, 10.0, 11.0, 11.0]]]]

[UpSampling/bilinear] is Deconvolution, every channel by itself, of data with weight, (channels, 1, k, k): k is
    2 scale - scale % 2, stride scale, pad ceil((scale - 1) / 2). The channels are counted by data; num_filter is not
    read. The inputs are called data and weight, and a weight that is created gets the initializer bilinear.
    >>> ones = [[[[1] * 4] * 4]]
    >>> run("UpSampling", [[[[1, 2], [3, 4]]]], ones, scale=2, sample_type="bilinear", num_filter=1)
    [[[[1.0, 3.0, 3.0, 2.0], [4.0, 10.0, 10.0, 6.0], [4.0, 10.0, 10.0, 6.0], [3.0, 7.0, 7.0, 4.0]]]]

[UpSampling/rank] all inputs are (batch, channels, height, width).

[UpSampling/gradient] nearest: a pixel gets the sum, in double precision and C order, of the heads at its copies;
    bilinear: as Deconvolution.
    >>> grad("UpSampling", [[[[1, 2]]]], [[[[9]]]], scale=2, sample_type="nearest", multi_input_mode="sum",
    ...      head=[[[[0, 1, 2, 3], [4, 5, 6, 7]]]])
    ([[[[10.0, 18.0]]]], [[[[28.0]]]])

[UpSampling/types] inputs are of one floating-point type.
"""

from typing import Annotated, Literal, NamedTuple

import numpy as np

from . import deconvolution
from .foundation import (
    UNKNOWN,
    AtLeast,
    Case,
    Count,
    Long,
    Loop,
    Op,
    Sources,
    either,
    items,
    merge,
    register,
    require,
    same_type,
    steps,
    told,
)


class Params(NamedTuple):
    scale: Annotated[int, AtLeast(1)]
    sample_type: Literal["bilinear", "nearest"]
    num_args: Count
    num_filter: int = 0
    multi_input_mode: Literal["concat", "sum"] = "concat"
    workspace: Annotated[Long, AtLeast(0)] = 512


class UpSampling(Op):
    """Its inputs have names where there are exactly two, data and weight."""

    def input_names(self, p):
        return ("data", "weight") if p.sample_type == "bilinear" else super().input_names(p)


def deconvolves(p, channels):
    """The parameters of the deconvolution that bilinear is."""
    side = 2 * p.scale - p.scale % 2
    return deconvolution.Params(
        kernel=(side, side), stride=(p.scale, p.scale), pad=(p.scale // 2, p.scale // 2),
        num_filter=channels, num_group=channels,
    )


def infer(p, ins, outs):
    for shape in (*ins, outs[0]):
        require("UpSampling/rank", shape is None or len(shape) == 4, f"{shape} has not 4 axes (batch, channels, y, x)")
    return (infer_bilinear if p.sample_type == "bilinear" else infer_nearest)(p, ins, outs)


def infer_bilinear(p, ins, outs):
    side = 2 * p.scale - p.scale % 2
    data, out = ins[0] or (UNKNOWN,) * 4, outs[0] or (UNKNOWN,) * 4
    weight = merge("UpSampling/bilinear", "weight", ins[1], (UNKNOWN, 1, side, side))
    channels = (weight[0],)
    for name, shape in (("data", data), ("output", out)):
        channels = merge("UpSampling/bilinear", name, (shape[1],), channels)
    wanted = (data[0], *channels, data[2] * p.scale, data[3] * p.scale)
    out = merge("UpSampling/bilinear", "output", out, wanted)
    data = (out[0], *channels, *(either(a, b // p.scale) for a, b in zip(data[2:], out[2:], strict=True)))
    return [data, (*channels, *weight[1:])], [out]


def infer_nearest(p, ins, outs):
    shapes = [shape or (UNKNOWN,) * 4 for shape in ins]
    out = outs[0] or (UNKNOWN,) * 4
    first = shapes[0]
    out = merge("UpSampling/nearest", "output", out, (UNKNOWN, UNKNOWN, first[2] * p.scale, first[3] * p.scale))
    shapes[0] = (*first[:2], *(side // p.scale for side in out[2:]))
    for shape in shapes:
        out = merge("UpSampling/inputs", "batch", out, (shape[0], *(UNKNOWN,) * 3))
        pairs = zip(shape[2:], out[2:], strict=True)
        require(
            "UpSampling/inputs", all(divides(*pair) for pair in pairs),
            f"an input of {shape} does not divide an output of {out}",
        )
    channels_of = summed if p.multi_input_mode == "sum" else concatenated
    counts, out = channels_of([shape[1] for shape in shapes], out)
    return [(out[0], count, *shape[2:]) for count, shape in zip(counts, shapes, strict=True)], [out]


def divides(side, longer):
    """Whether one side divides another, as far as they are known."""
    return not told(side, longer) or side == longer or (side > 0 and longer % side == 0)


def summed(counts, out):
    """Channels of the inputs, all alike, and the output, which has as many."""
    for count in counts:
        out = merge("UpSampling/multi-input-mode", "channels", out, (UNKNOWN, count, UNKNOWN, UNKNOWN))
    return [out[1]] * len(counts), out


def concatenated(counts, out):
    """Channels of the inputs, and the output, which has those of all; where one number is unknown it is the rest."""
    if told(out[1]) and counts.count(UNKNOWN) == 1:
        rest = max(out[1] - sum(count for count in counts if told(count)), 0)
        counts = [count if told(count) else rest for count in counts]
    return counts, merge("UpSampling/multi-input-mode", "channels", out, (UNKNOWN, sum(counts), UNKNOWN, UNKNOWN))


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "UpSampling/types", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- loops --------------------------------------------------------------------------------------
# data is (batch, channels, height, width), and its channels lie in out from ``start`` on. Each of its pixels becomes
# ``down`` rows and ``across`` columns there.


def repeat(data, out, start, down, across, add):
    batch, channels, height, width = data.shape
    for n, c, y, i in items((batch, channels, height, down)):
        for x in range(width):
            value = data[n, c, y, x]
            for j in range(across):
                before = out[n, start + c, y * down + i, x * across + j]
                out[n, start + c, y * down + i, x * across + j] = before + value if add else value


def repeat_back(head, d_data, start, down, across):
    for n, c, y, x in items(d_data.shape):
        total = np.float64(0)
        for i, j in steps((down, across)):
            total += head[n, start + c, y * down + i, x * across + j]
        d_data[n, c, y, x] = total


REPEAT, REPEAT_BACK = Loop(repeat), Loop(repeat_back)


# --- the operator -------------------------------------------------------------------------------


def places(p, shapes, out):
    """For every input: where its channels begin in the output, and how often a pixel is repeated down and across."""
    start = 0
    for _, channels, height, width in shapes:
        yield start, out[2] // max(height, 1), out[3] // max(width, 1)
        start += 0 if p.multi_input_mode == "sum" else channels


def forward(p, data, out):
    if p.sample_type == "bilinear":
        deconvolution.forward(deconvolves(p, out.shape[1]), *data, None, out)
        return
    for k, (one, numbers) in enumerate(zip(data, places(p, [d.shape for d in data], out.shape), strict=True)):
        REPEAT(one, out, *numbers, k > 0 and p.multi_input_mode == "sum")


def needs(p):
    return ("data", "weight") if p.sample_type == "bilinear" else tuple(f"arg{i}" for i in range(p.num_args))


def backward(p, head, *others):
    *data, gradients = others
    if p.sample_type == "bilinear":
        deconvolution.backward(deconvolves(p, head.shape[1]), head, *data, *gradients, None)
        return
    for d_data, numbers in zip(gradients, places(p, [d.shape for d in data], head.shape), strict=True):
        if d_data is not None:
            REPEAT_BACK(head, d_data, *numbers)


def cases(draw):
    scale = draw.integer(1, 3)
    first = draw.shape(4, 4, 3)
    params = {"scale": scale, "sample_type": draw.choice(("nearest", "nearest", "bilinear"))}
    if params["sample_type"] == "bilinear":
        side = 2 * scale - scale % 2
        shapes = [first, (first[1], 1, side, side)]
        return Case({**params, "num_filter": first[1], "num_args": 2}, {"args": shapes})
    params["multi_input_mode"] = draw.choice(("concat", "sum"))
    shapes = [first]
    for _ in range(draw.integer(0, 2)):
        channels = first[1] if params["multi_input_mode"] == "sum" else draw.integer(1, 3)
        times = draw.choice([t for t in range(1, scale + 1) if scale % t == 0])
        shapes.append((first[0], channels, first[2] * times, first[3] * times))
    return Case(params, {"args": shapes})


def refused(*shapes, dtype=None, sample_type="nearest", **params):
    call = {"params": {"scale": 2, "sample_type": sample_type, **params}, "shapes": {"args": list(shapes)}}
    return call if dtype is None else {**call, "dtypes": {"args": [dtype] * len(shapes)}}


register(UpSampling(
    name="UpSampling", doc=__doc__, params=Params, variadic="num_args", infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, needs=needs,
    shape_needs=lambda p: () if p.sample_type == "bilinear" else needs(p), cases=cases,
    initial_attrs={"weight": '["bilinear", {}]'},
    refusals={
        "UpSampling/rank": refused((1, 2, 2)),
        "UpSampling/inputs": refused((1, 1, 2, 2), (1, 1, 3, 3)),
        "UpSampling/multi-input-mode": refused((1, 1, 2, 2), (1, 2, 2, 2), multi_input_mode="sum"),
        "UpSampling/bilinear": refused((1, 2, 2, 2), (2, 1, 3, 3), sample_type="bilinear"),
        "UpSampling/types": refused((1, 1, 2, 2), dtype="int32"),
    },
    tier=1, reports=Sources(),
))
