"""MNN: the converter moves a Reshape behind the operator that reads it, and exchanges their outputs' names.

MNN 3.6.1, CPU. `mnnconvert -f MNN --JsonFile` shows of this model: SQUARE of x, which is called r, then a Reshape of
that, which is called a. So an output of the graph that is the result of a Reshape gets other numbers and another shape.
Two more symptoms look like this exchange: Exp of a Reshape of a constant has the constant's shape, and a Conv or
ConvTranspose of one dimension that is an output lacks the Squeeze that the converter sets behind it, (1, 2, 2, 1).
Expected: the page of Reshape says "similar to numpy.reshape": r is 1, -2, 3, -4 in the shape (4,).
Got: the squares, in the shape (2, 2).
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[2, 2] x) => (float[4] r, float[4] a) <int64[1] s = {4}> { r = Reshape (x, s) a = Mul (r, r) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["r", "a"], runtime_manager=manager)
x = np.array([[1.0, -2.0], [3.0, -4.0]], np.float32)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = np.array([1.0, -2.0, 3.0, -4.0])
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
