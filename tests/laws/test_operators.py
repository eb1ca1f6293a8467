"""Every law over every operator; the laws themselves are in ``refimpl/oracle/pages/laws.py``.

Those marked heavy work in float64 as well, for which every kernel is compiled once more.

The others run as machine code in CI's lane ``bare``, and else only where a loop has a twin (``loops_as_text.py``). That
lane draws all their calls; half as many are drawn beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from refimpl.kernels import distinct, get
from refimpl.kernels.foundation import Op
from refimpl.kernels.foundation.loop import SIMULATED, python_loops
from refimpl.oracle.pages import laws
from refimpl.oracle.pages.draws import SeededDraw
from refimpl.oracle.strategies import HypothesisDraw

from ..loops_as_text import HAS_TWINS, only_twins_are_compiled

# Also those without cases, which every law refuses; but the bodies of Custom and of the loops are the user's.
OPERATORS = [op.name for op in distinct() if type(op) is Op]
each_operator = pytest.mark.parametrize("name", OPERATORS)
calls = given(data=st.data())
DRAWS = settings.default.max_examples // (2 if HAS_TWINS else 1)
some_calls = settings(max_examples=DRAWS)
REFUSALS = [(op.name, clause) for op in distinct() for clause in op.refusals]
IN_MACHINE_CODE = {"heavy", "cuda_sim", "gpu"}
"""Marks of the laws that run every loop as machine code, or on a device."""


@pytest.fixture(autouse=True)
def _text_of_loops(request: pytest.FixtureRequest) -> Iterator[None]:
    if IN_MACHINE_CODE & {mark.name for mark in request.node.iter_markers()}:
        yield
        return
    with only_twins_are_compiled():
        yield


@pytest.mark.clause("contract/fills")
@each_operator
@some_calls
@calls
def test_fills_outputs(name: str, data: st.DataObject) -> None:
    laws.fills_outputs(get(name), HypothesisDraw(data.draw))


@pytest.mark.clause("contract/fills")
@each_operator
@some_calls
@calls
def test_fills_gradients(name: str, data: st.DataObject) -> None:
    laws.fills_gradients(get(name), HypothesisDraw(data.draw))


@pytest.mark.clause("contract/inputs-stay")
@each_operator
@some_calls
@calls
def test_keeps_inputs(name: str, data: st.DataObject) -> None:
    laws.keeps_inputs(get(name), HypothesisDraw(data.draw))


@pytest.mark.parametrize("name", [name for name in OPERATORS if get(name).mutates])
def test_changes_states(name: str) -> None:
    laws.changes_states(get(name), [SeededDraw(seed) for seed in range(8)])


@each_operator
@some_calls
@calls
def test_repeats(name: str, data: st.DataObject) -> None:
    laws.repeats(get(name), HypothesisDraw(data.draw))


@each_operator
@some_calls
@calls
def test_works_in_place(name: str, data: st.DataObject) -> None:
    laws.works_in_place(get(name), HypothesisDraw(data.draw))


@each_operator
@some_calls
@calls
def test_infers_fixed_point(name: str, data: st.DataObject) -> None:
    laws.infers_fixed_point(get(name), HypothesisDraw(data.draw))


@each_operator
@settings(max_examples=DRAWS * 8 // 3)  # partial knowledge takes many forms
@calls
def test_infers_from_parts(name: str, data: st.DataObject) -> None:
    laws.infers_from_parts(get(name), HypothesisDraw(data.draw))


@each_operator
def test_gradient_is_slope_of_a_small_case(name: str) -> None:
    with python_loops():  # a few elements, so nothing is compiled in float64
        laws.gradient_is_slope(get(name), SeededDraw(11))  # with this seed no gradient is 0 by chance


@pytest.mark.heavy
@each_operator
@calls
def test_gradient_is_slope(name: str, data: st.DataObject) -> None:
    laws.gradient_is_slope(get(name), HypothesisDraw(data.draw))


@each_operator
@some_calls
@calls
def test_gradients_are_independent(name: str, data: st.DataObject) -> None:
    laws.gradients_are_independent(get(name), HypothesisDraw(data.draw))


@pytest.mark.heavy
@pytest.mark.clause("numbers/specification")
@each_operator
def test_python_agrees(name: str) -> None:
    for seed in range(4):
        laws.python_agrees(get(name), SeededDraw(seed))


@pytest.mark.heavy
@pytest.mark.clause("numbers/specification")
@each_operator
def test_python_agrees_on_singles(name: str) -> None:
    for seed in range(6):
        laws.python_agrees_on_singles(get(name), SeededDraw(seed))


@pytest.mark.heavy
@pytest.mark.clause("numbers/twins")
@each_operator
@calls
def test_tuned_agrees(name: str, data: st.DataObject) -> None:
    laws.tuned_agrees(get(name), HypothesisDraw(data.draw))


@each_operator
@some_calls
@calls
def test_half_is_rounded_single(name: str, data: st.DataObject) -> None:
    laws.half_is_rounded_single(get(name), HypothesisDraw(data.draw))


@pytest.mark.parametrize(("name", "clause"), REFUSALS)
def test_refuses(name: str, clause: str) -> None:
    op = get(name)
    laws.refuses(op, clause)
    for seed in range(4 if op.cases is not None else 0):  # a clause that refuses everything proves nothing
        laws.accepts(op, SeededDraw(seed))


@pytest.mark.cuda_sim
@pytest.mark.skipif(not SIMULATED, reason="needs NUMBA_ENABLE_CUDASIM=1")
@each_operator
def test_simulated_device_agrees(name: str) -> None:
    for seed in range(3):
        laws.device_agrees(get(name), SeededDraw(seed))


@pytest.mark.gpu
@pytest.mark.skipif(SIMULATED or not cuda.is_available(), reason="needs a CUDA device")
@each_operator
def test_device_agrees(name: str) -> None:
    for seed in range(10):
        laws.device_agrees(get(name), SeededDraw(seed))


