"""A model that is one Transpose of a vector returns memory that it did not write.

Found in OpenVINO 2024.4.0, CPU; there in 2025.1.0 still, corrected in 2025.4.1. ONNX, Transpose: "Transpose the input
tensor similar to numpy.transpose"; with the permutation 0 the output is the input.
Expected: 1, 2, 3, 4. Got: other numbers in some elements, not the same in each run.
"""

import numpy as np
import openvino
from onnx import TensorProto, helper

x = np.array([1, 2, 3, 4], np.float32)
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
graph = helper.make_graph([helper.make_node("Transpose", ["x"], ["y"], perm=[0])], "one", ends[:1], ends[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
core = openvino.Core()
run = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = np.array(run({"x": x})[0])
print("got", got, "expected", x)
assert (got == x).all()
