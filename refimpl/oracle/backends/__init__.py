"""Implementations under test: what one is (``protocol``), and adapters of libraries."""

from .decorators import Node, Symbol, executor_backend, forward_backend
from .protocol import Backend, Capabilities, Crashed, Reference, Refused, Unsupported

__all__ = [
    "Backend", "Capabilities", "Crashed", "Node", "Reference", "Refused", "Symbol", "Unsupported", "executor_backend",
    "forward_backend",
]
