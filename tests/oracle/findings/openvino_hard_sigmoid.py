"""OpenVINO: an attribute of HardSigmoid or Selu that is 0 is taken for absent, and the default is used.

OpenVINO 2026.4.1, CPU. Of the file of the model it takes alpha = 0 or beta = 0 as if they were not there; LeakyRelu,
Elu, ThresholdedRelu, Gemm and LRN read a 0. The attribute is in the file: onnx's own evaluator reads it.
Expected: the page of HardSigmoid says "y = max(0, min(1, alpha * x + beta))", where the defaults are alpha 0.2, beta
0.5.
Got: with alpha 0.25 and beta 0, it adds 0.5.
"""

import numpy as np
import onnx
import openvino

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
one (float[3] x) => (float[3] y) { y = HardSigmoid <alpha = 0.25, beta = 0.0> (x) }""")
onnx.checker.check_model(model, full_check=True)
core = openvino.Core()
run = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = np.array(run({"x": np.array([0.0, 1.0, 2.0], np.float32)})[0])
right = np.array([0.0, 0.25, 0.5])
print(openvino.__version__, "got", got, "right", right)
assert np.allclose(got, right)
