"""MNN on the CPU: its converter, then its own runtime in high precision."""

from __future__ import annotations

import tempfile
from importlib.metadata import version as version_of
from pathlib import Path

import _tools  # of the package MNN: what its command mnnconvert calls, less what that sends over the network
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

from ..backends.protocol import Unsupported
from . import Run

KINDS = {onnx.TensorProto.FLOAT: mnn.float, onnx.TensorProto.INT32: mnn.int}


class Engine:
    """See ``engines``."""

    name, version, dtypes = "MNN", version_of("MNN"), ("float32", "int32")
    opset = 17
    """From 18 on axes are inputs of reductions. It does not read these."""

    def load(self, model: bytes) -> Run:
        """Convert a model, by files."""
        graph = onnx.load_from_string(model).graph
        if {value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)} - KINDS.keys():
            raise Unsupported("types other than float32 and int32")
        ins, outs = [[value.name for value in values] for values in (graph.input, graph.output)]
        config = {"backend": "CPU", "precision": "high", "numThread": 1}
        with tempfile.TemporaryDirectory() as folder:
            source, made = Path(folder, "model.onnx"), Path(folder, "model.mnn")
            source.write_bytes(model)
            _tools.mnnconvert(["", "-f", "ONNX", "--modelFile", str(source), "--MNNModel", str(made), "--bizCode", "-"])
            if not made.exists():
                raise Unsupported("the converter makes no model")
            manager = MNN.nn.create_runtime_manager((config,))
            module = MNN.nn.load_module_from_file(str(made), ins, outs, runtime_manager=manager)

        def run(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            given = [(inputs[value.name], KINDS[value.type.tensor_type.elem_type]) for value in graph.input]
            found = module.forward([mnn.const(array, list(array.shape), mnn.NCHW, kind) for array, kind in given])
            return [np.array(mnn.convert(value, mnn.NCHW).read()) for value in found]

        return run
