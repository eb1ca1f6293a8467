"""BucketingModule: one net in several lengths, with the same parameters, gradients, memory and optimizer."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import refimpl as mx

from .bucket_nets import Sentences, bag, batch, ready, values, weight_memory

STEP = {"learning_rate": 1.0}

# --- one owner ------------------------------------------------------------------------------------


@pytest.mark.clause("Bucketing/parameters", "Bucketing/forward")
def test_a_step_in_one_bucket_is_a_step_of_all():
    # MXNet 1.9.1: the same module after one forward_backward and update in the bucket of length 5
    module = ready()
    module.init_optimizer(optimizer_params=STEP)
    module.forward_backward(batch(5))
    module.update()
    found = values(module)
    np.testing.assert_allclose(
        found["fullyconnected0_weight"],
        [[1.8333332538604736] * 2, [0.5833332538604736] * 2, [0.5833332538604736] * 2], rtol=1e-6,
    )
    np.testing.assert_allclose(
        found["fullyconnected0_bias"],
        [0.166666641831398, -0.08333335071802139, -0.08333335071802139], rtol=1e-5,
    )
    for key in (5, 10):
        assert np.array_equal(weight_memory(module, key, "embed_weight").asnumpy(), found["embed_weight"])
    assert weight_memory(module, 5, "embed_weight") is weight_memory(module, 10, "embed_weight")


@pytest.mark.clause("Bucketing/parameters")
def test_gradients_that_add_up_add_up_over_buckets():
    module = mx.mod.BucketingModule(bag, 10)
    module.bind([("data", (4, 10))], [("softmax_label", (4,))], grad_req="add")
    module.init_params(mx.init.One())
    group = module._buckets[10]._exec_group
    totals = []
    for length in (5, 7):
        module.forward_backward(batch(length))
        totals.append(group.grad_arrays[2][0].asnumpy())
    # a bias knows nothing of the length
    assert np.array_equal(totals[1], 2 * totals[0])
    assert totals[0].any()


def chain(key):
    """Layers a and b, in another order in bucket 1; bucket 2 has only one of them."""
    data = mx.sym.Variable("data")
    order = {0: "ab", 1: "ba", 2: "b"}[key]
    for name in order:
        data = mx.sym.FullyConnected(data, num_hidden=2, no_bias=True, name=name)
    return mx.sym.MakeLoss(data), ("data",), None


def ones(key, rows=4):
    data = [mx.nd.ones((rows, 2))]
    return mx.io.DataBatch(data, bucket_key=key, provide_data=[("data", (rows, 2))])


@pytest.mark.clause("Bucketing/optimizer", "Module/borrow-names")
@pytest.mark.parametrize("contexts", [1, 2])
def test_momentum_belongs_to_a_name_not_to_a_place(contexts):
    # MXNet 1.9.1 numbers the parameters of each bucket anew and mixes a's momentum with b's
    module = mx.mod.BucketingModule(chain, 0, context=[mx.cpu(i) for i in range(contexts)])
    module.bind([("data", (4, 2))])
    module.init_params(arg_params={"a_weight": mx.nd.zeros((2, 2)), "b_weight": mx.nd.ones((2, 2))}, aux_params={})
    module.init_optimizer(optimizer_params={"learning_rate": 1.0, "momentum": 1.0, "rescale_grad": 0.25})
    module.forward_backward(ones(0))
    module.update()
    # y = b a x: the gradient of a is b^T 1 x^T = 2 everywhere, that of b is 1 (a x)^T = 0
    assert values(module)["a_weight"].tolist() == [[-2, -2]] * 2
    assert values(module)["b_weight"].tolist() == [[1, 1]] * 2
    module.forward_backward(ones(2))
    module.update()
    # bucket 2: y = b x, the gradient of b is 1; b's momentum was 0, and a is not asked
    assert values(module)["a_weight"].tolist() == [[-2, -2]] * 2
    assert values(module)["b_weight"].tolist() == [[0, 0]] * 2
    module.forward_backward(ones(1))
    module.update()
    # bucket 1: y = a b x with b = 0: no gradient for a, a^T 1 x^T = -4 for b; momenta -2 and -1
    assert values(module)["a_weight"].tolist() == [[-4, -4]] * 2
    assert values(module)["b_weight"].tolist() == [[3, 3]] * 2


@pytest.mark.clause("Bucketing/optimizer")
def test_the_optimizer_is_that_of_the_default_bucket():
    module = mx.mod.BucketingModule(chain, 0)
    module.bind([("data", (4, 2))])
    module.init_params(mx.init.One())
    module.forward(ones(2, rows=2))
    module.init_optimizer()
    assert module._curr_module._optimizer is module._buckets[0]._optimizer
    assert module._curr_module._optimizer.idx2name == {0: "a_weight", 1: "b_weight"}
    assert module._curr_module._optimizer.rescale_grad == 0.25


@pytest.mark.clause("Bucketing/params")
def test_parameters_are_set_whatever_bucket_is_current():
    module = mx.mod.BucketingModule(chain, 0)
    module.bind([("data", (4, 2))])
    module.init_params(mx.init.One())
    module.forward(ones(2))
    module.set_params({"a_weight": mx.nd.full((2, 2), 5)}, {}, allow_missing=True)
    assert values(module)["a_weight"].tolist() == [[5, 5]] * 2
    module.set_params({"b_weight": mx.nd.full((2, 2), 3)}, {}, allow_missing=True)
    module.forward(ones(2))
    assert module.get_outputs()[0].asnumpy().tolist() == [[6, 6]] * 4
    module.init_params(mx.init.Zero())
    assert values(module)["b_weight"].tolist() == [[3, 3]] * 2
    module.init_params(mx.init.Zero(), force_init=True)
    assert values(module)["b_weight"].tolist() == [[0, 0]] * 2


@pytest.mark.clause("Bucketing/memory")
def test_a_smaller_bucket_takes_the_front_of_the_largest():
    module = ready()
    large = module._buckets[10]._exec_group.execs[0].arg_dict["data"]
    module.forward(batch(10))
    small = batch(5)
    small.data = [mx.nd.full((4, 5), 2)]
    module.forward(small)
    assert large.asnumpy().ravel().tolist() == [2] * 20 + [1] * 20


@pytest.mark.clause("Bucketing/largest-first")
def test_a_larger_bucket_warns(caplog):
    module = ready()
    with caplog.at_level(logging.WARNING):
        module.forward(batch(5))
        module.forward(batch(12))
        module.forward(batch(11))
    (message,) = caplog.messages
    assert message == (
        "bucketing: data data has shape (4, 12), larger than the (4, 10) allocated so far; make the bucket of "
        "the largest input the default to save memory"
    )
    assert module.get_outputs()[0].shape == (4, 3)


@pytest.mark.clause("Bucketing/states")
def test_states_go_from_bucket_to_bucket():
    # MXNet 1.9.1: 2, then 3
    def with_memory(_):
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
        return net + mx.sym.Variable("memory"), ("data",), None

    module = mx.mod.BucketingModule(with_memory, 10, state_names=["memory"])
    module.bind([("data", (4, 3))])
    module.init_params()
    module.set_states(value=2)
    module.switch_bucket(5, [("data", (4, 3))])
    assert module.get_states(merge_multi_context=False)[0][0].asnumpy().tolist() == [[2, 2]] * 4
    module.set_states(value=3)
    module.switch_bucket(10, None)
    assert module.get_states(merge_multi_context=False)[0][0].asnumpy().tolist() == [[3, 3]] * 4


# --- the current bucket ---------------------------------------------------------------------------


@pytest.mark.clause("Bucketing/names")
def test_automatic_names_begin_anew_in_every_bucket():
    module = ready()
    module.forward(batch(5))
    assert module.symbol.list_arguments() == [
        "data", "embed_weight", "fullyconnected0_weight", "fullyconnected0_bias", "softmax_label",
    ]
    assert sorted(values(module)) == ["embed_weight", "fullyconnected0_bias", "fullyconnected0_weight"]


@pytest.mark.clause("Bucketing/forward")
def test_names_and_shapes_are_those_of_the_current_bucket():
    def named(key):
        net = mx.sym.FullyConnected(mx.sym.Variable(f"data{key}"), num_hidden=2, flatten=False, name="fc")
        return mx.sym.identity(net, name=f"out{key}"), (f"data{key}",), None

    module = mx.mod.BucketingModule(named, 3)
    assert module.data_names == ["data3"]
    module.bind([("data3", (4, 3, 2))])
    module.init_params()
    module.switch_bucket(2, [("data2", (4, 2, 2))])
    assert (module.data_names, module.label_names, module.output_names) == (["data2"], [], ["out2_output"])
    assert module.symbol.list_outputs() == ["out2_output"]
    assert module.data_shapes == [("data2", (4, 2, 2))]
    assert module.label_shapes is None
    assert module.output_shapes == [("out2_output", (4, 2, 2))]
    assert module.get_outputs(merge_multi_context=False)[0][0].shape == (4, 2, 2)


@pytest.mark.clause("Bucketing/switch", "Bucketing/batch-shapes")
def test_shapes_only_matter_the_first_time():
    # MXNet 1.9.1: (4, 5) as well
    module = ready()
    module.forward(batch(5))
    module.switch_bucket(5, [("data", (9, 5))], [("softmax_label", (9,))])
    assert module.data_shapes == [("data", (4, 5))]
    module.forward(batch(5, rows=6))
    assert module.get_outputs()[0].shape == (6, 3)
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 5))], bucket_key=5), is_train=False)
    assert module.get_outputs()[0].shape == (2, 3)


@pytest.mark.clause("Bucketing/batch-shapes")
def test_a_bucket_may_be_bound_without_labels():
    module = ready()
    with pytest.warns(UserWarning, match="label_shapes is called"):
        module.forward(batch(6, provide_label=None), is_train=False)
    assert module.label_shapes is None


@pytest.mark.clause("Bucketing/prepare")
def test_preparing_binds_and_does_not_switch():
    module = ready()
    module.forward(batch(5))
    module.prepare(batch(7))
    assert sorted(module._buckets) == [5, 7, 10]
    assert module.data_shapes == [("data", (4, 5))]


@pytest.mark.clause("Bucketing/monitor")
def test_a_monitor_watches_buckets_to_come():
    monitor = mx.mon.Monitor(1, stat_func=lambda array: array.max(), pattern="fullyconnected0_output")
    module = ready()
    module.install_monitor(monitor)
    seen = []
    for length in (10, 5, 7):
        monitor.tic()
        module.forward(batch(length))
        seen.append([(name, float(text)) for _, name, text in monitor.toc()])
    # words of two ones, summed over the length, times two columns of ones
    assert seen == [[("fullyconnected0_output", 2.0 * length)] for length in (10, 5, 7)]


@pytest.mark.clause("Bucketing/default-key")
def test_every_bucket_is_bound_as_the_default_one():
    module = mx.mod.BucketingModule(chain, 0)
    module.bind([("data", (4, 2))], inputs_need_grad=True, grad_req={"b_weight": "null"})
    module.init_params(mx.init.One())
    module.forward_backward(ones(2))
    assert module._curr_module._exec_group.grad_req == {"data": "write", "b_weight": "null"}
    assert module.get_input_grads()[0].asnumpy().tolist() == [[2, 2]] * 4
    module.bind([("data", (4, 2))], for_training=False, force_rebind=True)
    module.forward(ones(2))
    assert not module._curr_module.for_training


# --- binding again --------------------------------------------------------------------------------


@pytest.mark.clause("Bucketing/rebind")
@pytest.mark.parametrize("contexts", [1, 2])
def test_rebinding_keeps_parameters_and_optimizer(contexts):
    # MXNet 1.9.1 loses the optimizer, keeps the flag that says there is one, and fails in update
    options = {"learning_rate": 0.5, "momentum": 0.5}
    modules = [ready(context=[mx.cpu(i) for i in range(contexts)]) for _ in range(2)]
    for module, rebound in zip(modules, (True, False), strict=True):
        module.init_optimizer(optimizer_params=options)
        module.forward_backward(batch(5))
        module.update()
        if rebound:
            module.bind([("data", (4, 10))], [("softmax_label", (4,))], force_rebind=True)
            assert list(module._buckets) == [10]
        module.forward_backward(batch(7))
        module.update()
    for name, value in values(modules[0]).items():
        assert np.array_equal(value, values(modules[1])[name]), name


@pytest.mark.clause("Module/bind-twice", "Module/optimizer-twice")
def test_doing_it_twice_only_warns(caplog):
    module = ready()
    module.init_optimizer()
    with caplog.at_level(logging.WARNING):
        module.bind([("data", (9, 9))])
        module.init_optimizer()
    assert caplog.messages == [
        "the module is bound: bind changes nothing without force_rebind=True",
        "the module has an optimizer: init_optimizer changes nothing without force_init=True",
    ]


# --- the loops ------------------------------------------------------------------------------------


@pytest.mark.clause("Module/fit", "Bucketing/forward")
def test_fit_score_and_predict_over_buckets():
    module = mx.mod.BucketingModule(bag, 10, context=[mx.cpu(0), mx.cpu(1)])
    data = Sentences((10, 5, 7, 5))
    seen = []
    module.fit(
        data, data, num_epoch=2, initializer=mx.init.One(), optimizer_params={"learning_rate": 0.01},
        batch_end_callback=lambda param: seen.append(param.nbatch),
        epoch_end_callback=lambda epoch, symbol, arg, aux: seen.append(min(arg)),
    )
    assert seen == [0, 1, 2, 3, "embed_weight"] * 2
    assert dict(module.score(data, "acc"))["accuracy"] == 0.5  # every sentence is alike, half are of class 0
    assert module.predict(data).shape == (16, 3)
    assert [len(outputs) for outputs, _, _ in module.iter_predict(data)] == [1] * 4
