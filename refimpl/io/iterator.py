"""The protocol of all data iterators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from ..base import described, shapes_in_words
from .desc import DataBatch


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


__all__ = ["DataIter", "MXDataIter"]
