"""mx.operator: operators written in Python, used as ``mx.nd.Custom`` and ``mx.sym.Custom``."""

from __future__ import annotations

from ..ndarray import NDArray
from ..util import is_np_array
from . import functions as _functions
from .custom import CustomOp, CustomOpProp, register
from .legacy import NDArrayOp, NumpyOp, PythonOp
from .listing import OperatorArguments, get_all_registered_operators, get_operator_arguments

_functions.publish()

__all__ = [
    "CustomOp", "CustomOpProp", "NDArray", "NDArrayOp", "NumpyOp", "OperatorArguments", "PythonOp",
    "get_all_registered_operators", "get_operator_arguments", "is_np_array", "register",
]
