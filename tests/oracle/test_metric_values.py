"""Values of metrics: how far they may be off, against values whose predictions were moved as far as they may be."""

from __future__ import annotations

import ast
from itertools import islice

import numpy as np
import pytest

import refimpl as mx
from refimpl.oracle import Capabilities, Exclusions, check_program, judge, program_of, trace_of
from refimpl.oracle.backends import Reference
from refimpl.oracle.drawing.drawn_buckets import svrg_program
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.judging.metric_values import METRICS, metric_bounds
from refimpl.oracle.judging.reference import expected_of


def value_of(metric, parts):
    name, *arguments = metric.split()
    given = {key: ast.literal_eval(value) for key, value in (argument.split("=") for argument in arguments)}
    made = mx.metric.create(name, **given)
    for label, prediction in parts:
        made.update([mx.nd.array(label)], [mx.nd.array(prediction)])
    return made.get()[1]


def parts_of(metric, draw):
    classes = metric.split()[0] in ("acc", "ce", "nll_loss", "top_k_acc", "perplexity")
    shape = (3, 4) if classes else (3, 2)
    for _ in range(2):
        label = draw.randint(0, 4, 3).astype("float32") if classes else draw.standard_normal(shape).astype("float32")
        yield label, draw.uniform(0.2, 1.0, shape).astype("float32")


@pytest.mark.clause("oracle/metric")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [0.0, 1e-6, 1e-3, 0.1])
def test_moved_predictions_move_a_value_by_less_than_its_bound(metric, size) -> None:
    draw = np.random.RandomState(3)
    for signs in ([-1], [1], *[[-1, 1]] * 18):
        parts = list(parts_of(metric, draw))
        expected = {"4/metric:" + metric: (np.array([value_of(metric, parts)]), np.zeros(1))}
        moved = []
        for call, (label, prediction) in enumerate(parts):
            bounds = draw.uniform(0, size, prediction.shape)
            expected[f"4/label0@{call}"] = label.astype(float), np.zeros(label.shape)
            expected[f"4/prediction0@{call}"] = prediction.astype(float), bounds
            moved.append((label, prediction + (bounds * draw.choice(signs, bounds.shape)).astype("float32")))
        bound = metric_bounds(expected)["4/metric:" + metric]
        assert abs(value_of(metric, moved) - value_of(metric, parts)) <= bound + 1e-7
        if metric.split()[0] in ("acc", "top_k_acc"):
            assert bound == 0 if size == 0 else bound <= 1
        elif metric.startswith("perplexity"):  # up to 5, and as much again where a probability halves
            assert bound < 2e-5 + 60 * size
        else:
            assert bound < 4e-6 + 12 * size  # of the size of what is possible, not more


@pytest.mark.clause("oracle/metric")
def test_scores_that_are_not_apart_make_a_class_uncertain() -> None:
    values = np.array([[0.5, 0.4], [0.5, 0.1]])
    expected = {
        "1/metric:acc": (np.array([1.0]), np.zeros(1)), "1/label0@0": (np.zeros(2), np.zeros(2)),
        "1/prediction0@0": (values, np.full((2, 2), 0.06)),
    }
    assert metric_bounds(expected) == {"1/metric:acc": 0.5}
    expected["1/prediction0@0"] = values, np.full((2, 2), 0.04)
    assert metric_bounds(expected) == {"1/metric:acc": 0.0}


def programs(metric=""):
    for number in range(400):
        program = program_of(2, number, Capabilities(level=3))
        chosen = {step["metric"] for step in program["steps"] if "metric" in step}
        if (metric in chosen) if metric else chosen:
            yield program


class Spoilt(Reference):
    def __init__(self, factor) -> None:
        self.factor = factor

    def run(self, program):
        return {n: v * self.factor if "/metric:" in n else v for n, v in super().run(program).items()}


@pytest.mark.parametrize("metric", ["acc", "mse", "loss"])
def test_a_wrong_value_is_found(metric) -> None:
    for program, _ in zip(programs(metric), range(6), strict=False):
        assert judge(Reference(), program).status == "passed"
        found = [expected for name, expected in expected_of(program).items() if "/metric:" in name]
        verdict = judge(Spoilt(1.001), program)
        if all(np.all(np.isfinite(value) & (np.abs(value) > max(0.01, 2e3 * bound))) for value, (bound,) in found):
            assert verdict.status == "failed"
            assert "/metric:" in verdict.reason
            return
    pytest.fail("no program has a value")


def test_metrics_are_drawn_beside_pads_and_left_out_when_excluded() -> None:
    some = list(programs())
    assert len(some) > 20
    assert any("pad" in step for program in some for step in program["steps"])
    left = Exclusions(operators=frozenset({"module/metric"}))
    for number in range(60):
        program = program_of(2, number, Capabilities(level=3), left)
        assert not any("metric" in step for step in program["steps"])


@pytest.mark.parametrize("metric", [
    {"name": "perplexity", "ignore_label": None}, {"name": "perplexity", "ignore_label": 0}, {"name": "nll_loss"},
    {"name": "top_k_acc", "top_k": 2},
])
def test_metrics_with_arguments_are_drawn_and_compared(metric) -> None:
    drawn = (program_of(3, number, Capabilities(level=3, corners=True)) for number in range(2400))
    having = (program for program in drawn if any(step.get("metric") == metric for step in program["steps"]))
    for program in islice(having, 30):
        assert judge(Reference(), program).status == "passed"
        if judge(Spoilt(1.5), program).status == "failed":
            return
    pytest.fail("no program has a value that is certain")


def test_a_composite_metric_is_handed_the_outputs_by_hand() -> None:
    steps = (
        step for number in range(200) for step in program_of(3, number, Capabilities(level=3, corners=True))["steps"]
    )
    assert any(step.get("own") for step in steps)


def test_a_metric_has_a_name_that_is_known() -> None:
    step = {"do": "update_metric", "labels": [], "metric": "luck"}
    with pytest.raises(ValueError, match="'luck' is none of acc, ce, mae, mse, rmse, loss"):
        check_program({"version": 1, "level": 3, "steps": [step]})


def test_svrg_is_drawn_with_batch_statistics() -> None:
    found = 0
    for number in range(60):
        program = svrg_program(SeededDraw(f"statistics/{number}"), Capabilities())
        if not any(node["op"] == "BatchNorm" for node in program["nodes"]) or found == 4:
            continue
        found += 1
        trace, expected = trace_of(program), expected_of(program)
        assert any("/state:" in name for name in trace)
        for name, value in trace.items():
            values, bounds = expected[name]
            assert ((np.abs(value - values) <= bounds) | np.isinf(bounds) | (value == values)).all(), (number, name)
        without = svrg_program(
            SeededDraw(f"statistics/{number}"), Capabilities(),
            Exclusions(operators=frozenset({"svrg/batch statistics"})),
        )
        assert not any(node["op"] == "BatchNorm" for node in without["nodes"])
    assert found == 4
