"""_contrib_gradientmultiplier: the input itself, whose gradient is multiplied by a number.

[gradientmultiplier/value] the output is the input.
    >>> run("_contrib_gradientmultiplier", [5, -7], scalar=-2.5)
    [5.0, -7.0]

[gradientmultiplier/gradient] the gradient is the head times scalar, as _mul_scalar multiplies: beside whole numbers
    scalar is truncated first. A negative scalar turns the gradient, as adversarial training wants it.
    >>> grad("_contrib_gradientmultiplier", [5, -7], scalar=-2.5, head=[1, 2])
    [-2.5, -5.0]

[gradientmultiplier/shape] input and output have one shape and one type.
"""

from .foundation import ALWAYS, Case, Op, register, same_shape
from .foundation.loops import COPY
from .scalar import Params


def forward(p, data, out):
    COPY(data, out, out.size)


def gradient(make, p, heads, inputs, outputs):
    return make("_mul_scalar", heads, scalar=p.scalar)


def cases(draw):
    return Case({"scalar": draw.choice((-1.5, 0.5, 3.0))}, {"data": draw.shape(1, 4)})


register(Op(
    name="_contrib_gradientmultiplier", doc=__doc__, params=Params, infer=same_shape("gradientmultiplier/shape"),
    forward=forward, gradient=gradient, inplace=((0, 0),), view=True, differentiable=False, cases=cases,
    refusals={"gradientmultiplier/shape": {"shapes": {"data": (2, 3), "output": (2,)}}},
    tier=3, keeps_zero=ALWAYS, gradient_rows="head",
))
