"""The reference evaluator's TopK names the last of equal elements first.

Found in onnx 1.16.2, ``onnx.reference``; there in 1.17.0 still, corrected in 1.20.0. ONNX, TopK: "Given two equivalent
values, this operator uses the indices along the axis as a tiebreaker. That is, the element with the lower index will
appear first".
Expected: the indices 0, 1, 2 of 5, 5, 5. Got: 2, 1, 0.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

x = np.array([5, 5, 5], np.float32)
info = helper.make_tensor_value_info
outs = [info("values", TensorProto.FLOAT, [3]), info("indices", TensorProto.INT64, [3])]
k = helper.make_tensor("k", TensorProto.INT64, [1], [3])
node = helper.make_node("TopK", ["x", "k"], ["values", "indices"])
graph = helper.make_graph([node], "one", [info("x", TensorProto.FLOAT, [3])], outs, [k])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
onnx.checker.check_model(model, full_check=True)
values, indices = ReferenceEvaluator(model).run(None, {"x": x})
print("got", indices, "expected [0 1 2]")
assert (values == x).all()
assert (indices == [0, 1, 2]).all()
