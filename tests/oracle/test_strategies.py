"""Hypothesis: strategies draw programs that run, and make failing ones small."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as plain

from refimpl.oracle import Capabilities, check_program, judge, program_of, trace_of
from refimpl.oracle import strategies as st
from refimpl.oracle.backends import Reference
from refimpl.oracle.drawing.drawn_executors import executor_program
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.programs.program import operators, text_of
from refimpl.oracle.programs.values import array_of

SMALL = Capabilities(level=2, operators=frozenset({"relu", "dot", "elemwise_add", "negative", "tanh"}))


@given(st.programs(level=2, capabilities=SMALL))
def test_programs_run(program) -> None:
    check_program(program)
    assert set(operators(program)) <= SMALL.operators
    assert judge(Reference(), program).status == "passed"


@given(st.calls("FullyConnected", level=1))
def test_calls_are_of_one_operator(program) -> None:
    assert operators(program) == ["FullyConnected"]
    assert trace_of(program)


@given(plain.data())
def test_arrays_have_a_given_shape_dtype_and_style(data) -> None:
    spec = data.draw(st.arrays([(2, 3)], dtypes=["float64"], styles=["onehot"]))
    value = array_of(spec)
    assert (value.shape, value.dtype.name, value.sum()) == ((2, 3), "float64", 1.0)


@given(plain.data())
def test_a_type_that_programs_have_not_is_refused(data) -> None:
    with pytest.raises(ValueError, match="complex64"):
        data.draw(st.arrays(dtypes=["complex64"]))


def test_hypothesis_makes_a_program_smaller() -> None:
    fails = lambda program: "dot" in operators(program)  # noqa: E731
    seed = next(i for i in range(200) if fails(executor_program(SeededDraw(f"0/2/{i}"), SMALL)))
    source = f"0/2/{seed}"
    original = program_of(0, seed, SMALL)
    small = st.smallest(source, lambda draw: executor_program(draw, SMALL), fails, attempts=150)
    assert fails(small)
    assert len(text_of(small)) < len(text_of(original))
    assert operators(small) == ["dot"]


def test_what_cannot_be_made_smaller_comes_back() -> None:
    drawn = lambda draw: executor_program(draw, SMALL)  # noqa: E731
    assert st.smallest("x", drawn, lambda program: False, attempts=5) == drawn(SeededDraw("x"))
