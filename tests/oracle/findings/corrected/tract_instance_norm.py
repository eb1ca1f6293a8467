"""InstanceNormalization takes the variance of a channel over the whole batch, and not of each instance.

Found in tract 0.21.7; corrected in 0.23.9. ONNX, InstanceNormalization: "mean and variance are computed per
instance per channel".
Expected: of -1, 1 and of -2, 2 the results -1, 1 and -1, 1. Got: -0.632, 0.632 and -1.265, 1.265.
"""

import tempfile
from pathlib import Path

import numpy as np
import tract
from onnx import TensorProto, helper, numpy_helper

x = np.array([[[-1, 1], [-3, 3]], [[-2, 2], [-5, 5]]], np.float32)
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2, 2]) for name in ("x", "y")]
weights = [numpy_helper.from_array(np.array(w, np.float32), name) for name, w in (("s", [1, 2]), ("b", [0, 10]))]
node = helper.make_node("InstanceNormalization", ["x", "s", "b"], ["y"], epsilon=1e-6)
graph = helper.make_graph([node], "one", ends[:1], ends[1:], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "one.onnx")
    path.write_bytes(model.SerializeToString())
    onnx = tract.onnx()
    read = onnx.load(path).into_model() if hasattr(onnx, "load") else onnx.model_for_path(path).into_optimized()
got = read.into_runnable().run([x])[0].to_numpy()
print(got.tolist())
assert np.allclose(got, np.array([[[-1, 1], [8, 12]]] * 2), atol=1e-2)
