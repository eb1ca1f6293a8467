"""mx.io: batches of data, and the iterators that deliver them."""

from __future__ import annotations

from .csv_iter import CSVIter
from .image_det_record_iter import ImageDetRecordIter
from .image_record_iter import (
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordIter_v1,
    ImageRecordUInt8Iter,
    ImageRecordUInt8Iter_v1,
)
from .iterator import DataBatch, DataDesc, DataIter, MXDataIter
from .libsvm_iter import LibSVMIter
from .mnist import MNISTIter
from .ndarray_iter import NDArrayIter
from .utils import _init_data
from .wrappers import PrefetchingIter, ResizeIter

__all__ = [
    "CSVIter", "DataBatch", "DataDesc", "DataIter", "ImageDetRecordIter", "ImageRecordInt8Iter", "ImageRecordIter",
    "ImageRecordIter_v1", "ImageRecordUInt8Iter", "ImageRecordUInt8Iter_v1", "LibSVMIter", "MNISTIter",
    "MXDataIter", "NDArrayIter", "PrefetchingIter", "ResizeIter", "_init_data",
]
