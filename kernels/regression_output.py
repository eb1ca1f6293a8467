"""LinearRegressionOutput, MAERegressionOutput, LogisticRegressionOutput: a prediction with its loss.

[RegressionOutput/table] outputs are data, data and the logistic function of data; with x the output and l the
    label, the slopes are x - l (half the squared error), the sign of x - l (the absolute error; -1 where
    both are equal) and x - l (cross-entropy).
    >>> run("LinearRegressionOutput", [[1], [3]], [0, 5]), run("LogisticRegressionOutput", [[0]], [1])
    ([[1.0], [3.0]], [[0.5]])
    >>> grad("MAERegressionOutput", [[1], [2], [3]], [0, 2, 5])[0]
    [[1.0], [-1.0], [-1.0]]

[RegressionOutput/gradient] the slope is multiplied by grad_scale and divided by the number of outputs of one
    sample, not by the batch. The head is ignored; label takes no gradient.
    >>> grad("LinearRegressionOutput", [[1, 2], [3, 4]], [[0, 2], [5, 4]], grad_scale=4)
    ([[2.0, 0.0], [-4.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    >>> grad("LogisticRegressionOutput", [[0, 0]], [[0, 1]])[0]
    [[0.25, -0.25]]

[RegressionOutput/label-shape] label has as many samples (axis 0) and elements as data. An unknown label takes
    the shape of data, but (n,) for data of shape (n, 1).
"""

import math
from math import prod
from typing import NamedTuple

from .foundation import Case, Loop, Op, Sources, items, known, merge, register, require, scalar
from .foundation.loops import zero


class Params(NamedTuple):
    grad_scale: float = 1.0


def infer(p, ins, outs):
    data, label = merge("RegressionOutput/table", "data", ins[0], outs[0]), ins[1]
    if known(data):
        require("RegressionOutput/label-shape", len(data), "data has no axes; give (samples, ...)")
        default = data[:1] if len(data) == 2 and data[1] == 1 else data
        if label is None or (len(label) == len(default) and not known(label)):
            label = merge("RegressionOutput/label-shape", "label", label, default)
        require(
            "RegressionOutput/label-shape",
            not known(label) or (label[:1] == data[:1] and prod(label) == prod(data)),
            f"label of shape {list(label)} does not belong to data of shape {list(data)},"
            f" expected {list(default)}",
        )
    return [data, label], [data]


# --- the formulas: the output, and its slope given the label -------------------------------------


@scalar
def identity(x):
    return x


@scalar
def logistic(x):
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    power = math.exp(x)
    return power / (1 + power)


@scalar
def difference(x, label):
    return x - label


@scalar
def side_of(x, label):
    return 1 if x > label else -1


# --- loops --------------------------------------------------------------------------------------


def predict(data, out, n):
    for i in items(n):
        out[i] = output(data[i])  # noqa: F821  # bound by Loop(predict, output=...)


def descend(out, label, d_data, n, scale):
    for i in items(n):
        d_data[i] = slope(out[i], label[i]) * scale  # noqa: F821  # bound by Loop


# --- the table ----------------------------------------------------------------------------------

TABLE = (
    ("LinearRegressionOutput", identity, difference),
    ("MAERegressionOutput", identity, side_of),
    ("LogisticRegressionOutput", logistic, difference),
)


def _register(name, output, slope):
    outputs, slopes = Loop(predict, output=output), Loop(descend, slope=slope)

    def forward(p, data, label, out):
        outputs(data, out, data.size)

    def backward(p, label, out, d_data, d_label):
        zero(d_label)
        if d_data is not None:
            slopes(out, label, d_data, out.size, p.grad_scale / prod(out.shape[1:]))

    register(Op(
        name=name, doc=__doc__, params=Params, ignores_unknown=True, inputs=("data", "label"), infer=infer,
        forward=forward, backward=backward, needs=("label", "output"), no_gradient=("label",),
        loss=True, differentiable=False, inplace=((0, 0),), aliases=(f"_sparse_{name}",),
        cases=lambda draw: Case(
            {"grad_scale": draw.choice([1, 0.5])}, {"data": draw.shape(1, 3)},
        ),
        refusals={
            "RegressionOutput/label-shape": {
                "params": {}, "shapes": {"data": (2, 3), "label": (3, 2)},
            },
        },
        tier=1, reports=Sources(1, whole=True),
    ))


for row in TABLE:
    _register(*row)
