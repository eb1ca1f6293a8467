"""The old pixels between which a new pixel lies when a picture is resized, in the arithmetic of OpenCV."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..foundation import require, told
from ..foundation.shapes import MaybeShape

MOST_CHANNELS = 512


def require_picture(clause: str, name: str, shape: MaybeShape) -> None:
    """Refuse a shape that is no picture of OpenCV's: (height, width, channels)."""
    sides = () if shape is None else shape
    fits = (shape is None or len(shape) == 3) and all(side > 0 for side in sides if told(side))
    fits = fits and not (sides and told(sides[-1]) and sides[-1] > MOST_CHANNELS)
    require(
        clause, fits,
        f"{name} has shape {shape}, expected (height, width, channels) without 0, and {MOST_CHANNELS} channels at most",
    )


# Weights of bilinear interpolation in bytes are multiples of 1 / 2048.
ONE = 2048


def between(
    old: int, new: int, scale: float, *, split_edges: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each of ``new`` pixels, the two of ``old`` pixels between which it lies, and their weights in float32.

    ``scale`` is old / new, as the caller rounds it. Beyond the edge both are the pixel at the edge, with the weights 1
    and 0, or (``split_edges``) two weights of sum 1.
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
    """For each of ``new`` pixels, the old pixel that it copies; ``scale`` is old / new, as the caller rounds it."""
    return np.minimum(np.floor(np.arange(new) * scale).astype(np.int64), old - 1)


# --- more than two pixels ---------------------------------------------------------------------------


def around(
    old: int, new: int, scale: float, weights: Callable[[np.ndarray], np.ndarray], count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As :func:`covered`, for the ``count`` old pixels around each of ``new`` pixels."""
    place = ((np.arange(new) + 0.5) * scale - 0.5).astype(np.float32)
    first = np.floor(place).astype(np.int64)
    taken = first[:, None] + np.arange(count) - (count // 2 - 1)
    begins = np.arange(0, new * count + 1, count)
    return begins, taken.clip(0, old - 1).ravel(), weights(place - first.astype(np.float32)).ravel()


def cubic_weights(share: np.ndarray) -> np.ndarray:
    """The weights of four pixels, ``share`` (float32) behind the second: float32, shape (n, 4)."""
    a, one = np.float32(-0.75), np.float32(1)
    far, rest = share + one, one - share
    first = ((a * far - np.float32(-3.75)) * far + np.float32(-6)) * far - np.float32(-3)
    second, third = (((a + 2) * at - (a + 3)) * at * at + one for at in (share, rest))
    return np.stack([first, second, third, one - first - second - third], -1)


# The signs and shares of sine and cosine, of quarter turns from pixel to pixel.
_HALF = 0.70710678118654752440
_TURNS = (
    (1, 0), (-_HALF, -_HALF), (0, 1), (_HALF, -_HALF), (-1, 0), (_HALF, _HALF), (0, -1), (-_HALF, _HALF),
)


def lanczos_weights(share: np.ndarray) -> np.ndarray:
    """The weights of eight pixels, ``share`` (float32) behind the fourth: float32, shape (n, 8)."""
    three = share + np.float32(3)
    turn = -three.astype(np.float64) * np.pi * 0.25
    sine, cosine = np.sin(turn), np.cos(turn)
    made = np.zeros((len(share), 8), np.float32)
    total = np.zeros(len(share), np.float32)
    exact = share < np.finfo(np.float32).eps
    for k, (of_sine, of_cosine) in enumerate(_TURNS):
        angle = -(three - np.float32(k)).astype(np.float64) * np.pi * 0.25
        angle[exact] = 1
        made[:, k] = (of_sine * sine + of_cosine * cosine) / (angle * angle)
        total += made[:, k]
    made *= (np.float32(1) / total)[:, None]
    made[exact] = np.arange(8) == 3
    return made


def covered(old: int, new: int, scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The old pixels that each of ``new`` pixels covers: where its part of the lists begins, places, and weights."""
    begins, places, weights = [0], [], []
    for pixel in range(new):
        begin, end = pixel * scale, pixel * scale + scale
        width = min(scale, old - begin)
        last = min(int(end), old - 1)
        first = min(-int(-begin // 1), last)
        if first - begin > 1e-3:
            places.append(first - 1)
            weights.append((first - begin) / width)
        places += range(first, last)
        weights += [1 / width] * (last - first)
        if end - last > 1e-3:
            places.append(last)
            weights.append(min(end - last, 1.0, width) / width)
        begins.append(len(places))
    return np.array(begins), np.array(places), np.array(weights, np.float32)


def partly_covered(
    old: int, new: int, scale: float, *, split_edges: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """As :func:`between`, but the weight of the second pixel is the part of it that the new pixel covers."""
    at = np.arange(new)
    first = np.floor(at * scale).astype(np.int64)
    share = ((at + 1) - (first + 1) * (new / old)).astype(np.float32)
    share = np.where(share <= 0, np.float32(0), share - np.floor(share))
    if not split_edges:
        share[first >= old - 1] = 0
    return first.clip(0, old - 1), (first + 1).clip(0, old - 1), np.float32(1) - share, share
