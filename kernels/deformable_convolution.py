"""Convolution whose taps read where learnt offsets lead them: _contrib_DeformableConvolution and its modulated kin.

[_contrib_DeformableConvolution/value] as Convolution in two dimensions, but tap (i, j) of output (y, x) reads
    data at (y stride - pad + i dilate + a, x stride - pad + j dilate + b), where a and b are channels 2 t and
    2 t + 1 of offset at (y, x), t = i width + j.
    >>> still, half = [[[[0, 0]], [[0, 0]]]], [[[[0, 0]], [[.5, -1]]]]
    >>> run("_contrib_DeformableConvolution", [[[[1, 3]]]], still, [[[[2]]]], [1], kernel=(1, 1), num_filter=1)
    [[[[3.0, 7.0]]]]
    >>> run("_contrib_DeformableConvolution", [[[[1, 3]]]], half, [[[[2]]]], [1], kernel=(1, 1), num_filter=1)
    [[[[5.0, 3.0]]]]

[_contrib_DeformableConvolution/between-pixels] between pixels values are bilinear. Before the first pixel of
    an axis they are 0; for one pixel behind the last one they are that pixel's, then 0.
    >>> edge = [[[[0, 0]], [[-.5, .5]]]]
    >>> run("_contrib_DeformableConvolution", [[[[1, 3]]]], edge, [[[[2]]]], kernel=(1, 1), num_filter=1, no_bias=True)
    [[[[0.0, 6.0]]]]

[_contrib_DeformableConvolution/groups] weight and channels fall into num_group groups, as in Convolution.
    Channels fall into num_deformable_group groups too, each with offsets of its own, in order. Numbers must
    divide evenly.

[_contrib_DeformableConvolution/shapes] data (batch, channels, height, width), weight (num_filter, channels /
    num_group, *kernel), bias (num_filter,), none with no_bias. The output's size is Convolution's, and offset
    is (batch, 2 num_deformable_group kernel taps, *output size).

[_contrib_DeformableConvolution/lengths] kernel has two sides; stride, dilate (1 unless given) and pad (0) as
    many, positive ones but for pad. The dilated kernel fits into the padded data. layout is None or NCHW.

[_contrib_DeformableConvolution/floating-point] all inputs have one floating-point type.

[_contrib_DeformableConvolution/gradient] all inputs have one. Where the value has a kink in an offset, the
    slope towards higher offsets counts; outside the map, and behind the last pixel along its axis, it is 0.
    >>> grad("_contrib_DeformableConvolution", [[[[1, 3]]]], half, [[[[2]]]], [1], kernel=(1, 1), num_filter=1)
    ([[[[3.0, 1.0]]]], [[[[0.0, 0.0]], [[4.0, 4.0]]]], [[[[3.0]]]], [2.0])

[_contrib_DeformableConvolution/sum-order] forward adds products in the order channel, kernel offsets, and the
    bias last; the gradient of weight is summed in double precision, rounded after every image.

[_contrib_ModulatedDeformableConvolution/value] _contrib_DeformableConvolution where channel t of mask at (y,
    x) multiplies what tap t reads. mask is (batch, num_deformable_group kernel taps, *output size).
    im2col_step has no effect.
    >>> run("_contrib_ModulatedDeformableConvolution", [[[[1, 3]]]], still, [[[[.5, 2]]]], [[[[2]]]], [1],
    ...     kernel=(1, 1), num_filter=1)
    [[[[2.0, 13.0]]]]

[_contrib_ModulatedDeformableConvolution/groups] num_filter must be divisible by num_deformable_group here.

[_contrib_ModulatedDeformableConvolution/edges] here all pixels outside the map are 0, and values are bilinear
    between them too.
    >>> run("_contrib_ModulatedDeformableConvolution", [[[[1, 3]]]], edge, [[[[1, 1]]]], [[[[2]]]], kernel=(1, 1),
    ...     num_filter=1, no_bias=True)
    [[[[1.0, 3.0]]]]

[_contrib_ModulatedDeformableConvolution/gradient] all inputs have one; mask gets what its tap read, weighed
    by heads.
    >>> grad("_contrib_ModulatedDeformableConvolution", [[[[1, 3]]]], half, [[[[.5, 1]]]], [[[[2]]]], [1],
    ...      kernel=(1, 1), num_filter=1)
    ([[[[2.5, 0.5]]]], [[[[-2.0, -2.0]], [[2.0, 4.0]]]], [[[[4.0, 2.0]]]], [[[[2.0]]]], [2.0])
"""

from functools import lru_cache
from math import prod
from typing import Annotated, Literal, NamedTuple

from .convolution import ADD_BIAS, GATHER_BIAS
from .foundation import REQUIRED, UNKNOWN, AtLeast, Case, Long, Op, Shape, merge, register, require, scratch, told
from .foundation.facts import Sources
from .shared.boxes import floating
from .shared.convolution_geometry import planes
from .shared.deformable_sampling import (
    GATHER_WEIGHT,
    MASK_BACK,
    MOVE_BACK,
    MULTIPLY,
    MULTIPLY_BACK,
    SAMPLE,
    SAMPLE_BACK,
    Geometry,
)

SHAPES = "_contrib_DeformableConvolution/shapes"
Layout = Literal["NCDHW", "NCHW", "NCW"]


class Params(NamedTuple):
    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()
    num_filter: Annotated[int, AtLeast(1)] = REQUIRED
    num_group: Annotated[int, AtLeast(1)] = 1
    num_deformable_group: Annotated[int, AtLeast(1)] = 1
    workspace: Annotated[Long, AtLeast(0)] = 1024
    no_bias: bool = False
    layout: Layout | None = None


class ModulatedParams(NamedTuple):
    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()
    num_filter: Annotated[int, AtLeast(1)] = REQUIRED
    num_group: Annotated[int, AtLeast(1)] = 1
    num_deformable_group: Annotated[int, AtLeast(1)] = 1
    workspace: Annotated[Long, AtLeast(0)] = 1024
    no_bias: bool = False
    im2col_step: Annotated[int, AtLeast(0)] = 64
    layout: Layout | None = None


def steps(p):
    """Stride, dilate and pad, with their defaults."""
    return p.stride or (1, 1), p.dilate or (1, 1), p.pad or (0, 0)


def is_modulated(p):
    return hasattr(p, "im2col_step")


def inputs(p):
    names = ("data", "offset", "mask", "weight", "bias")
    return tuple(
        n for n in names if (n != "mask" or is_modulated(p)) and not (n == "bias" and p.no_bias)
    )


def require_params(p):
    numbers = (p.kernel, *steps(p))
    require(
        "_contrib_DeformableConvolution/lengths",
        all(len(n) == 2 for n in numbers) and min(min(n) for n in numbers[:3]) > 0
        and min(numbers[3]) >= 0 and p.layout in (None, "NCHW"),
        f"kernel, stride, dilate, pad {numbers} must hold two numbers each, and layout be NCHW",
    )
    require(
        "_contrib_DeformableConvolution/groups", p.num_filter % p.num_group == 0,
        f"num_filter {p.num_filter} must be divisible by num_group {p.num_group}",
    )
    require(
        "_contrib_ModulatedDeformableConvolution/groups",
        not is_modulated(p) or p.num_filter % p.num_deformable_group == 0,
        f"num_filter {p.num_filter} must be divisible by num_deformable_group {p.num_deformable_group}",
    )


def infer(p, ins, outs):
    require_params(p)
    given = dict(zip(inputs(p), ins, strict=True))
    taps, moves = p.kernel[0] * p.kernel[1], p.num_deformable_group
    data, out = given["data"], outs[0]
    require(SHAPES, data is None or len(data) == 4, f"data {data} must have 4 axes")
    batch, channels, *image = data or (UNKNOWN,) * 4
    require(
        "_contrib_DeformableConvolution/groups",
        channels != 0 and channels % p.num_group == 0 and channels % moves == 0,
        f"{channels} channels must be divisible by num_group {p.num_group} and num_deformable_group {moves}",
    )
    sizes = []
    for size, kernel, stride, dilate, pad in zip(image, p.kernel, *steps(p), strict=True):
        rest = size + 2 * pad - dilate * (kernel - 1) - 1
        require(
            "_contrib_DeformableConvolution/lengths", not told(size) or rest >= 0,
            f"kernel {p.kernel} with dilate {steps(p)[1]} is larger than data {data} with pad {steps(p)[2]}",
        )
        sizes.append(rest // stride + 1)
    out = merge(SHAPES, "output", out, (batch, p.num_filter, *sizes))
    offset = merge(SHAPES, "offset", given["offset"], (out[0], 2 * moves * taps, *out[2:]))
    found = {"offset": offset, "data": (offset[0], channels, *image) if data is not None else None}
    if is_modulated(p):
        wanted = (offset[0], moves * taps, *offset[2:])
        found["mask"] = merge(SHAPES, "mask", given["mask"], wanted)
    wanted = (p.num_filter, channels // p.num_group, *p.kernel)
    found["weight"] = merge(SHAPES, "weight", given["weight"], wanted)
    if not p.no_bias:
        found["bias"] = merge(SHAPES, "bias", given["bias"], (p.num_filter,))
    return [found[n] for n in inputs(p)], [(offset[0], p.num_filter, *offset[2:])]


# --- the operators; their loops are in deformable_sampling.py --------------------------------------


@lru_cache(maxsize=512)
def geometry(p, channels):
    """What the loops that sample need to know."""
    stride, dilate, pad = steps(p)
    modulated = is_modulated(p)
    return Geometry(
        channels // p.num_deformable_group, *stride, *pad, *dilate, edges=not modulated, masked=modulated,
    )


class Views(NamedTuple):
    """The shapes under which loops see the arrays of a call."""

    offset: Shape
    mask: Shape
    sampled: Shape
    """Columns, for the loops that sample."""
    columns: Shape
    """Columns, for products."""
    weight: Shape
    out: Shape


@lru_cache(maxsize=512)
def views(p, data, out):
    """The :class:`Views` for these shapes; what stands for a mask that is not there has twice as many groups."""
    batch, filters, *pixels = out
    moves, taps = p.num_deformable_group, data[1] // p.num_group * prod(p.kernel)
    groups = moves if is_modulated(p) else 2 * moves
    return Views(
        (batch, moves, *p.kernel, 2, *pixels), (batch, groups, *p.kernel, *pixels), (data[1], *p.kernel, *pixels),
        (p.num_group, taps, prod(pixels)), (p.num_group, filters // p.num_group, taps),
        (batch, p.num_group, filters // p.num_group, prod(pixels)),
    )


def forward(p, data, offset, mask, weight, bias, out):
    g, v = geometry(p, data.shape[1]), views(p, data.shape, out.shape)
    (columns,) = scratch(data, prod(v.columns))
    offset, mask = offset.reshape(v.offset), (offset if mask is None else mask).reshape(v.mask)
    for n in range(data.shape[0]):
        SAMPLE(data, offset, mask, columns.reshape(v.sampled), n, g)
        MULTIPLY(weight.reshape(v.weight), columns.reshape(v.columns), out.reshape(v.out), n)
    if bias is not None:
        ADD_BIAS(bias, planes(out))


def backward(p, head, data, offset, mask, weight, d_data, d_offset, d_mask, d_weight, d_bias):
    g, v = geometry(p, data.shape[1]), views(p, data.shape, head.shape)
    (columns,) = scratch(data, prod(v.columns))
    sampled, columns = columns.reshape(v.sampled), columns.reshape(v.columns)
    offset, mask = offset.reshape(v.offset), (offset if mask is None else mask).reshape(v.mask)
    heads = head.reshape(v.out)
    for n in range(data.shape[0]):
        if d_weight is not None:
            SAMPLE(data, offset, mask, sampled, n, g)
            GATHER_WEIGHT(heads, columns, d_weight.reshape(v.weight), n)
        MULTIPLY_BACK(weight.reshape(v.weight), heads, columns, n)
        if d_data is not None:
            SAMPLE_BACK(sampled, offset, mask, d_data, n, g)
        if d_offset is not None:
            MOVE_BACK(sampled, data, offset, mask, d_offset.reshape(v.offset), n, g)
        if d_mask is not None:
            MASK_BACK(sampled, data, offset, d_mask.reshape(v.mask), n, g)
    if d_bias is not None:
        GATHER_BIAS(planes(head), d_bias)


def forward_unmasked(p, data, offset, weight, bias, out):
    forward(p, data, offset, None, weight, bias, out)


def backward_unmasked(p, head, data, offset, weight, d_data, d_offset, d_weight, d_bias):
    backward(p, head, data, offset, None, weight, d_data, d_offset, None, d_weight, d_bias)


def cases_of(modulated):
    def cases(draw):
        groups, moves = draw.integer(1, 2), draw.integer(1, 2)
        kernel, pad, stride, dilate = (
            (draw.integer(*bounds), draw.integer(*bounds)) for bounds in ((1, 3), (0, 1), (1, 2), (1, 2))
        )
        sizes = tuple(
            max(1, e * (k - 1) + 1 - 2 * b) + draw.integer(0, 2)
            for k, e, b in zip(kernel, dilate, pad, strict=True)
        )
        params = {
            "kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "num_group": groups,
            "num_deformable_group": moves, "no_bias": draw.boolean(),
            "num_filter": groups * (moves if modulated else 1) * draw.integer(1, 2),
        }
        return Case(params, {"data": (draw.integer(1, 2), groups * moves * draw.integer(1, 2), *sizes)})

    return cases


def refused(dtype="float32", offset=(1, 18, 3, 3), **params):
    shapes = {"data": (1, 2, 5, 5), "offset": offset}
    params = {"kernel": (3, 3), "num_filter": 2, **params}
    return {"params": params, "shapes": shapes, "dtypes": dict.fromkeys(shapes, dtype)}


REFUSALS = {
    "_contrib_DeformableConvolution/groups": refused(num_group=3, num_filter=3),
    "_contrib_DeformableConvolution/lengths": refused(stride=(2,)),
    SHAPES: refused(offset=(1, 9, 3, 3)),
    "_contrib_DeformableConvolution/floating-point": refused(dtype="int32"),
}


COMMON = {
    "doc": __doc__, "inputs": inputs, "infer": infer,
    "infer_type": floating("_contrib_DeformableConvolution/floating-point"),
}
register(Op(
    name="_contrib_DeformableConvolution", params=Params, all_inputs=("data", "offset", "weight", "bias"),
    forward=forward_unmasked, backward=backward_unmasked, needs=("data", "offset", "weight"),
    cases=cases_of(modulated=False), refusals=REFUSALS, **COMMON,
    tier=2, reports=Sources(1, whole=True),
))
register(Op(
    name="_contrib_ModulatedDeformableConvolution", params=ModulatedParams,
    all_inputs=("data", "offset", "mask", "weight", "bias"), forward=forward, backward=backward,
    needs=("data", "offset", "mask", "weight"), cases=cases_of(modulated=True), refusals={
        **REFUSALS,
        "_contrib_ModulatedDeformableConvolution/groups": refused(num_filter=3, num_deformable_group=2),
    }, **COMMON,
    tier=3,
))
