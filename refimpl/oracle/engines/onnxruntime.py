"""ONNX Runtime, at each level of its graph optimisation and with any of its execution providers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NotThere
from onnxruntime.capi.onnxruntime_pybind11_state import RuntimeException

from ..backends.protocol import Unsupported
from . import Run

LEVELS = {"none": "DISABLE_ALL", "basic": "ENABLE_BASIC", "extended": "ENABLE_EXTENDED", "all": "ENABLE_ALL"}

onnxruntime.set_default_logger_severity(4)


class Engine:
    """See ``engines``.

    Args:
        optimize: which of its rewritings of graphs it may apply: none, basic, extended, or all.
        providers: its execution providers, the first one first.
    """

    name, version = "ONNX Runtime", onnxruntime.__version__
    opset = 21
    """The last version in which it has every operator of the rules: MaxRoiPool and RoiAlign are not in 22."""

    leaves_out = ("LeakyReLU float64",)
    """Of the operators that it lacks in double precision, the one by which programs read results."""

    def __init__(self, optimize: str = "all", providers: Sequence[str] = ("CPUExecutionProvider",)) -> None:
        if optimize not in LEVELS:
            raise ValueError(f"optimize is none, basic, extended or all, not {optimize!r}")
        self.level, self.providers = LEVELS[optimize], list(providers)

    def load(self, model: bytes) -> Run:
        """Open a session, in one thread."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_{self.level}")
        try:
            session = onnxruntime.InferenceSession(model, options, providers=self.providers)
        except NotThere as error:
            raise Unsupported(str(error)) from error

        def run(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            try:
                return list(session.run(None, inputs))
            except RuntimeException as error:
                if "does not support" in str(error):  # GRU and LSTM say so of double precision
                    raise Unsupported(str(error)) from error
                raise

        return run
