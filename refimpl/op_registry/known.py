"""The forward operators that MXNet 1.9.1 registers, by name, and what is said of those that are not here.

MXNet's registry also has its gradients (``_backward_*``) and NumPy's interface (``_np*``), which are left out.
The names come in three tiers: 1 is what networks, losses and optimizers of the 1.x stack are made of, 2 what
its special networks need, 3 what belongs to other parts of MXNet (quantized integers, images, graph tools).
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import Any

from ..base import refusal
from ..kernels.foundation import REGISTRY, Op

LIST = "`refimpl ops` and spec/ops.md list what is"

_TIER_1 = """
    abs=_sparse_abs Activation adam_update=_sparse_adam_update
    add_n=ElementWiseSum=_sparse_ElementWiseSum=_sparse_add_n _arange arccos=_sparse_arccos
    arccosh=_sparse_arccosh arcsin=_sparse_arcsin arcsinh=_sparse_arcsinh arctan=_sparse_arctan
    arctanh=_sparse_arctanh argmax argmax_channel argmin argsort batch_dot batch_take BatchNorm
    BlockGrad=_sparse_stop_gradient=stop_gradient
    broadcast_add=_sparse_broadcast_add=_sparse_broadcast_plus=broadcast_plus broadcast_axis=broadcast_axes
    broadcast_div=_sparse_broadcast_div broadcast_equal broadcast_greater broadcast_greater_equal
    broadcast_lesser broadcast_lesser_equal broadcast_like broadcast_maximum broadcast_minimum broadcast_mod
    broadcast_mul=_sparse_broadcast_mul broadcast_not_equal broadcast_power
    broadcast_sub=_sparse_broadcast_minus=_sparse_broadcast_sub=broadcast_minus broadcast_to Cast=cast
    cast_storage=_sparse_cast_storage cbrt=_sparse_cbrt ceil=_sparse_ceil clip=_sparse_clip
    Concat=_sparse_concat=concat _contrib_allclose _contrib_SparseEmbedding Convolution _copy=identity
    _copyto cos=_sparse_cos cosh=_sparse_cosh Crop Custom Deconvolution degrees=_sparse_degrees
    _div_scalar=_DivScalar dot=_sparse_dot Dropout elemwise_add=_Plus=_add=_plus=_sparse_elemwise_add
    elemwise_div=_Div=_div=_sparse_elemwise_div elemwise_mul=_Mul=_mul=_sparse_elemwise_mul
    elemwise_sub=_Minus=_minus=_sparse_elemwise_sub=_sub Embedding=_sparse_Embedding _equal=_Equal
    _equal_scalar=_EqualScalar exp=_sparse_exp expand_dims expm1=_sparse_expm1 _eye fix=_sparse_fix
    Flatten=flatten floor=_sparse_floor ftml_update ftrl_update=_sparse_ftrl_update _full
    FullyConnected=_sparse_FullyConnected gather_nd _grad_add _greater=_Greater
    _greater_equal=_Greater_Equal _greater_equal_scalar=_GreaterEqualScalar _greater_scalar=_GreaterScalar
    _identity_with_attr_like_rhs InstanceNorm L2Normalization LayerNorm LeakyReLU _lesser=_Lesser
    _lesser_equal=_Lesser_Equal _lesser_equal_scalar=_LesserEqualScalar _lesser_scalar=_LesserScalar
    _linalg_gelqf=linalg_gelqf LinearRegressionOutput=_sparse_LinearRegressionOutput _linspace
    log=_sparse_log log10=_sparse_log10 log1p=_sparse_log1p log2=_sparse_log2 log_softmax
    LogisticRegressionOutput=_sparse_LogisticRegressionOutput LRN
    MAERegressionOutput=_sparse_MAERegressionOutput make_loss=_sparse_make_loss MakeLoss max=max_axis
    _maximum=_Maximum _maximum_scalar=_MaximumScalar mean=_sparse_mean min=min_axis _minimum=_Minimum
    _minimum_scalar=_MinimumScalar _minus_scalar=_MinusScalar _mod=_Mod _mod_scalar=_ModScalar
    mp_sgd_mom_update mp_sgd_update _mul_scalar=_MulScalar multi_sgd_mom_update multi_sgd_update
    nag_mom_update nanprod nansum negative=_sparse_negative norm=_sparse_norm _not_equal=_Not_Equal
    _not_equal_scalar=_NotEqualScalar one_hot _ones ones_like Pad=pad pick=choose_element_0index
    _plus_scalar=_PlusScalar Pooling _power=_Power _power_scalar=_PowerScalar prod radians=_sparse_radians
    _random_exponential=random_exponential _random_gamma=random_gamma _random_normal=normal=random_normal
    _random_poisson=random_poisson _random_randint=random_randint _random_uniform=random_uniform=uniform
    rcbrt _rdiv_scalar=_RDivScalar reciprocal relu=_sparse_relu repeat Reshape=reshape reshape_like
    reverse=flip rint=_sparse_rint _rminus_scalar=_RMinusScalar _rmod_scalar=_RModScalar rmsprop_update
    rmspropalex_update RNN round=_sparse_round _rpower_scalar=_RPowerScalar rsqrt=_sparse_rsqrt
    _sample_multinomial=sample_multinomial scatter_nd SequenceLast SequenceMask SequenceReverse _set_value
    sgd_mom_update=_sparse_sgd_mom_update sgd_update=_sparse_sgd_update shape_array sigmoid=_sparse_sigmoid
    sign=_sparse_sign signsgd_update signum_update sin=_sparse_sin sinh=_sparse_sinh size_array
    slice=_sparse_slice=crop _slice_assign=_crop_assign _slice_assign_scalar=_crop_assign_scalar slice_axis
    slice_like SliceChannel=split smooth_l1 softmax softmax_cross_entropy SoftmaxActivation
    SoftmaxOutput=Softmax softmin softsign sort _sparse_adagrad_update _sparse_retain sqrt=_sparse_sqrt
    square=_sparse_square _square_sum squeeze stack sum=_sparse_sum=sum_axis SVMOutput SwapAxis=swapaxes
    take tan=_sparse_tan tanh=_sparse_tanh tile topk transpose trunc=_sparse_trunc UpSampling
    where=_sparse_where _zeros zeros_like=_sparse_zeros_like _zeros_without_dtype
"""

_TIER_2 = """
    _adamw_update all_finite amp_cast amp_multicast BatchNorm_v1 BilinearSampler broadcast_hypot
    broadcast_logical_and broadcast_logical_or broadcast_logical_xor col2im _cond
    _contrib_AdaptiveAvgPooling2D _contrib_arange_like _contrib_BilinearResize2D _contrib_boolean_mask
    _contrib_box_iou _contrib_box_nms=_contrib_box_non_maximum_suppression _contrib_DeformableConvolution
    _contrib_dequantize _contrib_div_sqrt_dim _contrib_getnnz _contrib_group_adagrad_update
    _contrib_index_array _contrib_index_copy _contrib_interleaved_matmul_encdec_qk
    _contrib_interleaved_matmul_encdec_valatt _contrib_interleaved_matmul_selfatt_qk
    _contrib_interleaved_matmul_selfatt_valatt _contrib_MultiBoxDetection _contrib_MultiBoxPrior
    _contrib_MultiBoxTarget _contrib_MultiProposal _contrib_Proposal _contrib_PSROIPooling
    _contrib_quadratic _contrib_ROIAlign _contrib_RROIAlign _contrib_SyncBatchNorm Convolution_v1
    Correlation CTCLoss=_contrib_CTCLoss=_contrib_ctc_loss=ctc_loss cumsum _cvimresize depth_to_space diag
    erf erfinv fill_element_0index _foreach gamma=_sparse_gamma gammaln=_sparse_gammaln GridGenerator
    GroupNorm hard_sigmoid _histogram _hypot=_Hypot _hypot_scalar=_HypotScalar IdentityAttachKLSparseReg
    im2col _image_normalize khatri_rao lamb_update_phase1 lamb_update_phase2 _linalg_det=linalg_det
    _linalg_extractdiag=linalg_extractdiag _linalg_extracttrian=linalg_extracttrian _linalg_gemm=linalg_gemm
    _linalg_gemm2=linalg_gemm2 _linalg_inverse=linalg_inverse _linalg_makediag=linalg_makediag
    _linalg_maketrian=linalg_maketrian _linalg_potrf=linalg_potrf _linalg_potri=linalg_potri
    _linalg_slogdet=linalg_slogdet _linalg_sumlogdiag=linalg_sumlogdiag _linalg_syevd
    _linalg_syrk=linalg_syrk _linalg_trmm=linalg_trmm _linalg_trsm=linalg_trsm _logical_and=_Logical_And
    _logical_and_scalar=_LogicalAndScalar logical_not _logical_or=_Logical_Or
    _logical_or_scalar=_LogicalOrScalar _logical_xor=_Logical_Xor _logical_xor_scalar=_LogicalXorScalar
    moments _mp_adamw_update mp_lamb_update_phase1 mp_lamb_update_phase2 mp_nag_mom_update
    _multi_adamw_update multi_all_finite _multi_lamb_update multi_lars _multi_mp_adamw_update
    _multi_mp_lamb_update multi_mp_sgd_mom_update multi_mp_sgd_update multi_sum_sq _Native _onehot_encode
    Pooling_v1 preloaded_multi_mp_sgd_mom_update preloaded_multi_mp_sgd_update
    preloaded_multi_sgd_mom_update preloaded_multi_sgd_update _random_exponential_like _random_gamma_like
    _random_generalized_negative_binomial=random_generalized_negative_binomial
    _random_generalized_negative_binomial_like _random_negative_binomial=random_negative_binomial
    _random_negative_binomial_like _random_normal_like _random_pdf_dirichlet=random_pdf_dirichlet
    _random_pdf_exponential=random_pdf_exponential _random_pdf_gamma=random_pdf_gamma
    _random_pdf_generalized_negative_binomial=random_pdf_generalized_negative_binomial
    _random_pdf_negative_binomial=random_pdf_negative_binomial _random_pdf_normal=random_pdf_normal
    _random_pdf_poisson=random_pdf_poisson _random_pdf_uniform=random_pdf_uniform _random_poisson_like
    _random_uniform_like _ravel_multi_index=ravel_multi_index reset_arrays ROIPooling
    _sample_exponential=sample_exponential _sample_gamma=sample_gamma
    _sample_generalized_negative_binomial=sample_generalized_negative_binomial
    _sample_negative_binomial=sample_negative_binomial _sample_normal=sample_normal
    _sample_poisson=sample_poisson _sample_uniform=sample_uniform _sample_unique_zipfian _scatter_set_nd
    _shuffle=shuffle space_to_depth SpatialTransformer _split_v2 _unravel_index=unravel_index _while_loop
"""

_TIER_3 = """
    _broadcast_backward _CachedOp _CachedOpThreadSafe _contrib_backward_gradientmultiplier
    _contrib_backward_hawkesll _contrib_backward_index_copy _contrib_backward_quadratic
    _contrib_BatchNormWithReLU _contrib_bipartite_matching _contrib_box_decode _contrib_box_encode
    _contrib_calibrate_entropy _contrib_count_sketch _contrib_DeformablePSROIPooling _contrib_dgl_adjacency
    _contrib_dgl_csr_neighbor_non_uniform_sample _contrib_dgl_csr_neighbor_uniform_sample
    _contrib_dgl_graph_compact _contrib_dgl_subgraph _contrib_edge_id _contrib_fft
    _contrib_gradientmultiplier _contrib_hawkesll _contrib_ifft _contrib_ModulatedDeformableConvolution
    _contrib_quantize _contrib_quantize_asym _contrib_quantize_v2 _contrib_quantized_act
    _contrib_quantized_batch_norm _contrib_quantized_concat _contrib_quantized_conv
    _contrib_quantized_elemwise_add _contrib_quantized_elemwise_mul _contrib_quantized_embedding
    _contrib_quantized_flatten _contrib_quantized_fully_connected _contrib_quantized_pooling
    _contrib_quantized_rnn _contrib_requantize _contrib_round_ste=_sparse__contrib_round_ste
    _contrib_sign_ste=_sparse__contrib_sign_ste _CrossDeviceCopy _CustomFunction _cvcopyMakeBorder
    _cvimdecode _cvimread _image_adjust_lighting _image_crop _image_flip_left_right _image_flip_top_bottom
    _image_random_brightness _image_random_color_jitter _image_random_contrast _image_random_flip_left_right
    _image_random_flip_top_bottom _image_random_hue _image_random_lighting _image_random_saturation
    _image_resize _image_to_tensor _imdecode _NDArray _NoGradient _rnn_param_concat _scatter_elemwise_div
    _scatter_minus_scalar _scatter_plus_scalar _sg_mkldnn_conv _sg_mkldnn_fully_connected
    _sg_mkldnn_selfatt_qk _sg_mkldnn_selfatt_valatt _split_v2_backward
"""

# Each word is an operator, followed by its other names.
_WORDS = {1: _TIER_1, 2: _TIER_2, 3: _TIER_3}


@cache
def tiers() -> dict[str, int]:
    """Operator -> tier, without aliases: 426 operators."""
    return {word.partition("=")[0]: tier for tier, words in _WORDS.items() for word in words.split()}


@cache
def names() -> dict[str, str]:
    """Every name of MXNet's forward operators -> the operator's own name: 615 names."""
    words = (word.split("=") for text in _WORDS.values() for word in text.split())
    return {name: own for own, *others in words for name in (own, *others)}


def near(name: str) -> list[str]:
    """At most three names of operators that are here and look like ``name``, the likeliest first."""
    return get_close_matches(name, REGISTRY, n=3)


def explanation(name: str) -> str:
    """Why there is no operator ``name`` here, in one sentence."""
    own = names().get(name)
    if own is not None:
        also = "" if own == name else f" (another name of {own})"
        return f"operator {name}{also} of MXNet 1.9.1 is not implemented here; {LIST}"
    likely = near(name)
    hint = f"did you mean {' or '.join(likely)}? " if likely else ""
    return f"there is no operator {name}, neither here nor in MXNet 1.9.1; {hint}{LIST}"


def unknown(name: str) -> Exception:
    """The error about an operator that is not here."""
    return refusal("contract/known-operator", explanation(name))


def find(name: str) -> Op:
    """The operator of a name or alias.

    Raises:
        MXNetError: there is no such operator here; the message says whether MXNet 1.9.1 has it.
    """
    found = REGISTRY.get(name)
    if found is None:
        raise unknown(name)
    return found


def missing(name: str) -> Callable[..., Any]:
    """A function that stands for an operator of MXNet that is not here: calling it raises MXNetError."""

    def function(*_: Any, **__: Any) -> Any:
        raise unknown(name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Not implemented: {explanation(name)}."
    return function


def attributes(package: str, prefix: str = "", *, internal: bool = False) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module of operators, for names that it does not hold.

    An operator ``prefix`` + name of MXNet 1.9.1 that is not here is a function that says so when it is called;
    any other name is an AttributeError. Only an ``internal`` module has names that begin with an underscore.
    """

    def attribute(name: str) -> Any:
        known = prefix + name
        if name.startswith("_") == internal and known in names() and known not in REGISTRY:
            return missing(known)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return attribute
