"""The protocol of all data iterators, the descriptions of their data, and their batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ..base import decides, described, mx_real_t, refusal, shapes_in_words


class _NameAndShape(NamedTuple):
    name: str
    shape: Sequence[int]


@decides("DataDesc/two-fields")
class DataDesc(_NameAndShape):
    """Name and batch shape of one input, with its element type and layout as attributes.

    It is a tuple of two, ``(name, shape)``, so that it compares, hashes and unpacks as one: ``dtype``
    and ``layout`` take no part in equality. ``layout`` is a string of axis letters; its ``N`` is the
    axis along which a batch is cut.
    """

    dtype: Any
    layout: str | None

    def __new__(
        cls, name: str, shape: Sequence[int], dtype: Any = mx_real_t, layout: str | None = "NCHW"
    ) -> DataDesc:
        """Make the pair, then set the two attributes."""
        made = super().__new__(cls, name, shape)
        made.dtype = dtype
        made.layout = layout
        return made

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    @decides("DataDesc/batch-axis")
    def get_batch_axis(layout: str | None) -> int:
        """Position of ``N`` in ``layout``: 0 for None, -1 where there is no ``N``."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(
        shapes: Iterable[tuple[str, Sequence[int]]], types: Iterable[tuple[str, Any]] | None
    ) -> list[DataDesc]:
        """Descriptions out of ``(name, shape)`` pairs and, unless None, ``(name, dtype)`` pairs.

        Raises:
            KeyError: ``types`` is given and lacks one of the names.
        """
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        known = dict(types)
        return [DataDesc(name, shape, known[name]) for name, shape in shapes]


class DataBatch:
    """One batch: lists of input and label arrays, and what a module needs to know about them.

    Args:
        data: list or tuple of arrays, one for each input.
        label: list or tuple of arrays, one for each label, or None.
        pad: number of rows at the end that only fill up the batch (None or 0 for none).
        index: identities of the samples in the data set, or None.
        bucket_key: key of the bucket that this batch belongs to, for a BucketingModule.
        provide_data, provide_label: descriptions of this batch where they differ from the iterator's.

    Raises:
        AssertionError: ``data`` or ``label`` is a single array instead of a list.
    """

    def __init__(
        self, data: Any, label: Any = None, pad: int | None = None, index: Any = None,
        bucket_key: Any = None, provide_data: Any = None, provide_label: Any = None,
    ) -> None:
        for what, value in (("Data", data), ("Label", label)):
            if value is not None and not isinstance(value, (list, tuple)):
                raise refusal(
                    "DataBatch/lists", f"{what} is a list of NDArrays, not a"
                    f" {type(value).__name__}; write [{what.lower()}]", AssertionError,
                )
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self) -> str:
        shapes, labels = (
            None if arrays is None else [a.shape for a in arrays] for arrays in (self.data, self.label)
        )
        return f"{type(self).__name__}: data shapes: {shapes} label shapes: {labels}"

    __repr__ = __str__


class Batches(Protocol):
    """What a module trains and scores on: a :class:`DataIter`, or anything that has as much of one as this."""

    @property
    def provide_data(self) -> Any:
        """Descriptions of the data of a batch: a list of DataDesc."""

    @property
    def provide_label(self) -> Any:
        """Descriptions of the labels of a batch."""

    def __iter__(self) -> Iterator[Any]:
        """The batches of one epoch."""

    def reset(self) -> None:
        """Go back to before the first batch."""


class DataIter:
    """Base class of data iterators.

    A subclass either overrides ``iter_next`` with the four getters, or ``next`` alone. It also has
    ``provide_data`` and ``provide_label``: lists of DataDesc. Iterators are not rewound by ``iter``:
    after the last batch comes StopIteration until somebody calls ``reset``.
    """

    provide_data: Any
    provide_label: Any

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __repr__(self) -> str:
        return described(self, self._words)

    def _words(self) -> str:
        """Names and shapes of a batch."""
        return f"batches of {shapes_in_words(desc[:2] for desc in (*self.provide_data, *self.provide_label))}"

    def __iter__(self) -> DataIter:
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def reset(self) -> None:
        """Go back to before the first batch."""

    def next(self) -> DataBatch:
        """Return the next batch.

        Raises:
            StopIteration: there is none left in this epoch.
        """
        if not self.iter_next():
            raise StopIteration
        return DataBatch(
            data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex()
        )

    def iter_next(self) -> Any:
        """Step to the next batch; say whether there is one. The getters then speak of that batch."""

    def getdata(self) -> Any:
        """Input arrays of the current batch, as a list (MNISTIter: the one array itself)."""

    def getlabel(self) -> Any:
        """Label arrays of the current batch, as a list (MNISTIter: the one array itself)."""

    def getindex(self) -> Any:
        """Identities of the samples in the current batch, or None."""

    def getpad(self) -> Any:
        """Number of rows in the current batch that only fill it up."""


class MXDataIter(DataIter):
    """Base of the iterators over files. MXNet's are written in C++ and reach Python through this class."""


__all__ = ["DataBatch", "DataDesc", "DataIter", "MXDataIter"]
