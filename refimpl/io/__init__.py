"""mx.io: batches of data, and the iterators that deliver them."""

from __future__ import annotations

from .desc import DataBatch, DataDesc
from .iterator import DataIter
from .mnist import MNISTIter
from .ndarray_iter import NDArrayIter
from .wrappers import PrefetchingIter, ResizeIter

__all__ = [
    "DataBatch", "DataDesc", "DataIter", "MNISTIter", "NDArrayIter", "PrefetchingIter", "ResizeIter",
]
