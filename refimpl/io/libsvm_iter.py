"""LibSVMIter: csr batches from files that hold only the values that are not zero."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..base import decides, refusal, require
from ..ndarray import NDArray, sparse
from .arguments import Arguments
from .iterator import DataDesc
from .rounds import RoundIter
from .text_lines import TextLine, lines_of, numbers

# Accepted for old scripts, without effect: they steer threads and devices that do not exist here.
WITHOUT_EFFECT = {"prefetch_buffer", "ctx"}
FLOAT = np.dtype(np.float32)


class Table:
    """Samples as csr parts: ``values`` and ``columns`` of sample i lie from ``starts[i]`` to ``starts[i + 1]``.

    ``numbers`` says which samples of the file they are.
    """

    def __init__(self, name: str | os.PathLike, width: int, parts: int = 1, part: int = 0) -> None:
        self.width = width
        self.numbers: list[int] = []
        values: list[np.ndarray] = []
        columns: list[np.ndarray] = []
        labels: list[np.ndarray] = []
        count = 0
        for line in lines_of("LibSVMIter", name, parts, part):
            cells = line.text.split(b"#", 1)[0].split()
            count += bool(cells)
            if not cells or not line.inside:
                continue
            self.numbers.append(count - 1)
            label, places, found = _sample(line, cells, width)
            labels.append(label)
            columns.append(places)
            values.append(found)
        require("LibSVMIter/empty", labels, f'"{name}" has no sample')
        self.labels = np.concatenate(labels)
        self.starts = np.cumsum([0, *map(len, columns)])
        self.columns, self.values = np.concatenate(columns), np.concatenate(values)

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self, rows: list[int]) -> NDArray:
        """A csr array of these samples."""
        pieces = [slice(self.starts[row], self.starts[row + 1]) for row in rows]
        return sparse.csr_matrix(
            (
                np.concatenate([self.values[piece] for piece in pieces]),
                np.concatenate([self.columns[piece] for piece in pieces]),
                np.cumsum([0, *(piece.stop - piece.start for piece in pieces)]),
            ),
            shape=(len(rows), self.width), dtype=FLOAT,
        )


@decides("LibSVMIter/values", "LibSVMIter/labels")
def _sample(line: TextLine, cells: list[bytes], width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(label, columns in ascending order, values) of one line ``label column:value column:value ...``."""
    def refused(clause: str, reason: str) -> Exception:
        return refusal(f"LibSVMIter/{clause}", f'"{line.file}", line {line.number}: {reason}')

    label = numbers(cells[:1], FLOAT)
    if label is None:
        raise refused("label", f"{_shown(cells[0])} is no label; a line begins with a number")
    pairs = [cell.partition(b":") for cell in cells[1:] if not cell.startswith(b"qid:")]
    values = numbers([value for _, _, value in pairs], FLOAT)
    columns = numbers([column for column, _, _ in pairs], np.dtype(np.int64))
    if values is None or columns is None:
        worst = next(
            b"".join(pair) for pair in pairs
            if numbers([pair[2]], FLOAT) is None or numbers([pair[0]], np.dtype(np.int64)) is None
        )
        raise refused("pair", f"{_shown(worst)} is not column:value")
    outside = (columns < 0) | (columns >= width)
    if outside.any():
        raise refused("column", f"column {columns[outside][0]}, but columns lie between 0 and {width - 1}")
    order = np.argsort(columns, kind="stable")
    columns, values = columns[order], values[order]
    if (columns[1:] == columns[:-1]).any():
        twice = columns[:-1][columns[1:] == columns[:-1]][0]
        raise refused("column-twice", f"column {twice} stands twice in this line")
    return label, columns, values


def _shown(cell: bytes) -> str:
    return repr(cell[:40].decode("utf-8", "replace"))


class LibSVMIter(RoundIter):
    """Sparse samples with a label each out of a LibSVM file: ``label column:value column:value ...``.

    Columns are counted from 0. ``qid:`` entries and what follows a ``#`` are ignored.

    Args:
        data_libsvm: a file, a folder (its files by name), or several files between ``;``.
        data_shape: of one sample, ``(columns,)``.
        batch_size: samples in a batch.
        label_libsvm: a file whose sparse samples are the labels; None or "NULL": labels stand in the data.
        label_shape: of one label; more than one number exactly when there is a file of labels.
        num_parts, part_index: cut the data into parts and read the one of this number.
        round_batch: must be true, as in MXNet.
        dtype: None or "float32", which is what is delivered.
        data_name, label_name: names in the descriptions.

    Data are csr arrays of shape ``(batch_size, columns)``; labels are ``(batch_size,)`` or csr arrays.

    Raises:
        MXNetError: a file is missing, a line is no sample, or there are fewer labels than samples. The message
            names the file and the line.
    """

    @decides("LibSVMIter/labels")
    def __init__(
        self, *, data_libsvm: str | os.PathLike | None = None, data_shape: Any = None, batch_size: Any = None,
        label_libsvm: str | os.PathLike | None = None, label_shape: Any = (1,), num_parts: Any = 1,
        part_index: Any = 0, round_batch: Any = True, dtype: Any = None, data_name: str = "data",
        label_name: str = "softmax_label", **others: Any,
    ) -> None:
        read = Arguments("LibSVMIter")
        read.unknown(others, WITHOUT_EFFECT)
        read.required(data_libsvm=data_libsvm, data_shape=data_shape, batch_size=batch_size)
        assert data_libsvm is not None
        rows = read.integer("batch_size", batch_size, 1)
        shape, label_dims = read.shape("data_shape", data_shape), read.shape("label_shape", label_shape)
        parts = read.part(num_parts, part_index)
        require("LibSVMIter/shape", len(shape) == 1, f"data_shape has one axis, the columns; got {shape}")
        require(
            "LibSVMIter/round-batch", read.flag("round_batch", round_batch),
            "csr batches are always full: leave round_batch at True",
        )
        require(
            "LibSVMIter/dtype", dtype in (None, "None", "float32", np.float32),
            f"LibSVMIter delivers float32 and cannot make {dtype!r}; convert the batches instead",
        )
        self._data = Table(data_libsvm, shape[0], *parts)
        self._labels: Table | None = None
        separate = label_libsvm not in (None, "NULL")
        require(
            "LibSVMIter/label-shape", (label_dims != (1,)) == separate and len(label_dims) == 1,
            f"label_shape is (1,) without label_libsvm, and (columns,) with more than one column with it; got"
            f" {label_dims}",
        )
        described = DataDesc(label_name, (rows,))
        if label_libsvm is not None and separate:
            self._labels = Table(label_libsvm, label_dims[0])
            described = DataDesc(label_name, (rows, *label_dims))
            require(
                "LibSVMIter/counts", len(self._labels) > self._data.numbers[-1],
                f'"{label_libsvm}" has {len(self._labels)} labels but "{data_libsvm}" has a sample number'
                f" {self._data.numbers[-1] + 1}; give each sample a line of labels",
            )
        super().__init__(rows, len(self._data), DataDesc(data_name, (rows, *shape)), described)

    def _rows(self, rows: Any) -> tuple[NDArray, Any]:
        if self._labels is None:
            return self._data.rows(rows), self._data.labels[rows]
        return self._data.rows(rows), self._labels.rows([self._data.numbers[row] for row in rows])


__all__ = ["LibSVMIter"]
