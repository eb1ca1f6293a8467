"""2-bit compression of gradients: -t, 0 or +t is sent for each number, and the rest is kept for the next push."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import decides, refusal, require
from ..kernels.foundation import allocate, as_buffer
from ..kernels.shared import two_bit
from ..ndarray import NDArray

TYPE = "2bit"
THRESHOLD = 0.5  # the default
_SETTINGS = ("type", "threshold")
_WORKING = {np.float16: np.float32, np.float32: np.float32, np.float64: np.float64}
"""Dtype of a gradient -> dtype of its residual, in which both are added."""


@dataclass(frozen=True)
class TwoBit:
    """The compression with a threshold t > 0, a float32 number.

    The sender keeps a residual r per array, zeros at first. It adds the gradient to r, sends +t where r >= t, -t where
    r <= -t and 0 elsewhere, and subtracts the sent values from r: all sent values and r add up to all gradients so
    far. NaN is never sent.
    """

    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):
            held = float(np.float32(self.threshold))
        require(
            "KVStore/compression-parameters",
            held >= float(np.finfo(np.float32).tiny) and math.isinf(held) == math.isinf(self.threshold),
            f"the threshold of gradient compression is a float32 number above 0, got {self.threshold!r}",
        )
        object.__setattr__(self, "threshold", held)

    @property
    def parameters(self) -> dict[str, str | float]:
        """The arguments of ``set_gradient_compression`` for this compression."""
        return {"type": TYPE, "threshold": self.threshold}

    @classmethod
    def from_parameters(cls, parameters: Any) -> TwoBit:
        """The compression for arguments of ``set_gradient_compression``: {"type": "2bit", "threshold": 0.5}.

        Raises:
            AssertionError: ``parameters`` is not a dict.
            MXNetError: the type is not "2bit", the threshold is not a number above 0, or a setting is unknown.
        """
        if not isinstance(parameters, Mapping):
            raise refusal(
                "KVStore/compression-parameters",
                f"compression_params is a dict, not a {type(parameters).__name__}; use"
                f" {{'type': {TYPE!r}, 'threshold': {THRESHOLD}}}", AssertionError,
            )
        unknown = [name for name in parameters if name not in _SETTINGS]
        if unknown:
            raise refusal(
                "KVStore/compression-parameters",
                f"unknown settings of gradient compression {unknown}; there are {list(_SETTINGS)}",
            )
        kind, threshold = parameters.get("type"), parameters.get("threshold", THRESHOLD)
        if kind != TYPE:
            raise refusal(
                "KVStore/compression-parameters",
                f"gradients cannot be compressed by type {kind!r}, only by {TYPE!r}; without compression leave the"
                " call out",
            )
        try:
            number = math.nan if isinstance(threshold, bool) or threshold is None else float(threshold)
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            raise refusal(
                "KVStore/compression-parameters",
                f"Invalid Parameter format for threshold expect float but value={threshold!r}",
            )
        return cls(number)

    def encode(self, gradient: np.ndarray, residual: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Compress a gradient of any shape; neither argument is changed.

        ``gradient`` is float16, float32 or float64. ``residual`` has its shape; None is zeros. Returns
        (uint32 words, 16 values in each, ``ceil(gradient.size / 16)`` of them; the new residual, in the gradient's
        type, or float32 for float16). The layout of a word is clause two-bit/layout.

        Raises:
            MXNetError: the gradient's dtype is not floating, or the residual has another shape.
        """
        kind = working_type(gradient.dtype.type)
        before = np.zeros(gradient.shape, kind) if residual is None else residual
        require(
            "KVStore/compression-packed", before.shape == gradient.shape,
            f"a residual of shape {before.shape} does not belong to a gradient of shape {gradient.shape}",
        )
        packed, left = two_bit.encode(
            as_buffer(gradient.astype(kind)), as_buffer(before.astype(kind)), self.threshold
        )
        return packed.to_numpy(), left.to_numpy()

    def decode(self, packed: np.ndarray, shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
        """The array of ``shape`` that is encoded in the words ``packed``: values -t, 0 and +t, cast to ``dtype``.

        Raises:
            MXNetError: there are not ``ceil(prod(shape) / 16)`` words, or ``dtype`` is not floating.
        """
        kind = working_type(np.dtype(dtype).type)
        words = -(-math.prod(shape) // two_bit.PER_WORD)
        require(
            "KVStore/compression-packed", packed.shape == (words,),
            f"an array of shape {shape} is packed into {words} words, got an array of shape {packed.shape}",
        )
        flat = as_buffer(np.asarray(packed, two_bit.WORD))
        return two_bit.decode(flat, self.threshold, tuple(shape), np.dtype(kind)).to_numpy().astype(dtype)

    @decides("KVStore/compression")
    def sent(self, gradient: NDArray, residual: NDArray | None) -> tuple[NDArray, NDArray]:
        """Return (array that the receiver decodes, new residual) of a dense gradient, on the gradient's device.

        Raises:
            MXNetError: the gradient's dtype is not floating.
        """
        kind = working_type(gradient.dtype)
        array = gradient if gradient.dtype is kind else gradient.astype(kind)
        if residual is None or residual.shape != array.shape or residual.dtype is not kind:
            zeros = allocate(array.shape, np.dtype(kind), array.handle.device)
            zeros.fill(0)
            residual = NDArray(zeros, array.context)
        elif residual.handle.device != array.handle.device:
            residual = residual.as_in_context(array.context)
        packed, left = two_bit.encode(array.handle, residual.handle, self.threshold)
        values = two_bit.decode(packed, self.threshold, array.shape, np.dtype(kind))
        arrived = NDArray(values, gradient.context)
        return arrived.astype(gradient.dtype, copy=False), NDArray(left, gradient.context)


def working_type(dtype: Any) -> type:
    """The dtype in which gradients of ``dtype`` are added to their residuals.

    Raises:
        MXNetError: ``dtype`` is not float16, float32 or float64.
    """
    if dtype not in _WORKING:
        raise refusal(
            "KVStore/compression-type",
            f"gradients of type {np.dtype(dtype).name} cannot be compressed; use float32",
        )
    return _WORKING[dtype]


__all__ = ["TwoBit", "working_type"]
