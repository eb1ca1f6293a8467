"""What is done to a picture on its way into a batch: resize, pad, crop. The arithmetic is OpenCV's."""

from __future__ import annotations

import numpy as np

from ..base import decides
from ..kernels.shared.resized import between, nearest, whole_weights


@decides("ImageRecordIter/size")
def resize(picture: np.ndarray, height: int, width: int, method: int) -> np.ndarray:
    """A uint8 picture (rows, columns, channels) in another size.

    Args:
        picture: the picture.
        height, width: of the result, each 1 or more.
        method: 0 takes the nearest pixel, 1 interpolates between the four around.
    """
    if picture.shape[:2] == (height, width):
        return picture
    if method == 0:
        rows = nearest(picture.shape[0], height, picture.shape[0] / height)
        return picture[rows][:, nearest(picture.shape[1], width, picture.shape[1] / width)]
    if picture.shape[0] == 2 * height and picture.shape[1] == 2 * width:
        whole = picture.astype(np.int64)
        total = whole[::2, ::2] + whole[1::2, ::2] + whole[::2, 1::2] + whole[1::2, 1::2]
        return ((total + 2) >> 2).astype(np.uint8)
    above, below, *shares = between(picture.shape[0], height, picture.shape[0] / height, split_edges=True)
    low, high = map(whole_weights, shares)
    left, right, *shares = between(picture.shape[1], width, picture.shape[1] / width, split_edges=False)
    near, far = map(whole_weights, shares)
    whole = picture.astype(np.int64)
    rows = whole[:, left] * near[:, None] + whole[:, right] * far[:, None]
    first = (low[:, None, None] * (rows[above] >> 4)) >> 16
    second = (high[:, None, None] * (rows[below] >> 4)) >> 16
    return ((first + second + 2) >> 2).clip(0, 255).astype(np.uint8)


@decides("ImageRecordIter/size")
def resize_shorter(picture: np.ndarray, size: int, method: int) -> np.ndarray:
    """The picture with its shorter edge ``size`` pixels long, in its proportions."""
    rows, columns = picture.shape[:2]
    if rows > columns:
        return resize(picture, size * rows // columns, size, method)
    return resize(picture, size, size * columns // rows, method)


@decides("ImageRecordIter/size")
def enlarge(picture: np.ndarray, height: int, width: int, method: int) -> np.ndarray:
    """The picture, enlarged in its proportions if it is less high than ``height``, or less wide than ``width``."""
    rows, columns = picture.shape[:2]
    if rows < height:
        factor = np.float32(height) / np.float32(rows)
        picture = resize(picture, height, max(int(factor * np.float32(columns)), 1), method)
    rows, columns = picture.shape[:2]
    if columns < width:
        factor = np.float32(width) / np.float32(columns)
        picture = resize(picture, max(int(factor * np.float32(rows)), 1), width, method)
    return picture


def padded(picture: np.ndarray, pad: int, value: int) -> np.ndarray:
    """The picture with a frame, ``pad`` pixels wide."""
    return np.pad(picture, ((pad, pad), (pad, pad), (0, 0)), constant_values=value)


__all__ = ["enlarge", "padded", "resize", "resize_shorter"]
