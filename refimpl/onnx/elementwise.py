"""Functions of each element, and of pairs of elements, as nodes of ONNX graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .building import Builder, NoForm, Rule, in_single

UNARY = {
    "abs": "Abs", "negative": "Neg", "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "sin": "Sin", "cos": "Cos",
    "tan": "Tan", "arcsin": "Asin", "arccos": "Acos", "arctan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh",
    "arcsinh": "Asinh", "arccosh": "Acosh", "arctanh": "Atanh", "floor": "Floor", "ceil": "Ceil", "sign": "Sign",
    "reciprocal": "Reciprocal", "sigmoid": "Sigmoid", "softsign": "Softsign", "erf": "Erf", "relu": "Relu",
    "_copy": "Identity", "BlockGrad": "Identity", "make_loss": "Identity", "MakeLoss": "Identity",
    "_contrib_gradientmultiplier": "Identity", "cast_storage": "Identity",
}
PAIRS = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "maximum": "Max", "minimum": "Min", "power": "Pow"}
TESTS = {
    "equal": "Equal", "greater": "Greater", "greater_equal": "GreaterOrEqual", "lesser": "Less",
    "lesser_equal": "LessOrEqual",
}
LOGICAL = {"and": "And", "or": "Or", "xor": "Xor"}
ACTIVATIONS = {
    "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softsign": "Softsign", "softrelu": "Softplus",
}


def _scalar(b: Builder, p: Any) -> str:
    """The number of an operator between an array and a number, in the array's type."""
    kind = b.sources[0]
    if kind.kind in "iub":
        if not p.is_int:
            raise NoForm("a number with a fraction beside whole numbers, in double precision,")
        return b.constant(math.trunc(p.scalar), kind)
    return b.constant(p.scalar, kind)


def _real(b: Builder, x: str) -> str:
    """An operand whose element type computes: a function of real numbers truncates beside whole ones."""
    if b.sources[0].kind != "f":
        raise NoForm(f"{b.sources[0]} numbers, which are computed as real ones and cut,")
    return x


def _unary(op: str) -> Rule:
    plain = op in ("Abs", "Neg", "Identity", "Sign", "Relu")

    def rule(b: Builder, p: Any, s: Any, x: str, *others: str) -> str:
        return b.add(op, x if plain else _real(b, x))

    return rule


def _composed(steps: Any) -> Rule:
    def rule(b: Builder, p: Any, s: Any, x: str) -> str:
        return steps(b, _real(b, x))

    return rule


def _log1p(b: Builder, x: str) -> str:
    """log(1 + x) without the rounding of 1 + x: x log(u) / (u - 1), where u is 1 + x rounded (Kahan)."""
    one = b.constant(1)
    u = b.add("Add", x, one)
    less = b.add("Sub", u, one)
    quotient = b.add("Mul", x, b.add("Div", b.add("Log", u), less))
    plain = b.add("Or", b.add("Equal", less, x), b.add("IsInf", b.cast(u, np.float32)))
    return b.add("Where", b.add("Equal", u, one), x, b.add("Where", plain, b.add("Log", u), quotient))


def _expm1(b: Builder, x: str) -> str:
    """e^x - 1 without the rounding of e^x near 1: 2 sinh(x / 2) e^(x / 2)."""
    half = b.add("Mul", x, b.constant(0.5))
    small = b.add("Mul", b.add("Mul", b.constant(2), b.add("Sinh", half)), b.add("Exp", half))
    near = b.add("Less", b.add("Abs", x), b.constant(1))
    return b.add("Where", near, small, b.add("Sub", b.add("Exp", x), b.constant(1)))


def _signed(b: Builder, x: str, size: str) -> str:
    return b.add("Mul", b.add("Sign", x), size)


def _cbrt(b: Builder, x: str) -> str:
    root = _signed(b, x, b.add("Pow", b.add("Abs", x), b.constant(1 / 3)))
    return b.add("Where", b.add("Equal", x, b.constant(0)), x, root)  # for the sign of a zero


def _rounded(b: Builder, x: str) -> str:
    """Halves away from 0. A half is told by its fraction, because adding 0.5 rounds."""
    size = b.add("Abs", x)
    low = b.add("Floor", size)
    up = b.add("GreaterOrEqual", b.add("Sub", size, low), b.constant(0.5))
    return _signed(b, x, b.add("Where", up, b.add("Add", low, b.constant(1)), low))


def _rint(b: Builder, x: str) -> str:
    """Halves go down."""
    low = b.add("Floor", x)
    up = b.add("Greater", b.add("Sub", x, low), b.constant(0.5))
    return b.add("Where", up, b.add("Add", low, b.constant(1)), low)


def _truncated(b: Builder, x: str) -> str:
    return _signed(b, x, b.add("Floor", b.add("Abs", x)))


COMPOSED = {
    "rsqrt": lambda b, x: b.add("Reciprocal", b.add("Sqrt", x)),
    "log2": lambda b, x: b.add("Div", b.add("Log", x), b.constant(math.log(2))),
    "log10": lambda b, x: b.add("Div", b.add("Log", x), b.constant(math.log(10))), "log1p": _log1p, "expm1": _expm1,
    "cbrt": _cbrt, "rcbrt": lambda b, x: b.add("Reciprocal", _cbrt(b, x)), "round": _rounded, "rint": _rint,
    "fix": _truncated, "trunc": _truncated,
    "degrees": lambda b, x: b.add("Mul", x, b.constant(180 / math.pi)),
    "radians": lambda b, x: b.add("Mul", x, b.constant(math.pi / 180)),
}


def _modulo(b: Builder, x: str, y: str) -> str:
    """The remainder with the sign of ``y``; 0 where ``y`` is 0."""
    zero = b.constant(0)
    divisor = b.add("Where", b.add("Equal", y, zero), b.constant(1), y) if b.dtype.kind in "iu" else y
    rest = b.add("Mod", x, divisor, fmod=1)
    opposite = b.add("Xor", b.add("Less", rest, zero), b.add("Less", y, zero))
    turned = b.add("And", b.add("Not", b.add("Equal", rest, zero)), opposite)
    moved = b.add("Where", turned, b.add("Add", rest, y), rest)
    return b.add("Where", b.add("Equal", y, zero), zero, moved)


def _hypot(b: Builder, x: str, y: str) -> str:
    return b.add("Sqrt", b.add("Add", b.add("Mul", x, x), b.add("Mul", y, y)))


def _pair_functions() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, op in PAIRS.items():
        found[name] = lambda b, x, y, op=op: b.add(op, x, y)
    return found | {"mod": _modulo, "hypot": _hypot}


def _pairs() -> dict[str, Rule]:
    made: dict[str, Rule] = {}
    for name, function in _pair_functions().items():
        def two(b: Builder, p: Any, s: Any, x: str, y: str, function: Any = function) -> str:
            return function(b, x, y)

        def one(b: Builder, p: Any, s: Any, x: str, function: Any = function) -> str:
            return function(b, x, _scalar(b, p))

        def turned(b: Builder, p: Any, s: Any, x: str, function: Any = function) -> str:
            return function(b, _scalar(b, p), x)

        of_two, of_one = (in_single(two), in_single(one)) if name == "hypot" else (two, one)
        plain = f"elemwise_{name}" if name in ("add", "sub", "mul", "div") else f"_{name}"
        scalar = {"add": "plus", "sub": "minus"}.get(name, name)
        made |= {plain: of_two, f"broadcast_{name}": of_two, f"_{scalar}_scalar": of_one}
        if name in ("sub", "div", "power", "mod"):
            made[f"_r{scalar}_scalar"] = turned
    made |= {"_grad_add": made["elemwise_add"], "_scatter_elemwise_div": made["elemwise_div"]}
    return made | {f"_scatter_{s}_scalar": made[f"_{s}_scalar"] for s in ("plus", "minus")}


def _tests() -> dict[str, Rule]:
    def compared(op: str, *, negate: bool = False) -> Any:
        def number(b: Builder, x: str, y: str) -> str:
            found = b.add(op, x, y)
            return b.cast(b.add("Not", found) if negate else found, b.dtype)

        return number

    def logical(op: str) -> Any:
        return lambda b, x, y: b.cast(b.add(op, b.cast(x, bool), b.cast(y, bool)), b.dtype)

    functions = {name: compared(op) for name, op in TESTS.items()}
    functions["not_equal"] = compared("Equal", negate=True)
    functions |= {f"logical_{name}": logical(op) for name, op in LOGICAL.items()}
    made: dict[str, Rule] = {}
    for name, function in functions.items():
        made[f"_{name}"] = made[f"broadcast_{name}"] = lambda b, p, s, x, y, f=function: f(b, x, y)
        made[f"_{name}_scalar"] = lambda b, p, s, x, f=function: f(b, x, _scalar(b, p))
    return made


def _leaky(b: Builder, p: Any, s: Any, x: str, *gamma: str) -> str:
    if p.act_type == "prelu":
        shape, slope = tuple(s[1]), gamma[0]
        if len(shape) == 1 < len(s[0]) and shape[0] != 1:
            slope = b.shaped(slope, (shape[0], *(1,) * (len(s[0]) - 2)))
        elif len(shape) == 2 and shape[0] == 1 and len(s[0]) > 2:
            slope = b.shaped(slope, (shape[1], *(1,) * (len(s[0]) - 2)))
        return b.add("PRelu", x, slope)
    if p.act_type == "gelu":
        return _gelu(b, x)
    if p.act_type == "selu":
        return b.add("Selu", x)
    slope = (p.lower_bound + p.upper_bound) / 2 if p.act_type == "rrelu" else p.slope
    return b.add("Elu" if p.act_type == "elu" else "LeakyRelu", x, alpha=float(slope))


def _gelu(b: Builder, x: str) -> str:
    if b.opset >= 20:
        return b.add("Gelu", x)
    part = b.add("Add", b.add("Erf", b.add("Div", x, b.constant(math.sqrt(2)))), b.constant(1))
    return b.add("Mul", b.add("Mul", x, part), b.constant(0.5))


def _clip(b: Builder, p: Any, s: Any, x: str) -> str:
    kind, bounds = b.sources[0], [p.a_min, p.a_max]
    if kind.kind in "iu":
        least, most = np.iinfo(kind).min, np.iinfo(kind).max
        bounds = [min(max(math.trunc(bound), least), most) for bound in bounds]
        if p.a_max < least or p.a_min > most:
            raise NoForm(f"clip of {kind} numbers to what they do not hold")
    if p.a_min > p.a_max:
        raise NoForm("clip whose a_min is above its a_max")
    low, high = (b.constant(bound, kind) for bound in bounds)
    return b.add("Min", b.add("Max", x, low), high)


def _where(b: Builder, p: Any, s: Any, condition: str, x: str, y: str) -> str:
    if len(s[0]) == 1 < len(s[1]):
        condition = b.shaped(condition, (*s[0], *(1,) * (len(s[1]) - 1)))
    return b.add("Where", b.cast(condition, bool), x, y)


def _smooth(b: Builder, p: Any, s: Any, x: str) -> str:
    square = p.scalar * p.scalar
    size = b.add("Abs", x)
    curve = b.add("Mul", b.add("Mul", x, x), b.constant(0.5 * square))
    line = b.add("Sub", size, b.constant(0.5 / square))
    return b.add("Where", b.add("LessOrEqual", size, b.constant(1 / square)), curve, line)


def _cast(b: Builder, p: Any, s: Any, x: str) -> str:
    if b.sources[0].kind == "f" and b.dtype.kind in "iu" and b.dtype.itemsize < 4:
        x = b.cast(x, np.int32)  # what becomes of numbers beyond a small type is not said
    return b.cast(x, b.dtype)


def _multicast(b: Builder, p: Any, s: Any, *xs: str) -> list[str]:
    return [b.cast(x, kind) for x, kind in zip(xs, b.types, strict=True)]


def _hard(b: Builder, p: Any, s: Any, x: str) -> str:
    return b.add("HardSigmoid", x, alpha=float(p.alpha), beta=float(p.beta))


def _quadratic(b: Builder, p: Any, s: Any, x: str) -> str:
    square = b.add("Mul", b.add("Mul", x, x), b.constant(p.a))
    return b.add("Add", b.add("Add", square, b.add("Mul", x, b.constant(p.b))), b.constant(p.c))


def _dropout(b: Builder, p: Any, s: Any, x: str) -> str:
    if p.mode == "always":
        raise NoForm("Dropout that drops in a prediction too (mode always), because its numbers are drawn,")
    return b.add("Identity", x)


RULES: dict[str, Rule] = {
    **{name: _unary(op) for name, op in UNARY.items()},
    **{name: in_single(_composed(steps)) for name, steps in COMPOSED.items()}, **_pairs(), **_tests(),
    "square": _composed(lambda b, x: b.add("Mul", x, x)),
    "Activation": lambda b, p, s, x: b.add(ACTIVATIONS[p.act_type], x), "LeakyReLU": _leaky, "clip": _clip,
    "where": _where, "smooth_l1": in_single(_smooth), "Cast": _cast, "amp_cast": _cast, "amp_multicast": _multicast,
    "hard_sigmoid": _hard, "_contrib_quadratic": in_single(_quadratic), "add_n": lambda b, p, s, *xs: b.add("Sum", *xs),
    "logical_not": lambda b, p, s, x: b.cast(b.add("Not", b.cast(x, bool)), b.dtype),
    "_contrib_div_sqrt_dim": in_single(lambda b, p, s, x: b.add("Div", x, b.constant(math.sqrt(s[0][-1])))),
    "Dropout": _dropout,
    "IdentityAttachKLSparseReg": lambda b, p, s, x, *average: b.add("Identity", x),
}
