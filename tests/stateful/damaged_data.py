"""Damaged data sets: text, images, records and histories, read to their end."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import refimpl as mx
from refimpl.kvstore.histories import check
from refimpl.kvstore.history_events import History
from refimpl.recordio import IRHeader, MXIndexedRecordIO, MXRecordIO, pack_img

from .damage import Draw, damaged_bytes

FIXTURES = Path(__file__).parents[1] / "fixtures"
IMAGES = struct.pack(">IIII", 2051, 5, 3, 2) + bytes(range(30))
LABELS = struct.pack(">II", 2049, 5) + bytes(range(5))
TEXT = b"1,2\n3,4\n5,6.5\n-7e1,8\n9,10\n"
SPARSE = b"1 0:0.5 2:1\n0 1:2\n1 0:-1 1:3 2:0.25\n"
HISTORY = (
    b'{"workers": 2, "pushes": 2}\n{"worker": 0, "kind": "push", "key": "w", "push": 0}\n'
    b'{"worker": 1, "kind": "pull", "key": "w", "value": [[0, 0, 1, 0]]}\n{"worker": 0, "kind": "barrier"}\n'
)
LIST = b"0\t1\ta.png\n1\t2\tb.png\n2\t0\tc.png\n"


@cache
def pictures() -> tuple[bytes, bytes]:
    """(records, index) of three small pictures."""
    places, content = [], b""
    for number, (kind, label) in enumerate([(".png", 1.0), (".jpg", 2.0), (".png", [0.0, 3.0])]):
        pixels = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3) + number
        record = pack_img(IRHeader(0, label, number, 0), pixels, img_fmt=kind, quality=9 if kind == ".png" else 90)
        places.append(len(content))
        content += struct.pack("<II", 0xCED7230A, len(record)) + record + b"\0" * (-len(record) % 4)
    return content, b"".join(b"%d\t%d\n" % each for each in enumerate(places))


def _batches(iterator: Any) -> None:
    for batch in iterator:
        for array in [*batch.data, *batch.label]:
            array.asnumpy()


def _text(draw: Draw, file: str) -> None:
    kind = draw.choice(["float32", "int32", "int64"])
    _batches(mx.io.CSVIter(data_csv=file, data_shape=(2,), batch_size=2, dtype=kind))


def _sparse(draw: Draw, file: str) -> None:
    _batches(mx.io.LibSVMIter(data_libsvm=file, data_shape=(3,), batch_size=2))


def _mnist(draw: Draw, file: str) -> None:
    label = Path(file).with_suffix(".labels")
    label.write_bytes(LABELS)
    _batches(mx.io.MNISTIter(image=file, label=str(label), batch_size=2, silent=True))


def _images(draw: Draw, file: str) -> None:
    shape = (draw.choice([1, 3]), 4, 4)
    _batches(mx.io.ImageRecordIter(path_imgrec=file, data_shape=shape, batch_size=2, preprocess_threads=1))


def _labelled(draw: Draw, file: str) -> None:
    records = Path(file).with_suffix(".rec")
    records.write_bytes(pictures()[0])
    _batches(mx.io.ImageRecordIter(
        path_imgrec=str(records), path_imglist=file, data_shape=(3, 4, 4), batch_size=2, preprocess_threads=1
    ))


def _index(draw: Draw, file: str) -> None:
    records = Path(file).with_suffix(".rec")
    records.write_bytes(pictures()[0])
    reader = MXIndexedRecordIO(file, str(records), "r")
    try:
        for key in reader.keys:
            reader.read_idx(key)
    finally:
        reader.close()


def _records(draw: Draw, file: str) -> None:
    reader = MXRecordIO(file, "r")
    try:
        while (record := reader.read()) is not None:
            mx.recordio.unpack_img(record, draw.choice([-1, 0, 1]))
    finally:
        reader.close()


def _history(draw: Draw, file: str) -> None:
    check(History.load(file), draw.choice(["dist_sync", "dist_async"]))


READERS: list[tuple[Callable[[], bytes], Callable[[Draw, str], None]]] = [
    (lambda: TEXT, _text), (lambda: SPARSE, _sparse), (lambda: IMAGES, _mnist),
    (lambda: gzip.compress(IMAGES, mtime=0), _mnist), (lambda: pictures()[0], _images), (lambda: LIST, _labelled),
    (lambda: pictures()[1], _index), (lambda: pictures()[0], _records), (lambda: HISTORY, _history),
    (lambda: (FIXTURES / "mxnet-records.rec").read_bytes(), _records),
]


def data(draw: Draw, folder: Path) -> None:
    """One file of a data set, damaged and read to its end."""
    make, read = draw.choice(READERS)
    content = damaged_bytes(draw, make(), [other() for other, _ in READERS])
    (folder / "x.data").write_bytes(content)
    read(draw, str(folder / "x.data"))


DATA = data

__all__ = ["DATA"]
