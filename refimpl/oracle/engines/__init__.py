"""Engines that compute ONNX models, one file each: what ``refimpl.oracle.backends.onnx:on(engine="openvino")`` names."""
