"""tract: a MatMul of a tensor that Tile or Expand repeats along the summed axis sums it once.

tract 0.23.9, core/src/ops/einsum/mod.rs, declutter_broadcast: it takes a MultiBroadcastTo in front of an EinSum away,
whichever axes are broadcast. That is right for axes of the result; an axis that is summed is then summed over 1
element. Where both inputs lose their repetitions, loading ends with "Trying to substitute a 3,1 by 1,1" instead.
Expected: the page of MatMul says that it behaves as numpy.matmul: (1, 1, 1) times ((1, 10), (2, 20), (3, 30)) is
(6, 60).
Got: (1, 10), the product with the first row.
"""

import tempfile

import numpy as np
import onnx
import tract

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
one (float[1, 1] x) => (float[1, 2] y) <int64[2] n = {1, 3}, float[3, 2] w = {1.0, 10.0, 2.0, 20.0, 3.0, 30.0}>
{ t = Tile (x, n) y = MatMul (t, w) }""")
onnx.checker.check_model(model, full_check=True)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/model.onnx")
    run = tract.onnx().load(f"{folder}/model.onnx").into_model().into_runnable()
got = run.run([np.ones((1, 1), np.float32)])[0].to_numpy()
print("got", got, "right [[6 60]]")
assert (got == np.array([[6.0, 60.0]])).all()
