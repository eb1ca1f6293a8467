"""Random numbers: right implementations pass, and each planted fault of a distribution or a mask is named.

    REFIMPL_ORACLE_SEED=7 python -m pytest -m long tests/oracle/test_statistical.py

draws 40 programs with every operator, which takes two minutes.
"""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from refimpl.oracle import Capabilities, Exclusions, check_program, judge, program_of
from refimpl.oracle.backends import Reference, executor_backend, forward_backend
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.drawing.random_numbers import (
    PARAMETERS,
    SIZE,
    langevin_program,
    possible,
    random_operators,
    random_program,
)
from refimpl.oracle.judging.distributions import KINDS, Distribution, lower_gamma, normal
from refimpl.oracle.judging.reference import trace_of
from refimpl.oracle.judging.statistical import can_judge, doubts, draws_numbers, independent, unlikely
from refimpl.oracle.programs.values import array_of

SEED = os.environ.get("REFIMPL_ORACLE_SEED", "0")
MASKS = ("Dropout", "LeakyReLU")


def program_for(name, number=0):
    draw = SeededDraw(f"{SEED}/{name}/{number}")
    if name == "sgld":
        return check_program(langevin_program(draw))
    return check_program(random_program(draw, [name], 2 if name in MASKS else 1))


NAMES = (*random_operators(), "sgld")


@pytest.mark.clause("oracle/statistical")
@pytest.mark.parametrize("name", NAMES)
def test_the_reference_draws_what_it_must(name) -> None:
    verdict = judge(Reference(), program_for(name))
    assert verdict.status == "passed", verdict.reason
    assert verdict.statistical >= SIZE
    assert verdict.exact == verdict.bounded == verdict.free == 0


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_reference_draws_what_it_must_in_many_programs(name) -> None:
    for number in range(40):
        verdict = judge(Reference(), program_for(name, number))
        assert verdict.status == "passed", (number, verdict.reason)


# --- distribution functions ---------------------------------------------------------------------


def test_the_gamma_function_is_that_of_closed_forms() -> None:
    x = np.linspace(0, 20, 101)
    np.testing.assert_allclose(lower_gamma(1.0, x), -np.expm1(-x), atol=1e-12)
    np.testing.assert_allclose(lower_gamma(3.0, x), 1 - np.exp(-x) * (1 + x + x * x / 2), atol=1e-12)
    np.testing.assert_allclose(lower_gamma(0.5, x), [math.erf(math.sqrt(each)) for each in x], atol=1e-12)
    assert lower_gamma(5.0, np.array([-1.0, 1e6])).tolist() == [0.0, 1.0]


def test_the_normal_distribution_function_is_that_of_erf() -> None:
    x = np.linspace(-8, 8, 81)
    wanted = [0.5 * math.erfc(-(each - 1) / 2 / math.sqrt(2)) for each in x]
    np.testing.assert_allclose(normal(1.0, 2.0).up_to(x), wanted, atol=1e-12)


MOMENTS = {
    "uniform": lambda a, b: ((a + b) / 2, (b - a) ** 2 / 12), "normal": lambda a, b: (a, b * b),
    "exponential": lambda a: (1 / a, 1 / a**2), "gamma": lambda a, b: (a * b, a * b * b), "poisson": lambda a: (a, a),
    "negative_binomial": lambda k, p: (k * (1 - p) / p, k * (1 - p) / p**2),
    "generalized_negative_binomial": lambda mu, alpha: (mu, mu + alpha * mu * mu),
    "randint": lambda a, b: ((a + b - 1) / 2, ((b - a) ** 2 - 1) / 12),
}


@pytest.mark.parametrize("kind", PARAMETERS)
def test_moments_of_distributions_are_the_textbooks(kind) -> None:
    """Mean and variance from the distribution function, against formulas."""
    for given in PARAMETERS[kind]:
        right = KINDS[kind][0](*given.values())
        if right.below is right.up_to:
            x = np.linspace(-40, 160, 40_001)
            density = np.diff(right.up_to(x))
            x = (x[1:] + x[:-1]) / 2
        else:
            x = np.arange(-10.0, 1500.0)
            density = right.up_to(x) - right.below(x)
        mean, variance = MOMENTS[kind](*given.values())
        assert density @ x == pytest.approx(mean, abs=2e-3)
        assert density @ (x - mean) ** 2 == pytest.approx(variance, rel=2e-3)


# --- tests of numbers ---------------------------------------------------------------------------


def test_of_no_numbers_nothing_is_unlikely() -> None:
    assert list(doubts(np.zeros((0, 3)), normal(0.0, 1.0))) == []


def sample(seed=0, size=SIZE):
    return np.random.RandomState(seed).standard_normal(size)


@pytest.mark.clause("oracle/statistical")
def test_right_numbers_pass_every_test() -> None:
    for seed in range(20):
        assert list(doubts(sample(seed), normal(0.0, 1.0))) == []


@pytest.mark.clause("oracle/statistical")
@pytest.mark.parametrize(("spoil", "told"), [
    (lambda z: z * 1.03, "variance"),
    (lambda z: z / 1.03, "variance"),
    (lambda z: z + 0.05, "mean"),
    (lambda z: z * 1.2, "numbers of normal"),
    (lambda z: np.abs(z) * np.sqrt(1.0), "numbers of normal"),
    (lambda z: np.repeat(z[: len(z) // 2], 2), "neighbours"),
    (lambda z: np.tile(z[: len(z) // 2], 2), "halves"),
    (lambda z: np.where(np.arange(len(z)) == 7, np.nan, z), "is no number"),
])
def test_wrong_numbers_are_named(spoil, told) -> None:
    found = list(doubts(spoil(sample()), normal(0.0, 1.0)))
    assert any(told in text for text in found), found


def test_a_test_allows_what_its_inequality_allows() -> None:
    """The limit for 40,000 numbers, computed by hand: sqrt(ln(2e9) / 80000) = 0.01636."""
    unit = (np.arange(SIZE) + 0.5) / SIZE
    mixed = np.random.RandomState(1).permutation(unit)
    assert list(doubts(np.clip(mixed + 0.0160, 0, 1), Distribution.uniform(0.0, 1.0))) == []
    assert list(doubts(np.clip(mixed + 0.0168, 0, 1), Distribution.uniform(0.0, 1.0))) != []


def test_equal_passes_are_no_independent_ones() -> None:
    parts = np.random.RandomState(2).uniform(-0.5, 0.5, SIZE)
    assert list(independent(parts, "u", np.random.RandomState(3).uniform(-0.5, 0.5, SIZE))) == []
    assert "a second pass" in next(independent(parts, "u", parts))


# --- planted faults -----------------------------------------------------------------------------


class Spoilt(Reference):
    """Spoils the arrays of a trace whose name has ``part``."""

    def __init__(self, part, spoil) -> None:
        self.part, self.spoil = part, spoil

    def run(self, program):
        return {
            name: self.spoil(value).astype(value.dtype) if self.part in name else value
            for name, value in super().run(program).items()
        }


FAULTS = {
    "_random_normal": lambda x: x * 1.05 - x.mean() * 0.05,
    "_random_uniform": lambda x: x * 0.95,
    "_random_exponential": lambda x: 1.0 / np.maximum(x, 1e-3),
    "_random_gamma": lambda x: x * 1.1,
    "_random_poisson": lambda x: x + (np.arange(x.size) % 3 == 0).reshape(x.shape),
    "_random_negative_binomial": lambda x: x + 1,
    "_random_generalized_negative_binomial": lambda x: x + (x > 2),
    "_random_randint": lambda x: x + 1,
    "_random_normal_like": lambda x: x[::-1] * 0 + x[0],
    "_sample_normal": lambda x: x[::-1],
    "_sample_gamma": lambda x: x * 0.9,
    "_sample_multinomial": lambda x: x[:, ::-1] * 0 + 1,
    "_shuffle": lambda x: np.sort(x),
}
"""Wrong variance, range, rate, scale, support, offset, order, ... by operator."""


@pytest.mark.clause("oracle/statistical")
@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_distribution_is_found(name) -> None:
    verdict = judge(Spoilt("output", FAULTS[name]), program_for(name))
    assert verdict.status == "failed"
    assert verdict.mismatches[0].kind == "distribution"
    assert verdict.mismatches[0].tier == "statistical"


def test_shuffled_arrays_keep_their_elements() -> None:
    verdict = judge(Spoilt("output", lambda x: np.where(x == x[0], x[1], x)), program_for("_shuffle"))
    assert "has other elements" in verdict.reason


def test_an_order_that_stays_is_found() -> None:
    program = program_for("_shuffle")
    data = array_of(program["arrays"]["data"])
    for spoil in (lambda x: data, lambda x: data[::-1], lambda x: np.roll(data, 1)):
        assert "depend on old places" in judge(Spoilt("output", spoil), program).reason
    once = trace_of(program)["2/output0"]
    assert "depend on those of the pass before" in judge(Spoilt("output", lambda x: once), program).reason


def test_noise_of_a_wrong_variance_is_found() -> None:
    """sqrt(lr) in place of lr as the variance, and a gradient of the wrong sign."""
    program = program_for("sgld")
    trace = trace_of(program)
    assert unlikely(program, trace) == []
    rate = program["steps"][0]["parameters"]["learning_rate"]
    wrong = {name: value * np.float32(rate**0.25) for name, value in trace.items()}
    assert "the noise" in unlikely(program, wrong)[0][1]


def dropout(seed=1, *, exchanged=False, again=False, scale=1.0, shared=True):
    """A backend of Dropout in NumPy, with faults."""
    state = {"draw": np.random.RandomState(seed), "mask": None}

    @executor_backend(operators=["Dropout"])
    def run(symbol, args, aux, grads_in, grad_req, head_grads, is_train):
        del aux, grads_in, grad_req
        (node,) = [each for each in symbol.nodes if each.op == "Dropout"]
        data, p = args["data"], node.p.p
        if head_grads is None or again:
            shape = [1 if axis in node.p.axes and shared else side for axis, side in enumerate(data.shape)]
            keep = p if exchanged else 1 - p
            kept = state["draw"].random_sample(shape) < keep
            drawn = is_train or node.p.mode == "always"
            state["mask"] = kept.astype("float32") * np.float32(scale / (1 - p)) if drawn else np.ones(shape, "float32")
        mask = state["mask"] * np.ones(data.shape, "float32")
        gradients = {} if head_grads is None else {"data": mask * head_grads[0]}
        return [data * mask], gradients, {}

    return run


def dropout_programs():
    found = [program_for("Dropout", number) for number in range(12)]
    axes = [p for p in found if "axes" in p["nodes"][1]["attrs"]]
    return found[:3], axes[:1]


@pytest.mark.clause("oracle/statistical")
def test_masks_that_are_right_pass() -> None:
    plain, axes = dropout_programs()
    for program in plain + axes:
        verdict = judge(dropout(), program)
        assert verdict.status == "passed", verdict.reason


@pytest.mark.clause("oracle/statistical")
@pytest.mark.parametrize(("fault", "told"), [
    ({"exchanged": True}, "are kept, expected"), ({"scale": 1.0001}, "not by 0 or 1 / (1 - p)"),
    ({"again": True}, "but the pass before gave"),
])
def test_wrong_masks_are_named(fault, told) -> None:
    plain, _ = dropout_programs()
    for program in plain:
        verdict = judge(dropout(**fault), program)
        assert verdict.status == "failed"
        assert told in verdict.reason


def test_one_decision_along_axes_is_demanded() -> None:
    _, axes = dropout_programs()
    verdict = judge(dropout(shared=False), axes[0])
    assert "one decision holds for all" in verdict.reason


def test_slopes_outside_their_bounds_are_named() -> None:
    program = program_for("LeakyReLU")
    verdict = judge(Spoilt("2/output", lambda y: np.where(y < 0, y * 2, y)), program)
    assert verdict.mismatches[0].kind == "distribution"
    verdict = judge(Spoilt("gradient", lambda g: g * 1.001), program)
    assert "the pass before gave" in verdict.reason


@pytest.mark.parametrize(("name", "inputs"), [
    ("_sample_multinomial", [[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]]), ("_sample_multinomial", [[[0.5, 0.25]]]),
    ("_sample_multinomial", [[[1.5, -0.5]]]), ("_sample_multinomial", [[0.0, 0.0, 1.0]]),
    ("_sample_poisson", [[0.0, 1.0]]), ("_sample_exponential", [[-1.0]]), ("_sample_normal", [[1.0], [0.0]]),
    ("_sample_uniform", [[2.0], [1.0]]), ("_sample_gamma", [[1.0, 1.0], [1.0, np.inf]]),
    ("_sample_negative_binomial", [[1.0], [1.0]]), ("_sample_generalized_negative_binomial", [[1.0], [np.nan]]),
])
@pytest.mark.clause("oracle/statistical")
def test_what_is_no_distribution_is_not_judged(name: str, inputs: list) -> None:
    program = program_for(name)
    assert can_judge(program)
    for array, elements in zip(program["arrays"].values(), inputs, strict=True):
        values = np.array(elements, np.float32)
        array.pop("style", None)
        array.update(shape=list(values.shape), elements=[float(value) for value in values.ravel()])
    assert not can_judge(program)


@pytest.mark.clause("oracle/statistical")
def test_a_row_of_zeros_is_no_false_alarm() -> None:
    """Of probabilities that are all 0 the reference draws class 0; shrinking may make such rows."""
    program = program_for("_sample_multinomial")
    program["arrays"]["data"] = {"shape": [2, 3], "dtype": "float32", "elements": [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]}
    verdict = judge(Reference(), program)
    assert verdict.status == "passed"
    assert verdict.free
    assert not verdict.statistical


# --- drawing ------------------------------------------------------------------------------------


def test_they_are_drawn_where_the_implementation_has_them() -> None:
    programs = [program_of(0, i, Capabilities(level=1), level=1) for i in range(300)]
    random = [program for program in programs if draws_numbers(program)]
    assert 3 <= len(random) <= 30
    assert all(can_judge(program) for program in random)
    few = Capabilities(level=2, operators=frozenset({"relu", "LeakyReLU"}))
    assert not any(draws_numbers(program_of(0, i, few)) for i in range(300))
    assert possible(Capabilities(), Exclusions(operators=frozenset({"Dropout"})), 2) == ["LeakyReLU"]


def test_the_same_seed_gives_the_same_numbers() -> None:
    program = program_for("_random_normal")
    first, second = trace_of(program), trace_of(program)
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not np.array_equal(*first.values())


def test_numbers_inside_a_larger_graph_are_free() -> None:
    program = program_for("_random_normal")
    nodes = [*program["nodes"], {"op": "relu", "name": "r", "inputs": [[0, 0]], "attrs": {}}]
    verdict = judge(Reference(), {**program, "nodes": nodes, "heads": [[1, 0]]})
    assert verdict.status == "passed"
    assert verdict.free == 2 * SIZE
    assert verdict.statistical == 0


def test_functions_may_draw_from_numpy() -> None:
    """The step ``seed`` seeds it."""
    @forward_backend(operators=["_random_normal"])
    def mine(symbol, args, aux, is_train):
        p = symbol.nodes[0].p
        return [np.random.normal(p.loc, p.scale, p.shape).astype("float32")]

    verdict = judge(mine, program_for("_random_normal"))
    assert verdict.status == "passed", verdict.reason
