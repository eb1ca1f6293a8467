"""The one table of ONNX rules: operator -> how its layers become nodes of an ONNX graph.

A rule is ``rule(builder, p, shapes, *inputs)`` with the parameters, the shapes and the names of the active inputs; the
builder knows shapes and types of the outputs. It returns the name of the output, or a list of names, and raises
:class:`~refimpl.onnx.building.NoForm` for parameters that ONNX has no form for. The rules stand here and not on pages,
which may know nothing of ONNX.
"""

from __future__ import annotations

from . import arranging, boxes_and_regions, elementwise, layers, quantizing, recurrent, reducing
from .building import Rule, in_single

SEVERAL_STEPS = (
    "expm1", "log1p", "log2", "log10", "cbrt", "rcbrt", "rsqrt", "degrees", "radians", "_hypot", "broadcast_hypot",
    "_hypot_scalar", "smooth_l1", "_contrib_quadratic", "moments", "L2Normalization", "_contrib_MultiBoxDetection",
    "_contrib_box_nms", "_contrib_box_decode", "_contrib_Proposal", "_contrib_MultiProposal", "Correlation",
    "_contrib_DeformableConvolution", "_contrib_AdaptiveAvgPooling2D", "GridGenerator", "SpatialTransformer",
    "_contrib_div_sqrt_dim",
)
"""Operators of which each is several steps of arithmetic in ONNX."""
_EVERY: dict[str, Rule] = {
    **elementwise.RULES, **arranging.RULES, **reducing.RULES, **layers.RULES, **recurrent.RULES,
    **boxes_and_regions.RULES, **quantizing.RULES,
}
# decides: Onnx/rules
RULES: dict[str, Rule] = _EVERY | {name: in_single(_EVERY[name]) for name in SEVERAL_STEPS}
"""Every operator that has a form in ONNX, by its own name."""

__all__ = ["RULES"]
