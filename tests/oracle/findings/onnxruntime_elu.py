"""ONNX Runtime: Elu and Selu are exp(x) - 1, which cancels for small negative numbers; expm1 does not."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = np.array([-1e-3, -1e-6, -1e-8], np.float32)
for op, scale in (("Elu", 1.0), ("Selu", 1.0507009873554805 * 1.6732632423543772)):
    node = helper.make_node(op, ["x"], ["y"])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    graph = helper.make_graph([node], "one", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    got = session.run(None, {"x": x})[0].astype(np.float64)
    right = scale * np.expm1(x.astype(np.float64))
    print(onnxruntime.__version__, op, "got", got, "right", right)
    assert (abs(got - right) <= 8 * 2.0**-24 * abs(right)).all()
