"""onnx.reference: RNN, GRU and LSTM ignore sequence_lens.

onnx 1.23.2, onnx/reference/ops/op_rnn.py, op_gru.py and op_lstm.py: the argument is there, marked unused ("ARG002").
Expected: the pages of the three operators have the input sequence_lens, "lengths of the sequences in a batch", and Y_h,
"the last output value of the hidden": of a sequence of length 1 that is the value after one step. ONNX Runtime gives
it.
Got: all steps run, as if the input were absent.
"""

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
one (float[2, 1, 1] x) => (float[1, 1, 1] last)
<float[1, 1, 1] w = {1.0}, float[1, 1, 1] r = {0.0}, int32[1] lens = {1}>
{ all, last = RNN <hidden_size = 1> (x, w, r, , lens) }""")
onnx.checker.check_model(model, full_check=True)
got = ReferenceEvaluator(model).run(None, {"x": np.array([1.0, 3.0], np.float32).reshape(2, 1, 1)})[0].item()
print(onnx.__version__, "got", got, "right", np.tanh(1.0))
assert np.isclose(got, np.tanh(1.0))
