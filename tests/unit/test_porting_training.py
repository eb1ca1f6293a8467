"""What old training scripts do; the numbers are those of MXNet 1.9.1."""

from __future__ import annotations

import json

import numpy as np
import pytest

import refimpl as mx

nd, sym = mx.nd, mx.sym


class CountedIter(mx.io.NDArrayIter):
    """An iterator that counts how often it is reset."""

    resets = 0

    def reset(self) -> None:
        """As the iterator above, counted."""
        self.resets += 1
        super().reset()


@pytest.mark.parametrize(("epochs", "resets"), [(1, 3), (3, 7)])
def test_evaluation_data_are_reset_before_and_after(epochs: int, resets: int) -> None:
    # class CountedIter as above; mx.model.FeedForward(net, num_epoch=epochs).fit(rows, labels, eval_data=it)
    # print(it.resets): the constructor resets once; MXNet then resets twice in each epoch, so that a pair of
    # arrays as eval_data, which is shuffled, moves NumPy's stream twice
    rows, labels = np.ones((4, 2), np.float32), np.zeros(4, np.float32)
    it = CountedIter(rows, labels, 4)
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=2, name="f"), name="softmax")
    mx.model.FeedForward(net, num_epoch=epochs).fit(rows, labels, eval_data=it)
    assert it.resets == resets


@pytest.mark.clause("Embedding/sparse", "Module/sparse-gradients")
@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_sparse_embedding_leaves_other_rows_alone(stype: str) -> None:
    # iw = mx.sym.var("iw_weight", stype="row_sparse"), the rest as below, with
    # m.prepare(batch, sparse_row_id_fn=lambda b: {"iw_weight": mx.nd.arange(4)}) before each step
    # and before get_params; adam would move row 0 in the second step if its gradient were dense
    net = sym.contrib.SparseEmbedding(
        sym.var("item"), weight=sym.var("iw_weight", stype=stype), input_dim=4, output_dim=1
    )
    net = sym.LinearRegressionOutput(sym.Reshape(net, shape=(-1,)), sym.var("score"))
    module = mx.mod.Module(net, data_names=["item"], label_names=["score"])
    module.bind([("item", (2,))], [("score", (2,))])
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.1})
    for items in ([0, 1], [1, 1], [2, 0]):
        module.forward_backward(mx.io.DataBatch([nd.array(items)], [nd.array([3, 4])]))
        module.update()
    weight = module.get_params()[0]["iw_weight"].asnumpy().ravel()
    np.testing.assert_allclose(weight, [1.1852, 1.1986, 1.0639, 1.0], rtol=0, atol=6e-5)


def test_sparse_embedding_keeps_its_name_and_argument_in_files() -> None:
    # print(json.loads(net.tojson())["nodes"][-1])
    net = sym.contrib.SparseEmbedding(
        sym.var("d"), sym.var("w"), input_dim=4, output_dim=1, deterministic=True, name="e"
    )
    node = json.loads(mx.sym.load_json(net.tojson()).tojson())["nodes"][-1]
    assert (node["op"], node["name"]) == ("_contrib_SparseEmbedding", "e")
    assert node["attrs"] == {"deterministic": "True", "input_dim": "4", "output_dim": "1"}


def test_sparse_embedding_binds_a_sparse_gradient() -> None:
    # for stype in ("row_sparse", "default"): the last line of this test, printed
    net = sym.contrib.SparseEmbedding(sym.var("d"), sym.var("w"), input_dim=4, output_dim=1)
    assert net.simple_bind(mx.cpu(), d=(2,)).grad_dict["w"].stype == "row_sparse"
