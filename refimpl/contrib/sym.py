"""mx.contrib.sym: mx.sym.contrib by its first name."""

from functools import partial

from ..symbol import contrib
from ..symbol.contrib import *  # noqa: F403  # the operators ``_contrib_...`` and what is written with them

globals()["__getattr__"] = partial(getattr, contrib)  # operators that are not here say so when they are called

__all__ = []
__all__ += contrib.__all__
