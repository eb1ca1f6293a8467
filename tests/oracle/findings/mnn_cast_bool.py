"""MNN: Cast to bool cuts numbers to whole ones, and keeps them.

MNN 3.6.1, CPU, precision high. And, Or, Xor and Not of such a tensor are wrong too, and so is a Cast of int32 to bool.
Expected: the page of Cast says for floating point to bool "+/- 0.0 to False; all else to True".
Got: 0.5 becomes false, and 2 and -1 are still 2 and -1 when they are cast back.
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[4] x) => (float[4] y) { b = Cast <to = 9> (x) y = Cast <to = 1> (b) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["y"], runtime_manager=manager)
x = np.array([2.0, 0.0, -1.0, 0.5], np.float32)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = np.array([1.0, 0.0, 1.0, 1.0])
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
