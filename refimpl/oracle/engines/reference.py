"""The evaluator of the package onnx: operator after operator in NumPy, as ONNX's own text defines them."""

from __future__ import annotations

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import RuntimeImplementationError

from ..backends.protocol import Unsupported
from . import Run


class Engine:
    """See ``engines``."""

    name, version, opset = "ONNX reference evaluator", onnx.__version__, onnx.defs.onnx_opset_version()
    dtypes = ("float32", "float64", "int8", "uint8", "int32", "int64")  # it adds up float16 in float16

    def load(self, model: bytes) -> Run:
        """Read a model."""
        try:
            session = ReferenceEvaluator(model)
        except RuntimeImplementationError as error:
            raise Unsupported(str(error).partition(",")[0]) from error

        def run(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            with np.errstate(all="ignore"):
                return list(session.run(None, inputs))

        return run
