"""Compares a network with another implementation of it, and says which layer differs first and how.

``verified`` returns plain data, ``lines`` makes text of that.
"""

from __future__ import annotations

from .frameworks import SUFFIXES, of_module, of_onnx
from .references import Reference, of_checkpoint, of_npz
from .report import VERSION, verified
from .text import lines

__all__ = [
    "SUFFIXES", "VERSION", "Reference", "lines", "of_checkpoint", "of_module", "of_npz", "of_onnx", "verified",
]
