"""MNN: AveragePool that counts the padding does not count it at the end where pads differ.

MNN 3.6.1, CPU, precision high. With pads 0 0 1 1 and stride 1 the process ends with SIGFPE.
Expected: the page of AveragePool says of count_include_pad "Whether include pad pixels when calculating values for the
edges"; with 1, all windows divide by the number of elements of the kernel, 4.
Got: 0.5, 1, 0.5 in the second row, whose windows have one row in the padding.
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[1, 1, 3, 2] x) => (float[1, 1, 2, 3] y)
{ y = AveragePool <kernel_shape = [2, 2], strides = [2, 1], pads = [0, 1, 1, 1], count_include_pad = 1> (x) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["y"], runtime_manager=manager)
x = np.ones((1, 1, 3, 2), np.float32)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = np.array([[[[0.5, 1.0, 0.5], [0.25, 0.5, 0.25]]]])
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
