"""_contrib_MultiBoxPrior: boxes of several sizes and shapes around every pixel of a feature map.

[_contrib_MultiBoxPrior/boxes] every pixel gets len(sizes) + len(ratios) - 1 boxes (left, top, right, bottom), in
    fractions of the image: each size with the first ratio, then the first size with every other ratio. A box
    of size s and ratio r is s sqrt(r) H / W wide and s / sqrt(r) high. Of data (batch, channels, H, W)
    only the shape is read.
    >>> run("_contrib_MultiBoxPrior", [[[[0, 0]]]], sizes=(.5, .25), ratios=(4, 1))[0][:3]
    [[0.0, 0.375, 0.5, 0.625], [0.125, 0.4375, 0.375, 0.5625], [0.125, 0.25, 0.375, 0.75]]

[_contrib_MultiBoxPrior/order] pixels follow each other in C order, the boxes of a pixel in the order above;
    the output is (1, boxes, 4).
    >>> run("_contrib_MultiBoxPrior", [[[[0, 0], [0, 0]]]], sizes=(.5,))
    [[[0.0, 0.0, 0.5, 0.5], [0.5, 0.0, 1.0, 0.5], [0.0, 0.5, 0.5, 1.0], [0.5, 0.5, 1.0, 1.0]]]

[_contrib_MultiBoxPrior/centers] the center of pixel (i, j) is ((j + offsets[1]) steps[1], (i + offsets[0])
    steps[0]). Steps are 1 / H and 1 / W unless both are positive; their product must not be negative.
    >>> run("_contrib_MultiBoxPrior", [[[[0, 0]]]], sizes=(.5,), steps=(.25, .125), offsets=(0, 1))
    [[[0.0, -0.25, 0.25, 0.25], [0.125, -0.25, 0.375, 0.25]]]

[_contrib_MultiBoxPrior/clip] with clip coordinates stay inside 0 .. 1.
    >>> run("_contrib_MultiBoxPrior", [[[[0]]]], sizes=(2,), clip=True)
    [[[0.0, 0.0, 1.0, 1.0]]]

[_contrib_MultiBoxPrior/parameters] sizes and ratios have one number at least, steps and offsets two.

[_contrib_MultiBoxPrior/shape] data has 4 axes or more, of which the third and fourth count.

[_contrib_MultiBoxPrior/floating-point] only floating-point types are accepted.

[_contrib_MultiBoxPrior/gradient] the gradient is zero.
    >>> grad("_contrib_MultiBoxPrior", [[[[0]]]])
"""

from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Floats, Loop, Op, as_buffer, items, merge, register, require
from .shared.boxes import floating, limited, nothing

CLAUSE = "_contrib_MultiBoxPrior/shape"


class Params(NamedTuple):
    sizes: Floats = (1.0,)
    ratios: Floats = (1.0,)
    clip: bool = False
    steps: Floats = (-1.0, -1.0)
    offsets: Floats = (0.5, 0.5)


def infer(p, ins, outs):
    require(
        "_contrib_MultiBoxPrior/parameters",
        p.sizes and p.ratios and len(p.steps) == len(p.offsets) == 2,
        f"sizes={p.sizes}, ratios={p.ratios}, steps={p.steps}, offsets={p.offsets}: give one number at "
        "least for the former, two for the latter, those for y first",
    )
    require(
        "_contrib_MultiBoxPrior/centers", p.steps[0] * p.steps[1] >= 0,
        f"steps={p.steps}: give both, or none",
    )
    data = ins[0]
    require(CLAUSE, data is None or len(data) >= 4, f"data has shape {data}; 4 axes are needed")
    count = len(p.sizes) + len(p.ratios) - 1
    count *= data[2] * data[3] if data is not None else UNKNOWN
    return ins, [merge(CLAUSE, "output", outs[0], (1, count, 4))]


# --- loop ---------------------------------------------------------------------------------------


class Geometry(NamedTuple):
    clip: int
    step_y: float
    step_x: float
    offset_y: float
    offset_x: float


def place(out, halves, g: Geometry):
    """out[i, j, k] = left, top, right and bottom of box k around pixel (i, j).

    halves[k] are half its width and half its height.
    """
    for i, j, k in items(out.shape[:3]):
        x, y = (j + g.offset_x) * g.step_x, (i + g.offset_y) * g.step_y
        out[i, j, k, 0] = limited(x - halves[k, 0], g.clip)
        out[i, j, k, 1] = limited(y - halves[k, 1], g.clip)
        out[i, j, k, 2] = limited(x + halves[k, 0], g.clip)
        out[i, j, k, 3] = limited(y + halves[k, 1], g.clip)


PLACE = Loop(place)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, out):
    high, wide = data.shape[2:4]
    shapes = [(size, p.ratios[0]) for size in p.sizes] + [(p.sizes[0], r) for r in p.ratios[1:]]
    halves = [(s * high / wide * np.sqrt(r) / 2, s / np.sqrt(r) / 2) for s, r in shapes]
    steps = p.steps if min(p.steps) > 0 else (1 / high, 1 / wide)
    table = as_buffer(np.array(halves, out.dtype), out.device)
    g = Geometry(int(p.clip), *map(float, (*steps, *p.offsets)))
    PLACE(out.reshape((high, wide, len(halves), 4)), table, g)


def cases(draw):
    def several(*options):
        return tuple(draw.choice(options) for _ in range(draw.integer(1, 3)))

    params = {
        "sizes": several(0.25, 0.5, 0.7), "ratios": several(1, 2, 0.5, 4), "clip": draw.boolean(),
        "steps": draw.choice(((-1, -1), (0.25, 0.125), (0, 0.5))),
        "offsets": draw.choice(((0.5, 0.5), (0, 0.75))),
    }
    return Case(params, {"data": draw.shape(4, 5)})


def refused(shape=(1, 1, 2, 2), dtype="float32", **params):
    return {"params": params, "shapes": {"data": shape}, "dtypes": {"data": dtype}}


register(Op(
    name="_contrib_MultiBoxPrior", doc=__doc__, params=Params, infer=infer,
    infer_type=floating("_contrib_MultiBoxPrior/floating-point"), forward=forward, gradient=nothing,
    shape_only=("data",), cases=cases,
    refusals={
        "_contrib_MultiBoxPrior/parameters": refused(sizes=()),
        "_contrib_MultiBoxPrior/centers": refused(steps=(0.25, -1)),
        CLAUSE: refused((1, 2, 2)),
        "_contrib_MultiBoxPrior/floating-point": refused(dtype="int32"),
    },
    tier=2,
))
