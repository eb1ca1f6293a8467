"""What an iterator says about its data (DataDesc), and one batch of it (DataBatch)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..base import decides, mx_real_t, refusal


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


__all__ = ["DataBatch", "DataDesc"]
