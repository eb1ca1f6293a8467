"""MNN: ReduceL2 and three more reductions ignore axes that are an input, as they are from ONNX 18 on.

MNN 3.6.1, CPU, precision high: ReduceL1, ReduceL2, ReduceSumSquare and ReduceLogSumExp. ReduceSum, ReduceMean,
ReduceMax and ReduceProd read the input.
Expected: the page of ReduceL2, version 18, has the input axes, "a list of integers, along which to reduce".
Got: a reduction of all axes, a number without a shape.
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 18]>
one (float[2, 2] x) => (float[2, 1] y) <int64[1] axes = {1}> { y = ReduceL2 (x, axes) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["y"], runtime_manager=manager)
x = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = np.array([[5.0], [10.0]])
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
