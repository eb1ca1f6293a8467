"""mx.contrib: what MXNet kept beside its main rooms."""

from . import autograd

__all__ = ["autograd"]
