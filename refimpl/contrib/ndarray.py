"""mx.contrib.ndarray: mx.nd.contrib by its first name."""

from functools import partial

from ..ndarray import contrib
from ..ndarray.contrib import *  # noqa: F403  # the operators ``_contrib_...`` and what is written with them

globals()["__getattr__"] = partial(getattr, contrib)  # operators that are not here say so when they are called

__all__ = []
__all__ += contrib.__all__
