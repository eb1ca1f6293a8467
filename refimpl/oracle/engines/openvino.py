"""OpenVINO on the CPU, in single precision: left to itself it takes bfloat16 where the processor has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino

from ..backends.protocol import Unsupported
from . import Run


class Engine:
    """See ``engines``.

    Args:
        precision: the type that it computes float32 in: f32, f16, bf16.
    """

    name, version, opset = "OpenVINO", openvino.__version__.split("-")[0], 20
    dtypes = ("float16", "float32", "int32", "bool")
    """It computes float64 as float32 and int64 as int32."""

    def __init__(self, precision: str = "f32") -> None:
        self.options = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": precision}
        self.core = openvino.Core()

    def load(self, model: bytes) -> Run:
        """Compile a model."""
        try:
            run: Any = self.core.compile_model(self.core.read_model(model), "CPU", self.options)
        except RuntimeError as error:
            if "not support" in str(error) or "No conversion rule" in str(error):
                raise Unsupported(str(error)) from error
            raise
        names = set().union(*(port.names for port in run.inputs))  # it leaves out what nothing reads

        def compute(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            found = run({name: value for name, value in inputs.items() if name in names})
            return [np.array(value) for value in found.to_tuple()]

        return compute
