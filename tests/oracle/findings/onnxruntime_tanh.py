"""ONNX Runtime: Tanh of numbers near the smallest normal one loses digits: it first multiplies them by 0.005."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = np.array([1.2e-38, 7.588404e-38, 1e-3], np.float32)
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
graph = helper.make_graph([helper.make_node("Tanh", ["x"], ["y"])], "g", ends[:1], ends[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
(got,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
right = np.tanh(x.astype(np.float64))
print(onnxruntime.__version__, "got", got, "right", right)
assert (abs(got - right) <= 8 * 2.0**-24 * right).all()
