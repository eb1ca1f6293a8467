"""Checkpoints of recurrent networks: weights gate by gate in the file, and training as MXNet 1.9.1 trains."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import rnn

PIECES = [
    f"{group}_{gate}_{kind}" for group in ("h2h", "i2h") for gate in "cfio" for kind in ("bias", "weight")
]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the operator RNN takes TNC")
        yield


def stack() -> rnn.SequentialRNNCell:
    cells = rnn.SequentialRNNCell()
    cells.add(rnn.FusedRNNCell(2, 1, "lstm", prefix="f_"))
    cells.add(rnn.LSTMCell(2, prefix="l_"))
    return cells


def network(cell) -> tuple:
    symbol, _ = cell.unroll(2, mx.sym.Variable("data"), merge_outputs=True)
    shapes, _, _ = symbol.infer_shape(data=(1, 2, 3))
    arrays = {
        name: nd.arange(int(np.prod(shape))).reshape(shape)
        for name, shape in zip(symbol.list_arguments(), shapes, strict=True) if name != "data"
    }
    return symbol, arrays, {"m": nd.ones(1)}


@pytest.mark.clause("rnn/checkpoint")
def test_the_file_holds_weights_by_gate() -> None:
    # MXNet 1.9.1 writes these names and reads them back
    cell = stack()
    symbol, arrays, states = network(cell)
    rnn.save_rnn_checkpoint(cell, "net", 3, symbol, arrays, states)
    assert sorted(nd.load("net-0003.params")) == [
        *(f"arg:f_l0_{piece}" for piece in PIECES), *(f"arg:l_{piece}" for piece in PIECES), "aux:m",
    ]
    again, found, auxiliary = rnn.load_rnn_checkpoint(cell, "net", 3)
    assert again.tojson() == symbol.tojson()
    assert set(found) == set(arrays)
    assert list(auxiliary) == ["m"]
    for name, array in arrays.items():
        assert found[name].asnumpy().tobytes() == array.asnumpy().tobytes()


@pytest.mark.clause("rnn/checkpoint")
def test_one_cell_a_list_of_cells_and_other_cells() -> None:
    cell = stack()
    symbol, arrays, states = network(cell)
    rnn.save_rnn_checkpoint(cell._cells, "net", 1, None, arrays, states)
    rnn.save_rnn_checkpoint(tuple(cell._cells), "net", 2, symbol, arrays, states)
    first, second = (nd.load(f"net-000{epoch}.params") for epoch in (1, 2))
    assert sorted(first) == sorted(second)
    _, found, _ = rnn.load_rnn_checkpoint([cell._cells[0].unfuse(), cell._cells[1]], "net", 2)
    assert found["f_l0_i2h_weight"].asnumpy().tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11],
                                                           [12, 13, 14], [15, 16, 17], [18, 19, 20], [21, 22, 23]]
    assert found["f_l0_h2h_bias"].asnumpy().tolist() == list(range(48, 56))
    with pytest.raises(KeyError, match="f_parameters"):
        rnn.save_rnn_checkpoint(cell, "net", 3, symbol, {}, states)
    with pytest.raises(mx.MXNetError):
        rnn.load_rnn_checkpoint(cell, "missing", 3)


@pytest.mark.clause("rnn/checkpoint")
def test_the_callback_counts_epochs(tmp_path) -> None:
    # MXNet 1.9.1 writes these files
    cell = stack()
    given = network(cell)
    for prefix, period in (("two", 2), ("none", 0), ("half", 1.9), ("minus", -3)):
        callback = rnn.do_rnn_checkpoint(cell, prefix, period)
        for epoch in range(3 if period == 2 else 1):
            callback(epoch, *given)
    assert sorted(file.name for file in tmp_path.glob("*.params")) == [
        "half-0001.params", "minus-0001.params", "none-0001.params", "two-0002.params",
    ]


# --- the old way to unroll -----------------------------------------------------------------------------


@pytest.mark.clause("rnn/rnn-unroll")
def test_rnn_unroll() -> None:
    cell = rnn.RNNCell(2)
    with pytest.warns(UserWarning, match="deprecated"):
        outputs, states = rnn.rnn_unroll(cell, 2, input_prefix="p_")
    assert mx.sym.Group([*outputs, *states]).list_arguments() == [
        "p_t0_data", "rnn_i2h_weight", "rnn_i2h_bias", "rnn_h2h_weight", "rnn_h2h_bias", "p_t1_data",
    ]
    with pytest.warns(UserWarning, match="deprecated"):
        outputs, _ = rnn.rnn_unroll(cell, 2, mx.sym.Variable("x"), [mx.sym.Variable("s")], layout="TNC")
    assert "s" in outputs[0].list_arguments()
    assert outputs[0].infer_shape(x=(2, 5, 3), s=(5, 2))[1] == [(5, 2)]


# --- training as MXNet does -------------------------------------------------------------------------------


def numbers(name: str, shape: tuple[int, ...]) -> mx.nd.NDArray:
    """Thirty-seconds between -15/32 and 15/32, by formula."""
    count, start = np.arange(np.prod(shape)), sum(map(ord, name))
    return nd.array((((count * count + count * start + start) % 31 - 15) / 32).reshape(shape))


SHAPES = {
    "embed_weight": (6, 3), "lstm_l0_i2h_weight": (16, 3), "lstm_l0_i2h_bias": (16,),
    "lstm_l0_h2h_weight": (16, 4), "lstm_l0_h2h_bias": (16,), "pred_weight": (6, 4), "pred_bias": (6,),
}
SENTENCES = [[[1, 2, 3, 4], [5, 1, 2, 0]], [[2, 3, 0, 0], [4, 4, 1, 5]], [[5, 4, 3, 2], [1, 1, 2, 2]]]

# MXNet 1.9.1 with the function below: perplexity before each step; after three, the first numbers and the sum
# of squares of every parameter.
PERPLEXITIES = [5.33367355, 6.61542983, 4.69588676]
TRAINED = {
    "embed_weight": ([-0.09375, 0.3125, -0.1875, 0.355680823], 0.995263999),
    "lstm_l0_h2h_bias": ([-0.104955316, 0.30705297, -0.187855527, 0.344008833], 0.842107383),
    "lstm_l0_h2h_weight": ([0.405871719, 0.343206584, 0.343585521, 0.405932933], 5.30083342),
    "lstm_l0_i2h_bias": ([-0.0737053156, 0.36955297, -0.0941055268, 0.469008833], 1.65906055),
    "lstm_l0_i2h_weight": ([0.434965789, 0.400573999, 0.440201044, -0.438693941], 4.39019363),
    "pred_bias": ([-0.648127556, 0.160664856, 0.498158693, 0.00585483015], 0.985536813),
    "pred_weight": ([0.180315405, -0.0257527046, -0.145450383, -0.340315789], 1.2434599),
}


@pytest.mark.clause("rnn/fused")
@pytest.mark.clause("rnn/lstm-cell")
@pytest.mark.parametrize("kind", ["plain", "fused"])
def test_a_language_model_learns_as_in_mxnet(kind: str) -> None:
    cell = rnn.LSTMCell(4, prefix="lstm_l0_") if kind == "plain" else rnn.FusedRNNCell(4, prefix="lstm_")
    plain = rnn.LSTMCell(4, prefix="lstm_l0_")
    words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=6, output_dim=3, name="embed")
    outputs, _ = cell.unroll(4, inputs=words, merge_outputs=True)
    scores = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, 4)), num_hidden=6, name="pred")
    label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
    model = mx.sym.SoftmaxOutput(scores, label, use_ignore=True, ignore_label=0, name="softmax")

    module = mx.mod.Module(model)
    module.bind([("data", (2, 4))], [("softmax_label", (2, 4))])
    begin = {name: numbers(name, shape) for name, shape in SHAPES.items()}
    module.init_params(arg_params=cell.pack_weights(plain.unpack_weights(begin)))
    module.init_optimizer(optimizer_params={"learning_rate": 0.5, "momentum": 0.9, "rescale_grad": 0.25})
    metric = mx.metric.Perplexity(ignore_label=0)
    for sentences, perplexity in zip(SENTENCES, PERPLEXITIES, strict=True):
        data, following = np.array(sentences), np.zeros((2, 4))
        following[:, :-1] = data[:, 1:]
        batch = mx.io.DataBatch([nd.array(data)], [nd.array(following)])
        module.forward_backward(batch)
        metric.reset()
        module.update_metric(metric, batch.label)
        module.update()
        assert metric.get()[1] == pytest.approx(perplexity, rel=1e-6)
    trained = plain.pack_weights(cell.unpack_weights(module.get_params()[0]))
    assert sorted(trained) == sorted(TRAINED)
    for name, (first, squares) in TRAINED.items():
        found = trained[name].asnumpy().astype(np.float64)
        # three steps of float32, whose sums MXNet makes in another order
        np.testing.assert_allclose(found.ravel()[:4], first, rtol=1e-6, atol=1e-7)
        assert (found**2).sum() == pytest.approx(squares, rel=1e-6)
