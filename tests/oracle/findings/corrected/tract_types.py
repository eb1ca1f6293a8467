"""Value.to_numpy reads every result as float32, whatever its type: other numbers, and memory behind the result.

Found in tract 0.21.7; in 0.22.4 too, corrected in 0.23.0. Its docstring: "Builds a numpy array equivalent to the
data in this value". In tract/value.py the type of the data is the constant ``c_float``.
Expected: int32 -1, -2. Got: float32 nan, nan, whose bits are these numbers.
"""

import tempfile
from pathlib import Path

import numpy as np
import tract
from onnx import TensorProto, helper

x = np.array([1, 2], np.int32)
ends = [helper.make_tensor_value_info(name, TensorProto.INT32, [2]) for name in ("x", "y")]
graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "one", ends[:1], ends[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "one.onnx")
    path.write_bytes(model.SerializeToString())
    onnx = tract.onnx()
    read = onnx.load(path).into_model() if hasattr(onnx, "load") else onnx.model_for_path(path).into_optimized()
got = read.into_runnable().run([x])[0].to_numpy()
print("got", got.dtype, got, "expected int32", -x)
assert got.dtype == x.dtype
assert (got == -x).all()
