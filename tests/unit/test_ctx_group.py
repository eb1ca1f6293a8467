"""Groups of nodes on contexts of their own: placement, copies between them, and training as on one context."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl.symbol import devices

PLACES = {"first": mx.cpu(1), "second": mx.cpu(2)}


def _layers(*, dropout: bool = False) -> mx.sym.Symbol:
    """Two layers, each a group of its own; the loss belongs to none."""
    with mx.AttrScope(ctx_group="first"):
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
        net = mx.sym.BatchNorm(net, fix_gamma=False, name="bn")
        net = mx.sym.Activation(net, act_type="tanh", name="act")
    with mx.AttrScope(ctx_group="second"):
        if dropout:
            net = mx.sym.Dropout(net, p=0.5, name="drop")
        net = mx.sym.FullyConnected(net, num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def _filled(executor: mx.executor.Executor) -> mx.executor.Executor:
    numbers = np.random.RandomState(1)
    for array in executor.arg_dict.values():
        array[:] = numbers.uniform(-1, 1, array.shape)
    executor.arg_dict["softmax_label"][:] = [0, 1, 2, 0]
    for name, array in executor.aux_dict.items():
        array[:] = 1 if "var" in name else 0
    return executor


def _bound(group2ctx: dict[str, mx.Context] | None, **options: bool) -> mx.executor.Executor:
    return _filled(_layers(**options).simple_bind(mx.cpu(), group2ctx=group2ctx, data=(4, 5)))


@pytest.mark.clause("Executor/groups")
def test_nodes_and_their_arrays_live_where_their_group_is_mapped() -> None:
    executor = _bound(PLACES)
    places = {name: str(array.context) for name, array in executor.arg_dict.items()}
    assert places == {
        "data": "cpu(1)", "fc1_weight": "cpu(1)", "fc1_bias": "cpu(1)", "bn_gamma": "cpu(1)", "bn_beta": "cpu(1)",
        "fc2_weight": "cpu(2)", "fc2_bias": "cpu(2)", "softmax_label": "cpu(0)",
    }
    assert {str(a.context) for a in executor.aux_dict.values()} == {"cpu(1)"}
    assert {n: g.context for n, g in executor.grad_dict.items()} == {
        n: a.context for n, a in executor.arg_dict.items()
    }
    assert [str(o.context) for o in executor.outputs] == ["cpu(0)"]
    assert {str(context) for context in executor.plan.arenas} == {"cpu(0)", "cpu(1)", "cpu(2)"}
    copies = [s.node.name for s in executor.program.forward_steps if s.node.op.name == devices.COPY]
    assert copies == ["act_0_copy", "fc2_0_copy"]


@pytest.mark.clause("Executor/groups")
def test_two_contexts_compute_what_one_computes_bit_for_bit() -> None:
    alone, apart = _bound(None), _bound(PLACES)
    for executor in (alone, apart):
        for _ in range(2):
            executor.forward(is_train=True)
            executor.backward()
    np.testing.assert_array_equal(alone.outputs[0].asnumpy(), apart.outputs[0].asnumpy())
    for one, two in ((alone.grad_dict, apart.grad_dict), (alone.aux_dict, apart.aux_dict)):
        for name, array in one.items():
            np.testing.assert_array_equal(array.asnumpy(), two[name].asnumpy(), err_msg=name)


@pytest.mark.clause("Executor/groups")
def test_a_random_operator_draws_from_the_stream_of_its_own_context() -> None:
    mx.random.seed(5)
    apart = _bound(PLACES, dropout=True)
    apart.forward(is_train=True)
    mx.random.seed(5)
    there = _filled(_layers(dropout=True).simple_bind(mx.cpu(2), data=(4, 5)))
    there.forward(is_train=True)
    np.testing.assert_array_equal(apart.outputs[0].asnumpy(), there.outputs[0].asnumpy())


@pytest.mark.clause("Executor/groups")
def test_without_group2ctx_groups_mean_nothing() -> None:
    executor = _bound(None)
    assert {str(a.context) for a in executor.arg_dict.values()} == {"cpu(0)"}
    assert not [s for s in executor.program.forward_steps if s.node.op.name == devices.COPY]


@pytest.mark.clause("Executor/groups-copied")
def test_one_copy_serves_all_readers_on_a_context_and_gradients_come_back() -> None:
    a = mx.sym.Variable("a")
    with mx.AttrScope(ctx_group="first"):
        squares, cubes = a * a, a * a * a
        total = squares + cubes
    grad = mx.nd.zeros((2,))
    executor = total.bind(mx.cpu(), [mx.nd.array([2, 3])], [grad], group2ctx=PLACES)
    names = [s.node.op.name for s in executor.program.forward_steps]
    assert names.count(devices.COPY) == 1
    (out,) = executor.forward(is_train=True)
    assert str(out.context) == "cpu(1)"
    executor.backward(mx.nd.ones((2,), ctx=mx.cpu(1)))
    assert out.asnumpy().tolist() == [12, 36]
    assert grad.asnumpy().tolist() == [16, 33]
    assert str(grad.context) == "cpu(0)"


@pytest.mark.clause("Executor/groups-copied")
def test_add_collects_across_contexts() -> None:
    a = mx.sym.Variable("a")
    with mx.AttrScope(ctx_group="first"):
        doubled = a * 2
    grad = mx.nd.array([100, 200])
    executor = doubled.bind(mx.cpu(), [mx.nd.array([2, 3])], [grad], "add", group2ctx=PLACES)
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(mx.nd.ones((2,)))
    assert grad.asnumpy().tolist() == [104, 204]


@pytest.mark.clause("Executor/groups-copied")
def test_backward_reads_the_current_argument_of_another_context() -> None:
    a = mx.sym.Variable("a")
    with mx.AttrScope(ctx_group="first"):
        squares = a * a
    given, grad = mx.nd.array([2, 3]), mx.nd.zeros((2,))
    executor = squares.bind(mx.cpu(), [given], [grad], group2ctx=PLACES)
    executor.forward(is_train=True)
    given[:] = 10
    executor.backward(mx.nd.ones((2,)))
    assert grad.asnumpy().tolist() == [20, 20]


@pytest.mark.clause("Executor/groups-copied")
def test_a_shape_needs_no_copy() -> None:
    far = mx.sym.exp(mx.sym.Variable("a"))
    with mx.AttrScope(ctx_group="first"):
        near = mx.sym.zeros_like(far) + 1
    executor = near.bind(mx.cpu(), [mx.nd.ones((2, 3))], group2ctx=PLACES)
    assert [s.node.op.name for s in executor.program.forward_steps] == ["zeros_like", "_plus_scalar"]
    assert executor.forward()[0].asnumpy().tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.clause("Executor/groups-copied")
def test_arguments_may_be_anywhere_when_groups_are_mapped() -> None:
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    executor = (a + b).bind(
        mx.cpu(), [mx.nd.ones((2,), ctx=mx.cpu(3)), mx.nd.ones((2,), ctx=mx.cpu(4))], group2ctx=PLACES
    )
    (out,) = executor.forward()
    assert out.asnumpy().tolist() == [2, 2]
    assert out.context == mx.cpu(0)


@pytest.mark.clause("Executor/group-known")
def test_a_group_that_is_not_mapped_is_refused() -> None:
    with pytest.raises(RuntimeError, match="device assignment not found for group second") as caught:
        _bound({"first": mx.cpu(1)})
    assert caught.value.clause == "Executor/group-known"


@pytest.mark.clause("Executor/gradient-context")
def test_a_gradient_lives_with_its_argument() -> None:
    a = mx.sym.Variable("a")
    with pytest.raises(mx.MXNetError, match=r"gradient of a to cpu\(1\) while the argument is in cpu\(0\)"):
        (a * 2).bind(mx.cpu(), [mx.nd.ones((2,))], [mx.nd.ones((2,), ctx=mx.cpu(1))], group2ctx=PLACES)


@pytest.mark.clause("Executor/state-context")
def test_states_live_where_they_are_updated() -> None:
    net = _layers()
    shapes, _, states = net.infer_shape(data=(4, 5))
    arrays = [mx.nd.zeros(shape) for shape in shapes]
    with pytest.raises(mx.MXNetError, match=r"bn_moving_mean is in cpu\(0\)") as caught:
        net.bind(mx.cpu(), arrays, aux_states=[mx.nd.zeros(s) for s in states], group2ctx=PLACES)
    assert caught.value.clause == "Executor/state-context"


@pytest.mark.clause("Executor/groups")
def test_reshape_keeps_the_places() -> None:
    smaller = _bound(PLACES).reshape(data=(2, 5), softmax_label=(2,))
    assert str(smaller.arg_dict["fc2_weight"].context) == "cpu(2)"
    assert smaller.forward()[0].shape == (2, 3)


def _trained(contexts: object, group2ctxs: object, kvstore: str | None) -> dict[str, np.ndarray]:
    """Parameters after two epochs of training by Module."""
    numbers = np.random.RandomState(3)
    data = numbers.uniform(-1, 1, (16, 5)).astype(np.float32)
    label = numbers.randint(0, 3, 16).astype(np.float32)
    module = mx.mod.Module(_layers(), context=contexts, group2ctxs=group2ctxs)
    batches = mx.io.NDArrayIter(data, label, batch_size=8)
    module.bind(batches.provide_data, batches.provide_label)
    mx.random.seed(11)
    module.init_params(mx.init.Uniform(0.5))
    options = (("learning_rate", 0.1), ("momentum", 0.9))
    module.init_optimizer(kvstore=kvstore, optimizer="sgd", optimizer_params=options)
    for _ in range(2):
        batches.reset()
        for batch in batches:
            module.forward_backward(batch)
            module.update()
    arguments, states = module.get_params()
    return {name: array.asnumpy() for name, array in {**arguments, **states}.items()}


@pytest.mark.clause("Executor/groups")
@pytest.mark.parametrize("kvstore", [None, "local", "device"])
@pytest.mark.parametrize(
    ("contexts", "groups"),
    [
        (mx.cpu(), [PLACES]),
        (mx.cpu(), {"first": mx.cpu(1), "second": [mx.cpu(2)]}),
        ([mx.cpu(0), mx.cpu(4)], {"first": [mx.cpu(1), mx.cpu(5)], "second": [mx.cpu(2), mx.cpu(6)]}),
    ],
    ids=["list", "dict", "two-devices"],
)
def test_a_module_over_groups_learns_what_one_context_learns(
    contexts: object, groups: object, kvstore: str | None
) -> None:
    alone, apart = _trained(contexts, None, kvstore), _trained(contexts, groups, kvstore)
    assert alone.keys() == apart.keys()
    for name, values in alone.items():
        np.testing.assert_array_equal(values, apart[name], err_msg=name)
