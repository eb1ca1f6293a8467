"""SoftmaxOutput (Softmax): softmax whose gradient is that of cross-entropy against label.

[SoftmaxOutput/rows] by default each index of the first axis is one row: all its elements share one softmax.
    With preserve_shape the rows run along the last axis, with multi_output along axis 1, once for each
    position of the others. multi_output goes before preserve_shape.
    >>> run("SoftmaxOutput", [[[0, 0], [0, 0]]], [[0, 1]])
    [[[0.25, 0.25], [0.25, 0.25]]]
    >>> run("SoftmaxOutput", [[[0, 0], [0, 0]]], [[0, 1]], preserve_shape=True)
    [[[0.5, 0.5], [0.5, 0.5]]]
    >>> run("SoftmaxOutput", [[[0, 0], [0, 0], [0, 0], [0, 0]]], [[0, 1]], multi_output=True)
    [[[0.25, 0.25], [0.25, 0.25], [0.25, 0.25], [0.25, 0.25]]]

[SoftmaxOutput/label-shape] label has the shape of data without its last axis; with multi_output it is
    (n, positions), or the shape of data without axis 1, or with one element there. An unknown label takes
    the first of these. A label of exactly the shape of data holds probabilities. All else is refused.

[SoftmaxOutput/label-order] row i is compared with element i of label, read flat; without preserve_shape and
    multi_output, data of rank 3 or more has more labels than rows, and the later ones are not compared.
    >>> grad("SoftmaxOutput", [[[0, 0], [0, 0]], [[0, 0], [0, 0]]], [[0, 1], [2, 3]])
    ([[[-0.75, 0.25], [0.25, 0.25]], [[0.25, -0.75], [0.25, 0.25]]], [[0.0, 0.0], [0.0, 0.0]])

[SoftmaxOutput/gradient] d_data = (output - onehot(label)) grad_scale / divisor; the head is ignored, and
    label takes no gradient. Labels are cut to whole numbers; one outside 0 .. classes - 1 is no class at all.
    >>> grad("SoftmaxOutput", [[0, 0], [0, 0]], [0, 1.7], grad_scale=2)
    ([[-1.0, 1.0], [1.0, -1.0]], [0.0, 0.0])
    >>> grad("SoftmaxOutput", [[0, 0], [0, 0]], [2, -1])
    ([[0.5, 0.5], [0.5, 0.5]], [0.0, 0.0])

[SoftmaxOutput/normalization] divisor: 1 for null, the number of labels for batch, and for valid the number
    of labels that are not ignore_label (whether or not use_ignore is set), at least 1. With multi_output
    null divides by the number of positions.
    >>> grad("SoftmaxOutput", [[0, 0], [0, 0]], [0, -1], normalization="batch")[0]
    [[-0.25, 0.25], [0.25, 0.25]]
    >>> grad("SoftmaxOutput", [[0, 0], [0, 0]], [0, -1], normalization="valid")[0]
    [[-0.5, 0.5], [0.5, 0.5]]
    >>> grad("SoftmaxOutput", [[0, 0]] * 3, [0, 1, -1], normalization="valid", grad_scale=8)[0]
    [[-2.0, 2.0], [2.0, -2.0], [2.0, 2.0]]
    >>> grad("SoftmaxOutput", [[[0, 0], [0, 0]]], [[0, 1]], multi_output=True)[0]
    [[[-0.25, 0.25], [0.25, -0.25]]]

[SoftmaxOutput/ignore] with use_ignore a row whose label is ignore_label (both cut to whole numbers) takes a
    zero gradient.
    >>> grad("SoftmaxOutput", [[0, 0], [0, 0]], [0, 1], use_ignore=True, ignore_label=1)[0]
    [[-0.5, 0.5], [0.0, 0.0]]

[SoftmaxOutput/smooth-alpha] the class of the label counts 1 - smooth_alpha instead of 1, each other class
    smooth_alpha / (classes - 1) instead of 0; multi_output knows no smoothing.
    >>> grad("SoftmaxOutput", [[0, 0]], [0], smooth_alpha=0.25)[0]
    [[-0.25, 0.25]]

[SoftmaxOutput/probabilities] for a label of probabilities d_data = (output - label) grad_scale, and no
    other option changes it.
    >>> grad("SoftmaxOutput", [[0, 0]], [[0.25, 0.75]], normalization="batch", grad_scale=2)[0]
    [[0.5, -0.5]]

[SoftmaxOutput/out-grad] with out_grad the gradient is multiplied by the head gradient, which is then needed.
    >>> grad("SoftmaxOutput", [[0, 0]], [0], out_grad=True, head=[[8, 8]])[0]
    [[-4.0, 4.0]]
"""

from functools import lru_cache
from math import prod
from typing import Annotated, Literal, NamedTuple

import numpy as np

from .foundation import (
    AtLeast,
    AtMost,
    Case,
    Loop,
    Op,
    agree,
    decides,
    inputs_only,
    items,
    merge,
    register,
    require,
    scratch,
)
from .foundation.loops import outer_side_inner, truncated, zero
from .softmax import along, fill_shares


class Params(NamedTuple):
    grad_scale: float = 1.0
    ignore_label: float = -1.0
    multi_output: bool = False
    use_ignore: bool = False
    preserve_shape: bool = False
    normalization: Literal["null", "batch", "valid"] = "null"
    out_grad: bool = False
    smooth_alpha: Annotated[float, AtLeast(0), AtMost(1)] = 0.0


def label_shapes(p, data):
    """The shapes that label may have, besides that of data; the first is the default."""
    if not p.multi_output:
        return [data[:-1]] if len(data) > 1 else []
    require("SoftmaxOutput/rows", len(data) >= 2, f"multi_output needs axis 1, given {list(data)}")
    return [(data[0], prod(data[2:])), (data[0], *data[2:]), (data[0], 1, *data[2:])]


def fits(label, shape):
    return len(label) == len(shape) and all(map(agree, label, shape))


def infer(p, ins, outs):
    data = merge("SoftmaxOutput/rows", "data", ins[0], outs[0])
    label = ins[1]
    if data is None:
        return [data, label], [data]
    possible = label_shapes(p, data)
    if label is None:
        return [data, possible[0] if possible else None], [data]
    found = [shape for shape in [data, *possible] if fits(label, shape)]
    require(
        "SoftmaxOutput/label-shape", found,
        f"label of shape {list(label)} does not belong to data of shape {list(data)};"
        f" expected one of {[list(shape) for shape in [*possible, data]]}",
    )
    if len(found) == 1:
        label = merge("SoftmaxOutput/label-shape", "label", label, found[0])
    return [data, label], [data]


# --- loops --------------------------------------------------------------------------------------


def count_valid(label, valid, n, ignore):
    for _ in items(1):
        valid[0] = 0
        for i in range(n):
            if truncated(label[i]) != ignore:
                valid[0] += 1


class Slope(NamedTuple):
    """The options of the gradient; ``on`` is what the class of the label counts, ``off`` what each other class does."""

    scale: float
    on: float
    off: float
    ignore: int
    use_ignore: int
    by_valid: int
    by_head: int


def class_slope(out, label, d_data, valid, head, g: Slope):
    """out, d_data and head are (outer, side, inner); of label, (parts, outer, inner), the first part is compared."""
    outer, side, inner = out.shape
    for n, j in items((outer, inner)):
        target = truncated(label[0, n, j])
        ignored = g.use_ignore and target == g.ignore
        factor = g.scale / max(valid[0], 1) if g.by_valid else g.scale * 1.0
        for i in range(side):
            slope = (out[n, i, j] - (g.on if i == target else g.off)) * factor
            if g.by_head:
                slope *= head[n, i, j]
            d_data[n, i, j] = 0.0 if ignored else slope


def probability_slope(out, label, d_data, n, scale, by_head, head):
    for i in items(n):
        slope = (out[i] - label[i]) * scale
        d_data[i] = slope * head[i] if by_head else slope


COUNT_VALID, CLASS_SLOPE = Loop(count_valid), Loop(class_slope)
PROBABILITY_SLOPE = Loop(probability_slope)


# --- the operator -------------------------------------------------------------------------------


def sides(p, shape):
    """How many rows, of how many classes, at what distance: data read as (outer, side, inner)."""
    if p.multi_output:
        return outer_side_inner(shape, 1)
    if p.preserve_shape:
        return prod(shape[:-1]), shape[-1], 1
    return shape[0], prod(shape[1:]), 1


@lru_cache(maxsize=4096)
def slope_of(p, shape, labels):
    _, side, inner = sides(p, shape)
    alpha = 0.0 if p.multi_output else p.smooth_alpha
    divisor = {"null": inner, "batch": labels, "valid": 1}[p.normalization]
    return Slope(
        scale=p.grad_scale / divisor, on=1.0 - alpha,
        off=alpha / max(side - 1, 1), ignore=int(truncated(p.ignore_label)), use_ignore=int(p.use_ignore),
        by_valid=int(p.normalization == "valid"), by_head=int(p.out_grad),
    )


def forward(p, data, label, out):
    fill_shares(data, out, sides(p, data.shape))


@decides(
    "SoftmaxOutput/label-order", "SoftmaxOutput/normalization", "SoftmaxOutput/ignore",
    "SoftmaxOutput/smooth-alpha", "SoftmaxOutput/probabilities",
)
def backward(p, *buffers):
    *heads, label, out, d_data, d_label = buffers
    head = heads[0] if heads else out
    zero(d_label)
    if d_data is None:
        return
    if label.shape == out.shape:
        PROBABILITY_SLOPE(out, label, d_data, out.size, p.grad_scale, p.out_grad, head)
        return
    g = slope_of(p, out.shape, label.size)
    (valid,) = scratch(out, 1, dtype=np.int64)
    if g.by_valid:
        COUNT_VALID(label, valid, label.size, g.ignore)
    by_axis = outer, _, inner = sides(p, out.shape)
    out, d_data, head = along(by_axis, out, d_data, head)
    label = label.reshape((label.size // max(outer * inner, 1), outer, inner))
    CLASS_SLOPE(out, label, d_data, valid, head, g)


def cases(draw):
    shape = draw.shape(2, 4)
    params = {
        "multi_output": draw.boolean(), "preserve_shape": draw.boolean(),
        "normalization": draw.choice(["null", "batch", "valid"]), "use_ignore": draw.boolean(),
        "ignore_label": draw.choice([-1, 0]), "grad_scale": draw.choice([1, 0.5]),
        "smooth_alpha": draw.choice([0, 0.25]), "out_grad": draw.boolean(),
    }
    return Case(params, {"data": shape}, {"label": ("ints", -1, 4)})


register(Op(
    name="SoftmaxOutput", doc=__doc__, params=Params, inputs=("data", "label"), infer=infer,
    forward=forward, backward=backward, needs=("label", "output"), no_gradient=("label",),
    loss=lambda p: not p.out_grad,
    differentiable=False, inplace=((0, 0),), aliases=("Softmax",), cases=cases,
    refusals={
        "SoftmaxOutput/rows": {"params": {"multi_output": True}, "shapes": {"data": (3,)}},
        "SoftmaxOutput/label-shape": {"params": {}, "shapes": {"data": (2, 3), "label": (3,)}},
    },
    tier=1, reports=inputs_only, type_of_data=True,
    runs_alone={"count_valid": "one count, a single number"},
    difference_clauses={"": "SoftmaxOutput/rows"},
))
