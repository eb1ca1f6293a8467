"""tract: Mod of a constant by a tensor computes the tensor modulo the constant.

tract 0.23.9, core/src/ops/binary.rs: is_commutative is true unless an operation says otherwise, and `rem` in
core/src/ops/math/mod.rs does not, where sub, div and pow do. So declutter_broadcasting_operand_1 exchanges its operands
where the first one has fewer elements. Both fmod = 0 and 1, float32 and int32.
Expected: the page of Mod says "A - trunc(A / B) * B" with fmod = 1: 3 modulo 2, 4 and 2.5 is 1, 3 and 0.5.
Got: 2, 1 and 2.5, which are 2, 4 and 2.5 modulo 3.
"""

import tempfile

import numpy as np
import onnx
import tract

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[3] x) => (float[3] y) <float k = {3.0}> { y = Mod <fmod = 1> (k, x) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/model.onnx")
    run = tract.onnx().load(f"{folder}/model.onnx").into_model().into_runnable()
got = run.run([np.array([2.0, 4.0, 2.5], np.float32)])[0].to_numpy()
print("got", got, "right [1 3 0.5]")
assert (got == np.array([1.0, 3.0, 0.5])).all()
