"""Apache TVM: Relax's ONNX front end, compiled by LLVM."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")  # it is read when TVM is imported

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

from ..backends.protocol import Unsupported
from . import Run


class Engine:
    """See ``engines``."""

    name, version, opset = "TVM", tvm.__version__, 20

    def load(self, model: bytes) -> Run:
        """Compile a model."""
        proto = onnx.load_from_string(model)
        names = [value.name for value in proto.graph.input]
        try:
            module = from_onnx(proto)
        except (tvm.error.OpNotImplemented, NotImplementedError) as error:
            raise Unsupported(str(error)) from error
        machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())

        def run(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            found = machine["main"](*(tvm.runtime.tensor(inputs[name]) for name in names))
            return [value.numpy() for value in (found if len(proto.graph.output) > 1 else [found])]

        return run
