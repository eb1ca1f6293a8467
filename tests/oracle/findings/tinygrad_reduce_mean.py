"""tinygrad: ReduceMean of int32 gives float32.

tinygrad 0.14.0, tinygrad/nn/onnx.py: ReduceMean returns data.mean(...), which makes float32 of whole numbers, as NumPy
does; nothing casts it back.
Expected: the page of ReduceMean has one type T for its input and its output, int32 among them; the model declares
int32, and ONNX's checker accepts it. ONNX Runtime gives int32, and cuts the mean.
Got: float32, and the fraction.
"""

import numpy as np
import onnx
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
one (int32[2] x) => (int32 y) { y = ReduceMean <keepdims = 0> (x) }""")
onnx.checker.check_model(model, full_check=True)
x = np.array([3, 4], np.int32)
got = next(iter(OnnxRunner(Tensor(model.SerializeToString()))({"x": Tensor(x)}).values())).numpy()
print("got", got, got.dtype, "right 3 int32")
assert got.dtype == np.int32
