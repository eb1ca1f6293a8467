"""mx.contrib: loops and branches in graphs, the first autograd, SVRG, and mx.nd.contrib by its older names."""

from ..op_registry.submodules import absent_attributes as _absent_attributes
from . import amp, autograd, ndarray, svrg_optimization, symbol
from . import control_flow as _control_flow  # noqa: F401  # registers loops and branches; no name of MXNet's
from . import ndarray as nd
from . import symbol as sym

globals()["__getattr__"] = _absent_attributes(__name__)

__all__ = ["amp", "autograd", "nd", "ndarray", "onnx", "svrg_optimization", "sym", "symbol"]
