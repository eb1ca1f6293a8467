"""onnx.reference: ReduceSumSquare of int32 gives int64.

onnx 1.23.2, onnx/reference/ops/op_reduce_sum_square.py: it calls np.sum without dtype, which widens small integers;
ReduceSum, beside it, says dtype=x.dtype.
Expected: the page of ReduceSumSquare has one type T for its input and its output, so int32 gives int32. The model
declares so, and ONNX's checker accepts it.
Got: int64, which the next operator of a model may not accept, and which does not wrap as int32 does.
"""

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
one (int32[2] x) => (int32 y) { y = ReduceSumSquare <keepdims = 0> (x) }""")
onnx.checker.check_model(model, full_check=True)
got = ReferenceEvaluator(model).run(None, {"x": np.array([3, 4], np.int32)})[0]
print(onnx.__version__, "got", got, got.dtype, "right 25 int32")
assert got.dtype == np.int32
