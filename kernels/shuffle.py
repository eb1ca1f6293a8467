"""Shuffle: the rows of an array in a random order.

[shuffle/order] every order is equally likely. An array with one axis is shuffled from its front (element i
    changes places with one of 0 .. i, for i = 1, 2, ...), one with more axes from its last row to its second.
    >>> run("_shuffle", [0, 1, 2, 3, 4, 5])
    [0.0, 2.0, 3.0, 5.0, 4.0, 1.0]
    >>> run("_shuffle", [[0, 1], [2, 3], [4, 5], [6, 7]])
    [[0.0, 1.0], [6.0, 7.0], [2.0, 3.0], [4.0, 5.0]]

[shuffle/draw] a whole number below k is draw // (2^32 // k), of the first draw for which that is below k
    (2^32 - 1 instead of 2^32); the draws are those of the single engine (random_streams.py).

[shuffle/shape] the output has data's shape, of an axis or more; either is inferred from the other. There is no
    gradient.
"""

from math import prod

import numpy as np

from .foundation import Case, Loop, Op, items, register, same_shape, scalar, scratch
from .shared.random_streams import draw, single_engine

# --- loops ----------------------------------------------------------------------------------------


@scalar
def below(state, count):
    """A whole number below ``count``."""
    bucket = 0xFFFFFFFF // count
    word = draw(state, 0)
    while word >= bucket * count:
        word = draw(state, 0)
    return word // bucket


def arrange(order, state, n, forward):
    """A random order of 0 .. n - 1; one item, as every draw follows the one before."""
    for _ in items(1):
        for i in range(n):
            order[i] = i
        for step in range(1, n):
            i = step if forward == 1 else n - step
            j = below(state, i + 1)
            kept = order[i]
            order[i] = order[j]
            order[j] = kept


def gather(data, order, out, rows, width):
    for i in items(rows):
        start = order[i] * width
        for k in range(width):
            out[i * width + k] = data[start + k]


ARRANGE, GATHER = Loop(arrange), Loop(gather)


# --- the operator ---------------------------------------------------------------------------------


def forward(p, data, out, *, rng):
    rows, *rest = data.shape
    (order,) = scratch(data, rows, dtype=np.int64)
    ARRANGE(order, single_engine(data.device, rng), rows, not rest)
    GATHER(data, order, out, rows, prod(rest))


def cases(draw):
    return Case({}, {"data": draw.shape(1, 3)})


register(Op(
    name="_shuffle", doc=__doc__, infer=same_shape("shuffle/shape", axes=1), forward=forward,
    random=True, aliases=("shuffle",), cases=cases, no_gradient_clause="shuffle/shape",
    refusals={"shuffle/shape": {"shapes": {"data": (2, 3), "output": (2,)}}},
    tier=2, numbered_input=True,
    runs_alone={"arrange": "every draw of the one engine depends on the draw before"},
))
