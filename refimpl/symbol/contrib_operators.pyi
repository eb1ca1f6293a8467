"""mx.sym.contrib_operators: the operators ``_contrib_...`` as functions on symbols."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from collections.abc import Sequence
from typing import Literal, overload

from typing_extensions import Unpack

from ..context import Context
from ..op_registry.argument_types import Attributes, Flag, GraphKeywords, Kind, Number, Numbers, Sides, Whole
from .symbol import Symbol

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
    data: Symbol | None = None, output_size: Sides | None = (), *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def BatchNormWithReLU(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None, eps: Number | None = 0.0010000000474974513,
    momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True, use_global_stats: Flag | None = False,
    output_mean_var: Flag | None = False, axis: Whole | None = 1, cudnn_off: Flag | None = False,
    min_calib_range: Number | None = None, max_calib_range: Number | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def BilinearResize2D(
    data: Symbol | None = None, like: Symbol | None = None, height: Whole | None = 1, width: Whole | None = 1,
    scale_height: Number | None = None, scale_width: Number | None = None,
    mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] | None = 'size',
    align_corners: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def CTCLoss(
    data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None, use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def DeformableConvolution(
    data: Symbol | None = None, offset: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    *, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def DeformableConvolution(
    data: Symbol | None, offset: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: Sides,
    stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def DeformableConvolution(
    data: Symbol | None, offset: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: Sides,
    stride: Sides | None, dilate: Sides | None, pad: Sides | None, num_filter: Whole, num_group: Whole | None = 1,
    num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def DeformablePSROIPooling(
    data: Symbol | None = None, rois: Symbol | None = None, trans: Symbol | None = None, *, spatial_scale: Number,
    output_dim: Whole, group_size: Whole, pooled_size: Whole, part_size: Whole | None = 0,
    sample_per_part: Whole | None = 1, trans_std: Number | None = 0.0, no_trans: Flag | None = False,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def DeformablePSROIPooling(
    data: Symbol | None, rois: Symbol | None, trans: Symbol | None, spatial_scale: Number, output_dim: Whole,
    group_size: Whole, pooled_size: Whole, part_size: Whole | None = 0, sample_per_part: Whole | None = 1,
    trans_std: Number | None = 0.0, no_trans: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ModulatedDeformableConvolution(
    data: Symbol | None = None, offset: Symbol | None = None, mask: Symbol | None = None, weight: Symbol | None = None,
    bias: Symbol | None = None, *, kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (),
    pad: Sides | None = (), num_filter: Whole, num_group: Whole | None = 1, num_deformable_group: Whole | None = 1,
    workspace: Whole | None = 1024, no_bias: Flag | None = False, im2col_step: Whole | None = 64,
    layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ModulatedDeformableConvolution(
    data: Symbol | None, offset: Symbol | None, mask: Symbol | None, weight: Symbol | None, bias: Symbol | None,
    kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, im2col_step: Whole | None = 64, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ModulatedDeformableConvolution(
    data: Symbol | None, offset: Symbol | None, mask: Symbol | None, weight: Symbol | None, bias: Symbol | None,
    kernel: Sides, stride: Sides | None, dilate: Sides | None, pad: Sides | None, num_filter: Whole,
    num_group: Whole | None = 1, num_deformable_group: Whole | None = 1, workspace: Whole | None = 1024,
    no_bias: Flag | None = False, im2col_step: Whole | None = 64, layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def MultiBoxDetection(
    cls_prob: Symbol | None = None, loc_pred: Symbol | None = None, anchor: Symbol | None = None,
    clip: Flag | None = True, threshold: Number | None = 0.01, background_id: Whole | None = 0,
    nms_threshold: Number | None = 0.5, force_suppress: Flag | None = False,
    variances: Numbers | None = (0.1, 0.1, 0.2, 0.2), nms_topk: Whole | None = -1, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def MultiBoxPrior(
    data: Symbol | None = None, sizes: Numbers | None = (1.0,), ratios: Numbers | None = (1.0,),
    clip: Flag | None = False, steps: Numbers | None = (-1.0, -1.0), offsets: Numbers | None = (0.5, 0.5), *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def MultiBoxTarget(
    anchor: Symbol | None = None, label: Symbol | None = None, cls_pred: Symbol | None = None,
    overlap_threshold: Number | None = 0.5, ignore_label: Number | None = -1.0,
    negative_mining_ratio: Number | None = -1.0, negative_mining_thresh: Number | None = 0.5,
    minimum_negative_samples: Whole | None = 0, variances: Numbers | None = (0.1, 0.1, 0.2, 0.2), *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def MultiProposal(
    cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None, im_info: Symbol | None = None,
    rpn_pre_nms_top_n: Whole | None = 6000, rpn_post_nms_top_n: Whole | None = 300, threshold: Number | None = 0.7,
    rpn_min_size: Whole | None = 16, scales: Numbers | None = (4.0, 8.0, 16.0, 32.0),
    ratios: Numbers | None = (0.5, 1.0, 2.0), feature_stride: Whole | None = 16, output_score: Flag | None = False,
    iou_loss: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def PSROIPooling(
    data: Symbol | None = None, rois: Symbol | None = None, *, spatial_scale: Number, output_dim: Whole,
    pooled_size: Whole, group_size: Whole | None = 0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def PSROIPooling(
    data: Symbol | None, rois: Symbol | None, spatial_scale: Number, output_dim: Whole, pooled_size: Whole,
    group_size: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def Proposal(
    cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None, im_info: Symbol | None = None,
    rpn_pre_nms_top_n: Whole | None = 6000, rpn_post_nms_top_n: Whole | None = 300, threshold: Number | None = 0.7,
    rpn_min_size: Whole | None = 16, scales: Numbers | None = (4.0, 8.0, 16.0, 32.0),
    ratios: Numbers | None = (0.5, 1.0, 2.0), feature_stride: Whole | None = 16, output_score: Flag | None = False,
    iou_loss: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ROIAlign(
    data: Symbol | None = None, rois: Symbol | None = None, *, pooled_size: Sides, spatial_scale: Number,
    sample_ratio: Whole | None = -1, position_sensitive: Flag | None = False, aligned: Flag | None = False,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ROIAlign(
    data: Symbol | None, rois: Symbol | None, pooled_size: Sides, spatial_scale: Number,
    sample_ratio: Whole | None = -1, position_sensitive: Flag | None = False, aligned: Flag | None = False, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def RROIAlign(
    data: Symbol | None = None, rois: Symbol | None = None, *, pooled_size: Sides, spatial_scale: Number,
    sampling_ratio: Whole | None = -1, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def RROIAlign(
    data: Symbol | None, rois: Symbol | None, pooled_size: Sides, spatial_scale: Number,
    sampling_ratio: Whole | None = -1, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def SparseEmbedding(
    data: Symbol | None = None, weight: Symbol | None = None, *, input_dim: Whole, output_dim: Whole,
    dtype: Kind | None = 'float32', deterministic: Flag | None = False, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def SparseEmbedding(
    data: Symbol | None, weight: Symbol | None, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    deterministic: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def SyncBatchNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None, eps: Number | None = 0.00100000005,
    momentum: Number | None = 0.899999976, fix_gamma: Flag | None = True, use_global_stats: Flag | None = False,
    output_mean_var: Flag | None = False, ndev: Whole | None = 1, *, key: str, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def SyncBatchNorm(
    data: Symbol | None, gamma: Symbol | None, beta: Symbol | None, moving_mean: Symbol | None,
    moving_var: Symbol | None, eps: Number | None, momentum: Number | None, fix_gamma: Flag | None,
    use_global_stats: Flag | None, output_mean_var: Flag | None, ndev: Whole | None, key: str, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def allclose(
    a: Symbol | None = None, b: Symbol | None = None, rtol: Number | None = 1e-05, atol: Number | None = 1e-08,
    equal_nan: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arange_like(
    data: Symbol | None = None, start: Number | None = 0.0, step: Number | None = 1.0, repeat: Whole | None = 1,
    ctx: Context | str | None = '', axis: Whole | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def bipartite_matching(
    data: Symbol | None = None, is_ascend: Flag | None = False, *, threshold: Number, topk: Whole | None = -1,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def bipartite_matching(
    data: Symbol | None, is_ascend: Flag | None, threshold: Number, topk: Whole | None = -1, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def box_decode(
    data: Symbol | None = None, anchors: Symbol | None = None, std0: Number | None = 1.0, std1: Number | None = 1.0,
    std2: Number | None = 1.0, std3: Number | None = 1.0, clip: Number | None = -1.0,
    format: Literal['center', 'corner'] | None = 'center', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def box_encode(
    samples: Symbol | None = None, matches: Symbol | None = None, anchors: Symbol | None = None,
    refs: Symbol | None = None, means: Symbol | None = None, stds: Symbol | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def box_iou(
    lhs: Symbol | None = None, rhs: Symbol | None = None, format: Literal['center', 'corner'] | None = 'corner', *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def box_nms(
    data: Symbol | None = None, overlap_thresh: Number | None = 0.5, valid_thresh: Number | None = 0.0,
    topk: Whole | None = -1, coord_start: Whole | None = 2, score_index: Whole | None = 1, id_index: Whole | None = -1,
    background_id: Whole | None = -1, force_suppress: Flag | None = False,
    in_format: Literal['center', 'corner'] | None = 'corner', out_format: Literal['center', 'corner'] | None = 'corner',
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def box_non_maximum_suppression(
    data: Symbol | None = None, overlap_thresh: Number | None = 0.5, valid_thresh: Number | None = 0.0,
    topk: Whole | None = -1, coord_start: Whole | None = 2, score_index: Whole | None = 1, id_index: Whole | None = -1,
    background_id: Whole | None = -1, force_suppress: Flag | None = False,
    in_format: Literal['center', 'corner'] | None = 'corner', out_format: Literal['center', 'corner'] | None = 'corner',
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def calibrate_entropy(
    hist: Symbol | None = None, hist_edges: Symbol | None = None, num_quantized_bins: Whole | None = 255, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def ctc_loss(
    data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None, use_data_lengths: Flag | None = False, use_label_lengths: Flag | None = False,
    blank_label: Literal['first', 'last'] | None = 'first', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def dequantize(
    data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None,
    out_type: Literal['float32'] | None = 'float32', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def div_sqrt_dim(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def getnnz(
    data: Symbol | None = None, axis: Whole | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def gradientmultiplier(
    data: Symbol | None = None, scalar: Number | None = 1.0, is_int: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def group_adagrad_update(
    weight: Symbol | None = None, grad: Symbol | None = None, history: Symbol | None = None, *, lr: Number,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, epsilon: Number | None = 1e-05,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def group_adagrad_update(
    weight: Symbol | None, grad: Symbol | None, history: Symbol | None, lr: Number, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, epsilon: Number | None = 1e-05, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def index_array(
    data: Symbol | None = None, axes: Sides | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def index_copy(
    old_tensor: Symbol | None = None, index_vector: Symbol | None = None, new_tensor: Symbol | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def interleaved_matmul_encdec_qk(
    queries: Symbol | None = None, keys_values: Symbol | None = None, *, heads: Whole, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def interleaved_matmul_encdec_qk(
    queries: Symbol | None, keys_values: Symbol | None, heads: Whole, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def interleaved_matmul_encdec_valatt(
    keys_values: Symbol | None = None, attention: Symbol | None = None, *, heads: Whole, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def interleaved_matmul_encdec_valatt(
    keys_values: Symbol | None, attention: Symbol | None, heads: Whole, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def interleaved_matmul_selfatt_qk(
    queries_keys_values: Symbol | None = None, *, heads: Whole, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def interleaved_matmul_selfatt_qk(
    queries_keys_values: Symbol | None, heads: Whole, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def interleaved_matmul_selfatt_valatt(
    queries_keys_values: Symbol | None = None, attention: Symbol | None = None, *, heads: Whole,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def interleaved_matmul_selfatt_valatt(
    queries_keys_values: Symbol | None, attention: Symbol | None, heads: Whole, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def quadratic(
    data: Symbol | None = None, a: Number | None = 0.0, b: Number | None = 0.0, c: Number | None = 0.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def quantize(
    data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None,
    out_type: Literal['int8', 'uint8'] | None = 'uint8', *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def quantize_v2(
    data: Symbol | None = None, out_type: Literal['auto', 'int8', 'uint8'] | None = 'int8',
    min_calib_range: Number | None = None, max_calib_range: Number | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def quantized_act(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None, *,
    act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def quantized_act(
    data: Symbol | None, min_data: Symbol | None, max_data: Symbol | None,
    act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def quantized_batch_norm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None, min_data: Symbol | None = None,
    max_data: Symbol | None = None, eps: Number | None = 0.0010000000474974513, momentum: Number | None = 0.899999976,
    fix_gamma: Flag | None = True, use_global_stats: Flag | None = False, output_mean_var: Flag | None = False,
    axis: Whole | None = 1, cudnn_off: Flag | None = False, min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def quantized_concat(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., dim: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def quantized_conv(
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
def quantized_conv(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, min_data: Symbol | None, max_data: Symbol | None,
    min_weight: Symbol | None, max_weight: Symbol | None, min_bias: Symbol | None, max_bias: Symbol | None,
    kernel: Sides, stride: Sides | None = (), dilate: Sides | None = (), pad: Sides | None = (), *, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def quantized_conv(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, min_data: Symbol | None, max_data: Symbol | None,
    min_weight: Symbol | None, max_weight: Symbol | None, min_bias: Symbol | None, max_bias: Symbol | None,
    kernel: Sides, stride: Sides | None, dilate: Sides | None, pad: Sides | None, num_filter: Whole,
    num_group: Whole | None = 1, workspace: Whole | None = 1024, no_bias: Flag | None = False,
    cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: Flag | None = False,
    layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def quantized_elemwise_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_min: Symbol | None = None, lhs_max: Symbol | None = None,
    rhs_min: Symbol | None = None, rhs_max: Symbol | None = None, min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def quantized_elemwise_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_min: Symbol | None = None, lhs_max: Symbol | None = None,
    rhs_min: Symbol | None = None, rhs_max: Symbol | None = None, min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, enable_float_output: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def quantized_embedding(
    data: Symbol | None = None, weight: Symbol | None = None, min_weight: Symbol | None = None,
    max_weight: Symbol | None = None, *, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    sparse_grad: Flag | None = False, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def quantized_embedding(
    data: Symbol | None, weight: Symbol | None, min_weight: Symbol | None, max_weight: Symbol | None, input_dim: Whole,
    output_dim: Whole, dtype: Kind | None = 'float32', sparse_grad: Flag | None = False, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def quantized_flatten(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def quantized_fully_connected(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    min_data: Symbol | None = None, max_data: Symbol | None = None, min_weight: Symbol | None = None,
    max_weight: Symbol | None = None, min_bias: Symbol | None = None, max_bias: Symbol | None = None, *,
    num_hidden: Whole, no_bias: Flag | None = False, flatten: Flag | None = True, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def quantized_fully_connected(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, min_data: Symbol | None, max_data: Symbol | None,
    min_weight: Symbol | None, max_weight: Symbol | None, min_bias: Symbol | None, max_bias: Symbol | None,
    num_hidden: Whole, no_bias: Flag | None = False, flatten: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def quantized_pooling(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None,
    kernel: Sides | None = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] | None = 'max',
    global_pool: Flag | None = False, cudnn_off: Flag | None = False,
    pooling_convention: Literal['full', 'same', 'valid'] | None = 'valid', stride: Sides | None = (),
    pad: Sides | None = (), p_value: Whole | None = None, count_include_pad: Flag | None = None,
    layout: Literal['None', 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def requantize(
    data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None,
    out_type: Literal['auto', 'int8', 'uint8'] | None = 'int8', min_calib_range: Number | None = None,
    max_calib_range: Number | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
