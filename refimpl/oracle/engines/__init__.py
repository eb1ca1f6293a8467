"""Engines that compute ONNX models, one file each: ``refimpl.oracle.backends.onnx:on("openvino")`` names one.

    class Engine:
        name, version, opset = "Mine", "1.0", 20

        def load(self, model: bytes):
            program = mine.compile(model)
            return lambda inputs: program.run(inputs)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...base import decides
from ..backends.named import named, read

Run = Callable[[dict[str, np.ndarray]], list[np.ndarray]]
"""From the inputs of a model by name to its outputs, in the order of the graph."""


class Engine(Protocol):
    """What computes ONNX models.

    Three more attributes may be there: ``dtypes``, the element types that it computes with; ``pack``, how many programs
    become one model, 1 by default; ``leaves_out``, names of operators that are never drawn for it.
    """

    name: str
    version: str
    opset: int
    """The newest version of ONNX's operators that it reads."""

    def load(self, model: bytes) -> Run:
        """Compile a model.

        Args:
            model: the bytes of an ONNX file.

        Returns:
            what runs it.

        Raises:
            Unsupported: the engine says that it lacks an operator or a type. Any other exception is a refusal.
        """
        ...


def names() -> list[str]:
    """The names of the engines of this folder."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")


@decides("oracle/engines")
def engine_of(engine: Any, **options: Any) -> Engine:
    """An engine by its name.

    Args:
        engine: a name of :func:`names`, with underscores or hyphens; ``package.module:Name`` of another engine, which
            may have arguments in brackets; a class, or an engine itself.
        options: arguments of the engine's class.

    Raises:
        ValueError: there is no such engine, or it takes no such options.
    """
    if not isinstance(engine, str):
        return engine(**options) if inspect.isclass(engine) or options else engine
    text = engine
    if ":" not in text:
        if text.replace("-", "_") not in names():
            raise ValueError(f"there is no engine {text!r}: write package.module:Name, or one of {', '.join(names())}")
        text = f"{__name__}.{text.replace('-', '_')}:Engine"
    if options:
        if read(text).arguments is not None:
            raise ValueError(f"{engine!r} has arguments in brackets already; write {sorted(options)} there")
        text += f"({', '.join(f'{key}={value!r}' for key, value in options.items())})"
    return named(text)  # type: ignore[no-any-return]  # whatever stands there


__all__ = ["Engine", "Run", "engine_of", "names"]
