"""What a module computes: batches in, outputs and gradients out, on one and several contexts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import refimpl as mx

from .module_nets import DATA, LABEL, ROWS, batch, linear, network, ready

# --- computation ----------------------------------------------------------------------------------


@pytest.mark.clause("Module/input-gradients", "ExecutorGroup/head-gradients")
@pytest.mark.parametrize("contexts", [1, 2, 3])
def test_head_gradients_are_cut_and_input_gradients_glued(contexts):
    module = mx.mod.Module(linear(), label_names=None, context=[mx.cpu(i) for i in range(contexts)])
    module.bind(DATA, inputs_need_grad=True)
    module.init_params(mx.init.One())
    module.forward(batch(np.ones((4, 2))))
    module.backward([mx.nd.array(np.arange(12).reshape(4, 3))])
    # each row is the sum of its head gradients, once per column of the all-one weight
    assert module.get_input_grads()[0].asnumpy().tolist() == [[3, 3], [12, 12], [21, 21], [30, 30]]
    apart = module.get_input_grads(merge_multi_context=False)
    assert [len(apart), len(apart[0])] == [1, contexts]


@pytest.mark.clause("ExecutorGroup/head-gradients")
@pytest.mark.parametrize("contexts", [1, 2, 3])
def test_each_output_has_head_gradients_of_its_own(contexts):
    data = mx.sym.Variable("data")
    module = mx.mod.Module(mx.sym.Group([data * 2, data * 100]), label_names=None, context=[
        mx.cpu(i) for i in range(contexts)
    ])
    module.bind(DATA, inputs_need_grad=True)
    module.init_params()
    module.forward(batch(ROWS))
    rows = np.arange(1, 9).reshape(4, 2)
    module.backward([mx.nd.array(rows), mx.nd.array(rows * 10)])
    assert module.get_input_grads()[0].asnumpy().tolist() == (rows * 2 + rows * 10 * 100).tolist()


@pytest.mark.clause("ExecutorGroup/merge")
def test_outputs_glued_or_apart():
    module = ready(2)
    module.forward(batch(ROWS, np.zeros(4)))
    (merged,) = module.get_outputs()
    ((first, second),) = module.get_outputs(merge_multi_context=False)
    assert merged.context == mx.cpu(0)
    assert second.context == mx.cpu(1)
    assert np.array_equal(merged.asnumpy(), np.concatenate([first.asnumpy(), second.asnumpy()]))


@pytest.mark.clause("ExecutorGroup/work-load")
def test_work_load_list_weighs_the_slices():
    module = mx.mod.Module(network(), context=[mx.cpu(0), mx.cpu(1)], work_load_list=[1, 3])
    module.bind(DATA, LABEL)
    assert module._exec_group.slices == [slice(0, 1), slice(1, 4)]


@pytest.mark.clause("Module/batch-list")
def test_a_list_holds_one_batch_per_context():
    module = ready(2, initializer=mx.init.Constant(0.5))
    module.forward([batch(np.ones((2, 2)), [0, 0]), batch(np.zeros((2, 2)), [0, 0])])
    ((first, second),) = module.get_outputs(merge_multi_context=False)
    assert module._exec_group.execs[0].arg_dict["data"].asnumpy().tolist() == [[1, 1], [1, 1]]
    assert module._exec_group.execs[1].arg_dict["data"].asnumpy().tolist() == [[0, 0], [0, 0]]
    module.forward([batch(np.ones((3, 2)), np.zeros(3)), batch(np.zeros((3, 2)), np.zeros(3))])
    assert module.data_shapes[0].shape == (6, 2)
    assert first.shape == second.shape == (2, 3)


@pytest.mark.clause("ExecutorGroup/label-covers")
@pytest.mark.parametrize("contexts", [1, 2])
def test_labels_beyond_the_batch_are_ignored(contexts):
    module = ready(contexts)
    module.forward(batch(ROWS, [0, 1, 2, 3, 4]))
    held = [executor.arg_dict["softmax_label"].asnumpy() for executor in module._exec_group.execs]
    assert np.concatenate(held).tolist() == [0, 1, 2, 3]


@pytest.mark.clause("ExecutorGroup/labels-stay")
def test_without_labels_the_old_ones_stay():
    module = ready()
    module.forward(batch(ROWS, [0, 1, 2, 0]))
    module.forward(batch(ROWS))
    assert module._exec_group.execs[0].arg_dict["softmax_label"].asnumpy().tolist() == [0, 1, 2, 0]


@pytest.mark.clause("ExecutorGroup/labels-stay")
def test_a_batch_needs_no_label_attribute():
    # Scripts that only predict feed `namedtuple("Batch", ["data"])`, also with another batch size.
    module = ready()
    for rows in (4, 2):
        module.forward(SimpleNamespace(data=[mx.nd.array(ROWS[:rows])]), is_train=False)
        assert module.get_outputs()[0].shape[0] == rows


@pytest.mark.clause("ExecutorGroup/load-numpy")
def test_numpy_batches_are_copied():
    module = ready()
    module.forward(mx.io.DataBatch([ROWS.astype(np.float64)], [np.zeros(4)]))
    assert module._exec_group.execs[0].arg_dict["data"].asnumpy().tolist() == ROWS.tolist()


@pytest.mark.clause("ExecutorGroup/no-batch-axis")
def test_data_without_a_batch_axis_go_whole_to_every_context():
    module = mx.mod.Module(linear(), label_names=None, context=[mx.cpu(0), mx.cpu(1)])
    module.bind([mx.io.DataDesc("data", (4, 2), layout="TC")])
    module.init_params(mx.init.One())
    module.init_optimizer()
    module.forward(batch(np.ones((4, 2))))
    module.backward([mx.nd.ones((8, 3))])
    module.update()
    assert module._exec_group.slices is None
    assert [executor.outputs[0].shape for executor in module._exec_group.execs] == [(4, 3), (4, 3)]


@pytest.mark.clause("Module/states")
def test_states_keep_their_value_and_are_not_parameters():
    net = mx.sym.Variable("data") + mx.sym.Variable("memory")
    module = mx.mod.Module(
        net, label_names=None, state_names=["memory"], context=[mx.cpu(0), mx.cpu(1)]
    )
    module.bind(DATA)
    module.init_params()
    assert module.get_params()[0] == {}
    module.set_states(value=2)
    module.forward(batch(np.ones((4, 2))))
    assert module.get_outputs()[0].asnumpy().tolist() == [[3, 3]] * 4
    module.set_states(states=[[mx.nd.zeros((2, 2)), mx.nd.ones((2, 2))]])
    assert [a.asnumpy().max() for a in module.get_states(merge_multi_context=False)[0]] == [0, 1]


@pytest.mark.clause("ExecutorGroup/grad-req")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["null", "null", "write", "null"]),
        ({"grad_req": "add", "inputs_need_grad": True}, ["add", "null", "add", "null"]),
        ({"grad_req": ["write", "null", "add", "write"]}, ["write", "null", "add", "write"]),
        (
            {"grad_req": {"fc_weight": "add", "softmax_label": "write", "zz": "add"}},
            ["null", "add", "write", "write"],
        ),
        ({"grad_req": ["write"] * 4, "for_training": False}, ["null"] * 4),
    ],
)
def test_gradient_requests(settings, expected):
    module = mx.mod.Module(network(), fixed_param_names=["fc_weight"])
    module.bind(DATA, LABEL, **settings)
    requests = module._exec_group.grad_req
    assert [
        requests[name] for name in ("data", "fc_weight", "fc_bias", "softmax_label")
    ] == expected


@pytest.mark.clause("ExecutorGroup/add-accumulates")
def test_add_accumulates_over_batches():
    module = ready(grad_req="add")
    module.forward_backward(batch(ROWS, np.zeros(4)))
    once = module._exec_group.grad_arrays[1][0].asnumpy()
    module.forward_backward(batch(ROWS, np.zeros(4)))
    assert np.array_equal(module._exec_group.grad_arrays[1][0].asnumpy(), 2 * once)
    assert once.any()
