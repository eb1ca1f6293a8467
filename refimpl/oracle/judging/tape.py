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


def _rule(op: str, p: dict[str, Any], x: list[Rational]) -> tuple[Rational, Pull]:
    """Value and gradients of one operator of one output."""
    a, b = x[0], x[1] if len(x) > 1 else x[0]
    match op:
        case "_copy" | "identity":
            return a, lambda g: [g]
        case "BlockGrad":
            return a, lambda g: [_where(np.zeros(g.shape, bool), g)]
        case "negative":
            return -a, lambda g: [-g]
        case "square":
            return a * a, lambda g: [2 * a * g]
        case "abs":
            sign = np.where(a > 0, 1, np.where(a < 0, -1, 0))
            return abs(a), lambda g: [g * sign]
        case "relu":
            return _where(a > 0, a), lambda g: [_where(a > 0, g)]
        case "clip":
            low, high = Fraction(p["a_min"]), Fraction(p["a_max"])
            kept = low + _where(a > low, a - low) - _where(a > high, a - high)
            return kept, lambda g: [_where((a >= low) & (a <= high), g)]
        case "_mul_scalar":
            return a * Fraction(p["scalar"]), lambda g: [g * Fraction(p["scalar"])]
        case "_plus_scalar":
            return a + Fraction(p["scalar"]), lambda g: [g]
        case "elemwise_add":
            return a + b, lambda g: [g, g]
        case "elemwise_sub":
            return a - b, lambda g: [g, -g]
        case "elemwise_mul":
            return a * b, lambda g: [g * b, g * a]
        case "broadcast_add":
            return a + b, lambda g: [_summed(g, a.shape), _summed(g, b.shape)]
        case "broadcast_sub":
            return a - b, lambda g: [_summed(g, a.shape), -_summed(g, b.shape)]
        case "broadcast_mul":
            return a * b, lambda g: [_summed(g * b, a.shape), _summed(g * a, b.shape)]
        case "Flatten":
            return a.reshape(len(a), -1), lambda g: [g.reshape(a.shape)]
        case "Reshape":
            shape = literal_eval(str(p["shape"]))
            if any(side < -1 or side == 0 for side in shape) or "reverse" in p:
                raise NotCovered("a shape with codes")
            return a.reshape(shape), lambda g: [g.reshape(a.shape)]
        case "transpose":
            return _transposed(a, tuple(literal_eval(str(p.get("axes", "()")))))
        case "tile" if a.ndim == 1 and len(literal_eval(str(p["reps"]))) == 1:
            times = literal_eval(str(p["reps"]))[0]
            return np.tile(a, times), lambda g: [g.reshape(times, -1).sum(axis=0)]
        case "slice_axis":
            axis, begin, end = (None if p[k] == "None" else int(p[k]) for k in ("axis", "begin", "end"))
            at = (*[slice(None)] * (axis % a.ndim if axis is not None else 0), slice(begin, end))
            return a[at], lambda g: [_padded(g, a.shape, at)]
        case "dot" if a.ndim == b.ndim == 2 and set(p) <= {"transpose_a", "transpose_b"}:
            left = a.T if p.get("transpose_a") == "True" else a
            right = b.T if p.get("transpose_b") == "True" else b

            def pull(g: Rational) -> Sequence[Rational]:
                d_left, d_right = _product(g, right.T), _product(left.T, g)
                return [d_left.T if left is not a else d_left, d_right.T if right is not b else d_right]

            return _product(left, right), pull
        case "FullyConnected":
            flat = a.reshape(len(a), -1) if p.get("flatten", "True") == "True" else a.reshape(-1, a.shape[-1])
            out = _product(flat, b.T)
            if len(x) > 2:
                out = out + x[2].reshape(-1)
            front = (len(a),) if p.get("flatten", "True") == "True" else a.shape[:-1]

            def pull_layer(g: Rational) -> Sequence[Rational]:
                rows = g.reshape(-1, len(b))
                bias = [rows.sum(axis=0).reshape(x[2].shape)] if len(x) > 2 else []
                return [_product(rows, b).reshape(a.shape), _product(rows.T, flat), *bias]

            return out.reshape(*front, len(b)), pull_layer
        case "Concat":
            axis = int(p.get("dim", 1))
            ends = np.cumsum([0, *[part.shape[axis] for part in x]])
            places = [(*[slice(None)] * (axis % a.ndim), slice(low, high)) for low, high in pairwise(ends)]
            return np.concatenate(x, axis=axis), lambda g: [g[at] for at in places]
    raise NotCovered(op)


def witness(program: Program) -> tuple[list[Rational], dict[str, Rational]]:
    """Outputs and gradients of a program of level 2 that binds, runs forward and runs backward once.

    Args:
        program: whose first backward pass has head gradients.

    Returns:
        the outputs, and the sum of what every variable's consumers send it, by the variable's name.

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
        if not inputs:
            raise NotCovered(node["op"])
        values[number], pulls[number] = _rule(node["op"], node.get("attrs", {}), inputs)
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


COVERED = frozenset({
    "_copy", "BlockGrad", "negative", "square", "abs", "relu", "clip", "_mul_scalar", "_plus_scalar", "elemwise_add",
    "elemwise_sub", "elemwise_mul", "broadcast_add", "broadcast_sub", "broadcast_mul", "Flatten", "Reshape",
    "transpose", "tile", "slice_axis", "dot", "FullyConnected", "Concat",
})
"""Operators that the witness knows, at least with some parameters; it asks no page."""
