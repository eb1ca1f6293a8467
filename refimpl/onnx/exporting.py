"""What mx.onnx.export_model does with its arguments, and which operators it knows."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import ndarray, symbol
from ..base import MXNetError, decides, refusal
from ..files.atomic import write_atomically
from ..kernels.foundation import REGISTRY
from ..symbol import Symbol
from ..symbol.ir import Entry, Node
from . import writing
from .building import OPSET, Free
from .converting import NEWEST, Graph, converted
from .rules import RULES

SINCE = {"_contrib_DeformableConvolution": 19, "_contrib_ModulatedDeformableConvolution": 19}
"""Operators that need a version of ONNX's operators after the oldest."""


def supported(opset: int | None = None) -> list[str]:
    """The names, aliases included, of operators that have a form; ``null`` is a variable, as in files."""
    from ..export.prediction import PREDICTIONS
    writing.imported()
    version = NEWEST if opset is None else opset
    if version < OPSET:
        return []
    names = [
        name for name, op in REGISTRY.items()
        if op.name in PREDICTIONS or (op.name in RULES and SINCE.get(op.name, OPSET) <= version)
    ]
    return sorted({*names, "null"})


def export_model(
    sym: Any, params: Any, in_shapes: Any, in_types: Any, file: str, verbose: bool, dynamic: bool,
    dynamic_shapes: Any, run_shape_inference: bool,
) -> str:
    """As :func:`refimpl.onnx.export_model`."""
    from ..export.prediction import prediction
    onnx = writing.imported()
    net, held = _loaded(sym, params)
    types = list(in_types) if isinstance(in_types, (list, tuple)) else [in_types] * len(in_shapes)
    require = _required(in_shapes, types, dynamic, dynamic_shapes)
    names = [name for name in net.list_inputs() if name not in held and not name.endswith("label")]
    given = {name: tuple(int(side) for side in shape) for name, shape in zip(names, in_shapes, strict=False)}
    found = prediction(_typed(net, dict(zip(names, types, strict=False))), held, {}, given)
    try:
        graph = converted(found.symbol, found.params, found.inputs, free_batch=dynamic)
    except MXNetError as error:
        if getattr(error, "clause", None) == "Onnx/no-form":
            raise refusal("Onnx/no-form", f"No conversion function registered: {error}", AttributeError) from error
        raise
    _require_free(graph, dict(zip(names, require, strict=False)))
    proto = writing.model(graph)
    if run_shape_inference:
        proto = onnx.shape_inference.infer_shapes(proto)
    write_atomically(file, proto.SerializeToString())
    if verbose:
        logging.info("Input shape of the model %s", in_shapes)
        logging.info("Exported ONNX file %s saved to disk", file)
    return file


def _loaded(sym: Any, params: Any) -> tuple[Symbol, dict[str, Any]]:
    """The network and its parameters by their plain names."""
    if isinstance(sym, (str, Path)) and isinstance(params, (str, Path)):
        if not (Path(sym).is_file() and Path(params).is_file()):
            raise refusal(
                "Onnx/export-model", f"Symbol and params files provided are invalid: {sym}, {params}", ValueError
            )
        sym, params = symbol.load(str(sym)), ndarray.load(str(params))
    several = isinstance(params, (list, tuple)) and all(isinstance(part, Mapping) for part in params)
    if not isinstance(sym, Symbol) or not (isinstance(params, Mapping) or several):
        raise refusal(
            "Onnx/export-model", "Input sym and params should either be files or objects, not"
            f" {type(sym).__name__} and {type(params).__name__}", ValueError,
        )
    parts = list(params) if several else [params]
    held = {name.removeprefix("arg:").removeprefix("aux:"): value for part in parts for name, value in part.items()}
    return sym, held


def _required(in_shapes: Any, types: Sequence[Any], dynamic: bool, dynamic_shapes: Any) -> list[Any]:
    """The dynamic shapes, or Nones."""
    if len(types) != len(in_shapes):
        raise refusal(
            "Onnx/export-model", f"The lengths of in_types and in_shapes must equal, not {len(types)} and"
            f" {len(in_shapes)}", AssertionError,
        )
    if dynamic_shapes is None:
        return [None] * len(in_shapes)
    if not dynamic:
        raise refusal(
            "Onnx/export-model", "dynamic_input_shapes is specified; set dynamic=True, too", AssertionError
        )
    if len(dynamic_shapes) != len(in_shapes):
        raise refusal(
            "Onnx/export-model", "The length of dynamic_input_shapes must equal to the length of in_shapes",
            AssertionError,
        )
    if any(len(free) != len(shape) for free, shape in zip(dynamic_shapes, in_shapes, strict=True)):
        raise refusal("Onnx/export-model", "The dimensionality of each shape must match", AssertionError)
    return list(dynamic_shapes)


@decides("Onnx/free-batch")
def _require_free(graph: Graph, asked: Mapping[str, Any]) -> None:
    for name, shape in asked.items():
        if shape is None or name not in graph.inputs:
            continue
        for axis, (side, wanted) in enumerate(zip(graph.inputs[name][0], shape, strict=True)):
            if wanted is None and not isinstance(side, Free):
                raise refusal(
                    "Onnx/free-batch", f"axis {axis} of {name} is to be free; only the batch can be, so give its side"
                )


def _typed(net: Symbol, types: Mapping[str, Any]) -> Symbol:
    """The network, whose inputs state their types."""
    if all(np.dtype(kind) == np.float32 for kind in types.values()):
        return net
    made: dict[int, Node] = {}
    for node in net.order():
        if node.op is None and node.name in types:
            flag = {**node.attrs, "__dtype__": np.dtype(types[node.name]).name}
            made[id(node)] = Node(None, node.name, flag)
        else:
            made[id(node)] = node.reading([Entry(made[id(e.node)], e.index) for e in node.inputs])
    return Symbol([Entry(made[id(e.node)], e.index) for e in net.entries])


__all__ = ["export_model", "supported"]
