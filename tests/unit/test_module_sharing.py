"""Module: what reaches the store, the host and modules that share; layouts, states and rows to prepare."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx

from .module_nets import DATA, LABEL, ROWS, batch, linear, network, ready

clause = pytest.mark.clause


def contexts(count):
    return [mx.cpu(index) for index in range(count)]


def values(module):
    return {name: value.asnumpy() for name, value in module.get_params()[0].items()}


def step(module, data=ROWS, label=(0, 1, 2, 0)):
    module.forward_backward(batch(data, np.array(label)))
    module.update()


# --- the store and the host -----------------------------------------------------------------------

NINES = {"fc_weight": mx.nd.full((3, 2), 9), "fc_bias": mx.nd.zeros((3,))}


@clause("Module/params-reach-store")
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("missing", [False, True])
def test_values_set_after_init_optimizer_are_trained_on(count, missing):
    # data of zeros: only the bias moves. MXNet 1.9.1 on one context: 9; on two: 1, what the store had
    module = ready(count)
    module.init_optimizer(optimizer_params={"learning_rate": 1.0})
    module.set_params(NINES, {}, allow_missing=missing)
    step(module, ROWS * 0)
    assert values(module)["fc_weight"].tolist() == [[9, 9]] * 3
    np.testing.assert_allclose(values(module)["fc_bias"], [1 / 6, -1 / 12, -1 / 12], rtol=1e-6)


@clause("Module/params-reach-store")
def test_the_store_keeps_its_states():
    module = ready(2)
    module.init_optimizer(optimizer_params={"learning_rate": 1.0, "momentum": 1.0, "rescale_grad": 1.0})
    step(module, ROWS * 0)
    first = values(module)["fc_bias"]
    module.set_params(NINES, {})
    module._exec_group.grad_arrays[1][0][:] = module._exec_group.grad_arrays[1][1][:] = 0
    module.update()
    # the gradient of the bias is zero now, so that it moves by its momentum alone
    np.testing.assert_allclose(values(module)["fc_bias"], first, rtol=1e-6)


@clause("Module/params-reach-store")
def test_with_the_quirk_the_store_goes_on_from_its_own():
    with mx.quirks("store-keeps-weights"):
        module = ready(2)
        module.init_optimizer(optimizer_params={"learning_rate": 1.0})
        module.set_params(NINES, {})
        step(module, ROWS * 0)
    assert values(module)["fc_weight"].tolist() == [[1, 1]] * 3


@clause("Module/params-mean")
def test_equal_copies_have_themselves_as_mean():
    # (x + x + x) / 3 is not x for one float32 in six
    given = {
        "fc_weight": mx.nd.array([[1.1, 1.2], [1.3, 1.4], [1.6, 1.7]]), "fc_bias": mx.nd.array([1.15, 1.25, 1.35])
    }
    expected = {name: value.asnumpy() for name, value in given.items()}
    for quirk, same in (("intended", True), ("mean-rounds", False)):
        module = mx.mod.Module(network(), context=contexts(3))
        module.bind(DATA, LABEL)
        module.init_params(arg_params=given, aux_params={})
        module._params_dirty = True
        with mx.quirks(quirk):
            found = values(module)
        assert all(np.array_equal(found[name], expected[name]) for name in given) == same
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, rtol=3e-7)


@clause("Module/params-mean", "Module/checkpoint")
@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_checkpoint_holds_what_training_goes_on_with(tmp_path, count):
    prefix, options = str(tmp_path / "net"), {"learning_rate": 0.3, "momentum": 0.9}
    module = ready(count, mx.init.Xavier())
    module.init_optimizer(optimizer_params=options)
    step(module)
    module.save_checkpoint(prefix, 1, save_optimizer_states=True)
    other = mx.mod.Module.load(prefix, 1, load_optimizer_states=True, context=contexts(count))
    other.bind(DATA, LABEL)
    other.init_optimizer(optimizer_params=options)
    for each in (module, other):
        step(each)
        step(each)
    for name, value in values(module).items():
        assert np.array_equal(values(other)[name], value), name


@clause("Module/params-fresh")
def test_statistics_are_read_after_a_pass_without_update():
    # MXNet 1.9.1: still 0 and 1, until an update
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn", momentum=0.5)
    module = mx.mod.Module(net, label_names=None)
    module.bind(DATA)
    module.init_params()
    assert module.get_params()[1]["bn_moving_mean"].asnumpy().tolist() == [0, 0]
    module.forward(batch([[1, 2]] * 4), is_train=True)
    module.backward([mx.nd.ones((4, 2))])
    assert module.get_params()[1]["bn_moving_mean"].asnumpy().tolist() == [0.5, 1]


@clause("Module/params-fresh", "Module/shared-module")
def test_a_module_sees_what_its_sharer_trained():
    # MXNet 1.9.1: the owner keeps returning the values of before
    module, other = ready(), mx.mod.Module(network())
    other.bind(DATA, LABEL, shared_module=module)
    other.init_optimizer(optimizer_params={"learning_rate": 1.0})
    step(other)
    assert values(module)["fc_weight"][0, 0] != 1
    assert np.array_equal(values(module)["fc_weight"], values(other)["fc_weight"])


@clause("Module/compression")
def test_compression_is_the_business_of_the_store():
    class Told(mx.kv.KVStore):
        def set_gradient_compression(self, compression_params):
            seen.append((compression_params, dict(self._stored)))

    seen, wanted = [], {"type": "2bit", "threshold": 0.5}
    for store in (Told(), None):
        module = mx.mod.Module(network(), compression_params=wanted)
        module.bind(DATA, LABEL)
        module.init_params()
        module.init_optimizer(kvstore=store)
        step(module)
    assert seen == [(wanted, {})]


@clause("Module/compression")
def test_an_optimizer_that_could_not_be_installed_is_not():
    class Unwilling(mx.kv.KVStore):
        def set_gradient_compression(self, compression_params):
            raise mx.MXNetError(compression_params)

    module = mx.mod.Module(network(), compression_params={"type": "2bit"})
    module.bind(DATA, LABEL)
    module.init_params()
    with pytest.raises(mx.MXNetError):
        module.init_optimizer(kvstore=Unwilling())
    assert (module.optimizer_initialized, module._kvstore, module._optimizer) == (False, None, None)
    module.init_optimizer(kvstore=None)
    step(module)


# --- sharing --------------------------------------------------------------------------------------


@clause("Module/borrow-names")
def test_an_optimizer_is_shared_by_modules_of_fewer_contexts():
    """Momenta of the first context are those of the owner's first context."""
    options = {"learning_rate": 1.0, "momentum": 1.0, "rescale_grad": 1.0}
    owner, other = ready(2), mx.mod.Module(network())
    owner.init_optimizer(kvstore=None, optimizer_params=options)
    other.bind(DATA, LABEL, shared_module=owner)
    step(owner, ROWS * 0)
    before = [array.asnumpy() for array in owner._exec_group.param_arrays[1]]
    other._exec_group.grad_arrays[1][0][:] = 0
    other.update()
    after = [array.asnumpy() for array in owner._exec_group.param_arrays[1]]
    np.testing.assert_allclose(after[0], 2 * before[0], rtol=1e-6)
    assert np.array_equal(after[1], before[1])


@clause("Module/borrow-names")
def test_borrowing_between_modules_of_other_parameters_mixes_nothing():
    def single(name):
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, no_bias=True, name=name)
        module = mx.mod.Module(mx.sym.MakeLoss(net), label_names=None)
        module.bind(DATA)
        module.init_params(mx.init.Zero())
        return module

    first, second = single("a"), single("b")
    options = {"learning_rate": 1.0, "momentum": 1.0, "rescale_grad": 1.0}
    first.init_optimizer(optimizer_params=options)
    second.borrow_optimizer(first)
    for module in (first, second, first):
        module.forward_backward(batch(np.ones((4, 2))))
        module.update()
    assert values(first)["a_weight"].tolist() == [[-12, -12]]  # -4, then -4 - 4 more
    assert values(second)["b_weight"].tolist() == [[-4, -4]]


@clause("Module/shared-names")
def test_a_module_shares_with_one_that_has_all_its_parameters():
    # MXNet 1.9.1: RuntimeError
    data = mx.sym.Variable("data")
    more = mx.sym.FullyConnected(mx.sym.BatchNorm(data, name="bn"), num_hidden=3, name="fc")
    other = mx.mod.Module(more, label_names=None)
    with pytest.raises(RuntimeError, match="share with the module that has them all") as caught:
        other.bind(DATA, shared_module=ready())
    assert caught.value.clause == "Module/shared-names"
    assert not other.binded


# --- layouts --------------------------------------------------------------------------------------


def scaled(count, **settings):
    """Steps first, rows second: a weight for each column."""
    weight = mx.sym.Variable("w", shape=(1, 1, 2), init=mx.init.One())
    net = mx.sym.identity(mx.sym.broadcast_mul(mx.sym.Variable("data"), weight), name="out")
    net._set_attr(__layout__="TNC")
    module = mx.mod.Module(net, label_names=None, context=contexts(count), **settings)
    module.bind([mx.io.DataDesc("data", (3, 4, 2), layout="TNC")], inputs_need_grad=True)
    module.init_params()
    return module


@clause("ExecutorGroup/one-batch-size", "ExecutorGroup/merge", "ExecutorGroup/head-gradients")
@pytest.mark.parametrize("settings", [{}, {"work_load_list": [1, 3]}])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_rows_may_be_on_the_second_axis(count, settings):
    # MXNet 1.9.1 gives the same numbers for 1, 2 and 3 contexts
    module = scaled(count, **settings if count == 2 else {})
    numbers = np.arange(24).reshape(3, 4, 2)
    module.forward(batch(numbers))
    module.backward([mx.nd.array(numbers)])
    assert np.array_equal(module.get_outputs()[0].asnumpy(), numbers)
    assert np.array_equal(module.get_input_grads()[0].asnumpy(), numbers)
    total = sum(gradient.asnumpy() for gradient in module._exec_group.grad_arrays[0])
    assert total.ravel().tolist() == [2024, 2300]
    assert module.output_shapes == [("out_output", (3, 4, 2))]


@clause("Module/automatic-reshape", "Module/reshape")
def test_both_axes_may_change():
    module = scaled(2)
    module.forward(batch(np.ones((3, 6, 2))))
    assert module.get_outputs()[0].shape == (3, 6, 2)
    module.reshape([mx.io.DataDesc("data", (5, 2, 2), layout="TNC")])
    module.forward(batch(np.ones((5, 2, 2))))
    assert [executor.outputs[0].shape for executor in module._exec_group.execs] == [(5, 1, 2)] * 2


# --- states ---------------------------------------------------------------------------------------


def remembering():
    net = linear() + mx.sym.Variable("memory")
    module = mx.mod.Module(net, label_names=None, state_names=["memory"], context=contexts(2))
    module.bind(DATA)
    module.init_params(mx.init.One())
    return module


@clause("Module/states")
def test_outputs_may_become_states():
    module = remembering()
    module.set_states(value=2)
    module.forward(batch(np.ones((4, 2))))
    module.set_states(states=module.get_outputs(merge_multi_context=False))
    module.forward(batch(np.ones((4, 2))))
    assert module.get_outputs()[0].asnumpy().tolist() == [[6, 6, 6]] * 4


@clause("Module/state-shapes")
@pytest.mark.parametrize(
    "states", [[], [[]], [[mx.nd.ones((2, 3))]], [[mx.nd.ones((2, 3)), mx.nd.ones((3, 3))]]]
)
def test_states_of_other_shapes_are_refused_whole(states):
    # MXNet 1.9.1 accepts too few silently, and has written the first when it fails at the second
    module = remembering()
    module.set_states(value=2)
    with pytest.raises(mx.MXNetError) as caught:
        module.set_states(states=states)
    assert caught.value.clause == "Module/state-shapes"
    for array in module.get_states(merge_multi_context=False)[0]:
        assert array.asnumpy().min() == array.asnumpy().max() == 2


# --- requests per argument ------------------------------------------------------------------------

WEIGHT = {
    "write": [[0.01863, -0.21325], [0.99877, 1.12977], [1.9826, 2.08348]],
    "add": [[0.51863, 0.45341], [0.49877, 0.54644], [1.9826, 2.00015]],
}
BIAS = {"write": [-0.23188, 0.131, 0.10088], "add": [-0.06521, 0.04767, 0.01755]}


@clause("ExecutorGroup/grad-req", "ExecutorGroup/add-accumulates")
@pytest.mark.parametrize(
    ("request_of", "weight", "bias"),
    [
        ("write", "write", "write"), ("add", "add", "add"), ({"fc_weight": "add"}, "add", "write"),
        (["null", "write", "write", "null"], "write", "write"),
    ],
)
def test_two_steps_with_requests_of_each_kind(request_of, weight, bias):
    # MXNet 1.9.1: two steps of SGD with learning rate 1 from weights of one, to five decimals
    module = ready(grad_req=request_of)
    module.init_optimizer(optimizer_params={"learning_rate": 1.0})
    step(module)
    step(module)
    np.testing.assert_allclose(values(module)["fc_weight"], WEIGHT[weight], atol=2e-5)
    np.testing.assert_allclose(values(module)["fc_bias"], BIAS[bias], atol=2e-5)


@clause("Module/params-reach-store")
@pytest.mark.parametrize("kvstore", ["local", None])
@pytest.mark.parametrize("rule", ["sgd", "nag", "adam", "lbsgd", "lamb"])
def test_float32_copies_of_weights_follow_what_is_set(kvstore, rule):
    """The gradient is zero, so that the weight stays what was set."""
    names = {name: mx.sym.Variable(name, dtype="float16") for name in ("data", "fc_weight", "fc_bias")}
    net = mx.sym.FullyConnected(
        names["data"], weight=names["fc_weight"], bias=names["fc_bias"], num_hidden=1, name="fc"
    )
    module = mx.mod.Module(mx.sym.MakeLoss(mx.sym.sum(net) * 0), label_names=[], context=[mx.cpu(0), mx.cpu(1)])
    module.bind([mx.io.DataDesc("data", (4, 2), "float16")])
    module.init_params(mx.init.One())
    module.init_optimizer(kvstore, rule, {"multi_precision": True})
    batch = mx.io.DataBatch([mx.nd.ones((4, 2), dtype="float16")])
    values = {"fc_weight": mx.nd.array([[5, 6]], dtype="float16"), "fc_bias": mx.nd.zeros(1, dtype="float16")}
    for given in ({}, values):
        if given:
            module.set_params(given, {})
        module.forward_backward(batch)
        module.update()
    assert module.get_params()[0]["fc_weight"].asnumpy().tolist() == [[5, 6]]
