"""_contrib_quantized_fully_connected, _contrib_quantized_conv, _contrib_quantized_batch_norm: quantized layers.

[quantized_layers/range] A and W are the larger absolute ends of the ranges of data and weight. The int32 output of the
    first two has the range (-R, R), where R = (A / 127) (W / 127) 2^31, all in float32; with uint8 data
    _contrib_quantized_fully_connected has 255 below W. The range of the bias says nothing about that of the output.

[_contrib_quantized_fully_connected/value] the sum of products of whole numbers, as FullyConnected takes them, of which
    32 bits are kept.
    >>> run("_contrib_quantized_fully_connected", np.int8([[1, 2]]), np.int8([[3, 4], [5, 6]]), [-1], [1], [-1], [1],
    ...     num_hidden=2, no_bias=True)
    ([[11.0, 17.0]], [-133144.25], [133144.25])

[_contrib_quantized_fully_connected/bias] the int8 bias has a range of its own, of which B is the larger absolute end.
    It is added as bias ((t / A) (127.5 / W) B / 127.5), cut towards 0, where t is 127.5, or 255.5 for uint8 data.
    >>> run("_contrib_quantized_fully_connected", np.int8([[1, 2]]), np.int8([[3, 4]]), np.int8([-3]), [-1], [1],
    ...     [-2], [1], [-0.5], [0.1], num_hidden=1)
    ([[-84.0]], [-266288.5], [266288.5])

[_contrib_quantized_conv/value] the sums of Convolution on uint8 data and an int8 weight. The int8 bias is added as it
    stands, whatever its range.
    >>> run("_contrib_quantized_conv", np.uint8([[[[1, 200]]]]), np.int8([[[[-3]]]]), np.int8([5]), [-1], [1], [-1],
    ...     [1], [-9], [9], kernel=(1, 1), num_filter=1)
    ([[[[2.0, -595.0]]]], [-133144.25], [133144.25])

[_contrib_quantized_conv/layout] images have two or three sides and channels come first; num_group is 1.

[_contrib_quantized_batch_norm/value] data by the moving statistics of its channel, as int8: x w + b, rounded with
    halves to even, where w = gamma v A / C / sqrt(1 + eps), b = (beta - mean gamma v) 127.5 / C and
    v = 1 / sqrt(var + eps). C is the larger absolute end of the calibrated range, which is that of the output. eps
    counts twice, as in MXNet. uint8 data times 127.5 / 255.5 is rounded first. fix_gamma and all other parameters
    change nothing.
    >>> run("_contrib_quantized_batch_norm", np.int8([[[[100, -20]]]]), [2], [0], [0], [1], [-1], [1],
    ...     min_calib_range=-3, max_calib_range=1, eps=0.1)
    ([[[[61.0, -12.0]]]], [-3.0], [1.0])

[_contrib_quantized_batch_norm/calibrated] min_calib_range and max_calib_range are needed.

[quantized_layers/shape] data, weights and outputs have the shapes of the layers on real numbers, ends of ranges (1,).
    Channels are the axis 1 of data.

[quantized_layers/types] data is int8 or uint8, for _contrib_quantized_conv uint8; weight and bias are int8, all else
    is float32.

[quantized_layers/gradient] all gradients are zero, as in MXNet.
"""

from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from . import convolution, fully_connected
from .batch_norm import Params as NormParams
from .foundation import UNKNOWN, Case, Loop, Op, Sources, items, merge, register, require
from .quantize import calibrated
from .shared.boxes import nothing
from .shared.convolution_geometry import planes, volume
from .shared.quantized import (
    BYTE,
    BYTES,
    REACH_OF_PRODUCTS,
    SINGLE,
    STEPS,
    SUMS,
    UNSIGNED,
    WHOLE,
    WHOLE_STEPS,
    as_int32,
    fill_range,
    ranges,
    reach,
    to_int8,
    types,
)

SHAPE, TYPES = "quantized_layers/shape", "quantized_layers/types"
OUTPUTS = ("output", "min_output", "max_output")
FULL = ("data", "weight", "bias", "min_data", "max_data", "min_weight", "max_weight", "min_bias", "max_bias")
BARE = ("data", "weight", "min_data", "max_data", "min_weight", "max_weight")


def inputs(p):
    return BARE if p.no_bias else FULL


def infer_like(page):
    """An ``infer``: arrays as in the layer of ``page``, ends of ranges after them."""

    def infer(p, ins, outs):
        arrays = 2 if p.no_bias else 3
        found, made = page.infer(p, ins[:arrays], outs[:1])
        return [*found, *ranges(SHAPE, ins[arrays:])], [*made, *ranges(SHAPE, outs[1:])]

    return infer


def infer_conv(p, ins, outs):
    rank = len(p.kernel)
    require(
        "_contrib_quantized_conv/layout", p.num_group == 1 and rank in (2, 3),
        f"_contrib_quantized_conv takes kernels with 2 or 3 sides and num_group=1, not kernel {p.kernel} with"
        f" num_group={p.num_group}; dequantize the data first",
    )
    return infer_like(convolution)(p, ins, outs)


def infer_norm(p, ins, outs):
    require(
        "_contrib_quantized_batch_norm/calibrated", calibrated(p) is not None,
        f"min_calib_range is {p.min_calib_range} and max_calib_range {p.max_calib_range}; both are needed",
    )
    data = merge(SHAPE, "data", ins[0], outs[0])
    require(SHAPE, data is None or len(data) > 1, "data must have at least two axes")
    channels = (UNKNOWN if data is None else data[1],)
    rest = [merge(SHAPE, "a value for each channel", shape, channels) for shape in ins[1:5]]
    return [data, *rest, *ranges(SHAPE, ins[5:])], [data, *ranges(SHAPE, outs[1:])]


def types_of(first):
    """An ``infer_type`` of a layer with an int32 output."""

    def infer_type(p, ins, outs):
        arrays = 2 if p.no_bias else 3
        given = [first, *[(BYTE,)] * (arrays - 1), *[(SINGLE,)] * (2 * arrays)]
        return types(TYPES, given, [(WHOLE,), (SINGLE,), (SINGLE,)])(p, ins, outs)

    return infer_type


# --- loops ----------------------------------------------------------------------------------------


def products(data, weight, out):
    """out[i, j] = sum over t of data[i, t] . weight[j, t]."""
    for i, j in items(out.shape):
        total = np.int64(0)
        for t in range(weight.shape[1]):
            total += np.int64(data[i, t]) * np.int64(weight[j, t])
        out[i, j] = as_int32(total)


class Added(NamedTuple):
    """What the loop that adds a bias reads, beside arrays: the steps of data and of an int8."""

    steps_a: np.float32
    steps: np.float32


def add_bias(bias, low_a, high_a, low_w, high_w, low_b, high_b, out, g: Added):
    by = (g.steps_a / reach(low_a[0], high_a[0])) * (g.steps / reach(low_w[0], high_w[0]))
    scale = by * reach(low_b[0], high_b[0]) / g.steps
    rows, columns = out.shape
    for j in items(columns):
        value = np.float32(bias[j]) * scale
        part = np.int64(value) if abs(value) < 2147483648.0 else np.int64(-2147483648)
        for i in range(rows):
            out[i, j] = as_int32(np.int64(out[i, j]) + part)


class Norm(NamedTuple):
    """What the loop of a batch normalization reads, beside arrays."""

    unsigned: int
    narrow: np.float32
    """What uint8 data is multiplied by."""
    steps: np.float32
    extent: np.float32
    """The larger absolute end of the calibrated range."""
    eps: np.float32


def normalize(data, gamma, beta, mean, var, low, high, out, g: Norm):
    """data is (batch, channels, pixels)."""
    for n, c in items(data.shape[:2]):
        inverse = np.float32(1 / sqrt(np.float64(var[c]) + np.float64(g.eps)))
        again = np.float32(sqrt(np.float32(1) + g.eps))
        weight = gamma[c] * inverse * reach(low[0], high[0]) / g.extent / again
        bias = (beta[c] - mean[c] * gamma[c] * inverse) * g.steps / g.extent
        for i in range(data.shape[2]):
            x = np.float32(data[n, c, i])
            if g.unsigned:
                x = np.float32(to_int8(x * g.narrow))
            out[n, c, i] = to_int8(x * weight + bias)


PRODUCTS, ADD_BIAS, NORMALIZE = Loop(products), Loop(add_bias), Loop(normalize)


# --- the operators --------------------------------------------------------------------------------


def forward_full(p, data, weight, bias, *rest):
    *ends, out, low, high = rest
    n, k = fully_connected.rows_and_columns(p, data.shape)
    rows = out.reshape((n, p.num_hidden))
    PRODUCTS(data.reshape((n, k)), weight, rows)
    if bias is not None:
        ADD_BIAS(bias, *ends, rows, Added(STEPS[data.dtype], STEPS[BYTE]))
    steps = WHOLE_STEPS[BYTE], WHOLE_STEPS[data.dtype]
    REACH_OF_PRODUCTS(*ends[:4], low, high, *steps, SUMS)


def forward_conv(p, data, weight, bias, *rest):
    *ends, out, low, high = rest
    g = convolution.geometry(p, data.shape, out.shape)
    convolution.CONVOLVE(volume(data), volume(weight), volume(out), g)
    if bias is not None:
        convolution.ADD_BIAS(bias, planes(out))
    REACH_OF_PRODUCTS(*ends[:4], low, high, WHOLE_STEPS[BYTE], WHOLE_STEPS[BYTE], SUMS)


def forward_norm(p, data, gamma, beta, mean, var, low_a, high_a, out, low, high):
    found = calibrated(p)
    fill_range(found, low, high)
    with np.errstate(over="ignore"):
        eps = np.float32(p.eps)
    numbers = Norm(
        int(data.dtype == UNSIGNED), STEPS[BYTE] / STEPS[UNSIGNED], STEPS[BYTE], max(abs(found[0]), abs(found[1])), eps,
    )
    planes = (*data.shape[:2], prod(data.shape[2:]))
    NORMALIZE(data.reshape(planes), gamma, beta, mean, var, low_a, high_a, out.reshape(planes), numbers)


RANGES = {
    "min_data": "any", "max_data": "positive", "min_weight": "any", "max_weight": "positive",
    "min_bias": "any", "max_bias": "positive",
}
SIGNED, COUNTED = ("ints", -128, 127), ("ints", 0, 255)


def cases_full(draw):
    case = fully_connected.cases(draw)
    kind = draw.choice(("int8", "uint8"))
    values = {"data": SIGNED if kind == "int8" else COUNTED, "weight": SIGNED, "bias": SIGNED, **RANGES}
    return Case(case.params, case.shapes, values, {"data": kind})


def cases_conv(draw):
    kernel = tuple(draw.integer(1, 3) for _ in range(draw.integer(2, 3)))
    image = tuple(k + draw.integer(0, 2) for k in kernel)
    params = {
        "kernel": kernel, "num_filter": draw.integer(1, 4), "no_bias": draw.boolean(),
        "stride": tuple(draw.integer(1, 2) for _ in kernel), "pad": tuple(draw.integer(0, 1) for _ in kernel),
    }
    values = {"data": COUNTED, "weight": SIGNED, "bias": SIGNED, **RANGES}
    return Case(params, {"data": (draw.integer(1, 2), draw.integer(1, 4), *image)}, values, {"data": "uint8"})


def cases_norm(draw):
    kind = draw.choice(("int8", "uint8"))
    params = {
        "eps": draw.choice((1e-3, 0.1)), "min_calib_range": draw.choice((-1.5, 0)), "max_calib_range": 1.0,
        "fix_gamma": draw.boolean(),
    }
    values = {"data": SIGNED if kind == "int8" else COUNTED, "moving_var": "positive", **RANGES}
    return Case(params, {"data": draw.shape(2, 4)}, values, {"data": kind})


register(Op(
    name="_contrib_quantized_fully_connected", doc=__doc__, params=fully_connected.Params, inputs=inputs,
    all_inputs=FULL, outputs=OUTPUTS, infer=infer_like(fully_connected), infer_type=types_of(BYTES),
    forward=forward_full, gradient=nothing, differentiable=False, cases=cases_full,
    refusals={
        SHAPE: {"params": {"num_hidden": 2}, "shapes": {"data": (1, 2), "min_data": (2,)}},
        TYPES: {"params": {"num_hidden": 2}, "shapes": {"data": (1, 2)}, "dtypes": {"data": "int32"}},
    },
    tier=3, reports=Sources(1),
    runs_alone={"reach_of_products": "the two ends of a range"},
))
register(Op(
    name="_contrib_quantized_conv", doc=__doc__, params=convolution.Params, inputs=inputs, all_inputs=FULL,
    outputs=OUTPUTS, infer=infer_conv, infer_type=types_of((UNSIGNED,)), forward=forward_conv, gradient=nothing,
    differentiable=False, cases=cases_conv,
    refusals={
        "_contrib_quantized_conv/layout": {"params": {"kernel": (2,), "num_filter": 1}, "shapes": {"data": (1, 1, 4)}},
    },
    tier=3, reports=Sources(1),
    runs_alone={"reach_of_products": "the two ends of a range"},
))
register(Op(
    name="_contrib_quantized_batch_norm", doc=__doc__, params=NormParams,
    inputs=("data", "gamma", "beta", "moving_mean", "moving_var", "min_data", "max_data"), outputs=OUTPUTS,
    aux=("moving_mean", "moving_var"), infer=infer_norm,
    infer_type=types(TYPES, [BYTES, *[(SINGLE,)] * 6], [(BYTE,), (SINGLE,), (SINGLE,)]), forward=forward_norm,
    gradient=nothing, differentiable=False, cases=cases_norm,
    refusals={
        "_contrib_quantized_batch_norm/calibrated": {"params": {"min_calib_range": 0}, "shapes": {"data": (1, 2)}},
    },
    tier=3, reports=Sources(1),
))
