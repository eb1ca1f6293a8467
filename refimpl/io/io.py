"""The classes of ``mx.io`` under the name by which MXNet's pickles know them, ``mxnet.io.io``."""

from .iterator import DataBatch, DataDesc, DataIter, MXDataIter
from .ndarray_iter import NDArrayIter
from .utils import _init_data
from .wrappers import PrefetchingIter, ResizeIter

__all__ = [
    "DataBatch", "DataDesc", "DataIter", "MXDataIter", "NDArrayIter", "PrefetchingIter", "ResizeIter", "_init_data",
]
