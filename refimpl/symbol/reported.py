"""What MXNet reports of a call that is only partly known, where that is less than the pages infer.

A page's ``infer`` carries knowledge in every direction. MXNet's rules often read the data only, or wait until all of
it is known. Who asks for partial shapes gets MXNet's answer: an operator in ``SOURCES`` infers from its sources alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ..base import decides
from ..kernels.foundation import UNKNOWN, Op, agree, either, known, told


class Sources(NamedTuple):
    """What MXNet's rule for an operator reads. Nothing follows before the rank of every input that is read is known."""

    inputs: int | None = None
    """How many of the first inputs are read; all of them where None."""
    whole: bool = False
    """Whether nothing follows before every side of these inputs is known, too."""
    outputs: bool = False
    """Whether what is known of the outputs is read."""


# decides: infer/sources
SOURCES: dict[str, Sources] = {
    name: sources
    for sources, names in (
        (Sources(1), (
            "BatchNorm BatchNorm_v1 _contrib_BatchNormWithReLU InstanceNorm LayerNorm GroupNorm Deconvolution"
            " Embedding _contrib_SparseEmbedding LeakyReLU RNN SVMOutput softmax"
            " SequenceLast SequenceMask SequenceReverse IdentityAttachKLSparseReg _slice_assign _cvimresize"
            " _cvcopyMakeBorder"
            " _contrib_quantized_batch_norm _contrib_quantized_conv _contrib_quantized_embedding"
            " _contrib_quantized_fully_connected"
        )),
        (Sources(1, outputs=True), ("Convolution FullyConnected")),
        (Sources(1, whole=True), (
            "LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput _contrib_SyncBatchNorm"
            " _contrib_DeformableConvolution _contrib_Proposal _contrib_MultiProposal _contrib_quantized_act"
            " _contrib_quantized_flatten _contrib_quantized_pooling"
        )),
        (Sources(2), ("_linalg_gemm _contrib_quantized_elemwise_mul")),
        (Sources(), (
            "Crop Dropout GridGenerator L2Normalization MakeLoss Pooling Pooling_v1 SwapAxis UpSampling depth_to_space"
            " space_to_depth khatri_rao _contrib_bipartite_matching _contrib_getnnz _image_adjust_lighting"
            " _contrib_interleaved_matmul_selfatt_qk _image_flip_left_right _image_flip_top_bottom _image_normalize"
            " _image_random_flip_left_right _image_random_flip_top_bottom _linalg_det _linalg_extractdiag"
            " _linalg_extracttrian _linalg_gelqf _linalg_gemm2 _linalg_inverse _linalg_makediag _linalg_maketrian"
            " _linalg_slogdet _linalg_syrk _random_pdf_dirichlet _random_pdf_exponential"
            " _random_pdf_gamma _random_pdf_generalized_negative_binomial _random_pdf_negative_binomial"
            " _random_pdf_normal _random_pdf_poisson _random_pdf_uniform batch_dot"
        )),
        (Sources(outputs=True), ("SliceChannel broadcast_to _sample_multinomial")),
        (Sources(whole=True), (
            "BilinearSampler SpatialTransformer LRN argmax argmax_channel argmin max min norm broadcast_axis"
            " gather_nd im2col col2im one_hot tile _contrib_AdaptiveAvgPooling2D _contrib_BilinearResize2D"
            " _contrib_box_nms _image_to_tensor _slice_assign_scalar _multi_adamw_update _multi_mp_adamw_update"
            " _multi_lamb_update _multi_mp_lamb_update multi_sgd_update multi_sgd_mom_update multi_mp_sgd_update"
            " multi_mp_sgd_mom_update preloaded_multi_sgd_update preloaded_multi_sgd_mom_update"
            " preloaded_multi_mp_sgd_update preloaded_multi_mp_sgd_mom_update"
        )),
    )
    for name in names.split()
}

TYPE_OF_DATA = ("BatchNorm", "_contrib_BatchNormWithReLU", "Convolution", "Deconvolution", "SoftmaxOutput")
"""Operators whose types follow from the first input and the outputs; those of weights and labels are not read."""

Rule = Callable[[Any, list, list], tuple[list, list]]


def _stack(infer: Rule, p: Any, ins: list, outs: list) -> tuple[list, list]:
    """The output follows once all of its sides do, an input from nothing."""
    new_outs = infer(p, ins, [None])[1]
    return ins, new_outs if known(*new_outs) else outs


def _where(infer: Rule, p: Any, ins: list, outs: list) -> tuple[list, list]:
    """Nothing follows before all is known of the condition, and something of x, y or the output."""
    return infer(p, ins, outs) if known(ins[0]) and [*ins[1:], *outs] != [None] * 3 else (ins, outs)


def _outputs_only(infer: Rule, p: Any, ins: list, outs: list) -> tuple[list, list]:
    """Inputs do not follow."""
    return ins, infer(p, ins, outs)[1]


def _inputs_only(infer: Rule, p: Any, ins: list, outs: list) -> tuple[list, list]:
    """Outputs are not read."""
    return infer(p, ins, [None] * len(outs))


def _take(infer: Rule, p: Any, ins: list, outs: list) -> tuple[list, list]:
    """Nothing follows before all is known of the indices."""
    return infer(p, ins, outs) if known(ins[1]) else (ins, outs)


def _broadcast(infer: Rule, p: Any, ins: list, outs: list) -> tuple[list, list]:
    """A side of the output is unknown where that of either operand is."""
    ins, new_outs = infer(p, ins, [None])
    if new_outs[0] is None:
        return ins, outs
    rank = len(new_outs[0])
    left, right = ((1,) * (rank - len(shape)) + shape for shape in ins)
    sides = zip(left, right, new_outs[0], strict=True)
    return ins, [tuple(side if told(a, b) else UNKNOWN for a, b, side in sides)]


RULES: dict[str, Callable] = {
    name: rule
    for rule, names in (
        (_stack, "stack"),
        (_take, "take"),
        (_where, "where"),
        (_inputs_only, "SoftmaxOutput"),
        (_outputs_only, (
            "scatter_nd _linalg_sumlogdiag Correlation _contrib_DeformablePSROIPooling _contrib_MultiBoxDetection"
            " _contrib_MultiBoxTarget _contrib_box_decode"
        )),
        (_broadcast, (
            "broadcast_add broadcast_div broadcast_equal broadcast_greater broadcast_greater_equal broadcast_hypot"
            " broadcast_lesser broadcast_lesser_equal broadcast_logical_and broadcast_logical_or broadcast_logical_xor"
            " broadcast_maximum broadcast_minimum broadcast_mod broadcast_mul broadcast_not_equal broadcast_power"
            " broadcast_sub"
        )),
    )
    for name in names.split()
}
"""Rules for shapes that no :class:`Sources` says."""


def _read_first(rule: Rule, count: int, p: Any, ins: list, outs: list) -> tuple[list, list]:
    """What follows without the inputs behind the first ``count``."""
    return rule(p, [*ins[:count], *[None] * len(ins[count:])], outs)


def _from_sources(sources: Sources, infer: Rule, p: Any, ins: list, outs: list) -> tuple[list, list]:
    count = len(ins) if sources.inputs is None else sources.inputs
    if None in ins[:count] or (sources.whole and not known(*ins[:count])):
        return ins, outs
    return _read_first(infer, count, p, ins, outs if sources.outputs else [None] * len(outs))


def _joined(given: Any, found: Any) -> Any:
    """What is known of one array: ``given``, and of ``found`` what completes it."""
    if given is None or found is None:
        return found if given is None else given
    if not isinstance(given, tuple) or len(given) != len(found) or not all(map(agree, given, found)):
        return given
    return tuple(map(either, given, found))


@decides("infer/sources")
def reported_rule(op: Op, rule_name: str) -> Rule:
    """What MXNet infers in place of ``infer`` or ``infer_type`` of a page."""
    rule: Rule = getattr(op, rule_name)
    weaker: Callable | None = None
    if rule_name == "infer_type":
        weaker = partial(_read_first, rule, 1) if op.name in TYPE_OF_DATA else None
    elif op.name in SOURCES:
        weaker = partial(_from_sources, SOURCES[op.name], rule)
    elif op.name in RULES:
        weaker = partial(RULES[op.name], rule)
    if weaker is None:
        return rule

    def reported(p: Any, ins: list, outs: list) -> tuple[list, list]:
        new_ins, new_outs = weaker(p, ins, outs)
        return [*map(_joined, ins, new_ins)], [*map(_joined, outs, new_outs)]

    return reported


__all__ = ["RULES", "SOURCES", "TYPE_OF_DATA", "Sources", "reported_rule"]
