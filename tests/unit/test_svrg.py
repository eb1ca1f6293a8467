"""What an SVRGModule computes: full passes, and what the snapshot sees."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule

from .svrg_nets import PLAIN, ROWS, TARGETS, batch, fresh, gradients, iterator, means, ready, run, weights


def test_where_it_is_found() -> None:
    from refimpl.contrib.svrg_optimization import svrg_module, svrg_optimizer

    assert mx.contrib.svrg_optimization.svrg_module.SVRGModule is svrg_module.SVRGModule is SVRGModule
    assert issubclass(SVRGModule, mx.mod.Module)
    assert issubclass(svrg_optimizer._SVRGOptimizer, mx.optimizer.Optimizer)


@pytest.mark.clause("SVRG/update-freq")
@pytest.mark.parametrize(("given", "kind"), [
    (None, TypeError), (1.0, TypeError), ("1", TypeError), (np.int64(2), TypeError),
    (0, ValueError), (-1, ValueError), (False, ValueError),
])
def test_the_frequency_is_a_positive_integer(given, kind) -> None:
    with pytest.raises(kind) as caught:
        fresh(frequency=given)
    assert caught.value.clause == "SVRG/update-freq"


@pytest.mark.clause("SVRG/update-freq")
@pytest.mark.parametrize("given", [1, 7, True])
def test_frequencies(given) -> None:
    assert fresh(frequency=given).update_freq == given


# --- before and after a full pass -----------------------------------------------------------------


@pytest.mark.clause("SVRG/needs-full-pass")
def test_a_step_needs_a_full_pass() -> None:
    module = ready(iterator())
    module.forward(batch(0, 4), is_train=True)
    assert module.get_outputs()[0].shape == (4, 1)
    with pytest.raises(AssertionError) as caught:
        module.backward()
    assert caught.value.clause == "SVRG/needs-full-pass"


@pytest.mark.clause("SVRG/needs-full-pass")
def test_a_full_pass_needs_an_optimizer() -> None:
    module = fresh()
    for clause, step in (
        ("Module/needs-bind", lambda: module.bind(iterator().provide_data, iterator().provide_label)),
        ("Module/needs-params", module.init_params), ("Module/needs-optimizer", module.init_optimizer),
    ):
        with pytest.raises(AssertionError) as caught:
            module.update_full_grads(iterator())
        assert caught.value.clause == clause
        step()
    module.update_full_grads(iterator())


class Empty:
    def reset(self) -> None:
        pass

    def __iter__(self):
        return iter([])


class Breaking(Empty):
    def __iter__(self):
        yield batch(0, 4)
        raise OSError("the disk is gone")


@pytest.mark.clause("SVRG/needs-rows", "SVRG/failed-pass")
@pytest.mark.parametrize("settings", [{}, {"contexts": 2}, {"contexts": 2, "kvstore": None}])
def test_a_pass_without_rows(settings) -> None:
    data = iterator()
    module = ready(data, **settings)
    module.update_full_grads(data)
    with pytest.raises(ValueError, match="no rows") as caught:
        module.update_full_grads(Empty())
    assert caught.value.clause == "SVRG/needs-rows"
    with pytest.raises(AssertionError) as caught:
        module.forward_backward(batch(0, 4))
    assert caught.value.clause == "SVRG/needs-full-pass"


@pytest.mark.clause("SVRG/failed-pass")
def test_a_pass_that_breaks_off() -> None:
    data = iterator()
    module = ready(data)
    module.update_full_grads(data)
    with pytest.raises(OSError, match="disk"):
        module.update_full_grads(Breaking())
    with pytest.raises(AssertionError):
        module.forward_backward(batch(0, 4))
    assert run(module, data, 1) == PLAIN


@pytest.mark.clause("SVRG/iterator")
def test_the_iterator_is_reset_and_then_exhausted() -> None:
    data = iterator()
    module = ready(data)
    data.next()
    module.update_full_grads(data)
    assert means(module)[0]["fc_weight"] == [10, 11.5]
    with pytest.raises(StopIteration):
        data.next()


@pytest.mark.clause("SVRG/iterator")
def test_how_often_fit_resets() -> None:
    # MXNet 1.9.1 counts 5 calls of reset too: two full passes and three epochs
    resets = []

    class Counting(mx.io.NDArrayIter):
        def reset(self):
            resets.append(len(resets))
            super().reset()

    data = Counting(np.ones((4, 2), "f"), np.ones(4, "f"), 2, label_name="y")
    resets.clear()
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
    net = mx.sym.LinearRegressionOutput(net, mx.sym.Variable("y"))
    module = SVRGModule(net, label_names=["y"], update_freq=2)
    module.fit(data, num_epoch=3, eval_metric="mse", initializer=mx.init.One())
    assert len(resets) == 5


@pytest.mark.clause("SVRG/full-gradient")
def test_batches_that_say_nothing_of_padding() -> None:
    class Plain(Empty):
        def __iter__(self):
            for begin in (0, 4):
                one = batch(begin, begin + 4)
                one.pad = None
                yield one

    module = ready(iterator())
    module.update_full_grads(Plain())
    assert means(module)[0]["fc_weight"] == [10, 11.5]


@pytest.mark.clause("SVRG/full-gradient")
def test_a_batch_of_padding_alone_counts_nothing() -> None:
    class Padded(Empty):
        def __iter__(self):
            yield from (batch(0, 4), batch(4, 8))
            one = batch(0, 4)
            one.pad = 4
            yield one

    module = ready(iterator())
    module.update_full_grads(Padded())
    assert means(module)[0]["fc_weight"] == [10, 11.5]


# --- what the snapshot sees -----------------------------------------------------------------------


@pytest.mark.clause("SVRG/corrected-once")
def test_gradients_are_corrected_in_backward() -> None:
    data = iterator()
    module = ready(data)
    module.update_full_grads(data)
    module.forward_backward(batch(0, 4))
    assert gradients(module) == [[10, 11.5], [0.5]]  # at the snapshot only the mean is left
    for _ in range(2):
        module.update()
        assert gradients(module) == [[10, 11.5], [0.5]]
    assert weights(module) == [1 - 2 * 10 / 64, 1 - 2 * 11.5 / 64, -2 * 0.5 / 64]


@pytest.mark.clause("SVRG/snapshot-follows")
def test_the_snapshot_sees_the_batch_of_the_last_forward() -> None:
    data, found = iterator(), []
    for way in range(4):
        module = ready(data)
        module.update_full_grads(data)
        module.forward_backward(batch(0, 4))
        module.update()
        if way == 0:
            module.forward_backward(batch(4, 8))
        elif way == 1:
            module.forward(batch(4, 8))
            module.backward()
        elif way == 2:  # evaluated before, on other rows
            module.forward(batch(0, 4), is_train=False)
            module.forward(batch(4, 8), is_train=True)
            module.backward()
        else:
            module.forward(batch(4, 8), is_train=False)
            module.backward()
        module.update()
        found.append(weights(module))
    assert found == PLAIN * 4


@pytest.mark.clause("SVRG/snapshot-follows")
def test_a_full_pass_between_forward_and_backward() -> None:
    data = iterator()
    module = ready(data)
    module.update_full_grads(data)
    module.forward(batch(0, 4), is_train=True)
    module.update_full_grads(data)
    module.backward()
    assert gradients(module) == [[10, 11.5], [0.5]]


@pytest.mark.clause("SVRG/add")
def test_gradients_of_several_batches_add_up() -> None:
    data = iterator()
    module, other = ready(data, bind={"grad_req": "add"}), ready(data)
    for one in (module, other):
        one.update_full_grads(data)
        one.set_params({"fc_weight": mx.nd.array([[0.5, 2]]), "fc_bias": mx.nd.array([1])}, {})
    total = np.zeros(2)
    for rows in ((0, 4), (4, 8), (2, 6)):
        module.forward_backward(batch(*rows))
        other.forward_backward(batch(*rows))
        total += gradients(other)[0]
        assert gradients(module)[0] == total.tolist()


@pytest.mark.clause("SVRG/evaluation")
@pytest.mark.parametrize("contexts", [1, 2])
def test_evaluation(contexts) -> None:
    data = iterator()
    module = fresh(contexts=contexts)
    module.bind(data.provide_data, data.provide_label, for_training=False)
    module.init_params(mx.init.One())
    assert module.score(data, "mse") == [("mse", 8.125)]
    assert module.predict(data).asnumpy().ravel().tolist() == [3, 1, 0, 3, 1, -1, 4, -2]
    for call in (lambda: module.forward_backward(batch(0, 4)), lambda: module.update_full_grads(data)):
        with pytest.raises(AssertionError) as caught:
            call()
        assert caught.value.clause in ("Module/needs-training", "Module/needs-optimizer")
    assert not module._mod_aux.binded


@pytest.mark.clause("SVRG/evaluation")
def test_evaluating_between_steps_changes_nothing() -> None:
    data, held_out = iterator(), iterator(ROWS[:3], TARGETS[:3], 3)
    module = ready(data)
    module.update_full_grads(data)
    data.reset()
    for one in data:
        module.forward_backward(one)
        module.update()
        module.score(held_out, "mse")
        module.predict(held_out)
    assert [weights(module)] == PLAIN


@pytest.mark.clause("SVRG/fixed-parameters")
@pytest.mark.parametrize("contexts", [1, 2])
def test_fixed_parameters_stay(contexts) -> None:
    data = iterator()
    module = ready(data, contexts, fixed_param_names=["fc_bias"])
    found = run(module, data, 2)
    assert [values[-1] for values in found] == [0, 0]
    assert list(means(module)[0]) == ["fc_weight"]
    assert found[0][0] != 1


@pytest.mark.clause("SVRG/fixed-parameters")
def test_a_request_of_its_own_for_each_parameter() -> None:
    data = iterator()
    module = ready(data, bind={"grad_req": {"fc_bias": "null", "fc_weight": "add"}})
    assert module._mod_aux._exec_group.grad_req["fc_weight"] == "write"
    module.update_full_grads(data)
    for factor in (1, 2):
        module.forward_backward(batch(0, 4))
        assert gradients(module) == [[factor * 10, factor * 11.5]]


@pytest.mark.clause("SVRG/input-gradients")
def test_input_gradients_are_those_of_the_weights() -> None:
    data = iterator()
    module = ready(data, bind={"inputs_need_grad": True})
    module.update_full_grads(data)
    module.forward_backward(batch(0, 4))
    assert module.get_input_grads()[0].asnumpy().tolist() == [[2, 2], [1, 1], [-2, -2], [2, 2]]


@pytest.mark.clause("SVRG/statistics")
def test_statistics_of_the_snapshot_are_its_own() -> None:
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn", momentum=0.5, fix_gamma=False)
    net = mx.sym.LinearRegressionOutput(
        mx.sym.FullyConnected(net, num_hidden=1, name="fc"), mx.sym.Variable("target"), name="line"
    )
    data = iterator()
    module = ready(data, symbol=net)
    module.update_full_grads(data)
    assert module.get_params()[1]["bn_moving_mean"].asnumpy().tolist() == [0, 0]
    module.forward_backward(batch(0, 4))
    # half of the mean of each column
    assert module.get_params()[1]["bn_moving_mean"].asnumpy().tolist() == [0.625, 0.25]


@pytest.mark.clause("SVRG/states")
def test_states_are_those_of_the_snapshot_too() -> None:
    net = mx.sym.broadcast_mul(mx.sym.Variable("data"), mx.sym.Variable("scale", shape=(1, 2)))
    net = mx.sym.LinearRegressionOutput(
        mx.sym.FullyConnected(net, num_hidden=1, name="fc"), mx.sym.Variable("target"), name="line"
    )
    data = iterator()
    module = fresh(net, state_names=["scale"])
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.One())
    module.init_optimizer()
    module.set_states(value=1)
    module.update_full_grads(data)
    assert means(module)[0]["fc_weight"] == [10, 11.5]


@pytest.mark.clause("SVRG/sparse")
@pytest.mark.parametrize("contexts", [1, 2])
def test_sparse_gradients_become_whole(contexts) -> None:
    def trained(*, sparse: bool) -> list:
        net = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=5, output_dim=1, sparse_grad=sparse, name="fc")
        net = mx.sym.LinearRegressionOutput(mx.sym.Flatten(net), mx.sym.Variable("target"), name="line")
        data = mx.io.NDArrayIter(np.array([0, 1, 3, 3, 0, 1]), np.arange(6), 2, label_name="target")
        module = ready(data, contexts, symbol=net)
        assert module._exec_group.grad_arrays[0][0].stype == ("row_sparse" if sparse else "default")
        return run(module, data, 3)

    assert trained(sparse=True) == trained(sparse=False)


@pytest.mark.clause("SVRG/full-gradient")
def test_float16_gradients_are_added_up_in_float32() -> None:
    """By hand: each of 8 rows has the gradient 16384, their sum 131072 is no float16 number; a batch has 2 of them."""
    half = mx.sym.Cast(mx.sym.Variable("data"), dtype="float16")
    weight = mx.sym.Variable("w", dtype="float16", init=mx.init.Zero())
    half = mx.sym.FullyConnected(half, weight, num_hidden=1, no_bias=True)
    net = mx.sym.LinearRegressionOutput(mx.sym.Cast(half, dtype="float32"), mx.sym.Variable("y"))
    data = mx.io.NDArrayIter(np.full((8, 1), 128, "f"), np.full((8, 1), -128, "f"), 2, label_name="y")
    module = SVRGModule(net, label_names=["y"], update_freq=1)
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Zero())
    module.init_optimizer()
    module.update_full_grads(data)
    mean = module._param_dict[0]["w"]
    assert (mean.dtype, mean.asscalar()) == (np.float16, 2 * 16384)
