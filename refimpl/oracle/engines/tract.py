"""tract, which is written in Rust, with its optimiser."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import tract

from ..backends.protocol import Unsupported
from . import Run

LACKS = ("nimplemented", "does not support", "Unsupported DatumType")


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
                raise _told(error) from error

        def compute(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            try:
                return [value.to_numpy() for value in run.run([inputs[name] for name in names])]
            except tract.TractError as error:
                raise _told(error) from error

        return compute


def _told(error: Exception) -> Exception:
    """What an error of tract is: it names operators and types that it lacks, some of them only when they run."""
    text = str(error).partition("Stack backtrace")[0].strip()
    return Unsupported(text) if any(word in text for word in LACKS) else error
