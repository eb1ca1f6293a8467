"""What pages tell the memory plan is true: views, shapes that are only measured, gradients written over reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels import distinct, get
from refimpl.oracle.pages.calls import Trial, has_gradient
from refimpl.oracle.pages.draws import example
from refimpl.oracle.strategies import HypothesisDraw

CALLS = given(data=st.data())


VIEWS = [op.name for op in distinct() if op.view]
MEASURING = [op.name for op in distinct() if op.shape_only]
MEASURING_BACK = [op.name for op in distinct() if op.shape_needs]
OVERWRITING = [op.name for op in distinct() if op.inplace_backward and op.cases is not None]


@pytest.mark.clause("memory/views")
@pytest.mark.parametrize("name", VIEWS)
@CALLS
def test_a_view_has_the_elements_of_its_input(name: str, data: st.DataObject) -> None:
    trial = Trial(example(get(name), HypothesisDraw(data.draw)))
    (out,) = trial.forward()
    assert out.tobytes() == trial.of.arrays[0].tobytes()
    op = get(name)
    if op.backward is not None:
        assert not op.is_loss(trial.of.p)
        gradient = trial.backward()[0]
        assert gradient is not None
        assert gradient.tobytes() == trial.heads()[0].tobytes()


@pytest.mark.clause("passes/dead-branches")
@pytest.mark.parametrize("name", MEASURING)
@CALLS
def test_what_is_measured_is_not_read(name: str, data: st.DataObject) -> None:
    of = example(get(name), HypothesisDraw(data.draw))
    expected = Trial(of).forward()
    trial = Trial(of)
    for position, read in enumerate(of.names):
        if read in of.op.shape_only:
            trial.ins[position].buffer.fill(99)
    for one, other in zip(expected, trial.forward(), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.clause("passes/dead-branches")
@pytest.mark.parametrize("name", MEASURING_BACK)
@CALLS
def test_what_backward_measures_is_not_read(name: str, data: st.DataObject) -> None:
    of = example(get(name), HypothesisDraw(data.draw))
    wanted = of.op.shape_needs(of.p) if callable(of.op.shape_needs) else of.op.shape_needs
    whole, measured = Trial(of), Trial(of)
    whole.forward()
    measured.forward()
    named = dict(zip([*of.names, *of.op.output_names(of.p)], [*measured.ins, *measured.outs], strict=True))
    for read in wanted:
        named[read].buffer.fill(99)
    for one, other in zip(whole.backward(), measured.backward(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.clause("memory/inplace")
@pytest.mark.parametrize("name", OVERWRITING)
@CALLS
def test_a_gradient_may_overwrite_a_read_while_others_are_computed(name: str, data: st.DataObject) -> None:
    op, draw = get(name), HypothesisDraw(data.draw)
    of, train = example(op, draw), op.mode and draw.boolean()
    if not has_gradient(of) or op.backward is None:
        return
    alone = Trial(of, is_train=train)
    alone.forward()
    expected = alone.backward()
    for read, target in op.inplace_backward:
        trial = Trial(of, is_train=train)
        trial.forward()
        if target in of.names and trial.may_overwrite(read, target):
            for one, other in zip(expected, trial.backward(overwriting=(read, target)), strict=True):
                np.testing.assert_array_equal(one, other, err_msg=f"{of}: d_{target} over {read}")
