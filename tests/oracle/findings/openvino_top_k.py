"""OpenVINO: TopK gives equal elements in another order than their indices have.

OpenVINO 2026.4.1, CPU.
Expected: the page of TopK says "Given two equivalent values, this operator uses the indices along the axis as a
tiebreaker. That is, the element with the lower index will appear first." OpenVINO's own TopK of opset 11 has an
attribute `stable` for this; that the reader of ONNX does not set it is assumed, not seen.
Got: of eight equal numbers the indices 1, 2, 3, 4, 5, 6, 7, 0.
"""

import numpy as np
import onnx
import openvino

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
one (float[8] x) => (float[8] values, int64[8] places) <int64[1] k = {8}>
{ values, places = TopK <axis = 0> (x, k) }""")
onnx.checker.check_model(model, full_check=True)
core = openvino.Core()
run = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = np.array(run({"x": np.ones(8, np.float32)})[1]).tolist()
print(openvino.__version__, "got", got, "right", list(range(8)))
assert got == list(range(8))
