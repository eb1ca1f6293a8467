"""mx.onnx: networks as ONNX files, by the names and the signatures of MXNet 1.9.1."""

from .exporting import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support"]
