"""mx.onnx: networks as ONNX files."""
