"""An independent witness: some graphs in rational numbers, forward and backward, with NumPy and Fraction alone.

Nothing of ``kernels`` is used here, so that the reference is checked by something that does not share its mistakes.
Where a program's numbers are exact, every element of its trace must equal the fraction; ``tests/oracle`` draws such
programs.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from ..programs.program import variables
from ..programs.values import array_of
from .reference import Program

Rational = np.ndarray
"""An array of Fractions."""
NOUGHT = np.array(Fraction(0), object)
Pull = Callable[[Rational], Sequence[Rational]]
"""From the gradient of an output to those of the inputs."""
Valued = tuple[Rational, Pull]
Attrs = dict[str, Any]


class NotCovered(Exception):
    """The witness does not know an operator, or a value is no fraction."""


def fractions(values: np.ndarray) -> Rational:
    """The same numbers as Fractions.

    Raises:
        NotCovered: some are infinite or no numbers.
    """
    if not np.isfinite(values).all():
        raise NotCovered("a value is infinite or no number")
    made = np.empty(values.shape, object)
    made.reshape(-1)[:] = [Fraction(v) for v in values.reshape(-1).tolist()]
    return made


def _where(condition: np.ndarray, values: Rational) -> Rational:
    return np.where(condition, values, NOUGHT)


def _transposed(x: Rational, axes: tuple[int, ...]) -> tuple[Rational, Pull]:
    chosen = axes or tuple(range(x.ndim))[::-1]
    back = tuple(np.argsort(chosen))
    return x.transpose(chosen), lambda g: [g.transpose(back)]


def _padded(g: Rational, shape: tuple[int, ...], at: tuple[slice, ...]) -> Rational:
    whole = np.full(shape, Fraction(0), object)
    whole[at] = g
    return whole


def _summed(g: Rational, shape: tuple[int, ...]) -> Rational:
    """The gradient of an array of ``shape`` that was broadcast."""
    extra = g.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(extra + i for i, side in enumerate(shape) if side == 1)
    return g.sum(axis=axes, keepdims=True).reshape(shape) if axes else g


def _product(a: Rational, b: Rational) -> Rational:
    return np.dot(a, b) if a.size and b.size else np.full((a.shape[0], b.shape[1]), Fraction(0), object)


def _sums_back(a: Rational, b: Rational, pull: Callable[[Rational], tuple[Rational, Rational]]) -> Pull:
    """The gradients of two inputs that were broadcast."""

    def summed(g: Rational) -> Sequence[Rational]:
        left, right = pull(g)
        return [_summed(left, a.shape), _summed(right, b.shape)]

    return summed


def _abs(_: Attrs, a: Rational) -> Valued:
    sign = np.where(a > 0, 1, np.where(a < 0, -1, 0))
    return abs(a), lambda g: [g * sign]


def _clip(p: Attrs, a: Rational) -> Valued:
    low, high = Fraction(p["a_min"]), Fraction(p["a_max"])
    kept = low + _where(a > low, a - low) - _where(a > high, a - high)
    return kept, lambda g: [_where((a >= low) & (a <= high), g)]


def _reshape(p: Attrs, a: Rational) -> Valued:
    shape = literal_eval(str(p["shape"]))
    if any(side < -1 or side == 0 for side in shape) or "reverse" in p:
        raise NotCovered("a shape with codes")
    return a.reshape(shape), lambda g: [g.reshape(a.shape)]


def _tile(p: Attrs, a: Rational) -> Valued:
    times = literal_eval(str(p["reps"]))
    if a.ndim != 1 or len(times) != 1:
        raise NotCovered("tile of several axes")
    return np.tile(a, times[0]), lambda g: [g.reshape(times[0], -1).sum(axis=0)]


def _slice_axis(p: Attrs, a: Rational) -> Valued:
    axis, begin, end = (None if p[k] == "None" else int(p[k]) for k in ("axis", "begin", "end"))
    at = (*[slice(None)] * (axis % a.ndim if axis is not None else 0), slice(begin, end))
    return a[at], lambda g: [_padded(g, a.shape, at)]


def _dot(p: Attrs, a: Rational, b: Rational) -> Valued:
    if not a.ndim == b.ndim == 2 or not set(p) <= {"transpose_a", "transpose_b"}:
        raise NotCovered("dot of other than matrices")
    left = a.T if p.get("transpose_a") == "True" else a
    right = b.T if p.get("transpose_b") == "True" else b

    def pull(g: Rational) -> Sequence[Rational]:
        d_left, d_right = _product(g, right.T), _product(left.T, g)
        return [d_left.T if left is not a else d_left, d_right.T if right is not b else d_right]

    return _product(left, right), pull


def _fully_connected(p: Attrs, a: Rational, weight: Rational, *bias: Rational) -> Valued:
    flatten = p.get("flatten", "True") == "True"
    flat = a.reshape(len(a), -1) if flatten else a.reshape(-1, a.shape[-1])
    out = _product(flat, weight.T)
    for each in bias:
        out = out + each.reshape(-1)

    def pull(g: Rational) -> Sequence[Rational]:
        rows = g.reshape(-1, len(weight))
        of_bias = [rows.sum(axis=0).reshape(each.shape) for each in bias]
        return [_product(rows, weight).reshape(a.shape), _product(rows.T, flat), *of_bias]

    front = (len(a),) if flatten else a.shape[:-1]
    return out.reshape(*front, len(weight)), pull


def _concat(p: Attrs, *x: Rational) -> Valued:
    axis = int(p.get("dim", 1))
    ends = np.cumsum([0, *[part.shape[axis] for part in x]])
    places = [(*[slice(None)] * (axis % x[0].ndim), slice(low, high)) for low, high in pairwise(ends)]
    return np.concatenate(x, axis=axis), lambda g: [g[at] for at in places]


RULES: dict[str, Callable[..., Valued]] = {
    "_copy": lambda _, a: (a, lambda g: [g]),
    "identity": lambda _, a: (a, lambda g: [g]),
    "BlockGrad": lambda _, a: (a, lambda g: [_where(np.zeros(g.shape, bool), g)]),
    "negative": lambda _, a: (-a, lambda g: [-g]),
    "square": lambda _, a: (a * a, lambda g: [2 * a * g]),
    "abs": _abs,
    "relu": lambda _, a: (_where(a > 0, a), lambda g: [_where(a > 0, g)]),
    "clip": _clip,
    "_mul_scalar": lambda p, a: (a * Fraction(p["scalar"]), lambda g: [g * Fraction(p["scalar"])]),
    "_plus_scalar": lambda p, a: (a + Fraction(p["scalar"]), lambda g: [g]),
    "elemwise_add": lambda _, a, b: (a + b, lambda g: [g, g]),
    "elemwise_sub": lambda _, a, b: (a - b, lambda g: [g, -g]),
    "elemwise_mul": lambda _, a, b: (a * b, lambda g: [g * b, g * a]),
    "broadcast_add": lambda _, a, b: (a + b, _sums_back(a, b, lambda g: (g, g))),
    "broadcast_sub": lambda _, a, b: (a - b, _sums_back(a, b, lambda g: (g, -g))),
    "broadcast_mul": lambda _, a, b: (a * b, _sums_back(a, b, lambda g: (g * b, g * a))),
    "Flatten": lambda _, a: (a.reshape(len(a), -1), lambda g: [g.reshape(a.shape)]),
    "Reshape": _reshape,
    "transpose": lambda p, a: _transposed(a, tuple(literal_eval(str(p.get("axes", "()"))))),
    "tile": _tile,
    "slice_axis": _slice_axis,
    "dot": _dot,
    "FullyConnected": _fully_connected,
    "Concat": _concat,
}
"""Value and gradients of operators of one output, from the texts of their parameters and their inputs."""
COVERED = frozenset(RULES) - {"identity"}  # another name of _copy
"""Operators that the witness knows, at least with some parameters; it asks no page."""


def witness(program: Program) -> tuple[list[Rational], dict[str, Rational]]:
    """Outputs and gradients of a program of level 2 that binds, runs forward and runs backward once.

    Args:
        program: a program whose first backward pass has head gradients.

    Returns:
        the outputs, and the sum of the gradients that a variable's consumers send it, by the variable's name.

    Raises:
        NotCovered: an operator is not known here, or a value is infinite or no number.
    """
    values: dict[int, Rational] = {}
    pulls: dict[int, Pull] = {}
    for number, node in enumerate(program["nodes"]):
        if node["op"] == "null":
            values[number] = fractions(array_of(program["arrays"][node["name"]]).astype(np.float64))
            continue
        if any(output for _, output in node.get("inputs", [])):
            raise NotCovered("an operator of several outputs")
        inputs = [values[source] for source, _ in node["inputs"]]
        if not inputs or node["op"] not in RULES:
            raise NotCovered(node["op"])
        values[number], pulls[number] = RULES[node["op"]](node.get("attrs", {}), *inputs)
    sums = {number: np.full(value.shape, Fraction(0), object) for number, value in values.items()}
    backward = next((step for step in program["steps"] if step["do"] == "backward"), None)
    if backward is not None and backward.get("heads") is not None:
        for (number, _), spec in zip(program["heads"], backward["heads"], strict=True):
            sums[number] = sums[number] + fractions(array_of(spec).astype(np.float64))
        for number in reversed(range(len(program["nodes"]))):
            if number in pulls:
                sources = program["nodes"][number]["inputs"]
                for (source, _), part in zip(sources, pulls[number](sums[number]), strict=True):
                    sums[source] = sums[source] + part
    place = {node["name"]: number for number, node in enumerate(program["nodes"])}
    return [values[number] for number, _ in program["heads"]], {n: sums[place[n]] for n in variables(program)}
