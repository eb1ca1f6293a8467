"""The names by which a monitor knows the inputs of operators."""

from __future__ import annotations

from ..base import decides
from ..symbol.ir import Node

# What MXNet 1.9.1 says of each operator was asked with:
#   e = getattr(mx.sym, op)(name="zz", **params).simple_bind(mx.cpu(), zz_data=shape)
#   e.set_monitor_callback(lambda name, _: print(name), monitor_all=True); e.forward()   # zz_data, then zz_input0
NUMBERED = frozenset(
    """
    Activation BlockGrad Cast Flatten Reshape SoftmaxActivation _contrib_AdaptiveAvgPooling2D
    _contrib_arange_like _contrib_bipartite_matching _contrib_box_nms _contrib_div_sqrt_dim _copy _div_scalar
    _equal_scalar _greater_equal_scalar _greater_scalar _hypot_scalar _image_adjust_lighting _image_crop
    _image_flip_left_right _image_flip_top_bottom _image_random_flip_left_right _image_random_flip_top_bottom
    _lesser_equal_scalar _lesser_scalar _logical_and_scalar _logical_or_scalar _logical_xor_scalar
    _maximum_scalar _minimum_scalar _minus_scalar _mod_scalar _mul_scalar _not_equal_scalar _plus_scalar
    _power_scalar _random_exponential_like _random_gamma_like _random_generalized_negative_binomial_like
    _random_negative_binomial_like _random_normal_like _random_poisson_like _random_uniform_like _rdiv_scalar
    _rminus_scalar _rmod_scalar _rpower_scalar _sample_multinomial _shuffle _slice_assign_scalar abs amp_cast
    arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort broadcast_axis
    broadcast_to cast_storage cbrt ceil clip cos cosh degrees erf erfinv exp expand_dims expm1 fix floor gamma
    gammaln hard_sigmoid log log10 log1p log2 logical_not make_loss max mean min nanprod nansum negative norm
    ones_like prod radians rcbrt reciprocal relu rint round rsqrt shape_array sigmoid sign sin sinh size_array
    slice slice_axis smooth_l1 softmin softsign sort sqrt square sum tan tanh topk transpose trunc zeros_like
    """.split()
)
"""Operators with one input that MXNet knows by number: ``act_input0``, not ``act_data``."""


@decides("Executor/monitor")
def monitored_inputs(node: Node) -> list[str]:
    """The names of the inputs of an operator's node, as a monitor reports them."""
    assert node.op is not None
    if node.op.name in NUMBERED:
        return [f"{node.name}_input0"]
    return [f"{node.name}_{name}" for name in node.op.input_names(node.params)]


__all__ = ["monitored_inputs"]
