"""ONNX Runtime on the CPU, level 1: a program becomes an ONNX graph, optimised as it is by default.

The rules are those by which ``refimpl export`` writes files (``refimpl.onnx.rule_table``), at a version of ONNX's
operators that ONNX Runtime has all of. Run it where onnx and onnxruntime are:
``isolate("refimpl.oracle.backends.onnxruntime:backend", python=...)``, or in process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from ...kernels.foundation import get
from ...onnx.building import Builder, NoForm
from ...onnx.rule_table import RULES
from ...onnx.writing import nodes_of
from .decorators import Arrays, Node, Symbol, forward_backend
from .describing import described
from .protocol import Unsupported

OPSET, IR = 20, 10
STYLES = ("dyadic", "smooth", "normal", "tied", "wide", "onehot")
"""Not "special": MXNet's results at NaN and infinities are its own (Activation/relu-nan, reduce/nan)."""
SINGLE = np.dtype(np.float32)
OF_OTHER_TYPES = ("Cast", "amp_cast", "amp_multicast", "shape_array", "size_array", "_contrib_index_array")
OPERATORS = {
    name: rule for name, rule in RULES.items()
    if name == "LeakyReLU" or not (get(name).mode or get(name).random or get(name).aux or name in OF_OTHER_TYPES)
    if "quantize" not in name
}
"""Those that compute the same in training, which an ONNX graph knows nothing of."""

onnxruntime.set_default_logger_severity(4)


def _ruled(builder: Builder, node: Node, inputs: list[Any]) -> list[Any]:
    """The visible outputs of an operator: names and shapes."""
    if node.op == "LeakyReLU" and node.p.act_type == "rrelu":
        raise Unsupported("LeakyReLU rrelu, which draws numbers in training")
    op, shapes = get(node.op), [shape for _, shape in inputs]
    unknown = [None] * len(op.output_names(node.p))
    count = op.visible_count(node.p)
    builder.outs = op.infer(node.p, list(shapes), list(unknown))[1][:count]
    builder.sources = [SINGLE] * len(inputs)
    builder.types = [kind or SINGLE for kind in op.infer_type(node.p, list(builder.sources), list(unknown))[1][:count]]
    if any(kind != SINGLE for kind in builder.types):
        raise Unsupported("types other than float32")
    try:
        made = OPERATORS[node.op](builder, node.p, shapes, *[name for name, _ in inputs])
    except NoForm as error:
        raise Unsupported(str(error)) from error
    return list(zip([made] if isinstance(made, str) else made, builder.outs, strict=True))


@forward_backend(operators=OPERATORS, styles=STYLES)
def _run(symbol: Symbol, args: Arrays, aux: Arrays, is_train: bool) -> list[np.ndarray]:
    """Level 1."""
    if any(value.dtype != np.float32 for value in args.values()):
        raise Unsupported("types other than float32")
    builder = Builder(OPSET)
    values = {name: (builder.named(f"v_{name}"), value.shape) for name, value in args.items()}
    heads = symbol.evaluate(values, lambda node, inputs: _ruled(builder, node, inputs))
    names = [builder.add("Identity", name) for name, _ in heads]  # a head may be an input, or asked for twice
    given = {values[name][0]: value for name, value in args.items()}
    ins = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in given.items()]
    outs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, (_, shape) in zip(names, heads, strict=True)
    ]
    nodes, constants = nodes_of(builder)
    graph = helper.make_graph(nodes, "program", ins, outs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(names, given))


backend = described(_run, f"ONNX Runtime {onnxruntime.__version__}")
"""What ``--oracle-backend=refimpl.oracle.backends.onnxruntime:backend`` finds."""
