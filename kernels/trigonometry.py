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
    # name, formula, slope, what the slope is written in, aliases, values that cases may draw
    ("sin", sin, cos, IN, ("_sparse_sin",), "any"),
    ("cos", cos, cos_slope, IN, ("_sparse_cos",), "any"),
    ("tan", tan, tan_slope, OUT, ("_sparse_tan",), "unit"),
    ("arcsin", arcsin, arcsin_slope, IN, ("_sparse_arcsin",), "unit"),
    ("arccos", arccos, arccos_slope, IN, ("_sparse_arccos",), "unit"),
    ("arctan", arctan, arctan_slope, IN, ("_sparse_arctan",), "any"),
    ("sinh", sinh, cosh, IN, ("_sparse_sinh",), "any"),
    ("cosh", cosh, sinh, IN, ("_sparse_cosh",), "any"),
    ("tanh", tanh, tanh_slope, OUT, ("_sparse_tanh",), "any"),
    ("arcsinh", arcsinh, arcsinh_slope, IN, ("_sparse_arcsinh",), "any"),
    ("arccosh", arccosh, arccosh_slope, IN, ("_sparse_arccosh",), "above_one"),
    ("arctanh", arctanh, arctanh_slope, IN, ("_sparse_arctanh",), "unit"),
    ("degrees", degrees, LINEAR, None, ("_sparse_degrees",), "any"),
    ("radians", radians, LINEAR, None, ("_sparse_radians",), "any"),
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

# what is known of each beside its arithmetic, by the fields of Op
FACTS = {
    "sin": {"tier": 1, "method": "sin", "keeps_zero": ALWAYS},
    "cos": {"tier": 1, "method": "cos", "gradient_rows": "input"},
    "tan": {"tier": 1, "method": "tan", "keeps_zero": ALWAYS},
    "arcsin": {"tier": 1, "method": "arcsin", "keeps_zero": ALWAYS},
    "arccos": {"tier": 1, "method": "arccos"},
    "arctan": {"tier": 1, "method": "arctan", "keeps_zero": ALWAYS},
    "sinh": {"tier": 1, "method": "sinh", "keeps_zero": ALWAYS},
    "cosh": {"tier": 1, "method": "cosh", "gradient_rows": "input"},
    "tanh": {"tier": 1, "method": "tanh", "keeps_zero": ALWAYS},
    "arcsinh": {"tier": 1, "method": "arcsinh", "keeps_zero": ALWAYS},
    "arccosh": {"tier": 1, "method": "arccosh"},
    "arctanh": {"tier": 1, "method": "arctanh", "keeps_zero": ALWAYS},
    "degrees": {"tier": 1, "method": "degrees", "keeps_zero": ALWAYS},
    "radians": {"tier": 1, "method": "radians", "keeps_zero": ALWAYS},
}

for row in TABLE:
    register_unary(__doc__, *row, SLOPES.get(row[0]), **FACTS[row[0]])
