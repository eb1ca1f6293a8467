"""Data-parallel training: how many contexts there are does not change what is learnt.

Where every number is a dyadic rational of few bits, no addition rounds: one context and eight give the same
bits. Elsewhere they agree within a bound computed from a float64 run.
"""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx

from .recorded_steps import AFTER_THREE_STEPS


def contexts(count: int) -> list[mx.Context]:
    return [mx.cpu(index) for index in range(count)]


# --- exact ----------------------------------------------------------------------------------------


def dyadic(shape: tuple[int, ...], step: int, modulus: int = 7) -> np.ndarray:
    """Halves between -3/2 and 3/2, different at every place."""
    count = int(np.prod(shape))
    return ((np.arange(count) * step % modulus) - modulus // 2).reshape(shape).astype(
        np.float32
    ) / 2


def train_dyadic(
    count, kvstore="local", weights=None, optimizer="sgd", momentum=0.5, dtype="float32"
):
    """Two steps of a linear regression on 16 rows; learning rate and momentum are powers of two."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    net = mx.sym.LinearRegressionOutput(net, mx.sym.Variable("label"), name="out")
    module = mx.mod.Module(
        net, label_names=["label"], context=contexts(count), work_load_list=weights
    )
    module.bind([mx.io.DataDesc("data", (16, 3), dtype)], [mx.io.DataDesc("label", (16, 2), dtype)])
    start = {"fc_weight": mx.nd.array(dyadic((2, 3), 3)), "fc_bias": mx.nd.array(dyadic((2,), 1))}
    module.init_params(arg_params=start, aux_params={})
    module.init_optimizer(
        kvstore=kvstore,
        optimizer=optimizer,
        optimizer_params={"learning_rate": 0.25, "momentum": momentum, "rescale_grad": 1 / 16},
    )
    for step in range(2):
        data, label = dyadic((16, 3), 2 + step), dyadic((16, 2), 3 + step, 5)
        module.forward_backward(mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)]))
        module.update()
    return {name: value.asnumpy() for name, value in module.get_params()[0].items()}


def by_hand():
    """The same two steps in NumPy, float64."""
    weight, bias = dyadic((2, 3), 3).astype(float), dyadic((2,), 1).astype(float)
    moved_weight, moved_bias = np.zeros_like(weight), np.zeros_like(bias)
    for step in range(2):
        data, label = (
            dyadic((16, 3), 2 + step).astype(float),
            dyadic((16, 2), 3 + step, 5).astype(float),
        )
        # LinearRegressionOutput divides by the number of outputs per row
        error = (data @ weight.T + bias - label) / 2
        moved_weight = 0.5 * moved_weight - 0.25 / 16 * (error.T @ data)
        moved_bias = 0.5 * moved_bias - 0.25 / 16 * error.sum(axis=0)
        weight, bias = weight + moved_weight, bias + moved_bias
    return {"fc_weight": weight, "fc_bias": bias}


@pytest.mark.clause("ExecutorGroup/same-result")
@pytest.mark.parametrize("kvstore", ["local", "device"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8])
def test_any_number_of_contexts_gives_the_same_bits(count, kvstore):
    trained, expected = train_dyadic(count, kvstore), by_hand()
    for name, value in expected.items():
        assert np.array_equal(trained[name], value), name


@pytest.mark.clause("ExecutorGroup/same-result", "ExecutorGroup/work-load")
@pytest.mark.parametrize("weights", [[1, 3], [7, 1], [1, 2, 5], [3, 1, 1, 3]])
def test_uneven_slices_give_the_same_bits(weights):
    trained, expected = train_dyadic(len(weights), weights=weights), by_hand()
    for name, value in expected.items():
        assert np.array_equal(trained[name], value), name


@pytest.mark.clause("ExecutorGroup/same-result")
@pytest.mark.parametrize("on_store", ["0", "1"])
def test_updates_beside_the_weights_or_on_the_store_give_the_same_bits(on_store, monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", on_store)
    trained, expected = train_dyadic(3), by_hand()
    for name, value in expected.items():
        assert np.array_equal(trained[name], value), name


# --- bounded --------------------------------------------------------------------------------------


def lenet() -> mx.sym.Symbol:
    net = mx.sym.Variable("data")
    for number, filters in enumerate((4, 6), start=1):
        net = mx.sym.Convolution(
            net, kernel=(3, 3), pad=(1, 1), num_filter=filters, name=f"conv{number}"
        )
        net = mx.sym.Activation(net, act_type="tanh")
        net = mx.sym.Pooling(net, pool_type="max", kernel=(2, 2), stride=(2, 2))
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=12, name="fc1")
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="tanh"), num_hidden=4, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def train_lenet(count, dtype="float32", seed=3, start=None):
    """Three steps from Xavier's weights, or from ``start``: (weights before, weights after)."""
    draw = np.random.RandomState(0)
    data = draw.uniform(-1, 1, (12, 1, 8, 8)).astype(np.float32)
    label = draw.randint(0, 4, 12)
    mx.random.seed(seed)
    module = mx.mod.Module(lenet(), context=contexts(count))
    module.bind(
        [mx.io.DataDesc("data", (12, 1, 8, 8), dtype)],
        [mx.io.DataDesc("softmax_label", (12,), dtype)],
    )
    module.init_params(mx.init.Xavier(), arg_params=start)
    before = {name: value.asnumpy() for name, value in module.get_params()[0].items()}
    module.init_optimizer(optimizer_params={"learning_rate": 0.25, "momentum": 0.5})
    batch = mx.io.DataBatch([mx.nd.array(data, dtype=dtype)], [mx.nd.array(label, dtype=dtype)])
    for _ in range(3):
        module.forward_backward(batch)
        module.update()
    return before, {name: value.asnumpy() for name, value in module.get_params()[0].items()}


@pytest.mark.clause("ExecutorGroup/close-result")
@pytest.mark.parametrize("count", [2, 3, 5])
def test_lenet_agrees_within_the_rounding_of_its_longest_sum(count):
    """Both float32 runs stay near the float64 run: an error of u per step of the longest sum, over 3 steps.

    The longest sum of this net has 12 * 64 terms (conv1's weight gradient: rows times positions). First
    order rounding theory bounds the relative error of a sum of n terms by n * u, u = 2^-24.
    """
    start, one = train_lenet(1)
    _, several = train_lenet(count)
    _, exact = train_lenet(1, "float64", start=start)
    bound = 3 * 12 * 64 * 2.0**-24
    for name, value in exact.items():
        scale = np.linalg.norm(value) + np.linalg.norm(value - start[name])
        assert np.linalg.norm(one[name] - value) <= bound * scale, name
        assert np.linalg.norm(several[name] - value) <= bound * scale, name


@pytest.mark.clause("ExecutorGroup/deterministic")
@pytest.mark.parametrize("count", [1, 3])
def test_two_runs_with_one_seed_are_the_same_bits(count):
    _, first = train_lenet(count, seed=11)
    _, second = train_lenet(count, seed=11)
    _, other = train_lenet(count, seed=12)
    for name, value in first.items():
        assert np.array_equal(value, second[name]), name
    assert any(not np.array_equal(first[name], other[name]) for name in first)


@pytest.mark.clause("ExecutorGroup/deterministic")
def test_dropout_on_several_contexts_is_deterministic():
    net = mx.sym.Dropout(mx.sym.Variable("data"), p=0.5)
    masks = []
    for _ in range(2):
        mx.random.seed(5)
        module = mx.mod.Module(net, label_names=None, context=contexts(4))
        module.bind([("data", (8, 50))])
        module.init_params()
        for _ in range(3):
            module.forward(mx.io.DataBatch([mx.nd.ones((8, 50))]))
        masks.append(module.get_outputs()[0].asnumpy())
    assert np.array_equal(*masks)
    assert 0 < (masks[0] == 0).mean() < 1


# --- recorded -------------------------------------------------------------------------------------


def numbers(shape: tuple[int, ...], step: int, offset: int = 0) -> np.ndarray:
    return ((np.arange(np.prod(shape)) * step + offset) % 11 - 5).reshape(shape) / 8


def small_net() -> mx.sym.Symbol:
    net = mx.sym.Convolution(
        mx.sym.Variable("data"), num_filter=3, kernel=(3, 3), stride=(2, 2), pad=(1, 1), name="conv"
    )
    net = mx.sym.Activation(mx.sym.BatchNorm(net, fix_gamma=False, name="bn"), act_type="relu")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="fc"), name="softmax")


@pytest.mark.clause("Module/recorded-steps")
@pytest.mark.parametrize("count", sorted(AFTER_THREE_STEPS))
def test_three_steps_equal_those_of_mxnet(count):
    """Norm-wise to 1e-5 per array; recorded_steps.py says how the numbers were made."""
    module = mx.mod.Module(small_net(), context=contexts(count))
    module.bind([("data", (4, 1, 4, 4))], [("softmax_label", (4,))])
    shapes = {
        "conv_weight": (3, 1, 3, 3),
        "conv_bias": (3,),
        "bn_gamma": (3,),
        "bn_beta": (3,),
        "fc_weight": (3, 12),
        "fc_bias": (3,),
    }
    start = {name: mx.nd.array(numbers(shape, 3, len(name))) for name, shape in shapes.items()}
    start["bn_gamma"] += 1
    moving = {"bn_moving_mean": mx.nd.zeros((3,)), "bn_moving_var": mx.nd.ones((3,))}
    module.init_params(arg_params=start, aux_params=moving)
    module.init_optimizer(optimizer_params={"learning_rate": 0.5, "momentum": 0.9, "wd": 0.01})
    for step in range(3):
        data, label = numbers((4, 1, 4, 4), 7, step), [step, 0, 1, 2]
        module.forward_backward(mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)]))
        module.update()
    arg_params, aux_params = module.get_params()
    found = {**arg_params, **aux_params}
    assert sorted(found) == sorted(AFTER_THREE_STEPS[count])
    for name, values in AFTER_THREE_STEPS[count].items():
        expected = np.array(values)
        distance = np.linalg.norm(found[name].asnumpy().ravel() - expected)
        assert distance <= 1e-5 * np.linalg.norm(expected), (name, distance)
