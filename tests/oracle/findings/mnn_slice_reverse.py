"""MNN: Slice that reverses the first axis of a tensor of rank 4 leaves most of its result unwritten.

MNN 3.6.1, CPU, precision high. Ranks 1 to 3 are right.
Expected: the page of Slice says of steps "Negative value means slicing backward".
Got: the first row is right; in the other rows stands what the memory held, such as 4.5e30.
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[3, 2, 1, 1] x) => (float[3, 2, 1, 1] y)
<int64[1] a = {-1}, int64[1] b = {-9223372036854775807}, int64[1] axes = {0}, int64[1] steps = {-1}>
{ y = Slice (x, a, b, axes, steps) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["y"], runtime_manager=manager)
x = np.arange(6, dtype=np.float32).reshape(3, 2, 1, 1)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = x[::-1]
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
