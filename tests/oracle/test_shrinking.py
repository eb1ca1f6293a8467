"""Shrinking: every cut keeps a program valid, and what is left is small."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from refimpl.oracle import Capabilities, check_program, program_of, shrink, trace_of
from refimpl.oracle.explaining.shrinking import cuts, is_sensible
from refimpl.oracle.programs.program import operators

CAPABILITIES = Capabilities(level=2, styles=("normal",))


def drawn(fits):
    return next(p for p in (program_of(3, i, CAPABILITIES) for i in range(300)) if fits(p))


@pytest.mark.parametrize("number", range(4))
def test_every_cut_is_a_program_that_runs(number) -> None:
    program = program_of(4, number, CAPABILITIES)
    for smaller in list(cuts(program))[:25]:
        check_program(smaller)
        if is_sensible(smaller):
            trace_of(smaller)


def test_one_operator_is_left() -> None:
    program = drawn(lambda p: "tanh" in operators(p) and len(operators(p)) > 5)
    small = shrink(program, lambda p: "tanh" in operators(p))
    assert operators(small) == ["tanh"]
    assert [step["do"] for step in small["steps"]] == ["bind"]
    assert {spec["style"] for spec in small["arrays"].values()} == {"onehot"}


def test_what_the_failure_needs_stays() -> None:
    program = drawn(lambda p: "add" in p["steps"][0]["requirements"].values() and len(p["heads"]) > 1)

    def fails(p):
        asks = "add" in p["steps"][0].get("requirements", {}).values()
        return asks and any(step["do"] == "backward" for step in p["steps"])

    small = shrink(program, fails)
    assert fails(small)
    assert [step["do"] for step in small["steps"]] == ["bind", "forward", "backward"]
    assert list(small["steps"][0]["requirements"].values()).count("add") == 1
    assert len(small["heads"]) == 1


def test_a_limit_of_attempts_is_kept() -> None:
    program = drawn(lambda p: len(operators(p)) > 5)
    asked = []
    assert shrink(program, lambda p: bool(asked.append(p)), attempts=7) == program
    assert len(asked) < 7


@pytest.mark.parametrize(("steps", "sensible"), [
    (["bind", "forward", "backward"], True),
    (["bind", "backward"], False),
    (["bind", "predict", "backward"], False),
    (["bind", "forward", "reshape", "backward"], False),
    (["bind", "forward", "share", "backward"], False),
    (["bind", "forward", "backward", "backward"], True),
])
def test_a_backward_pass_needs_a_forward_pass(steps, sensible) -> None:
    made = [{"do": "forward", "train": False} if do == "predict" else {"do": do, "train": True} for do in steps]
    assert is_sensible({"steps": made}) is sensible


def test_what_needs_a_pass_for_inference_is_made_small_too() -> None:
    def fails(p):
        steps = [(step["do"], step.get("train")) for step in p["steps"]]
        return "tanh" in operators(p) and (("forward", False), ("backward", None)) in pairwise(steps)

    corners = CAPABILITIES._replace(corners=True)
    small = shrink(next(p for p in (program_of(3, i, corners) for i in range(600)) if fails(p)), fails)
    assert operators(small) == ["tanh"]
    assert [step["do"] for step in small["steps"]] == ["bind", "forward", "backward"]


def test_a_cut_changes_no_array_that_stays() -> None:
    program = drawn(lambda p: len(operators(p)) > 4)
    wanted = trace_of(program)
    same_heads = (p for p in cuts(program) if p["heads"] == program["heads"] and p["steps"] != program["steps"])
    found = trace_of(next(same_heads))
    assert found.keys() < wanted.keys()
    for name in found.keys() & wanted.keys():
        if name.startswith("1/output"):
            assert np.array_equal(found[name], wanted[name], equal_nan=True)
