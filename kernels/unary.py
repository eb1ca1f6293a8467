"""Unary elementwise operators: out[i] = f(data[i]), d_data[i] = head[i] . f'(data[i]).

[unary/elementwise] one row of the table below is one operator: its formula and its derivative, written in
    terms of x (the input) and y (the output).
    >>> run("sqrt", [4, 9]), grad("sqrt", [4, 16])
    ([2.0, 3.0], [0.25, 0.125])

[unary/shape] the output has the input's shape and type; either is inferred from the other.
"""

import math

from .foundation import Case, Loop, Op, items, register, same_shape, scalar

# --- the formulas: f(x), and the derivative d(x, y) ----------------------------------------------


@scalar
def sqrt(x):
    return math.sqrt(x)


@scalar
def sqrt_slope(x, y):
    return 0.5 / y


# --- loops ---------------------------------------------------------------------------------------


def map_one(data, out, n):
    for i in items(n):
        out[i] = formula(data[i])  # noqa: F821  # bound by Loop(map_one, formula=...)


def chain_one(head, data, out, d_data, n):
    for i in items(n):
        d_data[i] = head[i] * slope(data[i], out[i])  # noqa: F821  # bound by Loop


# --- the table -----------------------------------------------------------------------------------

TABLE = (
    # name, formula, slope, aliases, values that cases may draw
    ("sqrt", sqrt, sqrt_slope, ("_sparse_sqrt",), "positive"),
)


def _register(name, formula, slope, aliases, values):
    apply, chain = Loop(map_one, formula=formula), Loop(chain_one, slope=slope)

    def forward(p, data, out):
        apply(data, out, data.size)

    def backward(p, head, data, output, d_data):
        if d_data is not None:
            chain(head, data, output, d_data, data.size)

    register(Op(
        name=name, doc=__doc__, infer=same_shape("unary/shape"), forward=forward, backward=backward,
        needs=("data", "output"), aliases=aliases, inplace=((0, 0),),
        cases=lambda draw: Case({}, {"data": draw.shape(1, 4)}, {"data": values}),
    ))


for row in TABLE:
    _register(*row)
