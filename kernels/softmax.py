"""softmax, softmin, log_softmax, SoftmaxActivation: exponentials along an axis that add up to one.

[softmax/formula] y_i = exp(x_i) / sum_j exp(x_j) along axis, computed after subtracting the largest x, so
    that large numbers do not overflow. softmin takes -x, log_softmax the logarithm of y.
    >>> run("softmax", [[0, 0], [1000, -1000]]), run("softmax", [[5], [5]], axis=0)
    ([[0.5, 0.5], [1.0, 0.0]], [[0.5], [0.5]])
    >>> run("softmin", [0, 1, 2]), run("log_softmax", [2, 2])
    ([0.665241, 0.244728, 0.090031], [-0.693147, -0.693147])

[softmax/axis] axis is an axis of data; it may count from the end.

[softmax/temperature] x is divided by temperature first, which is not 0.
    >>> run("softmax", [[0, 1, 2]], temperature=2)
    [[0.186324, 0.307196, 0.50648]]

[softmax/length] with use_length a second input, as long as data without axis, says how many leading elements
    count; the others give 0 and take no gradient. A length is cut to 0 .. side.
    >>> import numpy as np
    >>> run("softmax", [[0, 1, 2], [3, 1, -1]], np.array([2, 0], "int32"), use_length=True)
    [[0.268941, 0.731059, 0.0], [0.0, 0.0, 0.0]]
    >>> run("softmax", [[0, 0], [0, 0]], np.array([9, -1], "int32"), use_length=True)
    [[0.5, 0.5], [0.0, 0.0]]

[softmax/length-type] lengths are of an integer type; int32 where nothing else is known.

[softmax/length-input] log_softmax and softmin take no lengths.

[softmax/type] data is of a floating type; the result is of type dtype, or else of the type of data.

[softmax/sum-order] exponentials are of the type of data; they are added in order, in double precision, and so are
    the terms of the gradient, each of the type of data. Along the last axis a tuned twin in float32 adds them in
    sixteen partial sums, of every sixteenth, and one of the elements at the end that do not fill sixteen; its
    exponentials are wrong by up to 1.04 units in the last place, and it multiplies by 1 / sum.
    >>> run("log_softmax", [0] + 40 * [-17.5])[0]
    -1e-06

[softmax/gradient] d_x_i = (head_i - sum_j head_j y_j) y_i / temperature, negated for softmin;
    for log_softmax (head_i - exp(y_i) sum_j head_j) / temperature.
    >>> grad("softmax", [[0, 1, 2]], head=[[1, 2, 4]])
    [[-0.201709, -0.303574, 0.505283]]
    >>> grad("softmin", [[0, 1, 2]], temperature=2, head=[[1, 2, 4]])
    [[0.219348, -0.020556, -0.198792]]
    >>> grad("log_softmax", [[0, 1, 2]], temperature=2, head=[[1, 0, 0]])
    [[0.406838, -0.153598, -0.25324]]

[SoftmaxActivation/mode] instance: softmax over the last axis; channel: over axis 1, where data has rank 3
    or more.
    >>> run("SoftmaxActivation", [[[0, 1], [2, 4]]])
    [[[0.268941, 0.731059], [0.119203, 0.880797]]]
    >>> run("SoftmaxActivation", [[[0, 1], [2, 4]]], mode="channel")
    [[[0.119203, 0.047426], [0.880797, 0.952574]]]

[SoftmaxActivation/gradient] the gradient is that of softmax over the same axis, in either mode.
    >>> grad("SoftmaxActivation", [[[0, 1], [0, 0]]], head=[[[0, 1], [0, 0]]])
    [[[-0.196612, 0.196612], [0.0, 0.0]]]
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from .foundation import (
    Case,
    Loop,
    Op,
    Sources,
    items,
    merge,
    normal_axis,
    register,
    require,
    same_shape,
    scratch,
)
from .foundation.loops import outer_side_inner, zero
from .shared.terms import Term

FloatType = Literal["float16", "float32", "float64"]


class Params(NamedTuple):
    axis: int = -1
    temperature: float | None = None
    dtype: FloatType | None = None
    use_length: bool | None = False


class ActivationParams(NamedTuple):
    mode: Literal["instance", "channel"] = "instance"


# --- shapes and types ---------------------------------------------------------------------------


def inputs(p):
    return ("data", "length") if p.use_length else ("data",)


def infer(p, ins, outs):
    require("softmax/temperature", p.temperature != 0, "temperature must not be 0")
    data = merge("softmax/axis", "data", ins[0], outs[0])
    if data is None:
        return ins, outs
    axis = normal_axis("softmax/axis", p.axis, len(data))
    length = [
        merge("softmax/length", "length", given, (*data[:axis], *data[axis + 1 :]) or (1,))
        for given in ins[1:]
    ]
    return [data, *length], [data]


def infer_without_length(p, ins, outs):
    require("softmax/length-input", not p.use_length, "use_length is for softmax only")
    return infer(p, ins, outs)


def infer_type(p, ins, outs):
    out = np.dtype(p.dtype) if p.dtype is not None else ins[0] if ins[0] is not None else outs[0]
    data = ins[0] if ins[0] is not None else out
    require(
        "softmax/type", data is None or data.kind == "f",
        f"softmax needs data of a floating type, given {data}; use Cast",
    )
    length = [np.dtype("int32") if given is None else given for given in ins[1:]]
    require(
        "softmax/length-type", all(kind.kind in "iu" for kind in length),
        f"length must be of an integer type, given {length}; use Cast",
    )
    return [data, *length], [out]


def infer_activation(p, ins, outs):
    (data,), (out,) = same_shape("SoftmaxActivation/mode")(p, ins, outs)
    require(
        "SoftmaxActivation/mode", data is None or p.mode == "instance" or len(data) >= 3,
        f"mode='channel' needs data of rank 3 or more, given {data and list(data)}",
    )
    return [data], [out]


# --- loops --------------------------------------------------------------------------------------
# Data is read as (outer, side, inner), and length as (outer, inner): the rows run along side.


def softmax(data, out, length, scale, limited):
    outer, side, inner = data.shape
    for n, j in items((outer, inner)):
        limit = side
        if limited:
            limit = min(max(np.int64(length[n, j]), 0), side)
            for i in range(limit, side):
                out[n, i, j] = 0
        top = data[n, 0, j] * scale
        for i in range(1, limit):
            top = max(top, data[n, i, j] * scale)
        total = np.float64(0)
        for i in range(limit):
            power = math.exp(data[n, i, j] * scale - top)
            out[n, i, j] = power
            total += power
        for i in range(limit):
            out[n, i, j] /= total


def log_softmax(data, out, scale):
    outer, side, inner = data.shape
    for n, j in items((outer, inner)):
        top = data[n, 0, j] * scale
        for i in range(1, side):
            top = max(top, data[n, i, j] * scale)
        total = np.float64(0)
        for i in range(side):
            total += math.exp(data[n, i, j] * scale - top)
        less = math.log(total)
        for i in range(side):
            out[n, i, j] = data[n, i, j] * scale - top - less


def softmax_slope(head, out, d_data, length, scale, limited):
    outer, side, inner = out.shape
    for n, j in items((outer, inner)):
        limit = side
        if limited:
            limit = min(max(np.int64(length[n, j]), 0), side)
            for i in range(limit, side):
                d_data[n, i, j] = 0
        mean = np.float64(0)
        for i in range(limit):
            mean += head[n, i, j] * out[n, i, j]
        for i in range(limit):
            d_data[n, i, j] = (head[n, i, j] - mean) * out[n, i, j] * scale


def log_softmax_slope(head, out, d_data, scale):
    outer, side, inner = out.shape
    for n, j in items((outer, inner)):
        total = np.float64(0)
        for i in range(side):
            total += head[n, i, j]
        for i in range(side):
            d_data[n, i, j] = (head[n, i, j] - math.exp(out[n, i, j]) * total) * scale


SOFTMAX, SOFTMAX_SLOPE = Loop(softmax), Loop(softmax_slope)
LOG_SOFTMAX, LOG_SOFTMAX_SLOPE = Loop(log_softmax), Loop(log_softmax_slope)


# --- the operators ------------------------------------------------------------------------------


def scale_of(p):
    return 1.0 if p.temperature is None else 1.0 / p.temperature


def lengths_of(length, like, sides):
    """``length`` under the axes of the loops, and whether there is one: something stands for it where there is none."""
    if length is None:
        return scratch(like, 1, dtype=np.int32)[0].reshape((1, 1)), False
    return length.reshape((sides[0], sides[2])), True


def along(sides, *arrays):
    return tuple(array.reshape(sides) for array in arrays)


def fill_shares(data, out, sides, scale=1.0, length=None):
    """softmax of data read under three axes."""
    any_length, limited = lengths_of(length, data, sides)
    SOFTMAX(*along(sides, data, out), any_length, scale, limited)


def fill_slope(head, out, d_data, sides, scale=1.0, length=None):
    """The gradient of softmax under three axes."""
    any_length, limited = lengths_of(length, head, sides)
    SOFTMAX_SLOPE(*along(sides, head, out, d_data), any_length, scale, limited)


def softmax_with(sign):
    def forward(p, data, length, out):
        sides = outer_side_inner(data.shape, p.axis % len(data.shape))
        fill_shares(data, out, sides, sign * scale_of(p), length)

    def backward(p, head, length, out, d_data, d_length):
        zero(d_length)
        if d_data is not None:
            sides = outer_side_inner(head.shape, p.axis % len(head.shape))
            fill_slope(head, out, d_data, sides, sign * scale_of(p), length)

    return forward, backward


forward, backward = softmax_with(1.0)
forward_negative, backward_negative = softmax_with(-1.0)


def forward_min(p, data, out):
    forward_negative(p, data, None, out)


def backward_min(p, head, out, d_data):
    backward_negative(p, head, None, out, d_data, None)


def forward_log(p, data, out):
    sides = outer_side_inner(data.shape, p.axis % len(data.shape))
    LOG_SOFTMAX(*along(sides, data, out), scale_of(p))


def backward_log(p, head, out, d_data):
    if d_data is not None:
        sides = outer_side_inner(head.shape, p.axis % len(head.shape))
        LOG_SOFTMAX_SLOPE(*along(sides, head, out, d_data), scale_of(p))


def composed(slope):
    """The gradient of a page made of operators, which can be differentiated again."""

    def gradient(make, p, heads, inputs, outputs):
        data, head, out = (Term(make, entry, stretch=True) for entry in (inputs[0], heads[0], outputs[0]))
        found = slope(p, head, out)
        if getattr(p, "dtype", None) is not None:
            found = found._backward_Cast(data, dtype=p.dtype)
        return [found.entry, None][: len(inputs)]

    return gradient


def softmax_rule(h, y, axis, scale):
    return (h - (h * y).sum(axis=axis, keepdims=True)) * y * scale


gradient = composed(lambda p, h, y: softmax_rule(h, y, p.axis, scale_of(p)))
gradient_min = composed(lambda p, h, y: softmax_rule(h, y, p.axis, -scale_of(p)))
gradient_log = composed(
    lambda p, h, y: (h - y.exp() * h.sum(axis=p.axis, keepdims=True)) * scale_of(p)
)
gradient_activation = composed(lambda p, h, y: softmax_rule(h, y, 1 if p.mode == "channel" else -1, 1))


def activation_sides(p, shape):
    shape = shape or (1,)  # a number alone is a row of one
    return outer_side_inner(shape, 1 if p.mode == "channel" else len(shape) - 1)


def forward_activation(p, data, out):
    fill_shares(data, out, activation_sides(p, data.shape))


def backward_activation(p, head, out, d_data):
    if d_data is not None:
        fill_slope(head, out, d_data, activation_sides(p, head.shape))


def cases_without_length(draw):
    shape = draw.shape(1, 4)
    params = {
        "axis": draw.integer(-len(shape), len(shape) - 1),
        "temperature": draw.choice([None, 2.0, 0.5]),
        "dtype": draw.choice([None, "float64"]),
    }
    return Case(params, {"data": shape})


def cases(draw):
    case = cases_without_length(draw)
    return case._replace(
        params={**case.params, "use_length": draw.boolean()}, values={"length": ("ints", -1, 5)}
    )


def cases_activation(draw):
    return Case({"mode": draw.choice(["instance", "channel"])}, {"data": draw.shape(3, 4)})


register(Op(
    name="softmax", doc=__doc__, params=Params, inputs=inputs, all_inputs=("data", "length"),
    infer=infer, infer_type=infer_type, forward=forward, backward=backward, gradient=gradient,
    needs=("length", "output"), no_gradient=("length",), cases=cases,
    refusals={
        "softmax/axis": {"params": {"axis": 2}, "shapes": {"data": (2, 3)}},
        "softmax/temperature": {"params": {"temperature": 0}, "shapes": {"data": (2, 3)}},
        "softmax/length": {
            "params": {"use_length": True}, "shapes": {"data": (2, 3), "length": (3,)},
        },
        "softmax/length-type": {
            "params": {"use_length": True}, "shapes": {"data": (2, 3)},
            "dtypes": {"data": "float32", "length": "float32"},
        },
        "softmax/type": {"params": {}, "shapes": {"data": (2, 3)}, "dtypes": {"data": "int32"}},
    },
    tier=1, method="softmax", reports=Sources(1),
))
WITHOUT_LENGTH = {
    "doc": __doc__, "params": Params, "infer": infer_without_length, "infer_type": infer_type,
    "needs": ("output",), "cases": cases_without_length,
    "refusals": {
        "softmax/length-input": {"params": {"use_length": True}, "shapes": {"data": (2, 3)}},
    },
}
register(Op(
    name="softmin", forward=forward_min, backward=backward_min, gradient=gradient_min, **WITHOUT_LENGTH,
    tier=1, method="softmin", numbered_input=True,
))
register(Op(
    name="log_softmax", forward=forward_log, backward=backward_log, gradient=gradient_log, **WITHOUT_LENGTH,
    tier=1, method="log_softmax",
))
register(Op(
    name="SoftmaxActivation", doc=__doc__, params=ActivationParams, infer=infer_activation,
    forward=forward_activation, backward=backward_activation, needs=("output",),
    gradient=gradient_activation,
    cases=cases_activation,
    refusals={
        "SoftmaxActivation/mode": {"params": {"mode": "channel"}, "shapes": {"data": (2, 3)}},
    },
    tier=1, numbered_input=True,
))
