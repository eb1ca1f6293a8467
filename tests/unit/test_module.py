"""Module: constructor, binding, parameters, sharing and optimizer."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import refimpl as mx

from .module_nets import DATA, LABEL, ROWS, batch, linear, network, ready

# --- constructor ----------------------------------------------------------------------------------


@pytest.mark.clause("Module/parameters")
def test_arguments_that_are_no_inputs_are_parameters():
    module = mx.mod.Module(network())
    assert module._param_names == ["fc_weight", "fc_bias"]
    assert mx.mod.Module(network(), label_names=None)._param_names == [
        "fc_weight",
        "fc_bias",
        "softmax_label",
    ]
    assert module.data_names == ["data"]
    assert module.label_names == ["softmax_label"]
    assert module.output_names == ["softmax_output"]
    assert module.symbol.list_arguments() == ["data", "fc_weight", "fc_bias", "softmax_label"]


@pytest.mark.clause("Module/input-names")
def test_unknown_label_name_warns():
    with pytest.warns(
        UserWarning, match=r"^You created Module with label_names=\['y'\].*: data, softmax_label$"
    ):
        mx.mod.Module(network(), label_names=["y"])


@pytest.mark.clause("Module/one-name")
def test_a_string_is_one_name():
    assert mx.mod.Module(network(), data_names="data", label_names="softmax_label").data_names == [
        "data"
    ]


# --- bind and reshape -----------------------------------------------------------------------------


@pytest.mark.clause("Module/bind-twice")
def test_binding_twice_only_warns(caplog):
    module = ready()
    group = module._exec_group
    with caplog.at_level(logging.WARNING):
        module.bind([("data", (9, 2))], [("softmax_label", (9,))])
    assert caplog.messages == ["the module is bound: bind changes nothing without force_rebind=True"]
    assert module._exec_group is group
    assert module.data_shapes[0].shape == (4, 2)


@pytest.mark.clause("Module/rebind-keeps-training")
def test_rebinding_keeps_trained_weights():
    module = ready()
    module.init_optimizer(optimizer_params={"learning_rate": 1.0})
    module.forward_backward(batch(ROWS, np.zeros(4)))
    module.update()
    trained = module._exec_group.execs[0].arg_dict["fc_weight"].asnumpy()
    module.bind(DATA, LABEL, force_rebind=True)
    assert module.optimizer_initialized
    # MXNet 1.9.1: [[3, 3.6666665], [0, -0.33333337], [0, -0.33333337]], and all ones after the rebind
    np.testing.assert_allclose(trained, [[3, 11 / 3], [0, -1 / 3], [0, -1 / 3]], rtol=1e-6)
    assert np.array_equal(module._exec_group.execs[0].arg_dict["fc_weight"].asnumpy(), trained)


@pytest.mark.clause("Module/label-names")
def test_missing_label_shapes_warn():
    module = mx.mod.Module(network())
    with pytest.warns(UserWarning, match=r"^Data provided by label_shapes is called"):
        module.bind(DATA)
    assert module.label_shapes is None
    module.init_params()
    module.forward(batch(ROWS))
    assert module.get_outputs()[0].shape == (4, 3)


@pytest.mark.clause("Module/output-shapes")
@pytest.mark.parametrize("contexts", [1, 2])
def test_output_shapes_are_those_of_the_merged_outputs(contexts):
    net = mx.sym.Reshape(linear(), shape=(-1,))
    module = mx.mod.Module(net, label_names=None, context=[mx.cpu(i) for i in range(contexts)])
    module.bind(DATA)
    module.init_params()
    module.forward(batch(ROWS))
    assert module.output_shapes[0][1] == module.get_outputs()[0].shape == (12,)


@pytest.mark.clause("Module/reshape")
def test_reshape_shares_parameters_and_follows_the_batch():
    module = ready(2)
    weight = module._exec_group.execs[0].arg_dict["fc_weight"]
    for rows in (2, 8, 4):
        module.reshape([("data", (rows, 2))], [("softmax_label", (rows,))])
        assert module._exec_group.execs[0].arg_dict["fc_weight"] is weight
        module.forward(batch(np.ones((rows, 2)), np.zeros(rows)))
        np.testing.assert_allclose(
            module.get_outputs()[0].asnumpy(), np.full((rows, 3), 1 / 3), rtol=1e-6
        )


@pytest.mark.clause("Module/reshape-labels")
def test_reshape_without_labels_resizes_them():
    module = ready()
    module.reshape([("data", (6, 2))])
    assert module.label_shapes[0].shape == (6,)


@pytest.mark.clause("Module/automatic-reshape", "Module/reshape-labels")
def test_forward_follows_another_batch_size():
    module = ready(2)
    module.forward(batch(np.ones((3, 2))), is_train=False)
    assert module.get_outputs()[0].shape == (3, 3)
    assert module.label_shapes[0].shape == (3,)
    module.forward(batch(np.ones((5, 2)), np.zeros(5)))
    module.backward()
    assert module.get_outputs()[0].shape == (5, 3)
    assert module.data_shapes[0].shape == (5, 2)


@pytest.mark.clause("Module/automatic-reshape")
def test_forward_uses_the_descriptions_a_batch_brings():
    module = ready()
    module.forward(
        batch(
            np.ones((2, 2)),
            [0, 1],
            provide_data=[("data", (2, 2))],
            provide_label=[("softmax_label", (2,))],
        )
    )
    assert module.label_shapes[0].shape == (2,)


@pytest.mark.clause("Module/failed-reshape")
def test_a_failed_reshape_changes_nothing():
    module = ready()
    module.forward(batch(ROWS, np.zeros(4)))
    before = module.get_outputs()[0].asnumpy()
    for call in (
        lambda: module.reshape([("data", (4, 5))], LABEL),
        lambda: module.forward(batch(np.ones((4, 5)), np.zeros(4))),
        lambda: module.reshape([("data", (4, 2))], [("softmax_label", (3,))]),
    ):
        with pytest.raises((mx.MXNetError, AssertionError)):
            call()
        assert module.data_shapes[0].shape == (4, 2)
        assert module.label_shapes[0].shape == (4,)
        module.forward(batch(ROWS, np.zeros(4)))
        assert np.array_equal(module.get_outputs()[0].asnumpy(), before)


@pytest.mark.clause("Module/failed-bind")
def test_a_failed_bind_changes_nothing():
    module = ready()
    module.init_optimizer()
    with pytest.raises(ValueError, match=r"^Data provided by data_shapes is called"):
        module.bind([("x", (4, 2))], LABEL, force_rebind=True)
    with pytest.raises(mx.MXNetError):
        module.bind([("data", (4, 7))], LABEL, force_rebind=True)
    assert module.binded
    assert module.optimizer_initialized
    assert module.data_shapes[0].shape == (4, 2)
    fresh = mx.mod.Module(network())
    with pytest.raises(AssertionError):
        fresh.bind(DATA, [("softmax_label", (5,))])
    assert not fresh.binded
    fresh.bind(DATA, LABEL)


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.clause("Module/init-order")
def test_initializer_sees_names_in_order_with_attributes():
    seen = []

    class Recorder(mx.init.Initializer):
        def __call__(self, description, array):
            seen.append((str(description), description.attrs.get("__init__")))

    module = mx.mod.Module(mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn"), label_names=None)
    module.bind(DATA)
    module.init_params(Recorder())
    assert [name for name, _ in seen] == ["bn_beta", "bn_gamma", "bn_moving_mean", "bn_moving_var"]
    assert [init and init.split('"')[1] for _, init in seen] == [None, None, "zero", "one"]


@pytest.mark.clause("Module/init-twice")
def test_initialising_twice_only_warns():
    module = ready()
    with pytest.warns(UserWarning, match="init_params changes nothing"):
        module.init_params(mx.init.Zero())
    assert module.get_params()[0]["fc_weight"].asnumpy().min() == 1
    with pytest.warns(UserWarning, match="set_params changes nothing"):
        module.set_params({}, {}, allow_missing=True, force_init=False)
    module.init_params(mx.init.Zero(), force_init=True)
    assert module.get_params()[0]["fc_weight"].asnumpy().max() == 0


@pytest.mark.clause("Module/params-identity")
def test_get_params_returns_the_same_dicts():
    module = ready()
    first = module.get_params()
    second = module.get_params()
    assert first[0] is second[0]
    assert first[1] is second[1]


@pytest.mark.clause("Module/given-parameters")
def test_given_values_win_and_are_cast():
    module = ready()
    given = {
        "fc_weight": mx.nd.ones((3, 2), dtype="float64") * 2,
        "fc_bias": np.ones(3, np.int32),
        "other": mx.nd.ones(1),
    }
    module.init_params(arg_params=given, force_init=True)
    arg_params, _ = module.get_params()
    assert sorted(arg_params) == ["fc_bias", "fc_weight"]
    assert arg_params["fc_weight"].dtype == np.float32
    assert arg_params["fc_weight"].asnumpy().tolist() == [[2, 2]] * 3


@pytest.mark.clause("Module/allow-missing")
def test_missing_names_go_to_the_initializer():
    module = ready()
    module.init_params(
        mx.init.Zero(),
        arg_params={"fc_bias": mx.nd.full((3,), 7)},
        allow_missing=True,
        force_init=True,
    )
    arg_params, _ = module.get_params()
    assert arg_params["fc_bias"].asnumpy().tolist() == [7, 7, 7]
    assert arg_params["fc_weight"].asnumpy().max() == 0


@pytest.mark.clause("Module/allow-missing", "Module/extra-name")
def test_set_params_with_allow_missing_changes_only_what_is_given():
    module = ready(2)
    module.set_params(
        {"fc_bias": mx.nd.full((3,), 5), "e": mx.nd.ones(1)},
        {},
        allow_missing=True,
        allow_extra=True,
    )
    for executor in module._exec_group.execs:
        assert executor.arg_dict["fc_bias"].asnumpy().tolist() == [5, 5, 5]
        assert executor.arg_dict["fc_weight"].asnumpy().min() == 1
    assert module.get_params()[0]["fc_bias"].asnumpy().tolist() == [5, 5, 5]


@pytest.mark.clause("Module/params-atomic")
def test_a_failed_init_or_set_changes_nothing():
    module = ready()
    module.forward(batch(ROWS, np.zeros(4)))
    for call in (
        lambda: module.set_params({"fc_bias": mx.nd.ones((3,))}, {}),
        lambda: module.set_params(
            {"fc_bias": mx.nd.ones((3,)), "fc_weight": mx.nd.ones((9, 9))}, {}
        ),
        lambda: module.set_params(
            {"fc_bias": mx.nd.ones((3,)), "zz": mx.nd.ones(1)}, {}, allow_missing=True
        ),
        lambda: module.set_params(
            {"fc_bias": mx.nd.ones((3,)), "fc_weight": mx.nd.ones(1)}, {}, allow_missing=True
        ),
        lambda: module.init_params(mx.init.Constant(object()), force_init=True),
    ):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            call()
        assert module.get_params()[0]["fc_bias"].asnumpy().tolist() == [0, 0, 0]
        assert module._exec_group.execs[0].arg_dict["fc_bias"].asnumpy().tolist() == [0, 0, 0]


@pytest.mark.clause("Module/fixed-parameters")
@pytest.mark.parametrize("contexts", [1, 2])
def test_fixed_parameters_stay(contexts):
    module = mx.mod.Module(
        network(), context=[mx.cpu(i) for i in range(contexts)], fixed_param_names=["fc_weight"]
    )
    module.bind(DATA, LABEL)
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params={"learning_rate": 1.0})
    module.forward_backward(batch(ROWS, np.zeros(4)))
    module.update()
    arg_params, _ = module.get_params()
    assert arg_params["fc_weight"].asnumpy().tolist() == [[1, 1]] * 3
    np.testing.assert_allclose(arg_params["fc_bias"].asnumpy(), [2 / 3, -1 / 3, -1 / 3], rtol=1e-6)


# --- sharing --------------------------------------------------------------------------------------


@pytest.mark.clause("Module/shared-module")
def test_a_shared_module_shares_parameters_and_optimizer():
    module = ready(2)
    module.init_optimizer(optimizer_params={"learning_rate": 1.0})
    other = mx.mod.Module(network(), context=[mx.cpu(0), mx.cpu(1)])
    other.bind([("data", (6, 2))], [("softmax_label", (6,))], shared_module=module)
    assert other.params_initialized
    assert other.optimizer_initialized
    other.forward_backward(batch(np.ones((6, 2)), np.zeros(6)))
    other.update()
    mine, theirs = module._exec_group.execs[1].arg_dict, other._exec_group.execs[1].arg_dict
    assert mine["fc_weight"] is theirs["fc_weight"]
    assert mine["fc_weight"].asnumpy()[0, 0] > 1


@pytest.mark.clause("Module/shared-module")
def test_a_module_that_shares_sees_what_was_trained():
    module = ready()
    module.init_optimizer(optimizer_params={"learning_rate": 1.0})
    module.forward_backward(batch(ROWS, np.zeros(4)))
    module.update()
    other = mx.mod.Module(network())
    other.bind(DATA, LABEL, shared_module=module)
    assert np.array_equal(
        other.get_params()[0]["fc_weight"].asnumpy(),
        module._exec_group.execs[0].arg_dict["fc_weight"].asnumpy(),
    )


# --- optimizer ------------------------------------------------------------------------------------


@pytest.mark.clause("Module/rescale")
def test_rescale_is_one_over_the_whole_batch_and_stays():
    module = ready(2)
    module.init_optimizer()
    assert module._optimizer.rescale_grad == 0.25
    module.reshape([("data", (8, 2))], [("softmax_label", (8,))])
    assert module._optimizer.rescale_grad == 0.25


@pytest.mark.clause("Module/index-names")
def test_optimizer_knows_the_names_behind_its_indices():
    module = ready(2)
    module.init_optimizer(kvstore="local")
    assert module._optimizer.idx2name == {0: "fc_weight", 1: "fc_bias"}
    apart = ready(2)
    apart.init_optimizer(kvstore=None)
    assert apart._optimizer.idx2name == {0: "fc_weight", 1: "fc_weight", 2: "fc_bias", 3: "fc_bias"}


@pytest.mark.clause("Module/optimizer-twice")
def test_second_optimizer_only_warns(caplog):
    module = ready()
    module.init_optimizer()
    first = module._optimizer
    with caplog.at_level(logging.WARNING):
        module.init_optimizer(optimizer_params={"learning_rate": 9.0})
    assert caplog.messages == ["the module has an optimizer: init_optimizer changes nothing without force_init=True"]
    assert module._optimizer is first
    module.init_optimizer(optimizer_params={"learning_rate": 9.0}, force_init=True)
    assert module._optimizer is not first


@pytest.mark.clause("Module/rescale")
def test_an_optimizer_with_another_rescale_warns():
    module = ready()
    with pytest.warns(UserWarning, match=r"its rescale_grad is 1\.0; one that is made by its name has 0\.25"):
        module.init_optimizer(optimizer=mx.optimizer.SGD(rescale_grad=1.0))
    assert module._optimizer.idx2name == {0: "fc_weight", 1: "fc_bias"}


@pytest.mark.clause("Module/no-store")
def test_contexts_without_a_store_train_alone_and_meet_in_the_mean():
    module = ready(2)
    module.init_optimizer(kvstore=None, optimizer_params={"learning_rate": 1.0})
    module.forward_backward(batch([[1, 1], [1, 1], [0, 0], [0, 0]], [0, 0, 1, 1]))
    module.update()
    first, second = (e.arg_dict["fc_weight"].asnumpy() for e in module._exec_group.execs)
    assert not np.array_equal(first, second)
    np.testing.assert_allclose(
        module.get_params()[0]["fc_weight"].asnumpy(), (first + second) / 2, rtol=1e-6
    )
