"""NDArrayIter: batches out of arrays that are in memory."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from ..base import decides, refusal, require
from ..ndarray import NDArray, array, concatenate
from ..ndarray.undo import delivered
from ..quirks import declare
from .iterator import DataBatch, DataDesc, DataIter

NamedArrays = list[tuple[str, NDArray]]
_SHUFFLE = declare(
    "shuffle-float32", "NDArrayIter/types",
    "an NDArray of another type becomes float32 when NDArrayIter shuffles it: 16777217 turns into 16777216",
    "an NDArray keeps its type",
)


class NDArrayIter(DataIter):
    """Batches of equal size out of arrays.

    Args:
        data: an array, a list of arrays or a dict of arrays by name. NumPy arrays become float32;
            an NDArray keeps its type. Batches of sparse arrays are dense.
        label: the same for labels; None for none.
        batch_size: rows in each batch.
        shuffle: permute the rows now and at each reset, with NumPy's global generator.
        last_batch_handle: what becomes of a last batch that is not full. ``"pad"`` fills it from the
            beginning, ``"roll_over"`` keeps its rows for the next epoch, anything else drops it.
        data_name, label_name: names of single arrays, and endings of the names in lists.
        layout: axis letters of the arrays; batches are cut along ``N`` (None: the first axis).

    Raises:
        AssertionError: there is no data.
        TypeError: a source is neither an array, nor a list, nor a dict of arrays.
        ValueError: ``layout`` has no ``N``.
        MXNetError: the batch size is not a positive integer, or an array has fewer rows than the first.
    """

    def __init__(
        self, data: Any, label: Any = None, batch_size: int = 1, shuffle: bool = False,
        last_batch_handle: str = "pad", data_name: str = "data", label_name: str = "softmax_label",
        layout: str | None = "NCHW",
    ) -> None:
        super().__init__(batch_size)
        self.data = _named_arrays(data, data_name)
        self.label = _named_arrays(label, label_name)
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self._axis = DataDesc.get_batch_axis(layout)
        self._require_usable()
        self.data, self.label = self._sliceable(self.data), self._sliceable(self.label)
        self.num_data: int = self.data[0][1].shape[self._axis]
        self.idx = np.arange(self.num_data)
        self.cursor = -batch_size
        self._left_over: tuple[list[NDArray], list[NDArray]] = ([], [])
        self._require_rows()
        self.reset()

    def _sliceable(self, source: NamedArrays) -> NamedArrays:
        """Sparse arrays whose rows cannot be cut out become dense."""
        kept = ("default", "csr") if self._axis == 0 else ("default",)
        return [(name, value if value.stype in kept else value.tostype("default")) for name, value in source]

    def _require_usable(self) -> None:
        if not self.data:
            raise refusal("NDArrayIter/data", "data is empty, give at least one array", AssertionError)
        whole = isinstance(self.batch_size, (int, np.integer)) and self.batch_size >= 1
        require(
            "NDArrayIter/batch-size", whole,
            f"batch_size must be a positive integer, got {self.batch_size!r}",
        )
        require(
            "NDArrayIter/layout", self._axis >= 0,
            f"layout {self.layout!r} has no N, the axis along which batches are cut", ValueError,
        )
        for name, value in self.data + self.label:
            require(
                "NDArrayIter/layout", len(value.shape) > self._axis,
                f"{name} of shape {value.shape} has no axis {self._axis}, where layout"
                f" {self.layout!r} has its N",
            )

    def _require_rows(self) -> None:
        for name, value in self.data + self.label:
            rows = value.shape[self._axis]
            require(
                "NDArrayIter/rows", rows >= self.num_data,
                f"{name} has {rows} rows but {self.data[0][0]} has {self.num_data};"
                " give each array as many rows as the first",
            )

    @property
    def data_list(self) -> list[NDArray]:
        """All source arrays: data, then labels."""
        return [value for _, value in self.data + self.label]

    @property
    def num_source(self) -> int:
        """Number of source arrays."""
        return len(self.data_list)

    @property
    def provide_data(self) -> list[DataDesc]:  # type: ignore[override]  # read-only here
        """Names, batch shapes, types and layout of the data."""
        return self._describe(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:  # type: ignore[override]  # read-only here
        """Names, batch shapes, types and layout of the labels."""
        return self._describe(self.label)

    def _describe(self, source: NamedArrays) -> list[DataDesc]:
        descriptions = []
        for name, value in source:
            shape = list(value.shape)
            shape[self._axis] = self.batch_size
            descriptions.append(DataDesc(name, tuple(shape), value.dtype, self.layout))
        return descriptions

    @decides("NDArrayIter/reset")
    def reset(self) -> None:
        """Begin the next epoch: rows that roll over come first, and the rest is shuffled if wanted."""
        self._begin(keeping=self._rolls_over())

    @decides("NDArrayIter/hard-reset")
    def hard_reset(self) -> None:
        """Begin an epoch without any row left over from the one before."""
        self._begin(keeping=False)

    def _begin(self, *, keeping: bool) -> None:
        """Begin an epoch, with the rows of the current batch if they are kept; all at once, or not at all."""
        begun: dict[str, Any] = {"_left_over": ([], []), "cursor": -self.batch_size}
        if keeping:
            begun["_left_over"] = (self.getdata(), self.getlabel())
            begun["cursor"] = self.cursor - self.num_data - self.batch_size
        if self.shuffle:
            begun |= self._shuffled()
        vars(self).update(begun)

    @decides("NDArrayIter/roll-over")
    def _rolls_over(self) -> bool:
        """Whether the iterator stands on a last batch that is not full and is to be kept."""
        partial = self.num_data - self.batch_size < self.cursor < self.num_data
        return self.last_batch_handle == "roll_over" and partial

    @decides("NDArrayIter/shuffle")
    def _shuffled(self) -> dict[str, Any]:
        """The rows as they now stand, permuted again: an epoch permutes what the last one left."""
        order = self.idx.copy()
        np.random.shuffle(order)  # noqa: NPY002  # the global generator is the one that scripts seed
        single = _SHUFFLE.active

        def permuted(source: NamedArrays) -> NamedArrays:
            return [
                (name, array(values.take(order, self._axis), dtype=None if single else values.dtype))
                for name, values in ((name, value.asnumpy()) for name, value in source)
            ]

        return {"idx": order, "data": permuted(self.data), "label": permuted(self.label)}

    @decides("NDArrayIter/protocol")
    def iter_next(self) -> bool:
        """Step on by one batch; False after the last row."""
        self.cursor += self.batch_size
        return self.cursor < self.num_data

    def next(self) -> DataBatch:
        """Return the next full batch.

        Raises:
            StopIteration: no full batch is left in this epoch.
        """
        return delivered(self, self._step)  # type: ignore[no-any-return]  # what the step returns

    @decides("NDArrayIter/discard")
    def _step(self) -> DataBatch:
        if self.iter_next():
            data = self.getdata()
            if data[0].shape[self._axis] == self.batch_size:
                return DataBatch(data=data, label=self.getlabel(), pad=self.getpad(), index=None)
        raise StopIteration

    def getdata(self) -> list[NDArray]:
        """Data of the current batch. Changing it leaves the source alone."""
        return self._rows(self.data, 0)

    def getlabel(self) -> list[NDArray]:
        """Labels of the current batch. Changing them leaves the source alone."""
        return self._rows(self.label, 1)

    def getpad(self) -> int:
        """Rows of the current batch that fill it up; under roll_over, the rows of the last epoch."""
        end = self.cursor + self.batch_size
        if self.last_batch_handle == "pad" and end > self.num_data:
            return end - self.num_data
        if self.last_batch_handle == "roll_over" and -self.batch_size < self.cursor < 0:
            return -self.cursor
        return 0

    def _rows(self, source: NamedArrays, which: int) -> list[NDArray]:
        """Rows ``cursor`` to ``cursor + batch_size`` of each array, as the last batch is handled."""
        if self.cursor >= self.num_data:
            raise refusal("NDArrayIter/past-end", "DataIter needs reset.", AssertionError)
        start, stop = self.cursor, self.cursor + self.batch_size
        if stop <= 0:
            raise refusal("NDArrayIter/before-first", "no batch yet: call next() or iter_next() first")
        if start < 0:
            left_over = self._left_over[which]
            return [
                self._joined([before, self._slice(value, 0, stop)])
                for before, (_, value) in zip(left_over, source, strict=True)
            ]
        if stop > self.num_data and self.last_batch_handle == "pad":
            return [self._joined(self._wrapped(value, start, stop)) for _, value in source]
        return [self._slice(value, start, stop) for _, value in source]

    @decides("NDArrayIter/pad")
    def _wrapped(self, value: NDArray, start: int, stop: int) -> list[NDArray]:
        """The rows from ``start`` on, then the array again from its beginning as often as needed."""
        rounds, rest = divmod(stop, self.num_data)
        pieces = [self._slice(value, start, self.num_data)]
        pieces += [self._slice(value, 0, self.num_data)] * (rounds - 1)
        return [*pieces, self._slice(value, 0, rest)] if rest else pieces

    @decides("NDArrayIter/sparse", "NDArrayIter/copies")
    def _slice(self, value: NDArray, start: int, stop: int) -> NDArray:
        if value.is_sparse:
            return value[start : min(stop, self.num_data)].tostype("default")
        rows = slice(start, min(stop, self.num_data))
        return value[rows if self._axis == 0 else (*(slice(None),) * self._axis, rows)].copy()

    def _joined(self, pieces: list[NDArray]) -> NDArray:
        return concatenate(pieces, axis=self._axis) if len(pieces) > 1 else pieces[0]


@decides("NDArrayIter/names")
def _named_arrays(source: Any, default_name: str) -> NamedArrays:
    """The arrays of ``source`` with their names: a dict sorted by name, a list numbered."""
    if source is None:
        return []
    if isinstance(source, (np.ndarray, NDArray)):
        source = [source]
    if isinstance(source, list):
        names = [default_name] if len(source) == 1 else [
            f"_{number}_{default_name}" for number in range(len(source))
        ]
        source = dict(zip(names, source, strict=True))
    if not isinstance(source, dict):
        raise refusal(
            "NDArrayIter/sources", "give an NDArray, a numpy.ndarray, a list of them or a dict with"
            f" them as values, not a {type(source).__name__}", TypeError,
        )
    return [(name, _as_array(name, value)) for name, value in sorted(source.items())]


def _as_array(name: str, value: Any) -> NDArray:
    if isinstance(value, NDArray):
        return value
    plain: np.ndarray | None = None
    with contextlib.suppress(TypeError, ValueError):
        plain = np.asarray(value, np.float32)
    if plain is None or plain.ndim == 0:
        raise refusal(
            "NDArrayIter/sources", f"{name} is an NDArray or a NumPy array with one axis or more,"
            f" not a {type(value).__name__}", TypeError,
        )
    return array(plain)


__all__ = ["NDArrayIter"]
