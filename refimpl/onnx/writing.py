"""ONNX graphs as models of the package onnx, and models that run in ONNX Runtime. Only this file imports the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base import decides, refusal
from ..libinfo import __version__
from .building import Builder, ElementType, Free
from .converting import Graph

MOST_BYTES = 2**31 - 1  # protobuf reads no larger message
INSTALL = "Onnx and protobuf need to be installed: pip install refimpl[onnx]"


@decides("Onnx/extra")
def imported() -> Any:
    """The package onnx.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise refusal("Onnx/extra", INSTALL, ImportError) from error
    return onnx


def model(graph: Graph, *, every: bool = False) -> Any:
    """The ``onnx.ModelProto`` of a graph.

    Args:
        graph: the graph.
        every: whether every visible output of a layer is an output of the model.
    """
    helper, b = imported().helper, graph.builder
    nodes, constants = nodes_of(b)
    names = [*graph.outputs, *(name for name in graph.layers.values() if name not in graph.outputs)] if every \
        else graph.outputs
    made = helper.make_graph(
        nodes, "network", [_described(helper, name, *what) for name, what in graph.inputs.items()],
        [_described(helper, name, *graph.shapes[name]) for name in names], constants,
    )
    opset = helper.make_opsetid("", b.opset)
    version = helper.find_min_ir_version_for([opset])
    return helper.make_model(
        made, opset_imports=[opset], ir_version=version, producer_name="refimpl", producer_version=__version__,
    )


def content(proto: Any) -> bytes:
    """The bytes of a model's file.

    Raises:
        MXNetError: there are more than a file of one piece can have.
    """
    size = proto.ByteSize()
    if size > MOST_BYTES:
        raise refusal(
            "Onnx/size",
            f"the model has {size} bytes, and a file of ONNX {MOST_BYTES} at most; export a part, with until",
        )
    return proto.SerializeToString()  # type: ignore[no-any-return]  # bytes


def nodes_of(b: Builder) -> tuple[list[Any], list[Any]]:
    """The nodes of a graph that grew, and the constants that they read, as the package onnx has them."""
    onnx = imported()
    helper = onnx.helper
    nodes = [
        helper.make_node(
            made.op, made.inputs, made.outputs, name=made.outputs[0],
            **{key: _attribute(helper, value) for key, value in made.attributes.items()},
        )
        for made in b.nodes
    ]
    used = {name for made in b.nodes for name in made.inputs}
    constants = [
        onnx.numpy_helper.from_array(np.array(value, order="C"), name)
        for name, value in b.constants.items() if name in used
    ]
    return nodes, constants


def _attribute(helper: Any, value: Any) -> Any:
    if isinstance(value, ElementType):
        return helper.np_dtype_to_tensor_dtype(value.dtype)
    if isinstance(value, (tuple, list)):
        return [part if isinstance(part, str) else float(part) if isinstance(part, float) else int(part)
                for part in value]
    return value if isinstance(value, str) else float(value) if isinstance(value, float) else int(value)


def _described(helper: Any, name: str, shape: Sequence[int], dtype: np.dtype) -> Any:
    sides = [("batch" if side.factor == 1 else f"batch_x{side.factor}") if isinstance(side, Free) else int(side)
             for side in shape]
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), sides)


def session(proto: Any, *, optimised: bool = True) -> Any:
    """A session of ONNX Runtime on the processor, in one thread.

    Raises:
        ImportError: onnxruntime is not installed.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise refusal(
            "Onnx/extra", "onnxruntime needs to be installed: pip install refimpl[onnx]", ImportError
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(proto: Any, given: Mapping[str, np.ndarray], *, optimised: bool = True) -> dict[str, np.ndarray]:
    """The outputs of a model by name."""
    opened = session(proto, optimised=optimised)
    names = [value.name for value in opened.get_outputs()]
    return dict(zip(names, opened.run(names, dict(given)), strict=True))


__all__ = ["INSTALL", "content", "imported", "model", "nodes_of", "run", "session"]
