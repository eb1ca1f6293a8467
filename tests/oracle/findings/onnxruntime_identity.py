"""ONNX Runtime: it takes an Identity away that gives out the result of a Reshape, and a product of that is refused."""

import numpy as np
import onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper

nodes = [
    helper.make_node("Reshape", ["x", "shape"], ["r"]),
    helper.make_node("Identity", ["r"], ["same"]),
    helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]),
    helper.make_node("MatMul", ["r", "t"], ["m"]),
    helper.make_node("Add", ["m", "b"], ["y"]),
]
sides = {"x": [12], "w": [2, 3], "b": [2], "same": [4, 3], "y": [4, 2]}
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in sides.items()]
shape = numpy_helper.from_array(np.array([4, 3]), "shape")
graph = helper.make_graph(nodes, "one", ends[:3], ends[3:], [shape])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
checker.check_model(model, full_check=True)  # the model is valid
try:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
except Exception as error:
    raise AssertionError(f"{onnxruntime.__version__}: {error}") from error
x, w, b = np.arange(12, dtype=np.float32), np.ones((2, 3), np.float32), np.ones(2, np.float32)
got = session.run(None, {"x": x, "w": w, "b": b})[1]
assert (got == x.reshape(4, 3) @ w.T + b).all()
