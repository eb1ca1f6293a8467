"""Headers and pictures in records: bytes that MXNet 1.9.1 made, round trips, refusals."""

from __future__ import annotations

import io
import struct
import sys

import numpy as np
import pytest

import refimpl as mx
from refimpl.recordio import IRHeader, pack, pack_img, unpack, unpack_img

# --- headers --------------------------------------------------------------------------------------

# MXNet 1.9.1: mx.recordio.pack(HEADER, b"body").hex()
PACKED = [
    (IRHeader(0, 4.0, 2574, 0), "00000000000080400e0a0000000000000000000000000000626f6479"),
    (IRHeader(9, 4, 1, 2), "000000000000804001000000000000000200000000000000626f6479"),
    (IRHeader(0, [1, 2, 3], 7, 9),
     "0300000000000000070000000000000009000000000000000000803f0000004000004040626f6479"),
    (IRHeader(3, np.array([1, 2.5]), 7, 9), "0200000000000000070000000000000009000000000000000000803f00002040626f6479"),
    (IRHeader(0, np.float32(4), 2**63, 2**64 - 1), "00000000000080400000000000000080ffffffffffffffff626f6479"),
    (IRHeader(0, [], 1, 2), "000000000000000001000000000000000200000000000000626f6479"),
]


@pytest.mark.clause("RecordIO/pack")
@pytest.mark.parametrize(("header", "packed"), PACKED)
def test_headers_are_those_of_mxnet(header: IRHeader, packed: str) -> None:
    content = bytes.fromhex(packed)
    assert pack(header, b"body") == pack(tuple(header), b"body") == content
    again, body = unpack(content)
    assert body == b"body"
    count = np.size(header.label) if isinstance(header.label, (list, np.ndarray)) else 0
    assert (again.flag, again.id, again.id2) == (count, header.id, header.id2)
    assert np.array_equal(again.label, header.label if np.size(header.label) else 0.0)


@pytest.mark.clause("RecordIO/bytes")
def test_what_follows_a_header_is_bytes() -> None:
    with pytest.raises(TypeError):
        pack(IRHeader(0, 1.0, 1, 2), "text")


@pytest.mark.clause("RecordIO/pack")
def test_labels_from_an_array_of_this_library() -> None:
    header, body = unpack(pack(IRHeader(0, mx.nd.array([1, 2]), 0, 0), b"x"))
    assert (header.label.tolist(), header.label.dtype, body) == ([1, 2], np.float32, b"x")


@pytest.mark.clause("RecordIO/header")
@pytest.mark.parametrize("content", [b"", b"abc", struct.pack("<IfQQ", 3, 0, 1, 2) + bytes(11), b"\xff" * 24])
def test_a_short_header_is_refused(content: bytes) -> None:
    with pytest.raises(mx.MXNetError, match="header"):
        unpack(content)


@pytest.mark.clause("RecordIO/header-numbers")
@pytest.mark.parametrize("wrong", [(0, 1.0, -1, 0), (0, 1.0, 1.5, 0), (0, 1.0, 0, 2**64), (0, 1j, 0, 0)])
def test_numbers_fit_their_place(wrong: tuple) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        pack(wrong, b"")


# --- pictures -------------------------------------------------------------------------------------

HEADER = IRHeader(0, 1.0, 2, 3)


def picture() -> np.ndarray:
    """Blue above red, 16 rows of 8."""
    pixels = np.zeros((16, 8, 3), np.uint8)
    pixels[:8], pixels[8:] = (255, 0, 0), (0, 0, 200)
    return pixels


@pytest.mark.clause("RecordIO/pictures")
def test_png_keeps_every_pixel_blue_first() -> None:
    image = pytest.importorskip("PIL.Image")
    content = pack_img(HEADER, picture(), 3, ".png")
    header, found = unpack_img(content)
    assert header == HEADER
    assert np.array_equal(found, picture())
    pixel = np.asarray(image.open(io.BytesIO(unpack(content)[1])))[0, 0]
    assert pixel.tolist() == [0, 0, 255]  # Pillow has red first
    assert unpack_img(content, 0)[1].shape == (16, 8)
    grey = pack_img(HEADER, picture()[:, :, 0], 9, ".png")
    assert [unpack_img(grey, c)[1].shape for c in (-1, 0, 1)] == [(16, 8), (16, 8), (16, 8, 3)]


@pytest.mark.clause("RecordIO/pictures")
def test_jpeg_is_near() -> None:
    pytest.importorskip("PIL")
    found = unpack_img(pack_img(HEADER, mx.nd.array(picture(), dtype="uint8"), quality=100))[1]
    assert found.dtype == np.uint8
    # colours bleed where two meet
    assert np.abs(found.astype(int) - picture())[[0, -1]].max() <= 4


@pytest.mark.clause("RecordIO/picture")
@pytest.mark.parametrize("content", [b"", b"xxx", b"\x89PNG\r\n\x1a\n" + bytes(20), b"\xff\xd8\xff\xe0" + bytes(9)])
def test_what_is_no_picture_is_refused(content: bytes) -> None:
    pytest.importorskip("PIL")
    with pytest.raises(mx.MXNetError, match="no picture"):
        unpack_img(pack(HEADER, content))


@pytest.mark.clause("RecordIO/picture-format")
@pytest.mark.parametrize("options", [{"img_fmt": ".gif"}, {"quality": 101}, {"img_fmt": ".png", "quality": 95}])
def test_formats(options: dict) -> None:
    pytest.importorskip("PIL")
    with pytest.raises(ValueError, match=r"img_fmt|quality"):
        pack_img(HEADER, picture(), **options)


@pytest.mark.clause("RecordIO/picture-array")
@pytest.mark.parametrize("shape", [(0, 0), (3,), (2, 2, 2), (2, 2, 3, 1)])
def test_what_is_a_picture(shape: tuple) -> None:
    pytest.importorskip("PIL")
    with pytest.raises(ValueError, match="uint8 of shape"):
        pack_img(HEADER, np.zeros(shape, np.uint8))
    with pytest.raises(ValueError, match="float32"):
        pack_img(HEADER, np.zeros((2, 2), np.float32))


@pytest.mark.clause("RecordIO/pillow")
def test_without_pillow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"refimpl\[image\]"):
        unpack_img(pack(HEADER, b""))
    with pytest.raises(ImportError, match=r"refimpl\[image\]"):
        pack_img(HEADER, picture())
