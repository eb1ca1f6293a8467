"""MNN: RNN with the activation Relu computes tanh.

MNN 3.6.1, CPU, precision high. The converter writes "Load activations error" on standard output and goes on.
Expected: the page of RNN says of activations "One (or two if bidirectional) activation function for input gate", and
Relu is one of those that it lists.
Got: tanh(3) and tanh(-3).
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[2, 1, 1] x) => (float[2, 1, 1, 1] y) <float[1, 1, 1] w = {1.0}, float[1, 1, 1] r = {0.0}>
{ y = RNN <hidden_size = 1, activations = ["Relu"]> (x, w, r) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["y"], runtime_manager=manager)
x = np.array([3.0, -3.0], np.float32).reshape(2, 1, 1)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = np.array([3.0, 0.0]).reshape(2, 1, 1, 1)
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
