"""Cases of operators that draw random numbers: of these a suite knows ranges and shares instead of values.

A *range* holds every number that an operator draws, but for a probability that never shows. A *share* is the part of
many numbers that are up to a threshold; the program counts them, and Hoeffding's inequality says how far the share may
be from the probability. Both are values with bounds, so that judges need no other rule.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import decides
from ...kernels.foundation import get
from ..drawing.draws import Draw
from ..drawing.random_numbers import random_program
from ..judging.distributions import Distribution, distribution_of
from ..judging.reference import Program, Trace
from ..judging.statistical import FALSE_ALARM, ROUNDING, ULPS, drawing, draws_numbers, limit
from ..programs.program import operators
from ..programs.values import array_of

MASKS = ("Dropout", "LeakyReLU")
"""Operators that draw a factor for each element."""
WHOLE = ("_random_randint", "_sample_multinomial")
"""Operators that draw whole numbers of an integral type."""
FEW = 400
"""Numbers of an array whose ranges are known, about."""
MANY = 20_000
"""Numbers of an array whose shares are known, about."""
SHARES = (0.15, 0.5, 0.85)
"""What parts of the numbers lie below a threshold, about."""
FAR = 4.0
"""A range ends this many times as far from the median as the number that FALSE_ALARM of all exceed."""
REACH = 2.0**20
"""Numbers that are drawn lie within this, but for a probability that never shows."""
GRID = 1024
"""Thresholds are multiples of one part of this many, and so have few digits in every type."""
COMPARED, COUNTED = "_lesser_equal_scalar", "mean"
"""The operators that make a share."""
Values = tuple[np.ndarray, np.ndarray]
"""A value for each element of an array, and its bound."""


def is_certain(program: Program) -> bool:
    """Whether no result depends on random numbers: Dropout drops nothing where p is 0, nor where it predicts."""
    if not draws_numbers(program):
        return True
    if set(operators(program)) != {"Dropout"}:
        return False
    p = drawing(program)[1]
    return p.p == 0 or (p.mode == "training" and not any(step.get("train") for step in program["steps"]))


def is_known(program: Program) -> bool:
    """Whether :func:`known` has values for a program: one operator draws numbers, and others count them at most."""
    if program["level"] > 2 or "seed" not in {step["do"] for step in program["steps"]}:
        return False
    return len(operators(program)) == 1 or COUNTED in operators(program)


# --- programs -------------------------------------------------------------------------------------


def certain_dropout(draw: Draw, level: int) -> Program:
    """A program of Dropout whose results do not depend on random numbers."""
    program = random_program(draw, ["Dropout"], level, FEW)
    attrs = program["nodes"][-1]["attrs"]
    if draw.boolean():
        attrs["p"] = "0.0"
    else:
        attrs.pop("mode", None)
        program["steps"] = [step for step in program["steps"] if step["do"] in ("bind", "seed")]
        program["steps"].append({"do": "forward", "train": False})
    return program


def shares(draw: Draw, name: str, *, double: bool) -> Program:
    """A program of level 1 that counts how many of the numbers that an operator draws are up to some thresholds.

    Args:
        draw: the source of choices.
        name: the operator.
        double: whether it draws in double precision, if it can.
    """
    program = random_program(draw, [name], 1, MANY)
    node, arrays = program["nodes"][-1], program["arrays"]
    if double:
        for spec in arrays.values():
            spec["dtype"] = "float64"
        if "dtype" in get(name).params._fields and name not in WHOLE:
            node["attrs"]["dtype"] = "float64"
    if name in MASKS:
        spec = arrays["data"]
        element = 1 if name == "Dropout" else -1
        arrays["data"] = {**spec, "elements": [element] * math.prod(spec["shape"])}
        program["steps"] = [step for step in program["steps"] if step.get("train", True)]
    if name == "_shuffle":
        _append(program, "slice_axis", {"axis": "0", "begin": "0", "end": str(MANY // 2)})
    if name in WHOLE:
        _append(program, "Cast", {"dtype": "float32"})
    source, program["heads"] = len(program["nodes"]) - 1, []
    for threshold in _thresholds(program):
        _append(program, COMPARED, {"scalar": repr(threshold)}, source)
        _append(program, COUNTED, {"axis": "1"} if name.startswith("_sample_") else {})
        program["heads"].append([len(program["nodes"]) - 1, 0])
    return program


def _append(program: Program, op: str, attrs: dict[str, str], source: int | None = None) -> None:
    nodes = program["nodes"]
    entry = [len(nodes) - 1 if source is None else source, 0]
    nodes.append({"op": op, "name": f"n{len(nodes)}", "inputs": [entry], "attrs": attrs})


def _thresholds(program: Program) -> list[float]:
    """Thresholds on both sides of the two numbers that Dropout gives, else those up to which SHARES of all lie."""
    name, p, _ = drawing(program)
    if name == "Dropout":
        return [(math.floor(end * GRID) + side) / GRID for end in (0, _growth(p)) for side in (-1, 2)]
    found = {quantile(each, share) for each in _distributions(program) for share in SHARES}
    return sorted({(math.floor(number * GRID) + 0.5) / GRID for number in found})  # never a whole number


def quantile(right: Distribution, share: float) -> float:
    """The number up to which a part of a distribution lies, by bisection.

    Args:
        right: the distribution; its numbers lie within REACH.
        share: from 0 to 1.
    """
    low, high = -REACH, REACH
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if right.up_to(np.array([middle]))[0] < share else (low, middle)
    return high


# --- what is known --------------------------------------------------------------------------------


@decides("oracle/suite-random")
def known(program: Program, trace: Trace) -> dict[str, Values]:
    """Values and bounds for the arrays of a trace, by name.

    Args:
        program: one that :func:`is_known` accepts.
        trace: this implementation's.
    """
    name, p, inputs = drawing(program)
    if COUNTED in operators(program):
        return {where: _share(program, where, array) for where, array in trace.items()}
    if name in MASKS:
        return {where: _masked(program, where, name, p, inputs[0]) for where in trace}
    low, high = np.array([_range(right) for right in _distributions(program)]).T
    return {where: _of_rows(array, (low + high) / 2, (high - low) / 2) for where, array in trace.items()}


def _of_rows(array: np.ndarray, values: np.ndarray, bounds: np.ndarray) -> Values:
    """A value and a bound for each element of an array from those of its rows, or from one for all."""
    rows = (-1, *[1] * (array.ndim - 1))
    return np.broadcast_to(values.reshape(rows), array.shape), np.broadcast_to(bounds.reshape(rows), array.shape)


def _distributions(program: Program) -> list[Distribution]:
    """The distribution of each row of the numbers that are drawn, or of all."""
    name, p, inputs = drawing(program)
    if name == "Dropout":
        return [Distribution.steps("Dropout", [0.0, _growth(p)], [p.p, 1 - p.p])]
    if name == "LeakyReLU":
        return [Distribution.uniform(-float(np.float32(p.upper_bound)), -float(np.float32(p.lower_bound)))]
    if name == "_shuffle":
        elements = np.sort(inputs[0].astype(np.float64))
        return [Distribution.steps("the elements", elements, np.full(elements.size, 1 / elements.size))]
    if name.startswith("_sample_"):
        return [distribution_of(name, p, list(block)) for block in zip(*inputs, strict=True)]
    return [distribution_of(name, p, [])]


def _growth(p: Any) -> float:
    return float(np.float32(1) / (np.float32(1) - np.float32(p.p)))


def _range(right: Distribution) -> tuple[float, float]:
    """The ends of a range."""
    low, middle, high = (quantile(right, share) for share in (FALSE_ALARM, 0.5, 1 - FALSE_ALARM))
    return max(right.low, middle - FAR * (middle - low) - 1), min(right.high, middle + FAR * (high - middle) + 1)


def _share(program: Program, where: str, array: np.ndarray) -> Values:
    """The probabilities of what an output counts."""
    counted = program["nodes"][program["heads"][int(where.partition("/output")[2])][0]]
    compared = program["nodes"][counted["inputs"][0][0]]
    threshold = np.array([float(compared["attrs"]["scalar"])])
    values = np.array([float(right.up_to(threshold)[0]) for right in _distributions(program)])
    sure = (values == 0) | (values == 1)
    return _of_rows(array, values, np.where(sure, 0.0, limit(_independent(program))) + ROUNDING)


def _independent(program: Program) -> int:
    """How many numbers are drawn independently in a row."""
    name, p, inputs = drawing(program)
    if name == "_shuffle":
        return inputs[0].size // 2
    if name in MASKS or name.endswith("_like"):
        return math.prod(s for axis, s in enumerate(inputs[0].shape) if axis not in getattr(p, "axes", ()))
    return math.prod(p.shape)


def _masked(program: Program, where: str, name: str, p: Any, data: np.ndarray) -> Values:
    """Values and bounds of an input, or of a head gradient, times a factor in a range."""
    step = program["steps"][int(where.partition("/")[0])]
    scaled = data if step["do"] == "forward" else array_of(step["heads"][0])
    scaled, trains = scaled.astype(np.float64), step["do"] != "forward" or step["train"]
    if name == "Dropout":
        low, high = (0.0, _growth(p)) if trains or p.mode == "always" else (1.0, 1.0)
        ends = scaled * low, scaled * high
    else:
        slopes = float(np.float32(p.lower_bound)), float(np.float32(p.upper_bound))
        low, high = slopes if trains else (sum(slopes) / 2,) * 2
        ends = np.where(data > 0, scaled, scaled * low), np.where(data > 0, scaled, scaled * high)
    values, bounds = (ends[0] + ends[1]) / 2, np.abs(ends[0] - ends[1]) / 2
    return values, bounds + np.where(values == scaled, 0, 2 * ULPS * (np.abs(values) + bounds))
