"""ONNX Runtime on the CPU, level 1: a program becomes an ONNX graph, optimised as it is by default.

Run it where onnx and onnxruntime are: ``isolate("refimpl.oracle.backends.onnxruntime", python=...)``, or in process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from ...kernels.foundation import get
from .decorators import Arrays, Node, Symbol, forward_backend
from .describing import described
from .onnx_building import Builder
from .onnx_operators import RULES
from .protocol import Unsupported

OPSET, IR = 20, 10
STYLES = ("dyadic", "smooth", "normal", "tied", "wide", "onehot")
"""Not "special": MXNet's results at NaN and infinities are its own (Activation/relu-nan, reduce/nan)."""

onnxruntime.set_default_logger_severity(4)


@forward_backend(operators=RULES, styles=STYLES)
def _run(symbol: Symbol, args: Arrays, aux: Arrays, is_train: bool) -> list[np.ndarray]:
    """Level 1."""
    if any(value.dtype != np.float32 for value in args.values()):
        raise Unsupported("types other than float32")
    builder = Builder()
    values = {name: (f"v_{name}", value.shape) for name, value in args.items()}

    def rule(node: Node, inputs: list[Any]) -> list[Any]:
        op, shapes = get(node.op), [shape for _, shape in inputs]
        _, after = op.infer(node.p, list(shapes), [None] * len(op.output_names(node.p)))
        return [(RULES[node.op](builder, node.p, shapes, *[name for name, _ in inputs]), after[0])]

    heads = symbol.evaluate(values, rule)
    names = [builder.add("Identity", name) for name, _ in heads]  # a head may be an input, or asked for twice
    given = {f"v_{name}": value for name, value in args.items()}
    ins = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in given.items()]
    outs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, (_, shape) in zip(names, heads, strict=True)
    ]
    graph = helper.make_graph(builder.nodes, "program", ins, outs, builder.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(names, given))


backend = described(_run, f"ONNX Runtime {onnxruntime.__version__}")
"""What ``--oracle-backend=refimpl.oracle.backends.onnxruntime:backend`` finds."""
