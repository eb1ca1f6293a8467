"""Between which old pixels a new one lies when a picture is resized, in the arithmetic of OpenCV."""

from __future__ import annotations

import numpy as np

# Weights of bilinear interpolation in bytes are multiples of 1 / 2048.
ONE = 2048


def between(
    old: int, new: int, scale: float, *, split_edges: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each of ``new`` pixels, the two of ``old`` that it lies between, and their weights in float32.

    ``scale`` is old / new, as the caller rounds it. Beyond the edge both are the pixel at the edge; its weight is 1,
    or (``split_edges``) in two parts.
    """
    place = ((np.arange(new) + 0.5) * scale - 0.5).astype(np.float32)
    first = np.floor(place).astype(np.int64)
    share = place - first.astype(np.float32)
    if not split_edges:
        share[(first < 0) | (first >= old - 1)] = 0
    return first.clip(0, old - 1), (first + 1).clip(0, old - 1), np.float32(1) - share, share


def whole_weights(weights: np.ndarray) -> np.ndarray:
    """Weights of bytes as whole numbers, each rounded by itself."""
    return np.rint(weights * np.float32(ONE)).astype(np.int64)


def nearest(old: int, new: int, scale: float) -> np.ndarray:
    """For each of ``new`` pixels, the one of ``old`` that is taken; ``scale`` is old / new, as the caller rounds it."""
    return np.minimum(np.floor(np.arange(new) * scale).astype(np.int64), old - 1)
