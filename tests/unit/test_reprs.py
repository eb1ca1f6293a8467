"""What a program prints of the large objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx

pytestmark = pytest.mark.clause("base/repr")


def _module() -> mx.mod.Module:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    return mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))


def test_a_module_through_its_life() -> None:
    module = _module()
    assert repr(module) == "<Module: not bound>"
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    shapes = "bound for training with data (4, 5), softmax_label (4,)"
    assert repr(module) == f"<Module: {shapes}; no parameters yet>"
    module.init_params()
    assert repr(module) == f"<Module: {shapes}; parameters>"
    module.init_optimizer()
    assert repr(module) == f"<Module: {shapes}; parameters and optimizer>"
    module.bind([("data", (2, 5))], for_training=False, force_rebind=True)
    assert "bound for inference with data (2, 5)" in repr(module)


def test_the_others() -> None:
    executor = _module().symbol.simple_bind(mx.cpu(1), data=(4, 5))
    told = "data (4, 5), fc_weight (3, 5), fc_bias (3,), softmax_label (4,) -> softmax_output (4, 3) on cpu(1)"
    assert repr(executor) == f"<Executor: {told}>"
    store = mx.kv.create("device")
    assert repr(store) == "<KVStore: device, 0 keys>"
    store.init(3, mx.nd.ones(2))
    store.set_optimizer(mx.optimizer.SGD(momentum=0.9))
    assert repr(store) == "<KVStore: device, 1 key, with an updater>"
    assert repr(mx.kv.create("teststore")) == "<TestStore: teststore, worker 0 of 1>"
    rule = mx.optimizer.SGD(learning_rate=0.25, momentum=0.5, wd=1e-4)
    assert repr(rule) == "<SGD: learning_rate 0.25, wd 0.0001, rescale_grad 1, momentum 0.5; 0 updates>"
    rule.update(0, mx.nd.ones(2), mx.nd.ones(2), None)
    assert repr(rule).endswith("; 1 updates>")
    iterator = mx.io.NDArrayIter(np.zeros((10, 5)), np.zeros(10), 4)
    assert repr(iterator) == "<NDArrayIter: batches of data (4, 5), softmax_label (4,)>"
    assert repr(next(iterator)) == "DataBatch: data shapes: [(4, 5)] label shapes: [(4,)]"
    metric = mx.metric.create("acc")
    metric.update([mx.nd.array([1, 0])], [mx.nd.array([[0, 1], [0, 1]])])
    assert repr(metric) == "<Accuracy: accuracy 0.5>"
    assert repr(mx.init.Xavier()) == "<Xavier: rnd_type uniform, factor_type avg, magnitude 3>"


def test_of_many_arrays_the_first_are_named() -> None:
    net = mx.sym.add_n(*[mx.sym.Variable(f"v{i}") for i in range(7)], name="sum")
    told = "v0 (2,), v1 (2,), v2 (2,), v3 (2,), 3 more -> sum_output (2,) on cpu(0)"
    assert repr(net.simple_bind(mx.cpu(), **{f"v{i}": (2,) for i in range(7)})) == f"<Executor: {told}>"


@pytest.mark.parametrize(
    "kind", [mx.mod.Module, mx.mod.BucketingModule, mx.optimizer.SGD, mx.io.NDArrayIter, mx.kv.KVStore, mx.metric.F1],
)
def test_of_a_half_made_object_the_class_is_said(kind: Any) -> None:
    assert repr(kind.__new__(kind)) == f"<{kind.__name__}>"
