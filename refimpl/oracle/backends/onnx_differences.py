"""Where ONNX's own text says something else than MXNet: such calls are left out, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Difference(NamedTuple):
    """Calls whose result in ONNX is another one, or undefined."""

    operators: frozenset[str]
    reason: str
    when: Callable[[Any, Sequence[np.dtype], Sequence[tuple[int, ...]]], bool] = lambda p, types, shapes: True
    """Whether a call of these operators is meant, by its parameters and by types and shapes of its inputs."""


DIFFERENCES: tuple[Difference, ...] = ()

__all__ = ["DIFFERENCES", "Difference"]
