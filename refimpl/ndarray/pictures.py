"""Decoding of images: imdecode, and _cvimdecode and _cvimread, which are no operators: the file decides the shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import decides, refusal, require
from ..files.reading import read_file
from ..recordio.image_records import decoded_plainly
from .creation import array
from .ndarray import NDArray

_WORDS = {"true": True, "1": True, "false": False, "0": False}


def _told(name: str, flag: Any, to_rgb: Any, others: dict[str, Any]) -> tuple[bool, bool]:
    """(colours, red first), read from the arguments ``flag`` and ``to_rgb`` of the function ``name``."""
    require("imdecode/argument", not others, f"Cannot find argument {sorted(others)}; {name} takes flag and to_rgb")
    try:
        number = int(flag)
    except (TypeError, ValueError):
        number = -1
    require(
        "imdecode/argument", number in (0, 1), f"flag of {name} is 0 (grey) or 1 (colours), not {flag!r}",
    )
    word = str(to_rgb).lower()
    require("imdecode/argument", word in _WORDS, f"to_rgb of {name} is True or False, not {to_rgb!r}")
    return bool(number), _WORDS[word]


def _delivered(content: bytes, color: bool, red_first: bool, out: NDArray | None) -> NDArray:
    pixels = decoded_plainly(content, color)
    if color and not red_first:
        pixels = pixels[:, :, ::-1]
    if out is None:
        return array(pixels, dtype="uint8")
    require(
        "imdecode/out", out.shape == pixels.shape and out.dtype == np.uint8,
        f"the picture is uint8 of shape {pixels.shape}, out is {np.dtype(out.dtype).name} of {out.shape}",
    )
    out[:] = array(pixels, dtype="uint8")
    return out


def _cvimdecode(
    buf: Any = None, flag: Any = 1, to_rgb: Any = True, out: NDArray | None = None,
    name: Any = None,  # noqa: ARG001  # taken by every function of MXNet
    **kwargs: Any,
) -> NDArray:
    """Decode a picture: uint8 of shape (height, width, 3), red first, or (height, width, 1).

    Args:
        buf: the content of the file, a uint8 NDArray.
        flag: 1 for colours, 0 for grey.
        to_rgb: whether red comes first; False puts blue first.
        out: the uint8 array that receives the picture.
        name: without effect.
        kwargs: refused.

    Raises:
        MXNetError: ``buf`` holds no picture, or an argument is unknown or has a wrong value.
        ImportError: Pillow is not installed.
    """
    color, red_first = _told("_cvimdecode", flag, to_rgb, kwargs)
    if not isinstance(buf, NDArray):
        raise refusal(
            "imdecode/array", f"Argument buf must have NDArray type, but got {type(buf).__name__}", AssertionError
        )
    require("imdecode/picture", buf.dtype == np.uint8, f"buf must be uint8, not {np.dtype(buf.dtype).name}")
    require("imdecode/picture", buf.size > 0, "Input cannot be an empty buffer")
    return _delivered(buf.asnumpy().tobytes(), color, red_first, out)


@decides("imread/file")
def _cvimread(
    filename: Any = None, flag: Any = 1, to_rgb: Any = True, out: NDArray | None = None,
    name: Any = None,  # noqa: ARG001  # as above
    **kwargs: Any,
) -> NDArray:
    """Read and decode a file; the arguments beside ``filename`` are those of :func:`_cvimdecode`.

    Raises:
        MXNetError: the file cannot be read or holds no picture, or an argument is unknown or has a wrong value.
        ImportError: Pillow is not installed.
    """
    color, red_first = _told("_cvimread", flag, to_rgb, kwargs)
    require("imdecode/argument", filename is not None, "Required parameter filename is not presented; give it")
    try:
        content = read_file(str(filename))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise refusal("imread/file", f"'{filename}' couldn't open file: {reason}") from None
    require("imdecode/picture", content, f"'{filename}' is empty")
    return _delivered(content, color, red_first, out)


@decides("nd/imdecode")
def imdecode(
    str_img: bytes, clip_rect: tuple[int, int, int, int] = (0, 0, 0, 0), out: NDArray | None = None, index: int = 0,
    channels: int = 3, mean: NDArray | None = None,
) -> NDArray:
    """Decode a picture: float32 of shape (channels, height, width), red first.

    Args:
        str_img: the content of the file.
        clip_rect: (left, top, right, bottom) of the part to take, right and bottom excluded; zeros take all.
        out: the array that receives the picture: (channels, height, width), or (n, channels, height, width).
        index: the number of the picture of ``out`` that is written.
        channels: 3 for colours, 1 for grey.
        mean: an array (channels, height, width) that is subtracted from the picture.

    Raises:
        MXNetError: ``str_img`` holds no picture, or an argument does not fit it.
        ImportError: Pillow is not installed.
    """
    require("nd/imdecode", channels in (1, 3), f"channels must be 1 or 3, not {channels!r}")
    require("imdecode/picture", isinstance(str_img, bytes) and str_img, "str_img must be the bytes of a picture's file")
    pixels = decoded_plainly(str_img, channels == 3)
    left, top, right, bottom = clip_rect
    if any(clip_rect):
        height, width = pixels.shape[:2]
        require(
            "nd/imdecode", 0 <= left < right <= width and 0 <= top < bottom <= height,
            f"clip_rect {tuple(clip_rect)} does not lie in a picture of width {width} and height {height}",
        )
        pixels = pixels[top:bottom, left:right]
    picture = array(np.ascontiguousarray(pixels.transpose(2, 0, 1)), dtype="float32")
    if mean is not None:
        require("nd/imdecode", mean.shape == picture.shape, f"mean has shape {mean.shape}, not {picture.shape}")
        picture = picture - mean
    if out is None:
        return picture
    require(
        "nd/imdecode", out.shape[-3:] == picture.shape and (len(out.shape) == 3 or 0 <= index < out.shape[0]),
        f"a picture {picture.shape} is no picture {index} of out, which has shape {out.shape}",
    )
    if len(out.shape) == 3:
        out[:] = picture
    else:
        out[index] = picture
    return out


__all__ = ["_cvimdecode", "_cvimread", "imdecode"]
