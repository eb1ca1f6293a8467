"""Sides of 0: unknown where MXNet's classic mode writes them into inference, ordinary sizes everywhere else.

Values and shapes under ``np_shape`` were printed by MXNet 1.9.1 for the calls that stand here, with ``mx`` for it:
``with mx.util.np_shape(True): print(CALL)``. Where MXNet 1.9.1 fails or dies, a comment says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels.foundation import Buffer, as_buffer, get
from refimpl.kernels.foundation import run as runner
from refimpl.symbol.ir import Entry, Node

Z, ONE = mx.nd.zeros, mx.nd.ones


def net() -> mx.Symbol:
    return mx.sym.FullyConnected(mx.sym.Variable("a"), num_hidden=4, name="fc")


# --- inference -----------------------------------------------------------------------------------


@pytest.mark.clause("infer/unknown-sides")
def test_classic_mode_reads_0_and_minus_1_as_unknown() -> None:
    partial = ([(0, 3), (4, 3), (4,)], [(0, 4)], [])
    assert net().infer_shape_partial(a=(0, 3)) == partial
    assert net().infer_shape_partial(a=(-1, 3)) == partial
    assert net().infer_shape_partial() == ([(), (), ()], [()], [])
    with pytest.warns(UserWarning, match="Cannot decide shape"):
        assert net().infer_shape(a=(0, 3)) == (None, None, None)
    total = mx.sym.Variable("x") + mx.sym.Variable("y")
    assert total.infer_shape(x=(0, 2), y=(3, 2)) == ([(3, 2), (3, 2)], [(3, 2)], [])
    assert total.infer_shape_partial(x=()) == ([(), ()], [()], [])


@pytest.mark.clause("infer/unknown-sides")
def test_np_shape_mode_reads_0_as_a_side() -> None:
    total = mx.sym.Variable("x") + mx.sym.Variable("y")
    with mx.util.np_shape():
        assert net().infer_shape_partial(a=(-1, 3)) == ([(-1, 3), (4, 3), (4,)], [(-1, 4)], [])
        assert net().infer_shape(a=(0, 3)) == ([(0, 3), (4, 3), (4,)], [(0, 4)], [])
        assert net().infer_shape_partial()[0][0] is None
        assert total.infer_shape(x=()) == ([(), ()], [()], [])
        assert total.infer_shape(x=(0,)) == ([(0,), (0,)], [(0,)], [])
        with pytest.raises(mx.MXNetError) as caught:
            total.infer_shape(x=(0, 2), y=(3, 2))
        assert caught.value.clause == "elementwise/shape"
        x = mx.sym.Variable("x", shape=(-1, 2))
        assert (x + mx.sym.Variable("y")).infer_shape_partial() == ([(-1, 2), (-1, 2)], [(-1, 2)], [])
        zeros = mx.sym.zeros(shape=(-1, 2)) + mx.sym.Variable("y")
        assert zeros.infer_shape(y=(3, 2)) == ([(3, 2)], [(3, 2)], [])
        assert mx.sym.random.uniform(shape=(0, 2)).infer_shape() == ([], [(0, 2)], [])
        with pytest.raises(mx.MXNetError):
            (mx.sym.zeros(shape=(0, 2)) + mx.sym.Variable("y")).infer_shape(y=(3, 2))


# 1.9.1 outside np_shape: CALL.infer_shape(x=(2, 2))
@pytest.mark.clause("infer/empty-sides")
@pytest.mark.parametrize(("make", "shape"), [
    (lambda x: mx.sym.diag(x, k=2), (0,)),
    (lambda x: mx.sym.slice(x, begin=(1,), end=(1,)), (0, 2)),
    (lambda x: mx.sym.one_hot(x, depth=0), (2, 2, 0)),
    (lambda x: mx.sym.repeat(x, repeats=0), (0,)),
])
def test_a_side_that_an_operator_makes_empty_is_known(make: Callable[..., Any], shape: tuple[int, ...]) -> None:
    symbol = make(mx.sym.Variable("x"))
    assert symbol.infer_shape(x=(2, 2)) == ([(2, 2)], [shape], [])
    executor = symbol.simple_bind(mx.cpu(), x=(2, 2), grad_req="null")
    assert executor.forward()[0].shape == shape
    with pytest.warns(UserWarning, match="Cannot decide shape"):
        assert symbol.infer_shape(x=(0, 2)) == (None, None, None)
    assert mx.sym.eye(0).infer_shape() == ([], [(0, 0)], [])


@pytest.mark.clause("infer/unknown-sides")
@pytest.mark.parametrize("active", [False, True])
def test_a_side_below_minus_1_is_refused(active: bool) -> None:
    with mx.util.np_shape(active), pytest.raises(mx.MXNetError, match="must be >= -1") as caught:
        net().infer_shape(a=(-2, 3))
    assert caught.value.clause == "infer/unknown-sides"


def test_what_np_shape_mode_shows_are_plain_numbers() -> None:
    with mx.util.np_shape():
        arguments, outputs, _ = net().infer_shape_partial(a=(-1, 3))
    assert {type(side) for shape in (*arguments, *outputs) for side in shape} == {int}


# --- arrays --------------------------------------------------------------------------------------

RESULTS: list[tuple[str, Callable[[], Any], tuple[int, ...], Any]] = [
    ("zeros", lambda: Z((0, 2)), (0, 2), []),
    ("broadcast_add", lambda: mx.nd.broadcast_add(ONE((1, 2)), Z((0, 2))), (0, 2), []),
    ("sum", lambda: Z((0, 2)).sum(), (1,), [0.0]),
    ("sum of an empty axis", lambda: mx.nd.sum(Z((0, 2)), axis=0), (2,), [0.0, 0.0]),
    ("prod", lambda: mx.nd.prod(Z((0, 2)), axis=0), (2,), [1.0, 1.0]),
    ("mean", lambda: mx.nd.mean(Z((0, 2)), axis=0), (2,), [np.nan, np.nan]),
    ("norm", lambda: mx.nd.norm(Z((0, 2)), axis=0), (2,), [0.0, 0.0]),
    ("argmax beside an empty axis", lambda: mx.nd.argmax(Z((0, 2)), axis=1), (0,), []),
    ("exp", lambda: mx.nd.exp(Z((0, 2))), (0, 2), []),
    ("FullyConnected", lambda: mx.nd.FullyConnected(  # fails
        Z((0, 2)), ONE((3, 2)), ONE((3,)), num_hidden=3), (0, 3), []),
    ("no columns", lambda: mx.nd.FullyConnected(  # fails
        Z((1, 0)), ONE((2, 0)), ONE((2,)), num_hidden=2), (1, 2), [[1, 1]]),
    ("dot", lambda: mx.nd.dot(Z((2, 0)), ONE((0, 1))), (2, 1), [[0.0], [0.0]]),  # dies
    ("dot of no rows", lambda: mx.nd.dot(Z((0, 3)), ONE((3, 2))), (0, 2), []),
    ("batch_dot", lambda: mx.nd.batch_dot(Z((1, 2, 0)), ONE((1, 0, 1))), (1, 2, 1), [[[0.0], [0.0]]]),
    ("concat", lambda: mx.nd.concat(Z((0, 2)), ONE((1, 2)), dim=0), (1, 2), [[1.0, 1.0]]),
    ("stack", lambda: mx.nd.stack(Z((0, 2)), Z((0, 2))), (2, 0, 2), [[], []]),
    ("softmax", lambda: mx.nd.softmax(Z((2, 0))), (2, 0), [[], []]),
    ("uniform", lambda: mx.nd.random.uniform(shape=(0, 2)), (0, 2), []),
    ("slice of empty", lambda: mx.nd.slice(Z((0, 2)), begin=(None, 1), end=(None, 2)), (0, 1), []),
    ("slice_like", lambda: mx.nd.slice_like(Z((3, 2)), Z((0, 2))), (0, 2), []),
    ("indexing", lambda: Z((3, 2))[1:1], (0, 2), []),
    ("sort", lambda: mx.nd.sort(Z((0, 2))), (0, 2), []),
    ("argsort", lambda: mx.nd.argsort(Z((2, 0))), (2, 0), [[], []]),
    ("BatchNorm", lambda: mx.nd.BatchNorm(Z((0, 2)), ONE((2,)), ONE((2,)), ONE((2,)), ONE((2,))), (0, 2), []),
    ("LayerNorm", lambda: mx.nd.LayerNorm(Z((0, 2)), ONE((2,)), ONE((2,))), (0, 2), []),
    ("Embedding", lambda: mx.nd.Embedding(Z((0,)), ONE((3, 2)), input_dim=3, output_dim=2), (0, 2), []),
    ("take", lambda: mx.nd.take(ONE((3, 2)), Z((0,))), (0, 2), []),
    ("pick", lambda: mx.nd.pick(Z((0, 2)), Z((0,))), (0,), []),
    ("one_hot", lambda: mx.nd.one_hot(Z((0,)), 3), (0, 3), []),
    ("where", lambda: mx.nd.where(Z((0, 2)), Z((0, 2)), Z((0, 2))), (0, 2), []),
    ("tile", lambda: mx.nd.tile(Z((0, 2)), reps=(2, 2)), (0, 4), []),
    ("repeat", lambda: mx.nd.repeat(Z((0, 2)), repeats=2, axis=1), (0, 4), []),
    ("transpose", lambda: mx.nd.transpose(Z((0, 2))), (2, 0), [[], []]),
    ("squeeze", lambda: mx.nd.squeeze(Z((1, 0, 2))), (0, 2), []),
    ("scatter_nd", lambda: mx.nd.scatter_nd(Z((0,)), Z((2, 0)), shape=(1, 2)), (1, 2), [[0.0, 0.0]]),
    ("gather_nd", lambda: mx.nd.gather_nd(ONE((3, 2)), Z((2, 0))), (0,), []),
    ("reshape copies", lambda: mx.nd.reshape(Z((0, 3, 4)), shape=(0, -1)), (0, 12), []),  # dies
    ("reshape shares", lambda: mx.nd.reshape(Z((0, 3)), shape=(-1, 3)), (0, 3), []),  # fails
    ("flatten", lambda: mx.nd.flatten(Z((0, 3, 4))), (0, 12), []),  # fails
    ("Convolution", lambda: mx.nd.Convolution(  # fails
        Z((0, 2, 5, 5)), ONE((3, 2, 3, 3)), no_bias=True, kernel=(3, 3), num_filter=3), (0, 3, 3, 3), []),
    ("linalg.gemm2", lambda: mx.nd.linalg.gemm2(Z((1, 0)), ONE((0, 2))), (1, 2), [[0.0, 0.0]]),
    ("potrf", lambda: mx.nd.linalg.potrf(Z((0, 2, 2))), (0, 2, 2), []),
    ("all_finite", lambda: mx.nd.all_finite(Z((0, 2))), (1,), [1.0]),
    ("shape_array", lambda: mx.nd.shape_array(Z((0, 2))), (2,), [0, 2]),
    ("histogram", lambda: mx.nd.histogram(Z((0,)), bins=3, range=(0, 1))[0], (3,), [0, 0, 0]),
    ("SequenceMask", lambda: mx.nd.SequenceMask(Z((0, 2, 3))), (0, 2, 3), []),  # dies
    ("depth_to_space", lambda: mx.nd.depth_to_space(Z((0, 4, 2, 2)), 2), (0, 1, 4, 4), []),  # fails
    ("space_to_depth", lambda: mx.nd.space_to_depth(Z((1, 0, 2, 2)), 2), (1, 0, 1, 1), [[]]),  # fails
    ("diag one place outside", lambda: mx.nd.diag(ONE((2, 3)), k=3), (0,), []),
    ("diag further outside", lambda: mx.nd.diag(ONE((2, 3)), k=-3), (0,), []),  # fails
    ("samples", lambda: mx.nd.random.uniform(ONE((2,)), ONE((2,)), shape=(0,)), (2, 0), [[], []]),  # fails
    ("makediag", lambda: mx.nd.linalg.makediag(Z((2, 0))), (2, 0, 0), [[], []]),
    ("makediag beside", lambda: mx.nd.linalg.makediag(Z((2, 0)), offset=1), (2, 1, 1), [[[0.0]], [[0.0]]]),
    ("maketrian", lambda: mx.nd.linalg.maketrian(Z((0,)), offset=-1), (1, 1), [[0.0]]),
    ("shuffle", lambda: mx.nd.random.shuffle(Z((0, 2))), (0, 2), []),  # dies
]


@pytest.mark.clause("operator/empty")
@pytest.mark.parametrize(("call", "shape", "values"), [row[1:] for row in RESULTS], ids=[row[0] for row in RESULTS])
def test_results_of_empty_arrays(call: Callable[[], Any], shape: tuple[int, ...], values: Any) -> None:
    found = call()
    assert found.shape == shape
    np.testing.assert_array_equal(found.asnumpy().tolist(), values)


@pytest.mark.clause("operator/nothing-to-choose")
@pytest.mark.parametrize("call", [
    lambda: mx.nd.max(Z((0, 2)), axis=0),
    lambda: mx.nd.min(Z((0, 2))),
    lambda: mx.nd.argmax(Z((0, 2)), axis=0),
    lambda: mx.nd.argmin(Z((2, 0))),
    lambda: mx.nd.take(Z((0, 2)), Z((1,))),
    lambda: mx.nd.pick(Z((2, 0)), Z((2,))),
    lambda: mx.nd.batch_take(Z((2, 0)), Z((2,), dtype="int32")),
    lambda: mx.nd.gather_nd(Z((0, 2)), Z((1, 3))),
    lambda: mx.nd.SequenceLast(Z((0, 2, 3))),
    lambda: mx.nd.sample_multinomial(Z((2, 0))),
    lambda: mx.nd.softmax_cross_entropy(Z((2, 0)), Z((2,))),
    lambda: mx.nd.contrib.BilinearResize2D(Z((1, 1, 0, 2)), height=2, width=2),
    lambda: mx.nd.contrib.ROIAlign(Z((1, 1, 0, 2)), Z((1, 5)), pooled_size=(1, 1), spatial_scale=1.0),
    lambda: mx.nd.linalg.det(Z((2, 0, 0))),
])
def test_nothing_is_chosen_among_no_elements(call: Callable[[], Any]) -> None:
    with pytest.raises(mx.MXNetError) as caught:
        call()
    assert caught.value.clause == "operator/nothing-to-choose"


def test_topk_of_an_empty_axis_is_refused() -> None:
    with pytest.raises(mx.MXNetError) as caught:
        mx.nd.topk(Z((0, 2)), axis=0)
    assert caught.value.clause == "topk/k"


@pytest.mark.parametrize(("clause", "call"), [
    ("elementwise/shape", lambda: mx.nd.elemwise_add(ONE((3,)), Z((0,)))),
    ("sgd/shape", lambda: mx.nd.sgd_mom_update(ONE((3, 2)), ONE((3, 2)), Z((3, 0)), lr=0.1)),
    ("FullyConnected/weight-shape", lambda: mx.nd.FullyConnected(ONE((2, 3)), Z((4, 0)), no_bias=True, num_hidden=4)),
])
def test_an_empty_array_is_not_one_of_unknown_shape(clause: str, call: Callable[[], Any]) -> None:
    with pytest.raises(mx.MXNetError) as caught:
        call()
    assert caught.value.clause == clause


def test_an_empty_batch_is_bound_and_trained() -> None:
    with mx.util.np_shape():
        bound = net().simple_bind(mx.cpu(), a=(0, 3))
    bound.arg_dict["fc_weight"][:] = 1
    bound.forward(is_train=True)
    bound.backward([mx.nd.ones((0, 4))])
    assert bound.outputs[0].shape == (0, 4)
    assert {name: g.asnumpy().tolist() for name, g in bound.grad_dict.items()} == {
        "a": [], "fc_weight": [[0.0] * 3] * 4, "fc_bias": [0.0] * 4,
    }


def test_an_empty_weight_cannot_be_bound_in_place_of_another() -> None:
    arrays = {"a": ONE((2, 3)), "fc_weight": Z((4, 0)), "fc_bias": ONE((4,))}
    with pytest.raises(mx.MXNetError) as caught:
        net().bind(mx.cpu(), arrays)
    assert caught.value.clause == "FullyConnected/weight-shape"


def test_the_gradient_of_an_empty_array_is_empty() -> None:
    x = Z((0, 2))
    x.attach_grad()
    with mx.autograd.record():
        y = (x * 2).sum()
    y.backward()
    assert x.grad.shape == (0, 2) and y.asscalar() == 0.0


# --- the check before every call -----------------------------------------------------------------


def buffers(*shapes: tuple[int, ...]) -> list[Buffer]:
    return [as_buffer(np.zeros(shape, np.float32)) for shape in shapes]


@pytest.mark.clause("operator/output-shape")
def test_memory_of_another_shape_is_no_output() -> None:
    op = get("transpose")
    with pytest.raises(mx.MXNetError) as caught:
        runner.forward(op, op.params(), buffers((2, 3)), buffers((2, 3)))
    assert caught.value.clause == "operator/output-shape"


@pytest.mark.clause("types/half")
def test_memory_of_half_precision_takes_a_result_that_is_rounded_once() -> None:
    op = get("elemwise_add")
    ins = [as_buffer(np.array([value], np.float32)) for value in (1, 2**-11 + 2**-20)]
    for kind, expected in ((np.float32, 1 + 2**-11 + 2**-20), (np.float16, 1 + 2**-10)):
        out = as_buffer(np.zeros(1, kind))
        runner.forward(op, op.params(), ins, [out])
        assert out.to_numpy().dtype == kind
        assert out.to_numpy().tolist() == [expected]


@pytest.mark.clause("operator/input-shape")
def test_an_input_that_a_page_lets_pass_is_refused() -> None:
    # a page whose infer answers with the shape of the first input, whatever the second one has
    lax = replace(get("elemwise_add"), infer=lambda p, ins, outs: ([ins[0]] * 2, [ins[0]]))
    with pytest.raises(mx.MXNetError) as caught:
        runner.plan(lax, lax.params(), buffers((3,), (2,)))
    assert caught.value.clause == "operator/input-shape"
    assert "rhs has shape [2], expected [3]" in str(caught.value)
    node = Node(lax, "sum", {}, [mx.sym.Variable(name).entries[0] for name in "ab"])
    with pytest.raises(mx.MXNetError) as caught:
        mx.Symbol([Entry(node, 0)]).infer_shape(a=(3,), b=(2,))
    assert caught.value.clause == "operator/input-shape"


@pytest.mark.clause("operator/input-shape")
def test_a_plan_is_kept_until_the_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict = {}
    monkeypatch.setattr(runner, "_PLANS", kept)
    monkeypatch.setattr(runner, "_LIMIT", 2)
    op = get("dot")
    sizes = []
    for shapes in ((2, 3), (3, 4)), ((2, 3), (3, 5)), ((2, 3), (3, 5)), ((3, 2), (2, 3)):
        assert runner.plan(op, op.params(), buffers(*shapes)).results[0][0] == (shapes[0][0], shapes[1][1])
        sizes.append(len(kept))
    assert sizes == [1, 2, 2, 1]


@pytest.mark.clause("operator/gradient-shape")
def test_a_gradient_has_the_shape_of_what_it_belongs_to() -> None:
    op = get("dot")
    head, left, right = buffers((2, 4), (2, 3), (3, 4))
    with pytest.raises(mx.MXNetError) as caught:
        runner.check_backward(op, op.params(), [head], [left, right], buffers((3, 2), (3, 4)))
    assert caught.value.clause == "operator/gradient-shape"
    runner.check_backward(op, op.params(), [head], [left, right], buffers((2, 3), (3, 4)))
