"""The executor manager: who shares memory with whom, and the gradients that MXNet 1.9.1 found."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import refimpl as mx
from refimpl.executor_manager import (
    DataParallelExecutorGroup,
    DataParallelExecutorManager,
    _bind_exec,
)

# --- binding --------------------------------------------------------------------------------------

PARAMETERS = ["fc_weight", "fc_bias"]


def linear():
    return mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")


def bound(rows=4, width=3, **settings):
    return _bind_exec(linear(), mx.cpu(), {"data": (rows, width)}, PARAMETERS, **settings)


def refused(kind, clause, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    assert caught.value.clause == clause
    return str(caught.value)


@pytest.mark.clause("ExecutorManager/need-grad")
def test_who_gets_a_gradient():
    def with_gradient(need_grad):
        return {name for name, one in bound(need_grad=need_grad).grad_dict.items() if one is not None}

    assert with_gradient(False) == set()
    assert with_gradient(True) == {"fc_weight", "fc_bias"}
    assert with_gradient({"fc_bias"}) == {"fc_bias"}
    assert with_gradient({"data", "fc_bias"}) == {"fc_bias"}  # MXNet 1.9.1 gives data none either
    message = refused(AssertionError, "ExecutorManager/need-grad", bound, need_grad=["fc_bias"])
    assert "need_grad is True, False or a set" in message


@pytest.mark.clause("ExecutorManager/known")
@pytest.mark.filterwarnings("ignore:Cannot decide shape")
def test_inputs_determine_the_net():
    refused(AssertionError, "ExecutorManager/known", _bind_exec, linear(), mx.cpu(), {}, PARAMETERS)


@pytest.mark.clause("ExecutorManager/shared-front", "ExecutorManager/shared-grows")
def test_inputs_share_a_pool(caplog):
    pool = {}
    small = bound(2, shared_data_arrays=pool)
    large = bound(4, shared_data_arrays=pool, base_exec=small)
    assert "default_bucket_key" in caplog.text
    assert pool["data"] is large.arg_dict["data"]
    assert small.arg_dict["data"].shape == (2, 3)
    caplog.clear()
    front = bound(1, shared_data_arrays=pool, base_exec=small).arg_dict["data"]
    front[:] = 5
    assert large.arg_dict["data"].asnumpy().sum(axis=1).tolist() == [15, 0, 0, 0]
    assert not small.arg_dict["data"].asnumpy().any()
    assert pool["data"].shape == (4, 3)
    assert not caplog.text


@pytest.mark.clause("ExecutorManager/shared-type")
def test_a_pool_holds_one_type():
    pool = {"data": mx.nd.zeros((9, 9), dtype="float64")}
    refused(AssertionError, "ExecutorManager/shared-type", bound, shared_data_arrays=pool)


@pytest.mark.clause("ExecutorManager/base-fits", "ExecutorManager/base-has")
def test_a_base_executor_has_arrays_that_fit():
    base = bound(need_grad=True)
    refused(AssertionError, "ExecutorManager/base-fits", bound, width=5, base_exec=base)
    more = mx.sym.FullyConnected(linear(), num_hidden=2, name="other")
    names = [*PARAMETERS, "other_weight", "other_bias"]
    refused(KeyError, "ExecutorManager/base-has", _bind_exec, more, mx.cpu(), {"data": (4, 3)}, names, base_exec=base)


@pytest.mark.clause("ExecutorManager/base-fits")
def test_a_base_executor_has_states_that_fit():
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn")
    base = _bind_exec(net, mx.cpu(), {"data": (4, 3)}, ["bn_gamma", "bn_beta"])
    again = _bind_exec(net, mx.cpu(), {"data": (2, 3)}, ["bn_gamma", "bn_beta"], base_exec=base)
    assert again.aux_dict["bn_moving_mean"] is base.aux_dict["bn_moving_mean"]
    refused(
        AssertionError, "ExecutorManager/base-fits", _bind_exec, net, mx.cpu(), {"data": (4, 4)}, [], base_exec=base
    )


# --- group and manager ----------------------------------------------------------------------------

ROWS = np.arange(15).reshape(5, 3) / 8
CLASSES = np.arange(5) % 3
WEIGHTS = {
    "fc_weight": mx.nd.array([[1, -1, 0.5], [0.5, 0.25, 0], [-0.5, 2, 1]]),
    "fc_bias": mx.nd.array([0, 0.5, -0.25]),
}


def classifier():
    data = mx.sym.Variable("data")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=3, name="fc"), name="softmax")


def iterator():
    return mx.io.NDArrayIter(ROWS, CLASSES, 5)


def managed(contexts=2, **settings):
    net, devices = classifier(), [mx.cpu(i) for i in range(contexts)]
    made = DataParallelExecutorManager(
        net, devices, iterator(), net.list_arguments(), PARAMETERS, [], **settings
    )
    made.set_params(WEIGHTS, {})
    return made


def trained_once(manager):
    manager.load_data_batch(next(iterator()))
    manager.forward(is_train=True)
    manager.backward()
    return manager


@pytest.mark.clause("ExecutorManager/group")
def test_gradients_are_those_of_mxnet():
    # MXNet 1.9.1: the gradients of this manager, one per parameter and device
    weight, bias = trained_once(managed(work_load_list=[1, 2])).grad_arrays
    assert np.allclose(
        weight[0].asnumpy(),
        [[0.06712578237056732, -0.004131987690925598, -0.07538975775241852],
         [-0.24959254264831543, -0.279433012008667, -0.30927351117134094],
         [0.1824667751789093, 0.28356504440307617, 0.38466328382492065]], rtol=1e-6, atol=1e-7,
    )
    assert np.allclose(bias[0].asnumpy(), [-0.5700621604919434, -0.23872390389442444, 0.8087860345840454], rtol=1e-6)
    assert np.allclose(bias[1].asnumpy(), [-0.7874935269355774, -0.5364409685134888, 1.3239344358444214], rtol=1e-6)


@pytest.mark.clause("ExecutorManager/group")
def test_a_group_lists_its_arrays():
    net = classifier()
    group = DataParallelExecutorGroup(
        net, net.list_arguments(), ["fc_bias", "fc_weight", "bogus"], [mx.cpu(0), mx.cpu(1)],
        [slice(0, 2), slice(2, 5)], iterator(),
    )
    # all as in MXNet 1.9.1
    assert (group.param_names, group.param_idx) == (["fc_weight", "fc_bias"], [1, 2])
    assert (group.data_names, group.label_names, group.aux_names) == (["data"], ["softmax_label"], [])
    assert [[(part, array.shape) for part, array in one] for one in group.data_arrays] == [
        [(slice(0, 2), (2, 3)), (slice(2, 5), (3, 3))]
    ]
    assert [[array.shape for array in one] for one in group.grad_arrays] == [[(3, 3), (3, 3)], [(3,), (3,)]]
    assert [sorted(pool) for pool in group.shared_data_arrays] == [["data", "softmax_label"]] * 2


@pytest.mark.clause("ExecutorManager/slice-each")
def test_every_device_has_a_slice():
    net = classifier()
    refused(
        IndexError, "ExecutorManager/slice-each", DataParallelExecutorGroup, net, net.list_arguments(), PARAMETERS,
        [mx.cpu(0), mx.cpu(1)], [slice(0, 2)], iterator(),
    )


@pytest.mark.clause("ExecutorManager/group")
@pytest.mark.parametrize("pre_sliced", [False, True])
def test_metric_sees_every_device(pre_sliced):
    manager, metric = trained_once(managed()), mx.metric.create("acc")
    label = mx.nd.array(CLASSES)
    labels = [[label[0:2]], [label[2:5]]] if pre_sliced else [label]
    manager.update_metric(metric, labels, pre_sliced)
    outputs = np.concatenate([each.outputs[0].asnumpy() for each in manager.curr_execgrp.train_execs])
    assert metric.num_inst == 5
    assert metric.get()[1] == (outputs.argmax(axis=1) == CLASSES).mean()


@pytest.mark.clause("ExecutorManager/copy-to", "ExecutorManager/copy-target")
def test_copy_to_is_the_mean():
    manager = managed()
    manager.param_arrays[1][0][:] = mx.nd.array([1, 2, 3])
    found = {name: mx.nd.zeros(one.shape, dtype="float64") for name, one in WEIGHTS.items()}
    manager.copy_to(found, {})
    assert found["fc_bias"].asnumpy().tolist() == [0.5, 1.25, 1.375]  # MXNet 1.9.1 says the same
    assert found["fc_bias"].dtype == np.float64
    partial = {"fc_weight": mx.nd.zeros((3, 3))}
    refused(KeyError, "ExecutorManager/copy-target", manager.copy_to, partial, {})
    assert not partial["fc_weight"].asnumpy().any()


@pytest.mark.clause("ExecutorManager/load-first")
def test_nothing_runs_before_a_batch():
    manager = managed()
    for call in (manager.forward, manager.backward, lambda: manager.update_metric(None, [])):
        refused(AttributeError, "ExecutorManager/load-first", call)


@pytest.mark.clause("ExecutorManager/work-load", "ExecutorManager/devices")
def test_devices_and_weights_are_lists(caplog):
    with caplog.at_level("INFO"):
        managed()
    assert "Start training with [cpu(0), cpu(1)]" in caplog.text
    for weights in ((1, 1), [1], "ab"):
        message = refused(AssertionError, "ExecutorManager/work-load", managed, work_load_list=weights)
        assert message.startswith("work_load_list is a list")
    net = classifier()
    refused(
        TypeError, "ExecutorManager/devices", DataParallelExecutorManager, net, mx.cpu(), iterator(),
        net.list_arguments(), PARAMETERS, [],
    )


def test_parameters_must_be_those_of_the_net():
    with pytest.raises(ValueError, match='"x" that is not in the arguments'):
        managed().set_params({**WEIGHTS, "x": mx.nd.ones(1)}, {})


# --- buckets --------------------------------------------------------------------------------------


def unrolled(length):
    data = mx.sym.sum(mx.sym.Variable("data"), axis=1, keepdims=True)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=3, name="fc"), name="softmax")


def sentences(length):
    return mx.io.DataBatch(
        [mx.nd.ones((4, length))], [mx.nd.array([0, 1, 2, 0])], bucket_key=length,
        provide_data=[("data", (4, length))], provide_label=[("softmax_label", (4,))],
    )


def bucketed(sym_gen=unrolled):
    source = SimpleNamespace(
        batch_size=4, default_bucket_key=5, provide_data=[("data", (4, 5))], provide_label=[("softmax_label", (4,))]
    )
    symbol = unrolled(5)
    return DataParallelExecutorManager(
        symbol, [mx.cpu(0), mx.cpu(1)], source, symbol.list_arguments(), PARAMETERS, [], sym_gen=sym_gen
    )


@pytest.mark.clause("ExecutorManager/buckets")
def test_buckets_share_parameters_and_memory():
    manager = bucketed()
    manager.set_params({"fc_weight": mx.nd.ones((3, 1)), "fc_bias": mx.nd.zeros(3)}, {})
    pools = []
    for length in (5, 7, 3, 7):
        manager.load_data_batch(sentences(length))
        manager.forward(is_train=True)
        group = manager.curr_execgrp
        assert group.param_arrays[0][0] is manager.param_arrays[0][0]
        assert group.data_arrays[0][1][1].shape == (2, length)
        pools.append([pool["data"].shape for pool in manager.execgrp.shared_data_arrays])
    assert sorted(manager.execgrp_bucket) == [3, 5, 7]
    assert pools == [[(2, 5)] * 2, [(2, 7)] * 2, [(2, 7)] * 2, [(2, 7)] * 2]


@pytest.mark.clause("ExecutorManager/batch-describes")
def test_the_first_batch_of_a_bucket_describes_it():
    batch = mx.io.DataBatch([mx.nd.ones((4, 2))], [mx.nd.ones(4)], bucket_key=2)
    refused(TypeError, "ExecutorManager/batch-describes", bucketed().load_data_batch, batch)


@pytest.mark.clause("ExecutorManager/atomic")
def test_a_refused_bucket_changes_nothing():
    def wider(length):
        data = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
        return mx.sym.SoftmaxOutput(data, name="softmax")

    manager = bucketed(wider)
    pools = [dict(pool) for pool in manager.execgrp.shared_data_arrays]
    refused(AssertionError, "ExecutorManager/base-fits", manager.load_data_batch, sentences(9))
    assert (list(manager.execgrp_bucket), manager.curr_execgrp) == ([5], None)
    assert manager.execgrp.shared_data_arrays == pools


@pytest.mark.clause("ExecutorManager/monitor")
def test_monitors_and_buckets():
    refused(NotImplementedError, "ExecutorManager/monitor", bucketed().install_monitor, mx.mon.Monitor(1))
    manager, monitor = managed(), mx.mon.Monitor(1, pattern="fc_output")
    manager.install_monitor(monitor)
    monitor.tic()
    trained_once(manager)
    assert [name for _, name, _ in monitor.toc()] == ["fc_output", "fc_output"]


@pytest.mark.clause("ExecutorManager/group")
@pytest.mark.parametrize(("contexts", "weights"), [(1, None), (2, None), (3, [1, 2, 2])])
def test_the_same_gradients_as_a_module(contexts, weights):
    manager = trained_once(managed(contexts, work_load_list=weights))
    module = mx.mod.Module(classifier(), context=[mx.cpu(i) for i in range(contexts)], work_load_list=weights)
    module.bind([("data", (5, 3))], [("softmax_label", (5,))])
    module.set_params(WEIGHTS, {})
    module.forward_backward(next(iterator()))
    for mine, theirs in zip(manager.grad_arrays, module._exec_group.grad_arrays, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            assert one.asnumpy().tobytes() == other.asnumpy().tobytes()


# MXNet 1.9.1: `_bind_exec(net, mx.cpu(), shapes, params, need_grad=...).grad_arrays` is None for False,
# [None, None, None, None] for set()
@pytest.mark.clause("ExecutorManager/need-grad")
@pytest.mark.parametrize(("need_grad", "arrays"), [(False, None), (set(), [None] * 4)])
def test_gradient_arrays_of_an_executor_without_gradients(need_grad, arrays):
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc"), name="softmax")
    shapes = {"data": (2, 2), "softmax_label": (2,)}
    executor = mx.executor_manager._bind_exec(net, mx.cpu(), shapes, ["fc_weight", "fc_bias"], need_grad=need_grad)
    assert executor.grad_arrays == arrays
