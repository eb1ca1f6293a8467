"""mx.onnx: networks as ONNX files, by the names and the signatures of MXNet 1.9.1.

Importing this module imports neither onnx nor the rules; the functions do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import decides

if TYPE_CHECKING:
    from ..ndarray import NDArray
    from ..symbol import Symbol


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
    from . import exporting
    in_types = in_types if input_type is None else input_type
    in_shapes = in_shapes if input_shape is None else input_shape
    return exporting.export_model(
        sym, params, in_shapes, in_types, onnx_file_path, verbose, dynamic, dynamic_input_shapes, run_shape_inference
    )


@decides("Onnx/operator-support")
def get_operator_support(opset_version: int | None = None) -> list[str]:
    """The names of the operators that have a form in a version of ONNX's operators, in order.

    Args:
        opset_version: the version; None stands for the newest that is written. There are none before 17.

    Raises:
        ImportError: onnx is not installed.
    """
    from . import exporting
    return exporting.supported(opset_version)


__all__ = ["export_model", "get_operator_support"]
