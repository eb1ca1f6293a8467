"""mx.nd._internal: operators whose names begin with an underscore, as functions on arrays."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from collections.abc import Sequence
from typing import Any, Literal, overload

from ..context import Context
from ..op_registry.argument_types import Ends, Flag, Kind, Number, Numbers, Sides, Whole
from .ndarray import NDArray

_Out = NDArray | Sequence[NDArray]

__all__ = [
    "_CrossDeviceCopy", "_Div", "_DivScalar", "_Equal", "_EqualScalar", "_Greater", "_GreaterEqualScalar",
    "_GreaterScalar", "_Greater_Equal", "_Hypot", "_HypotScalar", "_Lesser", "_LesserEqualScalar", "_LesserScalar",
    "_Lesser_Equal", "_LogicalAndScalar", "_LogicalOrScalar", "_LogicalXorScalar", "_Logical_And", "_Logical_Or",
    "_Logical_Xor", "_Maximum", "_MaximumScalar", "_Minimum", "_MinimumScalar", "_Minus", "_MinusScalar", "_Mod",
    "_ModScalar", "_Mul", "_MulScalar", "_NotEqualScalar", "_Not_Equal", "_Plus", "_PlusScalar", "_Power",
    "_PowerScalar", "_RDivScalar", "_RMinusScalar", "_RModScalar", "_RPowerScalar", "_adadelta_step", "_adamax_step",
    "_adamw_update", "_add", "_arange", "_backward_Cast", "_backward_Concat", "_backward_Convolution_data",
    "_backward_Convolution_weight", "_backward_Deconvolution_data", "_backward_Deconvolution_weight",
    "_backward_Embedding", "_backward_FullyConnected_data", "_backward_FullyConnected_weight", "_backward_LeakyReLU",
    "_backward_SequenceLast", "_backward__contrib_AdaptiveAvgPooling2D", "_backward__contrib_BilinearResize2D",
    "_backward__contrib_SparseEmbedding", "_backward_batch_dot_lhs", "_backward_batch_dot_rhs", "_backward_col2im",
    "_backward_dot_lhs", "_backward_dot_rhs", "_backward_im2col", "_backward_mean", "_backward_pick", "_backward_slice",
    "_backward_slice_axis", "_backward_slice_like", "_backward_sum", "_backward_take", "_contrib_AdaptiveAvgPooling2D",
    "_contrib_BatchNormWithReLU", "_contrib_BilinearResize2D", "_contrib_CTCLoss", "_contrib_DeformableConvolution",
    "_contrib_DeformablePSROIPooling", "_contrib_ModulatedDeformableConvolution", "_contrib_MultiBoxDetection",
    "_contrib_MultiBoxPrior", "_contrib_MultiBoxTarget", "_contrib_MultiProposal", "_contrib_PSROIPooling",
    "_contrib_Proposal", "_contrib_ROIAlign", "_contrib_RROIAlign", "_contrib_SparseEmbedding",
    "_contrib_SyncBatchNorm", "_contrib_allclose", "_contrib_arange_like", "_contrib_bipartite_matching",
    "_contrib_box_decode", "_contrib_box_encode", "_contrib_box_iou", "_contrib_box_nms",
    "_contrib_box_non_maximum_suppression", "_contrib_calibrate_entropy", "_contrib_ctc_loss", "_contrib_dequantize",
    "_contrib_div_sqrt_dim", "_contrib_getnnz", "_contrib_gradientmultiplier", "_contrib_group_adagrad_update",
    "_contrib_index_array", "_contrib_index_copy", "_contrib_interleaved_matmul_encdec_qk",
    "_contrib_interleaved_matmul_encdec_valatt", "_contrib_interleaved_matmul_selfatt_qk",
    "_contrib_interleaved_matmul_selfatt_valatt", "_contrib_quadratic", "_contrib_quantize", "_contrib_quantize_v2",
    "_contrib_quantized_act", "_contrib_quantized_batch_norm", "_contrib_quantized_concat", "_contrib_quantized_conv",
    "_contrib_quantized_elemwise_add", "_contrib_quantized_elemwise_mul", "_contrib_quantized_embedding",
    "_contrib_quantized_flatten", "_contrib_quantized_fully_connected", "_contrib_quantized_pooling",
    "_contrib_requantize", "_copy", "_copyto", "_crop_assign", "_crop_assign_scalar", "_cvcopyMakeBorder",
    "_cvimdecode", "_cvimread", "_cvimresize", "_dcasgd_mom_step", "_dcasgd_step", "_div", "_div_scalar", "_equal",
    "_equal_scalar", "_eye", "_full", "_grad_add", "_grad_add_weight", "_greater", "_greater_equal",
    "_greater_equal_scalar", "_greater_scalar", "_histogram", "_hypot", "_hypot_scalar", "_identity_with_attr_like_rhs",
    "_image_adjust_lighting", "_image_crop", "_image_flip_left_right", "_image_flip_top_bottom", "_image_normalize",
    "_image_random_brightness", "_image_random_color_jitter", "_image_random_contrast", "_image_random_flip_left_right",
    "_image_random_flip_top_bottom", "_image_random_hue", "_image_random_lighting", "_image_random_saturation",
    "_image_resize", "_image_to_tensor", "_lesser", "_lesser_equal", "_lesser_equal_scalar", "_lesser_scalar",
    "_linalg_det", "_linalg_extractdiag", "_linalg_extracttrian", "_linalg_gelqf", "_linalg_gemm", "_linalg_gemm2",
    "_linalg_inverse", "_linalg_makediag", "_linalg_maketrian", "_linalg_potrf", "_linalg_potri", "_linalg_slogdet",
    "_linalg_sumlogdiag", "_linalg_syevd", "_linalg_syrk", "_linalg_trmm", "_linalg_trsm", "_linspace", "_logical_and",
    "_logical_and_scalar", "_logical_or", "_logical_or_scalar", "_logical_xor", "_logical_xor_scalar", "_maximum",
    "_maximum_scalar", "_minimum", "_minimum_scalar", "_minus", "_minus_scalar", "_mod", "_mod_scalar",
    "_mp_adamw_update", "_mul", "_mul_scalar", "_multi_adamw_update", "_multi_lamb_update", "_multi_mp_adamw_update",
    "_multi_mp_lamb_update", "_nadam_step", "_not_equal", "_not_equal_scalar", "_np_cumsum", "_onehot_encode", "_ones",
    "_plus", "_plus_scalar", "_power", "_power_scalar", "_random_exponential", "_random_exponential_like",
    "_random_gamma", "_random_gamma_like", "_random_generalized_negative_binomial",
    "_random_generalized_negative_binomial_like", "_random_negative_binomial", "_random_negative_binomial_like",
    "_random_normal", "_random_normal_like", "_random_pdf_dirichlet", "_random_pdf_exponential", "_random_pdf_gamma",
    "_random_pdf_generalized_negative_binomial", "_random_pdf_negative_binomial", "_random_pdf_normal",
    "_random_pdf_poisson", "_random_pdf_uniform", "_random_poisson", "_random_poisson_like", "_random_randint",
    "_random_uniform", "_random_uniform_like", "_ravel_multi_index", "_rdiv_scalar", "_rminus_scalar", "_rmod_scalar",
    "_rnn_param_concat", "_rpower_scalar", "_sample_exponential", "_sample_gamma",
    "_sample_generalized_negative_binomial", "_sample_multinomial", "_sample_negative_binomial", "_sample_normal",
    "_sample_poisson", "_sample_uniform", "_sample_unique_zipfian", "_scatter_elemwise_div", "_scatter_minus_scalar",
    "_scatter_plus_scalar", "_scatter_set_nd", "_set_value", "_shuffle", "_slice_assign", "_slice_assign_scalar",
    "_sparse_ElementWiseSum", "_sparse_Embedding", "_sparse_FullyConnected", "_sparse_LinearRegressionOutput",
    "_sparse_LogisticRegressionOutput", "_sparse_MAERegressionOutput", "_sparse_abs", "_sparse_adagrad_update",
    "_sparse_adam_update", "_sparse_add_n", "_sparse_arccos", "_sparse_arccosh", "_sparse_arcsin", "_sparse_arcsinh",
    "_sparse_arctan", "_sparse_arctanh", "_sparse_broadcast_add", "_sparse_broadcast_div", "_sparse_broadcast_minus",
    "_sparse_broadcast_mul", "_sparse_broadcast_plus", "_sparse_broadcast_sub", "_sparse_cast_storage", "_sparse_cbrt",
    "_sparse_ceil", "_sparse_clip", "_sparse_concat", "_sparse_cos", "_sparse_cosh", "_sparse_degrees", "_sparse_dot",
    "_sparse_elemwise_add", "_sparse_elemwise_div", "_sparse_elemwise_mul", "_sparse_elemwise_sub", "_sparse_exp",
    "_sparse_expm1", "_sparse_fix", "_sparse_floor", "_sparse_ftrl_update", "_sparse_gamma", "_sparse_gammaln",
    "_sparse_log", "_sparse_log10", "_sparse_log1p", "_sparse_log2", "_sparse_make_loss", "_sparse_mean",
    "_sparse_negative", "_sparse_norm", "_sparse_radians", "_sparse_relu", "_sparse_retain", "_sparse_rint",
    "_sparse_round", "_sparse_rsqrt", "_sparse_sgd_mom_update", "_sparse_sgd_update", "_sparse_sigmoid", "_sparse_sign",
    "_sparse_sin", "_sparse_sinh", "_sparse_slice", "_sparse_sqrt", "_sparse_square", "_sparse_stop_gradient",
    "_sparse_sum", "_sparse_tan", "_sparse_tanh", "_sparse_trunc", "_sparse_where", "_sparse_zeros_like", "_split_v2",
    "_square_sum", "_stretch_like", "_sub", "_sum_like", "_unravel_index", "_zeros", "_zeros_without_dtype",
]

def _CrossDeviceCopy(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _Div(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _DivScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Equal(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _EqualScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Greater(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _GreaterEqualScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _GreaterScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Greater_Equal(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _Hypot(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _HypotScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Lesser(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _LesserEqualScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _LesserScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Lesser_Equal(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _LogicalAndScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _LogicalOrScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _LogicalXorScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Logical_And(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _Logical_Or(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _Logical_Xor(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _Maximum(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _MaximumScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Minimum(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _MinimumScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Minus(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _MinusScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Mod(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _ModScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Mul(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _MulScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _NotEqualScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Not_Equal(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _Plus(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _PlusScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _Power(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _PowerScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _RDivScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _RMinusScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _RModScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _RPowerScalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _adadelta_step(
    weight: NDArray, grad: NDArray, acc_g: NDArray, acc_delta: NDArray, rho: Number | None = 0.9,
    epsilon: Number | None = 1e-05, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _adamax_step(
    weight: NDArray, grad: NDArray, mean: NDArray, largest: NDArray, lr: Number, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, rescale_grad: NDArray, lr: Number,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    *, eta: Number, clip_gradient: Number | None = -1.0, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, rescale_grad: NDArray, lr: Number,
    beta1: Number | None, beta2: Number | None, epsilon: Number | None, wd: Number | None, eta: Number,
    clip_gradient: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _add(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _arange(
    start: Number, stop: Number | None = None, step: Number | None = 1.0, repeat: Whole | None = 1,
    infer_range: Flag | None = False, ctx: Context | str | None = '', dtype: Kind | None = 'float32', *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_Cast(
    head: NDArray, data: NDArray, dtype: Kind, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_Concat(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., dim: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> Any: ...
@overload
def _backward_Convolution_data(
    head: NDArray, data: NDArray, weight: NDArray, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), *, num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
    cudnn_off: Flag | None = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _backward_Convolution_data(
    head: NDArray, data: NDArray, weight: NDArray, kernel: Sides, stride: Sides | None, dilate: Sides | None,
    pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
    cudnn_off: Flag | None = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _backward_Convolution_weight(
    head: NDArray, data: NDArray, weight: NDArray, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), *, num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
    cudnn_off: Flag | None = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _backward_Convolution_weight(
    head: NDArray, data: NDArray, weight: NDArray, kernel: Sides, stride: Sides | None, dilate: Sides | None,
    pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
    cudnn_off: Flag | None = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _backward_Deconvolution_data(
    head: NDArray, data: NDArray, weight: NDArray, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), adj: Sides | None = (), target_shape: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def _backward_Deconvolution_data(
    head: NDArray, data: NDArray, weight: NDArray, kernel: Sides, stride: Sides | None, dilate: Sides | None,
    pad: Sides | None, adj: Sides | None, target_shape: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def _backward_Deconvolution_weight(
    head: NDArray, data: NDArray, weight: NDArray, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), adj: Sides | None = (), target_shape: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def _backward_Deconvolution_weight(
    head: NDArray, data: NDArray, weight: NDArray, kernel: Sides, stride: Sides | None, dilate: Sides | None,
    pad: Sides | None, adj: Sides | None, target_shape: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _backward_Embedding(
    head: NDArray, data: NDArray, weight: NDArray, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    sparse_grad: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_FullyConnected_data(
    head: NDArray, data: NDArray, weight: NDArray, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_FullyConnected_weight(
    head: NDArray, data: NDArray, weight: NDArray, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_LeakyReLU(
    head: NDArray, data: NDArray, gamma: NDArray,
    act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] | None = 'leaky', slope: Number | None = 0.25,
    lower_bound: Number | None = 0.125, upper_bound: Number | None = 0.333999991, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def _backward_SequenceLast(
    head: NDArray, data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: Flag | None = False,
    axis: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward__contrib_AdaptiveAvgPooling2D(
    head: NDArray, data: NDArray, output_size: Sides | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward__contrib_BilinearResize2D(
    head: NDArray, data: NDArray, like: NDArray | None = None, height: Whole | None = 1, width: Whole | None = 1,
    scale_height: Number | None = None, scale_width: Number | None = None,
    mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] | None = 'size',
    align_corners: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward__contrib_SparseEmbedding(
    head: NDArray, data: NDArray, weight: NDArray, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    deterministic: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_batch_dot_lhs(
    head: NDArray, lhs: NDArray, rhs: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _backward_batch_dot_rhs(
    head: NDArray, lhs: NDArray, rhs: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _backward_col2im(
    head: NDArray, data: NDArray, output_size: Sides, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_dot_lhs(
    head: NDArray, lhs: NDArray, rhs: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _backward_dot_rhs(
    head: NDArray, lhs: NDArray, rhs: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _backward_im2col(
    head: NDArray, data: NDArray, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_mean(
    head: NDArray, data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False,
    exclude: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_pick(
    head: NDArray, data: NDArray, index: NDArray, axis: Whole | None = -1, keepdims: Flag | None = False,
    mode: Literal['clip', 'wrap'] | None = 'clip', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_slice(
    head: NDArray, data: NDArray, begin: Ends, end: Ends, step: Ends | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _backward_slice_axis(
    head: NDArray, data: NDArray, axis: Whole, begin: Whole, end: Whole | None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _backward_slice_like(
    head: NDArray, data: NDArray, shape_like: NDArray, axes: Sides | None = (), *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _backward_sum(
    head: NDArray, data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False,
    exclude: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _backward_take(
    head: NDArray, a: NDArray, indices: NDArray, axis: Whole | None = 0,
    mode: Literal['clip', 'raise', 'wrap'] | None = 'clip', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_AdaptiveAvgPooling2D(
    data: NDArray, output_size: Sides | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_BatchNormWithReLU(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    eps: Number | None = 0.0010000000474974513, momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True,
    use_global_stats: Flag | None = False, output_mean_var: Flag | None = False, axis: Whole | None = 1,
    cudnn_off: Flag | None = False, min_calib_range: Number | None = None, max_calib_range: Number | None = None, *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _contrib_BilinearResize2D(
    data: NDArray, like: NDArray | None = None, height: Whole | None = 1, width: Whole | None = 1,
    scale_height: Number | None = None, scale_width: Number | None = None,
    mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] | None = 'size',
    align_corners: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_CTCLoss(
    data: NDArray, label: NDArray, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None,
    use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _contrib_DeformableConvolution(
    data: NDArray, offset: NDArray, weight: NDArray, bias: NDArray | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def _contrib_DeformableConvolution(
    data: NDArray, offset: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole, num_group: Whole | None = 1,
    num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _contrib_DeformableConvolution(
    data: NDArray, offset: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides, stride: Sides | None,
    dilate: Sides | None, pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _contrib_DeformablePSROIPooling(
    data: NDArray, rois: NDArray, trans: NDArray | None = None, *, spatial_scale: Number, output_dim: Whole,
    group_size: Whole, pooled_size: Whole, part_size: Whole | None = 0, sample_per_part: Whole | None = 1,
    trans_std: Number | None = 0.0, no_trans: Flag | None = False, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _contrib_DeformablePSROIPooling(
    data: NDArray, rois: NDArray, trans: NDArray | None, spatial_scale: Number, output_dim: Whole, group_size: Whole,
    pooled_size: Whole, part_size: Whole | None = 0, sample_per_part: Whole | None = 1, trans_std: Number | None = 0.0,
    no_trans: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _contrib_ModulatedDeformableConvolution(
    data: NDArray, offset: NDArray, mask: NDArray, weight: NDArray, bias: NDArray | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, im2col_step: Whole | None = 64, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _contrib_ModulatedDeformableConvolution(
    data: NDArray, offset: NDArray, mask: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, im2col_step: Whole | None = 64, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _contrib_ModulatedDeformableConvolution(
    data: NDArray, offset: NDArray, mask: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides,
    stride: Sides | None, dilate: Sides | None, pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    im2col_step: Whole | None = 64, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _contrib_MultiBoxDetection(
    cls_prob: NDArray, loc_pred: NDArray, anchor: NDArray, clip: Flag | None = True, threshold: Number | None = 0.01,
    background_id: Whole | None = 0, nms_threshold: Number | None = 0.5, force_suppress: Flag | None = False,
    variances: Numbers | None = (0.1, 0.1, 0.2, 0.2), nms_topk: Whole | None = -1, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _contrib_MultiBoxPrior(
    data: NDArray, sizes: Numbers | None = (1.0,), ratios: Numbers | None = (1.0,), clip: Flag | None = False,
    steps: Numbers | None = (-1.0, -1.0), offsets: Numbers | None = (0.5, 0.5), *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _contrib_MultiBoxTarget(
    anchor: NDArray, label: NDArray, cls_pred: NDArray, overlap_threshold: Number | None = 0.5,
    ignore_label: Number | None = -1.0, negative_mining_ratio: Number | None = -1.0,
    negative_mining_thresh: Number | None = 0.5, minimum_negative_samples: Whole | None = 0,
    variances: Numbers | None = (0.1, 0.1, 0.2, 0.2), *, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def _contrib_MultiProposal(
    cls_prob: NDArray, bbox_pred: NDArray, im_info: NDArray, rpn_pre_nms_top_n: Whole | None = 6000,
    rpn_post_nms_top_n: Whole | None = 300, threshold: Number | None = 0.7, rpn_min_size: Whole | None = 16,
    scales: Numbers | None = (4.0, 8.0, 16.0, 32.0), ratios: Numbers | None = (0.5, 1.0, 2.0),
    feature_stride: Whole | None = 16, output_score: Flag | None = False, iou_loss: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _contrib_PSROIPooling(
    data: NDArray, rois: NDArray, spatial_scale: Number, output_dim: Whole, pooled_size: Whole,
    group_size: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_Proposal(
    cls_prob: NDArray, bbox_pred: NDArray, im_info: NDArray, rpn_pre_nms_top_n: Whole | None = 6000,
    rpn_post_nms_top_n: Whole | None = 300, threshold: Number | None = 0.7, rpn_min_size: Whole | None = 16,
    scales: Numbers | None = (4.0, 8.0, 16.0, 32.0), ratios: Numbers | None = (0.5, 1.0, 2.0),
    feature_stride: Whole | None = 16, output_score: Flag | None = False, iou_loss: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _contrib_ROIAlign(
    data: NDArray, rois: NDArray, pooled_size: Sides, spatial_scale: Number, sample_ratio: Whole | None = -1,
    position_sensitive: Flag | None = False, aligned: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _contrib_RROIAlign(
    data: NDArray, rois: NDArray, pooled_size: Sides, spatial_scale: Number, sampling_ratio: Whole | None = -1, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_SparseEmbedding(
    data: NDArray, weight: NDArray, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    deterministic: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _contrib_SyncBatchNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    eps: Number | None = 0.00100000005, momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True,
    use_global_stats: Flag | None = False, output_mean_var: Flag | None = False, ndev: Whole | None = 1, *, key: str,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
@overload
def _contrib_SyncBatchNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, eps: Number | None,
    momentum: Number | None, fix_gamma: Flag | None, use_global_stats: Flag | None, output_mean_var: Flag | None,
    ndev: Whole | None, key: str, *, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _contrib_allclose(
    a: NDArray, b: NDArray, rtol: Number | None = 1e-05, atol: Number | None = 1e-08, equal_nan: Flag | None = True, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_arange_like(
    data: NDArray, start: Number | None = 0.0, step: Number | None = 1.0, repeat: Whole | None = 1,
    ctx: Context | str | None = '', axis: Whole | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _contrib_bipartite_matching(
    data: NDArray, is_ascend: Flag | None = False, *, threshold: Number, topk: Whole | None = -1,
    out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
@overload
def _contrib_bipartite_matching(
    data: NDArray, is_ascend: Flag | None, threshold: Number, topk: Whole | None = -1, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def _contrib_box_decode(
    data: NDArray, anchors: NDArray, std0: Number | None = 1.0, std1: Number | None = 1.0, std2: Number | None = 1.0,
    std3: Number | None = 1.0, clip: Number | None = -1.0, format: Literal['center', 'corner'] | None = 'center', *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_box_encode(
    samples: NDArray, matches: NDArray, anchors: NDArray, refs: NDArray, means: NDArray, stds: NDArray, *,
    out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def _contrib_box_iou(
    lhs: NDArray, rhs: NDArray, format: Literal['center', 'corner'] | None = 'corner', *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _contrib_box_nms(
    data: NDArray, overlap_thresh: Number | None = 0.5, valid_thresh: Number | None = 0.0, topk: Whole | None = -1,
    coord_start: Whole | None = 2, score_index: Whole | None = 1, id_index: Whole | None = -1,
    background_id: Whole | None = -1, force_suppress: Flag | None = False,
    in_format: Literal['center', 'corner'] | None = 'corner', out_format: Literal['center', 'corner'] | None = 'corner',
    *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_box_non_maximum_suppression(
    data: NDArray, overlap_thresh: Number | None = 0.5, valid_thresh: Number | None = 0.0, topk: Whole | None = -1,
    coord_start: Whole | None = 2, score_index: Whole | None = 1, id_index: Whole | None = -1,
    background_id: Whole | None = -1, force_suppress: Flag | None = False,
    in_format: Literal['center', 'corner'] | None = 'corner', out_format: Literal['center', 'corner'] | None = 'corner',
    *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_calibrate_entropy(
    hist: NDArray, hist_edges: NDArray, num_quantized_bins: Whole | None = 255, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def _contrib_ctc_loss(
    data: NDArray, label: NDArray, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None,
    use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_dequantize(
    data: NDArray, min_range: NDArray, max_range: NDArray, out_type: Literal['float32'] | None = 'float32', *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_div_sqrt_dim(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _contrib_getnnz(
    data: NDArray, axis: Whole | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_gradientmultiplier(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _contrib_group_adagrad_update(
    weight: NDArray, grad: NDArray, history: NDArray, lr: Number, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, epsilon: Number | None = 1e-05, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _contrib_index_array(
    data: NDArray, axes: Sides | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_index_copy(
    old_tensor: NDArray, index_vector: NDArray, new_tensor: NDArray, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _contrib_interleaved_matmul_encdec_qk(
    queries: NDArray, keys_values: NDArray, heads: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_interleaved_matmul_encdec_valatt(
    keys_values: NDArray, attention: NDArray, heads: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_interleaved_matmul_selfatt_qk(
    queries_keys_values: NDArray, heads: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_interleaved_matmul_selfatt_valatt(
    queries_keys_values: NDArray, attention: NDArray, heads: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _contrib_quadratic(
    data: NDArray, a: Number | None = 0.0, b: Number | None = 0.0, c: Number | None = 0.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _contrib_quantize(
    data: NDArray, min_range: NDArray, max_range: NDArray, out_type: Literal['int8', 'uint8'] | None = 'uint8', *,
    out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def _contrib_quantize_v2(
    data: NDArray, out_type: Literal['auto', 'int8', 'uint8'] | None = 'int8', min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, *, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def _contrib_quantized_act(
    data: NDArray, min_data: NDArray, max_data: NDArray,
    act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def _contrib_quantized_batch_norm(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, min_data: NDArray,
    max_data: NDArray, eps: Number | None = 0.0010000000474974513, momentum: Number | None = 0.899999976,
    fix_gamma: Flag | None = True, use_global_stats: Flag | None = False, output_mean_var: Flag | None = False,
    axis: Whole | None = 1, cudnn_off: Flag | None = False, min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, *, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def _contrib_quantized_concat(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., dim: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
@overload
def _contrib_quantized_conv(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, min_data: NDArray | None = None,
    max_data: NDArray | None = None, min_weight: NDArray | None = None, max_weight: NDArray | None = None,
    min_bias: NDArray | None = None, max_bias: NDArray | None = None, *, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
@overload
def _contrib_quantized_conv(
    data: NDArray, weight: NDArray, bias: NDArray | None, min_data: NDArray | None, max_data: NDArray | None,
    min_weight: NDArray | None, max_weight: NDArray | None, min_bias: NDArray | None, max_bias: NDArray | None,
    kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
@overload
def _contrib_quantized_conv(
    data: NDArray, weight: NDArray, bias: NDArray | None, min_data: NDArray | None, max_data: NDArray | None,
    min_weight: NDArray | None, max_weight: NDArray | None, min_bias: NDArray | None, max_bias: NDArray | None,
    kernel: Sides, stride: Sides | None, dilate: Sides | None, pad: Sides | None, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def _contrib_quantized_elemwise_add(
    lhs: NDArray, rhs: NDArray, lhs_min: NDArray, lhs_max: NDArray, rhs_min: NDArray, rhs_max: NDArray,
    min_calib_range: Number | None = None, max_calib_range: Number | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> Any: ...
def _contrib_quantized_elemwise_mul(
    lhs: NDArray, rhs: NDArray, lhs_min: NDArray, lhs_max: NDArray, rhs_min: NDArray, rhs_max: NDArray,
    min_calib_range: Number | None = None, max_calib_range: Number | None = None,
    enable_float_output: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _contrib_quantized_embedding(
    data: NDArray, weight: NDArray, min_weight: NDArray, max_weight: NDArray, input_dim: Whole, output_dim: Whole,
    dtype: Kind | None = 'float32', sparse_grad: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def _contrib_quantized_flatten(
    data: NDArray, min_data: NDArray, max_data: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
@overload
def _contrib_quantized_fully_connected(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, min_data: NDArray | None = None,
    max_data: NDArray | None = None, min_weight: NDArray | None = None, max_weight: NDArray | None = None,
    min_bias: NDArray | None = None, max_bias: NDArray | None = None, *, num_hidden: Whole,
    no_bias: Flag | None = False, flatten: Flag | None = True, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
@overload
def _contrib_quantized_fully_connected(
    data: NDArray, weight: NDArray, bias: NDArray | None, min_data: NDArray | None, max_data: NDArray | None,
    min_weight: NDArray | None, max_weight: NDArray | None, min_bias: NDArray | None, max_bias: NDArray | None,
    num_hidden: Whole, no_bias: Flag | None = False, flatten: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def _contrib_quantized_pooling(
    data: NDArray, min_data: NDArray, max_data: NDArray, kernel: Sides | None = (),
    pool_type: Literal['avg', 'lp', 'max', 'sum'] | None = 'max', global_pool: Flag | None = False,
    cudnn_off: Flag | None = False, pooling_convention: Literal['full', 'same', 'valid'] | None = 'valid',
    stride: Sides | None = (), pad: Sides | None = (), p_value: Whole | None = None,
    count_include_pad: Flag | None = None,
    layout: Literal['None', 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def _contrib_requantize(
    data: NDArray, min_range: NDArray, max_range: NDArray, out_type: Literal['auto', 'int8', 'uint8'] | None = 'int8',
    min_calib_range: Number | None = None, max_calib_range: Number | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def _copy(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _copyto(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _crop_assign(
    lhs: NDArray, rhs: NDArray, begin: Ends, end: Ends, step: Ends | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def _crop_assign_scalar(
    data: NDArray, scalar: Number | None = 0.0, *, begin: Ends, end: Ends, step: Ends | None = ...,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _crop_assign_scalar(
    data: NDArray, scalar: Number | None, begin: Ends, end: Ends, step: Ends | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _cvcopyMakeBorder(
    src: NDArray, top: Whole, bot: Whole, left: Whole, right: Whole, type: Whole | None = 0, value: Number | None = 0.0,
    values: Numbers | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _cvimdecode(
    buf: NDArray, flag: int = ..., to_rgb: bool = ..., out: NDArray | None = ..., name: str | None = ...,
) -> NDArray: ...
def _cvimread(
    filename: str, flag: int = ..., to_rgb: bool = ..., out: NDArray | None = ..., name: str | None = ...,
) -> NDArray: ...
def _cvimresize(
    src: NDArray, w: Whole, h: Whole, interp: Whole | None = 1, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _dcasgd_mom_step(
    weight: NDArray, grad: NDArray, mom: NDArray, previous: NDArray, lr: Number, momentum: Number | None = 0.0,
    lamda: Number | None = 0.04, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _dcasgd_step(
    weight: NDArray, grad: NDArray, previous: NDArray, lr: Number, lamda: Number | None = 0.04, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _div(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _div_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _equal(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _equal_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _eye(
    N: Whole, M: Whole | None = 0, k: Whole | None = 0, ctx: Context | str | None = '', dtype: Kind | None = 'float32',
    *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _full(
    shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = 'float32', *, value: Number,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _full(
    shape: Sides | None, ctx: Context | str | None, dtype: Kind | None, value: Number, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _grad_add(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _grad_add_weight(
    total: NDArray, head: NDArray, data: NDArray, num_hidden: Whole, flatten: Flag | None = True, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _greater(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _greater_equal(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _greater_equal_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _greater_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _histogram(
    data: NDArray, bins: NDArray | None = None, bin_cnt: Whole | None = None, range: Numbers | None = None, *,
    out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def _hypot(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _hypot_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _identity_with_attr_like_rhs(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _image_adjust_lighting(
    data: NDArray, alpha: Numbers, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _image_crop(
    data: NDArray, x: Whole, y: Whole, width: Whole, height: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _image_flip_left_right(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _image_flip_top_bottom(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _image_normalize(
    data: NDArray, mean: Numbers | None = (0.0, 0.0, 0.0, 0.0), std: Numbers | None = (1.0, 1.0, 1.0, 1.0), *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _image_random_brightness(
    data: NDArray, min_factor: Number, max_factor: Number, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _image_random_color_jitter(
    data: NDArray, brightness: Number, contrast: Number, saturation: Number, hue: Number, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _image_random_contrast(
    data: NDArray, min_factor: Number, max_factor: Number, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _image_random_flip_left_right(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _image_random_flip_top_bottom(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _image_random_hue(
    data: NDArray, min_factor: Number, max_factor: Number, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _image_random_lighting(
    data: NDArray, alpha_std: Number | None = 0.0500000007, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _image_random_saturation(
    data: NDArray, min_factor: Number, max_factor: Number, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _image_resize(
    data: NDArray, size: Sides | None = (), keep_ratio: Flag | None = False, interp: Whole | None = 1, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _image_to_tensor(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _lesser(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _lesser_equal(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _lesser_equal_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _lesser_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _linalg_det(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _linalg_extractdiag(
    A: NDArray, offset: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _linalg_extracttrian(
    A: NDArray, offset: Whole | None = 0, lower: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _linalg_gelqf(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> list[NDArray]: ...
def _linalg_gemm(
    A: NDArray, B: NDArray, C: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    alpha: Number | None = 1.0, beta: Number | None = 1.0, axis: Whole | None = -2, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _linalg_gemm2(
    A: NDArray, B: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    alpha: Number | None = 1.0, axis: Whole | None = -2, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _linalg_inverse(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _linalg_makediag(
    A: NDArray, offset: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _linalg_maketrian(
    A: NDArray, offset: Whole | None = 0, lower: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _linalg_potrf(
    A: NDArray, lower: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _linalg_potri(
    A: NDArray, lower: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _linalg_slogdet(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> list[NDArray]: ...
def _linalg_sumlogdiag(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _linalg_syevd(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> list[NDArray]: ...
def _linalg_syrk(
    A: NDArray, transpose: Flag | None = False, alpha: Number | None = 1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _linalg_trmm(
    A: NDArray, B: NDArray, transpose: Flag | None = False, rightside: Flag | None = False, lower: Flag | None = True,
    alpha: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _linalg_trsm(
    A: NDArray, B: NDArray, transpose: Flag | None = False, rightside: Flag | None = False, lower: Flag | None = True,
    alpha: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _linspace(
    start: Number, stop: Number, num: Whole, endpoint: Flag | None = True, ctx: Context | str | None = '',
    dtype: Kind | None = 'float32', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _logical_and(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _logical_and_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _logical_or(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _logical_or_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _logical_xor(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _logical_xor_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _maximum(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _maximum_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _minimum(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _minimum_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _minus(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _minus_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _mod(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _mod_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def _mp_adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, rescale_grad: NDArray, lr: Number,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    *, eta: Number, clip_gradient: Number | None = -1.0, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _mp_adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, rescale_grad: NDArray, lr: Number,
    beta1: Number | None, beta2: Number | None, epsilon: Number | None, wd: Number | None, eta: Number,
    clip_gradient: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _mul(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _mul_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _multi_adamw_update(
    *data: NDArray | Sequence[NDArray], lrs: Numbers, wds: Numbers, etas: Numbers, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, clip_gradient: Number | None = -1.0,
    num_weights: Whole | None = 1, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _multi_lamb_update(
    *data: NDArray | Sequence[NDArray], learning_rates: Numbers, wds: Numbers, step_count: Sides,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-06,
    rescale_grad: Number | None = 1.0, lower_bound: Number | None = -1.0, upper_bound: Number | None = -1.0,
    clip_gradient: Number | None = -1.0, bias_correction: Flag | None = True, num_tensors: Whole | None = 1,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _multi_mp_adamw_update(
    *data: NDArray | Sequence[NDArray], lrs: Numbers, wds: Numbers, etas: Numbers, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, clip_gradient: Number | None = -1.0,
    num_weights: Whole | None = 1, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _multi_mp_lamb_update(
    *data: NDArray | Sequence[NDArray], learning_rates: Numbers, wds: Numbers, step_count: Sides,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-06,
    rescale_grad: Number | None = 1.0, lower_bound: Number | None = -1.0, upper_bound: Number | None = -1.0,
    clip_gradient: Number | None = -1.0, bias_correction: Flag | None = True, num_tensors: Whole | None = 1,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _nadam_step(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, lr: Number, u: Number, v: Number, product: Number,
    t: Whole, beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _not_equal(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _not_equal_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _np_cumsum(
    a: NDArray, axis: Whole | None = None, dtype: Kind | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _onehot_encode(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _ones(
    shape: Sides | None = (), ctx: Context | str | None = '', dtype: Kind | None = 'float32', *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _plus(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _plus_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _power(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _power_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _random_exponential(
    lam: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_exponential_like(
    data: NDArray, lam: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_gamma(
    alpha: Number | None = 1.0, beta: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_gamma_like(
    data: NDArray, alpha: Number | None = 1.0, beta: Number | None = 1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _random_generalized_negative_binomial(
    mu: Number | None = 1.0, alpha: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_generalized_negative_binomial_like(
    data: NDArray, mu: Number | None = 1.0, alpha: Number | None = 1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _random_negative_binomial(
    k: Whole | None = 1, p: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_negative_binomial_like(
    data: NDArray, k: Whole | None = 1, p: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_normal(
    loc: Number | None = 0.0, scale: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_normal_like(
    data: NDArray, loc: Number | None = 0.0, scale: Number | None = 1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _random_pdf_dirichlet(
    sample: NDArray, alpha: NDArray, is_log: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_pdf_exponential(
    sample: NDArray, lam: NDArray, is_log: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_pdf_gamma(
    sample: NDArray, alpha: NDArray, beta: NDArray, is_log: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _random_pdf_generalized_negative_binomial(
    sample: NDArray, mu: NDArray, alpha: NDArray, is_log: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _random_pdf_negative_binomial(
    sample: NDArray, k: NDArray, p: NDArray, is_log: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _random_pdf_normal(
    sample: NDArray, mu: NDArray, sigma: NDArray, is_log: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _random_pdf_poisson(
    sample: NDArray, lam: NDArray, is_log: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_pdf_uniform(
    sample: NDArray, low: NDArray, high: NDArray, is_log: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _random_poisson(
    lam: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_poisson_like(
    data: NDArray, lam: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_randint(
    low: Whole, high: Whole, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_uniform(
    low: Number | None = 0.0, high: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _random_uniform_like(
    data: NDArray, low: Number | None = 0.0, high: Number | None = 1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _ravel_multi_index(
    data: NDArray, shape: Sides | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _rdiv_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _rminus_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _rmod_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _rnn_param_concat(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., dim: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _rpower_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sample_exponential(
    lam: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sample_gamma(
    alpha: NDArray, beta: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sample_generalized_negative_binomial(
    mu: NDArray, alpha: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sample_multinomial(
    data: NDArray, shape: Sides | None = (), get_prob: Flag | None = False, dtype: Kind | None = 'int32', *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _sample_negative_binomial(
    k: NDArray, p: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sample_normal(
    mu: NDArray, sigma: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sample_poisson(
    lam: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sample_uniform(
    low: NDArray, high: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sample_unique_zipfian(
    range_max: Whole, shape: Sides | None = None, *, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def _scatter_elemwise_div(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _scatter_minus_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _scatter_plus_scalar(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _scatter_set_nd(
    lhs: NDArray, rhs: NDArray, indices: NDArray, shape: Sides, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _set_value(src: float, out: NDArray) -> NDArray: ...
def _shuffle(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _slice_assign(
    lhs: NDArray, rhs: NDArray, begin: Ends, end: Ends, step: Ends | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def _slice_assign_scalar(
    data: NDArray, scalar: Number | None = 0.0, *, begin: Ends, end: Ends, step: Ends | None = ...,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _slice_assign_scalar(
    data: NDArray, scalar: Number | None, begin: Ends, end: Ends, step: Ends | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sparse_ElementWiseSum(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_Embedding(
    data: NDArray, weight: NDArray, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    sparse_grad: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _sparse_FullyConnected(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, *, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def _sparse_FullyConnected(
    data: NDArray, weight: NDArray, bias: NDArray | None, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_LinearRegressionOutput(
    data: NDArray, label: NDArray, grad_scale: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_LogisticRegressionOutput(
    data: NDArray, label: NDArray, grad_scale: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_MAERegressionOutput(
    data: NDArray, label: NDArray, grad_scale: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_abs(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_adagrad_update(
    weight: NDArray, grad: NDArray, history: NDArray, lr: Number, epsilon: Number | None = 1e-07,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_adam_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, lr: Number, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_add_n(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_arccos(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_arccosh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_arcsin(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_arcsinh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_arctan(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_arctanh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_broadcast_add(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_broadcast_div(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_broadcast_minus(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_broadcast_mul(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_broadcast_plus(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_broadcast_sub(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_cast_storage(
    data: NDArray, stype: Literal['default', 'row_sparse', 'csr'], *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_cbrt(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_ceil(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_clip(
    data: NDArray, a_min: Number, a_max: Number, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_concat(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., dim: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sparse_cos(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_cosh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_degrees(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_dot(
    lhs: NDArray, rhs: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sparse_elemwise_add(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_elemwise_div(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_elemwise_mul(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_elemwise_sub(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_exp(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_expm1(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_fix(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_floor(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_ftrl_update(
    weight: NDArray, grad: NDArray, z: NDArray, n: NDArray, lr: Number, lamda1: Number | None = 0.01,
    beta: Number | None = 1.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_gamma(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_gammaln(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_log(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_log10(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_log1p(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_log2(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_make_loss(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_mean(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_negative(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_norm(
    data: NDArray, ord: Whole | None = 2, axis: Sides | None = None,
    out_dtype: Literal['float16', 'float32', 'float64', 'int32', 'int64', 'int8'] | None = None,
    keepdims: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_radians(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_relu(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_retain(data: NDArray, indices: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_rint(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_round(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_rsqrt(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_sgd_mom_update(
    weight: NDArray, grad: NDArray, mom: NDArray, lr: Number, momentum: Number | None = 0.0, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_sgd_update(
    weight: NDArray, grad: NDArray, lr: Number, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def _sparse_sigmoid(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_sign(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_sin(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_sinh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_slice(
    data: NDArray, begin: Ends, end: Ends, step: Ends | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_sqrt(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_square(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_stop_gradient(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_sum(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_tan(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_tanh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_trunc(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sparse_where(
    condition: NDArray, x: NDArray, y: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _sparse_zeros_like(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _split_v2(
    data: NDArray, indices: Sides, axis: Whole | None = 1, squeeze_axis: Flag | None = False,
    sections: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def _square_sum(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _stretch_like(data: NDArray, like: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sub(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _sum_like(data: NDArray, like: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def _unravel_index(
    data: NDArray, shape: Sides | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _zeros(
    shape: Sides | None = (), ctx: Context | str | None = '', dtype: Kind | None = 'float32', *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def _zeros_without_dtype(
    shape: Sides | None = None, ctx: Context | str | None = '', dtype: Whole | None = -1, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
