"""softmax_cross_entropy: how unlikely the labels are, summed over a batch.

[softmax_cross_entropy/sum] the sum over all rows of -log(max(p, 1e-8)), where p is the softmax of the row at its
    label; computed in float64 and rounded once, into shape (1,).
    >>> run("softmax_cross_entropy", [[3, 1, 2], [1, 1, 0]], [0, 2])
    [2.269601]

[softmax_cross_entropy/label] a fraction of a label is cut off; a label outside counts as p = 0.
    >>> run("softmax_cross_entropy", [[3, 1, 2], [1, 1, 0]], [-1, 5])
    [36.841362]

[softmax_cross_entropy/shape] data is (rows, classes), label (rows,), both of one type.

[softmax_cross_entropy/gradient] softmax minus the one-hot label, times the head; the bound of 1e-8 is left out.
    >>> grad("softmax_cross_entropy", [[0, 0], [1000, 0]], [1, 1], head=[3])[0]
    [[1.5, -1.5], [3.0, -3.0]]

[softmax_cross_entropy/label-gradient] the gradient of label cannot be asked for.
"""

import math

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, register, require_some, scratch
from .foundation.loops import truncated


def infer(p, ins, outs):
    clause = "softmax_cross_entropy/shape"
    data, label = ins
    data = merge(clause, "data", data, (label[0] if label else UNKNOWN, UNKNOWN))
    label = merge(clause, "label", label, data[:1])
    require_some("a row of data", data[1], label)
    return [data, label], [merge(clause, "output", outs[0], (1,))]


# --- loops --------------------------------------------------------------------------------------


def lose(data, label, losses):
    rows, classes = data.shape
    for r in items(rows):
        largest = data[r, 0]
        for c in range(1, classes):
            largest = max(largest, data[r, c])
        total = np.float64(0)
        for c in range(classes):
            total += math.exp(np.float64(data[r, c]) - largest)
        index = truncated(label[r])
        likely = np.float64(0)
        if 0 <= index < classes:
            likely = math.exp(np.float64(data[r, index]) - largest) / total
        losses[r] = -math.log(max(likely, 1e-8))


def add_up(losses, out, rows):
    for _ in items(1):
        total = np.float64(0)
        for r in range(rows):
            total += losses[r]
        out[0] = total


def blame(data, label, head, d_data):
    rows, classes = data.shape
    for r in items(rows):
        largest = data[r, 0]
        for c in range(1, classes):
            largest = max(largest, data[r, c])
        total = np.float64(0)
        for c in range(classes):
            total += math.exp(np.float64(data[r, c]) - largest)
        index = truncated(label[r])
        for c in range(classes):
            likely = math.exp(np.float64(data[r, c]) - largest) / total
            d_data[r, c] = head[0] * (likely - (1.0 if c == index else 0.0))


LOSE, ADD_UP, BLAME = Loop(lose), Loop(add_up), Loop(blame)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, label, out):
    (losses,) = scratch(data, data.shape[0], dtype=np.float64)
    LOSE(data, label, losses)
    ADD_UP(losses, out, data.shape[0])


def backward(p, head, data, label, d_data, d_label):
    if d_data is not None:
        BLAME(data, label, head, d_data)


def cases(draw):
    shape = draw.shape(2, 2)
    return Case({}, {"data": shape}, {"label": ("labels", shape[1])})


register(Op(
    name="softmax_cross_entropy", doc=__doc__, inputs=("data", "label"), infer=infer, forward=forward,
    backward=backward, needs=("data", "label"),
    refuses_gradient={"label": "softmax_cross_entropy/label-gradient"}, cases=cases,
    refusals={
        "softmax_cross_entropy/shape": {"shapes": {"data": (2, 3), "label": (3,)}},
    },
    tier=1,
    runs_alone={"add_up": "one sum, a single number, in the order of the rows"},
))
