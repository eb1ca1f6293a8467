"""_contrib_AdaptiveAvgPooling2D, _contrib_BilinearResize2D: images resized.

[_contrib_AdaptiveAvgPooling2D/regions] out has output_size, (height, width), one number for both, or 1 x 1 without;
    place i of n along a side of s is the mean of pixels floor(i s / n) to ceil((i + 1) s / n).
    >>> image = [[[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]]]
    >>> run("_contrib_AdaptiveAvgPooling2D", image, output_size=(2, 3)), run("_contrib_AdaptiveAvgPooling2D", image)
    ([[[[3.5, 4.5, 5.5], [11.5, 12.5, 13.5]]]], [[[[8.5]]]])
    >>> run("_contrib_AdaptiveAvgPooling2D", [[[[1, 2, 3]]]], output_size=(1, 5))
    [[[[1.0, 1.5, 2.0, 2.5, 3.0]]]]

[_contrib_AdaptiveAvgPooling2D/size] output_size has at most two numbers, positive ones.

[_contrib_AdaptiveAvgPooling2D/gradient] a mean gives each of its pixels the same share of its head.
    >>> grad("_contrib_AdaptiveAvgPooling2D", [[[[1, 2, 3]]]], output_size=(1, 2), head=[[[[2, 4]]]])
    [[[[1.0, 3.0, 2.0]]]]

[_contrib_BilinearResize2D/aligned] with align_corners the first pixels of both images coincide, and so do the last:
    place i of n is at i (s - 1) / (n - 1). Without it, at (i + 0.5) s / n - 0.5, not below 0. The two or four pixels
    around it are weighed by nearness. A side of 1 is made of the first pixel.
    >>> small = [[[[1, 2, 4], [3, 8, 5]]]]
    >>> run("_contrib_BilinearResize2D", small, height=3, width=5)
    [[[[1.0, 1.5, 2.0, 3.0, 4.0], [2.0, 3.5, 5.0, 4.75, 4.5], [3.0, 5.5, 8.0, 6.5, 5.0]]]]
    >>> run("_contrib_BilinearResize2D", small, height=3, width=5, align_corners=False)
    [[[[1.0, 1.4, 2.0, 3.2, 4.0], [2.0, 3.2, 5.0, 4.7, 4.5], [3.0, 5.0, 8.0, 6.2, 5.0]]]]
    >>> run("_contrib_BilinearResize2D", small)
    [[[[1.0]]]]

[_contrib_BilinearResize2D/size] the size is height x width, or, with scale_height and scale_width, the sides times
    these, cut off. No side may become 0; both scales are given or none.
    >>> run("_contrib_BilinearResize2D", small, scale_height=0.5, scale_width=1.5, align_corners=False)
    [[[[1.0, 1.625, 2.75, 4.0]]]]

[_contrib_BilinearResize2D/modes] to_even_down, to_even_up, to_odd_down and to_odd_up take one pixel off a side or add
    one where it is not even, or odd, already; odd_scale takes a scale times an even side, (side - 1) scale + 1 for an
    odd one; like takes the sides of a second input.
    >>> [run("_contrib_BilinearResize2D", small, mode=mode) for mode in ("to_odd_up", "to_odd_down")]
    [[[[[1.0, 2.0, 4.0], [2.0, 5.0, 4.5], [3.0, 8.0, 5.0]]]], [[[[1.0, 2.0, 4.0]]]]]
    >>> run("_contrib_BilinearResize2D", small, mode="odd_scale", scale_height=0.5, scale_width=2)[0][0]
    [[1.0, 1.5, 2.0, 3.0, 4.0]]
    >>> run("_contrib_BilinearResize2D", small, [[[[0, 0]] * 3]], mode="like")
    [[[[1.0, 4.0], [2.0, 4.5], [3.0, 5.0]]]]

[_contrib_BilinearResize2D/gradient] heads go back to pixels by the same weights, in C order; 0 for like.
    >>> grad("_contrib_BilinearResize2D", [[[[1, 2]]]], height=1, width=3, head=[[[[1, 2, 4]]]])
    [[[[2.0, 5.0]]]]

[resize/rank] data is (batch, channels, height, width).

[resize/precision] places, weights and sums are in double precision.
    >>> run("_contrib_AdaptiveAvgPooling2D", [[[[1e8, 1, -1e8]]]])
    [[[[0.333333]]]]

[resize/types] data is of a floating-point type.
"""

from typing import Annotated, Literal, NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    AtLeast,
    Case,
    Loop,
    Op,
    Shape,
    Sources,
    items,
    merge,
    require,
    require_some,
    same_type,
    scalar,
    steps,
    told,
)
from .foundation.loops import truncated, zero
from .multilinear import register_multilinear


class PoolingParams(NamedTuple):
    output_size: Shape = ()


class Params(NamedTuple):
    height: Annotated[int, AtLeast(1)] = 1
    width: Annotated[int, AtLeast(1)] = 1
    scale_height: float | None = None
    scale_width: float | None = None
    mode: Literal[
        "like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"
    ] = "size"
    align_corners: bool = True


def inputs(p):
    return ("data", "like") if p.mode == "like" else ("data",)


def resized(ins, outs, sides_of):
    """Shapes of data and output; ``sides_of(sides)`` tells the output's."""
    out = merge("resize/rank", "output", outs[0], (UNKNOWN,) * 4)
    data = merge("resize/rank", "data", ins[0], (*out[:2], UNKNOWN, UNKNOWN))
    out = merge("resize/rank", "output", out, (*data[:2], *sides_of(data[2:])))
    for side in data[2:]:
        require_some("an image", side, out)
    return (*out[:2], *data[2:]), out


def infer_pooling(p, ins, outs):
    size = p.output_size or (1,)
    require(
        "_contrib_AdaptiveAvgPooling2D/size", len(size) <= 2 and min(size) > 0,
        f"output_size {p.output_size} must be one or two positive numbers",
    )
    data, out = resized(ins, outs, lambda sides: (size[0], size[-1]))
    return [data], [out]


def side_of(p, side, size, scale):
    """A side of the output for one of the data."""
    if p.mode == "size" and scale is None:
        return size
    if not told(side):
        return UNKNOWN
    if p.mode == "odd_scale":
        return int(truncated(np.float32(scale) * np.float32(side if side % 2 == 0 else side - 1))) + side % 2
    if p.mode == "size":
        return int(truncated(np.float32(scale) * np.float32(side)))
    odd = "odd" in p.mode
    return side if side % 2 == odd else side + (1 if p.mode.endswith("up") else -1)


def infer(p, ins, outs):
    scales = [scale for scale in (p.scale_height, p.scale_width) if scale is not None]
    require(
        "_contrib_BilinearResize2D/size",
        len(scales) == 2 or (p.mode != "odd_scale" and not (scales and p.mode == "size")),
        f"mode {p.mode} needs both of scale_height and scale_width, given {p.scale_height} and {p.scale_width}",
    )
    likes = [merge("resize/rank", "like", each, (UNKNOWN,) * 4) for each in ins[1:]]

    def sides_of(sides):
        if likes:
            return likes[0][2:]
        asked = ((p.height, p.scale_height), (p.width, p.scale_width))
        made = tuple(side_of(p, side, *each) for side, each in zip(sides, asked, strict=True))
        require(
            "_contrib_BilinearResize2D/size", all(not told(m) or m > 0 for m in made),
            f"an image of {sides} would become one of {made}",
        )
        return made

    data, out = resized(ins, outs, sides_of)
    return [data, *((*each[:2], *out[2:]) for each in likes)], [out]


def infer_type(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    same_type(p, [kind], outs)
    require(
        "resize/types", kind is None or kind.kind == "f", f"data is {kind}, a floating-point type is needed; use Cast"
    )
    return [kind, *(kind if each is None else each for each in ins[1:])], [kind]


# --- loops --------------------------------------------------------------------------------------
# data is (batch, channels, height, width), out (batch, channels, high, wide).


@scalar
def first_of(i, side, n):
    """The first pixel of region ``i`` of ``n`` along a side. With (y, n, side), the first region that holds pixel y."""
    return i * side // n


@scalar
def end_of(i, side, n):
    """The pixel behind region ``i`` of ``n``. With (y, n, side), the region behind the last that holds pixel y."""
    return ((i + 1) * side + n - 1) // n


def mean_regions(data, out):
    _, _, height, width = data.shape
    _, _, high, wide = out.shape
    for n, c, i in items(out.shape[:3]):
        top, bottom = first_of(i, height, high), end_of(i, height, high)
        for j in range(wide):
            left, right = first_of(j, width, wide), end_of(j, width, wide)
            total = np.float64(0)
            for y in range(top, bottom):
                for x in range(left, right):
                    total += data[n, c, y, x]
            out[n, c, i, j] = total / ((bottom - top) * (right - left))


def share_regions(head, d_data):
    """d_data[n, c, y, x] = sum of head[n, c, i, j] / pixels of (i, j), over the regions that hold pixel (y, x)."""
    _, _, high, wide = head.shape
    _, _, height, width = d_data.shape
    for n, c, y, x in items(d_data.shape):
        total = np.float64(0)
        for i in range(first_of(y, high, height), end_of(y, high, height)):
            down = end_of(i, height, high) - first_of(i, height, high)
            for j in range(first_of(x, wide, width), end_of(x, wide, width)):
                across = end_of(j, width, wide) - first_of(j, width, wide)
                total += head[n, c, i, j] / np.float64(down * across)
        d_data[n, c, y, x] = total


@scalar
def place_of(i, side, n, aligned):
    """Where place ``i`` of ``n`` lies between the pixels of a side."""
    if n == 1:
        return np.float64(0)
    if aligned:
        return np.float64(i * (side - 1)) / (n - 1)
    return max(np.float64(i + 0.5) * side / n - 0.5, np.float64(0))


def stretch(data, out, align_corners):
    _, _, height, width = data.shape
    _, _, high, wide = out.shape
    for n, c, i in items(out.shape[:3]):
        y = place_of(i, height, high, align_corners)
        top = min(np.int64(y), height - 1)
        bottom, lower = min(top + 1, height - 1), y - top
        for j in range(wide):
            x = place_of(j, width, wide, align_corners)
            left = min(np.int64(x), width - 1)
            after, right = min(left + 1, width - 1), x - left
            above = data[n, c, top, left] * (1 - right) + data[n, c, top, after] * right
            below = data[n, c, bottom, left] * (1 - right) + data[n, c, bottom, after] * right
            out[n, c, i, j] = above * (1 - lower) + below * lower


def stretch_back(head, d_data, align_corners):
    _, _, high, wide = head.shape
    _, _, height, width = d_data.shape
    for n, c in items(d_data.shape[:2]):
        for y, x in steps(d_data.shape[2:]):
            d_data[n, c, y, x] = 0
        for i in range(high):
            y = place_of(i, height, high, align_corners)
            top = min(np.int64(y), height - 1)
            bottom, lower = min(top + 1, height - 1), y - top
            for j in range(wide):
                x = place_of(j, width, wide, align_corners)
                left = min(np.int64(x), width - 1)
                after, right = min(left + 1, width - 1), x - left
                value = head[n, c, i, j]
                d_data[n, c, top, left] += value * (1 - lower) * (1 - right)
                d_data[n, c, top, after] += value * (1 - lower) * right
                d_data[n, c, bottom, left] += value * lower * (1 - right)
                d_data[n, c, bottom, after] += value * lower * right


MEAN_REGIONS, SHARE_REGIONS = Loop(mean_regions), Loop(share_regions)
STRETCH, STRETCH_BACK = Loop(stretch), Loop(stretch_back)


# --- the operators ------------------------------------------------------------------------------


def forward_pooling(p, data, out):
    MEAN_REGIONS(data, out)


def backward_pooling(p, head, d_data):
    if d_data is not None:
        SHARE_REGIONS(head, d_data)


def forward(p, data, like, out):
    STRETCH(data, out, p.align_corners)


def backward(p, head, d_data, d_like):
    zero(d_like)
    if d_data is not None:
        STRETCH_BACK(head, d_data, p.align_corners)


def cases_pooling(draw):
    return Case({"output_size": draw.choice(((), (2,), draw.shape(2, 2)))}, {"data": draw.shape(4, 4)})


def cases(draw):
    mode = draw.choice(("like", "odd_scale", "size", "size", "to_even_up", "to_odd_down", "to_odd_up"))
    params = {"mode": mode, "align_corners": draw.boolean()}
    if mode == "odd_scale" or (mode == "size" and draw.boolean()):
        params.update(scale_height=draw.choice((1.0, 1.5, 2.0)), scale_width=draw.choice((1.0, 2.5)))
    elif mode == "size":
        params.update(height=draw.integer(1, 5), width=draw.integer(1, 5))
    data = draw.shape(4, 4)
    return Case(params, {"data": data, **({"like": draw.shape(4, 4)} if mode == "like" else {})})



register_multilinear(Op(
    name="_contrib_AdaptiveAvgPooling2D", doc=__doc__, params=PoolingParams, infer=infer_pooling,
    infer_type=infer_type, forward=forward_pooling, backward=backward_pooling, cases=cases_pooling,
    refusals={
        "_contrib_AdaptiveAvgPooling2D/size": {
            "params": {"output_size": (2, 2, 2)}, "shapes": {"data": (1, 1, 4, 4)},
        },
        "resize/rank": {"params": {}, "shapes": {"data": (1, 4, 4)}},
    },
    tier=2, numbered_input=True, reports=Sources(whole=True),
), ("data",))
register_multilinear(Op(
    name="_contrib_BilinearResize2D", doc=__doc__, params=Params, inputs=inputs, all_inputs=("data", "like"),
    infer=infer, infer_type=infer_type, forward=forward, backward=backward, no_gradient=("like",), shape_only=("like",),
    cases=cases,
    refusals={
        "_contrib_BilinearResize2D/size": {"params": {"scale_height": 2}, "shapes": {"data": (1, 1, 4, 4)}},
        "resize/rank": {"params": {}, "shapes": {"data": (1, 4, 4)}},
        "resize/types": {"params": {}, "shapes": {"data": (1, 1, 4, 4)}, "dtypes": {"data": "int32"}},
    },
    tier=2, reports=Sources(whole=True),
), ("data",))
