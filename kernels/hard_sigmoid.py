"""hard_sigmoid: the straight line alpha . x + beta, held between 0 and 1.

[hard_sigmoid/formula] max(0, min(1, alpha . x + beta)); NaN stays.
    >>> run("hard_sigmoid", [-3, -1, 0, 1, 3])
    [0.0, 0.3, 0.5, 0.7, 1.0]

[hard_sigmoid/gradient] alpha strictly between 0 and 1, else 0.
    >>> grad("hard_sigmoid", [-3, 0, 3], alpha=0.5, beta=0.25)
    [0.0, 0.5, 0.0]

[hard_sigmoid/shape] input and output have one shape and type.
"""

from typing import NamedTuple

from .foundation import Case, Loop, Op, items, register, same_shape
from .shared.terms import slope_rule


class Params(NamedTuple):
    alpha: float = 0.2
    beta: float = 0.5


# --- loops ---------------------------------------------------------------------------------------


def held(data, out, alpha, beta, n):
    for i in items(n):
        y = alpha * data[i] + beta
        out[i] = 1 if y > 1 else (0 if y < 0 else y)


def chain_held(head, out, d_data, alpha, n):
    for i in items(n):
        d_data[i] = head[i] * alpha if 0 < out[i] < 1 else 0


HELD, CHAIN_HELD = Loop(held), Loop(chain_held)


# --- the operator --------------------------------------------------------------------------------


def forward(p, data, out):
    HELD(data, out, p.alpha, p.beta, data.size)


def backward(p, head, out, d_data):
    if d_data is not None:
        CHAIN_HELD(head, out, d_data, p.alpha, d_data.size)


def cases(draw):
    params = {"alpha": draw.choice((0.25, 0.5, -1)), "beta": draw.choice((0.5, 0, 0.25))}
    return Case(params, {"data": draw.shape(1, 4)})


register(Op(
    name="hard_sigmoid", doc=__doc__, params=Params, infer=same_shape("hard_sigmoid/shape"),
    forward=forward, backward=backward, needs=("output",), inplace=((0, 0),),
    gradient=slope_rule(lambda p, x, y: p.alpha * ((y > 0) * (y < 1))),
    inplace_backward=(("head", "data"), ("output", "data")), cases=cases,
    refusals={"hard_sigmoid/shape": {"shapes": {"data": (2, 3), "output": (2,)}}},
    tier=2, numbered_input=True, elementwise=True,
))
