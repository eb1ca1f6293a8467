"""OpenVINO: the pass AbsSinking changes what others read of a Concat, and drops the Abs of a constant expression.

OpenVINO 2026.4.1, CPU, models with a vector; other ranks are right. OV_ENABLE_PROFILE_PASS=1 names AbsSinking as the
first pass that changes them. It sets Abs in front of the inputs of the Concat itself, which Mul reads too; and of a
Neg, Tanh or Mul of constants with negative results it takes the Abs away (OV_ENABLE_VISUALIZE_TRACING=1 shows it).
Expected: a value has the same elements for every node that reads it, and Abs gives "y = abs(x)".
Got: twice the absolute values for 2 * (-1, 2), and Abs(-1.25) is -1.25.
"""

import numpy as np
import onnx
import openvino

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
one (float[1] x, float[1] z) => (float[2] a, float[2] m, float[1] c) <float two = {2.0}, float[1] k = {1.25}>
{ both = Concat <axis = 0> (x, z) a = Abs (both) m = Mul (both, two) b = Neg (k) c = Abs (b) }""")
onnx.checker.check_model(model, full_check=True)
core = openvino.Core()
run = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
found = run({"x": np.array([-1.0], np.float32), "z": np.array([2.0], np.float32)})
got = [np.array(value).tolist() for value in found.to_tuple()]
right = [[1.0, 2.0], [-2.0, 4.0], [1.25]]
print(openvino.__version__, "got", got, "right", right)
assert got[1] == right[1]
assert got[2] == right[2]
