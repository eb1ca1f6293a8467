"""What data sets of pictures put into a record: a header with labels, then the file of a picture.

Pictures are arrays as OpenCV has them, (height, width, 3) in the order blue, green, red. Pillow reads and
writes their files; it is an extra.
"""

from __future__ import annotations

import io
import struct
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from ..base import decides, refusal, require

_FORMATS = {".jpg": "JPEG", ".jpeg": "JPEG", ".png": "PNG"}
_HEADER = struct.Struct("<IfQQ")


class IRHeader(NamedTuple):
    """What stands before a picture: ``flag`` labels (0: one, in the header itself), and two free numbers."""

    flag: int
    label: Any
    id: int
    id2: int


@decides("RecordIO/pack")
def pack(header: Any, s: bytes) -> bytes:
    """A record's content: the header (u32 flag, f32 label, u64 id, u64 id2), labels, then ``s``.

    A label that is a number stands in the header, and flag becomes 0. Several are written as float32 behind it,
    and flag becomes their count.

    Raises:
        TypeError: ``s`` holds no bytes.
        ValueError: a number does not fit its place.
    """
    flag, label, number, number2 = header
    if not isinstance(s, (bytes, bytearray, memoryview)):
        raise refusal("RecordIO/bytes", f"a record is bytes, not {type(s).__name__}", TypeError)
    labels = b""
    if isinstance(label, Number):
        flag = 0
    else:
        values = label.asnumpy() if hasattr(label, "asnumpy") else label
        values = np.ascontiguousarray(values, "<f4")
        flag, label, labels = values.size, 0, values.tobytes()
    try:
        return _HEADER.pack(flag, label, number, number2) + labels + bytes(s)
    except (struct.error, OverflowError, TypeError) as error:
        raise refusal(
            "RecordIO/header-numbers", f"header {tuple(header)!r}: label is a number, id and id2 are whole numbers"
            f" from 0 to 2^64 - 1 ({error})", ValueError,
        ) from None


@decides("RecordIO/pack")
def unpack(s: bytes) -> tuple[IRHeader, bytes]:
    """(header, the rest) of a record's content; several labels come as a float32 array.

    Raises:
        MXNetError: the content is shorter than its header says.
    """
    if len(s) < _HEADER.size:
        raise refusal("RecordIO/header", f"a header has {_HEADER.size} bytes, the record has {len(s)}")
    header = IRHeader(*_HEADER.unpack_from(s))
    rest = s[_HEADER.size :]
    if not header.flag:
        return header, rest
    if header.flag * 4 > len(rest):
        raise refusal(
            "RecordIO/header", f"the header promises {header.flag} labels of 4 bytes, {len(rest)} bytes follow"
        )
    labels = np.frombuffer(rest, "<f4", header.flag)
    return header._replace(label=labels), rest[header.flag * 4 :]


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[IRHeader, np.ndarray]:
    """(header, picture) of a record's content: uint8, (height, width, 3) in the order blue, green, red.

    Args:
        s: the content.
        iscolor: 1 three colours, 0 grey of shape (height, width), -1 as the file has it.

    Raises:
        ImportError: Pillow is not installed.
        MXNetError: the rest of the content is no picture.
    """
    header, rest = unpack(s)
    return header, decoded(rest, iscolor)


def pack_img(header: Any, img: np.ndarray, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """A record's content from a picture, uint8, (height, width, 3) in the order blue, green, red, or grey.

    Args:
        header: an IRHeader.
        img: the picture.
        quality: 1 to 100 for JPEG, 0 to 9 (how hard to compress) for PNG.
        img_fmt: ".jpg" or ".png".

    Raises:
        ImportError: Pillow is not installed.
        ValueError: the array is no picture, or the format is another.
    """
    return pack(header, encoded(img, quality, img_fmt))


# --- files of pictures -----------------------------------------------------------------------------


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise refusal(
            "RecordIO/pillow", "pictures need Pillow: pip install 'refimpl[image]'", ImportError
        ) from None
    return Image


@decides("RecordIO/pictures")
def decoded(content: bytes, iscolor: int = -1) -> np.ndarray:
    """The picture in ``content``: (height, width) when grey, else (height, width, 3 or 4), blue first.

    Raises:
        ImportError: Pillow is not installed.
        MXNetError: the content is no picture.
    """
    image_module = _pillow()
    damage = (OSError, ValueError, SyntaxError, struct.error, EOFError, image_module.DecompressionBombError)
    try:
        with image_module.open(io.BytesIO(content)) as picture:
            pixels = np.asarray(_converted(picture, iscolor))
    except damage as error:
        raise refusal("RecordIO/picture", f"the record holds no picture that can be read ({error})") from None
    if pixels.ndim == 2:
        return pixels
    return np.ascontiguousarray(pixels[:, :, [2, 1, 0, 3][: pixels.shape[2]]])


# OpenCV takes no picture with a longer side or more pixels.
MOST_ON_A_SIDE, MOST_PIXELS = 1 << 20, 1 << 30
# The shares of red, green and blue in grey, by the file format, and the number of bits that are cut off the sum.
_GREYS = {"PNG": (9797, 19234, 3737, 0, 15)}
_OTHER_GREYS = (4899, 9617, 1868, 1 << 13, 14)


@decides("imdecode/values", "imdecode/grey")
def decoded_plainly(content: bytes, color: bool, upright: bool = False) -> np.ndarray:
    """The picture in ``content`` as the file stores it, red first: uint8 (height, width, 3), or 1 for grey.

    ``upright`` turns it as the file says that the camera was held.

    Raises:
        ImportError: Pillow is not installed.
        MXNetError: the content is no picture, or a larger one than there can be.
    """
    image_module = _pillow()
    damage = (
        OSError, ValueError, SyntaxError, struct.error, EOFError, IndexError, KeyError, TypeError, OverflowError,
        MemoryError, image_module.DecompressionBombError, image_module.DecompressionBombWarning,
    )
    try:
        with image_module.open(io.BytesIO(content)) as picture:
            width, height = picture.size
            require(
                "imdecode/size", min(width, height) > 0 and max(width, height) <= MOST_ON_A_SIDE
                and width * height <= MOST_PIXELS,
                f"a picture of {height} times {width} pixels is too large: {MOST_ON_A_SIDE} pixels on a side, and"
                f" {MOST_PIXELS} in all, are the most",
            )
            return _plain(picture, color, upright)
    except damage as error:
        reason = str(error).partition(" <_io")[0]  # without the address of the buffer
        raise refusal(
            "imdecode/picture", f"buf is no picture that can be read ({reason})"
        ) from None


def _plain(picture: Any, color: bool, upright: bool) -> np.ndarray:
    from PIL import ImageOps

    kind = picture.format
    if kind == "JPEG" and not color and picture.mode != "CMYK":
        picture.draft("L", None)  # the brightness that the file stores
    if upright:
        picture = ImageOps.exif_transpose(picture)
    if picture.mode.startswith("I"):
        whole = np.asarray(picture).astype(np.int64)
        pixels = (whole >> 8).clip(0, 255).astype(np.uint8)[:, :, None]
        return pixels.repeat(3, 2) if color else pixels
    if picture.mode == "1":
        picture = picture.convert("L")
    elif picture.mode not in ("L", "RGB"):
        grey = picture.mode == "LA"
        if picture.mode == "P":
            picture = picture.convert("RGBA")
        picture = picture.convert("L" if grey else "RGB")
    pixels = np.asarray(picture)
    if pixels.ndim == 2:
        return pixels[:, :, None].repeat(3, 2) if color else pixels[:, :, None]
    if color:
        return pixels
    *shares, half, bits = _GREYS.get(kind, _OTHER_GREYS)
    return ((pixels.astype(np.int64) @ np.array(shares) + half) >> bits).astype(np.uint8)[:, :, None]


def _converted(picture: Any, iscolor: int) -> Any:
    """The picture with the channels that are asked for."""
    from PIL import ImageOps

    if iscolor < 0:
        if picture.mode in ("L", "RGB", "RGBA", "I;16"):
            return picture.copy()
        if picture.mode == "1":
            return picture.convert("L")
        transparent = picture.mode in ("LA", "PA") or "transparency" in picture.info
        return picture.convert("RGBA" if transparent else "RGB")
    upright = ImageOps.exif_transpose(picture)
    return upright.convert("RGB" if iscolor else "L")


@decides("RecordIO/pictures")
def encoded(img: Any, quality: int, img_fmt: str) -> bytes:
    """The file of a picture.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: the array is no picture, or the format or quality is not one of the known ones.
    """
    image_module = _pillow()
    kind = _FORMATS.get(str(img_fmt).lower())
    if kind is None:
        raise refusal("RecordIO/picture-format", f"img_fmt is .jpg, .jpeg or .png, not {img_fmt!r}", ValueError)
    least, most = (0, 9) if kind == "PNG" else (0, 100)
    if not least <= quality <= most:
        raise refusal(
            "RecordIO/picture-format", f"quality of {kind} lies between {least} and {most}, not {quality}", ValueError
        )
    pixels = img.asnumpy() if hasattr(img, "asnumpy") else np.asarray(img)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    channels = (3, 4) if kind == "PNG" else (3,)
    if pixels.dtype != np.uint8 or not pixels.size or not (
        pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in channels)
    ):
        raise refusal(
            "RecordIO/picture-array", f"a picture is uint8 of shape (height, width) or (height, width, 3), not"
            f" {pixels.dtype} of {pixels.shape}", ValueError,
        )
    if pixels.ndim == 3:
        pixels = np.ascontiguousarray(pixels[:, :, [2, 1, 0, 3][: pixels.shape[2]]])
    options = {"compress_level": quality} if kind == "PNG" else {"quality": quality}
    file = io.BytesIO()
    image_module.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


__all__ = ["IRHeader", "pack", "pack_img", "unpack", "unpack_img"]
