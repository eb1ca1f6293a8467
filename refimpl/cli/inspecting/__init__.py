"""Reads an untrusted checkpoint and reports its content, its problems, and the deviations of its operators.

``inspected`` returns plain data, ``lines`` makes text of that. Nothing is executed, computed or compiled.
"""

from __future__ import annotations

from .report import VERSION, inspected
from .text import lines

__all__ = ["VERSION", "inspected", "lines"]
