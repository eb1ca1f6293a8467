"""MNN: ConvTranspose in three dimensions with groups adds the bias to the first group only.

MNN 3.6.1, CPU, precision high. Two dimensions are right, and so is Conv. What it adds to the second group is 0 or what
some memory holds, such as 3e-41.
Expected: the page of ConvTranspose takes (N x C x D1 x ... x Dn) and a bias of M elements; of an input of zeros the
result is the bias, 1 in the first and 2 in the second channel.
Got: 0 in the second channel, or nearly 0.
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[1, 2, 1, 2, 1] x) => (float[1, 2, 1, 2, 1] y)
<float[2, 1, 1, 1, 1] w = {1.0, 1.0}, float[2] b = {1.0, 2.0}>
{ y = ConvTranspose <group = 2, kernel_shape = [1, 1, 1]> (x, w, b) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["y"], runtime_manager=manager)
x = np.zeros((1, 2, 1, 2, 1), np.float32)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = np.array([1.0, 1.0, 2.0, 2.0]).reshape(1, 2, 1, 2, 1)
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
