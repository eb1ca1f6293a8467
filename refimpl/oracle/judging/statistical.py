"""Whether numbers were drawn from the right distribution: the tier *statistical*.

No two implementations draw the same numbers, so arrays of many numbers are tested: their distribution function
(Dvoretzky, Kiefer, Wolfowitz and Massart), neighbours and repeated passes (Hoeffding), mean and spread of normal
numbers. Every test has an inequality that holds for any number of elements, so a right implementation fails one with a
probability below FALSE_ALARM. Certain properties are compared exactly: supports, the elements of a shuffled array, and
the zeros of dropped elements in the gradient.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...base import decides
from ...kernels.foundation import get
from ..drawing.random_numbers import random_operators
from ..programs.program import operators
from ..programs.values import array_of
from .distributions import Distribution, distribution_of, has_distribution, normal
from .reference import Program, Trace

FALSE_ALARM = 1e-9
"""The probability, at most, with which one test fails a right implementation."""
LOGARITHM = math.log(2 / FALSE_ALARM)
ROUNDING = 1e-5
"""How far rounding to single precision may move a distribution function."""
ULPS = 4 * 2.0**-24
"""How far a kept element may be from x / (1 - p), as a part of it: both quotients are in single precision."""
_NAMES = frozenset(random_operators())
Unlikely = tuple[str, str]
"""The name of an array, and what is wrong with it."""


def draws_numbers(program: Program) -> bool:
    """Whether a program draws random numbers."""
    if any(step["do"] == "create" and step.get("optimizer") == "sgld" for step in program["steps"]):
        return True
    return any(
        node.get("attrs", {}).get("act_type") == "rrelu" if node["op"] == "LeakyReLU" else node["op"] in _NAMES
        for node in program.get("nodes", [])
    )


def can_judge(program: Program) -> bool:
    """Whether the numbers that a program draws can be judged: one operator draws them, of a distribution, or SGLD."""
    if program["level"] == 5:
        return True
    if len(operators(program)) != 1:
        return False
    name, p, inputs = drawing(program)
    if name in ("Dropout", "LeakyReLU", "_shuffle"):
        return True
    if not name.startswith("_sample_"):
        return has_distribution(name, p, [])
    return all(has_distribution(name, p, [*block]) for block in zip(*inputs, strict=True))


def drawing(program: Program) -> tuple[str, Any, list[np.ndarray]]:
    """The operator that draws numbers: its name, parameters and inputs."""
    node = next(node for node in program["nodes"] if node["op"] != "null")
    inputs = [array_of(program["arrays"][program["nodes"][number]["name"]]) for number, _ in node.get("inputs", ())]
    return node["op"], get(node["op"]).parse(node.get("attrs", {})), inputs


@decides("oracle/statistical")
def unlikely(program: Program, trace: Trace) -> list[Unlikely]:
    """The mismatches of a trace: properties that right numbers have with a probability below FALSE_ALARM, or never.

    Args:
        program: a program of ``drawing.random_numbers``: one operator that draws numbers, or steps of SGLD.
        trace: the trace to be judged, with all arrays in their right shapes.
    """
    with np.errstate(all="ignore"):
        if program["level"] == 5:
            return list(_langevin(program, trace))
        name, p, inputs = drawing(program)
        if name in ("Dropout", "LeakyReLU"):
            return list(_masked(program, trace, name, p, inputs[0]))
        outputs = [(where, value) for where, value in trace.items() if where.endswith("/output0")]
        if name == "_shuffle":
            return list(_shuffled(inputs[0], outputs))
        return list(_sampled(name, p, inputs, outputs))


# --- tests --------------------------------------------------------------------------------------


def limit(count: int, width: float = 1.0) -> float:
    """How far the mean of ``count`` numbers from an interval of ``width`` may be from its expectation (Hoeffding)."""
    return width * math.sqrt(LOGARITHM / (2 * max(count, 1)))


def doubts(values: np.ndarray, right: Distribution) -> Iterator[str]:
    """The unlikely property of independent numbers of a distribution; None where there is none."""
    values = values.astype(np.float64).ravel()
    if not values.size:
        return
    if not right.possible(values).all():
        bad = values[~right.possible(values)][0]
        yield f"{bad:.9g} is no number of {right.text}"
        return
    count = len(values)
    at = np.unique(values)
    at = at[:: max(1, len(at) // 500)]
    ordered = np.sort(values)
    below, up_to = np.searchsorted(ordered, at, "left") / count, np.searchsorted(ordered, at, "right") / count
    left, mine = right.below(at), right.up_to(at)
    apart = np.maximum(np.abs(below - left), np.abs(up_to - mine))
    worst, allowed = int(apart.argmax()), limit(count) + ROUNDING
    if apart[worst] > allowed:
        yield (
            f"of {count} numbers of {right.text} {up_to[worst]:.4f} are up to {at[worst]:.6g}, expected "
            f"{mine[worst]:.4f} within {allowed:.4f}"
        )
    if right.text.startswith("normal"):
        yield from _moments(right.standard(values), right.text)
    yield from independent(right.middle(values), right.text)


def _moments(z: np.ndarray, text: str) -> Iterator[str]:
    """Mean and spread of standard normal numbers: Chernoff's bound, and Laurent's and Massart's."""
    count = len(z)
    mean, allowed = float(z.mean()), math.sqrt(2 * LOGARITHM / count) + ROUNDING
    if abs(mean) > allowed:
        yield f"the mean of {count} numbers of {text} is off by {mean:.4g} deviations, allowed are {allowed:.4g}"
    spread, allowed = float((z * z).mean()) - 1, 2 * math.sqrt(LOGARITHM / count) + 2 * LOGARITHM / count + ROUNDING
    if abs(spread) > allowed:
        yield f"the variance of {count} numbers of {text} is off by {spread:.4g} of it, allowed is {allowed:.4g}"


def independent(parts: np.ndarray, text: str, others: np.ndarray | None = None) -> Iterator[str]:
    """Whether centred numbers between -1/2 and 1/2 are independent of their neighbours, or of ``others``."""
    half = len(parts) // 2
    if others is not None:
        pairs = {"a second pass": (parts, others)}
    else:
        pairs = {
            "neighbours": (parts[0:2 * half:2], parts[1:2 * half:2]), "halves": (parts[:half], parts[half:2 * half]),
        }
    for name, (one, other) in pairs.items():
        together, allowed = float((one * other).mean()), limit(len(one), 0.5)
        if abs(together) > allowed:
            yield (
                f"{name} of numbers of {text} depend on each other: their mean product is {together:.4g}, allowed is "
                f"{allowed:.4g}"
            )


# --- what is drawn ------------------------------------------------------------------------------


def _sampled(
    name: str, p: Any, inputs: list[np.ndarray], outputs: list[tuple[str, np.ndarray]],
) -> Iterator[Unlikely]:
    before: dict[int, np.ndarray] = {}
    for where, value in outputs:
        several = name.startswith("_sample_")
        blocks = inputs[0].shape[0] if several else 1
        for block, part in enumerate(value.reshape(blocks, -1)):
            right = distribution_of(name, p, [array[block] for array in inputs] if several else [])
            found = list(doubts(part, right))
            parts = right.middle(part.astype(np.float64))
            if not found and block in before:
                found = list(independent(parts, right.text, before[block]))
            before[block] = parts
            yield from ((where, f"{where}: {text}") for text in found)


def _shuffled(data: np.ndarray, outputs: list[tuple[str, np.ndarray]]) -> Iterator[Unlikely]:
    """Every order is equally likely. An exchange of two moves a mean product by 1 / n at most (McDiarmid)."""
    order, count = np.argsort(data), len(data)
    allowed = math.sqrt(LOGARITHM / (2 * count))
    centred = (np.arange(count) + 0.5) / count - 0.5
    before = None
    for name, found in outputs:
        if not np.array_equal(data[order], np.sort(found)):
            yield name, f"{name}: the shuffled array has other elements"
            return
        rank = np.searchsorted(data[order], found)
        came = centred[order[rank]]  # from where
        products = {"old places": centred @ came, "values": centred @ centred[rank]}
        if before is not None:
            products["those of the pass before"] = before @ came
        for what, product in products.items():
            together = float(product) / count
            if abs(together) > allowed:
                yield name, (
                    f"{name}: new places depend on {what}: the mean product is {together:.4g}, allowed is {allowed:.4g}"
                )
        before = came


def _masked(program: Program, trace: Trace, name: str, p: Any, data: np.ndarray) -> Iterator[Unlikely]:
    """Dropout and rrelu: a factor for each element, drawn anew in every pass and used in the backward pass too."""
    before: Any = None
    for number, step in enumerate(program["steps"]):
        where = f"{number}/output0"
        if step["do"] == "forward":
            found = trace[where]
            factor = found.astype(np.float64) / data
            drawn = step["train"] or getattr(p, "mode", "") == "always"
            texts = list(_factors(name, p, data, factor, before, drawn=drawn))
            before = factor
        elif step["do"] == "backward":
            where = next(each for each in trace if each.startswith(f"{number}/gradient:"))
            wanted = before * array_of(step["heads"][0])
            wrong = ~(np.abs(trace[where] - wanted) <= 2 * ULPS * np.abs(wanted))
            texts = []
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                text = f"the gradient at {list(at)} is {trace[where][at]:.9g}, but the pass before gave "
                texts = [f"{text}{before[at]:.9g} times the input, which makes {wanted[at]:.9g}"]
        else:
            continue
        yield from ((where, f"{where}: {text}") for text in texts)
        if texts:
            return


def _factors(
    name: str, p: Any, data: np.ndarray, factor: np.ndarray, before: np.ndarray | None, *, drawn: bool,
) -> Iterator[str]:
    if name == "LeakyReLU":
        low, high = float(np.float32(p.lower_bound)), float(np.float32(p.upper_bound))
        if not np.array_equal(factor[data > 0], np.ones(int((data > 0).sum()))):
            yield "a positive element is not what it was"
        elif not drawn:
            if not np.allclose(factor[data < 0], (low + high) / 2, rtol=ULPS, atol=0):
                yield "in prediction a negative element is not multiplied by the mean slope"
        else:  # a slope is known but for the rounding of the product
            width = high - low
            unit = np.clip((factor[data < 0] - low) / width, -ROUNDING, 1 + ROUNDING)
            yield from doubts(np.clip(unit, 0, 1), Distribution.uniform(0.0, 1.0))
            if (np.abs(unit - 0.5) >= 0.5 + ROUNDING).any():
                yield f"a slope is not between {low:g} and {high:g}"
        return
    if not drawn or p.p == 0:
        if not np.array_equal(factor, np.ones(data.shape)):
            yield "nothing may be dropped, and an element is not what it was"
        return
    kept = factor != 0
    if not np.allclose(factor[kept], 1 / (1 - p.p), rtol=ULPS, atol=0):
        wrong = factor[kept][~np.isclose(factor[kept], 1 / (1 - p.p), rtol=ULPS, atol=0)][0]
        yield f"an element is multiplied by {wrong:.9g}, not by 0 or 1 / (1 - p) = {1 / (1 - p.p):.9g}"
        return
    one = kept[tuple(slice(0, 1) if axis in p.axes else slice(None) for axis in range(data.ndim))]
    if not np.array_equal(np.broadcast_to(one, kept.shape), kept):
        yield f"along the axes {list(p.axes)} one decision holds for all, and some are others"
    share, allowed = float(one.mean()), limit(one.size)
    if abs(share - (1 - p.p)) > allowed:
        yield f"{share:.4f} of {one.size} elements are kept, expected {1 - p.p:.4f} within {allowed:.4f}"
        return
    centred = one.ravel() - (1 - p.p) * 1.0
    yield from independent(centred, "the mask")
    if before is not None:
        old = (before != 0)[tuple(slice(0, 1) if axis in p.axes else slice(None) for axis in range(data.ndim))]
        yield from independent(centred, "the mask", old.ravel() - (1 - p.p))


def _langevin(program: Program, trace: Trace) -> Iterator[Unlikely]:
    """SGLD: half a step of SGD, and normal noise of the variance lr."""
    weights = {name: array_of(spec).astype(np.float64) for name, spec in program["arrays"].items()}
    given = program["steps"][0]["parameters"]
    rate, decay = given["learning_rate"], given.get("wd", 0.0)
    for number, step in enumerate(program["steps"]):
        if step["do"] != "update":
            continue
        for index, spec in zip(step["indices"], step["gradients"], strict=True):
            weight, name = weights[str(index)], f"{number}/weight:{index}"
            slope = array_of(spec) * given.get("rescale_grad", 1.0)
            if "clip_gradient" in given:
                slope = np.clip(slope, -given["clip_gradient"], given["clip_gradient"])
            moved = weight - rate / 2 * (slope + decay * weight)
            weights[str(index)] = trace[name].astype(np.float64)
            noise = (weights[str(index)] - moved).ravel()
            yield from ((name, f"{name}: the noise: {text}") for text in doubts(noise, normal(0.0, math.sqrt(rate))))
