"""IREE for this processor: torch-mlir's ONNX importer, compiled by LLVM, one thread."""

from __future__ import annotations

import iree.compiler
import iree.compiler.version
import iree.runtime
import numpy as np
import onnx
from iree.compiler.extras import onnx_importer
from iree.compiler.ir import Context

from ..backends.protocol import Unsupported
from . import Run

OPTIONS = ["--iree-llvmcpu-target-cpu=host", "--iree-input-demote-f64-to-f32=false"]


class Engine:
    """See ``engines``."""

    name, version, opset, pack = "IREE", iree.compiler.version.VERSION, 20, 8
    """A model takes more than a second to compile, and one of eight programs two to three."""

    def load(self, model: bytes) -> Run:
        """Compile a model; a process of its own does it."""
        info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(onnx.load_from_string(model), data_prop=True))
        module = info.create_module(context=Context()).operation
        importer = onnx_importer.NodeImporter.define_function(info.main_graph, module)
        importer.import_all()
        try:
            code = iree.compiler.compile_str(
                str(module), input_type="onnx", target_backends=["llvm-cpu"], extra_args=OPTIONS
            )
        except iree.compiler.CompilerToolError as error:
            if "failed to legalize" in str(error):
                raise Unsupported(str(error)) from error
            raise
        function = iree.runtime.load_vm_flatbuffer(code, driver="local-sync")[info.main_graph.graph_proto.name]
        names = list(info.main_graph.input_map)
        outputs = info.main_graph.graph_proto.output
        types = [onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type) for value in outputs]

        def run(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            found = function(*(inputs[name] for name in names))
            arrays = [value.to_host() for value in (found if isinstance(found, tuple) else (found,))]
            return [value.view(kind) for value, kind in zip(arrays, types, strict=True)]  # its uint8 are int8

        return run
