"""ArgMin and ArgMax of 16 numbers or more do not name the first of equal ones.

Found in OpenVINO 2024.4.0, CPU; there in 2025.2.0 still, corrected in 2025.4.1. ONNX, ArgMin: "If select_last_index is
False (default), the index of the first occurrence is returned".
Expected: of 1 and 31 zeros the index 1. Got: 16.
"""

import numpy as np
import openvino
from onnx import TensorProto, helper

x = np.zeros(32, np.float32)
x[0] = 1
ends = [
    helper.make_tensor_value_info("x", TensorProto.FLOAT, [32]),
    helper.make_tensor_value_info("y", TensorProto.INT64, []),
]
graph = helper.make_graph([helper.make_node("ArgMin", ["x"], ["y"], axis=0, keepdims=0)], "one", ends[:1], ends[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
core = openvino.Core()
run = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = int(run({"x": x})[0])
print("got", got, "expected 1")
assert got == np.argmin(x) == 1
