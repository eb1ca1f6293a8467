"""Implementations under test: what one is (``protocol``), and adapters of libraries."""

from .protocol import Backend, Capabilities, Crashed, Reference, Refused, Unsupported

__all__ = ["Backend", "Capabilities", "Crashed", "Reference", "Refused", "Unsupported"]
