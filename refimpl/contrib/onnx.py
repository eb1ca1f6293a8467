"""mx.contrib.onnx: the older names of mx.onnx, and what is in an ONNX file."""

from __future__ import annotations

from typing import Any

from ..base import decides, refusal
from ..onnx import export_model, writing

OTHER = "an ONNX file is not read as a network here; run it with onnxruntime, or load the checkpoint it was made of"


@decides("Onnx/metadata")
def get_model_metadata(model_file: str) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """Names and shapes of the inputs and outputs of an ONNX file; a side that is free is 0.

    Args:
        model_file: the name of the file.

    Returns:
        ``input_tensor_data`` and ``output_tensor_data``, lists of (name, shape). Inputs are those that are not stored
        in the file.

    Raises:
        ImportError: onnx is not installed.
        OSError: the file cannot be read.
    """
    graph = writing.imported().load_model(model_file).graph
    stored = {value.name for value in graph.initializer}

    def told(values: Any) -> list[tuple[str, tuple[int, ...]]]:
        return [
            (value.name, tuple(side.dim_value for side in value.type.tensor_type.shape.dim)) for value in values
        ]

    return {
        "input_tensor_data": told(value for value in graph.input if value.name not in stored),
        "output_tensor_data": told(graph.output),
    }


@decides("Onnx/import")
def import_model(model_file: str) -> Any:
    """Refused: nothing here reads an ONNX file as a network.

    Raises:
        MXNetError: always.
    """
    raise refusal("Onnx/import", f"import_model({model_file!r}): {OTHER}")


@decides("Onnx/import")
def import_to_gluon(model_file: str, ctx: Any) -> Any:
    """Refused, as :func:`import_model`.

    Raises:
        MXNetError: always.
    """
    del ctx
    raise refusal("Onnx/import", f"import_to_gluon({model_file!r}): {OTHER}")


__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]
