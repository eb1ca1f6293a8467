"""mx.sym.op: every operator whose name does not begin with an underscore, as a function on symbols."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from collections.abc import Sequence
from typing import Any, Literal, overload

from typing_extensions import Unpack

from ..context import Context
from ..op_registry.argument_types import Attributes, Ends, Flag, GraphKeywords, Kind, Number, Numbers, Sides, Whole
from .symbol import Symbol

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

@overload
def Activation(
    data: Symbol | None = None, *, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'],
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Activation(
    data: Symbol | None, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def BatchNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None, eps: Number | None = 0.0010000000474974513,
    momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True, use_global_stats: Flag | None = False,
    output_mean_var: Flag | None = False, axis: Whole | None = 1, cudnn_off: Flag | None = False,
    min_calib_range: Number | None = None, max_calib_range: Number | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def BatchNorm_v1(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None, eps: Number | None = 0.00100000005,
    momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True, use_global_stats: Flag | None = False,
    output_mean_var: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def BilinearSampler(
    data: Symbol | None = None, grid: Symbol | None = None, cudnn_off: Flag | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def BlockGrad(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def CTCLoss(
    data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None, use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Cast(
    data: Symbol | None = None, *, dtype: Kind, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Cast(
    data: Symbol | None, dtype: Kind, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def Concat(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., dim: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def Convolution(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Convolution(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Convolution(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: Sides, stride: Sides | None,
    dilate: Sides | None, pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Convolution_v1(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Convolution_v1(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Convolution_v1(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: Sides, stride: Sides | None,
    dilate: Sides | None, pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def Correlation(
    data1: Symbol | None = None, data2: Symbol | None = None, kernel_size: Whole | None = 1,
    max_displacement: Whole | None = 1, stride1: Whole | None = 1, stride2: Whole | None = 1,
    pad_size: Whole | None = 0, is_multiply: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def Crop(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., offset: Sides | None = (0, 0), h_w: Sides | None = (0, 0),
    center_crop: Flag | None = False, name: str | None = None, attr: Attributes | None = None,
    lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ...,
    mirror_stage: str = ..., __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def Custom(
    *data: Symbol | Sequence[Symbol], name: str | None = None, attr: Attributes | None = None, **parameters: Any
) -> Symbol: ...
@overload
def Deconvolution(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), adj: Sides | None = (),
    target_shape: Sides | None = (), num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 512,
    no_bias: Flag | None = True, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
    cudnn_off: Flag | None = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Deconvolution(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), adj: Sides | None = (), target_shape: Sides | None = (), *,
    num_filter: Whole, num_group: Whole | None = 1, workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Deconvolution(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: Sides, stride: Sides | None,
    dilate: Sides | None, pad: Sides | None, adj: Sides | None, target_shape: Sides | None, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 512, no_bias: Flag | None = True,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def Dropout(
    data: Symbol | None = None, p: Number | None = 0.5, mode: Literal['training', 'always'] | None = 'training',
    axes: Sides | None = (), cudnn_off: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def ElementWiseSum(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., name: str | None = None, attr: Attributes | None = None,
    lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ...,
    mirror_stage: str = ..., __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def Embedding(
    data: Symbol | None = None, weight: Symbol | None = None, *, input_dim: Whole, output_dim: Whole,
    dtype: Kind | None = 'float32', sparse_grad: Flag | None = False, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Embedding(
    data: Symbol | None, weight: Symbol | None, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    sparse_grad: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def Flatten(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def FullyConnected(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, *, num_hidden: Whole,
    no_bias: Flag | None = False, flatten: Flag | None = True, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def FullyConnected(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def GridGenerator(
    data: Symbol | None = None, *, transform_type: Literal['affine', 'warp'], target_shape: Sides | None = (0, 0),
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def GridGenerator(
    data: Symbol | None, transform_type: Literal['affine', 'warp'], target_shape: Sides | None = (0, 0), *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def GroupNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None, num_groups: Whole | None = 1,
    eps: Number | None = 9.99999975e-06, output_mean_var: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def IdentityAttachKLSparseReg(
    data: Symbol | None = None, moving_avg: Symbol | None = None, sparseness_target: Number | None = 0.100000001,
    penalty: Number | None = 0.00100000005, momentum: Number | None = 0.899999976, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def InstanceNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    eps: Number | None = 0.00100000005, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def L2Normalization(
    data: Symbol | None = None, eps: Number | None = 1.00000001e-10,
    mode: Literal['channel', 'instance', 'spatial'] | None = 'instance', *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def LRN(
    data: Symbol | None = None, alpha: Number | None = 9.99999975e-05, beta: Number | None = 0.75,
    knorm: Number | None = 2.0, *, nsize: Whole, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def LRN(
    data: Symbol | None, alpha: Number | None, beta: Number | None, knorm: Number | None, nsize: Whole, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def LayerNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None, axis: Whole | None = -1,
    eps: Number | None = 9.99999975e-06, output_mean_var: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def LeakyReLU(
    data: Symbol | None = None, gamma: Symbol | None = None,
    act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] | None = 'leaky', slope: Number | None = 0.25,
    lower_bound: Number | None = 0.125, upper_bound: Number | None = 0.333999991, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def LinearRegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def LogisticRegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def MAERegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def MakeLoss(
    data: Symbol | None = None, grad_scale: Number | None = 1.0, valid_thresh: Number | None = 0.0,
    normalization: Literal['null', 'batch', 'valid'] | None = 'null', *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Pad(
    data: Symbol | None = None, *, mode: Literal['constant', 'edge', 'reflect'], pad_width: Sides,
    constant_value: Number | None = 0.0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Pad(
    data: Symbol | None, mode: Literal['constant', 'edge', 'reflect'], pad_width: Sides,
    constant_value: Number | None = 0.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def Pooling(
    data: Symbol | None = None, kernel: Sides | None = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] | None = 'max',
    global_pool: Flag | None = False, cudnn_off: Flag | None = False,
    pooling_convention: Literal['full', 'same', 'valid'] | None = 'valid', stride: Sides | None = (),
    pad: Sides | None = (), p_value: Whole | None = None, count_include_pad: Flag | None = None,
    layout: Literal['None', 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def Pooling_v1(
    data: Symbol | None = None, kernel: Sides | None = (), pool_type: Literal['avg', 'max', 'sum'] | None = 'max',
    global_pool: Flag | None = False, pooling_convention: Literal['full', 'valid'] | None = 'valid',
    stride: Sides | None = (), pad: Sides | None = (), *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def RNN(
    data: Symbol | None = None, parameters: Symbol | None = None, state: Symbol | None = None,
    state_cell: Symbol | None = None, sequence_length: Symbol | None = None, *, state_size: Whole, num_layers: Whole,
    bidirectional: Flag | None = False, mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'], p: Number | None = 0.0,
    state_outputs: Flag | None = False, projection_size: Whole | None = None, lstm_state_clip_min: Number | None = None,
    lstm_state_clip_max: Number | None = None, lstm_state_clip_nan: Flag | None = False,
    use_sequence_length: Flag | None = False, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def RNN(
    data: Symbol | None, parameters: Symbol | None, state: Symbol | None, state_cell: Symbol | None,
    sequence_length: Symbol | None, state_size: Whole, num_layers: Whole, bidirectional: Flag | None = False, *,
    mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'], p: Number | None = 0.0, state_outputs: Flag | None = False,
    projection_size: Whole | None = None, lstm_state_clip_min: Number | None = None,
    lstm_state_clip_max: Number | None = None, lstm_state_clip_nan: Flag | None = False,
    use_sequence_length: Flag | None = False, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def RNN(
    data: Symbol | None, parameters: Symbol | None, state: Symbol | None, state_cell: Symbol | None,
    sequence_length: Symbol | None, state_size: Whole, num_layers: Whole, bidirectional: Flag | None,
    mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'], p: Number | None = 0.0, state_outputs: Flag | None = False,
    projection_size: Whole | None = None, lstm_state_clip_min: Number | None = None,
    lstm_state_clip_max: Number | None = None, lstm_state_clip_nan: Flag | None = False,
    use_sequence_length: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ROIPooling(
    data: Symbol | None = None, rois: Symbol | None = None, *, pooled_size: Sides, spatial_scale: Number,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ROIPooling(
    data: Symbol | None, rois: Symbol | None, pooled_size: Sides, spatial_scale: Number, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def Reshape(
    data: Symbol | None = None, shape: Sides | None = (), reverse: Flag | None = False, target_shape: Sides | None = (),
    keep_highest: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def SVMOutput(
    data: Symbol | None = None, label: Symbol | None = None, margin: Number | None = 1.0,
    regularization_coefficient: Number | None = 1.0, use_linear: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def SequenceLast(
    data: Symbol | None = None, sequence_length: Symbol | None = None, use_sequence_length: Flag | None = False,
    axis: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def SequenceMask(
    data: Symbol | None = None, sequence_length: Symbol | None = None, use_sequence_length: Flag | None = False,
    value: Number | None = 0.0, axis: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def SequenceReverse(
    data: Symbol | None = None, sequence_length: Symbol | None = None, use_sequence_length: Flag | None = False,
    axis: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def SliceChannel(
    data: Symbol | None = None, *, num_outputs: Whole, axis: Whole | None = 1, squeeze_axis: Flag | None = False,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def SliceChannel(
    data: Symbol | None, num_outputs: Whole, axis: Whole | None = 1, squeeze_axis: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def Softmax(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0,
    ignore_label: Number | None = -1.0, multi_output: Flag | None = False, use_ignore: Flag | None = False,
    preserve_shape: Flag | None = False, normalization: Literal['null', 'batch', 'valid'] | None = 'null',
    out_grad: Flag | None = False, smooth_alpha: Number | None = 0.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def SoftmaxActivation(
    data: Symbol | None = None, mode: Literal['instance', 'channel'] | None = 'instance', *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def SoftmaxOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0,
    ignore_label: Number | None = -1.0, multi_output: Flag | None = False, use_ignore: Flag | None = False,
    preserve_shape: Flag | None = False, normalization: Literal['null', 'batch', 'valid'] | None = 'null',
    out_grad: Flag | None = False, smooth_alpha: Number | None = 0.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def SpatialTransformer(
    data: Symbol | None = None, loc: Symbol | None = None, target_shape: Sides | None = (0, 0), *,
    transform_type: Literal['affine'], sampler_type: Literal['bilinear'], cudnn_off: Flag | None = None,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def SpatialTransformer(
    data: Symbol | None, loc: Symbol | None, target_shape: Sides | None, transform_type: Literal['affine'],
    sampler_type: Literal['bilinear'], cudnn_off: Flag | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def SwapAxis(
    data: Symbol | None = None, dim1: Whole | None = 0, dim2: Whole | None = 0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def UpSampling(
    *data: Symbol | Sequence[Symbol], scale: Whole, sample_type: Literal['bilinear', 'nearest'], num_args: Whole = ...,
    num_filter: Whole | None = 0, multi_input_mode: Literal['concat', 'sum'] | None = 'concat',
    workspace: Whole | None = 512, name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ...,
    wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ...,
    __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def abs(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def adam_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None, *,
    lr: Number, beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    lazy_update: Flag | None = True, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def adam_update(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, lr: Number,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def add_n(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., name: str | None = None, attr: Attributes | None = None,
    lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ...,
    mirror_stage: str = ..., __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def all_finite(
    data: Symbol | None = None, init_output: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def amp_cast(
    data: Symbol | None = None, *, dtype: Kind, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def amp_cast(
    data: Symbol | None, dtype: Kind, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def amp_multicast(
    *data_: Symbol | Sequence[Symbol], num_outputs: Whole = ..., cast_narrow: Flag | None = False,
    name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ...,
    ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def arccos(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arccosh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arcsin(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arcsinh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arctan(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arctanh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def argmax(
    data: Symbol | None = None, axis: Whole | None = None, keepdims: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def argmax_channel(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def argmin(
    data: Symbol | None = None, axis: Whole | None = None, keepdims: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def argsort(
    data: Symbol | None = None, axis: Whole | None = -1, is_ascend: Flag | None = True, dtype: Kind | None = 'float32',
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def batch_dot(
    lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def batch_take(
    a: Symbol | None = None, indices: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_axes(
    data: Symbol | None = None, axis: Sides | None = (), size: Sides | None = (), *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_axis(
    data: Symbol | None = None, axis: Sides | None = (), size: Sides | None = (), *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_greater(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_greater_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_hypot(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_lesser(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_lesser_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_like(
    lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_axes: Sides | None = None, rhs_axes: Sides | None = None,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_logical_and(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_logical_or(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_logical_xor(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_maximum(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_minimum(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_minus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_mod(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_not_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_plus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_power(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_sub(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_to(
    data: Symbol | None = None, shape: Sides | None = (), *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def cast(
    data: Symbol | None = None, *, dtype: Kind, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def cast(
    data: Symbol | None, dtype: Kind, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def cast_storage(
    data: Symbol | None = None, *, stype: Literal['default', 'row_sparse', 'csr'], name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def cast_storage(
    data: Symbol | None, stype: Literal['default', 'row_sparse', 'csr'], *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def cbrt(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def ceil(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def choose_element_0index(
    data: Symbol | None = None, index: Symbol | None = None, axis: Whole | None = -1, keepdims: Flag | None = False,
    mode: Literal['clip', 'wrap'] | None = 'clip', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def clip(
    data: Symbol | None = None, *, a_min: Number, a_max: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def clip(
    data: Symbol | None, a_min: Number, a_max: Number, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def col2im(
    data: Symbol | None = None, *, output_size: Sides, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def col2im(
    data: Symbol | None, output_size: Sides, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def concat(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., dim: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def cos(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def cosh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def crop(
    data: Symbol | None = None, *, begin: Ends, end: Ends, step: Ends | None = ..., name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def crop(
    data: Symbol | None, begin: Ends, end: Ends, step: Ends | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def ctc_loss(
    data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None, use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def cumsum(
    a: Symbol | None = None, axis: Whole | None = None, dtype: Kind | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def degrees(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def depth_to_space(
    data: Symbol | None = None, *, block_size: Whole, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def depth_to_space(
    data: Symbol | None, block_size: Whole, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def diag(
    data: Symbol | None = None, k: Whole | None = 0, axis1: Whole | None = 0, axis2: Whole | None = 1, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def dot(
    lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def elemwise_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def elemwise_div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def elemwise_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def elemwise_sub(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def erf(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def erfinv(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def exp(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def expand_dims(
    data: Symbol | None = None, *, axis: Whole, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def expand_dims(
    data: Symbol | None, axis: Whole, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def expm1(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def fill_element_0index(
    lhs: Symbol | None = None, mhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def fix(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def flatten(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def flip(
    data: Symbol | None = None, *, axis: Sides, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def flip(
    data: Symbol | None, axis: Sides, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def floor(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ftml_update(
    weight: Symbol | None = None, grad: Symbol | None = None, d: Symbol | None = None, v: Symbol | None = None,
    z: Symbol | None = None, *, lr: Number, beta1: Number | None = 0.6, beta2: Number | None = 0.999,
    epsilon: Number | None = 1e-08, t: Whole, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_grad: Number | None = -1.0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ftml_update(
    weight: Symbol | None, grad: Symbol | None, d: Symbol | None, v: Symbol | None, z: Symbol | None, lr: Number,
    beta1: Number | None = 0.6, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, *, t: Whole,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_grad: Number | None = -1.0,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ftml_update(
    weight: Symbol | None, grad: Symbol | None, d: Symbol | None, v: Symbol | None, z: Symbol | None, lr: Number,
    beta1: Number | None, beta2: Number | None, epsilon: Number | None, t: Whole, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_grad: Number | None = -1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ftrl_update(
    weight: Symbol | None = None, grad: Symbol | None = None, z: Symbol | None = None, n: Symbol | None = None, *,
    lr: Number, lamda1: Number | None = 0.01, beta: Number | None = 1.0, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ftrl_update(
    weight: Symbol | None, grad: Symbol | None, z: Symbol | None, n: Symbol | None, lr: Number,
    lamda1: Number | None = 0.01, beta: Number | None = 1.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def gamma(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def gammaln(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def gather_nd(
    data: Symbol | None = None, indices: Symbol | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def hard_sigmoid(
    data: Symbol | None = None, alpha: Number | None = 0.2, beta: Number | None = 0.5, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def identity(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def im2col(
    data: Symbol | None = None, *, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def im2col(
    data: Symbol | None, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def khatri_rao(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., name: str | None = None, attr: Attributes | None = None,
    lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ...,
    mirror_stage: str = ..., __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def lamb_update_phase1(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-06, *, t: Whole,
    bias_correction: Flag | None = True, wd: Number, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def lamb_update_phase1(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, beta1: Number | None,
    beta2: Number | None, epsilon: Number | None, t: Whole, bias_correction: Flag | None = True, *, wd: Number,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def lamb_update_phase1(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, beta1: Number | None,
    beta2: Number | None, epsilon: Number | None, t: Whole, bias_correction: Flag | None, wd: Number,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def lamb_update_phase2(
    weight: Symbol | None = None, g: Symbol | None = None, r1: Symbol | None = None, r2: Symbol | None = None, *,
    lr: Number, lower_bound: Number | None = -1.0, upper_bound: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def lamb_update_phase2(
    weight: Symbol | None, g: Symbol | None, r1: Symbol | None, r2: Symbol | None, lr: Number,
    lower_bound: Number | None = -1.0, upper_bound: Number | None = -1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_det(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_extractdiag(
    A: Symbol | None = None, offset: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_extracttrian(
    A: Symbol | None = None, offset: Whole | None = 0, lower: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_gelqf(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_gemm(
    A: Symbol | None = None, B: Symbol | None = None, C: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, alpha: Number | None = 1.0, beta: Number | None = 1.0, axis: Whole | None = -2, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_gemm2(
    A: Symbol | None = None, B: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, alpha: Number | None = 1.0, axis: Whole | None = -2, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_inverse(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_makediag(
    A: Symbol | None = None, offset: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_maketrian(
    A: Symbol | None = None, offset: Whole | None = 0, lower: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_potrf(
    A: Symbol | None = None, lower: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_potri(
    A: Symbol | None = None, lower: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_slogdet(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_sumlogdiag(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_syrk(
    A: Symbol | None = None, transpose: Flag | None = False, alpha: Number | None = 1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_trmm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: Flag | None = False, rightside: Flag | None = False,
    lower: Flag | None = True, alpha: Number | None = 1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def linalg_trsm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: Flag | None = False, rightside: Flag | None = False,
    lower: Flag | None = True, alpha: Number | None = 1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def log(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def log10(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def log1p(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def log2(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def log_softmax(
    data: Symbol | None = None, axis: Whole | None = -1, temperature: Number | None = None, dtype: Kind | None = None,
    use_length: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def logical_not(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def make_loss(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def max(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def max_axis(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def mean(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def min(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def min_axis(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def moments(
    data: Symbol | None = None, axes: Sides | None = None, keepdims: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_lamb_update_phase1(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None,
    weight32: Symbol | None = None, beta1: Number | None = 0.9, beta2: Number | None = 0.999,
    epsilon: Number | None = 1e-06, *, t: Whole, bias_correction: Flag | None = True, wd: Number,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_lamb_update_phase1(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, weight32: Symbol | None,
    beta1: Number | None, beta2: Number | None, epsilon: Number | None, t: Whole, bias_correction: Flag | None = True,
    *, wd: Number, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_lamb_update_phase1(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, weight32: Symbol | None,
    beta1: Number | None, beta2: Number | None, epsilon: Number | None, t: Whole, bias_correction: Flag | None,
    wd: Number, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_lamb_update_phase2(
    weight: Symbol | None = None, g: Symbol | None = None, r1: Symbol | None = None, r2: Symbol | None = None,
    weight32: Symbol | None = None, *, lr: Number, lower_bound: Number | None = -1.0, upper_bound: Number | None = -1.0,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_lamb_update_phase2(
    weight: Symbol | None, g: Symbol | None, r1: Symbol | None, r2: Symbol | None, weight32: Symbol | None, lr: Number,
    lower_bound: Number | None = -1.0, upper_bound: Number | None = -1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_nag_mom_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None, weight32: Symbol | None = None,
    *, lr: Number, momentum: Number | None = 0.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_nag_mom_update(
    weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, weight32: Symbol | None, lr: Number,
    momentum: Number | None = 0.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_sgd_mom_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None, weight32: Symbol | None = None,
    *, lr: Number, momentum: Number | None = 0.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_sgd_mom_update(
    weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, weight32: Symbol | None, lr: Number,
    momentum: Number | None = 0.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_sgd_update(
    weight: Symbol | None = None, grad: Symbol | None = None, weight32: Symbol | None = None, *, lr: Number,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    lazy_update: Flag | None = True, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def mp_sgd_update(
    weight: Symbol | None, grad: Symbol | None, weight32: Symbol | None, lr: Number, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def multi_all_finite(
    *array_: Symbol | Sequence[Symbol], num_arrays: Whole | None = 1, init_output: Flag | None = True,
    name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ...,
    ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def multi_lars(
    lrs: Symbol | None = None, weights_sum_sq: Symbol | None = None, grads_sum_sq: Symbol | None = None,
    wds: Symbol | None = None, *, eta: Number, eps: Number, rescale_grad: Number | None = 1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def multi_lars(
    lrs: Symbol | None, weights_sum_sq: Symbol | None, grads_sum_sq: Symbol | None, wds: Symbol | None, eta: Number,
    eps: Number, rescale_grad: Number | None = 1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def multi_mp_sgd_mom_update(
    *data: Symbol | Sequence[Symbol], lrs: Numbers, wds: Numbers, momentum: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1,
    name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ...,
    ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def multi_mp_sgd_update(
    *data: Symbol | Sequence[Symbol], lrs: Numbers, wds: Numbers, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def multi_sgd_mom_update(
    *data: Symbol | Sequence[Symbol], lrs: Numbers, wds: Numbers, momentum: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1,
    name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ...,
    ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def multi_sgd_update(
    *data: Symbol | Sequence[Symbol], lrs: Numbers, wds: Numbers, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def multi_sum_sq(
    *array_: Symbol | Sequence[Symbol], num_arrays: Whole = ..., name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def nag_mom_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None, *, lr: Number,
    momentum: Number | None = 0.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def nag_mom_update(
    weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, lr: Number, momentum: Number | None = 0.0,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def nanprod(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def nansum(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def negative(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def norm(
    data: Symbol | None = None, ord: Whole | None = 2, axis: Sides | None = None,
    out_dtype: Literal['float16', 'float32', 'float64', 'int32', 'int64', 'int8'] | None = None,
    keepdims: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def normal(
    loc: Number | None = 0.0, scale: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def one_hot(
    indices: Symbol | None = None, *, depth: Whole, on_value: Number | None = 1.0, off_value: Number | None = 0.0,
    dtype: Kind | None = 'float32', name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def one_hot(
    indices: Symbol | None, depth: Whole, on_value: Number | None = 1.0, off_value: Number | None = 0.0,
    dtype: Kind | None = 'float32', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def ones_like(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def pad(
    data: Symbol | None = None, *, mode: Literal['constant', 'edge', 'reflect'], pad_width: Sides,
    constant_value: Number | None = 0.0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def pad(
    data: Symbol | None, mode: Literal['constant', 'edge', 'reflect'], pad_width: Sides,
    constant_value: Number | None = 0.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def pick(
    data: Symbol | None = None, index: Symbol | None = None, axis: Whole | None = -1, keepdims: Flag | None = False,
    mode: Literal['clip', 'wrap'] | None = 'clip', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def preloaded_multi_mp_sgd_mom_update(
    *data: Symbol | Sequence[Symbol], momentum: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def preloaded_multi_mp_sgd_update(
    *data: Symbol | Sequence[Symbol], rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    num_weights: Whole | None = 1, name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ...,
    wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ...,
    __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def preloaded_multi_sgd_mom_update(
    *data: Symbol | Sequence[Symbol], momentum: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, num_weights: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def preloaded_multi_sgd_update(
    *data: Symbol | Sequence[Symbol], rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    num_weights: Whole | None = 1, name: str | None = None, attr: Attributes | None = None, lr_mult: Number | str = ...,
    wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ..., mirror_stage: str = ...,
    __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def prod(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def radians(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_exponential(
    lam: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_gamma(
    alpha: Number | None = 1.0, beta: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_generalized_negative_binomial(
    mu: Number | None = 1.0, alpha: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_negative_binomial(
    k: Whole | None = 1, p: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_normal(
    loc: Number | None = 0.0, scale: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_pdf_dirichlet(
    sample: Symbol | None = None, alpha: Symbol | None = None, is_log: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_pdf_exponential(
    sample: Symbol | None = None, lam: Symbol | None = None, is_log: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_pdf_gamma(
    sample: Symbol | None = None, alpha: Symbol | None = None, beta: Symbol | None = None, is_log: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_pdf_generalized_negative_binomial(
    sample: Symbol | None = None, mu: Symbol | None = None, alpha: Symbol | None = None, is_log: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_pdf_negative_binomial(
    sample: Symbol | None = None, k: Symbol | None = None, p: Symbol | None = None, is_log: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_pdf_normal(
    sample: Symbol | None = None, mu: Symbol | None = None, sigma: Symbol | None = None, is_log: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_pdf_poisson(
    sample: Symbol | None = None, lam: Symbol | None = None, is_log: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_pdf_uniform(
    sample: Symbol | None = None, low: Symbol | None = None, high: Symbol | None = None, is_log: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_poisson(
    lam: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_randint(
    low: Whole, high: Whole, shape: Sides | None = None, ctx: Context | str | None = '', dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_uniform(
    low: Number | None = 0.0, high: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def ravel_multi_index(
    data: Symbol | None = None, shape: Sides | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def rcbrt(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def reciprocal(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def relu(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def repeat(
    data: Symbol | None = None, *, repeats: Whole, axis: Whole | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def repeat(
    data: Symbol | None, repeats: Whole, axis: Whole | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def reset_arrays(
    *array_: Symbol | Sequence[Symbol], num_arrays: Whole = ..., name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def reshape(
    data: Symbol | None = None, shape: Sides | None = (), reverse: Flag | None = False, target_shape: Sides | None = (),
    keep_highest: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def reshape_like(
    lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_begin: Whole | None = None, lhs_end: Whole | None = None,
    rhs_begin: Whole | None = None, rhs_end: Whole | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def reverse(
    data: Symbol | None = None, *, axis: Sides, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def reverse(
    data: Symbol | None, axis: Sides, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def rint(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def rmsprop_update(
    weight: Symbol | None = None, grad: Symbol | None = None, n: Symbol | None = None, *, lr: Number,
    gamma1: Number | None = 0.95, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, clip_weights: Number | None = -1.0,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def rmsprop_update(
    weight: Symbol | None, grad: Symbol | None, n: Symbol | None, lr: Number, gamma1: Number | None = 0.95,
    epsilon: Number | None = 1e-08, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, clip_weights: Number | None = -1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def rmspropalex_update(
    weight: Symbol | None = None, grad: Symbol | None = None, n: Symbol | None = None, g: Symbol | None = None,
    delta: Symbol | None = None, *, lr: Number, gamma1: Number | None = 0.95, gamma2: Number | None = 0.9,
    epsilon: Number | None = 1e-08, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, clip_weights: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def rmspropalex_update(
    weight: Symbol | None, grad: Symbol | None, n: Symbol | None, g: Symbol | None, delta: Symbol | None, lr: Number,
    gamma1: Number | None = 0.95, gamma2: Number | None = 0.9, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, clip_weights: Number | None = -1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def round(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def rsqrt(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sample_exponential(
    lam: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sample_gamma(
    alpha: Symbol | None = None, beta: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sample_generalized_negative_binomial(
    mu: Symbol | None = None, alpha: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sample_multinomial(
    data: Symbol | None = None, shape: Sides | None = (), get_prob: Flag | None = False, dtype: Kind | None = 'int32',
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sample_negative_binomial(
    k: Symbol | None = None, p: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sample_normal(
    mu: Symbol | None = None, sigma: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sample_poisson(
    lam: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sample_uniform(
    low: Symbol | None = None, high: Symbol | None = None, shape: Sides | None = (), dtype: Kind | None = ..., *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def scatter_nd(
    data: Symbol | None = None, indices: Symbol | None = None, *, shape: Sides, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def scatter_nd(
    data: Symbol | None, indices: Symbol | None, shape: Sides, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def sgd_mom_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None, *, lr: Number,
    momentum: Number | None = 0.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def sgd_mom_update(
    weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, lr: Number, momentum: Number | None = 0.0,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    lazy_update: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def sgd_update(
    weight: Symbol | None = None, grad: Symbol | None = None, *, lr: Number, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def sgd_update(
    weight: Symbol | None, grad: Symbol | None, lr: Number, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def shape_array(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def shuffle(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sigmoid(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sign(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def signsgd_update(
    weight: Symbol | None = None, grad: Symbol | None = None, *, lr: Number, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def signsgd_update(
    weight: Symbol | None, grad: Symbol | None, lr: Number, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def signum_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None, *, lr: Number,
    momentum: Number | None = 0.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, wd_lh: Number | None = 0.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def signum_update(
    weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, lr: Number, momentum: Number | None = 0.0,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    wd_lh: Number | None = 0.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sin(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sinh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def size_array(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def slice(
    data: Symbol | None = None, *, begin: Ends, end: Ends, step: Ends | None = ..., name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def slice(
    data: Symbol | None, begin: Ends, end: Ends, step: Ends | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def slice_axis(
    data: Symbol | None = None, *, axis: Whole, begin: Whole, end: Whole | None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def slice_axis(
    data: Symbol | None, axis: Whole, begin: Whole, end: Whole | None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def slice_like(
    data: Symbol | None = None, shape_like: Symbol | None = None, axes: Sides | None = (), *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def smooth_l1(
    data: Symbol | None = None, scalar: Number | None = 1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def softmax(
    data: Symbol | None = None, length: Symbol | None = None, axis: Whole | None = -1,
    temperature: Number | None = None, dtype: Kind | None = None, use_length: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def softmax_cross_entropy(
    data: Symbol | None = None, label: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def softmin(
    data: Symbol | None = None, axis: Whole | None = -1, temperature: Number | None = None, dtype: Kind | None = None,
    use_length: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def softsign(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sort(
    data: Symbol | None = None, axis: Whole | None = -1, is_ascend: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def space_to_depth(
    data: Symbol | None = None, *, block_size: Whole, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def space_to_depth(
    data: Symbol | None, block_size: Whole, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def split(
    data: Symbol | None = None, *, num_outputs: Whole, axis: Whole | None = 1, squeeze_axis: Flag | None = False,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def split(
    data: Symbol | None, num_outputs: Whole, axis: Whole | None = 1, squeeze_axis: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sqrt(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def square(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def squeeze(
    data: Symbol | None = None, axis: Sides | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def stack(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., axis: Whole | None = 0, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def stop_gradient(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sum(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sum_axis(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def swapaxes(
    data: Symbol | None = None, dim1: Whole | None = 0, dim2: Whole | None = 0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def take(
    a: Symbol | None = None, indices: Symbol | None = None, axis: Whole | None = 0,
    mode: Literal['clip', 'raise', 'wrap'] | None = 'clip', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def tan(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def tanh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def tile(
    data: Symbol | None = None, *, reps: Sides, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def tile(
    data: Symbol | None, reps: Sides, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def topk(
    data: Symbol | None = None, axis: Whole | None = -1, k: Whole | None = 1,
    ret_typ: Literal['both', 'indices', 'mask', 'value'] | None = 'indices', is_ascend: Flag | None = False,
    dtype: Kind | None = 'float32', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def transpose(
    data: Symbol | None = None, axes: Sides | None = (), *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def trunc(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def uniform(
    low: Number | None = 0.0, high: Number | None = 1.0, shape: Sides | None = None, ctx: Context | str | None = '',
    dtype: Kind | None = ..., *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def unravel_index(
    data: Symbol | None = None, shape: Sides | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def where(
    condition: Symbol | None = None, x: Symbol | None = None, y: Symbol | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def zeros_like(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
