"""Operators between an array and one number: out[i] = f(data[i], scalar), or reversed, f(scalar, data[i]).

[scalar/formula] the formulas are those of elementwise.py; a name that begins with _r puts the scalar first.
    >>> run("_minus_scalar", [1, 5], scalar=2), run("_rminus_scalar", [1, 5], scalar=2)
    ([-1.0, 3.0], [1.0, -3.0])
    >>> run("_rdiv_scalar", [4], scalar=2), run("_rpower_scalar", [3], scalar=2), run("_rmod_scalar", [-3], scalar=2)
    ([0.5], [8.0], [-1.0])
    >>> run("_div_scalar", [4], scalar=8), run("_power_scalar", [3], scalar=2)
    ([0.5], [9.0])
    >>> run("_mod_scalar", [-3], scalar=2), run("_hypot_scalar", [3], scalar=4)
    ([1.0], [5.0])

[scalar/gradient] the gradient is the head gradient times the slope towards the array.
    >>> grad("_mul_scalar", [7], scalar=3), grad("_rdiv_scalar", [4], scalar=2)
    ([3.0], [-0.125])
    >>> grad("_rpower_scalar", [2], scalar=2), grad("_rmod_scalar", [-3], scalar=2)
    ([2.772589], [1.0])

[scalar/ties] where the array equals the scalar, maximum and minimum give the array the whole gradient.
    >>> grad("_maximum_scalar", [1, 2, 3], scalar=2), grad("_minimum_scalar", [1, 2, 3], scalar=2)
    ([0.0, 1.0, 1.0], [1.0, 1.0, 0.0])

[scalar/comparison] comparisons and logical operators give 1 or 0 in the array's type; gradient zero.
    >>> run("_greater_scalar", [1, 2, 3], scalar=2), run("_logical_and_scalar", [0, 2], scalar=0.5)
    ([0.0, 0.0, 1.0], [0.0, 1.0])
    >>> run("_equal_scalar", [1, 2, 3], scalar=2), run("_not_equal_scalar", [1, 2, 3], scalar=2)
    ([0.0, 1.0, 0.0], [1.0, 0.0, 1.0])
    >>> run("_greater_equal_scalar", [1, 2, 3], scalar=2)
    [0.0, 1.0, 1.0]
    >>> run("_lesser_scalar", [1, 2, 3], scalar=2), run("_lesser_equal_scalar", [1, 2, 3], scalar=2)
    ([1.0, 0.0, 0.0], [1.0, 1.0, 0.0])
    >>> run("_logical_or_scalar", [0, 2], scalar=0), run("_logical_xor_scalar", [0, 2], scalar=0.5)
    ([0.0, 1.0], [1.0, 0.0])

[scalar/scatter] _scatter_plus_scalar and _scatter_minus_scalar add and subtract; in a sparse array to what is stored
    only, so that the rest stays zero.
    >>> run("_scatter_plus_scalar", [1, 5], scalar=1.5), run("_scatter_minus_scalar", [1, 5], scalar=1.5)
    ([2.5, 6.5], [-0.5, 3.5])

[scalar/whole-numbers] beside an array of whole numbers the scalar is truncated first; with is_int=False
    everything is computed, and returned, in float64.
    >>> run("_plus_scalar", [7, 1], scalar=0.5, dtype="int32")
    [7.0, 1.0]
    >>> run("_plus_scalar", [7, 1], scalar=0.5, is_int=False, dtype="int32")
    [7.5, 1.5]

[scalar/shape] input and output have one shape.
"""

from typing import NamedTuple

import numpy as np

from .foundation import ALWAYS, Case, Loop, Op, ZeroWhen, items, register, same_shape, same_type, whole_part
from .foundation.loops import zero
from .foundation.pairs import PAIRS
from .shared.terms import PAIR_SLOPES, Term


class Params(NamedTuple):
    scalar: float = 1.0
    is_int: bool = True


def infer_type(p, ins, outs):
    if p.is_int or ins[0] is None or ins[0].kind == "f":
        return same_type(p, ins, outs)
    return list(ins), [np.dtype(np.float64)]


# --- loops ---------------------------------------------------------------------------------------


def map_with(data, out, number, n):
    for i in items(n):
        out[i] = formula(data[i], number)  # noqa: F821  # bound by Loop(map_with, formula=...)


def map_with_reversed(data, out, number, n):
    for i in items(n):
        out[i] = formula(number, data[i])  # noqa: F821


def chain_with(head, data, d_data, number, n):
    for i in items(n):
        d_data[i] = head[i] * slope(data[i], number)  # noqa: F821  # bound by Loop


def chain_with_reversed(head, data, d_data, number, n):
    for i in items(n):
        d_data[i] = head[i] * slope(number, data[i])  # noqa: F821


# --- the table -----------------------------------------------------------------------------------

AT_ZERO = ZeroWhen("scalar = 0", lambda p: p.scalar == 0)
NOT_AT_ZERO = ZeroWhen("scalar is not 0", lambda p: p.scalar != 0)
FROM_ZERO_UP = ZeroWhen("scalar >= 0", lambda p: p.scalar >= 0)
ABOVE_ZERO = ZeroWhen("scalar > 0", lambda p: p.scalar > 0)
FROM_ZERO_DOWN = ZeroWhen("scalar <= 0", lambda p: p.scalar <= 0)
BELOW_ZERO = ZeroWhen("scalar < 0", lambda p: p.scalar < 0)

TABLE = (
    # name, row of PAIRS, whether the scalar comes first, alias if any,
    # and fields of Op: tier, keeps_zero, gradient_rows, keeps_rank
    ("_plus_scalar", "add", False, "_PlusScalar", 1, AT_ZERO, "head", True),
    ("_minus_scalar", "sub", False, "_MinusScalar", 1, AT_ZERO, "head", True),
    ("_scatter_plus_scalar", "add", False, None, 3, ALWAYS, "head"),
    ("_scatter_minus_scalar", "sub", False, None, 3, ALWAYS, "head"),
    ("_rminus_scalar", "sub", True, "_RMinusScalar", 1),
    ("_mul_scalar", "mul", False, "_MulScalar", 1, ALWAYS, "head", True),
    ("_div_scalar", "div", False, "_DivScalar", 1, ALWAYS, "head", True),
    ("_rdiv_scalar", "div", True, "_RDivScalar", 1),
    ("_power_scalar", "power", False, "_PowerScalar", 1),
    ("_rpower_scalar", "power", True, "_RPowerScalar", 1),
    ("_mod_scalar", "mod", False, "_ModScalar", 1),
    ("_rmod_scalar", "mod", True, "_RModScalar", 1),
    ("_hypot_scalar", "hypot", False, "_HypotScalar", 2),
    ("_maximum_scalar", "maximum", False, "_MaximumScalar", 1),
    ("_minimum_scalar", "minimum", False, "_MinimumScalar", 1),
    ("_equal_scalar", "equal", False, "_EqualScalar", 1, NOT_AT_ZERO, "none"),
    ("_not_equal_scalar", "not_equal", False, "_NotEqualScalar", 1, AT_ZERO, "none"),
    ("_greater_scalar", "greater", False, "_GreaterScalar", 1, FROM_ZERO_UP, "none"),
    ("_greater_equal_scalar", "greater_equal", False, "_GreaterEqualScalar", 1, ABOVE_ZERO, "none"),
    ("_lesser_scalar", "lesser", False, "_LesserScalar", 1, FROM_ZERO_DOWN, "none"),
    ("_lesser_equal_scalar", "lesser_equal", False, "_LesserEqualScalar", 1, BELOW_ZERO, "none"),
    ("_logical_and_scalar", "logical_and", False, "_LogicalAndScalar", 2),
    ("_logical_or_scalar", "logical_or", False, "_LogicalOrScalar", 2),
    ("_logical_xor_scalar", "logical_xor", False, "_LogicalXorScalar", 2),
)

# gradients that are another operator, or the head itself; the rest chain a slope
COMPOSED = {
    "_plus_scalar": lambda make, p, heads, inputs, outputs: [heads[0]],
    "_minus_scalar": lambda make, p, heads, inputs, outputs: [heads[0]],
    "_scatter_plus_scalar": lambda make, p, heads, inputs, outputs: [heads[0]],
    "_scatter_minus_scalar": lambda make, p, heads, inputs, outputs: [heads[0]],
    "_rminus_scalar": lambda make, p, heads, inputs, outputs: make("negative", heads),
    "_mul_scalar": lambda make, p, heads, inputs, outputs: make(
        "_mul_scalar", heads, scalar=p.scalar
    ),
    "_div_scalar": lambda make, p, heads, inputs, outputs: make(
        "_div_scalar", heads, scalar=p.scalar
    ),
}


def nothing(make, p, heads, inputs, outputs):
    return [None]


def composed(row, reverse):
    """The gradient of a row of the table made of operators, which can be differentiated again."""

    def gradient(make, p, heads, inputs, outputs):
        head, data = Term(make, heads[0]), Term(make, inputs[0])
        if row == "power" and not reverse and p.scalar in (0, 1):
            return [heads[0] if p.scalar else None]  # no 0 * inf at 0
        to_left, to_right = PAIR_SLOPES[row]
        return [(to_right(head, p.scalar, data) if reverse else to_left(head, data, p.scalar)).entry]

    return gradient


def number_for(p, data):
    """The scalar as the loop takes it: truncated beside whole numbers, unless is_int is off."""
    return whole_part("scalar", p.scalar) if p.is_int and data.dtype.kind != "f" else p.scalar


def _register(name, row, reverse, alias, tier, keeps_zero=None, gradient_rows="", keeps_rank=False):
    pair = PAIRS[row]
    slope = pair.right if reverse else pair.left
    apply = Loop(map_with_reversed if reverse else map_with, formula=pair.formula)

    def forward(p, data, out):
        apply(data, out, number_for(p, data), out.size)

    backward = None
    gradient = COMPOSED.get(name, None if slope else nothing)
    if gradient is None:
        gradient = composed(row, reverse)
        chain = Loop(chain_with_reversed if reverse else chain_with, slope=slope)

        def backward(p, head, data, d_data):
            if pair.is_flat(head):
                zero(d_data)
            elif d_data is not None:
                chain(head, data, d_data, p.scalar, d_data.size)

    def cases(draw):
        kind = pair.right_values if reverse and row != "mod" else pair.left_values
        positive = row in ("div", "mod", "power")
        number = draw.choice((0.5, 2, 4) if positive else (-2, -0.75, 0.5, 2))
        return Case({"scalar": number}, {"data": draw.shape(1, 4)}, {"data": kind})

    register(Op(
        name=name, doc=__doc__, params=Params, infer=same_shape("scalar/shape"),
        infer_type=infer_type, forward=forward, backward=backward, gradient=gradient,
        needs=("data",) if backward else (), inplace=((0, 0),),
        inplace_backward=(("head", "data"), ("data", "data")) if backward else (),
        aliases=(alias,) if alias else (), cases=cases,
        refusals={"scalar/shape": {"shapes": {"data": (2, 3), "output": (2,)}}},
        tier=tier, numbered_input=not name.startswith("_scatter"), keeps_zero=keeps_zero, gradient_rows=gradient_rows,
        keeps_rank=keeps_rank, elementwise=True,
    ))


for row in TABLE:
    _register(*row)
