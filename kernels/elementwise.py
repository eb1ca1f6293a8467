"""Elementwise operators over two arrays of one shape: out[i] = f(lhs[i], rhs[i]).

[elementwise/shape] both operands and the output have one shape and one type, each inferred from any other.
    Nothing is broadcast here: see broadcast.py.
    >>> run("elemwise_add", [1, 2], [10, 20]), run("_power", [2, 9], [3, 0.5])
    ([11.0, 22.0], [8.0, 3.0])
    >>> run("elemwise_sub", [1, 2], [10, 5])
    [-9.0, -3.0]

[elementwise/gradient] each operand gets the head gradient times its partial slope.
    >>> grad("elemwise_mul", [3.0], [5.0]), grad("elemwise_div", [3.0], [2.0])
    (([5.0], [3.0]), ([0.5], [-0.75]))
    >>> grad("_hypot", [3.0], [4.0]), grad("_power", [2.0], [2.0])
    (([0.6], [0.8]), ([4.0], [2.772589]))

[elementwise/ties] where maximum or minimum meets equal operands, the whole gradient goes to the left one.
    >>> grad("_maximum", [1, 2, 3], [2, 2, 2]), grad("_minimum", [1, 2, 3], [2, 2, 2])
    (([0.0, 1.0, 1.0], [1.0, 0.0, 0.0]), ([1.0, 1.0, 0.0], [0.0, 0.0, 1.0]))

[elementwise/nan] maximum and minimum are NaN where either operand is; neither then gets a gradient.
    >>> run("_maximum", [float("nan"), 1], [1, float("nan")]), grad("_maximum", [float("nan")], [1])
    ([nan, nan], ([0.0], [0.0]))

[elementwise/mod] the remainder has the sign of the divisor, modulo 0 is 0; the slope towards the divisor is
    -floor(lhs / rhs). Whole numbers modulo whole numbers have gradient 0, in every page.
    >>> run("_mod", [5.5, -3, 3, 7], [-2.5, 2, -2, 0]), grad("_mod", [5.5, -3], [-2.5, 2])
    ([-2.0, 1.0, -1.0, 0.0], ([1.0, 1.0], [3.0, 2.0]))

[elementwise/scatter] _scatter_elemwise_div divides as elemwise_div does; a row_sparse lhs in its stored rows only, so
    that the others stay zero whatever the divisor is.
    >>> run("_scatter_elemwise_div", [4, 0], [2, 5]), grad("_scatter_elemwise_div", [3.0], [2.0])
    ([2.0, 0.0], ([0.5], [-0.75]))

[elementwise/comparison] comparisons and logical operators give 1 or 0 in the operands' type and have gradient
    zero (``grad`` says None: nothing is computed). NaN compares unequal to everything and counts as true.
    >>> run("_greater", [1, 2, 3], [2, 2, 2]), run("_not_equal", [float("nan")], [float("nan")])
    ([0.0, 0.0, 1.0], [1.0])
    >>> run("_logical_xor", [0, 2, float("nan")], [3, 0, 1]), grad("_greater", [1], [2])
    ([1.0, 1.0, 0.0], (None, None))
    >>> run("_equal", [1, 2, 3], [2, 2, 2]), run("_greater_equal", [1, 2, 3], [2, 2, 2])
    ([0.0, 1.0, 0.0], [0.0, 1.0, 1.0])
    >>> run("_lesser", [1, 2, 3], [2, 2, 2]), run("_lesser_equal", [1, 2, 3], [2, 2, 2])
    ([1.0, 0.0, 0.0], [1.0, 1.0, 0.0])
    >>> run("_logical_and", [0, 2], [3, 1]), run("_logical_or", [0, 0], [3, 0])
    ([0.0, 1.0], [1.0, 0.0])

[elementwise/whole-numbers] whole numbers divide as real ones, then are cut towards zero; sums and products
    wrap around at the type's width.
    >>> run("elemwise_div", [7, -7], [2, 2], dtype="int32"), run("elemwise_add", [200], [100], dtype="uint8")
    ([3.0, -3.0], [44.0])

[elementwise/grad-add] _grad_add is the sum by which a gradient with several consumers is collected, left to
    right; it has no gradient of its own.
    >>> run("_grad_add", [1, 2], [10, 20])
    [11.0, 22.0]
"""

from .foundation import ALWAYS, Case, Loop, Op, items, register, same_shape
from .foundation.loops import zero
from .foundation.pairs import PAIRS
from .shared.terms import PAIR_SLOPES, Term

# --- loops ---------------------------------------------------------------------------------------


def map_two(a, b, out, n):
    for i in items(n):
        out[i] = formula(a[i], b[i])  # noqa: F821  # bound by Loop(map_two, formula=...)


def chain_two(head, a, b, d, n):
    for i in items(n):
        d[i] = head[i] * slope(a[i], b[i])  # noqa: F821  # bound by Loop


MAPS = {row: Loop(map_two, formula=pair.formula) for row, pair in PAIRS.items()}
CHAINS = {
    row: [Loop(chain_two, slope=slope) for slope in (pair.left, pair.right)] for row, pair in PAIRS.items() if pair.left
}

# --- the table -----------------------------------------------------------------------------------

TABLE = (
    # name, row of PAIRS, aliases, and fields of Op: tier, keeps_zero, gradient_rows
    ("elemwise_add", "add", ("_add", "_plus", "_Plus", "_sparse_elemwise_add"), 1, ALWAYS, "head"),
    ("elemwise_sub", "sub", ("_sub", "_minus", "_Minus", "_sparse_elemwise_sub"), 1, ALWAYS, "head"),
    ("elemwise_mul", "mul", ("_mul", "_Mul", "_sparse_elemwise_mul"), 1, ALWAYS),
    ("elemwise_div", "div", ("_div", "_Div", "_sparse_elemwise_div"), 1),
    ("_scatter_elemwise_div", "div", (), 3),
    ("_power", "power", ("_Power",), 1),
    ("_mod", "mod", ("_Mod",), 1),
    ("_hypot", "hypot", ("_Hypot",), 2, ALWAYS),
    ("_maximum", "maximum", ("_Maximum",), 1, ALWAYS),
    ("_minimum", "minimum", ("_Minimum",), 1, ALWAYS),
    ("_equal", "equal", ("_Equal",), 1),
    ("_not_equal", "not_equal", ("_Not_Equal",), 1),
    ("_greater", "greater", ("_Greater",), 1),
    ("_greater_equal", "greater_equal", ("_Greater_Equal",), 1),
    ("_lesser", "lesser", ("_Lesser",), 1),
    ("_lesser_equal", "lesser_equal", ("_Lesser_Equal",), 1),
    ("_logical_and", "logical_and", ("_Logical_And",), 2),
    ("_logical_or", "logical_or", ("_Logical_Or",), 2),
    ("_logical_xor", "logical_xor", ("_Logical_Xor",), 2),
    ("_grad_add", "add", (), 1, None, "head"),
)


def nothing(make, p, heads, inputs, outputs):
    return [None, None]


# gradients that are another operator, or the head itself; the rest chain a slope
COMPOSED = {
    "elemwise_add": lambda make, p, heads, inputs, outputs: [heads[0], heads[0]],
    "elemwise_sub": lambda make, p, heads, inputs, outputs: [heads[0], *make("negative", heads)],
    "elemwise_mul": lambda make, p, heads, inputs, outputs: [
        *make("elemwise_mul", [heads[0], inputs[1]]), *make("elemwise_mul", [heads[0], inputs[0]]),
    ],
}


def composed(row):
    """The gradient of a row of the table made of operators, which can be differentiated again."""

    def gradient(make, p, heads, inputs, outputs):
        terms = [Term(make, entry) for entry in (heads[0], *inputs)]
        return [slope(*terms).entry for slope in PAIR_SLOPES[row]]

    return gradient


def _register(name, row, aliases, tier, keeps_zero=None, gradient_rows=""):
    pair = PAIRS[row]
    apply = MAPS[row]

    def forward(p, lhs, rhs, out):
        apply(lhs, rhs, out, out.size)

    backward = None
    gradient = COMPOSED.get(name, None if pair.left else nothing)
    if gradient is None and name != "_grad_add":
        gradient = composed(row)
        to_left, to_right = CHAINS[row]

        def backward(p, head, lhs, rhs, d_lhs, d_rhs):
            if pair.is_flat(head):
                zero(d_lhs)
                zero(d_rhs)
                return
            if d_lhs is not None:
                to_left(head, lhs, rhs, d_lhs, head.size)
            if d_rhs is not None:
                to_right(head, lhs, rhs, d_rhs, head.size)

    def cases(draw):
        shape = draw.shape(1, 4)
        values = {"lhs": pair.left_values, "rhs": pair.right_values}
        return Case({}, {"lhs": shape, "rhs": shape}, values)

    register(Op(
        name=name, doc=__doc__, inputs=("lhs", "rhs"), infer=same_shape("elementwise/shape"),
        forward=forward, backward=backward, gradient=gradient,
        needs=("lhs", "rhs") if backward else (), inplace=((0, 0), (1, 0)), aliases=aliases,
        cases=cases, no_gradient_clause="elementwise/grad-add",
        refusals={"elementwise/shape": {"shapes": {"lhs": (2, 3), "rhs": (2, 1)}}},
        tier=tier, keeps_zero=keeps_zero, gradient_rows=gradient_rows, elementwise=True,
    ))


for row in TABLE:
    _register(*row)
