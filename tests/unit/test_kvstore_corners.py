"""Where a store and a module meet: what nobody would guess. Numbers are those of MXNet 1.9.1."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl import model
from refimpl import ndarray as nd

clause = pytest.mark.clause


def module(count: int = 2, grad_req: str = "write"):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, no_bias=True, name="fc")
    net = mx.sym.LinearRegressionOutput(net, name="lro")
    made = mx.mod.Module(net, label_names=["lro_label"], context=[mx.cpu(i) for i in range(count)])
    made.bind([("data", (4, 1))], [("lro_label", (4, 1))], grad_req=grad_req)
    made.init_params(mx.init.One())
    return made


BATCH = mx.io.DataBatch([nd.array([[1], [2], [3], [-1]])], [nd.array([[0], [1], [1], [3]])])


def values(arrays) -> list:
    return [array.asnumpy().item() for array in arrays]


def step(made) -> None:
    made.forward_backward(BATCH)
    made.update()


@clause("KVStore/update-on-devices", "Module/no-store")
def test_without_a_store_devices_learn_apart() -> None:
    made = module()
    made.init_optimizer(None, optimizer_params={"learning_rate": 0.125, "rescale_grad": 1.0})
    for expected in ([0.625, -0.25], [0.484375, 0.0625]):
        step(made)
        assert values(made._exec_group.param_arrays[0]) == expected
    assert made.get_params()[0]["fc_weight"].asscalar() == 0.2734375


@clause("KVStore/sums-stay")
def test_gradients_are_added_to_the_sum_of_all(monkeypatch) -> None:
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    made = module(grad_req="add")
    made.init_optimizer("local", optimizer_params={"learning_rate": 0.0625, "rescale_grad": 1.0})
    for gradient, weight in ((13.0, 0.1875), (26.8125, -1.48828125), (29.30078125, -3.319580078125)):
        step(made)
        assert values(made._exec_group.grad_arrays[0]) == [gradient, gradient]
        assert made.get_params()[0]["fc_weight"].asscalar() == weight


@clause("KVStore/decision", "KVStore/types")
def test_an_unknown_name_is_a_store_where_one_is_needed() -> None:
    for count, found in ((1, None), (2, "nonsense")):
        made = module(count)
        made.init_optimizer("nonsense")
        assert getattr(made._kvstore, "type", None) == found


@clause("Module/rescale")
def test_the_rescaling_outlives_another_batch_size() -> None:
    made = module()
    made.init_optimizer("local")
    assert made._optimizer.rescale_grad == 0.25
    made.reshape([("data", (8, 1))], [("lro_label", (8, 1))])
    assert made._optimizer.rescale_grad == 0.25
    made.bind([("data", (2, 1))], [("lro_label", (2, 1))], force_rebind=True)
    assert made._optimizer.rescale_grad == 0.25


@clause("KVStore/store-init")
@pytest.mark.parametrize("store", ["teststore", mx.kv.create("teststore")])
def test_a_module_cannot_use_a_store_without_init(store) -> None:
    with pytest.raises(AttributeError, match="'TestStore' object has no attribute 'init'") as caught:
        module().init_optimizer(store)
    assert caught.value.clause == "KVStore/store-init"


@clause("Module/params-reach-store", "KVStore/replace")
def test_a_store_of_ones_own_is_told_if_it_can_be() -> None:
    class Own(mx.kv.KVStoreBase):
        def __init__(self) -> None:
            self.told: list = []

        def broadcast(self, key, value, out, priority=0) -> None: ...

        def pushpull(self, key, value, out=None, priority=0) -> None: ...

        def set_optimizer(self, optimizer) -> None: ...

        type = property(lambda self: "own")
        num_workers = property(lambda self: 1)

        @staticmethod
        def is_capable(capability) -> bool:
            return True

    class Told(Own):
        def replace(self, key, value) -> None:
            self.told.append((key, value.asscalar()))

    for kind, expected in ((Own, []), (Told, [("fc_weight", 5.0)])):
        made = module()
        made.init_optimizer(kind())
        made.set_params({"fc_weight": nd.array([[5]])}, {})
        assert made._kvstore.told == expected


def rows(numbers, row: int):
    return nd.sparse.row_sparse_array((np.array([numbers], np.float32), [row]), shape=(4, 2))


@clause("KVStore/sums-stay")
@pytest.mark.parametrize("kind", ["local", "device"])
@pytest.mark.parametrize("stype", ["default", "row_sparse"])
@pytest.mark.parametrize("quirk", [False, True])
def test_row_sparse_gradients_are_summed_too(kind, stype, quirk) -> None:
    first, second = [[0, 0], [0, 0], [1, -1], [0, 0]], [[0, 0], [0.5, 0.5], [0, 0], [0, 0]]
    total, seen = np.add(first, second).tolist(), []
    store = mx.kv.create(kind)
    store.init("w", nd.zeros((4, 2), stype=stype))
    gradients = [[rows([1, -1], 2), rows([0.5, 0.5], 1)]]
    with mx.quirks(*(["kvstore-rows-unsummed"] if quirk else [])):
        model._update_params(
            [["w0", "w1"]], gradients, lambda index, grads, weights: seen.append([g.asnumpy().tolist() for g in grads]),
            2, store, ["w"],
        )
    assert seen == ([[first], [second]] if quirk else [[total], [total]])  # with the quirk: MXNet 1.9.1
    assert [gradient.stype for gradient in gradients[0]] == ["row_sparse"] * 2
