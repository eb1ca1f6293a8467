"""mx.nd.contrib_operators: the operators ``_contrib_...`` as functions on arrays."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from collections.abc import Sequence
from typing import Any, Literal, overload

from ..context import Context
from ..op_registry.argument_types import Flag, Kind, Number, Numbers, Sides, Whole
from .ndarray import NDArray

_Out = NDArray | Sequence[NDArray]

__all__ = [
    "AdaptiveAvgPooling2D", "BatchNormWithReLU", "BilinearResize2D", "CTCLoss", "DeformableConvolution",
    "DeformablePSROIPooling", "ModulatedDeformableConvolution", "MultiBoxDetection", "MultiBoxPrior", "MultiBoxTarget",
    "MultiProposal", "PSROIPooling", "Proposal", "ROIAlign", "RROIAlign", "SparseEmbedding", "SyncBatchNorm",
    "allclose", "arange_like", "bipartite_matching", "box_decode", "box_encode", "box_iou", "box_nms",
    "box_non_maximum_suppression", "calibrate_entropy", "ctc_loss", "dequantize", "div_sqrt_dim", "getnnz",
    "gradientmultiplier", "group_adagrad_update", "index_array", "index_copy", "interleaved_matmul_encdec_qk",
    "interleaved_matmul_encdec_valatt", "interleaved_matmul_selfatt_qk", "interleaved_matmul_selfatt_valatt",
    "quadratic", "quantize", "quantize_v2", "quantized_act", "quantized_batch_norm", "quantized_concat",
    "quantized_conv", "quantized_elemwise_add", "quantized_elemwise_mul", "quantized_embedding", "quantized_flatten",
    "quantized_fully_connected", "quantized_pooling", "requantize",
]

def AdaptiveAvgPooling2D(
    data: NDArray, output_size: Sides | None = (), *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def BatchNormWithReLU(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    eps: Number | None = 0.0010000000474974513, momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True,
    use_global_stats: Flag | None = False, output_mean_var: Flag | None = False, axis: Whole | None = 1,
    cudnn_off: Flag | None = False, min_calib_range: Number | None = None, max_calib_range: Number | None = None, *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def BilinearResize2D(
    data: NDArray, like: NDArray | None = None, height: Whole | None = 1, width: Whole | None = 1,
    scale_height: Number | None = None, scale_width: Number | None = None,
    mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] | None = 'size',
    align_corners: Flag | None = True, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def CTCLoss(
    data: NDArray, label: NDArray, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None,
    use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def DeformableConvolution(
    data: NDArray, offset: NDArray, weight: NDArray, bias: NDArray | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
@overload
def DeformableConvolution(
    data: NDArray, offset: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides, stride: Sides | None = (),
    dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole, num_group: Whole | None = 1,
    num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def DeformableConvolution(
    data: NDArray, offset: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides, stride: Sides | None,
    dilate: Sides | None, pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def DeformablePSROIPooling(
    data: NDArray, rois: NDArray, trans: NDArray | None = None, *, spatial_scale: Number, output_dim: Whole,
    group_size: Whole, pooled_size: Whole, part_size: Whole | None = 0, sample_per_part: Whole | None = 1,
    trans_std: Number | None = 0.0, no_trans: Flag | None = False, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def DeformablePSROIPooling(
    data: NDArray, rois: NDArray, trans: NDArray | None, spatial_scale: Number, output_dim: Whole, group_size: Whole,
    pooled_size: Whole, part_size: Whole | None = 0, sample_per_part: Whole | None = 1, trans_std: Number | None = 0.0,
    no_trans: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def ModulatedDeformableConvolution(
    data: NDArray, offset: NDArray, mask: NDArray, weight: NDArray, bias: NDArray | None = None, *, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, im2col_step: Whole | None = 64, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def ModulatedDeformableConvolution(
    data: NDArray, offset: NDArray, mask: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, im2col_step: Whole | None = 64, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def ModulatedDeformableConvolution(
    data: NDArray, offset: NDArray, mask: NDArray, weight: NDArray, bias: NDArray | None, kernel: Sides,
    stride: Sides | None, dilate: Sides | None, pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    im2col_step: Whole | None = 64, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def MultiBoxDetection(
    cls_prob: NDArray, loc_pred: NDArray, anchor: NDArray, clip: Flag | None = True, threshold: Number | None = 0.01,
    background_id: Whole | None = 0, nms_threshold: Number | None = 0.5, force_suppress: Flag | None = False,
    variances: Numbers | None = (0.1, 0.1, 0.2, 0.2), nms_topk: Whole | None = -1, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def MultiBoxPrior(
    data: NDArray, sizes: Numbers | None = (1.0,), ratios: Numbers | None = (1.0,), clip: Flag | None = False,
    steps: Numbers | None = (-1.0, -1.0), offsets: Numbers | None = (0.5, 0.5), *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def MultiBoxTarget(
    anchor: NDArray, label: NDArray, cls_pred: NDArray, overlap_threshold: Number | None = 0.5,
    ignore_label: Number | None = -1.0, negative_mining_ratio: Number | None = -1.0,
    negative_mining_thresh: Number | None = 0.5, minimum_negative_samples: Whole | None = 0,
    variances: Numbers | None = (0.1, 0.1, 0.2, 0.2), *, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def MultiProposal(
    cls_prob: NDArray, bbox_pred: NDArray, im_info: NDArray, rpn_pre_nms_top_n: Whole | None = 6000,
    rpn_post_nms_top_n: Whole | None = 300, threshold: Number | None = 0.7, rpn_min_size: Whole | None = 16,
    scales: Numbers | None = (4.0, 8.0, 16.0, 32.0), ratios: Numbers | None = (0.5, 1.0, 2.0),
    feature_stride: Whole | None = 16, output_score: Flag | None = False, iou_loss: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def PSROIPooling(
    data: NDArray, rois: NDArray, spatial_scale: Number, output_dim: Whole, pooled_size: Whole,
    group_size: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def Proposal(
    cls_prob: NDArray, bbox_pred: NDArray, im_info: NDArray, rpn_pre_nms_top_n: Whole | None = 6000,
    rpn_post_nms_top_n: Whole | None = 300, threshold: Number | None = 0.7, rpn_min_size: Whole | None = 16,
    scales: Numbers | None = (4.0, 8.0, 16.0, 32.0), ratios: Numbers | None = (0.5, 1.0, 2.0),
    feature_stride: Whole | None = 16, output_score: Flag | None = False, iou_loss: Flag | None = False, *,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
def ROIAlign(
    data: NDArray, rois: NDArray, pooled_size: Sides, spatial_scale: Number, sample_ratio: Whole | None = -1,
    position_sensitive: Flag | None = False, aligned: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def RROIAlign(
    data: NDArray, rois: NDArray, pooled_size: Sides, spatial_scale: Number, sampling_ratio: Whole | None = -1, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def SparseEmbedding(
    data: NDArray, weight: NDArray, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    deterministic: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def SyncBatchNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    eps: Number | None = 0.00100000005, momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True,
    use_global_stats: Flag | None = False, output_mean_var: Flag | None = False, ndev: Whole | None = 1, *, key: str,
    out: _Out | None = None, name: str | None = None,
) -> Any: ...
@overload
def SyncBatchNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, eps: Number | None,
    momentum: Number | None, fix_gamma: Flag | None, use_global_stats: Flag | None, output_mean_var: Flag | None,
    ndev: Whole | None, key: str, *, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def allclose(
    a: NDArray, b: NDArray, rtol: Number | None = 1e-05, atol: Number | None = 1e-08, equal_nan: Flag | None = True, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def arange_like(
    data: NDArray, start: Number | None = 0.0, step: Number | None = 1.0, repeat: Whole | None = 1,
    ctx: Context | str | None = '', axis: Whole | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
@overload
def bipartite_matching(
    data: NDArray, is_ascend: Flag | None = False, *, threshold: Number, topk: Whole | None = -1,
    out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
@overload
def bipartite_matching(
    data: NDArray, is_ascend: Flag | None, threshold: Number, topk: Whole | None = -1, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def box_decode(
    data: NDArray, anchors: NDArray, std0: Number | None = 1.0, std1: Number | None = 1.0, std2: Number | None = 1.0,
    std3: Number | None = 1.0, clip: Number | None = -1.0, format: Literal['center', 'corner'] | None = 'center', *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def box_encode(
    samples: NDArray, matches: NDArray, anchors: NDArray, refs: NDArray, means: NDArray, stds: NDArray, *,
    out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def box_iou(
    lhs: NDArray, rhs: NDArray, format: Literal['center', 'corner'] | None = 'corner', *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def box_nms(
    data: NDArray, overlap_thresh: Number | None = 0.5, valid_thresh: Number | None = 0.0, topk: Whole | None = -1,
    coord_start: Whole | None = 2, score_index: Whole | None = 1, id_index: Whole | None = -1,
    background_id: Whole | None = -1, force_suppress: Flag | None = False,
    in_format: Literal['center', 'corner'] | None = 'corner', out_format: Literal['center', 'corner'] | None = 'corner',
    *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def box_non_maximum_suppression(
    data: NDArray, overlap_thresh: Number | None = 0.5, valid_thresh: Number | None = 0.0, topk: Whole | None = -1,
    coord_start: Whole | None = 2, score_index: Whole | None = 1, id_index: Whole | None = -1,
    background_id: Whole | None = -1, force_suppress: Flag | None = False,
    in_format: Literal['center', 'corner'] | None = 'corner', out_format: Literal['center', 'corner'] | None = 'corner',
    *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def calibrate_entropy(
    hist: NDArray, hist_edges: NDArray, num_quantized_bins: Whole | None = 255, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def ctc_loss(
    data: NDArray, label: NDArray, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None,
    use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def dequantize(
    data: NDArray, min_range: NDArray, max_range: NDArray, out_type: Literal['float32'] | None = 'float32', *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def div_sqrt_dim(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def getnnz(
    data: NDArray, axis: Whole | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def gradientmultiplier(
    data: NDArray, scalar: Number | None = 1.0, is_int: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def group_adagrad_update(
    weight: NDArray, grad: NDArray, history: NDArray, lr: Number, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, epsilon: Number | None = 1e-05, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def index_array(
    data: NDArray, axes: Sides | None = None, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def index_copy(
    old_tensor: NDArray, index_vector: NDArray, new_tensor: NDArray, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def interleaved_matmul_encdec_qk(
    queries: NDArray, keys_values: NDArray, heads: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def interleaved_matmul_encdec_valatt(
    keys_values: NDArray, attention: NDArray, heads: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def interleaved_matmul_selfatt_qk(
    queries_keys_values: NDArray, heads: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def interleaved_matmul_selfatt_valatt(
    queries_keys_values: NDArray, attention: NDArray, heads: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def quadratic(
    data: NDArray, a: Number | None = 0.0, b: Number | None = 0.0, c: Number | None = 0.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def quantize(
    data: NDArray, min_range: NDArray, max_range: NDArray, out_type: Literal['int8', 'uint8'] | None = 'uint8', *,
    out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def quantize_v2(
    data: NDArray, out_type: Literal['auto', 'int8', 'uint8'] | None = 'int8', min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, *, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def quantized_act(
    data: NDArray, min_data: NDArray, max_data: NDArray,
    act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def quantized_batch_norm(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, min_data: NDArray,
    max_data: NDArray, eps: Number | None = 0.0010000000474974513, momentum: Number | None = 0.899999976,
    fix_gamma: Flag | None = True, use_global_stats: Flag | None = False, output_mean_var: Flag | None = False,
    axis: Whole | None = 1, cudnn_off: Flag | None = False, min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, *, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
def quantized_concat(
    *data: NDArray | Sequence[NDArray], num_args: Whole = ..., dim: Whole | None = 1, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
@overload
def quantized_conv(
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
def quantized_conv(
    data: NDArray, weight: NDArray, bias: NDArray | None, min_data: NDArray | None, max_data: NDArray | None,
    min_weight: NDArray | None, max_weight: NDArray | None, min_bias: NDArray | None, max_bias: NDArray | None,
    kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
@overload
def quantized_conv(
    data: NDArray, weight: NDArray, bias: NDArray | None, min_data: NDArray | None, max_data: NDArray | None,
    min_weight: NDArray | None, max_weight: NDArray | None, min_bias: NDArray | None, max_bias: NDArray | None,
    kernel: Sides, stride: Sides | None, dilate: Sides | None, pad: Sides | None, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def quantized_elemwise_add(
    lhs: NDArray, rhs: NDArray, lhs_min: NDArray, lhs_max: NDArray, rhs_min: NDArray, rhs_max: NDArray,
    min_calib_range: Number | None = None, max_calib_range: Number | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> Any: ...
def quantized_elemwise_mul(
    lhs: NDArray, rhs: NDArray, lhs_min: NDArray, lhs_max: NDArray, rhs_min: NDArray, rhs_max: NDArray,
    min_calib_range: Number | None = None, max_calib_range: Number | None = None,
    enable_float_output: Flag | None = False, *, out: _Out | None = None, name: str | None = None,
) -> Any: ...
def quantized_embedding(
    data: NDArray, weight: NDArray, min_weight: NDArray, max_weight: NDArray, input_dim: Whole, output_dim: Whole,
    dtype: Kind | None = 'float32', sparse_grad: Flag | None = False, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def quantized_flatten(
    data: NDArray, min_data: NDArray, max_data: NDArray, *, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
@overload
def quantized_fully_connected(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, min_data: NDArray | None = None,
    max_data: NDArray | None = None, min_weight: NDArray | None = None, max_weight: NDArray | None = None,
    min_bias: NDArray | None = None, max_bias: NDArray | None = None, *, num_hidden: Whole,
    no_bias: Flag | None = False, flatten: Flag | None = True, out: _Out | None = None, name: str | None = None,
) -> list[NDArray]: ...
@overload
def quantized_fully_connected(
    data: NDArray, weight: NDArray, bias: NDArray | None, min_data: NDArray | None, max_data: NDArray | None,
    min_weight: NDArray | None, max_weight: NDArray | None, min_bias: NDArray | None, max_bias: NDArray | None,
    num_hidden: Whole, no_bias: Flag | None = False, flatten: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def quantized_pooling(
    data: NDArray, min_data: NDArray, max_data: NDArray, kernel: Sides | None = (),
    pool_type: Literal['avg', 'lp', 'max', 'sum'] | None = 'max', global_pool: Flag | None = False,
    cudnn_off: Flag | None = False, pooling_convention: Literal['full', 'same', 'valid'] | None = 'valid',
    stride: Sides | None = (), pad: Sides | None = (), p_value: Whole | None = None,
    count_include_pad: Flag | None = None,
    layout: Literal['None', 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] | None = ..., *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
def requantize(
    data: NDArray, min_range: NDArray, max_range: NDArray, out_type: Literal['auto', 'int8', 'uint8'] | None = 'int8',
    min_calib_range: Number | None = None, max_calib_range: Number | None = None, *, out: _Out | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
