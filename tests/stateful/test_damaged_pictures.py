"""Damaged pictures and record files end in refusals of MXNet's types, and nothing else.

The long lane draws 2,000 of them (about two minutes); REFIMPL_SEED chooses others.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.recordio import IRHeader, MXIndexedRecordIO, pack
from tests.unit.picture_records import needs_pillow, picture

SEED = int(os.environ.get("REFIMPL_SEED", "18"))
KINDS = ("PNG", "JPEG", "BMP", "TIFF", "GIF", "PPM", "WEBP")


def whole(kind: str) -> bytes:
    """The file of a picture."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture(20, 30)).save(file, kind)
    return file.getvalue()


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Cut, overwritten, doubled or moved in places; the first bytes, where sizes stand, most of all."""
    made = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        end = len(made) if rng.integers(2) else min(len(made), 64)
        place = int(rng.integers(0, max(end, 1)))
        what = int(rng.integers(5))
        if what == 0:
            made = made[:place]
        elif what == 1:
            made[place : place + 4] = bytes(rng.choice([0, 1, 127, 128, 255], 4).astype(np.uint8))
        elif what == 2:
            made[place : place + 1] = bytes([int(rng.integers(256))])
        elif what == 3:
            made[place:place] = made[place : place + int(rng.integers(1, 40))]
        else:
            del made[place : place + int(rng.integers(1, 40))]
    return bytes(made)


def readings(folder: Path, content: bytes, records: bytes) -> Iterator[Callable[[], Any]]:
    """Every way of reading a damaged picture, alone and in a record, and a damaged file of records."""
    yield lambda: mx.image.imdecode(content)
    yield lambda: mx.image.imdecode(content, 0)
    file = MXIndexedRecordIO(str(folder / "one.idx"), str(folder / "one.rec"), "w")
    file.write_idx(0, pack(IRHeader(0, 1.0, 0, 0), content))
    file.close()
    (folder / "many.rec").write_bytes(records)
    for name in ("one.rec", "many.rec"):
        path = str(folder / name)
        yield lambda path=path: list(mx.image.ImageIter(1, (3, 8, 8), path_imgrec=path))
        yield lambda path=path: list(mx.io.ImageRecordIter(
            path_imgrec=path, data_shape=(3, 8, 8), batch_size=1, max_rotate_angle=20, random_h=3, inter_method=2
        ))
        yield lambda path=path: list(mx.io.ImageDetRecordIter(path_imgrec=path, data_shape=(3, 8, 8), batch_size=1))


def search(folder: Path, count: int, seed: int) -> tuple[int, int]:
    """(calls that were refused, calls that gave pictures) of ``count`` damaged pictures and files."""
    rng, refused, read = np.random.default_rng(seed), 0, 0
    files = {kind: whole(kind) for kind in KINDS}
    label = [2.0, 5.0, 1.0, 0.1, 0.1, 0.5, 0.5]
    file = MXIndexedRecordIO(str(folder / "all.idx"), str(folder / "all.rec"), "w")
    for number, content in enumerate(list(files.values())[:3]):
        file.write_idx(number, pack(IRHeader(0, label if number else 1.0, number, 0), content))
    file.close()
    records = (folder / "all.rec").read_bytes()
    for _ in range(count):
        content = damaged(files[str(rng.choice(KINDS))], rng)
        for call in readings(folder, content, damaged(records, rng)):
            try:
                call()
                read += 1
            except (mx.MXNetError, ValueError, RuntimeError) as error:
                assert getattr(error, "clause", None), f"{type(error).__name__}: {error}"
                refused += 1
    return refused, read


@needs_pillow
@pytest.mark.clause("imdecode/picture", "imdecode/size", "ImageRecordIter/record", "ImageIter/picture")
@pytest.mark.parametrize("count", [20, pytest.param(2000, marks=pytest.mark.long)])
def test_damage_is_refused(count: int, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow's, of damage that it reads over
        refused, read = search(tmp_path, count, SEED)
    assert refused > 3 * count
    assert read > count / 2
