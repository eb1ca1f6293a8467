"""Of two elements that are nearly equal a right implementation may choose either one: no such choice is an alarm."""

from __future__ import annotations

import math
from math import prod
from typing import Any

import numpy as np
import pytest

from refimpl.oracle import check_program, judge, trace_of
from refimpl.oracle.backends import Capabilities, emulations
from refimpl.oracle.bounds import FIRST_ORDER, RIGOROUS
from refimpl.oracle.bounds.precision import watched_branches
from refimpl.oracle.judging.comparing import judge_answer

ROWS = [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]
"""Their sums are equal, and each order of adding rounds them in another way."""
IN_A_ROW = {"op": "Reshape", "name": "r", "inputs": [[1, 0]], "attrs": {"shape": "(1, 1, 2)"}}


def near(rows: Any, op: str, *between: Any, shape: tuple[int, ...] = (1,), **attrs: str) -> Any:
    """A program that chooses between the sums of two rows, and gives the gradient to the chosen row."""
    nodes = [
        {"op": "null", "name": "x"}, {"op": "sum", "name": "s", "inputs": [[0, 0]], "attrs": {"axis": "1"}}, *between,
    ]
    nodes.append({"op": op, "name": "n", "inputs": [[len(nodes) - 1, 0]], "attrs": attrs})
    elements = [value for row in rows for value in row]
    ones = {"shape": list(shape), "dtype": "float32", "elements": [1.0] * prod(shape)}
    made = {
        "version": 1, "level": 2, "nodes": nodes, "heads": [[len(nodes) - 1, 0]],
        "arrays": {"x": {"shape": [2, 3], "dtype": "float32", "elements": elements}},
        "steps": [
            {"do": "bind", "requirements": {"x": "write"}}, {"do": "forward", "train": True},
            {"do": "backward", "heads": [ones]},
        ],
    }
    check_program(made)
    return made


def other(op: str, *between: Any, **options: Any) -> Any:
    """The answer of an implementation that chooses the other row: that of ours where the rows are exchanged."""
    trace = trace_of(near(ROWS[::-1], op, *between, **options))
    trace["2/gradient:x"] = trace["2/gradient:x"][::-1]
    if trace["1/output0"].shape == (2,):
        trace["1/output0"] = trace["1/output0"][::-1]
    return trace


@pytest.mark.clause("oracle/branch")
@pytest.mark.parametrize(("op", "between", "options", "changes"), [
    ("topk", (), {"ret_typ": "value"}, "2/gradient:x"),
    ("topk", (), {"ret_typ": "value", "is_ascend": "True"}, "2/gradient:x"),
    ("topk", (), {"ret_typ": "mask", "shape": (2,)}, "1/output0"),
    ("Pooling", (IN_A_ROW,), {"kernel": "(2,)", "pool_type": "max", "shape": (1, 1, 1)}, "2/gradient:x"),
], ids=["values", "smallest", "mask", "pooling"])
def test_either_of_two_nearly_equal_elements_may_be_chosen(op, between, options, changes):
    program, answer = near(ROWS, op, *between, **options), other(op, *between, **options)
    assert answer[changes].tolist() != trace_of(program)[changes].tolist()
    assert judge_answer(program, answer).status == "passed"


def test_a_choice_that_is_clear_is_judged():
    rows = [0.1, 0.2, 0.3], [0.3, 0.2, 0.2]
    program = near(rows, "topk", ret_typ="value")
    answer = trace_of(program)
    answer["2/gradient:x"] = answer["2/gradient:x"][::-1]
    verdict = judge_answer(program, answer)
    assert [each.name for each in verdict.mismatches] == ["2/gradient:x"]
    assert verdict.mismatches[0].tier == "exact"


@pytest.mark.parametrize(("op", "options"), [("topk", {"ret_typ": "value"}), ("sort", {"shape": (2,)})])
def test_an_implementation_that_computes_in_double_precision_is_right(op, options):
    assert emulations.wide.capabilities == Capabilities(level=6, corners=True)
    assert judge(emulations.wide, near(ROWS, op, **options)).status == "passed"


@pytest.mark.clause("oracle/alternatives")
def test_a_step_of_a_third_may_be_rounded_or_not():
    """The centres of boxes are multiples of 1 / 3: 1 / 3 - 1 / 8 is another number if 1 / 3 was rounded before."""
    attrs = {"sizes": "(0.25,)", "ratios": "(1,)", "offsets": "(0, 0.75)"}
    program = {
        "version": 1, "level": 1, "heads": [[1, 0]], "steps": [{"do": "bind"}, {"do": "forward"}],
        "nodes": [
            {"op": "null", "name": "v"},
            {"op": "_contrib_MultiBoxPrior", "name": "n", "inputs": [[0, 0]], "attrs": attrs},
        ],
        "arrays": {"v": {"shape": [1, 1, 3, 2], "dtype": "float32", "elements": [0.0] * 6}},
    }
    check_program(program)
    answer = emulations.wide.run(program)
    assert answer["1/output0"].tolist() != trace_of(program)["1/output0"].tolist()
    verdict = judge_answer(program, answer)
    assert (verdict.status, verdict.free) == ("passed", 0)
    answer["1/output0"] += np.float32(2.0**-23)
    assert judge_answer(program, answer).status == "failed"


@pytest.mark.clause("oracle/branch")
@pytest.mark.parametrize("arithmetic", [FIRST_ORDER, RIGOROUS], ids=["first order", "rigorous"])
def test_a_comparison_with_a_free_number_is_undecided_even_where_it_is_shown_as_nan(arithmetic):
    """The logarithm of a number that may be flushed is NaN or minus infinity, and only the latter is less than 1."""
    free, one, nan = arithmetic.free(math.nan), arithmetic.exactly(1.0), arithmetic.exactly(math.nan)
    for first, second, expected in (
        (free, one, True), (one, free, True), (free, 1.0, True), (nan, one, False), (one, nan, False),
        (arithmetic.rounded(3.0, 0.0), nan, False),
    ):
        with watched_branches() as was:
            assert not first < second
            assert was() == expected
