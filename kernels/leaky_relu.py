"""LeakyReLU: x where x > 0; below, a curve that act_type names.

[LeakyReLU/functions] leaky slope * x; elu slope * (e^x - 1); selu 1.0507 * x above and 1.0507 *
    1.6733 * (e^x - 1) below; gelu x * (1 + erf(x / sqrt 2)) / 2 everywhere. How far float32 results of gelu's tuned
    twins may be off stands in tuned/curves.py.
    >>> run("LeakyReLU", [-2, 0, 2]), run("LeakyReLU", [-2, 2], act_type="elu", slope=2)
    ([-0.5, 0.0, 2.0], [-1.729329, 2.0])
    >>> run("LeakyReLU", [-2, 2], act_type="selu"), run("LeakyReLU", [-2, 2], act_type="gelu")
    ([-1.520167, 2.101402], [-0.0455, 1.9545])

[LeakyReLU/prelu] prelu multiplies by gamma, one per channel (axis 1), one per element, or one for all; 1-D data
    takes one each or one.
    >>> run("LeakyReLU", [[-1, -2, -3]], [0.5, 1, 2], act_type="prelu")
    [[-0.5, -2.0, -6.0]]
    >>> grad("LeakyReLU", [[-1, -2, 3], [-4, 5, 6]], [0.5, 1, 2], act_type="prelu")
    ([[0.5, 1.0, 1.0], [0.5, 1.0, 1.0]], [-5.0, -2.0, 0.0])
    >>> run("LeakyReLU", [[-1, -2, 3], [-4, 5, -6]], [[0.5, 1, 2], [3, 4, 5]], act_type="prelu")
    [[-0.5, -2.0, 3.0], [-12.0, 5.0, -30.0]]

[LeakyReLU/gamma-shape] an unknown gamma is inferred as (channels,), which 1-D data does not have. A given one may
    also be (1, channels), (1,), (1, 1) or have data's shape, one per element; any other is refused.

[LeakyReLU/rrelu] in training every element has a slope of its own, lower_bound + (upper_bound -
    lower_bound) * u, drawn as _random_uniform draws and kept in the hidden output mask; in
    evaluation the slope is the mean.
    >>> run("LeakyReLU", [-1, -1, 1], act_type="rrelu", lower_bound=0.25, upper_bound=0.5, is_train=True)
    [-0.387203, -0.398211, 1.0]
    >>> run("LeakyReLU", [-1, -1, 1], act_type="rrelu", lower_bound=0.25, upper_bound=0.5)
    [-0.375, -0.375, 1.0]

[LeakyReLU/at-zero] at 0 the slope is that of the curve below.
    >>> grad("LeakyReLU", [-1, 0, 1])
    [0.25, 0.25, 1.0]

[LeakyReLU/selu-slope] the slope of selu below 0 is 1.0507 * 1.6733 * e^x.
    >>> grad("LeakyReLU", [-2, 2], act_type="selu")
    [0.237933, 1.050701]

[LeakyReLU/parameters] slope and the bounds are rounded to single precision.

[LeakyReLU/gamma-sum] gamma's gradient sums head * x over x <= 0 in double precision, in C order.

[LeakyReLU/shape] the output has the input's shape; either is inferred from the other.
"""

from math import erf, exp, expm1, prod, sqrt
from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Sources, decides, items, merge, register, require, scalar, steps
from .foundation.quirk import declare
from .foundation.shapes import agree
from .multilinear import register_once
from .shared.random_streams import draws, unit_double, unit_single
from .shared.terms import Term

SELU_SCALE = 1.0507009873554804934193349852946
SELU_ALPHA = 1.6732632423543772848170429916717
ROOT_HALF = sqrt(0.5)
DENSITY = 0.3989422804014327  # 1 / sqrt(2 pi)
_SELU = declare(
    "selu-slope", "LeakyReLU/selu-slope", "below 0 the slope of selu is 1.0507 * (1.6733 + y), with y the output",
    "it is no derivative of selu",
)

_PRELU = declare(
    "prelu-in-place", "LeakyReLU/gamma-sum",
    "in an executor the gradient of data overwrites the head, then gamma's gradient reads it: behind a Convolution it"
    " is gamma times the true one",
    "it is no derivative of prelu, and depends on the memory plan",
)


class Params(NamedTuple):
    act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu"] = "leaky"
    slope: float = 0.25
    lower_bound: float = 0.125
    upper_bound: float = 0.333999991


def inputs(p):
    return ("data", "gamma") if p.act_type == "prelu" else ("data",)


def outputs(p):
    return ("output", "mask") if p.act_type == "rrelu" else ("output",)


def needs(p):
    return ("data", *inputs(p)[1:], *outputs(p)[1:])


def gamma_shape(data, gamma):
    """The shape of gamma, as far as one of those that it may have follows from what is known."""
    if data is None:
        return gamma
    require(
        "LeakyReLU/gamma-shape", len(data) > 1 or gamma is not None,
        f"data {list(data)} has no channels (axis 1); give gamma a shape",
    )
    channels = data[1:2] or data
    if gamma is None:
        return channels
    allowed = ((1,), (1, 1), channels, (1, *channels), data)
    fitting = {shape for shape in allowed if len(shape) == len(gamma) and all(map(agree, shape, gamma))}
    if len(fitting) > 1:
        return gamma
    (wanted,) = fitting or {channels if len(gamma) == 1 else data}
    return merge("LeakyReLU/gamma-shape", "gamma", gamma, wanted)


def infer(p, ins, outs):
    data = ins[0]
    for out in outs:
        data = merge("LeakyReLU/shape", "data", data, out)
    return [data, *(gamma_shape(data, gamma) for gamma in ins[1:])], [data] * len(outs)


# --- the formulas -------------------------------------------------------------------------------


@scalar
def leaky(x, slope):
    return slope * x if x <= 0 else x


@scalar
def leaky_slope(x, slope):
    return slope if x <= 0 else 1


@scalar
def elu(x, slope):
    return slope * expm1(x) if x <= 0 else x


@scalar
def elu_slope(x, slope):
    return slope * exp(x) if x <= 0 else 1


@scalar
def selu(x, slope):
    return SELU_SCALE * (SELU_ALPHA * expm1(x) if x <= 0 else x)


@scalar
def selu_slope(x, slope):
    return SELU_SCALE * (SELU_ALPHA * exp(x) if x <= 0 else 1.0)


@scalar
def selu_quirk(x, slope):
    return SELU_SCALE * (SELU_ALPHA + selu(x, slope) if x <= 0 else 1.0)


@scalar
def gelu(x, slope):
    return x * (1.0 + erf(x * ROOT_HALF)) * 0.5


@scalar
def gelu_slope(x, slope):
    return (1.0 + erf(x * ROOT_HALF)) * 0.5 + x * DENSITY * exp(-0.5 * x * x)


# --- loops --------------------------------------------------------------------------------------


def map_one(data, out, n, slope):
    for i in items(n):
        out[i] = formula(data[i], slope)  # noqa: F821  # bound by Loop(map_one, formula=...)


def chain_one(head, data, d_data, n, slope):
    for i in items(n):
        d_data[i] = head[i] * derivative(data[i], slope)  # noqa: F821  # bound by Loop


def map_own(data, mask, out, n):
    """Every element has its own slope."""
    for i in items(n):
        out[i] = leaky(data[i], mask[i])


def chain_own(head, data, mask, d_data, n):
    for i in items(n):
        d_data[i] = head[i] * leaky_slope(data[i], mask[i])


def map_channels(data, gamma, out):
    """out[n, c, i] = data[n, c, i], times gamma[c] where it is not above 0."""
    for n, c, i in items(out.shape):
        out[n, c, i] = leaky(data[n, c, i], gamma[c])


def chain_channels(head, data, gamma, d_data):
    """d_data[n, c, i] = head[n, c, i], times gamma[c] where data is not above 0."""
    for n, c, i in items(d_data.shape):
        d_data[n, c, i] = head[n, c, i] * leaky_slope(data[n, c, i], gamma[c])


def sum_gamma(head, data, d_gamma):
    """d_gamma[c] = sum of head[n, c, i] . data[n, c, i] over the places (n, i) where data is not above 0."""
    for c in items(data.shape[1]):
        total = np.float64(0)
        for n, i in steps((data.shape[0], data.shape[2])):
            if data[n, c, i] <= 0:
                total += head[n, c, i] * data[n, c, i]
        d_gamma[c] = total


def draw_slopes(mask, words, n, span, lower):
    for i in items(n):
        mask[i] = unit(words, i)  # noqa: F821  # bound by Loop(draw_slopes, unit=...)
        mask[i] = mask[i] * span
        mask[i] = mask[i] + lower


def set_slopes(mask, n, slope):
    for i in items(n):
        mask[i] = slope


CURVES = {
    "leaky": (Loop(map_one, formula=leaky), Loop(chain_one, derivative=leaky_slope)),
    "elu": (Loop(map_one, formula=elu), Loop(chain_one, derivative=elu_slope)),
    "selu": (Loop(map_one, formula=selu), Loop(chain_one, derivative=selu_slope)),
    "gelu": (Loop(map_one, formula=gelu), Loop(chain_one, derivative=gelu_slope)),
}
CHAIN_SELU_QUIRK = Loop(chain_one, derivative=selu_quirk)
MAP_OWN, CHAIN_OWN = Loop(map_own), Loop(chain_own)
MAP_CHANNELS, CHAIN_CHANNELS = Loop(map_channels), Loop(chain_channels)
SUM_GAMMA, SET_SLOPES = Loop(sum_gamma), Loop(set_slopes)
DRAW_SLOPES = Loop(draw_slopes, unit=unit_single), Loop(draw_slopes, unit=unit_double)


# --- the operator -------------------------------------------------------------------------------


def by_channel(shape, gamma):
    """The shape of data as (outer, elements of gamma, inner)."""
    if gamma.size == 1:
        return 1, 1, prod(shape)
    if gamma.shape == shape:
        return 1, gamma.size, 1
    return shape[0], shape[1], prod(shape[2:])


def fill_slopes(p, mask, is_train, rng):
    lower, upper = np.float32(p.lower_bound), np.float32(p.upper_bound)
    if is_train:
        fill = DRAW_SLOPES[mask.dtype == np.float64]
        fill(mask, draws(mask, rng), mask.size, float(upper - lower), float(lower))
    else:
        SET_SLOPES(mask, mask.size, float((lower + upper) / np.float32(2)))


@decides("LeakyReLU/parameters")
def forward(p, data, gamma, out, mask=None, *, is_train, rng):
    if gamma is not None:
        sides = by_channel(data.shape, gamma)
        MAP_CHANNELS(data.reshape(sides), gamma, out.reshape(sides))
    elif mask is not None:
        fill_slopes(p, mask, is_train, rng)
        MAP_OWN(data, mask, out, data.size)
    else:
        CURVES[p.act_type][0](data, out, data.size, float(np.float32(p.slope)))


def backward_channels(head, data, gamma, d_data, d_gamma):
    sides, late = by_channel(data.shape, gamma), _PRELU.active
    head, data = head.reshape(sides), data.reshape(sides)
    if d_gamma is not None and not late:  # first, because d_data may overwrite the head
        SUM_GAMMA(head, data, d_gamma)
    if d_data is not None:
        CHAIN_CHANNELS(head, data, gamma, d_data.reshape(sides))
    if d_gamma is not None and late:
        SUM_GAMMA(head, data, d_gamma)


@decides("LeakyReLU/at-zero", "LeakyReLU/gamma-sum")
def backward(p, head, data, *others, is_train):
    *slopes, d_data, d_gamma = others
    if p.act_type == "prelu":
        backward_channels(head, data, slopes[0], d_data, d_gamma)
    elif d_data is not None and p.act_type == "rrelu":
        CHAIN_OWN(head, data, slopes[0], d_data, data.size)
    elif d_data is not None:
        old = p.act_type == "selu" and _SELU.active
        chain = CHAIN_SELU_QUIRK if old else CURVES[p.act_type][1]
        chain(head, data, d_data, data.size, float(np.float32(p.slope)))


# what the slope is below 0, made of operators of the input; exp never sees what it could overflow on
BELOW = {
    "leaky": lambda x, slope: slope,
    "elu": lambda x, slope: slope * x._minimum_scalar(scalar=0).exp(),
    "selu": lambda x, slope: SELU_SCALE * SELU_ALPHA * x._minimum_scalar(scalar=0).exp(),
}


def gradient(make, p, heads, inputs, outputs):
    if p.act_type == "prelu":
        return make("_backward_LeakyReLU", [heads[0], *inputs], **p._asdict())
    head, x = Term(make, heads[0]), Term(make, inputs[0])
    if p.act_type == "gelu":
        slope = (1 + (x * ROOT_HALF).erf()) * 0.5 + x * DENSITY * (-0.5 * x * x).exp()
        return [(head * slope).entry]
    below = x <= 0
    if p.act_type == "rrelu":
        slope_below = Term(make, outputs[1])
    else:
        slope_below = BELOW[p.act_type](x, float(np.float32(p.slope)))
    above = SELU_SCALE if p.act_type == "selu" else 1
    return [(head * (below * slope_below + above * (1 - below))).entry]


def cases_prelu(draw):
    shape = draw.shape(2, 4)
    return Case({"act_type": "prelu"}, {"head": shape, "data": shape}, {"data": "apart"})


def cases(draw):
    act_type = draw.choice(("elu", "gelu", "leaky", "prelu", "rrelu", "selu"))
    params = {"act_type": act_type, "slope": draw.choice((0.25, 0.5, 2.0))}
    shapes = {"data": draw.shape(2, 4)}
    if act_type == "prelu" and draw.boolean():
        data = shapes["data"]
        shapes["gamma"] = draw.choice(((1,), (1, data[1]), data))
    return Case(params, shapes, {"data": "apart"})


leaky_relu = register(Op(
    name="LeakyReLU", doc=__doc__, params=Params, inputs=inputs, all_inputs=("data", "gamma"),
    outputs=outputs, visible=lambda p: 1, infer=infer, forward=forward, backward=backward,
    gradient=gradient, needs=needs, mode=True, random=True, inplace=((0, 0),), inplace_backward=(("head", "data"),),
    cases=cases, initial_attrs={"gamma": '["Constant", {"value": 0.25}]'},
    refusals={
        "LeakyReLU/gamma-shape": {
            "params": {"act_type": "prelu"}, "shapes": {"data": (2, 3), "gamma": (2,)},
        },
    },
    tier=1, reports=Sources(1), color="#ffffb3", keeps_rank=True,
    label="LeakyReLU\n{act_type}",
    difference_clauses={"": "LeakyReLU/functions"},
))
register_once(leaky_relu, cases_prelu)  # for prelu, which is differentiated once
