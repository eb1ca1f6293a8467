"""mx.nd.op: every operator whose name does not begin with an underscore, as a function on arrays."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from collections.abc import Sequence
from typing import Any, Literal, overload

from ..context import Context
from ..op_registry.argument_types import Ends, Flag, Kind, Number, Numbers, Sides, Whole
from .ndarray import NDArray

_Out = NDArray | Sequence[NDArray]

__all__ = [
    "Activation", "BatchNorm", "BatchNorm_v1", "BilinearSampler", "BlockGrad", "CTCLoss", "Cast", "Concat",
    "Convolution", "Convolution_v1", "Correlation", "Crop", "Custom", "Deconvolution", "Dropout", "ElementWiseSum",
    "Embedding", "Flatten", "FullyConnected", "GridGenerator", "GroupNorm", "IdentityAttachKLSparseReg", "InstanceNorm",
    "L2Normalization", "LRN", "LayerNorm", "LeakyReLU", "LinearRegressionOutput", "LogisticRegressionOutput",
    "MAERegressionOutput", "MakeLoss", "Pad", "Pooling", "Pooling_v1", "RNN", "ROIPooling", "Reshape", "SVMOutput",
    "SequenceLast", "SequenceMask", "SequenceReverse", "SliceChannel", "Softmax", "SoftmaxActivation", "SoftmaxOutput",
    "SpatialTransformer", "SwapAxis", "UpSampling", "abs", "adam_update", "add_n", "all_finite", "amp_cast",
    "amp_multicast", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "argmax", "argmax_channel",
    "argmin", "argsort", "batch_dot", "batch_take", "broadcast_add", "broadcast_axes", "broadcast_axis",
    "broadcast_div", "broadcast_equal", "broadcast_greater", "broadcast_greater_equal", "broadcast_hypot",
    "broadcast_lesser", "broadcast_lesser_equal", "broadcast_like", "broadcast_logical_and", "broadcast_logical_or",
    "broadcast_logical_xor", "broadcast_maximum", "broadcast_minimum", "broadcast_minus", "broadcast_mod",
    "broadcast_mul", "broadcast_not_equal", "broadcast_plus", "broadcast_power", "broadcast_sub", "broadcast_to",
    "cast", "cast_storage", "cbrt", "ceil", "choose_element_0index", "clip", "col2im", "concat", "cos", "cosh", "crop",
    "ctc_loss", "cumsum", "degrees", "depth_to_space", "diag", "dot", "elemwise_add", "elemwise_div", "elemwise_mul",
    "elemwise_sub", "erf", "erfinv", "exp", "expand_dims", "expm1", "fill_element_0index", "fix", "flatten", "flip",
    "floor", "ftml_update", "ftrl_update", "gamma", "gammaln", "gather_nd", "hard_sigmoid", "identity", "im2col",
    "khatri_rao", "lamb_update_phase1", "lamb_update_phase2", "linalg_det", "linalg_extractdiag", "linalg_extracttrian",
    "linalg_gelqf", "linalg_gemm", "linalg_gemm2", "linalg_inverse", "linalg_makediag", "linalg_maketrian",
    "linalg_potrf", "linalg_potri", "linalg_slogdet", "linalg_sumlogdiag", "linalg_syrk", "linalg_trmm", "linalg_trsm",
    "log", "log10", "log1p", "log2", "log_softmax", "logical_not", "make_loss", "max", "max_axis", "mean", "min",
    "min_axis", "moments", "mp_lamb_update_phase1", "mp_lamb_update_phase2", "mp_nag_mom_update", "mp_sgd_mom_update",
    "mp_sgd_update", "multi_all_finite", "multi_lars", "multi_mp_sgd_mom_update", "multi_mp_sgd_update",
    "multi_sgd_mom_update", "multi_sgd_update", "multi_sum_sq", "nag_mom_update", "nanprod", "nansum", "negative",
    "norm", "normal", "one_hot", "ones_like", "pad", "pick", "preloaded_multi_mp_sgd_mom_update",
    "preloaded_multi_mp_sgd_update", "preloaded_multi_sgd_mom_update", "preloaded_multi_sgd_update", "prod", "radians",
    "random_exponential", "random_gamma", "random_generalized_negative_binomial", "random_negative_binomial",
    "random_normal", "random_pdf_dirichlet", "random_pdf_exponential", "random_pdf_gamma",
    "random_pdf_generalized_negative_binomial", "random_pdf_negative_binomial", "random_pdf_normal",
    "random_pdf_poisson", "random_pdf_uniform", "random_poisson", "random_randint", "random_uniform",
    "ravel_multi_index", "rcbrt", "reciprocal", "relu", "repeat", "reset_arrays", "reshape", "reshape_like", "reverse",
    "rint", "rmsprop_update", "rmspropalex_update", "round", "rsqrt", "sample_exponential", "sample_gamma",
    "sample_generalized_negative_binomial", "sample_multinomial", "sample_negative_binomial", "sample_normal",
    "sample_poisson", "sample_uniform", "scatter_nd", "sgd_mom_update", "sgd_update", "shape_array", "shuffle",
    "sigmoid", "sign", "signsgd_update", "signum_update", "sin", "sinh", "size_array", "slice", "slice_axis",
    "slice_like", "smooth_l1", "softmax", "softmax_cross_entropy", "softmin", "softsign", "sort", "space_to_depth",
    "split", "sqrt", "square", "squeeze", "stack", "stop_gradient", "sum", "sum_axis", "swapaxes", "take", "tan",
    "tanh", "tile", "topk", "transpose", "trunc", "uniform", "unravel_index", "where", "zeros_like",
]

def Activation(
    data: NDArray, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def BatchNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    eps: Number | None = 0.0010000000474974513, momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True,
    use_global_stats: Flag | None = False, output_mean_var: Flag | None = False, axis: Whole | None = 1,
    cudnn_off: Flag | None = False, min_calib_range: Number | None = None, max_calib_range: Number | None = None, *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def BatchNorm_v1(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    eps: Number | None = 0.00100000005, momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True,
    use_global_stats: Flag | None = False, output_mean_var: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> Any: ...
def BilinearSampler(
    data: NDArray, grid: NDArray, cudnn_off: Flag | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def BlockGrad(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def CTCLoss(
    data: NDArray, label: NDArray, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None,
    use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def Cast(data: NDArray, dtype: Kind, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def Concat(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., dim: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def Convolution(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, *, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def Convolution(
    data: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def Convolution(
    data: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides, stride: Sides | None, dilate: Sides | None,
    pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
    cudnn_off: Flag | None = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def Convolution_v1(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, *, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def Convolution_v1(
    data: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def Convolution_v1(
    data: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides, stride: Sides | None, dilate: Sides | None,
    pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
    cudnn_off: Flag | None = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def Correlation(
    data1: NDArray, data2: NDArray, kernel_size: Whole | None = 1, max_displacement: Whole | None = 1,
    stride1: Whole | None = 1, stride2: Whole | None = 1, pad_size: Whole | None = 0, is_multiply: Flag | None = True,
    *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def Crop(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., offset: Sides | None = (0, 0),
    h_w: Sides | None = (0, 0), center_crop: Flag | None = False, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def Custom(
    *data: NDArray | Sequence[NDArray], out: _Out | None = None, name: str | None = None, **parameters: Any
) -> Any: ...
@overload
def Deconvolution(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, *, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), adj: Sides | None = (), target_shape: Sides | None = (),
    num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def Deconvolution(
    data: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), adj: Sides | None = (), target_shape: Sides | None = (), *,
    num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def Deconvolution(
    data: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides, stride: Sides | None, dilate: Sides | None,
    pad: Sides | None, adj: Sides | None, target_shape: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def Dropout(
    data: NDArray, p: Number | None = 0.5, mode: Literal['training', 'always'] | None = 'training',
    axes: Sides | None = (), cudnn_off: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def ElementWiseSum(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def Embedding(
    data: NDArray, weight: NDArray, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    sparse_grad: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def Flatten(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
@overload
def FullyConnected(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, *, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def FullyConnected(
    data: NDArray, weight: NDArray, bias: NDArray | None, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def GridGenerator(
    data: NDArray, transform_type: Literal['affine', 'warp'], target_shape: Sides | None = (0, 0), *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def GroupNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, num_groups: Whole | None = 1, eps: Number | None = 9.99999975e-06,
    output_mean_var: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def IdentityAttachKLSparseReg(
    data: NDArray, moving_avg: NDArray, sparseness_target: Number | None = 0.100000001,
    penalty: Number | None = 0.00100000005, momentum: Number | None = 0.899999976, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def InstanceNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, eps: Number | None = 0.00100000005, *, out: _Out | None = None,
    name: str | None = None,
) -> Any: ...
def L2Normalization(
    data: NDArray, eps: Number | None = 1.00000001e-10,
    mode: Literal['channel', 'instance', 'spatial'] | None = 'instance', *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def LRN(
    data: NDArray, alpha: Number | None = 9.99999975e-05, beta: Number | None = 0.75, knorm: Number | None = 2.0, *,
    nsize: Whole, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def LRN(
    data: NDArray, alpha: Number | None, beta: Number | None, knorm: Number | None, nsize: Whole, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def LayerNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, axis: Whole | None = -1, eps: Number | None = 9.99999975e-06,
    output_mean_var: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def LeakyReLU(
    data: NDArray, gamma: NDArray | None = None,
    act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] | None = 'leaky', slope: Number | None = 0.25,
    lower_bound: Number | None = 0.125, upper_bound: Number | None = 0.333999991, *, out: _Out | None = None,
    name: str | None = None,
) -> Any: ...
def LinearRegressionOutput(
    data: NDArray, label: NDArray, grad_scale: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def LogisticRegressionOutput(
    data: NDArray, label: NDArray, grad_scale: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def MAERegressionOutput(
    data: NDArray, label: NDArray, grad_scale: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def MakeLoss(
    data: NDArray, grad_scale: Number | None = 1.0, valid_thresh: Number | None = 0.0,
    normalization: Literal['null', 'batch', 'valid'] | None = 'null', *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def Pad(
    data: NDArray, mode: Literal['constant', 'edge', 'reflect'], pad_width: Sides, constant_value: Number | None = 0.0,
    *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def Pooling(
    data: NDArray, kernel: Sides | None = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] | None = 'max',
    global_pool: Flag | None = False, cudnn_off: Flag | None = False,
    pooling_convention: Literal['full', 'same', 'valid'] | None = 'valid', stride: Sides | None = (),
    pad: Sides | None = (), p_value: Whole | None = None, count_include_pad: Flag | None = None,
    layout: Literal['None', 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def Pooling_v1(
    data: NDArray, kernel: Sides | None = (), pool_type: Literal['avg', 'max', 'sum'] | None = 'max',
    global_pool: Flag | None = False, pooling_convention: Literal['full', 'valid'] | None = 'valid',
    stride: Sides | None = (), pad: Sides | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def RNN(
    data: NDArray, parameters: NDArray, state: NDArray, state_cell: NDArray | None = None,
    sequence_length: NDArray | None = None, *, state_size: Whole, num_layers: Whole, bidirectional: Flag | None = False,
    mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'], p: Number | None = 0.0, state_outputs: Flag | None = False,
    projection_size: Whole | None = None, lstm_state_clip_min: Number | None = None,
    lstm_state_clip_max: Number | None = None, lstm_state_clip_nan: Flag | None = False,
    use_sequence_length: Flag | None = False, out: _Out | None = None, name: str | None = None,
) -> Any: ...
@overload
def RNN(
    data: NDArray, parameters: NDArray, state: NDArray, state_cell: NDArray | None, sequence_length: NDArray | None,
    state_size: Whole, num_layers: Whole, bidirectional: Flag | None = False, *,
    mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'], p: Number | None = 0.0, state_outputs: Flag | None = False,
    projection_size: Whole | None = None, lstm_state_clip_min: Number | None = None,
    lstm_state_clip_max: Number | None = None, lstm_state_clip_nan: Flag | None = False,
    use_sequence_length: Flag | None = False, out: _Out | None = None, name: str | None = None,
) -> Any: ...
@overload
def RNN(
    data: NDArray, parameters: NDArray, state: NDArray, state_cell: NDArray | None, sequence_length: NDArray | None,
    state_size: Whole, num_layers: Whole, bidirectional: Flag | None,
    mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'], p: Number | None = 0.0, state_outputs: Flag | None = False,
    projection_size: Whole | None = None, lstm_state_clip_min: Number | None = None,
    lstm_state_clip_max: Number | None = None, lstm_state_clip_nan: Flag | None = False,
    use_sequence_length: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def ROIPooling(
    data: NDArray, rois: NDArray, pooled_size: Sides, spatial_scale: Number, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def Reshape(
    data: NDArray, shape: Sides | None = (), reverse: Flag | None = False, target_shape: Sides | None = (),
    keep_highest: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def SVMOutput(
    data: NDArray, label: NDArray, margin: Number | None = 1.0, regularization_coefficient: Number | None = 1.0,
    use_linear: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def SequenceLast(
    data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: Flag | None = False,
    axis: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def SequenceMask(
    data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: Flag | None = False,
    value: Number | None = 0.0, axis: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def SequenceReverse(
    data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: Flag | None = False,
    axis: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def SliceChannel(
    data: NDArray, num_outputs: Whole, axis: Whole | None = 1, squeeze_axis: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def Softmax(
    data: NDArray, label: NDArray, grad_scale: Number | None = 1.0, ignore_label: Number | None = -1.0,
    multi_output: Flag | None = False, use_ignore: Flag | None = False, preserve_shape: Flag | None = False,
    normalization: Literal['null', 'batch', 'valid'] | None = 'null', out_grad: Flag | None = False,
    smooth_alpha: Number | None = 0.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def SoftmaxActivation(
    data: NDArray, mode: Literal['instance', 'channel'] | None = 'instance', *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def SoftmaxOutput(
    data: NDArray, label: NDArray, grad_scale: Number | None = 1.0, ignore_label: Number | None = -1.0,
    multi_output: Flag | None = False, use_ignore: Flag | None = False, preserve_shape: Flag | None = False,
    normalization: Literal['null', 'batch', 'valid'] | None = 'null', out_grad: Flag | None = False,
    smooth_alpha: Number | None = 0.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def SpatialTransformer(
    data: NDArray, loc: NDArray, target_shape: Sides | None = (0, 0), *, transform_type: Literal['affine'],
    sampler_type: Literal['bilinear'], cudnn_off: Flag | None = None, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def SpatialTransformer(
    data: NDArray, loc: NDArray, target_shape: Sides | None, transform_type: Literal['affine'],
    sampler_type: Literal['bilinear'], cudnn_off: Flag | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def SwapAxis(
    data: NDArray, dim1: Whole | None = 0, dim2: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def UpSampling(
    *data: NDArray | Sequence[NDArray], scale: Whole, sample_type: Literal['bilinear', 'nearest'],
    num_args: Whole = ..., num_filter: Whole | None = 0, multi_input_mode: Literal['concat', 'sum'] | None = 'concat',
    workspace: Whole | None = 512, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def abs(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def adam_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, lr: Number, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def add_n(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def all_finite(
    data: NDArray, init_output: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def amp_cast(data: NDArray, dtype: Kind, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def amp_multicast(
    *data_: NDArray | Sequence[NDArray], num_outputs: Whole = ..., cast_narrow: Flag | None = False,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def arccos(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def arccosh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def arcsin(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def arcsinh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def arctan(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def arctanh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def argmax(
    data: NDArray, axis: Whole | None = None, keepdims: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def argmax_channel(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def argmin(
    data: NDArray, axis: Whole | None = None, keepdims: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def argsort(
    data: NDArray, axis: Whole | None = -1, is_ascend: Flag | None = True, dtype: Kind | None = 'float32', *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def batch_dot(
    lhs: NDArray, rhs: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def batch_take(a: NDArray, indices: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_add(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_axes(
    data: NDArray, axis: Sides | None = (), size: Sides | None = (), *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def broadcast_axis(
    data: NDArray, axis: Sides | None = (), size: Sides | None = (), *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def broadcast_div(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_equal(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_greater(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_greater_equal(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def broadcast_hypot(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_lesser(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_lesser_equal(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def broadcast_like(
    lhs: NDArray, rhs: NDArray, lhs_axes: Sides | None = None, rhs_axes: Sides | None = None, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def broadcast_logical_and(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def broadcast_logical_or(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def broadcast_logical_xor(
    lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def broadcast_maximum(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_minimum(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_minus(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_mod(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_mul(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_not_equal(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_plus(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_power(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_sub(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def broadcast_to(
    data: NDArray, shape: Sides | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def cast(data: NDArray, dtype: Kind, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def cast_storage(
    data: NDArray, stype: Literal['default', 'row_sparse', 'csr'], *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def cbrt(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def ceil(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def choose_element_0index(
    data: NDArray, index: NDArray, axis: Whole | None = -1, keepdims: Flag | None = False,
    mode: Literal['clip', 'wrap'] | None = 'clip', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def clip(
    data: NDArray, a_min: Number, a_max: Number, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def col2im(
    data: NDArray, output_size: Sides, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def concat(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., dim: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def cos(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def cosh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def crop(
    data: NDArray, begin: Ends, end: Ends, step: Ends | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def ctc_loss(
    data: NDArray, label: NDArray, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None,
    use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def cumsum(
    a: NDArray, axis: Whole | None = None, dtype: Kind | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def degrees(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def depth_to_space(
    data: NDArray, block_size: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def diag(
    data: NDArray, k: Whole | None = 0, axis1: Whole | None = 0, axis2: Whole | None = 1, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def dot(
    lhs: NDArray, rhs: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def elemwise_add(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def elemwise_div(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def elemwise_mul(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def elemwise_sub(lhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def erf(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def erfinv(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def exp(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def expand_dims(data: NDArray, axis: Whole, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def expm1(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def fill_element_0index(
    lhs: NDArray, mhs: NDArray, rhs: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def fix(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def flatten(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def flip(data: NDArray, axis: Sides, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def floor(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
@overload
def ftml_update(
    weight: NDArray, grad: NDArray, d: NDArray, v: NDArray, z: NDArray, lr: Number, beta1: Number | None = 0.6,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, *, t: Whole, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_grad: Number | None = -1.0, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def ftml_update(
    weight: NDArray, grad: NDArray, d: NDArray, v: NDArray, z: NDArray, lr: Number, beta1: Number | None,
    beta2: Number | None, epsilon: Number | None, t: Whole, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_grad: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def ftrl_update(
    weight: NDArray, grad: NDArray, z: NDArray, n: NDArray, lr: Number, lamda1: Number | None = 0.01,
    beta: Number | None = 1.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def gamma(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def gammaln(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def gather_nd(data: NDArray, indices: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def hard_sigmoid(
    data: NDArray, alpha: Number | None = 0.2, beta: Number | None = 0.5, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def identity(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def im2col(
    data: NDArray, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def khatri_rao(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def lamb_update_phase1(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-06, *, t: Whole, bias_correction: Flag | None = True,
    wd: Number, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def lamb_update_phase1(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, beta1: Number | None, beta2: Number | None,
    epsilon: Number | None, t: Whole, bias_correction: Flag | None = True, *, wd: Number,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def lamb_update_phase1(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, beta1: Number | None, beta2: Number | None,
    epsilon: Number | None, t: Whole, bias_correction: Flag | None, wd: Number, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def lamb_update_phase2(
    weight: NDArray, g: NDArray, r1: NDArray, r2: NDArray, lr: Number, lower_bound: Number | None = -1.0,
    upper_bound: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def linalg_det(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def linalg_extractdiag(
    A: NDArray, offset: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def linalg_extracttrian(
    A: NDArray, offset: Whole | None = 0, lower: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_gelqf(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> list[NDArray]: ...
def linalg_gemm(
    A: NDArray, B: NDArray, C: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    alpha: Number | None = 1.0, beta: Number | None = 1.0, axis: Whole | None = -2, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_gemm2(
    A: NDArray, B: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    alpha: Number | None = 1.0, axis: Whole | None = -2, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def linalg_inverse(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def linalg_makediag(
    A: NDArray, offset: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def linalg_maketrian(
    A: NDArray, offset: Whole | None = 0, lower: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_potrf(
    A: NDArray, lower: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def linalg_potri(
    A: NDArray, lower: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def linalg_slogdet(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> list[NDArray]: ...
def linalg_sumlogdiag(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def linalg_syrk(
    A: NDArray, transpose: Flag | None = False, alpha: Number | None = 1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_trmm(
    A: NDArray, B: NDArray, transpose: Flag | None = False, rightside: Flag | None = False, lower: Flag | None = True,
    alpha: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def linalg_trsm(
    A: NDArray, B: NDArray, transpose: Flag | None = False, rightside: Flag | None = False, lower: Flag | None = True,
    alpha: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def log(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def log10(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def log1p(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def log2(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def log_softmax(
    data: NDArray, axis: Whole | None = -1, temperature: Number | None = None, dtype: Kind | None = None,
    use_length: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def logical_not(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def make_loss(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def max(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def max_axis(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def mean(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def min(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def min_axis(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def moments(
    data: NDArray, axes: Sides | None = None, keepdims: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
@overload
def mp_lamb_update_phase1(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, beta1: Number | None = 0.9,
    beta2: Number | None = 0.999, epsilon: Number | None = 1e-06, *, t: Whole, bias_correction: Flag | None = True,
    wd: Number, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def mp_lamb_update_phase1(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, beta1: Number | None,
    beta2: Number | None, epsilon: Number | None, t: Whole, bias_correction: Flag | None = True, *, wd: Number,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def mp_lamb_update_phase1(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, beta1: Number | None,
    beta2: Number | None, epsilon: Number | None, t: Whole, bias_correction: Flag | None, wd: Number,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def mp_lamb_update_phase2(
    weight: NDArray, g: NDArray, r1: NDArray, r2: NDArray, weight32: NDArray, lr: Number,
    lower_bound: Number | None = -1.0, upper_bound: Number | None = -1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def mp_nag_mom_update(
    weight: NDArray, grad: NDArray, mom: NDArray, weight32: NDArray, lr: Number, momentum: Number | None = 0.0,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def mp_sgd_mom_update(
    weight: NDArray, grad: NDArray, mom: NDArray, weight32: NDArray, lr: Number, momentum: Number | None = 0.0,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    lazy_update: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def mp_sgd_update(
    weight: NDArray, grad: NDArray, weight32: NDArray, lr: Number, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def multi_all_finite(
    *array_: NDArray | Sequence[NDArray], num_arrays: Whole | None = 1, init_output: Flag | None = True,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def multi_lars(
    lrs: NDArray, weights_sum_sq: NDArray, grads_sum_sq: NDArray, wds: NDArray, eta: Number, eps: Number,
    rescale_grad: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def multi_mp_sgd_mom_update(
    *data: NDArray | Sequence[NDArray], lrs: Numbers, wds: Numbers, momentum: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def multi_mp_sgd_update(
    *data: NDArray | Sequence[NDArray], lrs: Numbers, wds: Numbers, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> Any: ...
def multi_sgd_mom_update(
    *data: NDArray | Sequence[NDArray], lrs: Numbers, wds: Numbers, momentum: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def multi_sgd_update(
    *data: NDArray | Sequence[NDArray], lrs: Numbers, wds: Numbers, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> Any: ...
def multi_sum_sq(
    *array_: NDArray | Sequence[NDArray], num_arrays: Whole = ..., out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def nag_mom_update(
    weight: NDArray, grad: NDArray, mom: NDArray, lr: Number, momentum: Number | None = 0.0, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def nanprod(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def nansum(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def negative(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def norm(
    data: NDArray, ord: Whole | None = 2, axis: Sides | None = None,
    out_dtype: Literal['float16', 'float32', 'float64', 'int32', 'int64', 'int8'] | None = None,
    keepdims: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def normal(
    loc: Number | None = 0.0, scale: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def one_hot(
    indices: NDArray, depth: Whole, on_value: Number | None = 1.0, off_value: Number | None = 0.0,
    dtype: Kind | None = 'float32', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def ones_like(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def pad(
    data: NDArray, mode: Literal['constant', 'edge', 'reflect'], pad_width: Sides, constant_value: Number | None = 0.0,
    *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def pick(
    data: NDArray, index: NDArray, axis: Whole | None = -1, keepdims: Flag | None = False,
    mode: Literal['clip', 'wrap'] | None = 'clip', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def preloaded_multi_mp_sgd_mom_update(
    *data: NDArray | Sequence[NDArray], momentum: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> Any: ...
def preloaded_multi_mp_sgd_update(
    *data: NDArray | Sequence[NDArray], rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    num_weights: Whole | None = 1, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def preloaded_multi_sgd_mom_update(
    *data: NDArray | Sequence[NDArray], momentum: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> Any: ...
def preloaded_multi_sgd_update(
    *data: NDArray | Sequence[NDArray], rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    num_weights: Whole | None = 1, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def prod(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def radians(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def random_exponential(
    lam: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_gamma(
    alpha: Number | None = 1.0, beta: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_generalized_negative_binomial(
    mu: Number | None = 1.0, alpha: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_negative_binomial(
    k: Whole | None = 1, p: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_normal(
    loc: Number | None = 0.0, scale: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_pdf_dirichlet(
    sample: NDArray, alpha: NDArray, is_log: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_pdf_exponential(
    sample: NDArray, lam: NDArray, is_log: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_pdf_gamma(
    sample: NDArray, alpha: NDArray, beta: NDArray, is_log: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_generalized_negative_binomial(
    sample: NDArray, mu: NDArray, alpha: NDArray, is_log: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_negative_binomial(
    sample: NDArray, k: NDArray, p: NDArray, is_log: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_normal(
    sample: NDArray, mu: NDArray, sigma: NDArray, is_log: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_poisson(
    sample: NDArray, lam: NDArray, is_log: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_pdf_uniform(
    sample: NDArray, low: NDArray, high: NDArray, is_log: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_poisson(
    lam: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_randint(
    low: Whole, high: Whole, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_uniform(
    low: Number | None = 0.0, high: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def ravel_multi_index(
    data: NDArray, shape: Sides | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def rcbrt(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def reciprocal(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def relu(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def repeat(
    data: NDArray, repeats: Whole, axis: Whole | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def reset_arrays(
    *array_: NDArray | Sequence[NDArray], num_arrays: Whole = ..., out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def reshape(
    data: NDArray, shape: Sides | None = (), reverse: Flag | None = False, target_shape: Sides | None = (),
    keep_highest: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def reshape_like(
    lhs: NDArray, rhs: NDArray, lhs_begin: Whole | None = None, lhs_end: Whole | None = None,
    rhs_begin: Whole | None = None, rhs_end: Whole | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def reverse(data: NDArray, axis: Sides, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def rint(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def rmsprop_update(
    weight: NDArray, grad: NDArray, n: NDArray, lr: Number, gamma1: Number | None = 0.95,
    epsilon: Number | None = 1e-08, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, clip_weights: Number | None = -1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def rmspropalex_update(
    weight: NDArray, grad: NDArray, n: NDArray, g: NDArray, delta: NDArray, lr: Number, gamma1: Number | None = 0.95,
    gamma2: Number | None = 0.9, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, clip_weights: Number | None = -1.0, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def round(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def rsqrt(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def sample_exponential(
    lam: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_gamma(
    alpha: NDArray, beta: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_generalized_negative_binomial(
    mu: NDArray, alpha: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_multinomial(
    data: NDArray, shape: Sides | None = (), get_prob: Flag | None = False, dtype: Kind | None = 'int32', *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def sample_negative_binomial(
    k: NDArray, p: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_normal(
    mu: NDArray, sigma: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_poisson(
    lam: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_uniform(
    low: NDArray, high: NDArray, shape: Sides | None = (), dtype: Kind | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def scatter_nd(
    data: NDArray, indices: NDArray, shape: Sides, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def sgd_mom_update(
    weight: NDArray, grad: NDArray, mom: NDArray, lr: Number, momentum: Number | None = 0.0, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def sgd_update(
    weight: NDArray, grad: NDArray, lr: Number, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def shape_array(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def shuffle(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def sigmoid(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def sign(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def signsgd_update(
    weight: NDArray, grad: NDArray, lr: Number, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def signum_update(
    weight: NDArray, grad: NDArray, mom: NDArray, lr: Number, momentum: Number | None = 0.0, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, wd_lh: Number | None = 0.0, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def sin(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def sinh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def size_array(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def slice(
    data: NDArray, begin: Ends, end: Ends, step: Ends | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def slice_axis(
    data: NDArray, axis: Whole, begin: Whole, end: Whole | None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def slice_like(
    data: NDArray, shape_like: NDArray, axes: Sides | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def smooth_l1(
    data: NDArray, scalar: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def softmax(
    data: NDArray, length: NDArray | None = None, axis: Whole | None = -1, temperature: Number | None = None,
    dtype: Kind | None = None, use_length: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def softmax_cross_entropy(
    data: NDArray, label: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def softmin(
    data: NDArray, axis: Whole | None = -1, temperature: Number | None = None, dtype: Kind | None = None,
    use_length: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def softsign(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def sort(
    data: NDArray, axis: Whole | None = -1, is_ascend: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def space_to_depth(
    data: NDArray, block_size: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def split(
    data: NDArray, num_outputs: Whole, axis: Whole | None = 1, squeeze_axis: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def sqrt(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def square(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def squeeze(
    data: NDArray, axis: Sides | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def stack(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., axis: Whole | None = 0, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def stop_gradient(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def sum(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def sum_axis(
    data: NDArray, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def swapaxes(
    data: NDArray, dim1: Whole | None = 0, dim2: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def take(
    a: NDArray, indices: NDArray, axis: Whole | None = 0, mode: Literal['clip', 'raise', 'wrap'] | None = 'clip', *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def tan(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def tanh(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def tile(data: NDArray, reps: Sides, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def topk(
    data: NDArray, axis: Whole | None = -1, k: Whole | None = 1,
    ret_typ: Literal['both', 'indices', 'mask', 'value'] | None = 'indices', is_ascend: Flag | None = False,
    dtype: Kind | None = 'float32', *, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def transpose(
    data: NDArray, axes: Sides | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def trunc(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def uniform(
    low: Number | None = 0.0, high: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def unravel_index(
    data: NDArray, shape: Sides | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def where(
    condition: NDArray, x: NDArray, y: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def zeros_like(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
