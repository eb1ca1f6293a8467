"""Layers and networks as ONNX models, run in ONNX Runtime and judged; tests that need it skip where it is absent."""

from __future__ import annotations

import os

import numpy as np
import pytest

import refimpl as mx
from refimpl.export.judging import judge
from refimpl.kernels.foundation import get
from refimpl.onnx import writing
from refimpl.onnx.converting import converted
from refimpl.oracle.pages.draws import SeededDraw, example
from refimpl.symbol import Symbol
from refimpl.symbol.ir import Entry, Node
from refimpl.symbol.prediction import Prediction

pytest.importorskip("onnx", reason="onnx is not installed; pip install refimpl[onnx]")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; pip install refimpl[onnx]")
if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    pytest.skip("networks take too long as plain Python", allow_module_level=True)


def lone(name, params, arrays):
    """A network of one layer, called ``layer``, whose inputs are in0, in1 and so on; and the inputs by name."""
    op = get(name)
    p = op.parse(params)
    given = {f"in{place}": np.asarray(value) for place, value in enumerate(arrays)}
    node = Node(op, "layer", {}, [Entry(Node(None, key), 0) for key in given], params=p)
    net = Symbol([Entry(node, index) for index in range(node.visible_count())])
    shapes = {key: (value.shape, value.dtype) for key, value in given.items()}
    return Prediction(net, {}, shapes, net.list_outputs()), given


def drawn(name, seed, dtype="float32"):
    """A valid call of an operator that its page draws, as :func:`lone` makes it."""
    found = example(get(name), SeededDraw(seed), dtype, smooth=True)
    return lone(name, found.params, found.arrays)


def run(prediction, given, opset=None, *, free_batch=False, optimised=False):
    """The outputs of all layers by name, as ONNX Runtime computes them."""
    graph = converted(prediction.symbol, prediction.params, prediction.inputs, opset, free_batch=free_batch)
    proto = writing.model(graph, every=True)
    writing.imported().checker.check_model(proto, full_check=True)
    taken = {value.name for value in proto.graph.input}
    made = writing.run(proto, {k: v for k, v in given.items() if k in taken}, optimised=optimised)
    return {name: made[tensor] for name, tensor in graph.layers.items()}


def wrong(prediction, given, values):
    """The verdicts on layers that are not what their pages compute."""
    return [verdict for verdict in judge(prediction, {**given, **values}) if not verdict.ok]


def numbers(name, params, arrays, opset=None):
    """The first output of a layer."""
    prediction, given = lone(name, params, arrays)
    return run(prediction, given, opset)[prediction.outputs[0]]


__all__ = ["drawn", "lone", "mx", "numbers", "run", "wrong"]
