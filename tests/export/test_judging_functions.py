"""Functions as ONNX Runtime computes them, near 0, at poles and far out, are within the bounds of the judge."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl.export.judging import judge
from refimpl.symbol.prediction import prediction

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from refimpl.export import onnx_check
from refimpl.onnx import writing
from refimpl.onnx.converting import converted

pytestmark = pytest.mark.heavy

DATA = mx.sym.Variable("data")
FIRST = mx.sym.slice_axis(DATA, axis=1, begin=0, end=1, name="first")
FUNCTIONS = {
    **{f"Activation {kind}": mx.sym.Activation(DATA, act_type=kind, name="f")
       for kind in ("relu", "sigmoid", "tanh", "softrelu", "softsign")},
    **{f"LeakyReLU {kind}": mx.sym.LeakyReLU(DATA, act_type=kind, name="f")
       for kind in ("leaky", "elu", "gelu", "selu")},
    **{name: getattr(mx.sym, name)(DATA, name="f") for name in (
        "exp", "log", "sqrt", "rsqrt", "cbrt", "square", "reciprocal", "log1p", "expm1", "log2", "log10", "sin", "cos",
        "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh", "arctanh", "erf", "hard_sigmoid",
        "floor", "ceil", "round", "rint", "fix", "sign", "softmax", "log_softmax", "LayerNorm", "L2Normalization",
    )},
    "mean": mx.sym.mean(DATA, axis=1, name="f"), "sum": mx.sym.sum(DATA, axis=0, name="f"),
    "norm": mx.sym.norm(DATA, axis=1, name="f"), "quotient": mx.sym.broadcast_div(DATA, FIRST, name="f"),
    "power": mx.sym.broadcast_power(mx.sym.abs(DATA), FIRST, name="f"), "hypot": mx.sym.broadcast_hypot(DATA, FIRST),
}


@pytest.mark.clause("Export/bounds")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_onnx_runtime_is_within_its_bound(name: str) -> None:
    net = FUNCTIONS[name]
    for scale in (1e-4, 1.0, 60.0):
        data = (np.random.RandomState(0).randn(3, 100) * scale).astype(np.float32)
        data[0, :5] = [0, -0.0, 1, -1, 0.5]
        shapes, _, _ = net.infer_shape(data=data.shape)
        held = {key: np.full(shape, 1.5, np.float32) for key, shape in zip(net.list_arguments(), shapes, strict=True)}
        del held["data"]
        exported = prediction(net, held, {}, {"data": data.shape})
        graph = converted(exported.symbol, exported.params, exported.inputs)
        model = onnx_check.with_layers(writing.model(graph), graph)
        values = writing.run(model, {"data": data}, optimised=False)
        layers = {layer: values[tensor] for layer, tensor in graph.layers.items() if tensor in values}
        found = judge(exported, {"data": data, **layers})
        assert found
        assert [verdict for verdict in found if not verdict.ok] == []
        last = layers[net.list_outputs()[0]]
        changed = np.isfinite(last).any() and last[np.isfinite(last)].any()  # arccosh has no numbers near 0
        last *= np.float32(1.001)
        assert changed != all(verdict.ok for verdict in judge(exported, {"data": data, **layers}))
