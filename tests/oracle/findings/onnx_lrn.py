"""onnx.reference: LRN normalises as many channels as the batch has examples, the others by nothing.

onnx 1.23.2, the class LRN of onnx/reference/ops/op_lrn.py.
Expected: the page of LRN says that "the local region is defined across the channels": the element at channel c reads
the squares at channels max(0, c - floor((size - 1) / 2)) to min(C - 1, c + ceil((size - 1) / 2)). Here size is 1, so
that each result is 1 / (1 + 3 * 1).
Got: 0.25 in the first channel, 1 in the others, because the loop over c is `for c in range(x.shape[0])`, and
x.shape[0] is the batch: the channels are x.shape[1]. With a larger batch than channels it raises IndexError.
"""

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
one (float[1, 3, 1, 1] x) => (float[1, 3, 1, 1] y) { y = LRN <size = 1, alpha = 3.0, beta = 1.0, bias = 1.0> (x) }""")
onnx.checker.check_model(model, full_check=True)
got = ReferenceEvaluator(model).run(None, {"x": np.ones((1, 3, 1, 1), np.float32)})[0].reshape(-1)
right = np.array([0.25, 0.25, 0.25])  # 1 / (1 + 3 / 1 * 1)
print(onnx.__version__, "got", got, "right", right)
assert np.allclose(got, right)
