"""ONNX Runtime: Sigmoid is right to an absolute error of 5e-8; below -18 it is 0."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = np.array([-10.72, -23.0, 0.5], np.float32)
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
graph = helper.make_graph([helper.make_node("Sigmoid", ["x"], ["y"])], "g", ends[:1], ends[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
(got,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
right = 1 / (1 + np.exp(-x.astype(np.float64)))
print(onnxruntime.__version__, "got", got, "right", right)
assert (abs(got - right) <= 8 * 2.0**-24 * right).all()
