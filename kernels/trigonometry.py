"""Trigonometric and hyperbolic functions, elementwise, in radians.

[trigonometry/elementwise] one row of the table below is one operator, as in unary.py.
    >>> run("sin", [0, 1]), grad("sin", [0, 1])
    ([0.0, 0.841471], [1.0, 0.540302])
    >>> run("tanh", [0.5]), grad("tanh", [0.5]), run("arctanh", [0.5]), grad("arctanh", [0.5])
    ([0.462117], [0.786448], [0.549306], [1.333333])
    >>> run("cos", [1]), run("tan", [1]), run("arctan", [1])
    ([0.540302], [1.557408], [0.785398])
    >>> run("sinh", [1]), run("cosh", [1]), run("arcsinh", [1]), run("arccosh", [2])
    ([1.175201], [1.543081], [0.881374], [1.316958])

[trigonometry/edges] the slopes of arcsin and arccos are infinite at -1 and 1.
    >>> grad("arcsin", [-1, 0, 1]), grad("arccos", [-1, 0, 1])
    ([inf, 1.0, inf], [-inf, -1.0, -inf])

[trigonometry/degrees] degrees and radians scale; so do their gradients.
    >>> run("degrees", [1]), grad("degrees", [1]), run("radians", [180])
    ([57.29578], [57.29578], [3.141593])
"""

import math

from .foundation import ALWAYS, decides, scalar
from .unary import IN, LINEAR, OUT, register_unary

PER_RADIAN, PER_DEGREE = 180.0 / math.pi, math.pi / 180.0

# --- the formulas f(x), and their slopes in terms of x or y ---------------------------------------


@scalar
def sin(x):
    return math.sin(x)


@scalar
def cos(x):
    return math.cos(x)


@scalar
def cos_slope(x):
    return -math.sin(x)


@scalar
def tan(x):
    return math.tan(x)


@scalar
def tan_slope(y):
    return 1 + y * y


@scalar
def arcsin(x):
    return math.asin(x)


@scalar
@decides("trigonometry/edges")
def arcsin_slope(x):
    return 1 / math.sqrt(1 - x * x)


@scalar
def arccos(x):
    return math.acos(x)


@scalar
@decides("trigonometry/edges")
def arccos_slope(x):
    return -1 / math.sqrt(1 - x * x)


@scalar
def arctan(x):
    return math.atan(x)


@scalar
def arctan_slope(x):
    return 1 / (1 + x * x)


@scalar
def sinh(x):
    return math.sinh(x)


@scalar
def cosh(x):
    return math.cosh(x)


@scalar
def tanh(x):
    return math.tanh(x)


@scalar
def tanh_slope(y):
    return 1 - y * y


@scalar
def arcsinh(x):
    return math.asinh(x)


@scalar
def arcsinh_slope(x):
    return 1 / math.sqrt(1 + x * x)


@scalar
def arccosh(x):
    return math.acosh(x)


@scalar
def arccosh_slope(x):
    return 1 / math.sqrt(x * x - 1)


@scalar
def arctanh(x):
    return math.atanh(x)


@scalar
def arctanh_slope(x):
    return 1 / (1 - x * x)


@scalar
def degrees(x):
    return x * PER_RADIAN


@scalar
def radians(x):
    return x * PER_DEGREE


# --- the table -----------------------------------------------------------------------------------

TABLE = (
    # name, formula, slope, what the slope is written in, aliases, values that cases may draw,
    # and fields of Op: tier, whether it is a method, keeps_zero, gradient_rows
    ("sin", sin, cos, IN, ("_sparse_sin",), "any", 1, True, ALWAYS),
    ("cos", cos, cos_slope, IN, ("_sparse_cos",), "any", 1, True, None, "input"),
    ("tan", tan, tan_slope, OUT, ("_sparse_tan",), "unit", 1, True, ALWAYS),
    ("arcsin", arcsin, arcsin_slope, IN, ("_sparse_arcsin",), "unit", 1, True, ALWAYS),
    ("arccos", arccos, arccos_slope, IN, ("_sparse_arccos",), "unit", 1, True),
    ("arctan", arctan, arctan_slope, IN, ("_sparse_arctan",), "any", 1, True, ALWAYS),
    ("sinh", sinh, cosh, IN, ("_sparse_sinh",), "any", 1, True, ALWAYS),
    ("cosh", cosh, sinh, IN, ("_sparse_cosh",), "any", 1, True, None, "input"),
    ("tanh", tanh, tanh_slope, OUT, ("_sparse_tanh",), "any", 1, True, ALWAYS),
    ("arcsinh", arcsinh, arcsinh_slope, IN, ("_sparse_arcsinh",), "any", 1, True, ALWAYS),
    ("arccosh", arccosh, arccosh_slope, IN, ("_sparse_arccosh",), "above_one", 1, True),
    ("arctanh", arctanh, arctanh_slope, IN, ("_sparse_arctanh",), "unit", 1, True, ALWAYS),
    ("degrees", degrees, LINEAR, None, ("_sparse_degrees",), "any", 1, True, ALWAYS),
    ("radians", radians, LINEAR, None, ("_sparse_radians",), "any", 1, True, ALWAYS),
)

# slopes once more, made of operators: they can be differentiated again
SLOPES = {
    "sin": lambda p, x, y: x.cos(),
    "cos": lambda p, x, y: -x.sin(),
    "tan": lambda p, x, y: 1 + y * y,
    "arcsin": lambda p, x, y: 1 / (1 - x * x).sqrt(),
    "arccos": lambda p, x, y: -1 / (1 - x * x).sqrt(),
    "arctan": lambda p, x, y: 1 / (1 + x * x),
    "sinh": lambda p, x, y: x.cosh(),
    "cosh": lambda p, x, y: x.sinh(),
    "tanh": lambda p, x, y: 1 - y * y,
    "arcsinh": lambda p, x, y: 1 / (1 + x * x).sqrt(),
    "arccosh": lambda p, x, y: 1 / (x * x - 1).sqrt(),
    "arctanh": lambda p, x, y: 1 / (1 - x * x),
}


for row in TABLE:
    register_unary(__doc__, *row, again=SLOPES.get(row[0]))
