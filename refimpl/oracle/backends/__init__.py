"""Backends: their protocol (``protocol``), decorators that make a backend of a function, and adapters of libraries.

Adapters import their library, so they are imported one by one: ``refimpl.oracle.backends.torch``.
"""

from .decorators import Node, Symbol, executor_backend, forward_backend
from .isolate import Isolated, isolate
from .probing import Probed, probe
from .protocol import Backend, Capabilities, Crashed, Reference, Refused, Unsupported

__all__ = [
    "Backend", "Capabilities", "Crashed", "Isolated", "Node", "Probed", "Reference", "Refused", "Symbol", "Unsupported",
    "executor_backend", "forward_backend", "isolate", "probe",
]
