"""MNN: MaxPool in three dimensions is wrong from the second example of a batch on.

MNN 3.6.1, CPU, precision high. Windows that are larger than 1 along the first of the three axes only are right; with
pads some results are what the memory held, such as 1e31. Where `strides` or `pads` are absent the process ends with
SIGSEGV.
Expected: the page of MaxPool pools "across the tensor according to kernel sizes", and examples do not meet: 8 and 16.
Got: 8 and 4.
"""

import tempfile

import _tools
import MNN.expr as mnn
import MNN.nn
import numpy as np
import onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[2, 1, 2, 2, 2] x) => (float[2, 1, 1, 1, 1] y)
{ y = MaxPool <kernel_shape = [2, 2, 2], strides = [1, 1, 1], pads = [0, 0, 0, 0, 0, 0]> (x) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/a.onnx")
    options = ["-f", "ONNX", "--modelFile", f"{folder}/a.onnx", "--MNNModel", f"{folder}/a.mnn", "--bizCode", "-"]
    _tools.mnnconvert(["", *options])
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(f"{folder}/a.mnn", ["x"], ["y"], runtime_manager=manager)
x = np.arange(1, 17, dtype=np.float32).reshape(2, 1, 2, 2, 2)
found = module.forward([mnn.const(x, list(x.shape), mnn.NCHW, mnn.float)])
got = np.array(mnn.convert(found[0], mnn.NCHW).read())
right = np.array([8.0, 16.0]).reshape(2, 1, 1, 1, 1)
print(MNN.version(), "got", got.tolist(), "right", right.tolist())
assert np.array_equal(got, right)
