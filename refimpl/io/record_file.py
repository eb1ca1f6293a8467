"""The records of a file of pictures: where each begins, which part of them is read, and what each holds."""

from __future__ import annotations

import os
import struct
from typing import Any, NamedTuple

import numpy as np

from ..base import MXNetError, decides, refusal, require
from ..files.reading import read_file
from ..recordio.image_records import decoded, decoded_plainly, unpack
from ..recordio.recordio import _FIRST, _LAST, _MAGIC, _MIDDLE, _WHOLE, MXIndexedRecordIO, MXRecordIO


class Sample(NamedTuple):
    """What a record holds: its number, its labels (float32, one axis) and the file of a picture."""

    number: int
    labels: np.ndarray
    content: bytes


@decides("ImageRecordIter/parts")
class RecordFile:
    """The records of one part of a file.

    Without an index, all n bytes are cut: part k of m has the records that begin at or after byte s * k and
    before s * (k + 1), s being ceil(n / m) rounded up to a multiple of 4. With one, the records are cut:
    s = ceil(records / m).

    Args:
        path: name of the file of records.
        index: name of its index, or an empty text.
        parts, part: the number of parts and which one.

    Raises:
        MXNetError: a file is missing or damaged, or the part has no record. The message names file and byte.
    """

    def __init__(self, path: str | os.PathLike, index: str | os.PathLike, parts: int, part: int) -> None:
        self.path = path
        self._file = MXRecordIO(path, "r")
        self._size = self._file._size()
        if index:
            places = self._indexed(index)
            step = -(-len(places) // parts)
            self.places = places[step * part : step * (part + 1)]
        else:
            step = -(-self._size // parts)
            step += -step % 4
            self.places = [place for place in self._all() if step * part <= place < step * (part + 1)]
        which = f"in part {part} of {parts}" if parts > 1 else "in it"
        require("ImageRecordIter/empty", self.places, f'"{path}" has no record {which}')

    def __len__(self) -> int:
        return len(self.places)

    def _head(self, place: int) -> tuple[int, int]:
        """(kind of the part of a record that begins here, the byte behind it); kind -1 where none begins."""
        head = self._file._head(place)
        mark, word = struct.unpack("<II", head) if len(head) == 8 else (0, 0)
        kind, length = word >> 29, word & (1 << 29) - 1
        behind = place + 8 + length + -length % 4
        return (kind if mark == _MAGIC and behind <= self._size else -1), behind

    def _all(self) -> list[int]:
        """The byte at which each record begins. Heads are looked at, so damage is found now and not in an epoch."""
        places: list[int] = []
        place = 0
        while place < self._size:
            places.append(place)
            kind, behind = self._head(place)
            while kind in (_FIRST, _MIDDLE):
                kind, behind = self._head(behind)
                kind = kind if kind in (_MIDDLE, _LAST) else -1
            if kind not in (_WHOLE, _LAST):
                self._file._here().seek(place)
                self._file.read()  # says what is wrong
            place = behind
        return places

    def _indexed(self, index: str | os.PathLike) -> list[int]:
        try:
            opened = MXIndexedRecordIO(index, self.path, "r")
        except FileNotFoundError as error:
            raise refusal("ImageRecordIter/index", str(error)) from None
        named = sorted(opened.idx.values())
        opened.close()
        for place in named:
            require(
                "ImageRecordIter/index", place >= 0 and self._head(place)[0] in (_WHOLE, _FIRST),
                f'"{index}" says that a record begins at byte {place} of "{self.path}", but no whole one does',
            )
        return named

    def sample(self, row: int) -> Sample:
        """What record ``row`` of this part holds."""
        handle = self._file._here(reopen=True)
        handle.seek(self.places[row])
        try:
            header, content = unpack(self._file.read() or b"")
        except MXNetError as error:
            raise self.refused(row, error) from None
        return Sample(int(header.id), np.atleast_1d(np.asarray(header.label, np.float32)), content)

    def picture(self, row: int, sample: Sample, channels: int) -> np.ndarray:
        """The picture of a record: uint8 of shape (height, width, channels), red first."""
        try:
            if channels != 4:
                return decoded_plainly(sample.content, channels == 3, upright=True)
            pixels = decoded(sample.content, -1)
        except MXNetError as error:
            raise self.refused(row, error) from None
        pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
        require(
            "ImageRecordIter/channels", pixels.shape[2] == channels,
            f'"{self.path}", byte {self.places[row]}: the picture has {pixels.shape[2]} channels, data_shape wants'
            f" {channels}",
        )
        return pixels[:, :, [2, 1, 0, 3]]

    def place(self, row: int) -> str:
        """Where a record stands, for messages."""
        return f'"{self.path}", byte {self.places[row]}'

    def refused(self, row: int, error: Any) -> Exception:
        """The refusal of one record."""
        return refusal("ImageRecordIter/record", f"{self.place(row)}: {error}")


@decides("ImageRecordIter/labels")
def read_list(path: str | os.PathLike) -> dict[int, np.ndarray]:
    """The labels of each record by its number, from lines ``number<tab>label<tab>...<tab>name``.

    Raises:
        MXNetError: the file cannot be read, or a line is something else. The message names file and line.
    """
    labels: dict[int, np.ndarray] = {}
    try:
        content = read_file(path)
    except OSError as error:
        raise refusal("ImageRecordIter/list", f'cannot open "{path}": {error.strerror}') from None
    for number, line in enumerate(content.splitlines(), start=1):
        cells = line.strip().split(b"\t")
        if cells == [b""]:
            continue
        try:
            key, values = int(cells[0]), np.array([float(cell) for cell in cells[1:-1]], np.float32)
        except ValueError:
            key, values = 0, np.zeros(0, np.float32)
        require(
            "ImageRecordIter/list", values.size,
            f'"{path}", line {number}: {line[:40].decode("utf-8", "replace")!r} is not number, labels and name with'
            " tabs between them",
        )
        labels[key] = values
    return labels


__all__ = ["RecordFile", "Sample", "read_list"]
