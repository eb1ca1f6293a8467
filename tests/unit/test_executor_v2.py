"""The Executor of MXNet 2.0 and CachedOp: copies, empty slots, autograd underneath."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import refimpl as mx

A, B = mx.sym.Variable("a"), mx.sym.Variable("b")


def _pair() -> tuple[mx.nd.NDArray, mx.nd.NDArray]:
    return mx.nd.array([1, 2]), mx.nd.array([10, 20])


# --- CachedOp ----------------------------------------------------------------------------------------


@pytest.mark.clause("CachedOp/inputs")
def test_cached_op_takes_inputs_in_graph_order() -> None:
    net = mx.sym.FullyConnected(mx.sym.BatchNorm(A, name="bn"), num_hidden=1, name="fc")
    assert net.list_inputs() == [
        "a", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var", "fc_weight", "fc_bias",
    ]
    values = [mx.nd.array(v) for v in ([[1, 2]], [1, 1], [3, 4], [0, 0], [1, 1], [[1, 1]], [0.5])]
    out = mx.nd.CachedOp(net)(*values)
    # (1, 2) / sqrt(1 + 1e-3) + (3, 4), summed, plus a half
    assert abs(out.asscalar() - (3 / np.sqrt(1.001) + 7.5)) < 1e-5


@pytest.mark.clause("CachedOp/inputs")
def test_cached_op_returns_one_array_or_a_list() -> None:
    a, b = _pair()
    both = mx.nd.CachedOp(mx.sym.Group([2 * A + B, A * B]))(a, b)
    assert [v.asnumpy().tolist() for v in both] == [[12, 24], [10, 40]]
    out = mx.nd.zeros((2,))
    assert mx.nd.CachedOp(2 * A + B)(a, b, out=out) is out
    assert out.asnumpy().tolist() == [12, 24]


def test_cached_op_names_the_node_whose_shapes_clash() -> None:
    with pytest.raises(mx.MXNetError, match="_plus0"):
        mx.nd.CachedOp(mx.sym.elemwise_add(A, B, name="_plus0"))(mx.nd.ones((2,)), mx.nd.ones((3,)))


def test_cached_op_hook_sees_every_node() -> None:
    seen: list[str] = []
    op = mx.nd.CachedOp(mx.sym.tanh(mx.sym.elemwise_add(A, B, name="sum"), name="t"))
    op._register_op_hook(lambda name, kind, array: seen.append(f"{name} {kind} {array.shape}"), monitor_all=True)
    op(*_pair())
    assert seen == [
        "sum_lhs elemwise_add (2,)", "sum_rhs elemwise_add (2,)", "sum_output elemwise_add (2,)",
        "t_data tanh (2,)", "t_output tanh (2,)",
    ]


# --- the executor ------------------------------------------------------------------------------------


@pytest.mark.clause("Executor2/copies")
def test_arguments_are_copied() -> None:
    a, b = _pair()
    executor = (2 * A + B)._bind(mx.cpu(), [a, b], grad_req="null")
    a[:] = 0
    first = executor.forward()
    second = executor.forward()
    assert first[0].asnumpy().tolist() == [12, 24]
    assert first[0] is not second[0]
    assert executor.arg_dict["a"] is not a
    assert [v.asnumpy().tolist() for v in executor.arg_arrays] == [[1, 2], [10, 20]]


@pytest.mark.clause("Executor2/gradients")
@pytest.mark.parametrize(("req", "expected"), [("write", [2, 2]), ("add", [9, 9])])
def test_gradients_reach_the_caller(req: str, expected: list[float]) -> None:
    a, b = _pair()
    gradient = mx.nd.array([7, 7])
    executor = (2 * A + B)._bind(mx.cpu(), {"a": a, "b": b}, {"a": gradient}, req)
    executor.forward()  # not in training: recorded all the same
    executor.backward()
    assert gradient.asnumpy().tolist() == expected
    assert list(executor.grad_dict) == ["a"]
    assert executor.grad_arrays[1] is None


@pytest.mark.clause("Executor2/once")
def test_backward_runs_forward_when_none_ever_ran() -> None:
    a, b = _pair()
    gradient = mx.nd.zeros((2,))
    executor = (A * B)._bind(mx.cpu(), [a, b], [gradient], {"a": "write", "b": "null"})
    executor.backward()
    assert gradient.asnumpy().tolist() == [10, 20]
    with pytest.raises(mx.MXNetError, match="retain_graph"):
        executor.backward()


@pytest.mark.clause("Executor2/nothing-wanted")
def test_backward_without_requirement_does_nothing() -> None:
    executor = (A * B)._bind(mx.cpu(), list(_pair()), grad_req="null")
    executor.backward()
    assert executor.outputs is None


@pytest.mark.clause("Executor2/forward-keywords")
def test_forward_keywords() -> None:
    executor = (A + B)._bind(mx.cpu(), {"a": mx.nd.ones((2, 2))}, grad_req="null")
    made = executor.forward(b=mx.nd.array([[1, 2], [3, 4]]), nobody=mx.nd.ones((1,)))
    assert made[0].asnumpy().tolist() == [[2, 3], [4, 5]]
    made = executor.forward(b=np.array([[10, 20]]))
    assert made[0].asnumpy().tolist() == [[11, 21], [11, 21]]
    with pytest.raises(ValueError, match="broadcast"):
        executor.forward(b=np.ones((3, 2)))


@pytest.mark.clause("Executor2/heads")
def test_head_gradients_in_each_form() -> None:
    for heads in (mx.nd.array([1, 5]), [mx.nd.array([1, 5])], {"both_output": mx.nd.array([1, 5])}):
        gradient = mx.nd.zeros((2,))
        executor = mx.sym.elemwise_mul(A, B, name="both")._bind(mx.cpu(), list(_pair()), {"a": gradient})
        executor.forward(is_train=True)
        executor.backward(heads)
        assert gradient.asnumpy().tolist() == [10, 100]


@pytest.mark.clause("Executor2/simple-bind")
def test_simple_bind_matches_gradients_by_name() -> None:
    """Auxiliary states stand between the parameters here, where MXNet 2.0 matched by position and failed."""
    net = mx.sym.FullyConnected(mx.sym.BatchNorm(A, name="bn"), num_hidden=3, name="fc")
    executor = net._simple_bind(mx.cpu(), a=(4, 5))
    executor.copy_params_from({"fc_weight": mx.nd.ones((3, 5)), "bn_gamma": mx.nd.ones((5,))})
    executor.forward(is_train=True, a=np.arange(20.0).reshape(4, 5))
    executor.backward()
    assert executor.grad_dict["fc_bias"].asnumpy().tolist() == [4, 4, 4]
    assert executor.grad_dict["fc_weight"].shape == (3, 5)
    assert list(executor.aux_dict) == ["bn_moving_mean", "bn_moving_var"]
    # moving mean: 0.9 * 0 + 0.1 * column means (7.5, 8.5, ...)
    assert np.allclose(executor.aux_dict["bn_moving_mean"].asnumpy(), [0.75, 0.85, 0.95, 1.05, 1.15])
    assert list(executor.output_dict) == ["fc_output"]


def test_copy_params_from_is_all_or_nothing() -> None:
    executor = (A + B)._bind(mx.cpu(), list(_pair()), grad_req="null")
    for bad, kind in (({"c": mx.nd.ones((2,))}, ValueError), ({"b": mx.nd.ones((3,))}, mx.MXNetError)):
        with pytest.raises(kind):
            executor.copy_params_from({"a": mx.nd.zeros((2,)), **bad})
    assert executor.arg_dict["a"].asnumpy().tolist() == [1, 2]
    executor.copy_params_from({"a": mx.nd.zeros((2,)), "c": mx.nd.ones((1,))}, allow_extra_params=True)
    assert executor.arg_dict["a"].asnumpy().tolist() == [0, 0]


def test_two_variables_of_one_name_share_a_dict_entry() -> None:
    executor = (A + mx.sym.Variable("a"))._bind(mx.cpu(), [mx.nd.ones((2,)), mx.nd.ones((2,))], grad_req="null")
    assert list(executor.arg_dict) == ["a"]


_REFUSALS: list[tuple[str, type[Exception], Callable[[], object]]] = [
    ("CachedOp/count", mx.MXNetError, lambda: mx.nd.CachedOp(A + B)(mx.nd.ones((2,)))),
    (
        "CachedOp/count", mx.MXNetError,
        lambda: mx.nd.CachedOp(mx.sym.Group([A * 2, A + 1]))(mx.nd.ones((2,)), out=[mx.nd.ones((2,))]),
    ),
    ("CachedOp/keywords", TypeError, lambda: mx.nd.CachedOp(A + B)(mx.nd.ones((2,)), b=mx.nd.ones((2,)))),
    ("CachedOp/input-type", TypeError, lambda: mx.nd.CachedOp(1 * A)(np.ones(2))),
    ("CachedOp/flags", mx.MXNetError, lambda: mx.nd.CachedOp(A, [("fast", 1)])),
    ("CachedOp/flags", mx.MXNetError, lambda: mx.nd.CachedOp(A, [("static_alloc", "maybe")])),
    ("CachedOp/flags", mx.MXNetError, lambda: mx.nd.CachedOp(A, [("inline_limit", "few")])),
    ("Executor2/grad-req-type", AssertionError, lambda: A._bind(mx.cpu(), {}, grad_req=["write"])),
    (
        "Executor2/grad-req", KeyError,
        lambda: A._bind(mx.cpu(), [mx.nd.ones((1,))], [mx.nd.ones((1,))], "maybe"),
    ),
    (
        "Executor2/grad-req", KeyError,
        lambda: (A + B)._bind(mx.cpu(), list(_pair()), {"a": mx.nd.ones((2,))}, {"b": "write"}),
    ),
    ("Executor2/given-type", AssertionError, lambda: A._bind(mx.cpu(), 3)),
    ("Executor2/given-length", IndexError, lambda: A._bind(mx.cpu(), list(_pair()))),
    ("Executor2/value-type", AttributeError, lambda: A._bind(mx.cpu(), {"a": np.ones(2)})),
    ("Executor2/empty-slot", AttributeError, lambda: (A + B)._bind(mx.cpu(), {"a": mx.nd.ones((1,))}).forward()),
    ("Executor2/value-dtype", AttributeError, lambda: A._bind(mx.cpu(), {}).forward(a=[1, 2])),
    ("Executor2/known-shapes", ValueError, lambda: (A + B)._simple_bind(mx.cpu())),
]


@pytest.mark.filterwarnings("ignore:Cannot decide shape")
@pytest.mark.parametrize(
    ("clause", "kind", "call"),
    [pytest.param(*row, marks=pytest.mark.clause(row[0]), id=f"{row[0]}-{i}") for i, row in enumerate(_REFUSALS)],
)
def test_refusals(clause: str, kind: type[Exception], call: Callable[[], object]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
