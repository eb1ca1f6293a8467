"""Level 5 in array libraries, tried with NumPy as the library; schedules by their tables; what programs may ask."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl.oracle import Capabilities, Exclusions, check_program, judge, program_of
from refimpl.oracle.backends.optimizer_rules import RULES
from refimpl.oracle.backends.optimizing import MISSING, Schedule, WithOptimizers
from refimpl.oracle.backends.protocol import Unsupported
from refimpl.oracle.drawing import drawn_optimizers
from refimpl.oracle.judging.reference import trace_of


class _NumPy:
    xp = np
    array = numpy = staticmethod(np.asarray)

    @staticmethod
    def own(rule, given, life):
        return None


class _Graphs:
    """Another level."""

    capabilities = Capabilities(level=2, operators=frozenset({"relu"}))

    def run(self, program):
        return trace_of(program)


NUMPY = WithOptimizers(_Graphs(), _NumPy())
ONES = {"shape": [2], "dtype": "float32", "elements": [1.0, 1.0]}


def program(optimizer, *steps, schedule=None, names=(), arrays=("0",), **parameters):
    create = {"do": "create", "optimizer": optimizer, "parameters": parameters}
    if schedule:
        create["schedule"] = schedule
    if names:
        create["names"] = names
    return check_program({
        "version": 1, "level": 5, "arrays": dict.fromkeys(arrays, ONES), "steps": [create, *steps, {"do": "read"}],
    })


def update(*indices):
    return {"do": "update", "indices": list(indices), "gradients": [ONES] * len(indices)}


def test_every_rule_is_written_or_missing_for_a_reason():
    assert set(RULES) | set(MISSING) == set(drawn_optimizers.RULES)
    assert not set(RULES) & set(MISSING)
    assert all(MISSING.values())
    assert NUMPY.capabilities.offers(5)
    assert not NUMPY.capabilities.offers(3)


def test_formulas_agree_on_drawn_programs():
    kinds, rules = set(), set()
    for i in range(160):
        drawn = program_of(5, i, NUMPY.capabilities, level=5)
        verdict = judge(NUMPY, check_program(drawn))
        assert verdict.status == "passed", (i, verdict.reason)
        kinds |= {step["do"] for step in drawn["steps"]} | {"device" for s in drawn["steps"] if "device" in s}
        rules.add(drawn["steps"][0]["optimizer"])
    assert kinds == {"create", "multiply", "update", "resume", "set_rate", "read", "ask", "device"}
    assert rules == set(RULES)


@pytest.mark.heavy
@pytest.mark.parametrize("rule", sorted(set(RULES) - {"test"}))
def test_a_wrong_formula_is_noticed(rule, monkeypatch):
    step, defaults = RULES[rule]
    monkeypatch.setitem(RULES, rule, (lambda s, w, g: step(s, w, g * 1.25 - 0.5), defaults))
    seen = [
        judge(NUMPY, drawn).status for i in range(40)
        if (drawn := program_of(5, i, NUMPY.capabilities._replace(operators=frozenset({f"rule {rule}"})), level=5))
    ]
    assert "failed" in seen


def test_what_is_missing_is_unsupported_with_a_reason():
    verdict = judge(NUMPY, program("lars", update(0)))
    assert (verdict.status, verdict.reason[:10]) == ("unsupported", "rule lars:")
    with pytest.raises(Unsupported, match="a clip_gradient that is not positive"):
        NUMPY.run(program("sgd", update(0), clip_gradient=0))
    assert judge(NUMPY, program_of(0, 0, Capabilities(operators=frozenset({"relu"})))).status == "passed"


def test_a_library_s_own_optimizer_is_used_and_resumed():
    class Own:
        made = 0

        def __init__(self):
            Own.made += 1
            self.steps = 0

        def __call__(self, weight, gradient, lr, wd):
            self.steps += 1
            return weight - lr * self.steps * gradient

        def kept(self):
            return self.steps

        def restore(self, state):
            self.steps = state

    class Library(_NumPy):
        @staticmethod
        def own(rule, given, life):
            return Own() if life.constant and not life.sparse else None

    backend = WithOptimizers(_Graphs(), Library())
    trace = backend.run(program("sgd", update(0), {"do": "resume"}, update(0), learning_rate=0.25, rescale_grad=2.0))
    assert trace["1/weight:0"].tolist() == [0.5, 0.5]
    assert trace["3/weight:0"].tolist() == [-0.5, -0.5]
    assert Own.made == 2
    backend.run(program("sgd", update(0), {"do": "set_rate", "value": 0.5}))
    assert Own.made == 2


# --- schedules and devices ------------------------------------------------------------------------


SCHEDULES = [
    {"kind": "factor", "step": 2, "factor": 0.5, "base_lr": 1.0},
    {"kind": "factor", "step": 1, "factor": 0.5, "base_lr": 1.0, "stop_factor_lr": 0.25, "warmup_steps": 2},
    {"kind": "multifactor", "step": [3, 5], "factor": 0.5, "base_lr": 1.0},
    {"kind": "poly", "max_update": 6, "base_lr": 1.0, "pwr": 2, "final_lr": 0.125},
    {"kind": "poly", "max_update": 2, "base_lr": 1.0, "warmup_steps": 2, "warmup_begin_lr": 0.25},
    {"kind": "cosine", "max_update": 6, "base_lr": 1.0, "warmup_steps": 3, "warmup_mode": "constant"},
]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_rates_in_any_order(schedule):
    numbers = [0, 3, 1, 9, 2, 5, 6, 4]
    asked = program("sgd", {"do": "ask", "numbers": numbers}, schedule=schedule)
    trace = trace_of(asked)
    assert trace["1/rates"].tolist() == pytest.approx([Schedule(own_rate=None, **schedule)(0)] + [
        rate for made in [Schedule(own_rate=None, **schedule)] for rate in map(made, numbers[1:])
    ])
    assert judge(NUMPY, asked).status == "passed"


def test_a_fallen_rate_does_not_rise_again():
    trace = trace_of(program("sgd", {"do": "ask", "numbers": [1, 9, 1]}, schedule=SCHEDULES[0]))
    assert trace["1/rates"].tolist() == [1.0, 0.0625, 0.0625]


def test_weights_go_to_another_device_where_counts_begin_anew():
    moved = [update(0), update(0), {"do": "resume", "whole": True, "device": 1}, update(0)]
    stays = [*moved[:2], {"do": "resume", "whole": True}, moved[3]]
    first, second = (trace_of(program("adam", *steps, learning_rate=0.5)) for steps in (moved, stays))
    assert first["5/updates"].tolist() == [2.0]
    assert second["5/updates"].tolist() == [3.0]
    assert first["4/weight:0"].tolist() != second["4/weight:0"].tolist()
    for steps in (moved, stays):
        assert judge(NUMPY, program("adam", *steps, learning_rate=0.5)).status == "passed"


@pytest.mark.parametrize(("step", "message"), [
    ({"do": "ask", "numbers": [-1]}, "numbers: -1 is no whole number"),
    ({"do": "ask"}, "field numbers is missing"),
    ({"do": "resume", "device": 8}, "device: 8 is no whole number from 0 to 7"),
])
def test_steps_that_are_none_are_refused(step, message):
    with pytest.raises(ValueError, match=message):
        program("sgd", step)


def test_drawing_leaves_out_what_is_excluded():
    every = Capabilities(level=5)
    drawn = [program_of(1, i, every) for i in range(150)]
    assert {s["do"] for p in drawn for s in p["steps"]} >= {"ask", "resume"}
    assert any("device" in s for p in drawn for s in p["steps"])
    less = Exclusions(operators=frozenset({"optimizer/other device", "optimizer/rates in any order"}))
    for i in range(150):
        steps = program_of(1, i, every, less)["steps"]
        assert not any("device" in s or s["do"] == "ask" for s in steps)
    assert mx.optimizer.create("sgd").lr == 0.01
