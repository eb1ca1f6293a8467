"""What is done to the colours of a picture on its way into a batch. The arithmetic is OpenCV's.

Pictures are uint8 arrays of shape (rows, columns, 3), red first.
"""

from __future__ import annotations

import numpy as np

from ..base import decides

_F = np.float32
# Which of four mixed values blue, green and red take in each sixth of the circle of hues.
_SIXTHS = np.array([[1, 3, 0], [1, 0, 2], [3, 0, 1], [0, 2, 1], [0, 1, 3], [2, 1, 0]])


def _bytes(values: np.ndarray) -> np.ndarray:
    return np.rint(values).clip(0, 255).astype(np.uint8)


@decides("ImageRecordIter/hsl")
def to_hls(picture: np.ndarray) -> np.ndarray:
    """Hue in steps of two degrees, lightness and saturation of 255: whole numbers."""
    pixels = picture.astype(_F) * _F(1 / 255)
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    most, least = pixels.max(-1), pixels.min(-1)
    spread, light = most - least, (most + least) * _F(0.5)
    grey = spread <= np.finfo(_F).eps
    with np.errstate(divide="ignore", invalid="ignore"):  # of greys, which have no hue
        saturation = spread / np.where(light < _F(0.5), most + least, _F(2) - most - least)
        sixth = _F(60) / spread
        hue = np.where(
            most == red, (green - blue) * sixth,
            np.where(most == green, (blue - red) * sixth + _F(120), (red - green) * sixth + _F(240)),
        )
    hue = np.where(hue < 0, hue + _F(360), hue)
    hue, saturation = np.where(grey, _F(0), hue), np.where(grey, _F(0), saturation)
    return np.stack([_bytes(hue * _F(0.5)), _bytes(light * _F(255)), _bytes(saturation * _F(255))], -1).astype(np.int64)


@decides("ImageRecordIter/hsl")
def from_hls(values: np.ndarray) -> np.ndarray:
    """The picture of hues, lightnesses and saturations."""
    light, saturation = values[..., 1].astype(_F) * _F(1 / 255), values[..., 2].astype(_F) * _F(1 / 255)
    high = np.where(light <= _F(0.5), light * (_F(1) + saturation), light + saturation - light * saturation)
    low = _F(2) * light - high
    hue = values[..., 0].astype(_F) * _F(6 / 180)
    hue = np.where(hue >= 6, hue - _F(6), hue)
    sixth = np.floor(hue).astype(np.int64)
    hue = hue - sixth.astype(_F)
    mixed = np.stack([high, low, low + (high - low) * (_F(1) - hue), low + (high - low) * hue], -1)
    pixels = np.take_along_axis(mixed, _SIXTHS[sixth], -1)
    return _bytes(np.where((saturation == 0)[..., None], light[..., None], pixels)[..., ::-1] * _F(255))


def moved_in_hls(picture: np.ndarray, hue: int, lightness: int, saturation: int) -> np.ndarray:
    """The picture with hue (0 to 180), lightness and saturation (0 to 255) changed by these numbers, and cut there."""
    return from_hls((to_hls(picture) + np.array([hue, lightness, saturation])).clip(0, [180, 255, 255]))


def _grey(picture: np.ndarray) -> np.ndarray:
    """MXNet takes blue for red here."""
    return (picture.astype(np.int64) @ np.array([1868, 9617, 4899]) + (1 << 13)) >> 14


@decides("ImageRecordIter/jitter")
def brighter(picture: np.ndarray, factor: np.float32) -> np.ndarray:
    """The picture times ``factor``."""
    return _bytes(picture.astype(_F) * factor)


@decides("ImageRecordIter/jitter")
def contrasted(picture: np.ndarray, factor: np.float32) -> np.ndarray:
    """The picture moved away from its mean grey, or towards it."""
    return _bytes(picture.astype(_F) * factor + (_F(1) - factor) * _F(_grey(picture).mean(dtype=np.float64)))


@decides("ImageRecordIter/jitter")
def saturated(picture: np.ndarray, factor: np.float32) -> np.ndarray:
    """The picture moved away from the grey of each pixel, or towards it."""
    return _bytes(_grey(picture)[..., None].astype(_F) * (_F(1) - factor) + picture.astype(_F) * factor)


# The principal components of the colours of ImageNet: their variances, and directions.
_VALUES = np.array([55.46, 4.794, 1.148])
_DIRECTIONS = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])


@decides("ImageRecordIter/pca")
def lit(picture: np.ndarray, along: list[np.float32]) -> np.ndarray:
    """The picture with these multiples of the principal components added; fractions are cut off."""
    shift = _DIRECTIONS @ (np.array(along, np.float64) * _VALUES)
    return np.trunc(picture + shift).clip(0, 255).astype(np.uint8)


__all__ = ["brighter", "contrasted", "lit", "moved_in_hls", "saturated"]
