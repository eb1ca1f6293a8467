"""Searching: planted bugs are all named and shrunk; program i depends on the seed, i and the exclusions alone."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.oracle import Capabilities, Exclusions, judge, name_of, program_of, search
from refimpl.oracle.backends import Crashed, Reference
from refimpl.oracle.excluding import without
from refimpl.oracle.judging.comparing import judge_answer
from refimpl.oracle.judging.reference import Expected, Truth
from refimpl.oracle.numbering import DRAWERS
from refimpl.oracle.programs.program import check_program, operators

from .planted_bugs import planted, sound, three_bugs

LEVELS = sorted(DRAWERS)


@pytest.mark.clause("oracle/program-i")
@pytest.mark.parametrize("level", LEVELS)
def test_program_i_depends_on_its_number(level: int) -> None:
    capabilities = Capabilities(level=level)
    there = [program_of(5, i, capabilities, level=level) for i in range(8)]
    back = [program_of(5, i, capabilities, level=level) for i in range(7, -1, -1)]
    assert there == back[::-1]
    assert len({name_of(program) for program in there}) > 4
    assert there != [program_of(6, i, capabilities, level=level) for i in range(8)]
    for program in there:
        check_program(program)


@pytest.mark.clause("oracle/program-i")
def test_a_search_draws_the_same_wherever_it_starts() -> None:
    numbers = []
    for start, programs in ((0, 12), (12, 12), (0, 24)):
        found = search(planted("tie"), seed=1, start=start, programs=programs, most=1).found
        numbers.append(found[0].number if found else None)
    assert numbers[2] == next(number for number in numbers[:2] if number is not None)


def test_exclusions_leave_out_operators_requirements_and_crowds() -> None:
    capabilities = Capabilities(level=2, operators=frozenset({"relu", "negative", "elemwise_add"}))
    leave = Exclusions().also(operator="elemwise_add")
    for i in range(20):
        assert "elemwise_add" not in _drawn_calls(program_of(0, i, capabilities, leave))
    leave = Exclusions().also(operator="relu", requirement="add")
    for i in range(40):
        program = program_of(0, i, capabilities, leave)
        if "relu" in operators(program):
            assert "add" not in program["steps"][0]["requirements"].values()


def _drawn_calls(program):
    """Operators that were not put in to join results: those that read a variable."""
    variables = {i for i, node in enumerate(program["nodes"]) if node["op"] == "null"}
    return [
        node["op"] for node in program["nodes"] if node["op"] != "null" and {e[0] for e in node["inputs"]} <= variables
        and len({e[0] for e in node["inputs"]}) > 1
    ]


def test_a_sound_implementation_passes() -> None:
    result = search(sound, seed=0, programs=60)
    assert not result.found, [str(found.cause) for found in result.found]
    assert result.statuses["passed"] >= 50
    assert result.elements["exact"] > result.elements["free"]
    assert (result.last, result.programs) == (30, 60)  # 30 of either level


def test_three_planted_bugs_are_named_and_shrunk() -> None:
    result = search(three_bugs, seed=0, programs=150)
    causes = {(found.cause.operator, found.cause.requirement): found for found in result.found}
    assert ("relu", "write") in causes  # the tie
    assert any(operator == "elemwise_mul" for operator, _ in causes)
    assert any(found.cause.look == "the initial gradient is missing" for found in result.found)
    for found in result.found:
        assert len(operators(found.program)) <= 3, str(found.cause)
        assert judge(three_bugs, found.program).status == "failed"
        check_program(found.program)
    tie = causes["relu", "write"]
    assert operators(tie.program) == ["relu"]


def test_a_crowd_of_readers_is_one_cause() -> None:
    result = search(planted("crowd"), seed=0, programs=100, most=1)
    assert [(found.cause.operator, found.cause.consumers) for found in result.found] == [("any operator", "many")]
    found = result.found[0]
    assert without(Exclusions(), found.cause, found.program).many_readers


def test_one_wrong_digit_in_ten_thousand_is_seen() -> None:
    result = search(planted("rounded"), seed=0, programs=10)
    assert result.found
    assert {found.cause.look for found in result.found} <= {"nearly right", "other numbers"}


def test_a_crash_is_a_cause() -> None:
    class Crashing(Reference):
        capabilities = Capabilities(level=1, operators=frozenset({"relu", "exp"}))

        def run(self, program):
            if "exp" in operators(program):
                raise Crashed("it ended with -11")
            return super().run(program)

    result = search(Crashing(), programs=20)
    assert [(found.cause.operator, found.cause.place) for found in result.found] == [("exp", "crashed")]
    assert operators(result.found[0].program) == ["exp"]


def test_expected_failures_are_counted_and_not_reported() -> None:
    result = search(planted("rounded"), programs=5, expected=lambda program, verdict: True)
    assert not result.found
    assert result.statuses["expected"] > 0
    assert result.statuses["failed"] == 0


def test_what_is_expected_of_a_shrunk_program_is_expected_of_the_program() -> None:
    def alone(program, verdict) -> bool:
        return len(operators(program)) == 1

    known = search(planted("rounded"), programs=20, expected=alone)
    assert not known.found
    assert known.statuses["expected"] > 1
    longer = search(planted("rounded"), programs=20, expected=lambda program, verdict: len(operators(program)) > 1)
    assert longer.statuses["expected"] < known.statuses["expected"]  # some of those had several operators


def test_what_the_second_bound_allows_is_not_reported(monkeypatch) -> None:
    def wide(truth):
        known = truth.expected.items()
        return {name: Expected(each.values, np.full(each.values.shape, np.inf)) for name, each in known}

    monkeypatch.setattr(Truth, "proved", property(wide))
    result = search(planted("rounded"), seed=0, programs=10)
    assert not result.found
    assert result.statuses["failed"] == 0
    assert result.elements["spared"] > 0


def test_a_training_that_is_far_off_needs_no_bounds_while_it_is_shrunk(monkeypatch) -> None:
    class Off(Reference):
        def run(self, program):
            return {name: value + 100 if "weight" in name else value for name, value in super().run(program).items()}

    def none(truth, names):
        raise AssertionError("nobody asked for bounds")

    program = program_of(0, 1, Capabilities(level=5), level=5)
    monkeypatch.setattr(Truth, "expected_of", none)
    verdict = judge_answer(program, Off().run(program), confirm=False, loosely=True)
    assert (verdict.status, verdict.confirmed) == ("failed", False)
    with pytest.raises(AssertionError, match="nobody asked"):
        judge(Off(), program, confirm=False)


def test_an_optimizer_that_does_not_matter_becomes_sgd_and_one_that_does_is_named() -> None:
    class Wrong(Reference):
        capabilities = Capabilities(level=5)

        def run(self, program):
            names = {step.get("optimizer") for step in program["steps"]}
            by = 2 if names & self.wrong or not self.wrong else 1
            return {name: by * value for name, value in super().run(program).items()}

    backend = Wrong()
    for wrong in ({"lamb"}, set()):
        backend.wrong = wrong
        found = search(backend, seed=2, programs=80, level=5, most=1, explain=False).found[0]
        assert found.cause.mode == f"optimizer={'lamb' if wrong else 'sgd'}"
        assert set(found.program["steps"][0]["parameters"]) <= {"learning_rate"}
