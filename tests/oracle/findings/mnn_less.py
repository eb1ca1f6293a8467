"""MNN: Less of two negative float32 numbers is reversed.

MNN 3.6.1, CPU, precision high. Results are those of a comparison of the numbers' bits as whole numbers, which is why
positive numbers are right; that this is the reason is assumed. Greater, LessOrEqual and GreaterOrEqual are right.
Expected: the page of Less returns "the tensor resulted from performing the less logical operation elementwise".
Got: -1 < -2 is true and -3 < -2 is false.
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[3] x) => (float[3] y) <float k = {-2.0}> { b = Less (x, k) y = Cast <to = 1> (b) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["y"], runtime_manager=manager)
x = np.array([-1.0, -3.0, 1.0], np.float32)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = np.array([0.0, 1.0, 0.0])
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
