"""onnx.reference: GlobalMaxPool of (N, C, W) takes the maximum over the channels too.

onnx 1.23.2, onnx/reference/ops/op_global_max_pool.py: the axes are range(rank - 2, rank), which are the spatial ones
for rank 4 only. Of rank 3 they are the channels and W; of rank 5 they leave one spatial axis out.
Expected: the page of GlobalMaxPool says that the input is (N x C x H x W) or (N x C x D1 x ... Dn), and that the output
has the first two dimensions of the input, "while other dimensions are all 1".
Got: one maximum for all channels, of the shape (N, 1).
"""

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
one (float[1, 2, 3] x) => (float[1, 2, 1] y) { y = GlobalMaxPool (x) }""")
onnx.checker.check_model(model, full_check=True)
got = ReferenceEvaluator(model).run(None, {"x": np.arange(6, dtype=np.float32).reshape(1, 2, 3)})[0]
right = np.array([[[2.0], [5.0]]])
print(onnx.__version__, "got", got.tolist(), "right", right.tolist())
assert got.shape == right.shape
assert (got == right).all()
