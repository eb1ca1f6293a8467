"""CSVIter: batches out of files of numbers between commas, one sample to a line."""

from __future__ import annotations

import os
from math import prod
from typing import Any

import numpy as np

from ..base import decides, refusal, require
from ..kernels.foundation import reserving
from .arguments import Arguments
from .iterator import DataDesc
from .rounds import RoundIter
from .text_lines import bad_cell, lines_of, numbers

# Accepted for old scripts, without effect: they steer threads and devices that do not exist here.
WITHOUT_EFFECT = {"prefetch_buffer", "ctx"}
TYPES = {"None": np.float32, "float32": np.float32, "int32": np.int32, "int64": np.int64}


class CSVIter(RoundIter):
    """Samples out of a CSV file, and labels out of another one.

    Args:
        data_csv: a file, a folder (its files by name), or several files between ``;``.
        data_shape: of one sample; a line has as many numbers.
        batch_size: samples in a batch.
        label_csv: likewise for labels; None or "NULL": all labels are 0.
        label_shape: of one label; ``(1,)`` gives labels of shape ``(batch_size,)``.
        round_batch: let the last batch take what it lacks from the next round.
        dtype: float32 (also for None), int32 or int64, of data and labels.
        data_name, label_name: names in the descriptions.

    Everything is read when the iterator is made.

    Raises:
        MXNetError: a file is missing, a line has another count of numbers or something that is none, or there
            are fewer labels than samples. The message names the file and the line.
    """

    @decides("CSVIter/labels")
    def __init__(
        self, *, data_csv: str | os.PathLike | None = None, data_shape: Any = None, batch_size: Any = None,
        label_csv: str | os.PathLike | None = None, label_shape: Any = (1,), round_batch: Any = True,
        dtype: Any = None, data_name: str = "data", label_name: str = "softmax_label", **others: Any,
    ) -> None:
        read = Arguments("CSVIter")
        read.unknown(others, WITHOUT_EFFECT)
        read.required(data_csv=data_csv, data_shape=data_shape, batch_size=batch_size)
        assert data_csv is not None
        rows = read.integer("batch_size", batch_size, 1)
        shape, label_dims = read.shape("data_shape", data_shape), read.shape("label_shape", label_shape)
        kind = _dtype(dtype)
        self._data = _read(data_csv, shape, kind)
        if label_csv in (None, "NULL"):
            with reserving((len(self._data), *label_dims), kind):
                self._labels = np.zeros((len(self._data), *label_dims), kind)
        else:
            assert label_csv is not None
            self._labels = _read(label_csv, label_dims, kind)
            require(
                "CSVIter/counts", len(self._labels) >= len(self._data),
                f'"{label_csv}" has {len(self._labels)} labels but "{data_csv}" has {len(self._data)} samples;'
                " give each sample a line of labels",
            )
        if label_dims == (1,):
            self._labels = self._labels.reshape(-1)
        super().__init__(
            rows, len(self._data), DataDesc(data_name, (rows, *shape), kind.type),
            DataDesc(label_name, (rows, *self._labels.shape[1:]), kind.type),
            round_batch=read.flag("round_batch", round_batch),
        )

    def _rows(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        return self._data[rows], self._labels[rows]


def _dtype(dtype: Any) -> np.dtype:
    name = dtype if isinstance(dtype, str) else "None" if dtype is None else np.dtype(dtype).name
    require(
        "CSVIter/dtype", name in TYPES,
        f"CSVIter delivers float32, int32 or int64 and cannot make {name!r}; convert the batches instead",
    )
    return np.dtype(TYPES[name])


@decides("CSVIter/values")
def _read(name: str | os.PathLike, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """All lines of a file as an array of shape (lines, *shape)."""
    count, found = prod(shape), []
    for file, number, text, _ in lines_of("CSVIter", name):
        cells = text.split(b",")
        if len(cells) == count + 1 and not cells[-1].strip():
            del cells[-1]
        if len(cells) != count:
            raise refusal(
                "CSVIter/width", f'"{file}", line {number}: {len(cells)} numbers, but a sample of shape {shape} has'
                f" {count}",
            )
        values = numbers(cells, dtype)
        if values is None:
            raise refusal(
                "CSVIter/number", f'"{file}", line {number}: {bad_cell(cells, dtype)} is no {dtype.name} number'
            )
        found.append(values)
    return np.array(found, dtype).reshape(len(found), *shape)


__all__ = ["CSVIter"]
