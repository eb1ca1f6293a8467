"""Verdicts: tiers, forms, elements that are free, and what a backend may say instead of a trace."""

from __future__ import annotations

import re

import numpy as np
import pytest

from refimpl.kernels.shared.products import PRODUCT
from refimpl.oracle import Crashed, Refused, Unsupported, compare, judge, trace_of
from refimpl.oracle.backends import ours
from refimpl.oracle.bounds import rigorous
from refimpl.oracle.bounds.number import Number
from refimpl.oracle.judging.comparing import judged
from refimpl.oracle.judging.reference import Expected

NAN, INF = np.nan, np.inf


def one_operator(op="exp", elements=(0.5, 1.5), dtype="float32", attrs=None):
    return {
        "version": 1, "level": 1, "heads": [[1, 0]], "steps": [{"do": "bind"}, {"do": "forward"}],
        "nodes": [
            {"op": "null", "name": "a"}, {"op": op, "name": "n", "inputs": [[0, 0]], "attrs": attrs or {}},
        ],
        "arrays": {"a": {"shape": [len(elements)], "dtype": dtype, "elements": list(elements)}},
    }


def verdict_of(program, change):
    ours = trace_of(program)
    theirs = {name: value.copy() for name, value in ours.items()}
    changed = change(theirs["1/output0"])
    theirs["1/output0"] = theirs["1/output0"] if changed is None else changed
    return compare(program, ours, theirs)


@pytest.mark.clause("oracle/plain-loops")
def test_a_fault_in_a_faster_twin_is_seen(monkeypatch) -> None:
    arrays = {name: {"shape": [2, 3], "dtype": "float32", "seed": seed} for seed, name in enumerate("xw")}
    program = {
        "version": 1, "level": 1, "heads": [[2, 0]], "steps": [{"do": "bind"}, {"do": "forward"}], "arrays": arrays,
        "nodes": [
            {"op": "null", "name": "x"}, {"op": "null", "name": "w"},
            {"op": "FullyConnected", "name": "n", "inputs": [[0, 0], [1, 0]],
             "attrs": {"num_hidden": "2", "no_bias": "True"}},
        ],
    }

    def wrong(a, b, out, g) -> None:
        del a, b, g
        out.flat[:] = 7

    assert judge(ours.tuned(), program).status == "passed"
    monkeypatch.setattr(PRODUCT, "_tuned", wrong)
    verdict = judge(ours.tuned(), program)
    assert verdict.status == "failed"
    assert "is 7, expected" in verdict.reason
    assert judge(ours.plain(), program).status == "passed"


@pytest.mark.clause("oracle/tiers")
def test_exact_elements_must_be_equal() -> None:
    program = one_operator("_plus_scalar", (0.5, 1.5), attrs={"scalar": "1.0"})

    def next_number(out):
        out[0] = np.nextafter(out[0], np.float32(9))

    verdict = verdict_of(program, next_number)
    assert (verdict.status, verdict.mismatches[0].tier, verdict.mismatches[0].wrong.tolist()) == (
        "failed", "exact", [True, False],
    )
    assert "expected 1.5 exactly; 1 of 2 elements are wrong" in verdict.reason
    assert verdict_of(program, lambda out: None).exact == 2


@pytest.mark.clause("oracle/tiers")
def test_bounded_elements_may_differ_as_their_bound_says() -> None:
    program = one_operator("exp", (0.5, 1.5))

    def times(factor):
        return lambda out: (out * np.float32(factor)).astype(np.float32)

    near = verdict_of(program, times(1 + 2.0**-22))
    assert (near.status, near.bounded, near.exact) == ("passed", 2, 0)
    far = verdict_of(program, times(1 + 2.0**-20))
    assert (far.status, far.mismatches[0].tier) == ("failed", "bounded")
    assert "within" in far.reason


@pytest.mark.clause("oracle/tiers")
@pytest.mark.parametrize(("bounds", "free"), [
    ([0.0, 0.0], [False, False]),
    ([INF, 0.0], [True, False]),  # behind an undecided branch
    ([0.29, 0.0], [False, False]),
    ([0.31, 0.0], [True, False]),  # more than a tenth of the largest value
])
def test_elements_with_a_loose_bound_are_free(bounds, free) -> None:
    values = np.array([1.0, 3.0])
    reference = values.astype(np.float32)
    found, wrong = judged(reference, reference + np.float32(0.3), Expected(values, np.array(bounds)))
    assert found.tolist() == free
    assert wrong.tolist() == [not free[0], True]


@pytest.mark.clause("oracle/tiers")
def test_an_element_that_the_reference_itself_misses_is_free() -> None:
    expected = Expected(np.array([1e39, 1.0]), np.array([0.0, 0.0]))  # beyond single precision
    free, wrong = judged(np.array([INF, 1.0], np.float32), np.array([3e38, 1.0], np.float32), expected)
    assert [free.tolist(), wrong.tolist()] == [[True, False], [False, False]]


@pytest.mark.clause("oracle/tiers")
def test_whole_numbers_must_be_equal_unless_a_branch_is_undecided() -> None:
    big = np.array([2**60, 7], np.int64)
    free, wrong = judged(big, big + 1, Expected(big.astype(float), np.array([0.0, INF])))
    assert [free.tolist(), wrong.tolist()] == [[False, True], [True, False]]


@pytest.mark.clause("oracle/not-a-number")
def test_nan_and_infinities_stand_where_they_must() -> None:
    values = np.array([NAN, INF, -INF, 0.0])
    reference = values.astype(np.float32)
    exact = Expected(values, np.zeros(4))
    other_nan = np.array([0xFFC00001], np.uint32).view(np.float32)[0]
    for got, wanted in (
        ([other_nan, INF, -INF, -0.0], [False] * 4),
        ([1.0, INF, -INF, 0.0], [True, False, False, False]),
        ([NAN, -INF, NAN, NAN], [False, True, True, True]),
    ):
        free, wrong = judged(reference, np.array(got, np.float32), exact)
        assert not free.any()
        assert wrong.tolist() == wanted


@pytest.mark.parametrize(("change", "kind", "text"), [
    (lambda trace: trace.pop("1/output0"), "missing", "1/output0 is not in the trace"),
    (lambda trace: trace.update({"1/output0": np.zeros((1, 2), "f")}), "shape", r"shape \[1, 2\], expected \[2\]"),
    (lambda trace: trace.update({"1/output0": np.zeros(2)}), "dtype", "type float64, expected float32"),
])
def test_a_wrong_form_is_named(change, kind, text) -> None:
    program = one_operator()
    ours = trace_of(program)
    theirs = dict(ours)
    change(theirs)
    verdict = compare(program, ours, theirs)
    assert (verdict.status, verdict.mismatches[0].kind) == ("failed", kind)
    assert re.search(text, verdict.reason)


@pytest.mark.clause("oracle/confirmed")
@pytest.mark.parametrize(("factor", "status", "spared"), [(1 + 2.0**-22, "passed", 2), (1 + 2.0**-20, "failed", 0)])
def test_a_first_bound_that_is_too_narrow_reports_nothing(monkeypatch, factor, status, spared) -> None:
    narrow = Number.bound
    monkeypatch.setattr(Number, "bound", lambda self: narrow(self) / 2)
    verdict = verdict_of(one_operator("exp", (0.5, 1.5)), lambda out: (out * np.float32(factor)).astype(np.float32))
    assert (verdict.status, verdict.spared) == (status, spared)
    assert verdict.spared == verdict.free
    if status == "failed":
        found = verdict.mismatches[0]
        assert found.confirmed
        assert found.bounds[0] > 3.9 * 2.0**-24 * found.expected[0]  # the second one


@pytest.mark.clause("oracle/confirmed")
def test_what_needs_too_many_numbers_is_unconfirmed(monkeypatch) -> None:
    monkeypatch.setattr(rigorous, "MOST", 3)
    verdict = verdict_of(one_operator("exp"), lambda out: out * 2)
    assert (verdict.status, verdict.confirmed, verdict.mismatches[0].confirmed) == ("failed", False, False)
    again = verdict_of(one_operator("exp"), lambda out: np.zeros((9,), np.float32))
    assert (again.confirmed, again.mismatches[0].kind) == (True, "shape")  # needs no bound
    monkeypatch.undo()
    assert verdict_of(one_operator("exp"), lambda out: out * 2).confirmed


def test_more_than_the_reference_shows_is_ignored() -> None:
    program = one_operator()
    ours = trace_of(program)
    assert compare(program, ours, {**ours, "9/note": np.zeros(3)}).status == "passed"


class Says:
    def __init__(self, error) -> None:
        self.error = error

    def run(self, program):
        raise self.error


@pytest.mark.parametrize(("error", "status", "kind"), [
    (Unsupported("no exp"), "unsupported", None),
    (Refused("ValueError: no"), "failed", "refused"),
    (Crashed("it ended with -11"), "failed", "crashed"),
])
def test_what_a_backend_says_instead_of_a_trace(error, status, kind) -> None:
    verdict = judge(Says(error), one_operator())
    assert (verdict.status, verdict.reason) == (status, str(error))
    assert [m.kind for m in verdict.mismatches] == ([kind] if kind else [])


def test_what_the_reference_refuses_is_discarded() -> None:
    program = one_operator("Reshape", attrs={"shape": "(7,)"})
    assert judge(Says(Refused("the same")), program).status == "discarded"


def test_a_graph_that_the_reference_does_not_load_is_discarded() -> None:
    program = one_operator("FullyConnected", attrs={"num_hidden": "2"})  # without a weight
    assert judge(Says(Refused("the same")), program).status == "discarded"
