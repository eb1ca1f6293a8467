"""mx.sym._internal: operators whose names begin with an underscore, as functions on symbols."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from collections.abc import Sequence
from typing import Literal, overload

from typing_extensions import Unpack

from ..context import Context
from ..op_registry.argument_types import Attributes, Ends, Flag, GraphKeywords, Kind, Number, Numbers, Sides, Whole
from .symbol import Symbol

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
    "_cvimresize", "_dcasgd_mom_step", "_dcasgd_step", "_div", "_div_scalar", "_equal", "_equal_scalar", "_eye",
    "_full", "_grad_add", "_grad_add_weight", "_greater", "_greater_equal", "_greater_equal_scalar", "_greater_scalar",
    "_histogram", "_hypot", "_hypot_scalar", "_identity_with_attr_like_rhs", "_image_adjust_lighting", "_image_crop",
    "_image_flip_left_right", "_image_flip_top_bottom", "_image_normalize", "_image_random_brightness",
    "_image_random_color_jitter", "_image_random_contrast", "_image_random_flip_left_right",
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
    "_scatter_plus_scalar", "_scatter_set_nd", "_shuffle", "_slice_assign", "_slice_assign_scalar",
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

def _CrossDeviceCopy(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _DivScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _EqualScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Greater(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _GreaterEqualScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _GreaterScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Greater_Equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Hypot(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _HypotScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Lesser(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _LesserEqualScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _LesserScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Lesser_Equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _LogicalAndScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _LogicalOrScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _LogicalXorScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Logical_And(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Logical_Or(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Logical_Xor(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Maximum(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _MaximumScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Minimum(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _MinimumScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Minus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _MinusScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Mod(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _ModScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _MulScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _NotEqualScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Not_Equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Plus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _PlusScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _Power(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _PowerScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _RDivScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _RMinusScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _RModScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _RPowerScalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _adadelta_step(
    weight: Symbol | None = None, grad: Symbol | None = None, acc_g: Symbol | None = None,
    acc_delta: Symbol | None = None, rho: Number | None = 0.9, epsilon: Number | None = 1e-05, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _adamax_step(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, largest: Symbol | None = None,
    *, lr: Number, beta1: Number | None = 0.9, beta2: Number | None = 0.999, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _adamax_step(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, largest: Symbol | None, lr: Number,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _adamw_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None,
    rescale_grad: Symbol | None = None, *, lr: Number, beta1: Number | None = 0.9, beta2: Number | None = 0.999,
    epsilon: Number | None = 1e-08, wd: Number | None = 0.0, eta: Number, clip_gradient: Number | None = -1.0,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _adamw_update(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, rescale_grad: Symbol | None,
    lr: Number, beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08,
    wd: Number | None = 0.0, *, eta: Number, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _adamw_update(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, rescale_grad: Symbol | None,
    lr: Number, beta1: Number | None, beta2: Number | None, epsilon: Number | None, wd: Number | None, eta: Number,
    clip_gradient: Number | None = -1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _arange(
    start: Number, stop: Number | None = None, step: Number | None = 1.0, repeat: Whole | None = 1,
    infer_range: Flag | None = False, ctx: Context | str | None = '', dtype: Kind | None = 'float32', *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Cast(
    head: Symbol | None = None, data: Symbol | None = None, *, dtype: Kind, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Cast(
    head: Symbol | None, data: Symbol | None, dtype: Kind, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_Concat(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., dim: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def _backward_Convolution_data(
    head: Symbol | None = None, data: Symbol | None = None, weight: Symbol | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Convolution_data(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Convolution_data(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, kernel: Sides, stride: Sides | None,
    dilate: Sides | None, pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Convolution_weight(
    head: Symbol | None = None, data: Symbol | None = None, weight: Symbol | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Convolution_weight(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Convolution_weight(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, kernel: Sides, stride: Sides | None,
    dilate: Sides | None, pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Deconvolution_data(
    head: Symbol | None = None, data: Symbol | None = None, weight: Symbol | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), adj: Sides | None = (),
    target_shape: Sides | None = (), num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 512,
    no_bias: Flag | None = True, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
    cudnn_off: Flag | None = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Deconvolution_data(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), adj: Sides | None = (), target_shape: Sides | None = (), *,
    num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Deconvolution_data(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, kernel: Sides, stride: Sides | None,
    dilate: Sides | None, pad: Sides | None, adj: Sides | None, target_shape: Sides | None, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Deconvolution_weight(
    head: Symbol | None = None, data: Symbol | None = None, weight: Symbol | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), adj: Sides | None = (),
    target_shape: Sides | None = (), num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 512,
    no_bias: Flag | None = True, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
    cudnn_off: Flag | None = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Deconvolution_weight(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), adj: Sides | None = (), target_shape: Sides | None = (), *,
    num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Deconvolution_weight(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, kernel: Sides, stride: Sides | None,
    dilate: Sides | None, pad: Sides | None, adj: Sides | None, target_shape: Sides | None, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Embedding(
    head: Symbol | None = None, data: Symbol | None = None, weight: Symbol | None = None, *, input_dim: Whole,
    output_dim: Whole, dtype: Kind | None = 'float32', sparse_grad: Flag | None = False, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_Embedding(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, input_dim: Whole, output_dim: Whole,
    dtype: Kind | None = 'float32', sparse_grad: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_FullyConnected_data(
    head: Symbol | None = None, data: Symbol | None = None, weight: Symbol | None = None, *, num_hidden: Whole,
    no_bias: Flag | None = False, flatten: Flag | None = True, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_FullyConnected_data(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_FullyConnected_weight(
    head: Symbol | None = None, data: Symbol | None = None, weight: Symbol | None = None, *, num_hidden: Whole,
    no_bias: Flag | None = False, flatten: Flag | None = True, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_FullyConnected_weight(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_LeakyReLU(
    head: Symbol | None = None, data: Symbol | None = None, gamma: Symbol | None = None,
    act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] | None = 'leaky', slope: Number | None = 0.25,
    lower_bound: Number | None = 0.125, upper_bound: Number | None = 0.333999991, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_SequenceLast(
    head: Symbol | None = None, data: Symbol | None = None, sequence_length: Symbol | None = None,
    use_sequence_length: Flag | None = False, axis: Whole | None = 0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward__contrib_AdaptiveAvgPooling2D(
    head: Symbol | None = None, data: Symbol | None = None, output_size: Sides | None = (), *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward__contrib_BilinearResize2D(
    head: Symbol | None = None, data: Symbol | None = None, like: Symbol | None = None, height: Whole | None = 1,
    width: Whole | None = 1, scale_height: Number | None = None, scale_width: Number | None = None,
    mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] | None = 'size',
    align_corners: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward__contrib_SparseEmbedding(
    head: Symbol | None = None, data: Symbol | None = None, weight: Symbol | None = None, *, input_dim: Whole,
    output_dim: Whole, dtype: Kind | None = 'float32', deterministic: Flag | None = False, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward__contrib_SparseEmbedding(
    head: Symbol | None, data: Symbol | None, weight: Symbol | None, input_dim: Whole, output_dim: Whole,
    dtype: Kind | None = 'float32', deterministic: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_batch_dot_lhs(
    head: Symbol | None = None, lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_batch_dot_rhs(
    head: Symbol | None = None, lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_col2im(
    head: Symbol | None = None, data: Symbol | None = None, *, output_size: Sides, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_col2im(
    head: Symbol | None, data: Symbol | None, output_size: Sides, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_dot_lhs(
    head: Symbol | None = None, lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_dot_rhs(
    head: Symbol | None = None, lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_im2col(
    head: Symbol | None = None, data: Symbol | None = None, *, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_im2col(
    head: Symbol | None, data: Symbol | None, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_mean(
    head: Symbol | None = None, data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False,
    exclude: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_pick(
    head: Symbol | None = None, data: Symbol | None = None, index: Symbol | None = None, axis: Whole | None = -1,
    keepdims: Flag | None = False, mode: Literal['clip', 'wrap'] | None = 'clip', *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_slice(
    head: Symbol | None = None, data: Symbol | None = None, *, begin: Ends, end: Ends, step: Ends | None = ...,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_slice(
    head: Symbol | None, data: Symbol | None, begin: Ends, end: Ends, step: Ends | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_slice_axis(
    head: Symbol | None = None, data: Symbol | None = None, *, axis: Whole, begin: Whole, end: Whole | None,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _backward_slice_axis(
    head: Symbol | None, data: Symbol | None, axis: Whole, begin: Whole, end: Whole | None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_slice_like(
    head: Symbol | None = None, data: Symbol | None = None, shape_like: Symbol | None = None, axes: Sides | None = (),
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_sum(
    head: Symbol | None = None, data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False,
    exclude: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _backward_take(
    head: Symbol | None = None, a: Symbol | None = None, indices: Symbol | None = None, axis: Whole | None = 0,
    mode: Literal['clip', 'raise', 'wrap'] | None = 'clip', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_AdaptiveAvgPooling2D(
    data: Symbol | None = None, output_size: Sides | None = (), *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_BatchNormWithReLU(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None, eps: Number | None = 0.0010000000474974513,
    momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True, use_global_stats: Flag | None = False,
    output_mean_var: Flag | None = False, axis: Whole | None = 1, cudnn_off: Flag | None = False,
    min_calib_range: Number | None = None, max_calib_range: Number | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_BilinearResize2D(
    data: Symbol | None = None, like: Symbol | None = None, height: Whole | None = 1, width: Whole | None = 1,
    scale_height: Number | None = None, scale_width: Number | None = None,
    mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] | None = 'size',
    align_corners: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_CTCLoss(
    data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None, use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_DeformableConvolution(
    data: Symbol | None = None, offset: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    *, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_DeformableConvolution(
    data: Symbol | None, offset: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_DeformableConvolution(
    data: Symbol | None, offset: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: Sides,
    stride: Sides | None, dilate: Sides | None, pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_DeformablePSROIPooling(
    data: Symbol | None = None, rois: Symbol | None = None, trans: Symbol | None = None, *, spatial_scale: Number,
    output_dim: Whole, group_size: Whole, pooled_size: Whole, part_size: Whole | None = 0,
    sample_per_part: Whole | None = 1, trans_std: Number | None = 0.0, no_trans: Flag | None = False,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_DeformablePSROIPooling(
    data: Symbol | None, rois: Symbol | None, trans: Symbol | None, spatial_scale: Number, output_dim: Whole,
    group_size: Whole, pooled_size: Whole, part_size: Whole | None = 0, sample_per_part: Whole | None = 1,
    trans_std: Number | None = 0.0, no_trans: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_ModulatedDeformableConvolution(
    data: Symbol | None = None, offset: Symbol | None = None, mask: Symbol | None = None, weight: Symbol | None = None,
    bias: Symbol | None = None, *, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), num_filter: Whole, num_group: Whole | None = 1, num_deformable_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False, im2col_step: Whole | None = 64,
    layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_ModulatedDeformableConvolution(
    data: Symbol | None, offset: Symbol | None, mask: Symbol | None, weight: Symbol | None, bias: Symbol | None,
    kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, im2col_step: Whole | None = 64, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_ModulatedDeformableConvolution(
    data: Symbol | None, offset: Symbol | None, mask: Symbol | None, weight: Symbol | None, bias: Symbol | None,
    kernel: Sides, stride: Sides | None, dilate: Sides | None, pad: Sides | None, num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, im2col_step: Whole | None = 64, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_MultiBoxDetection(
    cls_prob: Symbol | None = None, loc_pred: Symbol | None = None, anchor: Symbol | None = None,
    clip: Flag | None = True, threshold: Number | None = 0.01, background_id: Whole | None = 0,
    nms_threshold: Number | None = 0.5, force_suppress: Flag | None = False,
    variances: Numbers | None = (0.1, 0.1, 0.2, 0.2), nms_topk: Whole | None = -1, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_MultiBoxPrior(
    data: Symbol | None = None, sizes: Numbers | None = (1.0,), ratios: Numbers | None = (1.0,),
    clip: Flag | None = False, steps: Numbers | None = (-1.0, -1.0), offsets: Numbers | None = (0.5, 0.5), *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_MultiBoxTarget(
    anchor: Symbol | None = None, label: Symbol | None = None, cls_pred: Symbol | None = None,
    overlap_threshold: Number | None = 0.5, ignore_label: Number | None = -1.0,
    negative_mining_ratio: Number | None = -1.0, negative_mining_thresh: Number | None = 0.5,
    minimum_negative_samples: Whole | None = 0, variances: Numbers | None = (0.1, 0.1, 0.2, 0.2), *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_MultiProposal(
    cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None, im_info: Symbol | None = None,
    rpn_pre_nms_top_n: Whole | None = 6000, rpn_post_nms_top_n: Whole | None = 300, threshold: Number | None = 0.7,
    rpn_min_size: Whole | None = 16, scales: Numbers | None = (4.0, 8.0, 16.0, 32.0),
    ratios: Numbers | None = (0.5, 1.0, 2.0), feature_stride: Whole | None = 16, output_score: Flag | None = False,
    iou_loss: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_PSROIPooling(
    data: Symbol | None = None, rois: Symbol | None = None, *, spatial_scale: Number, output_dim: Whole,
    pooled_size: Whole, group_size: Whole | None = 0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_PSROIPooling(
    data: Symbol | None, rois: Symbol | None, spatial_scale: Number, output_dim: Whole, pooled_size: Whole,
    group_size: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_Proposal(
    cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None, im_info: Symbol | None = None,
    rpn_pre_nms_top_n: Whole | None = 6000, rpn_post_nms_top_n: Whole | None = 300, threshold: Number | None = 0.7,
    rpn_min_size: Whole | None = 16, scales: Numbers | None = (4.0, 8.0, 16.0, 32.0),
    ratios: Numbers | None = (0.5, 1.0, 2.0), feature_stride: Whole | None = 16, output_score: Flag | None = False,
    iou_loss: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_ROIAlign(
    data: Symbol | None = None, rois: Symbol | None = None, *, pooled_size: Sides, spatial_scale: Number,
    sample_ratio: Whole | None = -1, position_sensitive: Flag | None = False, aligned: Flag | None = False,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_ROIAlign(
    data: Symbol | None, rois: Symbol | None, pooled_size: Sides, spatial_scale: Number,
    sample_ratio: Whole | None = -1, position_sensitive: Flag | None = False, aligned: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_RROIAlign(
    data: Symbol | None = None, rois: Symbol | None = None, *, pooled_size: Sides, spatial_scale: Number,
    sampling_ratio: Whole | None = -1, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_RROIAlign(
    data: Symbol | None, rois: Symbol | None, pooled_size: Sides, spatial_scale: Number,
    sampling_ratio: Whole | None = -1, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_SparseEmbedding(
    data: Symbol | None = None, weight: Symbol | None = None, *, input_dim: Whole, output_dim: Whole,
    dtype: Kind | None = 'float32', deterministic: Flag | None = False, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_SparseEmbedding(
    data: Symbol | None, weight: Symbol | None, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    deterministic: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_SyncBatchNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None, eps: Number | None = 0.00100000005,
    momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True, use_global_stats: Flag | None = False,
    output_mean_var: Flag | None = False, ndev: Whole | None = 1, *, key: str, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_SyncBatchNorm(
    data: Symbol | None, gamma: Symbol | None, beta: Symbol | None, moving_mean: Symbol | None,
    moving_var: Symbol | None, eps: Number | None, momentum: Number | None, fix_gamma: Flag | None,
    use_global_stats: Flag | None, output_mean_var: Flag | None, ndev: Whole | None, key: str, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_allclose(
    a: Symbol | None = None, b: Symbol | None = None, rtol: Number | None = 1e-05, atol: Number | None = 1e-08,
    equal_nan: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_arange_like(
    data: Symbol | None = None, start: Number | None = 0.0, step: Number | None = 1.0, repeat: Whole | None = 1,
    ctx: Context | str | None = '', axis: Whole | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_bipartite_matching(
    data: Symbol | None = None, is_ascend: Flag | None = False, *, threshold: Number, topk: Whole | None = -1,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_bipartite_matching(
    data: Symbol | None, is_ascend: Flag | None, threshold: Number, topk: Whole | None = -1, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_box_decode(
    data: Symbol | None = None, anchors: Symbol | None = None, std0: Number | None = 1.0, std1: Number | None = 1.0,
    std2: Number | None = 1.0, std3: Number | None = 1.0, clip: Number | None = -1.0,
    format: Literal['center', 'corner'] | None = 'center', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_box_encode(
    samples: Symbol | None = None, matches: Symbol | None = None, anchors: Symbol | None = None,
    refs: Symbol | None = None, means: Symbol | None = None, stds: Symbol | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_box_iou(
    lhs: Symbol | None = None, rhs: Symbol | None = None, format: Literal['center', 'corner'] | None = 'corner', *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_box_nms(
    data: Symbol | None = None, overlap_thresh: Number | None = 0.5, valid_thresh: Number | None = 0.0,
    topk: Whole | None = -1, coord_start: Whole | None = 2, score_index: Whole | None = 1, id_index: Whole | None = -1,
    background_id: Whole | None = -1, force_suppress: Flag | None = False,
    in_format: Literal['center', 'corner'] | None = 'corner', out_format: Literal['center', 'corner'] | None = 'corner',
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_box_non_maximum_suppression(
    data: Symbol | None = None, overlap_thresh: Number | None = 0.5, valid_thresh: Number | None = 0.0,
    topk: Whole | None = -1, coord_start: Whole | None = 2, score_index: Whole | None = 1, id_index: Whole | None = -1,
    background_id: Whole | None = -1, force_suppress: Flag | None = False,
    in_format: Literal['center', 'corner'] | None = 'corner', out_format: Literal['center', 'corner'] | None = 'corner',
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_calibrate_entropy(
    hist: Symbol | None = None, hist_edges: Symbol | None = None, num_quantized_bins: Whole | None = 255, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_ctc_loss(
    data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None, use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_dequantize(
    data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None,
    out_type: Literal['float32'] | None = 'float32', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_div_sqrt_dim(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_getnnz(
    data: Symbol | None = None, axis: Whole | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_gradientmultiplier(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_group_adagrad_update(
    weight: Symbol | None = None, grad: Symbol | None = None, history: Symbol | None = None, *, lr: Number,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, epsilon: Number | None = 1e-05,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_group_adagrad_update(
    weight: Symbol | None, grad: Symbol | None, history: Symbol | None, lr: Number, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, epsilon: Number | None = 1e-05, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_index_array(
    data: Symbol | None = None, axes: Sides | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_index_copy(
    old_tensor: Symbol | None = None, index_vector: Symbol | None = None, new_tensor: Symbol | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_interleaved_matmul_encdec_qk(
    queries: Symbol | None = None, keys_values: Symbol | None = None, *, heads: Whole, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_interleaved_matmul_encdec_qk(
    queries: Symbol | None, keys_values: Symbol | None, heads: Whole, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_interleaved_matmul_encdec_valatt(
    keys_values: Symbol | None = None, attention: Symbol | None = None, *, heads: Whole, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_interleaved_matmul_encdec_valatt(
    keys_values: Symbol | None, attention: Symbol | None, heads: Whole, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_interleaved_matmul_selfatt_qk(
    queries_keys_values: Symbol | None = None, *, heads: Whole, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_interleaved_matmul_selfatt_qk(
    queries_keys_values: Symbol | None, heads: Whole, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_interleaved_matmul_selfatt_valatt(
    queries_keys_values: Symbol | None = None, attention: Symbol | None = None, *, heads: Whole,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_interleaved_matmul_selfatt_valatt(
    queries_keys_values: Symbol | None, attention: Symbol | None, heads: Whole, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_quadratic(
    data: Symbol | None = None, a: Number | None = 0.0, b: Number | None = 0.0, c: Number | None = 0.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_quantize(
    data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None,
    out_type: Literal['int8', 'uint8'] | None = 'uint8', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_quantize_v2(
    data: Symbol | None = None, out_type: Literal['auto', 'int8', 'uint8'] | None = 'int8',
    min_calib_range: Number | None = None, max_calib_range: Number | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_quantized_act(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None, *,
    act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_quantized_act(
    data: Symbol | None, min_data: Symbol | None, max_data: Symbol | None,
    act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_quantized_batch_norm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None, min_data: Symbol | None = None,
    max_data: Symbol | None = None, eps: Number | None = 0.0010000000474974513, momentum: Number | None = 0.899999976,
    fix_gamma: Flag | None = True, use_global_stats: Flag | None = False, output_mean_var: Flag | None = False,
    axis: Whole | None = 1, cudnn_off: Flag | None = False, min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_quantized_concat(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., dim: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def _contrib_quantized_conv(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    min_data: Symbol | None = None, max_data: Symbol | None = None, min_weight: Symbol | None = None,
    max_weight: Symbol | None = None, min_bias: Symbol | None = None, max_bias: Symbol | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_quantized_conv(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, min_data: Symbol | None, max_data: Symbol | None,
    min_weight: Symbol | None, max_weight: Symbol | None, min_bias: Symbol | None, max_bias: Symbol | None,
    kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_quantized_conv(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, min_data: Symbol | None, max_data: Symbol | None,
    min_weight: Symbol | None, max_weight: Symbol | None, min_bias: Symbol | None, max_bias: Symbol | None,
    kernel: Sides, stride: Sides | None, dilate: Sides | None, pad: Sides | None, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_quantized_elemwise_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_min: Symbol | None = None, lhs_max: Symbol | None = None,
    rhs_min: Symbol | None = None, rhs_max: Symbol | None = None, min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_quantized_elemwise_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_min: Symbol | None = None, lhs_max: Symbol | None = None,
    rhs_min: Symbol | None = None, rhs_max: Symbol | None = None, min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, enable_float_output: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_quantized_embedding(
    data: Symbol | None = None, weight: Symbol | None = None, min_weight: Symbol | None = None,
    max_weight: Symbol | None = None, *, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    sparse_grad: Flag | None = False, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_quantized_embedding(
    data: Symbol | None, weight: Symbol | None, min_weight: Symbol | None, max_weight: Symbol | None, input_dim: Whole,
    output_dim: Whole, dtype: Kind | None = 'float32', sparse_grad: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_quantized_flatten(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_quantized_fully_connected(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    min_data: Symbol | None = None, max_data: Symbol | None = None, min_weight: Symbol | None = None,
    max_weight: Symbol | None = None, min_bias: Symbol | None = None, max_bias: Symbol | None = None, *,
    num_hidden: Whole, no_bias: Flag | None = False, flatten: Flag | None = True, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _contrib_quantized_fully_connected(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, min_data: Symbol | None, max_data: Symbol | None,
    min_weight: Symbol | None, max_weight: Symbol | None, min_bias: Symbol | None, max_bias: Symbol | None,
    num_hidden: Whole, no_bias: Flag | None = False, flatten: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_quantized_pooling(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None,
    kernel: Sides | None = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] | None = 'max',
    global_pool: Flag | None = False, cudnn_off: Flag | None = False,
    pooling_convention: Literal['full', 'same', 'valid'] | None = 'valid', stride: Sides | None = (),
    pad: Sides | None = (), p_value: Whole | None = None, count_include_pad: Flag | None = None,
    layout: Literal['None', 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _contrib_requantize(
    data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None,
    out_type: Literal['auto', 'int8', 'uint8'] | None = 'int8', min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _copy(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _copyto(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _crop_assign(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, begin: Ends, end: Ends, step: Ends | None = ...,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _crop_assign(
    lhs: Symbol | None, rhs: Symbol | None, begin: Ends, end: Ends, step: Ends | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _crop_assign_scalar(
    data: Symbol | None = None, scalar: Number | None = 0.0, *, begin: Ends, end: Ends, step: Ends | None = ...,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _crop_assign_scalar(
    data: Symbol | None, scalar: Number | None, begin: Ends, end: Ends, step: Ends | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _cvcopyMakeBorder(
    src: Symbol | None = None, *, top: Whole, bot: Whole, left: Whole, right: Whole, type: Whole | None = 0,
    value: Number | None = 0.0, values: Numbers | None = (), name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _cvcopyMakeBorder(
    src: Symbol | None, top: Whole, bot: Whole, left: Whole, right: Whole, type: Whole | None = 0,
    value: Number | None = 0.0, values: Numbers | None = (), *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _cvimresize(
    src: Symbol | None = None, *, w: Whole, h: Whole, interp: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _cvimresize(
    src: Symbol | None, w: Whole, h: Whole, interp: Whole | None = 1, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _dcasgd_mom_step(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None, previous: Symbol | None = None,
    *, lr: Number, momentum: Number | None = 0.0, lamda: Number | None = 0.04, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _dcasgd_mom_step(
    weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, previous: Symbol | None, lr: Number,
    momentum: Number | None = 0.0, lamda: Number | None = 0.04, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _dcasgd_step(
    weight: Symbol | None = None, grad: Symbol | None = None, previous: Symbol | None = None, *, lr: Number,
    lamda: Number | None = 0.04, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _dcasgd_step(
    weight: Symbol | None, grad: Symbol | None, previous: Symbol | None, lr: Number, lamda: Number | None = 0.04,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _div_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _equal_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _eye(
    N: Whole, M: Whole | None = 0, k: Whole | None = 0, ctx: Context | str | None = '', dtype: Kind | None = 'float32',
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _full(
    shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = 'float32', *, value: Number,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _full(
    shape: Sides | None, ctx: Context | str | None, dtype: Kind | None, value: Number, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _grad_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _grad_add_weight(
    total: Symbol | None = None, head: Symbol | None = None, data: Symbol | None = None, *, num_hidden: Whole,
    flatten: Flag | None = True, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _grad_add_weight(
    total: Symbol | None, head: Symbol | None, data: Symbol | None, num_hidden: Whole, flatten: Flag | None = True, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _greater(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _greater_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _greater_equal_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _greater_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _histogram(
    data: Symbol | None = None, bins: Symbol | None = None, bin_cnt: Whole | None = None, range: Numbers | None = None,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _hypot(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _hypot_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _identity_with_attr_like_rhs(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_adjust_lighting(
    data: Symbol | None = None, *, alpha: Numbers, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_adjust_lighting(
    data: Symbol | None, alpha: Numbers, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_crop(
    data: Symbol | None = None, *, x: Whole, y: Whole, width: Whole, height: Whole, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_crop(
    data: Symbol | None, x: Whole, y: Whole, width: Whole, height: Whole, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _image_flip_left_right(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _image_flip_top_bottom(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _image_normalize(
    data: Symbol | None = None, mean: Numbers | None = (0.0, 0.0, 0.0, 0.0), std: Numbers | None = (1.0, 1.0, 1.0, 1.0),
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_random_brightness(
    data: Symbol | None = None, *, min_factor: Number, max_factor: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_random_brightness(
    data: Symbol | None, min_factor: Number, max_factor: Number, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_random_color_jitter(
    data: Symbol | None = None, *, brightness: Number, contrast: Number, saturation: Number, hue: Number,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_random_color_jitter(
    data: Symbol | None, brightness: Number, contrast: Number, saturation: Number, hue: Number, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_random_contrast(
    data: Symbol | None = None, *, min_factor: Number, max_factor: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_random_contrast(
    data: Symbol | None, min_factor: Number, max_factor: Number, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _image_random_flip_left_right(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _image_random_flip_top_bottom(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_random_hue(
    data: Symbol | None = None, *, min_factor: Number, max_factor: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_random_hue(
    data: Symbol | None, min_factor: Number, max_factor: Number, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _image_random_lighting(
    data: Symbol | None = None, alpha_std: Number | None = 0.0500000007, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_random_saturation(
    data: Symbol | None = None, *, min_factor: Number, max_factor: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _image_random_saturation(
    data: Symbol | None, min_factor: Number, max_factor: Number, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _image_resize(
    data: Symbol | None = None, size: Sides | None = (), keep_ratio: Flag | None = False, interp: Whole | None = 1, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _image_to_tensor(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _lesser(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _lesser_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _lesser_equal_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _lesser_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_det(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_extractdiag(
    A: Symbol | None = None, offset: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_extracttrian(
    A: Symbol | None = None, offset: Whole | None = 0, lower: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_gelqf(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_gemm(
    A: Symbol | None = None, B: Symbol | None = None, C: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, alpha: Number | None = 1.0, beta: Number | None = 1.0, axis: Whole | None = -2, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_gemm2(
    A: Symbol | None = None, B: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, alpha: Number | None = 1.0, axis: Whole | None = -2, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_inverse(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_makediag(
    A: Symbol | None = None, offset: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_maketrian(
    A: Symbol | None = None, offset: Whole | None = 0, lower: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_potrf(
    A: Symbol | None = None, lower: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_potri(
    A: Symbol | None = None, lower: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_slogdet(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_sumlogdiag(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_syevd(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_syrk(
    A: Symbol | None = None, transpose: Flag | None = False, alpha: Number | None = 1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_trmm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: Flag | None = False, rightside: Flag | None = False,
    lower: Flag | None = True, alpha: Number | None = 1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linalg_trsm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: Flag | None = False, rightside: Flag | None = False,
    lower: Flag | None = True, alpha: Number | None = 1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _linspace(
    start: Number, stop: Number, num: Whole, endpoint: Flag | None = True, ctx: Context | str | None = '',
    dtype: Kind | None = 'float32', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _logical_and(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _logical_and_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _logical_or(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _logical_or_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _logical_xor(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _logical_xor_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _maximum(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _maximum_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _minimum(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _minimum_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _minus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _minus_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _mod(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _mod_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _mp_adamw_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None,
    weight32: Symbol | None = None, rescale_grad: Symbol | None = None, *, lr: Number, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, wd: Number | None = 0.0, eta: Number,
    clip_gradient: Number | None = -1.0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _mp_adamw_update(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, weight32: Symbol | None,
    rescale_grad: Symbol | None, lr: Number, beta1: Number | None = 0.9, beta2: Number | None = 0.999,
    epsilon: Number | None = 1e-08, wd: Number | None = 0.0, *, eta: Number, clip_gradient: Number | None = -1.0,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _mp_adamw_update(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, weight32: Symbol | None,
    rescale_grad: Symbol | None, lr: Number, beta1: Number | None, beta2: Number | None, epsilon: Number | None,
    wd: Number | None, eta: Number, clip_gradient: Number | None = -1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _mul_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _multi_adamw_update(
    *data: Symbol | Sequence[Symbol], lrs: Numbers, wds: Numbers, etas: Numbers, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, clip_gradient: Number | None = -1.0,
    num_weights: Whole | None = 1, name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ...,
    wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ...,
    __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def _multi_lamb_update(
    *data: Symbol | Sequence[Symbol], learning_rates: Numbers, wds: Numbers, step_count: Sides,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-06,
    rescale_grad: Number | None = 1.0, lower_bound: Number | None = -1.0, upper_bound: Number | None = -1.0,
    clip_gradient: Number | None = -1.0, bias_correction: Flag | None = True, num_tensors: Whole | None = 1,
    name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ...,
    ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def _multi_mp_adamw_update(
    *data: Symbol | Sequence[Symbol], lrs: Numbers, wds: Numbers, etas: Numbers, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, clip_gradient: Number | None = -1.0,
    num_weights: Whole | None = 1, name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ...,
    wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ...,
    __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def _multi_mp_lamb_update(
    *data: Symbol | Sequence[Symbol], learning_rates: Numbers, wds: Numbers, step_count: Sides,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-06,
    rescale_grad: Number | None = 1.0, lower_bound: Number | None = -1.0, upper_bound: Number | None = -1.0,
    clip_gradient: Number | None = -1.0, bias_correction: Flag | None = True, num_tensors: Whole | None = 1,
    name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ...,
    ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def _nadam_step(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None, *,
    lr: Number, u: Number, v: Number, product: Number, t: Whole, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _nadam_step(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, lr: Number, u: Number,
    v: Number, product: Number, t: Whole, beta1: Number | None = 0.9, beta2: Number | None = 0.999,
    epsilon: Number | None = 1e-08, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _not_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _not_equal_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _np_cumsum(
    a: Symbol | None = None, axis: Whole | None = None, dtype: Kind | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _onehot_encode(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _ones(
    shape: Sides | None = (), ctx: Context | str | None = '', dtype: Kind | None = 'float32', *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _plus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _plus_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _power(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _power_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_exponential(
    lam: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_exponential_like(
    data: Symbol | None = None, lam: Number | None = 1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_gamma(
    alpha: Number | None = 1.0, beta: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_gamma_like(
    data: Symbol | None = None, alpha: Number | None = 1.0, beta: Number | None = 1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_generalized_negative_binomial(
    mu: Number | None = 1.0, alpha: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_generalized_negative_binomial_like(
    data: Symbol | None = None, mu: Number | None = 1.0, alpha: Number | None = 1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_negative_binomial(
    k: Whole | None = 1, p: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_negative_binomial_like(
    data: Symbol | None = None, k: Whole | None = 1, p: Number | None = 1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_normal(
    loc: Number | None = 0.0, scale: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_normal_like(
    data: Symbol | None = None, loc: Number | None = 0.0, scale: Number | None = 1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_pdf_dirichlet(
    sample: Symbol | None = None, alpha: Symbol | None = None, is_log: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_pdf_exponential(
    sample: Symbol | None = None, lam: Symbol | None = None, is_log: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_pdf_gamma(
    sample: Symbol | None = None, alpha: Symbol | None = None, beta: Symbol | None = None, is_log: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_pdf_generalized_negative_binomial(
    sample: Symbol | None = None, mu: Symbol | None = None, alpha: Symbol | None = None, is_log: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_pdf_negative_binomial(
    sample: Symbol | None = None, k: Symbol | None = None, p: Symbol | None = None, is_log: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_pdf_normal(
    sample: Symbol | None = None, mu: Symbol | None = None, sigma: Symbol | None = None, is_log: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_pdf_poisson(
    sample: Symbol | None = None, lam: Symbol | None = None, is_log: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_pdf_uniform(
    sample: Symbol | None = None, low: Symbol | None = None, high: Symbol | None = None, is_log: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_poisson(
    lam: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_poisson_like(
    data: Symbol | None = None, lam: Number | None = 1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_randint(
    low: Whole, high: Whole, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_uniform(
    low: Number | None = 0.0, high: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _random_uniform_like(
    data: Symbol | None = None, low: Number | None = 0.0, high: Number | None = 1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _ravel_multi_index(
    data: Symbol | None = None, shape: Sides | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _rdiv_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _rminus_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _rmod_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _rnn_param_concat(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., dim: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def _rpower_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sample_exponential(
    lam: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sample_gamma(
    alpha: Symbol | None = None, beta: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sample_generalized_negative_binomial(
    mu: Symbol | None = None, alpha: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sample_multinomial(
    data: Symbol | None = None, shape: Sides | None = (), get_prob: Flag | None = False, dtype: Kind | None = 'int32',
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sample_negative_binomial(
    k: Symbol | None = None, p: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sample_normal(
    mu: Symbol | None = None, sigma: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sample_poisson(
    lam: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sample_uniform(
    low: Symbol | None = None, high: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sample_unique_zipfian(
    range_max: Whole, shape: Sides | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _scatter_elemwise_div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _scatter_minus_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _scatter_plus_scalar(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _scatter_set_nd(
    lhs: Symbol | None = None, rhs: Symbol | None = None, indices: Symbol | None = None, *, shape: Sides,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _scatter_set_nd(
    lhs: Symbol | None, rhs: Symbol | None, indices: Symbol | None, shape: Sides, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _shuffle(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _slice_assign(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, begin: Ends, end: Ends, step: Ends | None = ...,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _slice_assign(
    lhs: Symbol | None, rhs: Symbol | None, begin: Ends, end: Ends, step: Ends | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _slice_assign_scalar(
    data: Symbol | None = None, scalar: Number | None = 0.0, *, begin: Ends, end: Ends, step: Ends | None = ...,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _slice_assign_scalar(
    data: Symbol | None, scalar: Number | None, begin: Ends, end: Ends, step: Ends | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_ElementWiseSum(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., name: str | None = None, attr: Attributes | None = None,
    lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ...,
    mirror_stage: str = ..., __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def _sparse_Embedding(
    data: Symbol | None = None, weight: Symbol | None = None, *, input_dim: Whole, output_dim: Whole,
    dtype: Kind | None = 'float32', sparse_grad: Flag | None = False, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_Embedding(
    data: Symbol | None, weight: Symbol | None, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    sparse_grad: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_FullyConnected(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, *, num_hidden: Whole,
    no_bias: Flag | None = False, flatten: Flag | None = True, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_FullyConnected(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_LinearRegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_LogisticRegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_MAERegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_abs(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_adagrad_update(
    weight: Symbol | None = None, grad: Symbol | None = None, history: Symbol | None = None, *, lr: Number,
    epsilon: Number | None = 1e-07, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_adagrad_update(
    weight: Symbol | None, grad: Symbol | None, history: Symbol | None, lr: Number, epsilon: Number | None = 1e-07,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_adam_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None, *,
    lr: Number, beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    lazy_update: Flag | None = True, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_adam_update(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, lr: Number,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_add_n(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., name: str | None = None, attr: Attributes | None = None,
    lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ...,
    mirror_stage: str = ..., __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def _sparse_arccos(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_arccosh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_arcsin(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_arcsinh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_arctan(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_arctanh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_broadcast_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_broadcast_div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_broadcast_minus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_broadcast_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_broadcast_plus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_broadcast_sub(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_cast_storage(
    data: Symbol | None = None, *, stype: Literal['default', 'row_sparse', 'csr'], name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_cast_storage(
    data: Symbol | None, stype: Literal['default', 'row_sparse', 'csr'], *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_cbrt(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_ceil(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_clip(
    data: Symbol | None = None, *, a_min: Number, a_max: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_clip(
    data: Symbol | None, a_min: Number, a_max: Number, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_concat(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., dim: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def _sparse_cos(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_cosh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_degrees(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_dot(
    lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_elemwise_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_elemwise_div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_elemwise_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_elemwise_sub(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_exp(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_expm1(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_fix(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_floor(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_ftrl_update(
    weight: Symbol | None = None, grad: Symbol | None = None, z: Symbol | None = None, n: Symbol | None = None, *,
    lr: Number, lamda1: Number | None = 0.01, beta: Number | None = 1.0, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_ftrl_update(
    weight: Symbol | None, grad: Symbol | None, z: Symbol | None, n: Symbol | None, lr: Number,
    lamda1: Number | None = 0.01, beta: Number | None = 1.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_gamma(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_gammaln(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_log(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_log10(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_log1p(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_log2(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_make_loss(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_mean(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_negative(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_norm(
    data: Symbol | None = None, ord: Whole | None = 2, axis: Sides | None = None,
    out_dtype: Literal['float16', 'float32', 'float64', 'int32', 'int64', 'int8'] | None = None,
    keepdims: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_radians(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_relu(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_retain(
    data: Symbol | None = None, indices: Symbol | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_rint(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_round(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_rsqrt(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_sgd_mom_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None, *, lr: Number,
    momentum: Number | None = 0.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_sgd_mom_update(
    weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, lr: Number, momentum: Number | None = 0.0,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    lazy_update: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_sgd_update(
    weight: Symbol | None = None, grad: Symbol | None = None, *, lr: Number, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_sgd_update(
    weight: Symbol | None, grad: Symbol | None, lr: Number, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_sigmoid(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_sign(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_sin(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_sinh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_slice(
    data: Symbol | None = None, *, begin: Ends, end: Ends, step: Ends | None = ..., name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _sparse_slice(
    data: Symbol | None, begin: Ends, end: Ends, step: Ends | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_sqrt(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_square(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_stop_gradient(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_sum(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_tan(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_tanh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_trunc(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_where(
    condition: Symbol | None = None, x: Symbol | None = None, y: Symbol | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sparse_zeros_like(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _split_v2(
    data: Symbol | None = None, *, indices: Sides, axis: Whole | None = 1, squeeze_axis: Flag | None = False,
    sections: Whole | None = 0, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def _split_v2(
    data: Symbol | None, indices: Sides, axis: Whole | None = 1, squeeze_axis: Flag | None = False,
    sections: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _square_sum(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _stretch_like(
    data: Symbol | None = None, like: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sub(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _sum_like(
    data: Symbol | None = None, like: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _unravel_index(
    data: Symbol | None = None, shape: Sides | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _zeros(
    shape: Sides | None = (), ctx: Context | str | None = '', dtype: Kind | None = 'float32', *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def _zeros_without_dtype(
    shape: Sides | None = None, ctx: Context | str | None = '', dtype: Whole | None = -1, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
