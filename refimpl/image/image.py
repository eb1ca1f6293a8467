"""Functions on one picture, an NDArray of shape (height, width, channels): decode, resize, crop, rotate."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from operator import gt, isub, itruediv, lt
from typing import Any, cast

import numpy as np

from .. import ndarray as nd
from ..base import decides, numeric_types, require
from ..ndarray import NDArray, _internal

Size = tuple[int, int]
Box = tuple[int, int, int, int]

# Methods of imresize, and the two numbers that stand for a choice among them.
LINEAR, CUBIC, AREA = 1, 2, 3
BY_SIZES, RANDOMLY = 9, 10


def imread(filename: Any, *args: Any, **kwargs: Any) -> NDArray:
    """Read a picture from a file: uint8 of shape (height, width, 3), red first.

    Args:
        filename: name of the file.
        args, kwargs: flag (1; 0 gives grey, one channel), to_rgb (True; False puts blue first), out.

    Raises:
        MXNetError: the file cannot be read, or holds no picture.
        ImportError: Pillow is not installed.
    """
    return _internal._cvimread(filename, *args, **kwargs)


@decides("imdecode/values")
def imdecode(buf: Any, *args: Any, **kwargs: Any) -> NDArray:
    """Decode a picture: uint8 of shape (height, width, 3), red first.

    Args:
        buf: the content of a file: bytes, bytearray, or an array of uint8.
        args, kwargs: flag (1; 0 gives grey, one channel), to_rgb (True; False puts blue first), out.

    Raises:
        ValueError: ``buf`` is none of those.
        MXNetError: it holds no picture.
        ImportError: Pillow is not installed.
    """
    if not isinstance(buf, NDArray):
        require(
            "imdecode/buffer", isinstance(buf, (bytes, bytearray, np.ndarray)),
            f"buf is the content of a picture's file, bytes, bytearray or an array of uint8, not {type(buf).__name__};"
            " imread takes the name of a file", ValueError,
        )
        content = buf if isinstance(buf, np.ndarray) else np.frombuffer(buf, np.uint8)
        require("imdecode/picture", content.size > 0, "buf is empty: give the content of a picture's file")
        require("imdecode/picture", content.dtype == np.uint8, f"buf is an array of uint8, not {content.dtype}")
        buf = nd.array(content.ravel(), dtype="uint8")
    return _internal._cvimdecode(buf, *args, **kwargs)


def imresize(src: NDArray, w: int, h: int, *args: Any, **kwargs: Any) -> NDArray:
    """``src`` in another size: (h, w, channels).

    Args:
        src: the picture: uint8, float32 or float64.
        w, h: width and height, each 1 or more.
        args, kwargs: interp: 0 nearest, 1 linear (default), 2 cubic, 3 area, 4 Lanczos; out.

    Raises:
        MXNetError: an argument is out of range.
        AssertionError: ``src`` is no NDArray.
    """
    return _internal._cvimresize(src, w, h, *args, **kwargs)


def copyMakeBorder(src: NDArray | None = None, *args: Any, **kwargs: Any) -> NDArray:  # noqa: N802  # MXNet's name
    """``src`` with a border: arguments top, bot, left, right, type, value, values of ``_cvcopyMakeBorder``.

    Raises:
        MXNetError: an argument is missing or out of range.
    """
    return _internal._cvcopyMakeBorder(src, *args, **kwargs)  # type: ignore[arg-type]  # refuses None


@decides("imresize/scale-down")
def scale_down(src_size: Sequence[float], size: Sequence[float]) -> Size:
    """``size`` (width, height), in its proportions no larger than ``src_size``.

    >>> scale_down((20, 6), (30, 10))
    (18, 6)
    """
    fitted = list(size)
    for side, other in ((1, 0), (0, 1)):  # height first: each quotient rounds
        if fitted[side] > src_size[side]:
            fitted[other] = fitted[other] * src_size[side] / fitted[side]
            fitted[side] = src_size[side]
    return int(fitted[0]), int(fitted[1])


@decides("imresize/choice")
def _method(interp: int, sizes: Sequence[float] | None = None) -> int:
    """The method that ``interp`` means for (old height, old width, new height, new width)."""
    if interp == RANDOMLY:
        return random.randint(0, 4)
    if interp == BY_SIZES:
        old, new = (sizes[:2], sizes[2:4]) if sizes is not None else ((0, 0), (1, 1))
        larger, smaller = (all(map(compare, new, old)) for compare in (gt, lt))
        return CUBIC if larger else AREA if smaller else LINEAR
    require(
        "imresize/method", interp in (0, 1, 2, 3, 4),
        f"interp is 0 to 4, {BY_SIZES} (by the sizes) or {RANDOMLY} (at random), not {interp}", ValueError,
    )
    return interp


def _sides(src: Any) -> tuple[int, int]:
    """(height, width) of a picture."""
    shape: tuple[int, ...] = getattr(src, "shape", ())
    require(
        "imresize/picture", len(shape) == 3 and min(shape) > 0,
        f"a picture has shape (height, width, channels) without 0, not {shape}", ValueError,
    )
    return int(shape[0]), int(shape[1])


@decides("imresize/short")
def resize_short(src: NDArray, size: int, interp: int = 2) -> NDArray:
    """``src`` with its shorter edge ``size`` pixels long, in its proportions.

    Raises:
        ValueError: ``interp`` is none of 0 to 4, 9, 10.
    """
    sides = _sides(src)
    height, width = (size * side // min(sides) for side in sides)
    return imresize(src, width, height, interp=_method(interp, (*sides, height, width)))


@decides("fixed_crop/values")
def fixed_crop(
    src: NDArray, x0: int, y0: int, w: int, h: int, size: Sequence[int] | None = None, interp: int = 2
) -> NDArray:
    """The ``w`` times ``h`` pixels of ``src`` whose first is (x0, y0), in the size (width, height) if one is given.

    Args:
        src: the picture.
        x0, y0: left and top edge.
        w, h: width and height.
        size: (width, height) of the result, or None.
        interp: as for :func:`resize_short`.

    Raises:
        MXNetError: nothing of ``src`` lies there.
    """
    height, width = _sides(src)
    require(
        "fixed_crop/inside", 0 <= x0 < width and 0 <= y0 < height and w > 0 and h > 0,
        f"a box of {w} times {h} pixels at ({x0}, {y0}) does not begin in a picture {width} pixels wide and {height}"
        " high, or is empty",
    )
    part = src[y0 : y0 + h, x0 : x0 + w]
    if size is None or tuple(size) == (w, h):
        return part
    new_w, new_h = size
    return imresize(part, new_w, new_h, interp=_method(interp, (h, w, new_h, new_w)))


def _cut(src: NDArray, box: Box, size: Sequence[int], interp: int) -> tuple[NDArray, Box]:
    """The pixels of a box (x0, y0, width, height) in ``size`` (width, height), and the box."""
    return fixed_crop(src, *box, size, interp), box


def _anywhere(space: Sequence[int], part: Size) -> Box:
    """A box of the size ``part`` at a random place in a picture of the size ``space``; left is drawn first."""
    left, top = (random.randint(0, whole - side) for whole, side in zip(space, part, strict=True))
    return left, top, *part


@decides("random_crop/draws")
def random_crop(src: NDArray, size: Sequence[int], interp: int = 2) -> tuple[NDArray, Box]:
    """A part of ``src`` at a random place, in ``size`` (width, height), and its box (x0, y0, width, height)."""
    space = _sides(src)[::-1]
    return _cut(src, _anywhere(space, scale_down(space, size)), size, interp)


@decides("random_crop/center")
def center_crop(src: NDArray, size: Sequence[int], interp: int = 2) -> tuple[NDArray, Box]:
    """The middle of ``src`` in ``size`` (width, height), and its box (x0, y0, width, height)."""
    space = _sides(src)[::-1]
    part = scale_down(space, size)
    left, top = (int((whole - side) / 2) for whole, side in zip(space, part, strict=True))
    return _cut(src, (left, top, *part), size, interp)


@decides("random_crop/keywords")
def _area_of(function: str, area: Any, kwargs: dict[str, Any]) -> Any:
    """``area``, or what its older name ``min_area`` has in ``kwargs``; other keywords are refused."""
    others = sorted(set(kwargs) - {"min_area"})
    require(
        "random_crop/keywords", not others,
        f"{function} takes no {', '.join(others)}; besides its arguments it takes min_area, the older name of area",
        AssertionError,
    )
    return kwargs.get("min_area", area)


@decides("random_crop/sized")
def random_size_crop(
    src: NDArray, size: Sequence[int], area: Any, ratio: Sequence[float], interp: int = 2, **kwargs: Any
) -> tuple[NDArray, Box]:
    """A part of ``src`` of a random size and place, in ``size`` (width, height), and its box.

    Args:
        src: the picture.
        size: of the result.
        area: the least and the most of the picture that is taken; a number is the least, and 1 the most.
        ratio: the least and the most of width / height.
        interp: as for :func:`resize_short`.
        kwargs: min_area, the older name of ``area``.

    Raises:
        AssertionError: another keyword.
        ValueError: a ratio is not positive, or the areas are negative.
    """
    space = width, height = _sides(src)[::-1]
    if "min_area" in kwargs:
        warnings.warn("min_area is the older name of area; give area=", DeprecationWarning, stacklevel=2)
    area = _area_of("random_size_crop", area, kwargs)
    least, most = cast("Sequence[float]", [area, 1.0] if isinstance(area, numeric_types) else area[:2])
    narrowest, widest = ratio[:2]
    require(
        "random_crop/ranges", least >= 0 and most >= 0 and narrowest > 0 and widest > 0,
        f"area is {(least, most)} and ratio {ratio}: give parts of the picture of 0 or more, and positive ratios",
        ValueError,
    )
    # width * height is a random part of the picture, width / height a ratio whose logarithm is random
    for _ in range(10):
        pixels = random.uniform(least, most) * (height * width)
        shape = np.exp(random.uniform(np.log(narrowest), np.log(widest)))
        part = round(np.sqrt(pixels * shape)), round(np.sqrt(pixels / shape))
        if part[0] <= width and part[1] <= height:
            return _cut(src, _anywhere(space, part), size, interp)
    return center_crop(src, size, interp)


@decides("color_normalize/values")
def color_normalize(src: NDArray, mean: Any, std: Any = None) -> NDArray:
    """``src``, from which ``mean`` is subtracted and which is divided by ``std``, in place; None leaves a step out.

    Raises:
        TypeError: ``mean`` or ``std`` is neither an NDArray nor a number.
    """
    changes: list[tuple[Callable[[Any, Any], Any], Any]] = [(isub, mean), (itruediv, std)]
    for change, number in changes:
        if number is not None:
            src = change(src, number)
    return src


# --- rotation --------------------------------------------------------------------------------------


def _angles(src: NDArray, degrees: Any) -> NDArray:
    """The angles of a batch of pictures."""
    if isinstance(degrees, NDArray):
        require(
            "imrotate/angles", degrees.shape == (src.shape[0],),
            f"{src.shape[0]} pictures need as many angles, an array of shape ({src.shape[0]},), not {degrees.shape}",
            ValueError,
        )
        return degrees
    require(
        "imrotate/angle", isinstance(degrees, numeric_types),
        f"the rotation angle of a batch is a number or an NDArray, not {type(degrees).__name__}", TypeError,
    )
    return nd.array([degrees] * src.shape[0])


@decides("imrotate/values")
def imrotate(src: NDArray, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """Rotate pictures: (channels, height, width), or a batch of them.

    Args:
        src: float32.
        rotation_degrees: an angle, or for a batch an NDArray with an angle for each picture.
        zoom_in: enlarge, so that no corner stays empty.
        zoom_out: shrink, so that nothing is lost.

    Raises:
        ValueError: both zooms are asked for, ``src`` has another number of axes, or angles are missing.
        TypeError: ``src`` is not float32, or the angle is no number.
    """
    require(
        "imrotate/zooms", not (zoom_in and zoom_out), "zoom_in and zoom_out exclude each other: give one", ValueError
    )
    require(
        "imrotate/type", src.dtype == np.float32,
        f"imrotate takes float32, not {np.dtype(src.dtype).name}; write src.astype('float32')", TypeError,
    )
    require(
        "imrotate/axes", src.ndim in (3, 4),
        f"imrotate takes (channels, height, width), or a batch of them, not {src.ndim} axes", ValueError,
    )
    if src.ndim == 3:
        require(
            "imrotate/angle", isinstance(rotation_degrees, numeric_types),
            f"the rotation angle of one picture is a number, not {type(rotation_degrees).__name__}", TypeError,
        )
        return _rotated(src.expand_dims(0), nd.array([rotation_degrees]), zoom_in, zoom_out)[0]
    return _rotated(src, _angles(src, rotation_degrees), zoom_in, zoom_out)


def _rotated(src: NDArray, degrees: NDArray, zoom_in: bool, zoom_out: bool) -> NDArray:
    """``src`` read at (x, y) = (u cos a - v sin a, u sin a + v cos a), where (u, v) is seen from the middle."""
    angle = (np.pi * degrees / 180).reshape((-1, 1, 1, 1))
    height, width = src.shape[2:]
    middle_v, middle_u = float(height - 1) / 2, float(width - 1) / 2
    u = nd.array(np.tile(np.arange(width, dtype=np.float32) - middle_u, (1, 1, height, 1)))
    v = nd.array(np.tile(np.arange(height, dtype=np.float32)[:, None] - middle_v, (1, 1, 1, width)))
    cosine, sine = nd.cos(angle), nd.sin(angle)
    x = nd.broadcast_mul(cosine, u) - nd.broadcast_mul(sine, v)
    y = nd.broadcast_mul(sine, u) + nd.broadcast_mul(cosine, v)
    grid = nd.concat(x / middle_u, y / middle_v, dim=1)
    if zoom_in or zoom_out:
        grid = nd.broadcast_mul(grid, _zoom(nd.abs(angle), nd.array([height]), nd.array([width]), zoom_out))
    return nd.BilinearSampler(src, grid)


def _zoom(angle: NDArray, h: NDArray, w: NDArray, out: bool) -> NDArray:
    """The factor of the coordinates at which the corners of a rotated picture touch its frame."""
    corner, diagonal = nd.arctan(h / w), nd.sqrt(h * h + w * w)
    both = [nd.broadcast_add(corner, angle), nd.broadcast_sub(corner, angle)]
    wide = nd.maximum(*(nd.abs(nd.broadcast_mul(diagonal, nd.cos(one))) for one in both))
    high = nd.maximum(*(nd.abs(nd.broadcast_mul(diagonal, nd.sin(one))) for one in both))
    if out:
        return nd.maximum(nd.broadcast_div(wide, w), nd.broadcast_div(high, h))
    return nd.minimum(nd.broadcast_div(w, wide), nd.broadcast_div(h, high))


@decides("imrotate/draws")
def random_rotate(
    src: NDArray, angle_limits: Sequence[float], zoom_in: bool = False, zoom_out: bool = False
) -> NDArray:
    """Rotate each picture by an angle that ``numpy.random.uniform`` draws between the two limits.

    Args:
        src: a picture, or a batch of them, as for :func:`imrotate`.
        angle_limits: the least and the greatest angle.
        zoom_in, zoom_out: as for :func:`imrotate`.
    """
    low, high = angle_limits
    if src.ndim == 3:
        return imrotate(src, np.random.uniform(low, high), zoom_in, zoom_out)  # noqa: NPY002  # MXNet's stream
    angles = nd.array(np.random.uniform(low, high, len(src)))  # noqa: NPY002  # MXNet's stream
    return imrotate(src, angles, zoom_in, zoom_out)


__all__ = [
    "center_crop", "color_normalize", "copyMakeBorder", "fixed_crop", "imdecode", "imread", "imresize", "imrotate",
    "random_crop", "random_rotate", "random_size_crop", "resize_short", "scale_down",
]
