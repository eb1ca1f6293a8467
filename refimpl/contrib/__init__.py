"""mx.contrib: loops and branches in graphs, the first autograd, and SVRG."""

from . import autograd, svrg_optimization
from . import control_flow as _control_flow  # noqa: F401  # registers loops and branches; no name of MXNet's

__all__ = ["autograd", "svrg_optimization"]
