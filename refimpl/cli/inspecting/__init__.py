"""Reads a checkpoint as a stranger's file and says what it is, what is wrong with it and what it touches.

``inspected`` returns plain data, ``lines`` makes text of that. Nothing is executed, computed or compiled.
"""

from __future__ import annotations

from .report import VERSION, inspected
from .text import lines

__all__ = ["VERSION", "inspected", "lines"]
