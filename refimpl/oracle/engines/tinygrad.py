"""tinygrad on the CPU, whose kernels clang compiles; DEV=PYTHON needs no compiler and is slow."""

from __future__ import annotations

from importlib.metadata import version as version_of

import numpy as np
from tinygrad import Device, Tensor
from tinygrad.nn.onnx import OnnxRunner

from ..backends.protocol import Unsupported
from . import Run


class Engine:
    """See ``engines``."""

    name, opset = "tinygrad", 20
    version = f"{version_of('tinygrad')} {Device.DEFAULT}"

    def load(self, model: bytes) -> Run:
        """Read a model; its kernels are compiled as they run."""

        def run(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            try:
                found = OnnxRunner(Tensor(model))({name: Tensor(value) for name, value in inputs.items()})
            except NotImplementedError as error:
                raise Unsupported(str(error)) from error
            return [value.numpy() for value in found.values()]

        return run
