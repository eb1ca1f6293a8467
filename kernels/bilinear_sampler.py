"""BilinearSampler, GridGenerator, SpatialTransformer: an image sampled at points between its pixels.

[BilinearSampler/places] grid is (batch, 2, high, wide): x and y of each place, from -1, the middle of the first
    pixel, to 1, the middle of the last: pixel (x + 1) (width - 1) / 2.
    >>> image = [[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]
    >>> run("BilinearSampler", image, [[[[-1, 0, 1]], [[-1, 0, 1]]]])
    [[[[1.0, 5.0, 9.0]]]]

[BilinearSampler/between] between pixels the four around a place are weighed by nearness; pixels outside the image are
    0.
    >>> run("BilinearSampler", image, [[[[-0.5, 0.25, 1.5]], [[0, 0.5, -1]]]])
    [[[[4.5, 6.75, 1.5]]]]

[BilinearSampler/outside] a place more than a pixel outside is 0, and so is one that is not a number; neither takes or
    gives a gradient.
    >>> run("BilinearSampler", image, [[[[-2, 9, float("nan")]], [[0, 0, 0]]]])
    [[[[0.0, 0.0, 0.0]]]]

[BilinearSampler/gradient] heads go back to pixels by the same weights, added in C order of the places; the gradient
    of a place is the slope to the right and downwards, pixels outside being 0.
    >>> grad("BilinearSampler", image, [[[[-0.5, 0.25, 1.5]], [[0, 0.5, -1]]]], head=[[[[1, 2, 4]]]])
    ([[[[0.0, 0.0, 2.0], [0.5, 1.25, 0.25], [0.0, 0.75, 0.25]]]], [[[[1.0, 2.0, -12.0]], [[3.0, 6.0, 6.0]]]])

[GridGenerator/affine] data is (batch, 6), the rows of a 2 x 3 matrix that is multiplied with (x, y, 1) for every
    place of target_shape, (height, width), both positive; x and y go from -1 to 1. The only place on a side of 1 is
    -1.
    >>> run("GridGenerator", [[1, 2, 3, 4, 5, 6]], transform_type="affine", target_shape=(2, 3))
    [[[[0.0, 1.0, 2.0], [4.0, 5.0, 6.0]], [[-3.0, 1.0, 5.0], [7.0, 11.0, 15.0]]]]
    >>> run("GridGenerator", [[1, 0, 0, 0, 1, 0]], transform_type="affine", target_shape=(1, 2))
    [[[[-1.0, 1.0]], [[-1.0, -1.0]]]]

[GridGenerator/warp] data is (batch, 2, height, width): how many pixels each place moves to the right and downwards:
    2 (x + move) / (width - 1) - 1, where a side of 1 counts as if it were 2.
    >>> run("GridGenerator", [[[[1, 1, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, 1]]]], transform_type="warp")
    [[[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]], [[1.0, 1.0, 1.0], [3.0, 3.0, 3.0]]]]

[GridGenerator/gradient] affine: products of heads and (x, y, 1), summed in double precision; warp: 2 head / (side - 1).
    >>> head = [[[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]]
    >>> grad("GridGenerator", [[1, 2, 3, 4, 5, 6]], transform_type="affine", target_shape=(2, 3), head=head)
    [[4.0, 9.0, 15.0, 4.0, 9.0, 51.0]]

[SpatialTransformer/composition] BilinearSampler of data, with the grid that GridGenerator makes of loc, affine.
    >>> AFFINE = {"transform_type": "affine", "sampler_type": "bilinear"}
    >>> run("SpatialTransformer", image, [[0.5, 0.1, 0.2, 0, 1, 0.1]], target_shape=(2, 3), **AFFINE)
    [[[[1.9, 2.4, 2.9], [7.02, 7.47, 7.92]]]]

[SpatialTransformer/gradient] goes through both.
    >>> options = {"target_shape": (2, 3), "head": [[[[0, 1, 2], [3, 4, 5]]]], "dtype": "float64", **AFFINE}
    >>> grad("SpatialTransformer", image, [[0.5, 0.1, 0.2, 0, 1, 0.1]], **options)[1]
    [[3.8, 7.8, 13.8, -14.6, -109.6, -91.6]]

[BilinearSampler/precision] places, weights and sums are in double precision.
    >>> run("BilinearSampler", [[[[1e8, 1], [-1e8, 1]]]], [[[[0]], [[0]]]])
    [[[[0.5]]]]

[BilinearSampler/types] inputs are of one floating-point type.
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from .foundation import (
    REQUIRED,
    UNKNOWN,
    Case,
    Loop,
    Op,
    Shape,
    Sources,
    items,
    merge,
    register,
    require,
    same_type,
    scalar,
    scratch,
    steps,
)


class Params(NamedTuple):
    cudnn_off: bool | None = None


class GridParams(NamedTuple):
    transform_type: Literal["affine", "warp"]
    target_shape: Shape = (0, 0)


class TransformerParams(NamedTuple):
    target_shape: Shape = (0, 0)
    transform_type: Literal["affine"] = REQUIRED
    sampler_type: Literal["bilinear"] = REQUIRED
    cudnn_off: bool | None = None


def infer(p, ins, outs):
    out = merge("BilinearSampler/places", "output", outs[0], (UNKNOWN,) * 4)
    data = merge("BilinearSampler/places", "data", ins[0], (*out[:2], UNKNOWN, UNKNOWN))
    grid = merge("BilinearSampler/places", "grid", ins[1], (data[0], 2, *out[2:]))
    out = merge("BilinearSampler/places", "output", out, (grid[0], data[1], *grid[2:]))
    return [(out[0], *data[1:]), (out[0], *grid[1:])], [out]


def require_target(p):
    require(
        "GridGenerator/affine", len(p.target_shape) == 2 and min(p.target_shape) > 0,
        f"target_shape {p.target_shape} must be two positive numbers, height and width",
    )


def infer_grid(p, ins, outs):
    if p.transform_type == "warp":
        data = merge("GridGenerator/warp", "data", ins[0], (UNKNOWN, 2, UNKNOWN, UNKNOWN))
        data = merge("GridGenerator/warp", "output", outs[0], data)
        return [data], [data]
    require_target(p)
    data = merge("GridGenerator/affine", "data", ins[0], (UNKNOWN, 6))
    out = merge("GridGenerator/affine", "output", outs[0], (data[0], 2, *p.target_shape))
    return [(out[0], 6)], [out]


def infer_transformer(p, ins, outs):
    require_target(p)
    out = merge("SpatialTransformer/composition", "output", outs[0], (UNKNOWN, UNKNOWN, *p.target_shape))
    data = merge("SpatialTransformer/composition", "data", ins[0], (*out[:2], UNKNOWN, UNKNOWN))
    loc = merge("SpatialTransformer/composition", "loc", ins[1], (data[0], 6))
    out = merge("SpatialTransformer/composition", "output", out, (loc[0], data[1], UNKNOWN, UNKNOWN))
    return [(out[0], *data[1:]), (out[0], 6)], [out]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "BilinearSampler/types", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- loops --------------------------------------------------------------------------------------
# data is (batch, channels, height, width), out (batch, channels, high, wide), grid (batch, 2, high, wide): x, then y.


@scalar
def inside(value, side):
    """Whether a place touches the image at all; NaN does not."""
    return value >= -1 and value < side


@scalar
def before(value):
    """The last pixel at or before a place."""
    return int(math.floor(value))  # noqa: RUF046  # floor gives a real number on CUDA


@scalar
def spot(value, side):
    """Where a number from -1 to 1 lies between the pixels of a side."""
    return (np.float64(value) + 1) * (side - 1) / 2


@scalar
def pixel(data, n, c, y, x):
    """data[n, c, y, x], or 0 outside the image."""
    if 0 <= y < data.shape[2] and 0 <= x < data.shape[3]:
        return np.float64(data[n, c, y, x])
    return np.float64(0)


def sample(data, grid, out):
    _, channels, height, width = data.shape
    for n, i, j in items(out.shape[:1] + out.shape[2:]):
        x, y = spot(grid[n, 0, i, j], width), spot(grid[n, 1, i, j], height)
        seen = inside(x, width) and inside(y, height)
        left, top = before(x) if seen else 0, before(y) if seen else 0
        right, lower = x - left, y - top
        for c in range(channels):
            value = np.float64(0)
            if seen:
                above = pixel(data, n, c, top, left) * (1 - right) + pixel(data, n, c, top, left + 1) * right
                below = pixel(data, n, c, top + 1, left) * (1 - right) + pixel(data, n, c, top + 1, left + 1) * right
                value = above * (1 - lower) + below * lower
            out[n, c, i, j] = value


def sample_back(head, grid, d_data):
    _, _, height, width = d_data.shape
    for n, c in items(d_data.shape[:2]):
        for y, x in steps(d_data.shape[2:]):
            d_data[n, c, y, x] = 0
        for i, j in steps(head.shape[2:]):
            x, y = spot(grid[n, 0, i, j], width), spot(grid[n, 1, i, j], height)
            if inside(x, width) and inside(y, height):
                left, top = before(x), before(y)
                right, lower = x - left, y - top
                for down, across in steps((2, 2)):
                    row, column = top + down, left + across
                    if 0 <= row < height and 0 <= column < width:
                        share = (lower if down else 1 - lower) * (right if across else 1 - right)
                        d_data[n, c, row, column] += head[n, c, i, j] * share


def sample_slopes(head, data, grid, d_grid):
    _, channels, height, width = data.shape
    for n, i, j in items(head.shape[:1] + head.shape[2:]):
        x, y = spot(grid[n, 0, i, j], width), spot(grid[n, 1, i, j], height)
        across, down = np.float64(0), np.float64(0)
        if inside(x, width) and inside(y, height):
            left, top = before(x), before(y)
            right, lower = x - left, y - top
            for c in range(channels):
                a, b = pixel(data, n, c, top, left), pixel(data, n, c, top, left + 1)
                d, e = pixel(data, n, c, top + 1, left), pixel(data, n, c, top + 1, left + 1)
                across += head[n, c, i, j] * ((b - a) * (1 - lower) + (e - d) * lower)
                down += head[n, c, i, j] * ((d - a) * (1 - right) + (e - b) * right)
        d_grid[n, 0, i, j] = across * (width - 1) / 2
        d_grid[n, 1, i, j] = down * (height - 1) / 2


@scalar
def spread(index, side):
    """Place ``index`` of ``side`` between -1 and 1."""
    return np.float64(2.0 * index) / max(side - 1, 1) - 1


def affine(loc, grid):
    """grid[n, k] = row k of the matrix loc[n] times (x, y, 1)."""
    _, _, high, wide = grid.shape
    for n, k, i, j in items(grid.shape):
        grid[n, k, i, j] = loc[n, k, 0] * spread(j, wide) + loc[n, k, 1] * spread(i, high) + loc[n, k, 2]


def affine_back(head, d_loc):
    """d_loc[n, k, m] = sum over i, j of head[n, k, i, j] times number m of (x, y, 1)."""
    _, _, high, wide = head.shape
    for n, k, m in items(d_loc.shape):
        total = np.float64(0)
        for i, j in steps(head.shape[2:]):
            total += head[n, k, i, j] * (spread(j, wide) if m == 0 else spread(i, high) if m == 1 else 1.0)
        d_loc[n, k, m] = total


def warp(flow, grid):
    _, _, high, wide = grid.shape
    for n, k, i, j in items(grid.shape):
        index, side = (j, wide) if k == 0 else (i, high)
        grid[n, k, i, j] = spread(index + flow[n, k, i, j], side)


def warp_back(head, d_flow):
    _, _, high, wide = head.shape
    for n, k, i, j in items(head.shape):
        side = wide if k == 0 else high
        d_flow[n, k, i, j] = head[n, k, i, j] * 2.0 / max(side - 1, 1)


SAMPLE, SAMPLE_BACK, SAMPLE_SLOPES = Loop(sample), Loop(sample_back), Loop(sample_slopes)
AFFINE_GRID, AFFINE_BACK, WARP, WARP_BACK = Loop(affine), Loop(affine_back), Loop(warp), Loop(warp_back)


# --- the operators ------------------------------------------------------------------------------


def forward(p, data, grid, out):
    SAMPLE(data, grid, out)


def backward(p, head, data, grid, d_data, d_grid):
    if d_data is not None:
        SAMPLE_BACK(head, grid, d_data)
    if d_grid is not None:
        SAMPLE_SLOPES(head, data, grid, d_grid)


def matrices(loc):
    """Rows of six numbers as 2 x 3 matrices."""
    return loc.reshape((loc.shape[0], 2, 3))


def forward_grid(p, data, out):
    if p.transform_type == "affine":
        AFFINE_GRID(matrices(data), out)
    else:
        WARP(data, out)


def backward_grid(p, head, d_data):
    if d_data is None:
        return
    if p.transform_type == "affine":
        AFFINE_BACK(head, matrices(d_data))
    else:
        WARP_BACK(head, d_data)


def forward_transformer(p, data, loc, out):
    n, _, high, wide = out.shape
    (grid,) = scratch(loc, 2 * n * high * wide)
    grid = grid.reshape((n, 2, high, wide))
    AFFINE_GRID(matrices(loc), grid)
    forward(p, data, grid, out)


def backward_transformer(p, head, data, loc, d_data, d_loc):
    n, _, high, wide = head.shape
    grid, d_grid = (made.reshape((n, 2, high, wide)) for made in scratch(loc, *[2 * n * high * wide] * 2))
    AFFINE_GRID(matrices(loc), grid)
    backward(p, head, data, grid, d_data, None if d_loc is None else d_grid)
    if d_loc is not None:
        AFFINE_BACK(d_grid, matrices(d_loc))


def cases(draw):
    data = draw.shape(4, 4)
    return Case({}, {"data": data, "grid": (data[0], 2, *draw.shape(2, 2))})


def cases_grid(draw):
    if draw.boolean():
        return Case({"transform_type": "warp"}, {"data": (draw.integer(1, 2), 2, *draw.shape(2, 2))})
    return Case({"transform_type": "affine", "target_shape": draw.shape(2, 2)}, {"data": (draw.integer(1, 3), 6)})


def cases_transformer(draw):
    target = draw.choice((1, 2, 3, 5)), draw.choice((1, 2, 3, 5))  # places without rounding
    params = {"transform_type": "affine", "sampler_type": "bilinear", "target_shape": target}
    return Case(params, {"data": draw.shape(4, 4)}, {"loc": "unit"})


BILINEAR = {"transform_type": "affine", "sampler_type": "bilinear"}
register(Op(
    name="BilinearSampler", doc=__doc__, params=Params, inputs=("data", "grid"), infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, needs=("data", "grid"), cases=cases,
    refusals={
        "BilinearSampler/places": {"params": {}, "shapes": {"data": (1, 1, 3, 3), "grid": (1, 3, 2, 2)}},
        "BilinearSampler/types": {
            "params": {}, "shapes": {"data": (1, 1, 3, 3), "grid": (1, 2, 2, 2)}, "dtypes": {"data": "int32"},
        },
    },
    tier=2, reports=Sources(whole=True),
))
register(Op(
    name="GridGenerator", doc=__doc__, params=GridParams, infer=infer_grid, infer_type=infer_type,
    forward=forward_grid, backward=backward_grid, cases=cases_grid,
    refusals={
        "GridGenerator/affine": {"params": {"transform_type": "affine"}, "shapes": {"data": (1, 6)}},
        "GridGenerator/warp": {"params": {"transform_type": "warp"}, "shapes": {"data": (1, 3, 2, 2)}},
    },
    tier=2, reports=Sources(),
))
register(Op(
    name="SpatialTransformer", doc=__doc__, params=TransformerParams, inputs=("data", "loc"), infer=infer_transformer,
    infer_type=infer_type, forward=forward_transformer, backward=backward_transformer, needs=("data", "loc"),
    cases=cases_transformer,
    refusals={
        "SpatialTransformer/composition": {
            "params": {**BILINEAR, "target_shape": (2, 2)}, "shapes": {"data": (1, 1, 3, 3), "loc": (1, 4)},
        },
    },
    tier=2, reports=Sources(whole=True),
))
