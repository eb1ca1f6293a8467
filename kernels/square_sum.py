"""_square_sum: the sum of squares over axes, made for the rows of row_sparse gradients.

[square_sum/values] squares are summed over axis (parameters as those of sum: all axes by default), in the order of
    reduce/sum-order and double precision, and rounded once.
    >>> run("_square_sum", [[1, 2], [0, 0], [3, 4]], axis=1)
    [5.0, 0.0, 25.0]
    >>> run("_square_sum", [[1, 2], [0, 0], [3, 4]], axis=0, keepdims=True)
    [[10.0, 20.0]]
    >>> run("_square_sum", [1e4] * 3 + [0.01]), run("_square_sum", [[1, 2], [3, 4]], axis=0, exclude=True)
    ([300000000.0], [5.0, 25.0])

[square_sum/gradient] twice the data, times the head gradient of its sum.
    >>> grad("_square_sum", [[1, 2], [3, 4]], axis=1, head=[1, 10])
    [[2.0, 4.0], [60.0, 80.0]]
"""

from .foundation import Case, Op, register, scalar
from .foundation.walks import reduction_of
from .reduce import Params, draw_axes, infer, kept_shape, reducer, spread_by, starting
from .shared.totals import add


@scalar
def add_square(total, x):
    return total + x * x


@scalar
def twice(x, y):
    return 2 * x


SUM_SQUARES = reducer(add_square, add)
SPREAD_TWICE = spread_by(twice)


def forward(p, data, out):
    groups = reduction_of(data.shape, kept_shape(p, data.shape), data.dtype, data.device)
    SUM_SQUARES(data, out, starting(0, data), 1, *groups)


def backward(p, head, data, out, d_data):
    if d_data is not None:
        SPREAD_TWICE(p, head, data, out, d_data)


def cases(draw):
    return Case({**draw_axes(draw, 3), "exclude": draw.boolean()}, {"data": draw.shape(3, 3, 3)})


register(Op(
    name="_square_sum", doc=__doc__, params=Params, infer=infer, forward=forward, backward=backward,
    needs=("data", "output"), cases=cases,
    refusals={"reduce/axis": {"params": {"axis": (0, -2)}, "shapes": {"data": (2, 3)}}},
    tier=1,
))
