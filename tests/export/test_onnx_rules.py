"""Every ONNX rule against the operator's page: drawn calls, run in ONNX Runtime, each judged by its own bound."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels.foundation import get
from refimpl.onnx.building import Builder, Free, NoForm, product
from refimpl.onnx.converting import converted
from refimpl.onnx.rule_table import RULES

from .onnx_running import drawn, lone, numbers, run, wrong

DRAWN = ("_random_", "_sample_multinomial")
"""Beginnings of the names of operators whose numbers are drawn: another stream, the same distribution."""
OTHERS_TYPE = ("softmax", "softmin", "log_softmax")
"""Those that compute in the type of data and give another, which the bound of the result's type knows nothing of."""
NOT_FROM_22 = ("ROIPooling", "_contrib_ROIAlign")
"""What ONNX Runtime has until opset 21 only."""
FIXED = sorted(name for name in RULES if not name.startswith(DRAWN))


def checked(name, seed, opset=None):
    """Whether a drawn call has a form; where it has, its numbers are right."""
    prediction, given = drawn(name, seed)
    node = prediction.symbol.entries[0].node
    if name in OTHERS_TYPE and node.params.dtype == "float64":
        return False
    try:
        values = run(prediction, given, opset)
    except mx.MXNetError as error:
        assert error.clause == "Onnx/no-form"
        return False
    assert wrong(prediction, given, values) == []
    return True


@pytest.mark.clause("Onnx/rules")
@pytest.mark.parametrize("name", FIXED)
def test_a_rule_computes_what_the_page_computes(name):
    found = [checked(name, seed) for seed in range(3)]
    assert any(found) or any(checked(name, seed) for seed in range(3, 20))


@pytest.mark.heavy
@pytest.mark.clause("Onnx/rules", "Onnx/opset")
@pytest.mark.parametrize("opset", [18, 20, 21, 23])
@pytest.mark.parametrize("name", FIXED)
def test_a_rule_holds_in_later_versions(name, opset):
    if opset == 18 and "Deformable" in name:
        pytest.skip("DeformConv came with opset 19")
    if opset > 21 and name in NOT_FROM_22:
        pytest.skip("ONNX Runtime has it until opset 21 only")
    found = [checked(name, seed, opset) for seed in range(12)]
    assert any(found)


@pytest.mark.clause("Onnx/rules")
def test_every_operator_that_mxnet_exports_has_a_rule():
    named = """
        Activation BatchNorm BlockGrad Cast Concat Convolution Crop Deconvolution Dropout Embedding Flatten
        FullyConnected InstanceNorm L2Normalization LRN LayerNorm LeakyReLU LogisticRegressionOutput MakeLoss Pad
        Pooling RNN ROIPooling Reshape SequenceMask SequenceReverse SliceChannel SoftmaxOutput SwapAxis UpSampling
        _arange _contrib_AdaptiveAvgPooling2D _contrib_BilinearResize2D _contrib_ROIAlign _contrib_arange_like
        _contrib_box_decode _contrib_box_nms _contrib_div_sqrt_dim _contrib_interleaved_matmul_selfatt_qk
        _contrib_interleaved_matmul_selfatt_valatt _copy _div_scalar _equal_scalar _greater_scalar _lesser_scalar
        _linalg_gemm2 _maximum _maximum_scalar _minimum _minimum_scalar _minus_scalar _mul_scalar _ones _plus_scalar
        _power _power_scalar _random_normal _random_uniform _random_uniform_like _rdiv_scalar _rminus_scalar
        _rnn_param_concat _sample_multinomial _split_v2 _zeros abs add_n arccos arcsin arctan argmax argmin argsort
        batch_dot broadcast_add broadcast_axis broadcast_div broadcast_equal broadcast_greater
        broadcast_greater_equal broadcast_lesser broadcast_lesser_equal broadcast_like broadcast_logical_and
        broadcast_logical_or broadcast_logical_xor broadcast_minimum broadcast_mod broadcast_mul broadcast_not_equal
        broadcast_power broadcast_sub broadcast_to ceil clip cos depth_to_space dot elemwise_add elemwise_div
        elemwise_mul elemwise_sub exp expand_dims floor gather_nd hard_sigmoid identity log log2 log_softmax
        logical_not max mean min negative norm null one_hot ones_like prod reciprocal relu repeat reshape_like
        reverse shape_array sigmoid sin size_array slice slice_axis slice_like softmax space_to_depth sqrt square
        squeeze stack sum sum_axis take tan tanh tile topk transpose where zeros_like
    """.split()
    assert set(named) <= set(mx.onnx.get_operator_support())


# --- by hand: numbers of the operators' clauses ---------------------------------------------------------


@pytest.mark.clause("Onnx/pooling")
@pytest.mark.parametrize(
    ("params", "data", "expected"),
    [
        ({"kernel": 2, "stride": 2, "pooling_convention": "full"}, [1, 3, 2], [3, 2]),
        ({"kernel": 2, "stride": 2, "pooling_convention": "full", "pool_type": "avg"}, [2, 4, 6], [3, 6]),
        ({"kernel": 2, "pad": 1, "pool_type": "avg"}, [2, 4, 6], [1, 3, 5, 3]),
        ({"kernel": 2, "pad": 1, "pool_type": "avg", "count_include_pad": False}, [2, 4, 6], [2, 3, 5, 6]),
        ({"kernel": 3, "stride": 3, "pad": 1, "pooling_convention": "full", "pool_type": "avg"}, [3, 6, 9, 12],
         [3, 7]),
    ],
)
def test_windows_at_the_border(params, data, expected):
    assert numbers("Pooling", params, [np.float32([[data]])])[0, 0].tolist() == expected


@pytest.mark.clause("Onnx/deconvolution")
def test_deconvolution_with_adj_and_target_shape():
    arrays = [np.float32([[[1, 2]]]), np.float32([[[1, 10, 100]]])]
    options = {"kernel": 3, "num_filter": 1, "stride": 2}
    assert numbers("Deconvolution", {**options, "pad": 1, "adj": 1}, arrays).tolist() == [[[10, 102, 20, 200]]]
    assert numbers("Deconvolution", {**options, "target_shape": 4}, arrays).tolist() == [[[10, 102, 20, 200]]]


@pytest.mark.clause("Onnx/indices")
def test_indices_outside():
    table, at = np.float32([1, 2, 3]), np.float32([-1, 4])
    assert numbers("take", {}, [table, at]).tolist() == [1, 3]
    assert numbers("take", {"mode": "wrap"}, [table, at]).tolist() == [3, 2]
    rows = np.float32([[1, 2], [3, 4], [5, 6]])
    found = numbers("Embedding", {"input_dim": 3, "output_dim": 2}, [np.float32([0, 1.7, -1, 9]), rows])
    assert found.tolist() == [[1, 2], [3, 4], [1, 2], [5, 6]]
    assert numbers("one_hot", {"depth": 3}, [np.float32([1, 3, -1])]).tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


@pytest.mark.clause("Onnx/detection")
def test_an_overlap_of_exactly_the_threshold():
    scores, anchors = np.float32([[[0, 0], [0.25, 0.5]]]), np.float32([[[0, 0, 1, 1], [0, 0, 1, 0.5]]])
    found = numbers("_contrib_MultiBoxDetection", {}, [scores, np.zeros((1, 8), np.float32), anchors])
    assert found.tolist() == [[[0, 0.5, 0, 0, 1, 0.5], [-1, 0.25, 0, 0, 1, 1]]]
    boxes = np.float32([[0, 0.5, 0, 0, 2, 1], [1, 0.25, 0, 0, 1, 1]])
    found = numbers("_contrib_box_nms", {"overlap_thresh": 0.5}, [boxes])
    assert found.tolist() == boxes.tolist()  # exactly that much is allowed here


@pytest.mark.clause("Onnx/half-steps")
def test_several_steps_of_half_precision_are_single_precision():
    half = [np.float16([[300, 0]]), np.float16([[400, 0]])]
    assert numbers("_hypot", {}, half).tolist() == [[500, 0]]
    rows = [np.float16([[0, 0], [3, 4]])]
    assert numbers("L2Normalization", {}, rows).tolist() == [[0, 0], [0.60009765625, 0.7998046875]]
    prediction, _ = lone("relu", {}, [np.float16([[-1, 2]])])
    graph = converted(prediction.symbol, prediction.params, prediction.inputs)
    assert [node.op for node in graph.builder.nodes] == ["Relu"]  # one step stays as it is


@pytest.mark.clause("Onnx/whole-numbers")
def test_parameters_beside_whole_numbers():
    bytes_, whole = np.uint8([7, 1, 254]), np.int32([7, -7, 5])
    assert numbers("clip", {"a_min": -2, "a_max": 3.5}, [bytes_]).tolist() == [3, 1, 3]
    assert numbers("_mod", {}, [whole, np.int32([3, 3, 0])]).tolist() == [1, 2, 0]
    assert numbers("_rmod_scalar", {"scalar": 2}, [np.int8([100, -100])]).tolist() == [2, -98]  # 2 * 100 is no int8
    for name, params, array in (
        ("_plus_scalar", {"scalar": -2}, bytes_), ("clip", {"a_min": -9, "a_max": -2}, bytes_),
        ("smooth_l1", {"scalar": 2}, whole), ("moments", {"axes": 0}, whole),
    ):
        prediction, given = lone(name, params, [array])
        with pytest.raises(mx.MXNetError) as caught:
            run(prediction, given)
        assert caught.value.clause == "Onnx/no-form", name
    prediction, given = lone("clip", {"a_min": 2, "a_max": 1}, [np.float32([0, 3])])
    with pytest.raises(mx.MXNetError, match="a_min is above its a_max"):
        run(prediction, given)


@pytest.mark.clause("Onnx/rules")
def test_lengths_of_one_row():
    arrays = [np.float32([0, 0, 5]), np.int32([2])]
    assert numbers("softmax", {"use_length": True}, arrays).tolist() == [0.5, 0.5, 0]


# --- refusals -------------------------------------------------------------------------------------------


@pytest.mark.clause("Onnx/no-form")
def test_an_operator_without_a_form_is_named():
    net = mx.sym.erfinv(mx.sym.tanh(mx.sym.Variable("data"), name="squash"), name="inverse")
    prediction = lone("relu", {}, [np.ones((2, 3), np.float32)])[0]._replace(
        symbol=net, inputs={"data": ((2, 3), np.dtype(np.float32))}
    )
    with pytest.raises(mx.MXNetError, match=r"erfinv has no form in ONNX \(layer inverse\).*--until squash") as caught:
        run(prediction, {})
    assert caught.value.clause == "Onnx/no-form"


@pytest.mark.clause("Onnx/no-form")
def test_parameters_without_a_form_are_named():
    prediction, given = lone("Dropout", {"mode": "always"}, [np.ones((2, 3), np.float32)])
    with pytest.raises(mx.MXNetError, match=r"mode always.*layer layer"):
        run(prediction, given)


@pytest.mark.clause("Onnx/opset")
def test_versions():
    prediction, given = lone("relu", {}, [np.float32([[-1, 2]])])
    with pytest.raises(mx.MXNetError, match="opset 16 is not written; give 17 to"):
        run(prediction, given, 16)
    arrays = [np.ones(shape, np.float32) for shape in ((1, 1, 3, 3), (1, 8, 2, 2), (1, 1, 2, 2))]
    params = {"kernel": (2, 2), "num_filter": 1, "no_bias": True}
    prediction, given = lone("_contrib_DeformableConvolution", params, arrays)
    with pytest.raises(mx.MXNetError, match="needs opset 19, and opset 18 was asked for"):
        run(prediction, given, 18)
    assert wrong(prediction, given, run(prediction, given)) == []  # the version follows, unless one is named


# --- what rules build with -----------------------------------------------------------------------------


@pytest.mark.clause("Onnx/free-batch")
def test_products_of_free_sides():
    found = product((Free(7), 3, 2))
    assert (int(found), found.factor) == (42, 6)
    assert not isinstance(product((2, 3)), Free)
    with pytest.raises(NoForm, match="two sides that follow the batch"):
        product((Free(7), Free(14, 2)))


def test_constants_are_kept_once():
    b = Builder()
    assert b.constant(1.0) == b.constant(1.0)
    assert len({b.constant(1.0), b.constant([1.0]), b.constant(1, np.int64)}) == 3
    assert b.named("x") != b.named("x")


def test_pages_of_rules_are_there():
    assert [name for name in RULES if get(name).name != name] == []
