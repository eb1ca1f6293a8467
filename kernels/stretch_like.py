"""_stretch_like, _sum_like: what broadcasting does to an operand, and what its gradient does back.

[stretch-like/stretch] data is repeated along the axes that it lacks or has one element of, until it has the
    shape of like.
    >>> run("_stretch_like", [1, 2], [[0, 0], [0, 0]])
    [[1.0, 2.0], [1.0, 2.0]]

[stretch-like/sum] data is summed over the axes along which an array of the shape of like would be repeated: in
    float64, in the order of reduce/sum-order, rounded once.
    >>> run("_sum_like", [[1, 2], [3, 4]], [0, 0]), run("_sum_like", [[1, 2], [3, 4]], [[0], [0]])
    ([4.0, 6.0], [[3.0], [7.0]])

[stretch-like/gradient] each is the gradient of the other; like only lends its shape and gets none.
    >>> grad("_stretch_like", [1, 2], [[0, 0], [0, 0]], head=[[1, 2], [3, 4]])
    ([4.0, 6.0], None)
    >>> grad("_sum_like", [[1, 2], [3, 4]], [0, 0], head=[10, 20])
    ([[10.0, 20.0], [10.0, 20.0]], None)

[stretch-like/shape] the smaller shape, aligned at the last axis, has 1 or the larger one's side everywhere.
"""

from .foundation import Case, Op, agree, merge, register, require
from .foundation.loops import GATHER, walk
from .foundation.walks import stretched
from .reduce import sum_into


def check(small, large):
    """Refuse shapes of which one is not the other one stretched; unknown sides pass."""
    padded = (1,) * (len(large) - len(small)) + tuple(small)
    require(
        "stretch-like/shape",
        len(padded) == len(large) and all(a == 1 or agree(a, b) for a, b in zip(padded, large, strict=True)),
        f"an array of shape {list(small)} cannot be stretched to {list(large)}",
    )


def infer_with(smaller):
    """Shapes of a page whose output is like ``like``; ``smaller`` is the input that is stretched."""

    def infer(p, ins, outs):
        shape = merge("stretch-like/shape", "output", outs[0], ins[1])
        if ins[0] is not None and shape is not None:
            check(*((ins[0], shape) if smaller == "data" else (shape, ins[0])))
        return [ins[0], shape], [shape]

    return infer


# --- the operators: GATHER reads the same element again where a step is 0 --------------------------


def forward_stretch(p, data, like, out):
    GATHER(data, out, *walk(out.shape, stretched(data.shape, out.shape), 0, out.device))


def forward_sum(p, data, like, out):
    sum_into(data, out)


def gradient_by(other):
    def gradient(make, p, heads, inputs, outputs):
        return [make(other, [heads[0], inputs[0]])[0], None]

    return gradient


def stretched_shapes(draw):
    """A shape and one that stretches to it."""
    large = draw.shape(1, 4)
    small = tuple(1 if draw.boolean() else side for side in large)
    return small[draw.integer(0, len(small) - 1) :] if draw.boolean() else small, large


def cases_stretch(draw):
    small, large = stretched_shapes(draw)
    return Case({}, {"data": small, "like": large})


def cases_sum(draw):
    small, large = stretched_shapes(draw)
    return Case({}, {"data": large, "like": small})


COMMON = {"doc": __doc__, "inputs": ("data", "like"), "shape_only": ("like",), "no_gradient": ("like",)}

register(Op(
    name="_stretch_like", forward=forward_stretch, infer=infer_with("data"), gradient=gradient_by("_sum_like"),
    cases=cases_stretch,
    refusals={"stretch-like/shape": {"shapes": {"data": (2, 3), "like": (2, 4)}}}, **COMMON,
))
register(Op(
    name="_sum_like", forward=forward_sum, infer=infer_with("like"), gradient=gradient_by("_stretch_like"),
    cases=cases_sum,
    refusals={"stretch-like/shape": {"shapes": {"data": (2, 3), "like": (2, 2)}}}, **COMMON,
))
