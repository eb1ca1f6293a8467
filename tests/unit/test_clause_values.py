"""Values on both sides of a clause's border: what a page's single example leaves open."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refimpl import io
from refimpl.kernels import get, grad, run
from refimpl.kernels.foundation import MXNetError
from refimpl.kernels.foundation.harness import Call


@pytest.mark.clause("BatchNorm/fix-gamma")
def test_gamma_is_set_to_one_for_the_gradient_too() -> None:
    # x = 1, 3 with eps 0 in evaluation: the gradient is head * 1 / sqrt(4), whatever gamma was given meanwhile
    arrays = [np.array(a, np.float32) for a in ([[1], [3]], [5], [0], [0], [4])]
    call = Call("BatchNorm", arrays, {"eps": 0})
    call.forward(is_train=False)
    call.ins[1].fill_from(np.array([7.0]))
    found = call.backward([np.array([[1.0], [2.0]])], is_train=False)[0]
    assert found is not None and found.tolist() == [[0.5], [1.0]]
    assert call.ins[1].to_numpy().tolist() == [1]


@pytest.mark.clause("lars/rate")
def test_lengths_below_one_are_lengths() -> None:
    # w = 0.5 and g = 0.25: 2 * 3 * 0.5 / (1 * 0.25 + 0 * 0.5 + 0.5)
    assert run("multi_lars", [2], [0.25], [0.0625], [0], eta=3, eps=0.5) == [4.0]


@pytest.mark.clause("NDArrayIter/before-first")
def test_the_first_batch_may_be_one_row() -> None:
    rows = io.NDArrayIter(np.array([[1.0], [2.0]]), batch_size=1)
    with pytest.raises(MXNetError):
        rows.getdata()
    assert rows.iter_next()
    assert rows.getdata()[0].asnumpy().tolist() == [[1]]


@pytest.mark.clause("Pooling/average")
def test_a_window_in_the_padding_is_empty() -> None:
    options = {"kernel": (1,), "pad": (1,), "pool_type": "avg", "count_include_pad": False}
    assert run("Pooling", [[[2]]], **options) == [[[0.0, 2.0, 0.0]]]


@pytest.mark.clause("erfinv/value", "erfinv/slope")
@pytest.mark.parametrize("x", [1e-300, 1e-10, 0.25, 0.5, 0.75, 1 - 2.0**-40])
def test_erfinv_to_its_last_digits(x: float) -> None:
    y = float(Call("erfinv", [np.array([x])], {}).forward()[0][0])
    found, wanted = (math.erfc(y), 1 - x) if x > 0.5 else (math.erf(y), x)
    assert abs(found - wanted) <= 2e-14 * wanted * max(1.0, y * y)  # as exactly as y is rounded


@pytest.mark.clause("_contrib_Proposal/anchors", "_contrib_Proposal/cycle")
def test_scales_are_taken_in_order() -> None:
    # by hand: one pixel of 16, whose anchors 0 .. 15 and -8 .. 23 are cut at 0; the scores are 0.9 and 0.8
    scores, deltas = [[[[0]], [[0]], [[0.9]], [[0.8]]]], [[[[0]]] * 8]
    options = {"scales": (1, 2), "ratios": (1,), "rpn_min_size": 0, "rpn_post_nms_top_n": 3}
    found = run("_contrib_Proposal", scores, deltas, [[30, 30, 1]], **options)
    assert found == [[0, 0, 0, 15, 15], [0, 0, 0, 23, 23], [0, 0, 0, 15, 15]]


@pytest.mark.clause("rmsprop/centred", "rmsprop/step")
def test_averages_of_rmsprop_change_in_place() -> None:
    arrays = [np.array(a, np.float64) for a in ([1], [2], [16], [3], [5])]
    call = Call("rmspropalex_update", arrays, {"lr": 1, "gamma1": 0.5, "gamma2": 0.5, "epsilon": 0})
    # n' = 8 + 2, g' = 1.5 + 1, delta' = 2.5 - 2 / sqrt(10 - 6.25)
    moved = 2.5 - 2 / math.sqrt(3.75)
    np.testing.assert_allclose(call.forward()[0], [1 + moved], rtol=1e-6)
    for given, wanted in zip(call.ins[2:], (10, 2.5, moved), strict=True):
        np.testing.assert_allclose(given.to_numpy(), [wanted], rtol=1e-6)
    call = Call("rmsprop_update", arrays[:3], {"lr": 1, "gamma1": 0.5, "epsilon": 0})
    np.testing.assert_allclose(call.forward()[0], [1 - 2 / math.sqrt(10)], rtol=1e-6)
    np.testing.assert_allclose(call.ins[2].to_numpy(), [10], rtol=1e-6)


@pytest.mark.clause("adadelta/step")
def test_averages_of_adadelta_change_in_place() -> None:
    # squares 7 + 2 = 9, delta = sqrt(9) / sqrt(9) * 2 = 2, deltas 4.5 + 2
    call = Call("_adadelta_step", [np.array(a, np.float64) for a in ([5], [2], [14], [9])], {"rho": 0.5, "epsilon": 0})
    assert call.forward()[0].tolist() == [3]
    assert [given.to_numpy().tolist() for given in call.ins[2:]] == [[9], [6.5]]


@pytest.mark.clause("_zeros_without_dtype/shape", "_zeros_without_dtype/dtype")
def test_zeros_have_the_type_that_is_given() -> None:
    op = get("_zeros_without_dtype")
    for number, found in ((0, np.float32), (1, np.float64), (-1, None)):
        assert op.infer_type(op.parse({"shape": (2,), "dtype": number}), [], [None]) == ([], [found])
    assert op.infer_type(op.parse({"shape": (2,)}), [], [np.dtype(np.int8)]) == ([], [np.dtype(np.int8)])


@pytest.mark.clause("softmax/type")
def test_types_of_softmax() -> None:
    op = get("softmax")
    half, single, double = (np.dtype(t) for t in ("float16", "float32", "float64"))
    plain, wide = op.parse({}), op.parse({"dtype": "float64"})
    assert op.infer_type(plain, [single], [None]) == ([single], [single])
    assert op.infer_type(plain, [None], [half]) == ([half], [half])
    assert op.infer_type(wide, [single], [None]) == ([single], [double])
    assert op.infer_type(wide, [None], [None]) == ([double], [double])
    assert op.infer_type(plain, [None], [None]) == ([None], [None])


@pytest.mark.clause("_contrib_box_nms/gradient", "_contrib_box_nms/order")
def test_the_head_of_a_removed_row_goes_nowhere() -> None:
    boxes = [[0, 0.5, 0, 0, 4, 4], [1, 0.25, 0, 0, 4, 4]]
    assert run("_contrib_box_nms", boxes) == [boxes[0], [-1.0] * 6]
    assert grad("_contrib_box_nms", boxes, head=[[1] * 6, [10] * 6]) == [[1.0] * 6, [0.0] * 6]


@pytest.mark.clause("_contrib_box_iou/value")
def test_every_pair_of_centers() -> None:
    # corners (0, 0, 2, 2), (4, 2, 6, 6) and (1, 1, 3, 3), (3, 5.5, 7, 6.5): 1 of 7 and 1 of 11
    left, right = [[1, 1, 2, 2], [5, 4, 2, 4]], [[2, 2, 2, 2], [5, 6, 4, 1]]
    assert run("_contrib_box_iou", left, right, format="center") == [[0.142857, 0.0], [0.0, 0.090909]]


@pytest.mark.clause("_contrib_box_encode/empty", "_contrib_box_encode/value")
def test_empty_boxes_beside_others() -> None:
    # a box without width, one without height, and an anchor without width; MXNet 1.9.1 gives the same
    anchors, boxes = [[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 0, 1]], [[0, 0, 0, 1], [0, 0, 1, 0]]
    given = [[1, 1, 1]], [[0, 1, 0]], [anchors], [boxes], (1, 2, 3, 4), (1, 2, 4, 8)
    found, masks = Call("_contrib_box_encode", [np.array(a, np.float32) for a in given], {}).forward()
    none = math.inf
    wanted = [[-1.5, -1, -none, -0.5], [-1, -1.25, -0.75, -none], [math.nan, -1, math.nan, -0.5]]
    np.testing.assert_array_equal(found, [wanted])
    np.testing.assert_array_equal(masks, np.ones((1, 3, 4)))


@pytest.mark.clause("RNN/parameters", "RNN/layers")
def test_three_layers_of_a_network() -> None:
    # W is 2, 3, 5, R is 0, b is 1, 10, 100, c is 0: 2 + 1 = 3, 9 + 10 = 19, 95 + 100 = 195
    weights = [2, 0, 3, 0, 5, 0, 1, 0, 10, 0, 100, 0]
    options = {"mode": "rnn_relu", "state_size": 1, "num_layers": 3}
    assert run("RNN", [[[1]]], weights, [[[0]]] * 3, **options) == [[[195.0]]]


@pytest.mark.clause("_split_v2/gradient")
def test_heads_of_three_rows_are_laid_side_by_side() -> None:
    call = Call("_split_v2", [np.zeros((3, 3), np.float32)], {"indices": (0, 2)})
    call.forward()
    found = call.backward([np.array([[1, 2], [3, 4], [7, 8]]), np.array([[5], [6], [9]])])[0]
    assert found is not None and found.tolist() == [[1, 2, 5], [3, 4, 6], [7, 8, 9]]


@pytest.mark.clause("Correlation/formula")
def test_pixels_of_two_images() -> None:
    # one pixel each, which meets the other image's pixel where neither is moved, and zeros elsewhere
    found = run("Correlation", [[[[2]]], [[[3]]]], [[[[5]]], [[[7]]]], max_displacement=1, pad_size=1)
    assert np.array(found).reshape(2, 9).tolist() == [[0] * 4 + [10] + [0] * 4, [0] * 4 + [21] + [0] * 4]


@pytest.mark.clause("SliceChannel/gradient")
def test_heads_of_two_channels_are_laid_side_by_side() -> None:
    call = Call("SliceChannel", [np.zeros((2, 4), np.float32)], {"num_outputs": 2})
    call.forward()
    found = call.backward([np.array([[1, 2], [5, 6]]), np.array([[3, 4], [7, 8]])])[0]
    assert found is not None and found.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]


@pytest.mark.clause("sgd/step", "sgd/master")
def test_a_step_on_a_float32_copy() -> None:
    arrays = [np.array([1], np.float16), np.array([2], np.float16), np.array([1.25], np.float32)]
    call = Call("mp_sgd_update", arrays, {"lr": 0.5})
    assert call.forward()[0].tolist() == [0.25]
    assert call.ins[2].to_numpy().tolist() == [0.25]


@pytest.mark.clause("softmax/gradient")
def test_the_slope_of_log_softmax_of_two_rows() -> None:
    # equal numbers have probability 1/2: head less half of its row's sum
    found = grad("log_softmax", [[0, 0], [7, 7]], head=[[1, 3], [10, 2]])
    assert found == [[-1.0, 1.0], [4.0, -4.0]]


@pytest.mark.clause("SoftmaxActivation/gradient")
def test_the_slope_of_softmax_of_two_rows() -> None:
    # equal numbers have probability 1/2: half of head less the mean of its row
    found = grad("SoftmaxActivation", [[0, 0], [7, 7]], head=[[1, 3], [10, 2]])
    assert found == [[-0.5, 0.5], [2.0, -2.0]]


@pytest.mark.clause("softmax/formula")
def test_the_last_number_may_be_the_largest() -> None:
    assert run("log_softmax", [0, 1000]) == [-1000.0, 0.0]
    assert run("softmax", [0, 1000]) == [0.0, 1.0]


@pytest.mark.clause("LeakyReLU/functions")
def test_elu_on_both_sides_of_zero() -> None:
    # exp(-0.5) - 1
    assert run("LeakyReLU", [-0.5, 0, 0.5], act_type="elu", slope=1) == [-0.393469, 0.0, 0.5]


@pytest.mark.clause("linalg_parts/diagonal")
def test_a_diagonal_below_the_main_one() -> None:
    assert run("_linalg_extractdiag", [[0, 1, 2], [3, 4, 5], [6, 7, 8]], offset=-1) == [3.0, 7.0]


@pytest.mark.clause("diag/gradient")
def test_the_diagonal_of_a_matrix_that_was_made() -> None:
    # axis1 and axis2 are for arrays of more axes: what was made of one axis has its diagonal k above the main one
    head = [[0, 3, 0], [7, 0, 5], [0, 8, 0]]
    assert grad("diag", [1, 2], k=1, axis1=1, axis2=0, head=head) == [3.0, 5.0]


@pytest.mark.clause("_contrib_ROIAlign/image")
def test_a_region_of_the_image_beside_one_of_none() -> None:
    # points at -4.5, -1.5, 1.5, 4.5 and -6, -2, 2, 6, of which only (1.5, 2) lies on the map: 9 of 16 points
    image = np.arange(1, 17).reshape(1, 1, 4, 4).tolist()
    rois = [[0, -8, -6, 8, 6], [1, -8, -6, 8, 6]]
    assert run("_contrib_ROIAlign", image, rois, pooled_size=(1, 1), spatial_scale=1, sample_ratio=4) == [
        [[[0.5625]]], [[[0.0]]]
    ]


@pytest.mark.clause("sequence/length")
def test_types_of_sequences() -> None:
    op = get("SequenceMask")
    single, double = np.dtype(np.float32), np.dtype(np.float64)
    p = op.parse({"use_sequence_length": True})
    for given, out in ((single, None), (None, single), (single, single)):
        assert op.infer_type(p, [given, None], [out]) == ([single, single], [single])
    with pytest.raises(MXNetError) as caught:
        op.infer_type(p, [single, None], [double])
    assert caught.value.clause == "sequence/length"


def attention(parts: int, times: int) -> np.ndarray:
    """Whole numbers (times, batch, heads, parts, size), for a batch of 3 and 2 heads of size 4."""
    return np.random.default_rng(parts).integers(-4, 5, (times, 3, 2, parts, 4)).astype(float)


@pytest.mark.clause("interleaved_matmul/gradient")
@pytest.mark.parametrize("alone", [True, False], ids=["selfatt", "encdec"])
def test_gradients_of_attention_with_two_heads(alone: bool) -> None:
    # the products by NumPy's einsum, where n is the batch, h the head, i and j the times of queries and keys
    name, shape = f"_contrib_interleaved_matmul_{'selfatt' if alone else 'encdec'}", (6, 5, 5 if alone else 7)
    keyed = attention(3 if alone else 2, shape[2])
    queries = keyed[..., 0, :] if alone else attention(1, 5)[..., 0, :]
    keys, values = keyed[..., -2, :], keyed[..., -1, :]
    head = np.random.default_rng(9).integers(-4, 5, shape).astype(float)
    split = head.reshape(3, 2, *shape[1:])
    flat = [a.reshape(len(a), 3, -1) for a in ((keyed,) if alone else (queries, keyed))]

    call = Call(f"{name}_qk", flat, {"heads": 2})
    call.forward()
    slopes = np.zeros_like(keyed)
    slopes[..., -2, :] = np.einsum("nhij,inhd->jnhd", split, queries) / 2
    of_queries = np.einsum("nhij,jnhd->inhd", split, keys) / 2
    if alone:
        slopes[..., 0, :] = of_queries
    wanted = [slopes] if alone else [of_queries, slopes]
    for found, right in zip(call.backward([head]), wanted, strict=True):
        np.testing.assert_array_equal(found, right.reshape(len(right), 3, -1))

    call = Call(f"{name}_valatt", [flat[-1], head], {"heads": 2})
    out = np.random.default_rng(8).integers(-4, 5, call.forward()[0].shape).astype(float)
    parts = out.reshape(5, 3, 2, 4)
    slopes = np.zeros_like(keyed)
    slopes[..., -1, :] = np.einsum("nhij,inhd->jnhd", split, parts)
    of_weights = np.einsum("inhd,jnhd->nhij", parts, values).reshape(shape)
    for found, right in zip(call.backward([out]), (slopes.reshape(flat[-1].shape), of_weights), strict=True):
        np.testing.assert_array_equal(found, right)
