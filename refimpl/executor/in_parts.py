"""Calls of a table in parts, which several threads make side by side: ``REFIMPL_THREADS``.

Which kernels' calls can be cut, and along what, stands beside these kernels (``kernels/foundation/cuts.py``). A call is
cut when the table is written, so a part is a call like any other: the same machine code with other arguments.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..base import decides, refusal
from ..kernels.foundation.cuts import CUTS, names_of, pieces
from ..kernels.foundation.described import Borrowed, LoopCall, Place
from ..kernels.foundation.native_calls import form_of
from ..kernels.foundation.workers import splitter, written

SWITCH = "REFIMPL_THREADS"
MOST = 64
"""So many threads at most work on one call."""


def count() -> int:
    """How many threads make the parts of a call, in programs that are bound now.

    Raises:
        MXNetError: the environment variable is no whole number from 1 to ``MOST``.
    """
    asked = os.environ.get(SWITCH, "1")
    if not (asked.isascii() and asked.isdigit() and 1 <= int(asked) <= MOST):
        raise refusal(
            "Executor/threads-switch", f"{SWITCH} must be a whole number from 1 to {MOST}, it is {asked!r}"
        )
    return int(asked)


class InParts(partial):
    """A call whose parts are made side by side: its kernel, their arguments and words, and the arrays of the whole."""

    loop: Any = None
    parts: Sequence[Sequence[Any]] = ()
    words: Sequence[Any] = ()
    arrays: Sequence[np.ndarray] = ()
    workers: int = 0
    name: str = ""


@decides("Executor/threads")
def in_parts(call: LoopCall, args: Sequence[Sequence[Any]], kernel: Any) -> InParts | None:
    """A call in parts; None where it cannot be cut, or is not worth it.

    Args:
        call: what is called.
        args: its arguments, once for each thread: those that are borrowed are another memory each time.
        kernel: what Numba has compiled for it.
    """
    found = CUTS.get(id(call.loop))
    form = None if found is None or kernel is None else form_of(kernel)
    if found is None or form is None:
        return None
    _, cut = found
    names = names_of(call.loop)
    each = [dict(zip(names, one, strict=True)) for one in args]
    ends = pieces(cut, each[0], len(args))
    if len(ends) < 2:
        return None
    own = [{name: one[name] for name in cut.own} for one in each]
    parts = [
        [*{**each[0], **own[number], **cut.part(each[0], first, last)}.values()]
        for number, (first, last) in enumerate(ends)
    ]
    record, words = written(form, parts)
    _, machine_code = splitter()
    made = InParts(machine_code.entry_point, record)
    made.loop, made.parts, made.words, made.workers = call.loop, parts, words, len(parts) - 1
    made.name = f"{call.loop.py_func.__name__} in {len(parts)} parts"
    made.arrays = [arg for arg in args[0] if isinstance(arg, np.ndarray)]
    return made


def apart(call: LoopCall, number: int) -> LoopCall:
    """The call with memory of its own wherever it borrows some: that of part ``number``."""
    args = [_renamed(arg, number) if type(arg) is Place else arg for arg in call.args]
    return call._replace(args=args) if number else call


def _renamed(place: Place, number: int) -> Place:
    memory = place.memory
    if not isinstance(memory, Borrowed):
        return place
    return place._replace(memory=memory._replace(name=f"{memory.name} of part {number}"))


__all__ = ["MOST", "SWITCH", "InParts", "apart", "count", "in_parts"]
