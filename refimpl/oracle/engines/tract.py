"""tract, which is written in Rust, with its optimiser."""

from __future__ import annotations

import tempfile
from pathlib import Path

import tract

from ..backends.protocol import Unsupported
from . import Run


class Engine:
    """See ``engines``."""

    name, version, opset = "tract", tract.version(), 20

    def load(self, model: bytes) -> Run:
        """Compile a model; it is read from a file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.onnx")
            path.write_bytes(model)
            try:
                reader = tract.onnx()
                read = (reader.load if hasattr(reader, "load") else reader.model_for_path)(path)  # the name until 0.22
                names = [read.input_name(i) for i in range(read.input_count())]
                made = read.into_model() if hasattr(read, "into_model") else read.into_optimized()
                run = made.into_runnable()
            except tract.TractError as error:
                if "nimplemented" in str(error):
                    raise Unsupported(str(error)) from error
                raise
        return lambda inputs: [value.to_numpy() for value in run.run([inputs[name] for name in names])]
