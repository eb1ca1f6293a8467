"""MNN: Mod ignores the attribute fmod.

MNN 3.6.1, CPU, precision high: float32 is always computed as with fmod = 0.
Expected: the page of Mod says "A - trunc(A / B) * B" with fmod = 1, which has the sign of A: 1 modulo 2 and 1 modulo -2
are both 1.
Got: 1 and -1.
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[2] x) => (float[2] y) <float k = {1.0}> { y = Mod <fmod = 1> (k, x) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["y"], runtime_manager=manager)
x = np.array([2.0, -2.0], np.float32)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = np.array([1.0, 1.0])
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
