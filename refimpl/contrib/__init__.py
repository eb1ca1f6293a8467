"""mx.contrib: what MXNet kept beside its main rooms."""

from . import autograd, svrg_optimization

__all__ = ["autograd", "svrg_optimization"]
