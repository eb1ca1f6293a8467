"""depth_to_space, space_to_depth: channels spread over blocks of pixels, and back.

[depth_to_space/block] with b = block_size, channel (i b + j) c + k of c b b channels becomes pixel (i, j) of each
    b x b block of channel k.
    >>> run("depth_to_space", [[[[1, 5]], [[2, 6]], [[3, 7]], [[4, 8]]]], block_size=2)
    [[[[1.0, 2.0, 5.0, 6.0], [3.0, 4.0, 7.0, 8.0]]]]

[depth_to_space/inverse] space_to_depth is its inverse.
    >>> run("space_to_depth", [[[[1, 2, 5, 6], [3, 4, 7, 8]]]], block_size=2)
    [[[[1.0, 5.0]], [[2.0, 6.0]], [[3.0, 7.0]], [[4.0, 8.0]]]]

[depth_to_space/shape] arrays are (batch, channel, height, width); block_size, 1 or more, divides the sides:
    its square the channels of depth_to_space, itself height and width of space_to_depth. Either shape is
    inferred from the other.

[depth_to_space/gradient] the gradient of each is the other.
    >>> grad("depth_to_space", [[[[0]], [[0]], [[0]], [[0]]]], block_size=2, head=[[[[1, 2], [3, 4]]]])
    [[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]
"""

from typing import NamedTuple

from .foundation import Case, Op, Sources, merge, register, require
from .foundation.loops import GATHER, SCATTER, walk


class Params(NamedTuple):
    block_size: int


def checked(p, shape, by):
    """``shape``, if it has rank 4 and each side is divided by the number in ``by``."""
    require("depth_to_space/shape", p.block_size > 0, f"block_size={p.block_size} must be 1 or more")
    require(
        "depth_to_space/shape",
        len(shape) == 4 and not any(side % b for side, b in zip(shape, by, strict=True)),
        f"shape {list(shape)} must be (batch, channel, height, width) with sides divided by {by}"
        f" for block_size={p.block_size}",
    )
    return shape


def spread(p, shape):
    n, c, h, w = checked(p, shape, (1, p.block_size**2, 1, 1))
    return n, c // p.block_size**2, h * p.block_size, w * p.block_size


def gathered(p, shape):
    n, c, h, w = checked(p, shape, (1, 1, p.block_size, p.block_size))
    return n, c * p.block_size**2, h // p.block_size, w // p.block_size


def infer_with(there, back):
    def infer(p, ins, outs):
        data, out = ins[0], outs[0]
        if data is not None:
            out = merge("depth_to_space/shape", "output", out, there(p, data))
        if out is not None:
            data = merge("depth_to_space/shape", "data", data, back(p, out))
        return [data], [out]

    return infer


# --- the operators ------------------------------------------------------------------------------


def pixels(p, deep):
    """The walk over the wide array, row by row, that finds each pixel in the deep one."""
    b = p.block_size
    n, channels, h, w = deep.shape
    c = channels // (b * b)
    strides = (channels * h * w, h * w, w, b * c * h * w, 1, c * h * w)
    return walk((n, c, h, b, w, b), strides, 0, deep.device)


def forward_space(p, data, out):
    GATHER(data, out, *pixels(p, data))


def forward_depth(p, data, out):
    SCATTER(data, out, *pixels(p, out))


def gradient_by(name):
    def gradient(make, p, heads, inputs, outputs):
        return [make(name, heads, block_size=p.block_size)[0]]

    return gradient


def cases_space(draw):
    n, c, h, w = draw.shape(4, 4, 3)
    b = draw.integer(1, 3)
    return Case({"block_size": b}, {"data": (n, c * b * b, h, w)})


def cases_depth(draw):
    n, c, h, w = draw.shape(4, 4, 3)
    b = draw.integer(1, 3)
    return Case({"block_size": b}, {"data": (n, c, h * b, w * b)})


register(Op(
    name="depth_to_space", doc=__doc__, params=Params, infer=infer_with(spread, gathered),
    forward=forward_space, gradient=gradient_by("space_to_depth"), cases=cases_space,
    refusals={
        "depth_to_space/shape": {"params": {"block_size": 2}, "shapes": {"data": (1, 2, 3, 3)}},
    },
    tier=2, method="depth_to_space", reports=Sources(),
))
register(Op(
    name="space_to_depth", doc=__doc__, params=Params, infer=infer_with(gathered, spread),
    forward=forward_depth, gradient=gradient_by("depth_to_space"), cases=cases_depth,
    refusals={
        "depth_to_space/shape": {"params": {"block_size": 2}, "shapes": {"data": (1, 2, 3, 4)}},
    },
    tier=2, method="space_to_depth", reports=Sources(),
))
