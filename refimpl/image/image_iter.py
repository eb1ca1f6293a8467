"""ImageIter: batches of pictures, from a file of records or a list of files, changed by augmenters on the way."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import MXNetError, decides, numeric_types, refusal, require
from ..files.reading import read_file
from ..io import DataBatch, DataDesc, DataIter
from ..kernels.foundation import reserving
from ..log import LOG
from ..ndarray import NDArray
from ..ndarray.undo import delivered
from ..recordio import MXIndexedRecordIO, MXRecordIO, unpack
from .creating import CreateAugmenter
from .image import imdecode

DTYPES = ("int32", "float32", "int64", "float64")
HANDLES = ("pad", "discard", "roll_over")


@decides("ImageIter/list")
def read_list(path: Any, dtype: str) -> dict[int, tuple[NDArray, str]]:
    """Labels and name of each file, from lines ``number<tab>label<tab>...<tab>name``.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is something else, or the file is no text.
    """
    try:
        text = read_file(path).decode("utf-8")
    except FileNotFoundError as error:
        raise refusal("ImageIter/file", f"{error.strerror}: '{path}'", FileNotFoundError) from None
    except OSError as error:
        raise refusal("ImageIter/file", f"{error.strerror}: '{path}'") from None
    except UnicodeDecodeError as error:
        raise refusal("ImageIter/list", f'"{path}" is no text in UTF-8 ({error})', ValueError) from None
    found: dict[int, tuple[NDArray, str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.strip().split("\t")
        try:
            key, labels = int(cells[0]), np.array([float(cell) for cell in cells[1:-1]], dtype)
        except (ValueError, OverflowError):
            key, labels = 0, np.zeros(0)
        require(
            "ImageIter/list", labels.size,
            f'"{path}", line {number}: {line[:40]!r} is not number, labels and name with tabs between them', ValueError,
        )
        found[key] = nd.array(labels, dtype=dtype), cells[-1]
    return found


def _listed(entries: Sequence[Any], dtype: str) -> dict[str, tuple[NDArray, Any]]:
    """Labels and name of each entry ``[label, ..., name]`` or ``[labels, name]``, by "1", "2", ..."""
    found = {}
    for number, entry in enumerate(entries, start=1):
        require(
            "ImageIter/list", isinstance(entry, (list, tuple)) and len(entry) >= 2,
            f"entry {number} of imglist is {entry!r}, expected [label, name] or [labels, name]", ValueError,
        )
        labels = entry[:-1] if len(entry) > 2 or isinstance(entry[0], numeric_types) else entry[0]
        try:
            values = np.array(labels, dtype).ravel()
        except (ValueError, TypeError):
            raise refusal("ImageIter/list", f"labels of entry {number} of imglist are {labels!r}", ValueError) from None
        found[str(number)] = nd.array(values, dtype=dtype), entry[-1]
    return found


class ImageIter(DataIter):
    """Batches of pictures: float32, shape ``(batch_size, 3, height, width)``, red first.

    Args:
        batch_size: pictures in a batch.
        data_shape: (3, height, width).
        label_width: labels of each picture; 1 gives labels of shape ``(batch_size,)``.
        path_imgrec: a file of records, or
        path_imglist: a list of files: lines ``number<tab>label<tab>...<tab>name``, or
        imglist: such a list in Python: ``[[label, name], ...]`` or ``[[labels, name], ...]``.
        path_root: the folder that names stand in.
        path_imgidx: the index of ``path_imgrec``; with it, labels of ``path_imglist`` replace those of the records.
        shuffle: a new order for every epoch, drawn by ``random.shuffle``.
        part_index, num_parts: read one of so many equal parts; what they leave over is not read.
        aug_list: augmenters; if None, those of ``CreateAugmenter(data_shape, **kwargs)``.
        data_name, label_name: names in the descriptions.
        dtype: the type of labels in lists: int32, int64, float32 or float64; batches are float32.
        last_batch_handle: "pad" fills the last batch with the first pictures of the epoch, "discard" leaves it out,
            "roll_over" begins the next epoch with it.
        kwargs: of CreateAugmenter.

    Raises:
        AssertionError: there is no source; a file of records is shuffled or cut into parts without its index; or an
            argument is out of range.
        ValueError: ``data_shape`` or a list is something else.
        MXNetError: a file of records cannot be opened or is damaged, or a picture cannot be decoded.
        FileNotFoundError: a list, index or picture is missing.
        ImportError: Pillow is not installed; it is asked for when a batch is read.
    """

    @decides("ImageIter/values")
    def __init__(
        self, batch_size: int, data_shape: Sequence[int], label_width: int = 1, path_imgrec: Any = None,
        path_imglist: Any = None, path_root: Any = None, path_imgidx: Any = None, shuffle: bool = False,
        part_index: int = 0, num_parts: int = 1, aug_list: Sequence[Any] | None = None,
        imglist: Sequence[Any] | None = None, data_name: str = "data", label_name: str = "softmax_label",
        dtype: str = "float32", last_batch_handle: str = "pad", **kwargs: Any,
    ) -> None:
        super().__init__(batch_size)
        require(
            "ImageIter/source", path_imgrec or path_imglist or isinstance(imglist, list),
            "give path_imgrec, path_imglist, or a list as imglist", AssertionError,
        )
        require(
            "ImageIter/dtype", dtype in DTYPES, f"labels are one of {', '.join(DTYPES)}, not {dtype}", AssertionError,
        )
        require(
            "ImageIter/last-batch", last_batch_handle in HANDLES,
            f"last_batch_handle is one of {', '.join(HANDLES)}, not {last_batch_handle!r}", AssertionError,
        )
        require(
            "ImageIter/batch-size", isinstance(batch_size, (int, np.integer)) and batch_size >= 1,
            f"batch_size is an integer of 1 or more, not {batch_size!r}",
        )
        self.check_data_shape(data_shape)
        self.data_shape, self.label_width = tuple(data_shape), label_width
        self.path_root, self.shuffle, self.last_batch_handle = path_root, shuffle, last_batch_handle
        self.imglist: dict[Any, tuple[NDArray, Any]] | None = None
        if path_imglist:
            self.imglist = dict(read_list(path_imglist, dtype))
        elif isinstance(imglist, list):
            self.imglist = dict(_listed(imglist, dtype))
        self.imgrec: MXRecordIO | None = None
        self.imgidx: list[Any] | None = None
        if path_imgrec and path_imgidx:
            indexed = MXIndexedRecordIO(path_imgidx, path_imgrec, "r")
            self.imgrec, self.imgidx = indexed, list(indexed.keys)
        elif path_imgrec:
            self.imgrec = MXRecordIO(path_imgrec, "r")
        self.seq = self._places(num_parts, part_index)
        self.num_image = None if self.seq is None else len(self.seq)
        self.auglist: Sequence[Any] = CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        label_shape = (batch_size, label_width) if label_width > 1 else (batch_size,)
        self.provide_data = [DataDesc(data_name, (batch_size, *self.data_shape))]
        self.provide_label = [DataDesc(label_name, label_shape)]
        self._kept: list[tuple[np.ndarray, np.ndarray]] = []
        self.reset()

    @decides("ImageIter/parts")
    def _places(self, parts: int, part: int) -> list[Any] | None:
        """Keys of the pictures to read, or None: those of the records, as they stand."""
        if self.imgrec is None:
            places = list(self.imglist or ())
        elif self.imgidx is not None:
            places = self.imgidx
        else:
            require(
                "ImageIter/index", not self.shuffle and parts == 1,
                "shuffle and num_parts need path_imgidx, the index of path_imgrec", AssertionError,
            )
            return None
        require(
            "ImageIter/part", parts >= 1 and 0 <= part < parts,
            f"part_index is 0 or more and less than num_parts: got {part} of {parts}", AssertionError,
        )
        size = len(places) // parts
        return places[part * size : (part + 1) * size] if parts > 1 else places

    # --- the protocol ---

    @decides("ImageIter/shuffle")
    def reset(self) -> None:
        """Begin the next epoch, with what "roll_over" has kept."""
        order = None if self.seq is None else list(self.seq)
        if order is not None and self.shuffle:
            random.shuffle(order)
        self.seq, self.cur, self._place, self._ended = order, 0, 0, False

    @decides("ImageIter/hard-reset")
    def hard_reset(self) -> None:
        """Begin the next epoch without what "roll_over" has kept."""
        self._kept = []
        self.reset()

    def next_sample(self) -> tuple[Any, bytes]:
        """(label, content) of the next picture.

        Raises:
            StopIteration: there is none left in this epoch.
        """
        if self.seq is None:
            return self._next_record()
        if self.cur >= len(self.seq):
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            assert self.imglist is not None
            label, name = self.imglist[key]
            return label, self.read_image(name)
        header, content = unpack(self.imgrec.read_idx(key) or b"")  # type: ignore[attr-defined]  # it has an index
        if self.imglist is None:
            return header.label, content
        require("ImageIter/list", key in self.imglist, f"record {key} is not in the list of labels", ValueError)
        return self.imglist[key][0], content

    def _next_record(self) -> tuple[Any, bytes]:
        assert self.imgrec is not None
        handle = self.imgrec._here(reopen=True)
        handle.seek(self._place)
        record = self.imgrec.read()
        if record is None:
            raise StopIteration
        self._place = handle.tell()
        self.cur += 1
        header, content = unpack(record)
        return header.label, content

    def next(self) -> DataBatch:
        """The next batch; one that fails is delivered by the next call.

        Raises:
            StopIteration: the epoch is over; ``reset`` begins the next one.
        """
        return delivered(self, self._next)  # type: ignore[no-any-return]  # what the step returns

    @decides("ImageIter/last-batch", "ImageIter/pad")
    def _next(self) -> DataBatch:
        if self._ended:
            raise StopIteration
        rows, kept = list(self._kept), len(self._kept)
        self._kept = []
        self._fill(rows)
        missing = self.batch_size - len(rows)
        if not missing:
            return self._batch(rows, self.batch_size - kept if kept else 0)
        self._ended = True
        if self.last_batch_handle == "roll_over":
            self._kept = rows
        if not rows or self.last_batch_handle != "pad":
            raise StopIteration
        while len(rows) < self.batch_size:
            self.cur, self._place = 0, 0
            before = len(rows)
            self._fill(rows)
            if len(rows) == before:  # everything is skipped now
                raise StopIteration
        return self._batch(rows, missing)

    def _fill(self, rows: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Append pictures and labels until the batch is full or the epoch over."""
        while len(rows) < self.batch_size:
            try:
                label, content = self.next_sample()
            except StopIteration:
                return
            row = self._row(label, content)
            if row is not None:
                rows.append(row)

    @decides("ImageIter/invalid")
    def _row(self, label: Any, content: bytes) -> tuple[np.ndarray, np.ndarray] | None:
        """(picture, labels) as a batch has them; None if the picture is to be skipped."""
        data = self.imdecode(content)
        try:
            self.check_valid_image([data])
        except RuntimeError as error:
            LOG.debug("a picture is left out: %s", error)
            return None
        return self._laid_out(self.augmentation_transform(data)), self._labels(label)

    def _laid_out(self, data: NDArray) -> np.ndarray:
        pixels = self.postprocess_data(data).asnumpy()
        require(
            "ImageIter/size", pixels.shape == self.data_shape,
            f"the augmenters made a picture of shape {pixels.shape}, data_shape is {self.data_shape}", ValueError,
        )
        return pixels

    @decides("ImageIter/labels")
    def _labels(self, label: Any) -> np.ndarray:
        values = np.asarray(label.asnumpy() if isinstance(label, NDArray) else label, np.float32).ravel()
        require(
            "ImageIter/label-width", values.size in (1, self.label_width),
            f"a picture has {values.size} labels, label_width is {self.label_width}", ValueError,
        )
        return values if self.label_width > 1 else values[0]  # type: ignore[no-any-return]  # a number

    def _batch(self, rows: list[tuple[np.ndarray, np.ndarray]], pad: int) -> DataBatch:
        made = []
        for place, desc in enumerate((self.provide_data[0], self.provide_label[0])):
            with reserving(desc.shape, np.float32):
                values = np.full(desc.shape, -1, np.float32)
            for row, parts in enumerate(rows):
                if values.ndim == 3 and place:  # objects
                    values[row, : len(parts[1])] = parts[1]
                else:
                    values[row] = parts[place]
            made.append(nd.array(values))
        return DataBatch(made[:1], made[1:], pad=pad)

    # --- what a subclass may change ---

    def check_data_shape(self, data_shape: Sequence[int]) -> None:
        """Refuse a shape other than (3, height, width).

        Raises:
            ValueError: it is another.
        """
        require(
            "ImageIter/data-shape", isinstance(data_shape, (tuple, list)) and len(data_shape) == 3,
            f"data_shape is (channels, height, width), not {data_shape!r}", ValueError,
        )
        require(
            "ImageIter/data-shape", data_shape[0] == 3 and min(data_shape) >= 1,
            f"data_shape has 3 channels, and sides of 1 or more, not {data_shape!r}", ValueError,
        )

    def check_valid_image(self, data: Sequence[NDArray]) -> None:
        """Refuse a picture that is to be skipped.

        Raises:
            RuntimeError: it has no axes.
        """
        require("ImageIter/invalid", len(data[0].shape) > 0, "the picture has no axes", RuntimeError)

    @decides("ImageIter/picture")
    def imdecode(self, s: bytes) -> NDArray:
        """Decode the content of a file: uint8 of shape (height, width, 3).

        Raises:
            MXNetError: it is no picture; the message names its file or record.
        """
        try:
            return imdecode(s)
        except (MXNetError, ValueError) as error:
            key = self.cur - 1 if self.seq is None else self.seq[self.cur - 1]
            named = self.imgrec is None and self.imglist is not None and key in self.imglist
            where = f"file {self.imglist[key][1]}" if named else f"record {key}"  # type: ignore[index]
            raise refusal("ImageIter/picture", f"the picture of {where} cannot be decoded: {error}") from None

    def read_image(self, fname: str) -> bytes:
        """The content of a file in ``path_root``.

        Raises:
            FileNotFoundError: there is no such file.
            MXNetError: it cannot be read.
        """
        path = Path(self.path_root or "") / str(fname)
        try:
            return read_file(path)
        except FileNotFoundError as error:
            raise refusal("ImageIter/file", f"{error.strerror}: '{path}'", FileNotFoundError) from None
        except OSError as error:
            raise refusal("ImageIter/file", f"{error.strerror}: '{path}'") from None

    def augmentation_transform(self, data: NDArray) -> NDArray:
        """The picture as the augmenters change it."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum: NDArray) -> NDArray:
        """The picture as a batch holds it: (channels, height, width)."""
        return nd.transpose(datum, axes=(2, 0, 1))


__all__ = ["ImageIter"]
