"""onnx.reference: ConvTranspose with groups gives each group the bias of the first, and writes one channel of each.

onnx 1.23.2, onnx/reference/ops/op_conv_transpose.py, the branch for group > 1: it hands all of B to every group, cuts W
by output channels where W has input channels first, and writes final[:, g:g + 1] where a group has M / group channels.
Expected: the page of ConvTranspose has a bias B of size M, one for each output channel, and groups as Conv has.
Here x is 0, so that the result is the bias.
Got: the bias of the first group everywhere.
"""

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
one (float[1, 2, 2] x) => (float[1, 2, 3] y) <float[2, 1, 2] w = {1.0, 2.0, 3.0, 4.0}, float[2] b = {10.0, 20.0}>
{ y = ConvTranspose <group = 2> (x, w, b) }""")
onnx.checker.check_model(model, full_check=True)
got = ReferenceEvaluator(model).run(None, {"x": np.zeros((1, 2, 2), np.float32)})[0]
right = np.array([[[10.0, 10.0, 10.0], [20.0, 20.0, 20.0]]])
print(onnx.__version__, "got", got.tolist(), "right", right.tolist())
assert (got == right).all()
