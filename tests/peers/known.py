"""What is known to differ from MXNet 1.9.1: each row is a row of spec/reference/porting/deviations.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from refimpl.oracle.pages.draws import Example


class Call(NamedTuple):
    """One call of an operator, and how it is made."""

    of: Example
    is_train: bool
    special: bool = False
    among_layers: bool = False
    """Other layers stand before and behind the operator."""
    inference: bool = False
    """No gradients are bound."""
    readers: int = 1
    """How many layers read its outputs."""

    def has(self, **params: Any) -> bool:
        """Whether the parameters have these values."""
        return all(getattr(self.of.p, name) == value for name, value in params.items())

    @property
    def data(self) -> np.ndarray:
        """The first input."""
        return self.of.arrays[0]


class Known(NamedTuple):
    """Operators, what differs, and why.

    What differs are names of results. "call": do not even ask MXNet; "gradients": ask without; "before:NAME": ask
    with no layer before that input.
    """

    operators: str
    results: str
    clause: str
    when: Callable[[Call], Any] = lambda call: True


def lengths_out_of_range(call: Call) -> bool:
    """MXNet reads and writes beyond its memory then."""
    side = call.data.shape[call.of.p.axis]
    lengths = call.of.arrays[1]
    return call.of.p.axis < -1 or (lengths < 0).any() or (lengths > side).any()


def ctc_labels(call: Call) -> Iterator[tuple[int, list[float]]]:
    """Times and labels that count, row by row."""
    p, arrays = call.of.p, dict(zip(call.of.names, call.of.arrays, strict=True))
    end = 0 if p.blank_label == "first" else -1
    for row, label in enumerate(arrays["label"].tolist()):
        count = arrays["label_lengths"][row] if p.use_label_lengths else [*label, end].index(end)
        times = arrays["data_lengths"][row] if p.use_data_lengths else len(call.data)
        yield int(times), label[: int(count)]


def ctc_impossible(call: Call) -> bool:
    return any(
        len(label) + sum(a == b for a, b in pairwise(label)) > times for times, label in ctc_labels(call)
    )


RNN_RESULTS = "out0 out1 out2 grad:data grad:parameters grad:state grad:state_cell"
ATTENTION = " ".join(
    f"_contrib_interleaved_matmul_{n}" for n in ("selfatt_qk", "selfatt_valatt", "encdec_qk", "encdec_valatt")
)

def is_double(call: Call) -> bool:
    return call.data.dtype == np.float64


def smaller_than_whole(call: Call) -> bool:
    """Some side of the output is smaller than without pad."""
    p = call.of.p
    strides, dilates = ((*of,) or (1,) * len(p.kernel) for of in (p.stride, p.dilate))
    whole = [
        s * (n - 1) + d * (k - 1) + 1
        for n, k, s, d in zip(call.data.shape[2:], p.kernel, strides, dilates, strict=True)
    ]
    return any(target < side for target, side in zip(p.target_shape, whole, strict=False))


def too_long(call: Call) -> bool:
    p = call.of.p
    return p.use_sequence_length and (call.of.arrays[1] > call.data.shape[p.axis]).any()


KNOWN = (
    Known("_contrib_quantized_elemwise_mul", "call", "_contrib_quantized_elemwise_mul/value"),
    Known("_contrib_quantized_concat", "call", "_contrib_quantized_concat/value", lambda c: c.of.p.dim < 0),
    Known("_contrib_quantized_fully_connected", "error", "_contrib_quantized_fully_connected/bias",
          lambda c: not c.of.p.no_bias and c.of.arrays[2].ndim == 2),
    Known("_contrib_quantized_pooling", "call", "_contrib_quantized_pooling/value",
          lambda c: c.is_train and c.has(pool_type="max")),
    Known("_cvimresize", "out0", "_cvimresize/nearest",
          lambda c: c.has(interp=0) and c.data.itemsize * c.data.shape[2] in (5, 7, 9, 10)),
    Known("LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput", "grad:label",
          "RegressionOutput/gradient"),
    Known("SVMOutput", "grad:label", "SVMOutput/gradient"),
    Known("SoftmaxOutput", "grad:label", "SoftmaxOutput/gradient"),
    Known("SoftmaxOutput", "grad:data", "SoftmaxOutput/out-grad", lambda c: c.has(out_grad=True)),
    Known("SoftmaxOutput", "grad:data", "SoftmaxOutput/smooth-alpha",
          lambda c: c.of.p.smooth_alpha and c.data.shape[-1] == 1),
    Known("SoftmaxOutput", "out0 grad:data", "SoftmaxOutput/rows",
          lambda c: c.has(multi_output=False, preserve_shape=False) and c.data.ndim == 4
          and not c.is_train),
    Known("SoftmaxActivation", "grad:data", "SoftmaxActivation/gradient",
          lambda c: c.has(mode="instance") and c.data.ndim > 2),
    Known("SoftmaxActivation", "call", "SoftmaxActivation/mode", is_double),
    Known("LeakyReLU", "grad:data grad:gamma", "LeakyReLU/at-zero",
          lambda c: np.isnan(c.data).any() or (abs(c.data) == np.float32(1e-30)).any()),
    Known("Activation", "out0 grad:data", "Activation/relu-nan",
          lambda c: c.has(act_type="relu") and c.data.dtype == np.float64 and np.isnan(c.data).any()),
    Known("LeakyReLU", "call", "LeakyReLU/gamma-shape",
          lambda c: c.has(act_type="prelu") and c.of.arrays[1].ndim == c.data.ndim > 2),
    Known("FullyConnected", "call", "FullyConnected/bias-column",
          lambda c: c.of.arrays[2:] and c.of.arrays[2].ndim == 2),
    Known("LeakyReLU", "grad:data", "LeakyReLU/selu-slope", lambda c: c.has(act_type="selu")),
    Known("LeakyReLU", "call", "LeakyReLU/rrelu", lambda c: c.has(act_type="rrelu") and c.is_train),
    Known("LeakyReLU", "grad:data", "LeakyReLU/rrelu",
          lambda c: c.has(act_type="rrelu") and not c.is_train),
    Known("Pooling", "grad:data", "Pooling/gradient", lambda c: c.has(pool_type="max") and not c.is_train),
    Known("Pooling", "graph", "symbol-file/layout", lambda c: c.has(pool_type="max")),
    Known("softmax", "call", "softmax/length", lambda c: c.of.p.use_length and lengths_out_of_range(c)),
    Known("prod nanprod", "grad:data", "reduce/prod-gradient", lambda c: (c.data == 0).any()),
    Known("_copyto", "call", "identity/copy"),
    Known("_slice_assign", "gradients", "_slice_assign/values"),
    Known("_slice_assign_scalar", "gradients", "_slice_assign_scalar/value"),
    Known("nansum", "out0", "reduce/nan", lambda c: np.isinf(c.data).any()),
    Known("norm", "out0 grad:data", "norm/ord", lambda c: np.isinf(c.data).any()),
    Known("erf gamma gammaln", "grad:data", "unary/elementwise", is_double),
    Known("erfinv", "grad:data", "erfinv/slope", is_double),
    Known("degrees radians", "out0 grad:data", "trigonometry/degrees", is_double),
    Known("_random_pdf_dirichlet _random_pdf_gamma", "grad:alpha", "random_pdf/precision", is_double),
    Known("_random_pdf_normal", "out0", "random_pdf/precision", is_double),
    Known("_random_pdf_normal", "grad:sample grad:mu grad:sigma", "random_pdf/precision",
          lambda c: is_double(c) and c.has(is_log=False)),
    Known("GroupNorm", "out0 out2 grad:data grad:gamma", "GroupNorm/formula", is_double),
    Known("LayerNorm", "out0 out2 grad:data grad:gamma", "LayerNorm/formula", is_double),
    Known("LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput", "grad:data",
          "RegressionOutput/gradient", is_double),
    Known("MakeLoss", "grad:data", "MakeLoss/gradient", lambda c: is_double(c) and c.of.p.normalization != "null"),
    Known("_contrib_BilinearResize2D", "out0 grad:data", "resize/precision"),
    Known("Activation", "out0", "Activation/functions",
          lambda c: c.has(act_type="softrelu") and (c.special or not is_double(c))),
    Known("Pooling_v1", "out0 grad:data", "Pooling_v1/average", lambda c: is_double(c) and c.has(pool_type="avg")),
    Known("LeakyReLU", "out0 grad:data", "LeakyReLU/functions",
          lambda c: is_double(c) and (c.special or c.of.p.act_type in ("selu", "gelu", "rrelu"))),
    Known("LeakyReLU", "out0 grad:data", "LeakyReLU/functions", lambda c: c.has(act_type="elu")),
    Known("SoftmaxOutput", "grad:data", "SoftmaxOutput/normalization",
          lambda c: is_double(c) and c.of.p.normalization != "null"),
    Known("_image_adjust_lighting", "out0", "_image_adjust_lighting/value", is_double),
    Known("_linalg_gelqf", "out0 out1 grad:A", "linalg_gelqf/factors"),
    Known("_contrib_DeformablePSROIPooling", "out0 grad:data grad:trans", "_contrib_DeformablePSROIPooling/gradient",
          is_double),
    Known("log_softmax", "out0 grad:data", "softmax/formula", lambda c: not is_double(c)),
    Known("_sample_multinomial", "out1", "multinomial/get-prob", is_double),
    Known("scatter_nd", "grad:data", "scatter_nd/last",
          lambda c: len(np.unique(np.reshape(c.of.arrays[1], (len(c.of.arrays[1]), -1)), axis=1).T)
          < c.of.arrays[1][0].size),
    Known("_scatter_set_nd", "call", "_scatter_set_nd/places"),
    Known("_contrib_index_copy", "grad:index_vector grad:new_tensor", "_contrib_index_copy/rows"),
    Known("batch_take", "gradients", "batch_take/gradient"),
    Known("batch_take", "call", "batch_take/rows", lambda c: c.data.ndim > 2),
    Known("fill_element_0index", "call", "fill_element_0index/rows"),
    Known("_onehot_encode", "call", "_onehot_encode/rows"),
    Known("amp_cast amp_multicast", "call", "amp_cast/dtype",
          lambda c: "float64" in [c.of.params.get("dtype"), *(a.dtype.name for a in c.of.arrays)]),
    Known("reset_arrays", "call", "reset_arrays/zero"),
    Known("_sparse_retain", "call", "sparse_retain/rows"),
    Known("_square_sum", "call", "square_sum/values"),
    Known("_contrib_getnnz", "call", "_contrib_getnnz/count"),
    Known("_contrib_SparseEmbedding", "gradients", "Embedding/sparse"),
    # MXNet cannot infer the results of these in a graph: tests/peers/test_updates.py runs them in place
    Known("multi_sgd_update multi_sgd_mom_update multi_mp_sgd_update multi_mp_sgd_mom_update preloaded_multi_sgd_update"
          " preloaded_multi_sgd_mom_update preloaded_multi_mp_sgd_update preloaded_multi_mp_sgd_mom_update",
          "call", "multi_sgd/step"),
    Known("_multi_adamw_update _multi_mp_adamw_update", "call", "adamw/many"),
    Known("_multi_lamb_update _multi_mp_lamb_update", "call", "multi_lamb/step"),
    Known("_sparse_adagrad_update", "call", "adagrad/step"),
    Known("_contrib_group_adagrad_update", "call", "adagrad/rows"),
    Known("_adamw_update", "now:grad", "adamw/clip"),
    Known("mp_lamb_update_phase1", "call", "lamb/types"),
    Known("mp_lamb_update_phase2", "now:weight32", "lamb/master"),
    Known("multi_lars", "call", "lars/types", is_double),
    Known("_contrib_box_nms", "out0", "_contrib_box_nms/format",
          lambda c: c.of.p.in_format != c.of.p.out_format
          and (c.data[..., c.of.p.coord_start] < 0).any()),
    Known("_contrib_bipartite_matching", "out0 out1", "_contrib_bipartite_matching/topk",
          lambda c: c.of.p.topk > 0),
    Known("_contrib_MultiBoxPrior", "call", "_contrib_MultiBoxPrior/floating-point",
          is_double),
    Known("_contrib_MultiBoxTarget", "call", "_contrib_MultiBoxTarget/floating-point",
          is_double),
    Known("_contrib_MultiBoxDetection", "call", "_contrib_MultiBoxDetection/floating-point",
          is_double),
    Known("_contrib_Proposal _contrib_MultiProposal", "call", "_contrib_Proposal/floating-point",
          is_double),
    Known("_contrib_MultiBoxTarget", "error", "_contrib_MultiBoxTarget/mining",
          lambda c: c.of.p.negative_mining_ratio > 0),
    Known("_contrib_MultiBoxTarget", "error", "_contrib_MultiBoxTarget/objects",
          lambda c: ((c.of.arrays[1][..., 0] == -1) & (c.of.arrays[1][..., 1:5] != -1).any(-1)).any()),
    Known("_contrib_MultiBoxTarget", "grad:anchor grad:label", "_contrib_MultiBoxTarget/gradient"),
    Known("_contrib_ModulatedDeformableConvolution", "gradients",
          "_contrib_ModulatedDeformableConvolution/gradient"),
    Known("_contrib_ROIAlign", "call", "_contrib_ROIAlign/aligned",
          lambda c: c.of.p.aligned and (c.of.arrays[1][:, 1:3] >= c.of.arrays[1][:, 3:]).any()),
    Known("CTCLoss", "call", "CTCLoss/types", is_double),
    Known("CTCLoss", "out0 grad:data", "CTCLoss/empty", lambda c: not any(label for _, label in ctc_labels(c))),
    Known("CTCLoss", "grad:data", "CTCLoss/impossible", ctc_impossible),
    Known("CTCLoss", "grad:label grad:data_lengths grad:label_lengths", "CTCLoss/gradient"),
    Known("RNN", "grad:sequence_length", "RNN/sequence-length"),
    Known("RNN", RNN_RESULTS, "RNN/sequence-length", lambda c: c.has(use_sequence_length=True)),
    Known("RNN", "call", "RNN/sequence-length",
          lambda c: c.has(use_sequence_length=True) and c.data.dtype == np.float64),
    Known("_contrib_quantized_conv", "out0", "_contrib_quantized_conv/value",
          lambda c: c.data.shape[1] % 4 == 0 and c.of.p.num_filter % 4 == 0),
    Known("RNN", RNN_RESULTS, "RNN/clip", lambda c: c.of.p.lstm_state_clip_min is not None and not is_double(c)),
    Known("RNN", "call", "RNN/clip", lambda c: c.of.p.lstm_state_clip_min is not None and is_double(c)),
    Known("RNN", RNN_RESULTS, "RNN/dropout",
          lambda c: c.of.p.p and c.of.p.num_layers > 1 and (c.is_train or c.data.dtype == np.float64)),
    Known("RNN", "call", "RNN/projection", lambda c: c.of.p.projection_size),
    Known(ATTENTION, "call", "interleaved_matmul/types", is_double),
    Known("SequenceMask SequenceLast SequenceReverse", "grad:sequence_length", "sequence/length-gradient"),
    Known("SequenceReverse", "call", "sequence/length", too_long),
    Known("InstanceNorm", "call", "layer-norm/types", is_double),
    Known("LayerNorm GroupNorm", "grad:data", "layer-norm/gradient", lambda c: c.has(output_mean_var=True)),
    Known("Crop", "call", "Crop/types", is_double),
    Known("LRN", "call", "LRN/types", is_double),
    Known("LRN", "gradients", "LRN/gradient", lambda c: c.data.shape[1:] == (1, 1, 1)),
    Known("Deconvolution", "error", "Deconvolution/target-shape", lambda c: any(c.of.p.target_shape)),
    Known("Deconvolution", "out0 grad:data grad:weight", "Deconvolution/target-shape",
          lambda c: any(c.of.p.target_shape) and any(e > 1 for e in c.of.p.dilate)),
    Known("Deconvolution", "out0 grad:data grad:weight", "Deconvolution/target-shape",
          lambda c: not is_double(c) and any(c.of.p.target_shape) and smaller_than_whole(c)),
    Known("Deconvolution", "error", "Deconvolution/rank", lambda c: is_double(c) and c.data.ndim == 5),
    Known("Deconvolution", "out0", "Deconvolution/formula",
          lambda c: is_double(c) and any(
              min(s, d, k, n) > 1
              for s, d, k, n in zip(c.of.p.stride, c.of.p.dilate, c.of.p.kernel, c.data.shape[2:], strict=True))),
    Known("BatchNorm_v1", "call", "batch-norm-family/same", lambda c: c.data.ndim != 4 or is_double(c)),
    Known("_contrib_SyncBatchNorm", "call", "batch-norm-family/same", is_double),
    Known("BatchNorm_v1 _contrib_SyncBatchNorm _contrib_BatchNormWithReLU",
          "grad:data grad:gamma grad:beta now:moving_mean now:moving_var",
          "batch-norm-family/gradient", lambda c: not c.is_train and c.has(use_global_stats=False)),
    Known("_contrib_SyncBatchNorm", "out1 out2", "batch-norm-family/var",
          lambda c: not c.is_train or c.has(use_global_stats=True)),
    Known("_contrib_BatchNormWithReLU", "error", "_contrib_BatchNormWithReLU/relu"),
    Known("GridGenerator SpatialTransformer BilinearSampler ROIPooling Correlation _contrib_BatchNormWithReLU",
          "graph", "symbol-file/layout"),
    Known("_image_random_flip_left_right _image_random_flip_top_bottom", "graph", "symbol-file/layout"),
    Known("GridGenerator", "out0 grad:data", "GridGenerator/affine",
          lambda c: c.has(transform_type="affine") and 1 in c.of.p.target_shape),
    Known("GridGenerator", "out0 grad:data", "GridGenerator/warp",
          lambda c: c.has(transform_type="warp") and 1 in c.data.shape[2:]),
    Known("GridGenerator", "error", "BilinearSampler/types", is_double),
    Known("SpatialTransformer", "call", "GridGenerator/affine", lambda c: 1 in c.of.p.target_shape),
    Known("_contrib_BilinearResize2D", "gradients", "_contrib_BilinearResize2D/gradient",
          lambda c: c.has(mode="like")),
    Known("im2col col2im", "call", "im2col/lengths", lambda c: len(c.of.p.kernel) != 2),
    Known("IdentityAttachKLSparseReg", "call", "IdentityAttachKLSparseReg/shape", lambda c: c.data.ndim > 2),
    Known("IdentityAttachKLSparseReg", "call", "IdentityAttachKLSparseReg/types", is_double),
    Known("_image_to_tensor", "grad:data", "_image_to_tensor/gradient"),
    Known("_image_flip_left_right _image_flip_top_bottom", "grad:data", "image/flip"),
    Known("_image_flip_left_right", "out0", "image/flip", lambda c: c.data.shape[1] % 2),
    Known("_image_flip_top_bottom", "out0", "image/flip", lambda c: c.data.shape[0] % 2),
)

AMONG_LAYERS = (
    Known("_image_to_tensor", "gradients", "_image_to_tensor/gradient", lambda c: c.among_layers),
    Known("Deconvolution", "before:weight", "Deconvolution/weight-shape",
          lambda c: c.among_layers and not is_double(c)),
    Known("BatchNorm", "now:gamma", "Executor/grad-req-independent", lambda c: c.inference and c.has(fix_gamma=True)),
    Known("BatchNorm", "out1 out2", "Executor/grad-req-independent",
          lambda c: c.inference and c.has(output_mean_var=True)),
    Known("BatchNorm", "before:data", "Executor/grad-req-independent",
          lambda c: c.inference and c.of.p.axis % c.data.ndim != 1),
    Known("FullyConnected", "out0", "Executor/grad-req-independent",
          lambda c: c.inference and c.readers > 1 and not is_double(c)),
    Known("_contrib_arange_like ones_like zeros_like shape_array size_array", "before:data",
          "Convolution/floating-point", lambda c: c.among_layers and is_double(c)),
    Known("_random_exponential_like _random_gamma_like _random_generalized_negative_binomial_like"
          " _random_negative_binomial_like _random_normal_like _random_poisson_like _random_uniform_like",
          "before:data", "Convolution/floating-point", lambda c: c.among_layers and is_double(c)),
    Known("_identity_with_attr_like_rhs reshape_like", "before:rhs", "Convolution/floating-point",
          lambda c: c.among_layers and is_double(c)),
    Known("Concat _rnn_param_concat", "error", "BatchNorm/gradient",
          lambda c: c.among_layers and not is_double(c) and c.data.ndim == 2 and c.data.shape[1] == 1),
    Known("Pooling", "error", "BatchNorm/gradient",
          lambda c: c.among_layers and not is_double(c) and c.data.ndim == 5
          and (c.has(pool_type="max") or c.of.p.global_pool)),
    Known("RNN", "grad:data grad:parameters grad:state", "RNN/gradient",
          lambda c: c.among_layers and is_double(c) and c.has(mode="rnn_relu")),
    Known("_grad_add", "before:lhs before:rhs", "elementwise/grad-add", lambda c: c.among_layers),
)
"""What differs only where other layers stand before and behind."""


def known_of(operator: str, *, among_layers: bool = False) -> list[Known]:
    return [row for row in KNOWN + AMONG_LAYERS * among_layers if operator in row.operators.split()]
