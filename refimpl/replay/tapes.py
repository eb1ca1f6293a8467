"""Repeated tapes: their graph nodes, and the gradient graphs built from these, are used again.

Both depend only on the tape's operators, their parameters, which record reads which output, and the active quirks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.tape_graph import TapeNodes
from ..kernels.foundation import Op
from ..kernels.foundation.quirk import SCOPE
from ..ndarray.tape import Place, Record
from .programs import exact
from .recorder import Recorder

LONGEST = 4096
"""A tape with more records than this gets new nodes each time."""

TAPES: Recorder[TapeNodes] = Recorder(limit=64, seen=1024)


def nodes(sources: Sequence[Record | Place]) -> TapeNodes:
    """The nodes for the records and variables of a tape, inputs first. They are shared: do not change them."""
    key = _key_of(sources) if len(sources) <= LONGEST else None
    found = None if key is None else TAPES.made.get(key)
    if found is None:
        found = TapeNodes(sources)
        if key is not None and TAPES.is_due(key):
            TAPES.keep(key, found)
    return found


def _key_of(sources: Sequence[Record | Place]) -> tuple | None:
    """The key of a tape's nodes; None where an operator or its parameters may hold state."""
    numbers = {id(source): number for number, source in enumerate(sources)}
    parts: list[Any] = [SCOPE.get()]
    for source in sources:
        if isinstance(source, Place):
            parts.append(None)
            continue
        if type(source.op) is not Op or not isinstance(source.params, tuple):
            return None
        parts += (source.op, exact(source.params), repr(source.attrs) if source.attrs else "", len(source.inputs))
        for place in source.inputs:
            parts += (numbers[id(place.record or place)], place.index)
    return tuple(parts)


__all__ = ["TAPES", "nodes"]
