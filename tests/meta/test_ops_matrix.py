"""The matrix of operators: every operator is in it, and has all that it owes."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import refimpl as mx
from refimpl.kernels import distinct, get
from refimpl.kernels.foundation import LOOPS
from refimpl.op_registry import facts as operator_facts
from refimpl.op_registry import known as known_operators
from spec import ops as matrix

PUBLIC = [op for op in distinct() if not operator_facts.is_internal(op)]


def test_every_operator_has_loops_gradient_example_and_calls() -> None:
    assert matrix.problems() == []


def test_a_page_that_owes_something_is_named() -> None:
    bare = replace(get("exp"), name="bare", doc="Bare: nothing is said.", cases=None, aliases=())
    assert list(matrix.owed(bare)) == [
        "bare: its page has no worked example",
        "bare: no clause of its page is about it",
        "bare: its page draws no valid calls (cases)",
    ]
    idle = replace(get("exp"), forward=lambda p, data, out: None)
    assert list(matrix.owed(idle)) == [
        "exp: no loops; say in without_loops why, if it needs none"
    ]


def test_all_of_tier_1_is_here() -> None:
    assert [name for name, tier in matrix.missing().items() if tier == 1] == []


def test_most_operators_on_real_numbers_have_cuda_loops() -> None:
    able = [op for op in PUBLIC if {"float32", "float64"} & set(operator_facts.dtypes(op))]
    with_loops = [op for op in able if operator_facts.forward_loops(op)]
    assert len(with_loops) >= 0.9 * len(able)


def test_every_operator_of_the_matrix_is_counted_once() -> None:
    text = matrix.text()
    rows = re.findall(r"^\| (\w+) \| [123 ]*\| \[", text, re.MULTILINE)
    assert sorted(rows) == sorted(op.name for op in distinct())


def test_reasons_are_given_for_whatever_is_missing() -> None:
    given = {name: matrix.reason(name) for name in matrix.missing()}
    assert all(given.values())
    assert given.get("_contrib_quantized_rnn", "").startswith("computes as one processor library does")


def test_names_of_mxnet() -> None:
    # the forward operators of MXNet 1.9.1's registry, without _backward_* and _np*: 426, under 615 names
    assert (len(known_operators.tiers()), len(known_operators.names())) == (426, 615)
    assert list(known_operators.tiers().values()).count(1) == 210
    assert list(known_operators.tiers().values()).count(2) == 143
    assert known_operators.names()["ElementWiseSum"] == "add_n"


def test_an_operator_here_has_all_names_that_it_has_in_mxnet() -> None:
    absent = [
        name for name, own in known_operators.names().items()
        if own in mx.kernels.foundation.REGISTRY and name not in mx.kernels.foundation.REGISTRY
    ]
    assert absent == []


@pytest.mark.parametrize("name", ["FullyConnected", "softmax", "BatchNorm", "take"])
def test_loops_are_found_whatever_names_them(name: str) -> None:
    found = operator_facts.forward_loops(get(name))
    assert found
    assert set(found) <= set(LOOPS)
