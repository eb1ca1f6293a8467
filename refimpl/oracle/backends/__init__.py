"""Backends: their protocol (``protocol``), decorators that make a backend of a function, and adapters of libraries.

Adapters import their library, so they are imported one by one: ``refimpl.oracle.backends.torch``.
"""

from .declaring import declaring
from .decorators import Node, Symbol, executor_backend, forward_backend
from .isolate import Isolated, isolate
from .probing import Probed, probe
from .protocol import Backend, Capabilities, Crashed, Reference, Refused, Unsupported, declared_of

__all__ = [
    "Backend", "Capabilities", "Crashed", "Isolated", "Node", "Probed", "Reference", "Refused", "Symbol", "Unsupported",
    "declared_of", "declaring", "executor_backend", "forward_backend", "isolate", "probe",
]
