"""What stands in the place of parts of MXNet that are not here: one table, name -> one line."""

from __future__ import annotations

PAGE = "spec/bring-your-script.md"

_GLUON = "write the network with mx.sym and train it with mx.mod.Module; loops by hand run on mx.autograd"
_QUANTIZED = "networks run here in float32, float64 or float16; load the checkpoint from before quantization"

INSTEAD: dict[str, str] = {
    "mxnet.gluon": _GLUON,
    "mxnet.np": "use mx.nd, and NumPy itself on array.asnumpy()",
    "mxnet.npx": "use mx.nd and mx.sym; mx.util.np_shape is here",
    "mxnet.numpy": "use mx.nd, and NumPy itself on array.asnumpy()",
    "mxnet.numpy_extension": "use mx.nd and mx.sym; mx.util.np_shape is here",
    "mxnet.rtc": "write the operator in Python (mx.operator.CustomOp) or as a page with a CUDA loop",
    "mxnet.th": "Torch 7 is gone; write the operator in Python (mx.operator.CustomOp)",
    "mxnet.torch": "Torch 7 is gone; write the operator in Python (mx.operator.CustomOp)",
    "mxnet.onnx": "mx.sym.save and mx.nd.save write the symbol and parameters that converters read",
    "mxnet.contrib.onnx": "mx.sym.save and mx.nd.save write the symbol and parameters that converters read",
    "mxnet.contrib.quantization": _QUANTIZED,
    "mxnet.contrib.tensorrt": "a Module runs the network as it is; nothing has to be replaced",
    "mxnet.contrib.text": "collections.Counter counts tokens, and an Embedding takes its weight by arg_params",
    "mxnet.contrib.tensorboard": "a batch_end_callback gets param.eval_metric, and can write it wherever it likes",
    "mxnet.notebook": "mx.callback.Speedometer logs, and a batch_end_callback can draw with matplotlib",
    "mxnet.image": "mx.io.ImageRecordIter and mx.io.ImageDetRecordIter read pictures; Pillow decodes single ones",
    "mxnet.img": "mx.io.ImageRecordIter and mx.io.ImageDetRecordIter read pictures; Pillow decodes single ones",
    "mxnet.library": "operators of one's own are written in Python (mx.operator.CustomOp)",
    "mxnet.subgraph": "Symbol.get_backend_symbol takes the names, and results do not depend on them",
    "mxnet.caffe": "Caffe is gone; write the layer with mx.sym, or in Python (mx.operator.CustomOp)",
}


def instead(name: str) -> str | None:
    """What stands instead of a dotted name, or of the nearest name above it that the table has."""
    while name:
        if name in INSTEAD:
            return INSTEAD[name]
        name = name.rpartition(".")[0]
    return None
