"""OpenVINO on the CPU, in single precision: left to itself it takes bfloat16 where the processor has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import openvino

from ..backends.protocol import Unsupported


class Engine:
    """See ``backends.onnx``.

    Args:
        precision: the type that it computes float32 in: f32, f16, bf16.
    """

    name, version, opset = "OpenVINO", openvino.__version__.split("-")[0], 20
    dtypes = ("float32", "float64", "int32", "int64", "bool")

    def __init__(self, precision: str = "f32") -> None:
        self.options = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": precision}
        self.core = openvino.Core()

    def load(self, model: bytes) -> Callable[[dict[str, np.ndarray]], list[np.ndarray]]:
        """Compile a model."""
        try:
            run: Any = self.core.compile_model(self.core.read_model(model), "CPU", self.options)
        except RuntimeError as error:
            if "not support" in str(error) or "No conversion rule" in str(error):
                raise Unsupported(str(error)) from error
            raise
        names = [port.any_name for port in run.inputs]  # it leaves out what nothing reads
        return lambda inputs: [np.array(value) for value in run([inputs[name] for name in names]).to_tuple()]
