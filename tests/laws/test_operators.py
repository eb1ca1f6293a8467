"""Every law over every operator; the laws themselves are in ``laws.py``."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from refimpl.kernels import distinct
from refimpl.kernels.foundation import Op
from refimpl.kernels.foundation.loop import SIMULATED

from . import laws
from .draws import HypothesisDraw, SeededDraw

OPERATORS = [op for op in distinct() if op.cases is not None]
each_operator = pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
calls = given(data=st.data())
REFUSALS = [(op, clause) for op in distinct() for clause in op.refusals]


def test_every_page_draws_valid_calls() -> None:
    assert [op.name for op in distinct() if op.cases is None] == []


@each_operator
@calls
def test_fills_outputs(op: Op, data: st.DataObject) -> None:
    laws.fills_outputs(op, HypothesisDraw(data))


@each_operator
@calls
def test_fills_gradients(op: Op, data: st.DataObject) -> None:
    laws.fills_gradients(op, HypothesisDraw(data))


@each_operator
@calls
def test_keeps_inputs(op: Op, data: st.DataObject) -> None:
    laws.keeps_inputs(op, HypothesisDraw(data))


@each_operator
@calls
def test_repeats(op: Op, data: st.DataObject) -> None:
    laws.repeats(op, HypothesisDraw(data))


@each_operator
@calls
def test_infers_fixed_point(op: Op, data: st.DataObject) -> None:
    laws.infers_fixed_point(op, HypothesisDraw(data))


@each_operator
@settings(max_examples=40)
@calls
def test_infers_from_parts(op: Op, data: st.DataObject) -> None:
    laws.infers_from_parts(op, HypothesisDraw(data))


@each_operator
@calls
def test_gradient_is_slope(op: Op, data: st.DataObject) -> None:
    laws.gradient_is_slope(op, HypothesisDraw(data))


@each_operator
@calls
def test_gradients_are_independent(op: Op, data: st.DataObject) -> None:
    laws.gradients_are_independent(op, HypothesisDraw(data))


@each_operator
def test_python_agrees(op: Op) -> None:
    for seed in range(4):
        laws.python_agrees(op, SeededDraw(seed))


@each_operator
@calls
def test_tuned_agrees(op: Op, data: st.DataObject) -> None:
    laws.tuned_agrees(op, HypothesisDraw(data))


@each_operator
@calls
def test_half_is_rounded_single(op: Op, data: st.DataObject) -> None:
    laws.half_is_rounded_single(op, HypothesisDraw(data))


@pytest.mark.parametrize(("op", "clause"), REFUSALS, ids=[f"{o.name}-{c}" for o, c in REFUSALS])
def test_refuses(op: Op, clause: str) -> None:
    laws.refuses(op, clause)


@pytest.mark.cuda_sim
@pytest.mark.skipif(not SIMULATED, reason="needs NUMBA_ENABLE_CUDASIM=1")
@each_operator
def test_simulated_device_agrees(op: Op) -> None:
    for seed in range(3):
        laws.device_agrees(op, SeededDraw(seed))


@pytest.mark.gpu
@pytest.mark.skipif(SIMULATED or not cuda.is_available(), reason="needs a CUDA device")
@each_operator
def test_device_agrees(op: Op) -> None:
    for seed in range(10):
        laws.device_agrees(op, SeededDraw(seed))


