"""ONNX Runtime: LRN takes squares off its sum again when they leave the window, and keeps what they were rounded by."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = np.array([300.0, 200.0, 0.001, 0.01, 0.1, 1.0, 2.0], np.float32)
node = helper.make_node("LRN", ["x"], ["y"], size=3, alpha=3.0, beta=1.0, bias=0.001)
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 7, 1, 1]) for name in ("x", "y")]
graph = helper.make_graph([node], "one", ends[:1], ends[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
got = session.run(None, {"x": x.reshape(1, 7, 1, 1)})[0].reshape(-1).astype(np.float64)
padded = np.pad(x.astype(np.float64) ** 2, 1)
right = x / (0.001 + padded[:-2] + padded[1:-1] + padded[2:])
print(onnxruntime.__version__, "got", got, "right", right)
assert (abs(got - right) <= 16 * 2.0**-24 * right).all()
