"""Loops and branches as nodes: ``_foreach``, ``_while_loop`` and ``_cond``, whose bodies are graphs.

``bodies.py`` runs such a graph on buffers, forward and back; ``loops.py`` steps through it and back in time;
``foreach.py``, ``while_loop.py`` and ``cond.py`` are the three records; ``capture.py`` cuts a body out of the graph
that a user's function makes, and ``symbols.py`` has the functions of ``mx.sym.contrib``. Those of ``mx.nd.contrib``
are plain Python loops: ``refimpl/ndarray/loops.py``.
"""

from __future__ import annotations

from . import symbols as _symbols
from .cond import COND
from .foreach import FOREACH
from .while_loop import WHILE_LOOP

_symbols.publish()

__all__ = ["COND", "FOREACH", "WHILE_LOOP"]
