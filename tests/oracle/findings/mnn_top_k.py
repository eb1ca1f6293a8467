"""MNN: TopK gives equal elements in another order than their indices have.

MNN 3.6.1, CPU, precision high.
Expected: the page of TopK says "Given two equivalent values, this operator uses the indices along the axis as a
tiebreaker. That is, the element with the lower index will appear first."
Got: the indices 1, 3, 0, 2.
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[1, 4] x) => (float[1, 4] v, float[1, 4] y) <int64[1] k = {4}>
{ v, i = TopK <axis = 1> (x, k) y = Cast <to = 1> (i) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["v", "y"], runtime_manager=manager)
x = np.array([[0.0, 1.0, 0.0, 0.0]], np.float32)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[1], mnn.NCHW).read())
right = np.array([[1.0, 0.0, 2.0, 3.0]])
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
