"""The classes of ``mx.io`` under the name by which MXNet's pickles know them, ``mxnet.io.io``."""

from .desc import DataBatch, DataDesc
from .iterator import DataIter, MXDataIter
from .ndarray_iter import NDArrayIter
from .wrappers import PrefetchingIter, ResizeIter

__all__ = ["DataBatch", "DataDesc", "DataIter", "MXDataIter", "NDArrayIter", "PrefetchingIter", "ResizeIter"]
