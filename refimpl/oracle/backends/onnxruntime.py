"""ONNX Runtime on the CPU, level 1, optimised as it is by default; ``backends.onnx:on`` has its other modes."""

from __future__ import annotations

from .onnx import on

backend = on("onnxruntime")
"""What ``--oracle-backend=refimpl.oracle.backends.onnxruntime:backend`` finds."""
