"""Initializers that draw random numbers, from MXNet's streams."""

from __future__ import annotations

from math import prod, sqrt

import numpy as np

from .. import random
from ..base import decides, require
from ..ndarray import NDArray
from .initializer import Initializer, register


@register
@decides("Initializer/uniform")
class Uniform(Initializer):
    """Weights drawn from the uniform distribution on [-scale, scale)."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: NDArray) -> None:
        random.uniform(-self.scale, self.scale, out=arr)


@register
@decides("Initializer/uniform")
class Normal(Initializer):
    """Weights drawn from the normal distribution with mean 0 and standard deviation ``sigma``."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: NDArray) -> None:
        random.normal(0, self.sigma, out=arr)


@register
@decides("Initializer/orthogonal")
class Orthogonal(Initializer):
    """Orthonormal rows (or columns, whichever are fewer) times ``scale``.

    The weight is read as (first side, all others); it is the orthogonal factor of a matrix drawn
    uniformly from [-1, 1) (``rand_type="uniform"``) or from the standard normal (``"normal"``).
    """

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = float(scale)
        self.rand_type = rand_type

    def _init_weight(self, name: str, arr: NDArray) -> None:
        require(
            "Initializer/orthogonal-type", self.rand_type in ("uniform", "normal"),
            f'rand_type must be "uniform" or "normal", got {self.rand_type!r}', ValueError,
        )
        sides = (arr.shape[0], prod(arr.shape[1:]))
        drawn = (
            random.uniform(-1.0, 1.0, shape=sides) if self.rand_type == "uniform"
            else random.normal(0.0, 1.0, shape=sides)
        )
        left, _, right = np.linalg.svd(drawn.asnumpy(), full_matrices=False)
        factor = left if left.shape == sides else right
        arr[:] = (self.scale * factor).reshape(arr.shape)


@register
@decides("Initializer/xavier")
class Xavier(Initializer):
    """Weights whose spread keeps the size of signals: s = sqrt(magnitude / factor).

    A weight (out, in, k...) has fan-in ``in * prod(k)`` and fan-out ``out * prod(k)``; ``factor_type``
    "avg", "in" or "out" says which of them (or their mean) is the factor. ``rnd_type`` "uniform"
    draws from [-s, s), "gaussian" from the normal distribution with standard deviation s.
    """

    def __init__(
        self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3
    ) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name: str, arr: NDArray) -> None:
        require(
            "Initializer/xavier-rank", len(arr.shape) >= 2,
            f"{name} has shape {arr.shape}: Xavier counts inputs and outputs, which takes two axes or more", ValueError,
        )
        receptive = prod(arr.shape[2:])
        fan_in, fan_out = arr.shape[1] * receptive, arr.shape[0] * receptive
        factors = {"avg": (fan_in + fan_out) / 2.0, "in": fan_in, "out": fan_out}
        require(
            "Initializer/xavier-factor", self.factor_type in factors,
            f'factor_type must be "avg", "in" or "out", got {self.factor_type!r}', ValueError,
        )
        require(
            "Initializer/xavier-distribution", self.rnd_type in ("uniform", "gaussian"),
            f'rnd_type must be "uniform" or "gaussian", got {self.rnd_type!r}', ValueError,
        )
        scale = sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == "uniform":
            random.uniform(-scale, scale, out=arr)
        else:
            random.normal(0, scale, out=arr)


@register
@decides("Initializer/msra")
class MSRAPrelu(Xavier):
    """Xavier "gaussian" for networks of leaky rectifiers: magnitude 2 / (1 + slope^2)."""

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


__all__ = ["MSRAPrelu", "Normal", "Orthogonal", "Uniform", "Xavier"]
