"""What recurrent cells refuse: the clause, MXNet's type of error, and what the message says."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import rnn
from refimpl import symbol as sym

X = sym.Variable("x")


def raised(clause: str, kind: type[Exception], call, *words: str) -> None:
    """The call is refused with this clause, this type and these words."""
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
    for word in words:
        assert word in str(caught.value)



@pytest.mark.clause("rnn/inputs")
def test_inputs_that_do_not_fit() -> None:
    cell = rnn.RNNCell(2)
    raised("rnn/inputs", AssertionError, lambda: cell.unroll(3, None), "inputs is None")
    raised("rnn/inputs", AssertionError, lambda: cell.unroll(3, [X, X]), "3 times", "got 2")
    raised("rnn/inputs", AssertionError, lambda: rnn.FusedRNNCell(2).unroll(3, [X, X]), "3 times")
    raised("rnn/inputs", AssertionError, lambda: cell.unroll(2, sym.Group([X, X])), "list(inputs)")
    raised("rnn/inputs", AssertionError, lambda: cell.unroll(None, X), "length")


@pytest.mark.clause("rnn/layout")
def test_layouts_without_times() -> None:
    raised("rnn/layout", AssertionError, lambda: rnn.RNNCell(2).unroll(2, X, layout="NC"), "NC")
    raised("rnn/layout", AssertionError, lambda: rnn.FusedRNNCell(2).unroll(2, X, layout="XY"), "XY")
    raised("rnn/layout", AssertionError, lambda: rnn.FusedRNNCell(2).unroll(2, X, layout="NCT"), "NCT")
    raised("rnn/layout", AssertionError, lambda: rnn.DropoutCell(0.1).unroll(2, X, layout="NC"), "NC")


@pytest.mark.clause("rnn/step")
def test_cells_that_cannot_go_step_by_step() -> None:
    both = rnn.BidirectionalCell(rnn.RNNCell(2), rnn.RNNCell(2, prefix="r_"))
    raised("rnn/step", NotImplementedError, lambda: both(X, []), "unroll")
    raised("rnn/step", NotImplementedError, lambda: rnn.FusedRNNCell(2)(X, []), "unroll")
    stack = rnn.SequentialRNNCell()
    stack.add(both)
    raised("rnn/step", AssertionError, lambda: stack(X, [X, X]), "unroll")


@pytest.mark.clause("rnn/modified")
def test_a_base_cell_makes_no_states() -> None:
    base = rnn.RNNCell(2)
    modifier = rnn.ResidualCell(base)
    raised("rnn/modified", AssertionError, base.begin_state, "modifier")
    raised("rnn/modified", AssertionError, lambda: base.unroll(2, X), "modifier")
    assert [state.name for state in modifier.begin_state()] == ["rnn_begin_state_0"]
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.ZoneoutCell(stack))
    raised("rnn/modified", AssertionError, stack.begin_state, "modifier")


@pytest.mark.clause("rnn/modified")
def test_a_failed_call_leaves_the_base_cell_marked() -> None:
    base = rnn.RNNCell(2)
    modifier = rnn.ResidualCell(base)
    raised("rnn/inputs", AssertionError, lambda: modifier.unroll(2, None))
    raised("rnn/modified", AssertionError, base.begin_state)


@pytest.mark.clause("rnn/zoneout-base")
def test_zoneout_needs_steps() -> None:
    def both() -> rnn.BidirectionalCell:
        return rnn.BidirectionalCell(rnn.RNNCell(2), rnn.RNNCell(2, prefix="r_"))

    raised("rnn/zoneout-base", AssertionError, lambda: rnn.ZoneoutCell(rnn.FusedRNNCell(2)), "unfuse")
    raised("rnn/zoneout-base", AssertionError, lambda: rnn.ZoneoutCell(both()), "underneath")
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.ResidualCell(both()))
    raised("rnn/zoneout-base", AssertionError, lambda: rnn.ZoneoutCell(stack), "underneath")
    stack.begin_state()


@pytest.mark.clause("rnn/params")
def test_params_of_a_sequence_and_of_its_cells() -> None:
    shared = rnn.SequentialRNNCell(params=rnn.RNNParams("q_"))
    raised("rnn/params", AssertionError, lambda: shared.add(rnn.RNNCell(2)), "SequentialRNNCell")
    assert shared._cells == []
    raised(
        "rnn/params", AssertionError,
        lambda: rnn.BidirectionalCell(rnn.RNNCell(2), rnn.RNNCell(2), params=rnn.RNNParams("q_")),
        "BidirectionalCell",
    )


@pytest.mark.clause("rnn/abstract")
def test_base_classes() -> None:
    base = rnn.BaseRNNCell("a_")
    raised("rnn/abstract", NotImplementedError, lambda: base(X, []))
    raised("rnn/abstract", NotImplementedError, lambda: base.state_shape)
    raised("rnn/abstract", NotImplementedError, base.begin_state)
    raised("rnn/abstract", NotImplementedError, lambda: rnn.ModifierCell(rnn.RNNCell(2))(X, [X]))
    sides = [(3, 3), (1, 1), (3, 3), (1, 1), (1, 1), (1, 1)]
    pictures = rnn.BaseConvRNNCell((1, 2, 4, 4), 2, *sides, None, None, "zeros", "zeros", "tanh")
    assert pictures.state_shape == [(0, 2, 4, 4)] * 2
    raised("rnn/abstract", NotImplementedError, lambda: pictures(X, [X]), "has no __call__")


@pytest.mark.clause("rnn/dropout-cell")
@pytest.mark.clause("rnn/mode")
@pytest.mark.clause("rnn/odd-kernel")
def test_values_that_make_no_sense() -> None:
    raised("rnn/dropout-cell", AssertionError, lambda: rnn.DropoutCell("0.5"), "0.5")
    raised("rnn/mode", mx.MXNetError, lambda: rnn.FusedRNNCell(2, mode="rnn"), "rnn_relu", "'rnn'")
    raised(
        "rnn/odd-kernel", AssertionError, lambda: rnn.ConvRNNCell((1, 2, 4, 4), 2, h2h_kernel=(3, 2)), "(3, 2)"
    )


@pytest.mark.clause("rnn/parameters-size")
@pytest.mark.parametrize("size", [0, 10, 47, 49])
def test_a_vector_of_a_wrong_length(size: int) -> None:
    cell = rnn.FusedRNNCell(2)
    given = {"lstm_parameters": nd.zeros(size) if size else nd.array(np.zeros(0))}
    raised("rnn/parameters-size", AssertionError, lambda: cell.unpack_weights(given), f"{size} numbers", "40")
    assert list(given) == ["lstm_parameters"]


@pytest.mark.clause("rnn/pack")
def test_missing_weights() -> None:
    with pytest.raises(KeyError, match="rnn_i2h_weight"):
        rnn.RNNCell(2).unpack_weights({})
    with pytest.raises(KeyError, match="lstm_i2h_i_weight"):
        rnn.LSTMCell(2).pack_weights({})
    with pytest.raises(KeyError, match="lstm_parameters"):
        rnn.FusedRNNCell(2).unpack_weights({})
    pieces = rnn.FusedRNNCell(2).unpack_weights({"lstm_parameters": nd.arange(48)})
    del pieces["lstm_l0_h2h_o_weight"]
    with pytest.raises(KeyError, match="lstm_l0_h2h_o_weight"):
        rnn.FusedRNNCell(2).pack_weights(pieces)
