"""What an operator's function takes for a parameter, as type hints that the generated stubs name.

Every parameter can also be given as the text that MXNet's files hold: ``"True"``, ``"(2, 2)"``, ``"0.9"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import SupportsFloat, SupportsIndex

import numpy as np

Whole = SupportsIndex | str
"""A whole number."""

Number = SupportsFloat | SupportsIndex | str
"""Any number."""

Flag = bool | np.bool_ | SupportsIndex | str
"""True or False; 1 and 0 too."""

Sides = SupportsIndex | Sequence[SupportsIndex] | np.ndarray | str
"""A shape, or another tuple of whole numbers; one number stands for a tuple of one."""

Ends = SupportsIndex | Sequence[SupportsIndex | None] | str
"""Where a part begins or ends along each axis; None leaves an axis as it is."""

Numbers = SupportsFloat | SupportsIndex | Sequence[SupportsFloat | SupportsIndex] | np.ndarray | str
"""A tuple of numbers, or one of them."""

Kind = str | type | np.dtype
"""An element type: ``"float32"``, ``np.float32``, ``np.dtype("float32")``."""

Attributes = Mapping[str, str]
"""Attributes of a node of a graph, such as ``{"ctx_group": "left"}``."""

__all__ = ["Attributes", "Ends", "Flag", "Kind", "Number", "Numbers", "Sides", "Whole"]
