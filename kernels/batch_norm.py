"""BatchNorm: out = gamma * (data - mean) / sqrt(variance + eps) + beta, channel by channel.

[BatchNorm/training] in training mean and variance are those of the batch, over every axis but
    ``axis``; the variance is the biased one, divided by the count.
    >>> run("BatchNorm", [[1], [3]], [2], [10], [0], [1], fix_gamma=False, eps=0, is_train=True)
    [[8.0], [12.0]]

[BatchNorm/evaluation] in evaluation, and always with use_global_stats, they are moving_mean and
    moving_var.
    >>> run("BatchNorm", [[1], [3]], [2], [10], [5], [4], fix_gamma=False, eps=0)
    [[6.0], [8.0]]

[BatchNorm/fix-gamma] with fix_gamma (the default) gamma is set to 1 in its own array, and its
    gradient is zero.
    >>> run("BatchNorm", [[1], [3]], [2], [10], [0], [1], eps=0, is_train=True)
    [[9.0], [11.0]]
    >>> grad("BatchNorm", [[1], [2], [6]], [2], [10], [0], [1], eps=0, head=[[1], [0], [0]])[1]
    [0.0]

[BatchNorm/outputs] with output_mean_var two more outputs are visible: the mean that was used, and
    var, which is 1 / sqrt(variance + eps).
    >>> run("BatchNorm", [[1], [5]], [1], [0], [0], [1], eps=0, output_mean_var=True, is_train=True)
    ([[-1.0], [1.0]], [3.0], [0.5])

[BatchNorm/gradient] in training the gradient goes through mean and variance; with moving statistics
    these are constants. Head gradients of mean and var are ignored.
    >>> options = {"fix_gamma": False, "eps": 0, "head": [[1], [2]], "is_train": False}
    >>> grad("BatchNorm", [[1], [3]], [2], [0], [5], [4], **options)[:3]
    ([[1.0], [2.0]], [-4.0], [3.0])
    >>> options = {"fix_gamma": False, "eps": 4, "head": [[1], [0], [0], [0]]}
    >>> grad("BatchNorm", [[-3], [-1], [1], [3]], [1], [0], [0], [1], **options)[0]
    [[0.166667], [-0.111111], [-0.055556], [0.0]]

[BatchNorm/moving-average] backward in training moves them: new = momentum * old + (1 - momentum) *
    batch. Forward does not, use_global_stats does not, and two backward passes move them twice.

[BatchNorm/shape] the output has data's shape; either is inferred from the other.

[BatchNorm/channel-shape] gamma, beta, moving_mean and moving_var are (channels,); unknown ones are
    inferred.

[BatchNorm/axis] axis lies in -rank .. rank - 1.
    >>> run("BatchNorm", [[1, 3]], [1], [0], [0], [1], axis=0, eps=0, is_train=True)
    [[-1.0, 1.0]]

[BatchNorm/sum-order] sums over a channel are made in double precision, in C order (a tuned twin may
    order them otherwise, the same way on every run); the variance sums squared differences to the
    mean.
    >>> options = {"eps": 0, "output_mean_var": True, "is_train": True}
    >>> run("BatchNorm", [[1e8], [1], [-1e8]], [1], [0], [0], [1], **options)[1]
    [0.333333]

[BatchNorm/types] float16 data keeps float32 gamma, beta and statistics; otherwise all have data's
    type.
"""

from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    Case,
    Loop,
    Op,
    Sources,
    decides,
    items,
    merge,
    normal_axis,
    refusal,
    register,
    scratch,
    steps,
)


class Params(NamedTuple):
    eps: float = 0.0010000000474974513
    momentum: float = 0.899999976
    fix_gamma: bool = True
    use_global_stats: bool = False
    output_mean_var: bool = False
    axis: int = 1
    cudnn_off: bool = False
    min_calib_range: float | None = None
    max_calib_range: float | None = None


INPUTS = ("data", "gamma", "beta", "moving_mean", "moving_var")


def infer(p, ins, outs):
    data = merge("BatchNorm/shape", "data", ins[0], outs[0])
    channels = (UNKNOWN,)
    if data is not None:
        axis = normal_axis("BatchNorm/axis", p.axis, len(data))
        channels = (data[axis],)
    for name, shape in zip((*INPUTS[1:], "mean", "var"), [*ins[1:], *outs[1:]], strict=True):
        channels = merge("BatchNorm/channel-shape", name, shape, channels)
    if data is not None:
        data = (*data[:axis], *channels, *data[axis + 1 :])
    return [data] + [channels] * 4, [data, channels, channels]


def infer_type(p, ins, outs):
    half, single = np.dtype(np.float16), np.dtype(np.float32)
    data = ins[0] if ins[0] is not None else outs[0]
    rest = next((t for t in [*ins[1:], *outs[1:]] if t is not None), None)
    if data is None and rest is not None and rest != single:
        data = rest
    if data is not None:
        rest = single if data == half else data
    for given, wanted in zip([*ins, *outs], [data] + [rest] * 4 + [data, rest, rest], strict=True):
        if given is not None and wanted is not None and given != wanted:
            raise refusal(
                "BatchNorm/types", f"data is {data}, so {wanted} was expected where {given} was given"
            )
    return [data] + [rest] * 4, [data, rest, rest]


def by_channel(p, *arrays):
    """The arrays, which have data's shape, as (outer, channels, inner)."""
    shape = arrays[0].shape
    axis = p.axis % len(shape)
    sides = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    return [array.reshape(sides) for array in arrays]


# --- loops --------------------------------------------------------------------------------------
# data is (outer, channels, inner); inverse is 1 / sqrt(variance + eps).


def set_to_one(gamma, n):
    for i in items(n):
        gamma[i] = 1


def batch_statistics(data, mean, inverse, eps):
    """mean[c] = mean of data[o, c, j] over the places (o, j), variance = mean of (data[o, c, j] - mean[c])^2."""
    outer, channels, inner = data.shape
    for c in items(channels):
        total = np.float64(0)
        for o, j in steps((outer, inner)):
            total += data[o, c, j]
        centre = total / (outer * inner)
        total = np.float64(0)
        for o, j in steps((outer, inner)):
            total += (data[o, c, j] - centre) * (data[o, c, j] - centre)
        mean[c] = centre
        inverse[c] = 1.0 / sqrt(total / (outer * inner) + eps)


def moving_statistics(moving_mean, moving_var, mean, inverse, channels, eps):
    for c in items(channels):
        mean[c] = moving_mean[c]
        inverse[c] = 1.0 / sqrt(moving_var[c] + eps)


def normalise(data, gamma, beta, mean, inverse, out):
    """out[o, c, j] = (data[o, c, j] - mean[c]) . (gamma[c] . inverse[c]) + beta[c]."""
    for o, c, j in items(out.shape):
        out[o, c, j] = (data[o, c, j] - mean[c]) * (gamma[c] * inverse[c]) + beta[c]


def head_sums(head, data, mean, inverse, sums):
    """sums[c] = sum of head[o, c, j] and sum of head[o, c, j] . (data[o, c, j] - mean[c]) . inverse[c] over (o, j)."""
    outer, channels, inner = data.shape
    for c in items(channels):
        centre = np.float64(mean[c])
        total = np.float64(0)
        dot = np.float64(0)
        for o, j in steps((outer, inner)):
            total += head[o, c, j]
            dot += head[o, c, j] * (data[o, c, j] - centre)
        sums[c, 0] = total
        sums[c, 1] = dot * inverse[c]


def through_batch(head, data, gamma, mean, inverse, sums, d_data):
    """d_data = (head - sums[c, 0] / count - (data - mean) . inverse . sums[c, 1] / count) . (gamma . inverse)."""
    outer, channels, inner = data.shape
    for o, c in items((outer, channels)):
        centre = mean[c]
        factor = gamma[c] * inverse[c]
        level = sums[c, 0] / (outer * inner)
        slope = sums[c, 1] * inverse[c] / (outer * inner)
        for j in range(inner):
            d_data[o, c, j] = (head[o, c, j] - level - (data[o, c, j] - centre) * slope) * factor


def through_constants(head, gamma, inverse, d_data):
    """d_data[o, c, j] = head[o, c, j] . (gamma[c] . inverse[c])."""
    for o, c, j in items(d_data.shape):
        d_data[o, c, j] = head[o, c, j] * (gamma[c] * inverse[c])


def pick_sums(sums, out, which, wanted):
    """out = the sum of head (which = 0) or of head * normalised data (1); zero where not wanted."""
    for c in items(sums.shape[0]):
        out[c] = sums[c, which] if wanted else 0.0


def move(moving_mean, moving_var, mean, inverse, channels, momentum, rest, eps):
    for c in items(channels):
        variance = 1.0 / (np.float64(inverse[c]) * inverse[c]) - eps
        moving_mean[c] = moving_mean[c] * momentum + mean[c] * rest
        moving_var[c] = moving_var[c] * momentum + variance * rest


SET_TO_ONE, MOVE = Loop(set_to_one), Loop(move)
BATCH_STATISTICS = Loop(batch_statistics)
MOVING_STATISTICS = Loop(moving_statistics)
NORMALISE = Loop(normalise)
HEAD_SUMS, PICK_SUMS = Loop(head_sums), Loop(pick_sums)
THROUGH_BATCH, THROUGH_CONSTANTS = Loop(through_batch), Loop(through_constants)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, gamma, beta, moving_mean, moving_var, out, mean, var, *, is_train):
    data, out = by_channel(p, data, out)
    if p.fix_gamma:
        SET_TO_ONE(gamma, gamma.size)
    if is_train and not p.use_global_stats:
        BATCH_STATISTICS(data, mean, var, p.eps)
    else:
        MOVING_STATISTICS(moving_mean, moving_var, mean, var, mean.size, p.eps)
    NORMALISE(data, gamma, beta, mean, var, out)


@decides("BatchNorm/moving-average")
def backward(p, head, *others, is_train):
    *_, data, gamma, mean, var, moving_mean, moving_var, d_data, d_gamma, d_beta, _, _ = others
    head, data = by_channel(p, head, data)
    batch, channels = is_train and not p.use_global_stats, gamma.size
    if p.fix_gamma:
        SET_TO_ONE(gamma, channels)
    (sums,) = scratch(data, 2 * channels, dtype=np.float64)
    sums = sums.reshape((channels, 2))
    HEAD_SUMS(head, data, mean, var, sums)
    if d_data is not None and batch:
        THROUGH_BATCH(head, data, gamma, mean, var, sums, d_data.reshape(data.shape))
    elif d_data is not None:
        THROUGH_CONSTANTS(head, gamma, var, d_data.reshape(data.shape))
    if d_gamma is not None:
        PICK_SUMS(sums, d_gamma, 1, not p.fix_gamma)
    if d_beta is not None:
        PICK_SUMS(sums, d_beta, 0, True)
    if batch:
        momentum = np.float32(p.momentum)
        rest = float(np.float32(1) - momentum)
        MOVE(moving_mean, moving_var, mean, var, channels, float(momentum), rest, p.eps)


def cases(draw):
    data = draw.shape(2, 4)
    params = {
        "fix_gamma": draw.boolean(), "use_global_stats": draw.boolean(),
        "output_mean_var": draw.boolean(), "axis": draw.integer(-len(data), len(data) - 1),
        "eps": draw.choice((0.001, 0.5)), "momentum": draw.choice((0.5, 0.9)),
    }
    # numeric slopes know no heads that are ignored: mean and var are seen where they are constants
    params["output_mean_var"] &= params["use_global_stats"]
    return Case(params, {"data": data}, {"data": "apart", "moving_var": "positive"})


register(Op(
    name="BatchNorm", doc=__doc__, params=Params, inputs=INPUTS, outputs=("output", "mean", "var"),
    hidden=2, visible=lambda p: 3 if p.output_mean_var else 1, aux=("moving_mean", "moving_var"),
    infer=infer, infer_type=infer_type, forward=forward, backward=backward, mode=True,
    needs=("data", "gamma", "mean", "var", "moving_mean", "moving_var"),
    mutates=("gamma", "moving_mean", "moving_var"), inplace=((0, 0),),
    inplace_backward=(("head", "data"),), cases=cases,
    initial_attrs={"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'},
    refusals={
        "BatchNorm/channel-shape": {"params": {}, "shapes": {"data": (2, 3), "gamma": (2,)}},
        "BatchNorm/axis": {"params": {"axis": 2}, "shapes": {"data": (2, 3)}},
        "BatchNorm/types": {
            "params": {}, "shapes": {"data": (2, 3)},
            "dtypes": {"data": "float64", "gamma": "float32"},
        },
    },
    tier=1, reports=Sources(1), type_of_data=True, color="#bebada", keeps_rank=True,
    difference_clauses={"": "BatchNorm/evaluation", "channels-swapped": "BatchNorm/channel-shape"},
))
