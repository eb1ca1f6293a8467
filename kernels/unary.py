"""Unary elementwise operators: out[i] = f(data[i]), d_data[i] = head[i] . f'(data[i]).

[unary/elementwise] one row of the table below is one operator: its formula and its slope, written in terms of
    the input x or of the output y, whichever the gradient keeps. In float32 the tuned twins of a few are wrong by
    some units in the last place, stated in tuned/curves.py.
    >>> run("sqrt", [4, 9]), grad("sqrt", [4, 16]), run("square", [3]), run("rsqrt", [4])
    ([2.0, 3.0], [0.25, 0.125], [9.0], [0.5])
    >>> run("sigmoid", [0, 2]), grad("sigmoid", [0, 2]), run("softsign", [-1, 3]), run("negative", [1])
    ([0.5, 0.880797], [0.25, 0.104994], [-0.5, 0.75], [-1.0])
    >>> run("rcbrt", [8, -1]), grad("cbrt", [8, -1]), run("reciprocal", [2, -4])
    ([0.5, -1.0], [0.083333, 0.333333], [0.5, -0.25])
    >>> run("gamma", [5, 0.5]), grad("gammaln", [1, 2.5]), run("erf", [0.5])
    ([24.0, 1.772454], [-0.577216, 0.703157], [0.5205])
    >>> run("log", [1, 2]), run("log2", [8]), run("log10", [100]), run("log1p", [1]), run("expm1", [1])
    ([0.0, 0.693147], [3.0], [2.0], [0.693147], [1.718282])

[unary/shape] the output has the input's shape and type; either is inferred from the other. Whole numbers
    are computed as real ones and truncated.
    >>> run("sqrt", [8, 9, 100], dtype="int32"), run("exp", [0, 1, 2], dtype="uint8")
    ([2.0, 3.0, 10.0], [1.0, 2.0, 7.0])

[unary/at-zero] abs, sign and relu have slope 0 at 0; sign is 0 there, and for NaN.
    >>> grad("abs", [-2, 0, 2]), grad("relu", [-2, 0, 2])
    ([-1.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    >>> run("sign", [-2, 0, float("nan"), 2])
    [-1.0, 0.0, 0.0, 1.0]

[unary/rounding] round sends halves away from 0, rint down; fix and trunc cut towards 0. All have gradient 0
    (``grad`` says None: nothing is computed).
    >>> run("round", [-2.5, -0.5, 0.5, 1.5]), run("rint", [-2.5, -0.5, 0.5, 1.5]), run("trunc", [-1.5])
    ([-3.0, -1.0, 1.0, 2.0], [-3.0, -1.0, 0.0, 1.0], [-1.0])
    >>> run("floor", [-1.5, 1.5]), run("ceil", [-1.5, 1.5]), run("fix", [-1.5, 1.5]), grad("floor", [1.5])
    ([-2.0, 1.0], [-1.0, 2.0], [-1.0, 1.0], None)

[unary/nan] NaN passes through relu, forward and backward.
    >>> run("relu", [float("nan"), -1]), grad("relu", [float("nan"), -1])
    ([nan, 0.0], [nan, 0.0])

[unary/logical-not] 1 where the input is 0, else 0; gradient 0.
    >>> run("logical_not", [0, 0.5, -2]), grad("logical_not", [0, 0.5])
    ([1.0, 0.0, 0.0], None)
"""

import math

import numpy as np

from .foundation import ALWAYS, Case, Loop, Op, decides, items, register, same_shape, scalar
from .shared.terms import slope_rule

LN2, LN10 = math.log(2.0), math.log(10.0)
TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
WHOLE = 2.0**52  # from here on every float64 is a whole number

# --- the formulas f(x), and their slopes in terms of x or y ---------------------------------------


@scalar
def absolute(x):
    return abs(x)


@scalar
@decides("unary/at-zero")
def sign(x):
    return 1 if x > 0 else (-1 if x < 0 else 0)


@scalar
def negative(x):
    return -x


@scalar
def reciprocal(x):
    return 1 / x


@scalar
def reciprocal_slope(y):
    return -y * y


@scalar
def sqrt(x):
    return math.sqrt(x)


@scalar
def sqrt_slope(y):
    return 0.5 / y


@scalar
def rsqrt(x):
    return 1 / math.sqrt(x)


@scalar
def rsqrt_slope(y):
    return -0.5 * abs(y * y * y)  # not +inf for the root of -0


@scalar
def cbrt(x):
    root = math.copysign(math.pow(abs(x), 1.0 / 3.0), x)
    # one Newton step makes cubes exact, which the power alone does not
    return root - (root - x / (root * root)) / 3.0 if 0 < abs(root) < math.inf else root


@scalar
def cbrt_slope(y):
    return 1 / (3.0 * y * y)


@scalar
def rcbrt(x):
    return 1 / cbrt(x) if x != 0 else math.copysign(math.inf, x)


@scalar
def rcbrt_slope(y):
    return y * y * y * y / -3.0


@scalar
def square(x):
    return x * x


@scalar
def square_slope(x):
    return 2 * x


@scalar
def exp(x):
    return math.exp(x)


@scalar
def exp_slope(y):
    return y


@scalar
def expm1(x):
    return math.expm1(x)


@scalar
def log(x):
    return math.log(x)


@scalar
def log1p(x):
    return math.log1p(x)


@scalar
def log1p_slope(x):
    return 1 / (1 + x)


@scalar
def log2(x):
    return math.log2(x)


@scalar
def log2_slope(x):
    return 1 / (x * LN2)


@scalar
def log10(x):
    return math.log10(x)


@scalar
def log10_slope(x):
    return 1 / (x * LN10)


@scalar
def sigmoid(x):
    small = math.exp(0.0 - abs(x))  # never overflows; -abs(x) would wrap around in uint8
    return 1 / (1 + small) if x >= 0 else small / (1 + small)


@scalar
def sigmoid_slope(y):
    return y * (1 - y)


@scalar
def relu(x):
    return 0 if x <= 0 else x


@scalar
def relu_slope(y):
    return y if y != y else sign(y)


@scalar
def softsign(x):
    return x / (1 + abs(x))


@scalar
def softsign_slope(x):
    return 1 / ((1 + abs(x)) * (1 + abs(x)))


@scalar
def erf(x):
    return math.erf(x)


@scalar
def erf_slope(x):
    return TWO_OVER_ROOT_PI * math.exp(-x * x)


@scalar
def gamma(x):
    return math.gamma(x)


@scalar
def gammaln(x):
    return math.lgamma(x)


@scalar
def digamma(x):
    """Slope of gammaln: reflected for x <= 0, raised above 10, then the asymptotic series."""
    x, result = np.float64(x), np.float64(0)
    if x <= 0 and (-x >= WHOLE or x == math.floor(x)):
        return math.inf  # a pole
    if x <= 0:
        result = -math.pi / math.tan(math.pi * x)
        x = 1 - x
    while x < 10:
        result -= 1 / x
        x += 1
    z = 1 / (x * x)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132)))))
    return result + math.log(x) - 0.5 / x - series


@scalar
def gamma_slope(x):
    return math.gamma(x) * digamma(x)


@scalar
def floor(x):
    return math.floor(x) if abs(x) < WHOLE else x


@scalar
def ceil(x):
    return math.ceil(x) if abs(x) < WHOLE else x


@scalar
def trunc(x):
    return floor(x) if x > 0 else ceil(x)


@scalar
def rounded(x):
    """Halves away from 0; what is rounded to 0 keeps its sign."""
    down = np.float64(floor(abs(x)))
    return sign(x) * (down + (abs(x) - down >= 0.5)) if abs(x) < WHOLE else x


@scalar
def rint(x):
    """Halves down."""
    return floor(x) if x - floor(x) <= ceil(x) - x else ceil(x)


@scalar
def logical_not(x):
    return 1 if x == 0 else 0


# --- loops ---------------------------------------------------------------------------------------


def map_one(data, out, n):
    for i in items(n):
        out[i] = formula(data[i])  # noqa: F821  # bound by Loop(map_one, formula=...)


def chain_one(head, known, d_data, n):
    """``known`` is the input or the output, whichever the slope is written in."""
    for i in items(n):
        d_data[i] = head[i] * slope(known[i])  # noqa: F821  # bound by Loop


# --- the table -----------------------------------------------------------------------------------

ZERO, LINEAR = "zero", "linear"
IN, OUT = "data", "output"

TABLE = (
    # name, formula, slope, what the slope is written in, aliases, values that cases may draw,
    # and fields of Op: tier, whether it is a method, keeps_zero, gradient_rows
    ("abs", absolute, sign, IN, ("_sparse_abs",), "any", 1, True, ALWAYS, "input"),
    ("sign", sign, ZERO, None, ("_sparse_sign",), "any", 1, True, ALWAYS, "input"),
    ("negative", negative, LINEAR, None, ("_sparse_negative",), "any", 1, False, ALWAYS, "head"),
    ("reciprocal", reciprocal, reciprocal_slope, OUT, (), "apart", 1, True),
    ("sqrt", sqrt, sqrt_slope, OUT, ("_sparse_sqrt",), "positive", 1, True, ALWAYS),
    ("rsqrt", rsqrt, rsqrt_slope, OUT, ("_sparse_rsqrt",), "positive", 1, True),
    ("cbrt", cbrt, cbrt_slope, OUT, ("_sparse_cbrt",), "apart", 1, True, ALWAYS),
    ("rcbrt", rcbrt, rcbrt_slope, OUT, (), "apart", 1, True),
    ("square", square, square_slope, IN, ("_sparse_square",), "any", 1, True, ALWAYS, "input"),
    ("exp", exp, exp_slope, OUT, ("_sparse_exp",), "any", 1, True, None, "head"),
    ("expm1", expm1, exp, IN, ("_sparse_expm1",), "any", 1, True, ALWAYS),
    ("log", log, reciprocal, IN, ("_sparse_log",), "positive", 1, True),
    ("log1p", log1p, log1p_slope, IN, ("_sparse_log1p",), "positive", 1, True, ALWAYS),
    ("log2", log2, log2_slope, IN, ("_sparse_log2",), "positive", 1, True),
    ("log10", log10, log10_slope, IN, ("_sparse_log10",), "positive", 1, True),
    ("sigmoid", sigmoid, sigmoid_slope, OUT, ("_sparse_sigmoid",), "any", 1, True),
    ("relu", relu, relu_slope, OUT, ("_sparse_relu",), "any", 1, True, ALWAYS, "input"),
    ("softsign", softsign, softsign_slope, IN, (), "any", 1),
    ("erf", erf, erf_slope, IN, (), "any", 2),
    ("gamma", gamma, gamma_slope, IN, ("_sparse_gamma",), "positive", 2),
    ("gammaln", gammaln, digamma, IN, ("_sparse_gammaln",), "positive", 2),
    ("floor", floor, ZERO, None, ("_sparse_floor",), "any", 1, True, ALWAYS, "none"),
    ("ceil", ceil, ZERO, None, ("_sparse_ceil",), "any", 1, True, ALWAYS, "none"),
    ("round", rounded, ZERO, None, ("_sparse_round",), "any", 1, True, ALWAYS, "none"),
    ("rint", rint, ZERO, None, ("_sparse_rint",), "any", 1, True, ALWAYS, "none"),
    ("fix", trunc, ZERO, None, ("_sparse_fix",), "any", 1, True, ALWAYS, "none"),
    ("trunc", trunc, ZERO, None, ("_sparse_trunc",), "any", 1, True, ALWAYS, "none"),
    ("logical_not", logical_not, ZERO, None, (), "any", 2, False, None, "none"),
)

# slopes once more, made of operators of the input x and the output y: they can be differentiated again
SLOPES = {
    "abs": lambda p, x, y: x.sign(), "square": lambda p, x, y: 2 * x,
    "reciprocal": lambda p, x, y: -y * y,
    "sqrt": lambda p, x, y: 0.5 / y, "rsqrt": lambda p, x, y: -0.5 * abs(y * y * y),
    "cbrt": lambda p, x, y: 1 / (3 * y * y), "rcbrt": lambda p, x, y: y * y * y * y / -3,
    "exp": lambda p, x, y: y, "expm1": lambda p, x, y: x.exp(),
    "log": lambda p, x, y: 1 / x, "log1p": lambda p, x, y: 1 / (1 + x),
    "log2": lambda p, x, y: 1 / (x * LN2), "log10": lambda p, x, y: 1 / (x * LN10),
    "sigmoid": lambda p, x, y: y * (1 - y), "relu": lambda p, x, y: y.sign(),
    "softsign": lambda p, x, y: 1 / ((1 + abs(x)) * (1 + abs(x))),
    "erf": lambda p, x, y: TWO_OVER_ROOT_PI * (-x * x).exp(),
}


def register_unary(
    doc, name, formula, slope, known, aliases, values, tier, method=False, zero=None, rows="", *, again=None
):
    """Register one row; a linear operator is its own gradient. ``again`` is a row of ``SLOPES``."""
    apply = Loop(map_one, formula=formula)

    def forward(p, data, out):
        apply(data, out, data.size)

    backward = gradient = None
    if slope == ZERO:

        def gradient(make, p, heads, inputs, outputs):
            return [None]

    elif slope == LINEAR:

        def gradient(make, p, heads, inputs, outputs):
            return [make(name, heads)[0]]

    else:
        chain = Loop(chain_one, slope=slope)
        gradient = slope_rule(again) if again else None

        def backward(p, head, kept, d_data):
            if d_data is not None:
                chain(head, kept, d_data, d_data.size)

    register(Op(
        name=name, doc=doc, infer=same_shape("unary/shape"), forward=forward, backward=backward,
        gradient=gradient, needs=() if known is None else (known,), aliases=aliases, inplace=((0, 0),),
        inplace_backward=() if backward is None else (("head", "data"), (known, "data")),
        cases=lambda draw: Case({}, {"data": draw.shape(1, 4)}, {"data": values}),
        refusals={"unary/shape": {"shapes": {"data": (2, 3), "output": (2, 4)}}},
        tier=tier, method=name if method else "", numbered_input=True, keeps_zero=zero, gradient_rows=rows,
        elementwise=True,
    ))


for row in TABLE:
    register_unary(__doc__, *row, again=SLOPES.get(row[0]))
