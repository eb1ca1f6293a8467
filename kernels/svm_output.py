"""SVMOutput: data as it is, with the gradient of a one-against-rest hinge loss.

[SVMOutput/gradient] the class of the label wants data above margin, every other class wants it below -margin.
    With use_linear a class that misses takes a slope of regularization_coefficient, otherwise twice that
    times the distance by which it misses; those that reach take 0. Nothing is divided by the batch, the
    head is ignored, label takes no gradient.
    >>> run("SVMOutput", [[1, 0.5, -2]], [0])
    [[1.0, 0.5, -2.0]]
    >>> grad("SVMOutput", [[1, 0.5, -2], [0, -0.5, 0.75]], [0, 2])[0]
    [[0.0, 3.0, 0.0], [2.0, 1.0, -0.5]]
    >>> grad("SVMOutput", [[0.75, 0.5, -2]], [0], use_linear=True, regularization_coefficient=3)[0]
    [[-3.0, 3.0, 0.0]]
    >>> grad("SVMOutput", [[0, 0.25]], [0], margin=0.5)
    ([[-1.0, 1.5]], [0.0])

[SVMOutput/label] labels are cut to whole numbers; one outside 0 .. classes - 1 makes every class a wrong one.
    >>> grad("SVMOutput", [[0, 0.5], [0, 0]], [7, 1.9])[0]
    [[2.0, 3.0], [2.0, -2.0]]

[SVMOutput/label-shape] label has the shape of data without its last axis, along which the classes lie; an
    unknown label is inferred, any other refused.
"""

from typing import NamedTuple

from .foundation import Case, Loop, Op, Sources, decides, items, merge, register, require
from .foundation.loops import COPY, truncated, zero


class Params(NamedTuple):
    margin: float = 1.0
    regularization_coefficient: float = 1.0
    use_linear: bool = False


def infer(p, ins, outs):
    data, label = merge("SVMOutput/gradient", "data", ins[0], outs[0]), ins[1]
    if data is not None:
        require(
            "SVMOutput/label-shape", len(data) >= 2,
            f"data must have rank 2 or more: samples, then classes last; given {list(data)}",
        )
        label = merge("SVMOutput/label-shape", "label", label, data[:-1])
    return [data, label], [data]


# --- loops --------------------------------------------------------------------------------------


def hinge_slope(out, label, d_data, rows, classes, margin, weight, linear):
    for r in items(rows):
        target = truncated(label[r])
        for j in range(classes):
            at = r * classes + j
            side = -1 if j == target else 1
            missing = margin + side * out[at]
            if missing <= 0:
                d_data[at] = 0
            elif linear:
                d_data[at] = side * weight
            else:
                d_data[at] = 2 * side * weight * missing


HINGE_SLOPE = Loop(hinge_slope)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, label, out):
    COPY(data, out, data.size)


@decides("SVMOutput/label")
def backward(p, label, out, d_data, d_label):
    zero(d_label)
    if d_data is not None:
        classes = out.shape[-1]
        HINGE_SLOPE(
            out, label, d_data, label.size, classes, p.margin, p.regularization_coefficient,
            p.use_linear,
        )


def cases(draw):
    params = {
        "margin": draw.choice([1, 0.5]), "regularization_coefficient": draw.choice([1, 2]),
        "use_linear": draw.boolean(),
    }
    return Case(params, {"data": draw.shape(2, 3)}, {"label": ("ints", -1, 4)})


register(Op(
    name="SVMOutput", doc=__doc__, params=Params, inputs=("data", "label"), infer=infer,
    forward=forward, backward=backward, needs=("label", "output"), no_gradient=("label",), loss=True,
    differentiable=False, inplace=((0, 0),), cases=cases,
    refusals={
        "SVMOutput/label-shape": {"params": {}, "shapes": {"data": (2, 3), "label": (2, 1)}},
    },
    tier=1, reports=Sources(1),
))
