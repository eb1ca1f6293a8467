"""mx.init: the first values of parameters, chosen by the end of the parameter's name.

``mx.init`` and ``mx.initializer`` are this folder. The rules are in ``spec/reference/training/initializer.md``.
"""

from ..ndarray import NDArray, load
from ..util import is_np_array
from .combined import Load, Mixed
from .drawn import MSRAPrelu, Normal, Orthogonal, Uniform, Xavier
from .fused import FusedRNN
from .initializer import (
    Bilinear,
    Constant,
    InitDesc,
    Initializer,
    LSTMBias,
    One,
    Zero,
    alias,
    create,
    register,
)

__all__ = [
    "Bilinear", "Constant", "FusedRNN", "InitDesc", "Initializer", "LSTMBias", "Load", "MSRAPrelu", "Mixed",
    "NDArray", "Normal", "One", "Orthogonal", "Uniform", "Xavier", "Zero", "alias", "create", "is_np_array",
    "load", "register",
]
