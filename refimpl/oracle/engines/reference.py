"""The evaluator of the package onnx: operator after operator in NumPy, as ONNX's own text defines them."""

from __future__ import annotations

import onnx
from onnx.reference import ReferenceEvaluator

from . import Run


class Engine:
    """See ``engines``."""

    name, version, opset = "ONNX reference evaluator", onnx.__version__, onnx.defs.onnx_opset_version()

    def load(self, model: bytes) -> Run:
        """Read a model."""
        session = ReferenceEvaluator(model)
        return lambda inputs: list(session.run(None, inputs))
