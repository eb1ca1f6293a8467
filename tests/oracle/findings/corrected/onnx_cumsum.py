"""The reference evaluator's CumSum of int32 gives int64.

Found in onnx 1.16.2, ``onnx.reference``; in 1.17.0 too, corrected in 1.20.0. ONNX, CumSum: "Output tensor of the
same type as 'x' with cumulative sums of the x's elements".
Expected: int32 1, 3. Got: int64 1, 3.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

x = np.array([1, 2], np.int32)
ends = [helper.make_tensor_value_info(name, TensorProto.INT32, [2]) for name in ("x", "y")]
axis = helper.make_tensor("axis", TensorProto.INT64, [], [0])
graph = helper.make_graph([helper.make_node("CumSum", ["x", "axis"], ["y"])], "one", ends[:1], ends[1:], [axis])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
onnx.checker.check_model(model, full_check=True)
(got,) = ReferenceEvaluator(model).run(None, {"x": x})
print("got", got.dtype, got, "expected int32 [1 3]")
assert (got == [1, 3]).all()
assert got.dtype == np.int32
