"""What an operator's function takes for a parameter, as type hints that the generated stubs name.

Every parameter can also be given as the text that MXNet's files hold, ``"True"``, ``"(2, 2)"``, ``"0.9"``. Programs
seldom do so, and ``kernel="three"`` is a mistake, so the hints leave text out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, SupportsFloat, SupportsIndex, TypedDict

import numpy as np

Whole = SupportsIndex
"""A whole number."""

Number = SupportsFloat | SupportsIndex
"""Any number."""

Flag = bool | np.bool_ | SupportsIndex
"""True or False; 1 and 0 too."""

Sides = SupportsIndex | Sequence[SupportsIndex] | np.ndarray
"""A shape, or another tuple of whole numbers; one number stands for a tuple of one."""

Ends = SupportsIndex | Sequence[SupportsIndex | None]
"""Where a part begins or ends along each axis; None leaves an axis as it is."""

Numbers = SupportsFloat | SupportsIndex | Sequence[SupportsFloat | SupportsIndex] | np.ndarray
"""A tuple of numbers, or one of them."""

Kind = Literal["bool", "float16", "float32", "float64", "int8", "int32", "int64", "uint8"] | type | np.dtype
"""An element type: ``"float32"``, ``np.float32``, ``np.dtype("float32")``."""

Attributes = Mapping[str, str]
"""Attributes of a node of a graph, such as ``{"ctx_group": "left"}``."""


class GraphKeywords(TypedDict, total=False):
    """Keywords of a symbol's function that are for the graph [Symbol/graph-keywords]."""

    lr_mult: SupportsFloat | SupportsIndex | str
    wd_mult: SupportsFloat | SupportsIndex | str
    ctx_group: str
    force_mirroring: str
    mirror_stage: str
    __lr_mult__: SupportsFloat | SupportsIndex | str
    __wd_mult__: SupportsFloat | SupportsIndex | str
    __ctx_group__: str
    __force_mirroring__: str
    __mirror_stage__: str


class NodeKeywords(GraphKeywords, total=False):
    """What functions on symbols take besides what they describe."""

    name: str | None
    attr: Mapping[str, str] | None


class Named(TypedDict, total=False):
    """What functions on arrays take too: a name, which is not used."""

    name: str | None


__all__ = [
    "Attributes", "Ends", "Flag", "GraphKeywords", "Kind", "Named", "NodeKeywords", "Number", "Numbers", "Sides",
    "Whole",
]
