"""What is done to the shape of a picture on its way into a batch: resize, turn, pad. The arithmetic is OpenCV's.

Pictures are uint8 arrays of shape (rows, columns, channels).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..base import decides
from ..kernels.shared.resized import cubic_weights, lanczos_weights
from ..ndarray import _internal, array

NEAREST, LINEAR, CUBIC, AREA, LANCZOS = range(5)


@decides("ImageRecordIter/size")
def resize(picture: np.ndarray, height: int, width: int, method: int) -> np.ndarray:
    """A picture in another size, as ``_cvimresize`` makes it.

    Args:
        picture: the picture.
        height, width: of the result, each 1 or more.
        method: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos.
    """
    if picture.shape[:2] == (height, width):
        return picture
    return _internal._cvimresize(array(picture, dtype="uint8"), w=width, h=height, interp=method).asnumpy()  # type: ignore[no-any-return]  # an array


def shorter_edge(picture: np.ndarray, size: int) -> tuple[int, int]:
    """The (rows, columns) of a picture whose shorter edge becomes ``size`` pixels long, in its proportions."""
    rows, columns = picture.shape[:2]
    return (size * rows // columns, size) if rows > columns else (size, size * columns // rows)


def resize_shorter(picture: np.ndarray, size: int, method: int) -> np.ndarray:
    """The picture with its shorter edge ``size`` pixels long, in its proportions."""
    return resize(picture, *shorter_edge(picture, size), method)


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


# --- turned, sheared and scaled --------------------------------------------------------------------

# Places are multiples of 1 / 32 pixel; they are summed in multiples of 1 / 1024. Weights are multiples of 1 / 32768.
_STEPS, _FINE, _WHOLE = 32, 1024, 1 << 15


@cache
def _weights(method: int) -> np.ndarray:
    """The weights of the pixels around each place between two pixels: whole numbers, (32, 32, side, side)."""
    share = np.arange(_STEPS, dtype=np.float32) * np.float32(1 / _STEPS)
    if method == CUBIC:
        line = cubic_weights(share)
    elif method == LANCZOS:
        line = lanczos_weights(share)
    else:
        line = np.stack([1 - share, share], -1)
    exact = line[:, None, :, None] * line[None, :, None, :] * np.float32(_WHOLE)
    tables: np.ndarray = np.rint(exact).clip(-_WHOLE, _WHOLE).astype(np.int64)
    half = line.shape[1] // 2
    if half > 1:  # what rounding lost or gained goes to the largest or the smallest of four in the middle
        for table in tables.reshape(-1, 2 * half, 2 * half):
            middle = table[half : half + 2, half : half + 2].ravel()
            beyond = table.sum() - _WHOLE
            place = int(middle.argmax() if beyond < 0 else middle.argmin())
            table[half + place // 2, half + place % 2] -= beyond
    return tables


@decides("ImageRecordIter/affine")
def warped(
    picture: np.ndarray, matrix: list[np.float32], height: int, width: int, method: int, value: np.ndarray
) -> np.ndarray:
    """The picture whose pixel (x, y) is moved to (m0 x + m1 y + m2, m3 x + m4 y + m5), as OpenCV's warpAffine does.

    Args:
        picture: the picture.
        matrix: m0 to m5.
        height, width: of the result.
        method: 0 nearest, 1 or 3 linear, 2 cubic, 4 Lanczos.
        value: of pixels beyond the edges of the picture, for each channel.
    """
    m = [float(one) for one in matrix]
    size = m[0] * m[4] - m[1] * m[3]
    scale = 1 / size if size else 0.0
    back = [m[4] * scale, m[1] * -scale, m[3] * -scale, m[0] * scale]
    shift = -back[0] * m[2] - back[1] * m[5], -back[2] * m[2] - back[3] * m[5]
    across, down = np.arange(width), np.arange(height)
    half = _FINE // 2 if method == NEAREST else _FINE // _STEPS // 2
    x, y = (
        (_fine(of_y * down + by) + half)[:, None] + _fine(of_x * across)
        for of_x, of_y, by in ((back[0], back[1], shift[0]), (back[2], back[3], shift[1]))
    )
    if method == NEAREST:
        return _taken(picture, y // _FINE, x // _FINE, value).astype(np.uint8)
    x, y = x // (_FINE // _STEPS), y // (_FINE // _STEPS)
    tables = _weights(LINEAR if method == AREA else method)
    weights = tables[y % _STEPS, x % _STEPS]
    total = np.full((height, width, picture.shape[2]), _WHOLE // 2, np.int64)
    first = tables.shape[2] // 2 - 1
    for row, column in np.ndindex(*tables.shape[2:]):
        pixels = _taken(picture, y // _STEPS + row - first, x // _STEPS + column - first, value)
        total += pixels * weights[:, :, row, column, None]
    return (total // _WHOLE).clip(0, 255).astype(np.uint8)


def _fine(places: np.ndarray) -> np.ndarray:
    """Places as whole multiples of 1 / 1024."""
    return np.rint(places * _FINE).clip(-(2**31), 2**31 - 1).astype(np.int64)


def _taken(picture: np.ndarray, rows: np.ndarray, columns: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The pixels at these places, or ``value`` beyond the edges."""
    height, width = picture.shape[:2]
    outside = (rows < 0) | (rows >= height) | (columns < 0) | (columns >= width)
    pixels = picture[rows.clip(0, height - 1), columns.clip(0, width - 1)].astype(np.int64)
    pixels[outside] = value
    return pixels


__all__ = ["enlarge", "padded", "resize", "resize_shorter", "shorter_edge", "warped"]
