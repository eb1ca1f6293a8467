"""MNN: MatMul and Gemm of int32 compute with the bits of whole numbers as if they were float32.

MNN 3.6.1, CPU, precision high. ArgMin of negative int32 is wrong too, as comparing such bits would make it: they are
NaN. That the bits are read so is assumed; products of small whole numbers are 0 as products of subnormal numbers are.
Expected: the page of MatMul has int32 among its types: 2 * 5 + 3 * 7 = 31.
Got: 0.
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (int32[1, 2] x) => (int32[1, 1] y) <int32[2, 1] w = {5, 7}> { y = MatMul (x, w) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["y"], runtime_manager=manager)
x = np.array([[2, 3]], np.int32)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.int)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = np.array([[31]])
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
