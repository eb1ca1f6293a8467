"""export_model and get_operator_support, with the signatures and errors of MXNet 1.9.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import ndarray, symbol
from ..base import MXNetError, decides, refusal
from ..files.atomic import write_atomically
from ..kernels.foundation import REGISTRY
from ..log import LOG
from ..ndarray import NDArray
from ..symbol import Symbol
from ..symbol.ir import Entry, Node
from ..symbol.prediction import PREDICTIONS, Prediction, prediction
from . import writing
from .boxes_and_regions import SINCE
from .building import OPSET, Free
from .converting import NEWEST, Graph, converted
from .rule_table import RULES


@decides("Onnx/operator-support")
def get_operator_support(opset_version: int | None = None) -> list[str]:
    """The names of the operators that have a form in a version of ONNX's operators, in order.

    Args:
        opset_version: the version; None stands for the newest that is written. There are none before 17.

    Raises:
        ImportError: onnx is not installed.
    """
    writing.imported()
    version = NEWEST if opset_version is None else opset_version
    if version < OPSET:
        return []
    names = [
        name for name, op in REGISTRY.items()
        if op.name in PREDICTIONS or (op.name in RULES and SINCE.get(op.name, OPSET) <= version)
    ]
    return sorted({*names, "null"})  # null is a variable, as in files


@decides("Onnx/export-model")
def export_model(
    sym: str | Symbol, params: str | dict[str, NDArray] | list[dict[str, NDArray]],
    in_shapes: Sequence[Sequence[int]] | None = None, in_types: Any = np.float32, onnx_file_path: str = "model.onnx",
    verbose: bool = False, dynamic: bool = False,
    dynamic_input_shapes: Sequence[Sequence[int | None]] | None = None, run_shape_inference: bool = False,
    input_type: Any = None, input_shape: Any = None,
) -> str:
    """Write a network as an ONNX file; returns the name of the file.

    Args:
        sym: the network, or the name of its JSON file.
        params: its parameters and states by name, with or without ``arg:`` and ``aux:``; a list of two dicts; or the
            name of a file of them.
        in_shapes: the shape of each input that is no label, in the order of ``list_inputs()``.
        in_types: the element type of the inputs, or a list with one for each.
        onnx_file_path: the name of the file.
        verbose: whether to log what is written.
        dynamic: whether the file takes batches of any size.
        dynamic_input_shapes: ``in_shapes`` with None in place of the batch, and of nothing else.
        run_shape_inference: whether the shapes of all tensors are written, as far as onnx infers them.
        input_type: the older name of ``in_types``.
        input_shape: the older name of ``in_shapes``.

    Raises:
        ImportError: onnx is not installed.
        ValueError: ``sym`` and ``params`` are not both objects or both names of files that exist.
        AssertionError: there are not as many types as shapes, or as many dynamic shapes.
        AttributeError: an operator has no form in ONNX.
        MXNetError: parameters of an operator have none, an input's shape is unknown, or another side than the batch is
            to be free.
    """
    in_types = in_types if input_type is None else input_type
    in_shapes = in_shapes if input_shape is None else input_shape
    onnx = writing.imported()
    net, held = _loaded(sym, params)
    count = len(in_shapes)  # type: ignore[arg-type]  # None is a TypeError, as in MXNet
    types = list(in_types) if isinstance(in_types, (list, tuple)) else [in_types] * count
    free = _required(in_shapes, types, dynamic, dynamic_input_shapes)
    names = [name for name in net.list_inputs() if name not in held and not name.endswith("label")]
    given = {name: tuple(int(side) for side in shape) for name, shape in zip(names, in_shapes or (), strict=False)}
    found = prediction(_typed(net, dict(zip(names, types, strict=False))), held, {}, given)
    graph = _graph(found, dynamic)
    _require_free(graph, dict(zip(names, free, strict=False)))
    proto = writing.model(graph)
    if run_shape_inference:
        proto = onnx.shape_inference.infer_shapes(proto)
    write_atomically(onnx_file_path, writing.content(proto))
    if verbose:
        LOG.info("Input shape of the model %s", in_shapes)
        LOG.info("Exported ONNX file %s saved to disk", onnx_file_path)
    return onnx_file_path


def _graph(found: Prediction, free_batch: bool) -> Graph:
    try:
        return converted(found.symbol, found.params, found.inputs, free_batch=free_batch)
    except MXNetError as error:
        if getattr(error, "clause", None) == "Onnx/no-form":
            raise refusal("Onnx/no-form", f"No conversion function registered: {error}", AttributeError) from error
        raise


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


__all__ = ["export_model", "get_operator_support"]
