"""Cells: the symbol files that MXNet 1.9.1 makes, names, attributes, weights by gate, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import rnn
from refimpl import symbol as sym
from refimpl.name import NameManager

from . import rnn_cases
from .recorded_rnn import DIGESTS


class Namespace:
    """What rnn_cases.py needs of ``mx``."""

    rnn, sym, name = rnn, sym, mx.name


RECIPES = dict(rnn_cases.recipes(Namespace))
X = sym.Variable("x")


@pytest.fixture(autouse=True)
def fresh_names():
    with NameManager():
        yield


def lines(symbol: sym.Symbol) -> list[str]:
    """Operator, name and inputs of every node, and output names."""
    nodes = symbol.get_internals()
    found = []
    for name in nodes.list_outputs():
        node = nodes[name]
        inputs = node.get_children()
        found.append(name if inputs is None else f"{name} <- {', '.join(inputs.list_outputs())}")
    return found


# --- the same graphs as MXNet ------------------------------------------------------------------------


@pytest.mark.clause("rnn/names")
@pytest.mark.clause("rnn/merge")
@pytest.mark.clause("rnn/sequential")
@pytest.mark.clause("rnn/zoneout")
@pytest.mark.clause("rnn/convolutional")
@pytest.mark.parametrize("name", DIGESTS)
def test_symbol_files_are_those_of_mxnet(name: str) -> None:
    assert rnn_cases.digest(rnn_cases.graphs(Namespace, RECIPES[name])) == DIGESTS[name]


def test_every_recipe_is_recorded() -> None:
    assert list(RECIPES) == list(DIGESTS)


@pytest.mark.clause("rnn/names")
def test_an_lstm_in_full() -> None:
    # MXNet 1.9.1: mx.rnn.LSTMCell(5).unroll(1, [mx.sym.Variable("x")]), get_internals of the output
    (output,), _ = rnn.LSTMCell(5).unroll(1, [X])
    assert lines(output) == [
        "x", "lstm_i2h_weight", "lstm_i2h_bias",
        "lstm_t0_i2h_output <- x, lstm_i2h_weight, lstm_i2h_bias", "lstm_begin_state_0_output",
        "lstm_h2h_weight", "lstm_h2h_bias",
        "lstm_t0_h2h_output <- lstm_begin_state_0_output, lstm_h2h_weight, lstm_h2h_bias",
        "_plus0_output <- lstm_t0_i2h_output, lstm_t0_h2h_output",
        "lstm_t0_slice_output0 <- _plus0_output", "lstm_t0_slice_output1 <- _plus0_output",
        "lstm_t0_slice_output2 <- _plus0_output", "lstm_t0_slice_output3 <- _plus0_output",
        "lstm_t0_o_output <- lstm_t0_slice_output3", "lstm_t0_f_output <- lstm_t0_slice_output1",
        "lstm_begin_state_1_output", "_mul0_output <- lstm_t0_f_output, lstm_begin_state_1_output",
        "lstm_t0_i_output <- lstm_t0_slice_output0", "lstm_t0_c_output <- lstm_t0_slice_output2",
        "_mul1_output <- lstm_t0_i_output, lstm_t0_c_output",
        "lstm_t0_state_output <- _mul0_output, _mul1_output", "activation0_output <- lstm_t0_state_output",
        "lstm_t0_out_output <- lstm_t0_o_output, activation0_output",
    ]


@pytest.mark.clause("rnn/names")
def test_shapes_of_an_unrolled_network() -> None:
    # MXNet 1.9.1: the same cells, infer_shape(data=(2, 3, 5))
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(5, prefix="a_"))
    stack.add(rnn.BidirectionalCell(rnn.GRUCell(5, prefix="x_"), rnn.RNNCell(4, prefix="y_")))
    outputs, states = stack.unroll(3, sym.Variable("data"), merge_outputs=True)
    assert outputs.list_arguments() == [
        "data", "a_i2h_weight", "a_i2h_bias", "a_h2h_weight", "a_h2h_bias", "x_i2h_weight", "x_i2h_bias",
        "x_h2h_weight", "x_h2h_bias", "y_i2h_weight", "y_i2h_bias", "y_h2h_weight", "y_h2h_bias",
    ]
    arguments, (output,), _ = outputs.infer_shape(data=(2, 3, 5))
    assert output == (2, 3, 9)
    assert arguments[1:] == [
        (20, 5), (20,), (20, 5), (20,), (15, 5), (15,), (15, 5), (15,), (4, 5), (4,), (4, 4), (4,),
    ]
    assert [symbol.name for symbol in rnn_cases.flat(states)] == ["a_t2_out", "a_t2_state", "x_t2_out", "y_t2_out"]


@pytest.mark.clause("rnn/fused")
def test_the_parameter_of_a_fused_cell_says_how_to_begin() -> None:
    # MXNet 1.9.1: print(cell._parameter.tojson())
    cell = rnn.FusedRNNCell(3, 2, "gru", True, forget_bias=0.5)
    (variable,) = cell.params._params.values()
    assert variable.name == "gru_parameters"
    assert variable.list_attr() == {
        "__init__": '["fusedrnn", {"init": null, "num_hidden": 3, "num_layers": 2, "mode": "gru",'
        ' "bidirectional": true, "forget_bias": 0.5}]'
    }


@pytest.mark.clause("rnn/lstm-cell")
def test_forget_bias_is_an_initializer_of_the_variable() -> None:
    cell = rnn.LSTMCell(3, forget_bias=2.0, params=rnn.RNNParams("shared_"))
    assert sorted(cell.params._params) == [
        "shared_h2h_bias", "shared_h2h_weight", "shared_i2h_bias", "shared_i2h_weight",
    ]
    attributes = {name: value.list_attr() for name, value in cell.params._params.items()}
    assert attributes["shared_i2h_bias"] == {"__init__": '["lstmbias", {"forget_bias": 2.0}]'}
    assert attributes["shared_h2h_bias"] == {}


@pytest.mark.clause("rnn/state-info")
@pytest.mark.parametrize(("cell", "expected"), [
    (rnn.RNNCell(5), [((0, 5), "NC")]),
    (rnn.LSTMCell(5), [((0, 5), "NC")] * 2),
    (rnn.GRUCell(5), [((0, 5), "NC")]),
    (rnn.DropoutCell(0.5), []),
    (rnn.FusedRNNCell(5, 2, "lstm", True), [((4, 0, 5), "LNC")] * 2),
    (rnn.FusedRNNCell(5, 2, "gru"), [((2, 0, 5), "LNC")]),
    (rnn.BidirectionalCell(rnn.LSTMCell(5), rnn.GRUCell(4)), [((0, 5), "NC"), ((0, 5), "NC"), ((0, 4), "NC")]),
    (rnn.ZoneoutCell(rnn.LSTMCell(5)), [((0, 5), "NC")] * 2),
    (rnn.ConvLSTMCell((2, 3, 8, 8), 4), [((0, 4, 8, 8), "NCHW")] * 2),
    (rnn.ConvGRUCell((2, 3, 8, 8), 4, i2h_kernel=(5, 3), i2h_stride=(2, 1)), [((0, 4, 3, 8), "NCHW")]),
    (rnn.ConvRNNCell((0, 3, 8, 8), 4, i2h_kernel=(2, 3)), [((0, 4, 9, 8), "NCHW")]),
    (rnn.ConvRNNCell((2, 3, 8), 4, (3,), (1,), (3,), (1,), (1,), (1,), conv_layout="NCW"), [((0, 4, 8), "NCW")]),
], ids=lambda value: type(value).__name__ if isinstance(value, rnn.BaseRNNCell) else None)
def test_state_info(cell: rnn.BaseRNNCell, expected) -> None:
    assert cell.state_info == [{"shape": shape, "__layout__": layout} for shape, layout in expected]
    assert cell.state_shape == [shape for shape, _ in expected]


@pytest.mark.clause("rnn/begin-state")
def test_begin_state_counts_and_passes_arguments_on() -> None:
    cell = rnn.LSTMCell(3)
    assert [state.name for state in cell.begin_state()] == ["lstm_begin_state_0", "lstm_begin_state_1"]
    assert [state.name for state in cell.begin_state()] == ["lstm_begin_state_2", "lstm_begin_state_3"]
    cell.reset()
    first, _ = cell.begin_state(func=sym.uniform, low=-1, high=1)
    # MXNet 1.9.1
    assert first.list_attr() == {"__layout__": "NC", "high": "1", "low": "-1", "shape": "(0, 3)"}
    variable, _ = cell.begin_state(func=sym.Variable)
    assert variable.list_attr() == {"__layout__": "NC", "__shape__": "(0, 3)"}


@pytest.mark.clause("rnn/begin-state")
def test_modifiers_take_func_too() -> None:
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.ResidualCell(rnn.ZoneoutCell(rnn.GRUCell(3))))
    stack.add(rnn.LSTMCell(3))
    states = stack.begin_state(func=sym.Variable)
    assert [state.name for state in states] == ["gru_begin_state_0", "lstm_begin_state_0", "lstm_begin_state_1"]


@pytest.mark.clause("rnn/reset")
def test_unroll_begins_names_anew() -> None:
    # MXNet 1.9.1: the outputs' names when the cell is unrolled twice
    cell = rnn.LSTMCell(3)
    assert [out.name for out in cell.unroll(2, X)[0]] == ["lstm_t0_out", "lstm_t1_out"]
    assert [out.name for out in cell.unroll(1, X)[0]] == ["lstm_t0_out"]
    zoneout = rnn.ZoneoutCell(rnn.RNNCell(3))
    assert [out.name for out in zoneout.unroll(2, X)[0]] == ["rnn_t0_out", "rnn_t1_out"]
    assert [out.name for out in zoneout.unroll(2, X)[0]] == ["rnn_t2_out", "rnn_t3_out"]


@pytest.mark.clause("rnn/params")
def test_cells_share_parameters() -> None:
    params = rnn.RNNParams("q_")
    one, two = rnn.RNNCell(2, prefix="a_", params=params), rnn.RNNCell(2, prefix="b_", params=params)
    outputs = [*one.unroll(1, X)[0], *two.unroll(1, X)[0]]
    assert [out.name for out in outputs] == ["a_t0_out", "b_t0_out"]
    assert sym.Group(outputs).list_arguments() == ["x", "q_i2h_weight", "q_i2h_bias", "q_h2h_weight", "q_h2h_bias"]
    made = params.get("w", shape=(2, 3), lr_mult=2.0)
    assert made.list_attr() == {"__shape__": "(2, 3)", "__lr_mult__": "2.0", "lr_mult": "2.0"}
    assert params.get("w") is made


@pytest.mark.clause("rnn/own-cell")
def test_a_cell_of_ones_own() -> None:
    class Scale(rnn.BaseRNNCell):
        @property
        def state_info(self):
            return [None]

        def __call__(self, inputs, states):
            self._counter += 1
            name = f"{self._prefix}t{self._counter}_out"
            output = self._get_activation(inputs * states[0], "relu", name=name)
            return output, [output]

    cell = Scale("my_")
    outputs, states = cell.unroll(2, [X, X], begin_state=[sym.Variable("s")])
    assert [out.name for out in outputs] == ["my_t0_out", "my_t1_out"]
    executor = states[0].bind(mx.cpu(), {"x": nd.array([2, -3]), "s": nd.array([5, 7])})
    assert executor.forward()[0].asnumpy().tolist() == [20, 0]
    kept = {"a": nd.ones(1)}
    assert cell.unpack_weights(kept) == kept == cell.pack_weights(kept)


# --- weights by gate -----------------------------------------------------------------------------------


@pytest.mark.clause("rnn/pack")
def test_weights_by_gate() -> None:
    # rows of each gate by hand
    arrays = {
        "gru_i2h_weight": nd.arange(6).reshape((6, 1)), "gru_i2h_bias": nd.arange(6),
        "gru_h2h_weight": nd.arange(12).reshape((6, 2)), "gru_h2h_bias": nd.arange(6), "other": nd.ones(1),
    }
    cell = rnn.GRUCell(2)
    gates = cell.unpack_weights(arrays)
    assert list(arrays)[:2] == ["gru_i2h_weight", "gru_i2h_bias"]
    assert sorted(gates) == sorted(
        ["other", *(f"gru_{group}_{gate}_{kind}" for group in ("i2h", "h2h") for gate in "rzo"
                    for kind in ("weight", "bias"))]
    )
    assert gates["gru_i2h_z_weight"].asnumpy().tolist() == [[2], [3]]
    assert gates["gru_h2h_o_weight"].asnumpy().tolist() == [[8, 9], [10, 11]]
    gates["gru_i2h_z_weight"][:] = 99
    assert arrays["gru_i2h_weight"].asnumpy().max() == 5
    packed = cell.pack_weights(gates)
    assert set(packed) == set(arrays)
    assert packed["gru_i2h_weight"].asnumpy().ravel().tolist() == [0, 1, 99, 99, 4, 5]


@pytest.mark.clause("rnn/packed-order")
def test_the_order_of_a_fused_vector() -> None:
    # MXNet 1.9.1: cell.unpack_weights({"lstm_parameters": mx.nd.arange(288)}), then a bias set to 99 and packed
    cell = rnn.FusedRNNCell(2, 2, "lstm", bidirectional=True)
    vector = nd.arange(288, dtype="float64")
    pieces = cell.unpack_weights({"lstm_parameters": vector})
    assert list(pieces)[:3] == ["lstm_l0_i2h_i_weight", "lstm_l0_i2h_f_weight", "lstm_l0_i2h_c_weight"]
    assert list(pieces)[-1] == "lstm_r1_h2h_o_bias"
    assert pieces["lstm_r1_i2h_o_weight"].shape == (2, 4)
    pieces["lstm_l0_i2h_f_bias"][:] = 99
    packed = cell.pack_weights(pieces)["lstm_parameters"]
    expected = np.arange(288.0)
    expected[226:228] = 99
    assert packed.dtype == np.float64
    assert packed.asnumpy().tolist() == expected.tolist()
    assert vector.asnumpy().max() == 287


@pytest.mark.clause("rnn/unfuse")
def test_unfused_cells_keep_the_forget_bias_and_the_names() -> None:
    stack = rnn.FusedRNNCell(2, 2, "lstm", True, dropout=0.3, forget_bias=3.0, prefix="f_").unfuse()
    first, dropout, second = stack._cells
    assert dropout.dropout == 0.3
    assert [cell._prefix for cell in first._cells + second._cells] == ["f_l0_", "f_r0_", "f_l1_", "f_r1_"]
    assert "3.0" in first._cells[0]._iB.list_attr()["__init__"]


# --- what modifiers do in training -----------------------------------------------------------------------


def zoned(outputs: float, states: float) -> list:
    def same(value, **kwargs):
        return sym.identity(value, **kwargs)

    cell = rnn.ZoneoutCell(rnn.RNNCell(3, activation=same, prefix="r_"), outputs, states)
    output, after = cell.unroll(3, sym.Variable("data"), [sym.Variable("s")], merge_outputs=True)
    network = sym.Group([output, *after])
    arrays = {
        "data": nd.arange(1, 19).reshape((2, 3, 3)), "s": nd.array([[-1, -2, -3], [-4, -5, -6]]),
        "r_i2h_weight": nd.array(np.eye(3)), "r_h2h_weight": nd.zeros((3, 3)),
        "r_i2h_bias": nd.zeros(3), "r_h2h_bias": nd.zeros(3),
    }
    grads = {name: nd.zeros(array.shape) for name, array in arrays.items()}
    mx.random.seed(3)
    executor = network.bind(mx.cpu(), {name: arrays[name] for name in network.list_arguments()}, args_grad=grads)
    return [out.asnumpy().astype(int).tolist() for out in executor.forward(is_train=True)]


@pytest.mark.clause("rnn/zoneout")
def test_zoneout_in_training_draws_what_mxnet_draws() -> None:
    # MXNet 1.9.1: the function above with mx.sym.identity as the activation
    assert zoned(0.5, 0.0) == [
        [[[0, 2, 3], [0, 5, 6], [0, 5, 9]], [[10, 11, 12], [13, 14, 15], [13, 14, 15]]],
        [[7, 8, 9], [16, 17, 18]],
    ]
    assert zoned(0.0, 0.5) == [
        [[[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[10, 11, 12], [13, 14, 15], [16, 17, 18]]],
        [[-1, 5, 9], [13, 14, 15]],
    ]


@pytest.mark.clause("rnn/zoneout")
def test_zoneout_over_a_sequence_and_over_pictures() -> None:
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.RNNCell(3))
    assert len(rnn.ZoneoutCell(stack, 0.1, 0.1).unroll(2, X)[0]) == 2
    pictures = rnn.ZoneoutCell(rnn.ConvRNNCell((1, 2, 4, 4), 2), 0.5)
    outputs, _ = pictures.unroll(2, X, merge_outputs=True)
    assert outputs.infer_shape(x=(1, 2, 2, 4, 4))[1] == [(1, 2, 2, 4, 4)]


@pytest.mark.clause("rnn/dropout-cell")
def test_dropout_of_a_merged_sequence_is_one_node() -> None:
    merged, states = rnn.DropoutCell(0.4).unroll(3, X, merge_outputs=True)
    assert (merged.name, states) == ("dropout0", [])
    listed, _ = rnn.DropoutCell(0.4).unroll(3, X, merge_outputs=False)
    assert [out.name for out in listed] == ["dropout1", "dropout2", "dropout3"]
    assert rnn.DropoutCell(-0.5).unroll(3, X)[0] is X
