"""reverse (flip): the order of the indices along some axes turned round.

[reverse/axis] each named axis is read from its end; an axis named twice is turned twice.
    >>> run("reverse", [[1, 2], [3, 4]], axis=0), run("reverse", [[1, 2], [3, 4]], axis=(0, 1))
    ([[3.0, 4.0], [1.0, 2.0]], [[4.0, 3.0], [2.0, 1.0]])

[reverse/range] axes are numbers from 0 to rank - 1; they do not count from the end.

[reverse/shape] data and output have one shape, each inferred from the other.

[reverse/gradient] the head, turned round.
    >>> grad("reverse", [1, 2, 3], axis=0, head=[4, 5, 6])
    [6.0, 5.0, 4.0]
"""

from typing import NamedTuple

from .foundation import Case, Op, Shape, merge, register, require, strides_of
from .foundation.loops import GATHER, walk


class Params(NamedTuple):
    axis: Shape


def infer(p, ins, outs):
    shape = merge("reverse/shape", "data and output", ins[0], outs[0])
    require(
        "reverse/range", shape is None or all(0 <= axis < len(shape) for axis in p.axis),
        f"axis {list(p.axis)} must lie between 0 and the rank of data {list(shape or ())}, less 1",
    )
    return [shape], [shape]


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, out):
    steps, start = list(strides_of(data.shape)), 0
    for axis in p.axis:
        start += (data.shape[axis] - 1) * steps[axis]
        steps[axis] = -steps[axis]
    GATHER(data, out, *walk(out.shape, tuple(steps), start, data.device))


def gradient(make, p, heads, inputs, outputs):
    return [make("reverse", heads, axis=p.axis)[0]]


def cases(draw):
    shape = draw.shape(1, 4)
    last = len(shape) - 1
    return Case({"axis": draw.choice([(0,), (last,), (0, last), tuple(range(last + 1))])}, {"data": shape})


register(Op(
    name="reverse", doc=__doc__, params=Params, infer=infer, forward=forward, gradient=gradient,
    aliases=("flip",), cases=cases,
    refusals={
        "reverse/range": {"params": {"axis": -1}, "shapes": {"data": (2, 3)}},
        "reverse/shape": {"params": {"axis": 0}, "shapes": {"data": (2, 3), "output": (2,)}},
    },
    tier=1, method="flip",
))
