"""MNISTIter: batches out of a pair of idx-ubyte files."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from ..base import decides, refusal, require
from ..log import LOG
from ..ndarray import NDArray, array
from ..ndarray.undo import delivered
from .idx import IMAGES, LABELS, read_idx
from .iterator import DataBatch, DataDesc, MXDataIter
from .shuffling import shuffled, stream_of

# Accepted for old scripts, without effect: they steer threads, devices or shapes that do not exist here.
WITHOUT_EFFECT = {"prefetch_buffer", "ctx", "data_shape", "input_shape"}


class MNISTIter(MXDataIter):
    """Images and labels of MNIST or of any data set in the same format, plain or gzipped.

    Args:
        image, label: names of the two files.
        batch_size: images in each batch; a last batch that is not full is dropped.
        shuffle: permute the images once, when the iterator is made.
        flat: deliver ``(batch_size, rows * columns)`` instead of ``(batch_size, 1, rows, columns)``.
        seed: of the permutation; the order is MXNet's.
        silent: write no line about what was loaded.
        num_parts, part_index: cut the data set into parts and read the one of this number.
        dtype: None or "float32", which is what is delivered.
        data_name, label_name: names in the descriptions.

    Data are pixels / 256, so that they lie in 0 to 1 (float32); labels are float32 numbers.

    Raises:
        MXNetError: a file is missing, damaged or not of its kind; there are not as many labels as
            images; or an argument is out of range. Nothing is read past a bad header.
    """

    @decides("MNISTIter/pixels", "MNISTIter/flat", "MNISTIter/parts")
    def __init__(
        self, image: str | os.PathLike = "./train-images-idx3-ubyte",
        label: str | os.PathLike = "./train-labels-idx1-ubyte",
        batch_size: int = 128, shuffle: bool = True, flat: bool = False, seed: int = 0,
        silent: bool = False, num_parts: int = 1, part_index: int = 0, dtype: Any = None,
        data_name: str = "data", label_name: str = "softmax_label", **others: Any,
    ) -> None:
        super().__init__(_integer("batch_size", batch_size, least=1))
        unknown = sorted(set(others) - WITHOUT_EFFECT)
        if unknown:
            warnings.warn(f"MNISTIter ignores unknown arguments: {', '.join(unknown)}", stacklevel=2)
        require(
            "MNISTIter/dtype", dtype in (None, "None", "float32", np.float32),
            f"MNISTIter delivers float32 and cannot make {dtype!r}; convert the batches instead",
        )
        images, labels = read_idx(image, IMAGES), read_idx(label, LABELS)
        require(
            "MNISTIter/counts", len(images) == len(labels),
            f'"{image}" holds {len(images)} images (byte 4) but "{label}" holds {len(labels)} labels'
            " (byte 4); give the two files of one set",
        )
        parts = _integer("num_parts", num_parts, least=1)
        part = _integer("part_index", part_index, least=0)
        require(
            "MNISTIter/argument", part < parts,
            f"part_index must be less than num_parts, {parts}, got {part}",
        )
        first, end = (int(len(images) / parts * which) for which in (part, part + 1))
        self._order = np.arange(first, end if part + 1 < parts else len(images), dtype=np.uint64)
        require(
            "MNISTIter/batch-size", self.batch_size <= len(self._order),
            f"batch_size {self.batch_size} is more than the {len(self._order)} images to deliver",
        )
        number = _integer("seed", seed)
        if _flag("shuffle", shuffle):
            self._order = self._order[permutation(len(self._order), number)]
        self._images = images.reshape(len(images), 1, *images.shape[1:])
        if _flag("flat", flat):
            self._images = images.reshape(len(images), -1)
        self._labels = labels
        self._cursor = -self.batch_size
        batch = (self.batch_size, *self._images.shape[1:])
        self.provide_data = [DataDesc(data_name, batch)]
        self.provide_label = [DataDesc(label_name, (self.batch_size,))]
        if not _flag("silent", silent):
            LOG.info(
                "MNISTIter: load %d images, shuffle=%d, shape=[%s]", len(self._order),
                _flag("shuffle", shuffle), ",".join(map(str, batch)),
            )

    def reset(self) -> None:
        """Go back to before the first batch; the order stays."""
        self._cursor = -self.batch_size

    @decides("MNISTIter/full-batches")
    def iter_next(self) -> bool:
        """Step to the next full batch; False when there is none."""
        self._cursor += self.batch_size
        return self._cursor + self.batch_size <= len(self._order)

    def next(self) -> DataBatch:
        """Return the next batch; StopIteration at the end."""
        return delivered(self, self._step)  # type: ignore[no-any-return]  # what the step returns

    def _step(self) -> DataBatch:
        if self.iter_next():
            return DataBatch(
                data=[self.getdata()], label=[self.getlabel()], pad=self.getpad(), index=self.getindex()
            )
        raise StopIteration

    def getdata(self) -> NDArray:
        """Images of the current batch: float32 in 0 to 1, of the shape in ``provide_data``."""
        return array(self._images[self.getindex()].astype(np.float32) * np.float32(1 / 256))

    def getlabel(self) -> NDArray:
        """Labels of the current batch: float32 of shape ``(batch_size,)``."""
        return array(self._labels[self.getindex()].astype(np.float32))

    def getindex(self) -> np.ndarray:
        """Positions of the current images in the file: uint64 of shape ``(batch_size,)``."""
        start, stop = self._cursor, self._cursor + self.batch_size
        require(
            "MNISTIter/no-batch", start >= 0 and stop <= len(self._order),
            "there is no current batch: call next() first, or reset() at the end",
        )
        return self._order[start:stop]

    def getpad(self) -> int:
        """Always 0: every batch is full."""
        return 0


@decides("MNISTIter/order")
def permutation(count: int, seed: int) -> np.ndarray:
    """MXNet's order of ``count`` images, see :func:`~refimpl.io.shuffling.shuffled`."""
    return shuffled(np.arange(count), stream_of(seed))


def _integer(name: str, value: Any, least: int | None = None) -> int:
    """An integer, also from text, as MXNet reads arguments."""
    try:
        number = int(value) if isinstance(value, (str, int, np.integer)) else None
    except ValueError:
        number = None
    if number is None or (least is not None and number < least):
        wanted = "an integer" if least is None else f"an integer of {least} or more"
        raise refusal("MNISTIter/argument", f"MNISTIter: {name} must be {wanted}, got {value!r}")
    return number


def _flag(name: str, value: Any) -> bool:
    """A truth value, also from text, as MXNet reads arguments."""
    known = {"true": True, "1": True, "false": False, "0": False}
    word = str(value).lower()
    require(
        "MNISTIter/argument", word in known, f"MNISTIter: {name} must be True or False, got {value!r}"
    )
    return known[word]


__all__ = ["MNISTIter", "permutation"]
