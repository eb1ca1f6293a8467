"""Private attributes of MXNet's modules that scripts read and set."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from tests.unit import bucket_nets, module_nets
from tests.unit.module_nets import ROWS, batch


def trained(contexts: int = 1, **settings):
    module = module_nets.ready(contexts)
    module.init_optimizer(**settings)
    return module


def test_before_init_optimizer_there_is_none():
    module = module_nets.ready()
    assert [module._optimizer, module._kvstore, module._update_on_kvstore, module._updater] == [None] * 4


@pytest.mark.parametrize(
    ("contexts", "kvstore", "on_store"), [(1, "local", False), (2, None, False), (2, "local", True)]
)
def test_what_updates_is_found_under_mxnets_names(contexts, kvstore, on_store):
    module = trained(contexts, kvstore=kvstore)
    assert isinstance(module._optimizer, mx.optimizer.SGD)
    assert module._update_on_kvstore is on_store
    assert (module._updater is None) is on_store
    assert isinstance(module._kvstore, mx.kv.KVStore) is on_store


def test_another_updater_takes_over():
    module, seen = trained(), []
    module._updater = lambda indices, gradients, weights: seen.append((indices, len(gradients), len(weights)))
    module.forward_backward(batch(ROWS, [0, 1, 2, 0]))
    module.update()
    assert seen == [((0, 1), 2, 2)]
    assert module.get_params()[0]["fc_weight"].asnumpy().tolist() == [[1, 1]] * 3


def test_updates_can_be_taken_off_the_store():
    module = trained(2)
    module._update_on_kvstore, module._kvstore = False, None
    module._updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.0))
    module.forward_backward(batch(ROWS, [0, 1, 2, 0]))
    module.update()
    assert module.get_params()[0]["fc_weight"].asnumpy().tolist() == [[1, 1]] * 3


def test_who_borrows_an_optimizer_has_attributes_of_its_own():
    owner = trained()
    other = mx.mod.Module(module_nets.network())
    other.bind(module_nets.DATA, module_nets.LABEL, shared_module=owner)
    assert other._optimizer is owner._optimizer
    kept = owner._updater
    other._updater = other._optimizer = None
    assert owner._updater is kept
    assert owner._optimizer is not None


@pytest.mark.parametrize("dirty", [False, True])
def test_dirty_parameters_are_fetched_from_the_contexts(dirty):
    module = module_nets.ready()
    module._exec_group.param_arrays[0][0][:] = 7
    module._params_dirty = dirty
    assert np.all(module.get_params()[0]["fc_weight"].asnumpy() == (7 if dirty else 1))


def test_buckets_are_found_and_set_under_mxnets_names():
    module = bucket_nets.ready(10)
    assert (module._default_bucket_key, module._curr_bucket_key, list(module._buckets)) == (10, 10, [10])
    assert module._sym_gen is bucket_nets.bag
    module.forward(bucket_nets.batch(5))
    assert module._curr_bucket_key == 5
    assert module._curr_module is module._buckets[5]
    module._curr_module, module._curr_bucket_key = module._buckets[10], 10
    assert dict(module.data_shapes) == {"data": (4, 10)}
    module._buckets = {10: module._buckets[10]}
    module.switch_bucket(5, [("data", (4, 5))], [("softmax_label", (4,))])
    assert sorted(module._buckets) == [5, 10]
