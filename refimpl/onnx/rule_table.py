"""The one table of ONNX rules: operator -> how its layers become nodes of an ONNX graph.

A rule is ``rule(builder, p, shapes, *inputs)`` with the parameters, the shapes and the names of the active inputs; the
builder knows shapes and types of the outputs. It returns the name of the output, or a list of names, and raises
:class:`~refimpl.onnx.building.NoForm` for parameters that ONNX has no form for. The rules stand here and not on pages,
which may know nothing of ONNX.
"""

from __future__ import annotations

from . import arranging, boxes_and_regions, elementwise, layers, quantizing, recurrent, reducing
from .building import Rule

# decides: Onnx/rules
RULES: dict[str, Rule] = {
    **elementwise.RULES, **arranging.RULES, **reducing.RULES, **layers.RULES, **recurrent.RULES,
    **boxes_and_regions.RULES, **quantizing.RULES,
}
"""Every operator that has a form in ONNX, by its own name."""

__all__ = ["RULES"]
