"""Initializers without chance: constants, the bilinear kernel, the biases of an LSTM."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..base import decides
from ..ndarray import NDArray
from .initializer import Initializer, alias, register


@register
@alias("zeros")
class Zero(Initializer):
    """Every weight 0."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 0


@register
@alias("ones")
class One(Initializer):
    """Every weight 1."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 1


@register
@decides("Initializer/constants")
class Constant(Initializer):
    """Every weight ``value``: a number, or an array or list that broadcasts to the weight."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = self.value

    def dumps(self) -> str:
        """As :meth:`Initializer.dumps`, with an array written as a list."""
        value = self.value.asnumpy() if isinstance(self.value, NDArray) else self.value
        plain = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        return json.dumps([type(self).__name__.lower(), {"value": plain}])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.dumps() == other.dumps()  # type: ignore[attr-defined]  # one class

    __hash__ = None  # type: ignore[assignment]  # equal by value and mutable


@register
class Bilinear(Initializer):
    """The kernel of bilinear upsampling, for Deconvolution weights (N, C, H, W)."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        self._init_bilinear(name, arr)


@register
@decides("Initializer/lstm-bias")
class LSTMBias(Initializer):
    """0, but ``forget_bias`` in the second quarter, which an LSTM reads as its forget gate."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:
        quarter = arr.shape[0] // 4
        arr[:] = 0.0
        arr[quarter : 2 * quarter] = self.forget_bias


__all__ = ["Bilinear", "Constant", "LSTMBias", "One", "Zero"]
