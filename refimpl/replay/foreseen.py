"""The kernels that a program will call, foreseen from its steps so that they are compiled before they are needed.

``kernels/foundation/ahead.py`` asks for them when the first kernel is missing. A kernel that cannot be foreseen, such
as one that a page calls after it has looked at values, is compiled when it is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numba
import numpy as np
from numba.np.numpy_support import from_dtype

from ..engine import fast_road
from ..executor.program import Program
from ..executor.steps import AddStep, BackwardStep, ForwardStep, Step, ViewBackwardStep, ViewStep
from ..kernels.foundation.described import Borrowed
from ..kernels.foundation.loop import Loop
from .asking import Memory, Place, likely_calls
from .programs import described_buffers, page_of

_HALF, _SINGLE = np.dtype(np.float16), np.dtype(np.float32)


def kernels_of(program: Program) -> Iterator[tuple[Any, tuple]]:
    """(dispatcher, argument types) of each kernel; a program with backward steps is asked as one that trains."""
    if not fast_road.is_on():
        return
    known: set[tuple] = set()
    steps = [*program.forward_steps, *program.backward_steps]
    for step in steps:
        yield from _kernels(step, bool(program.backward_steps), known)


def _kernels(step: Step, is_train: bool, known: set[tuple]) -> Iterator[tuple[Any, tuple]]:
    if not isinstance(step, (ForwardStep, BackwardStep, AddStep)) or isinstance(step, (ViewStep, ViewBackwardStep)):
        return
    asked = page_of(step, is_train, likely=True)
    if asked is None:
        return
    key, page, buffers = asked
    memory = described_buffers(buffers)
    key = (*key, *memory)
    if key in known:
        return
    known.add(key)
    yield from _likely_kernels(page, memory if step.op.takes_half else _copied(memory))


def _copied(memory: Sequence[Memory | None]) -> list[Memory | None]:
    """The buffers of a page that gets float32 copies of float16 buffers."""
    return [one and one._replace(dtype=_SINGLE if one.dtype == _HALF else one.dtype) for one in memory]


def _likely_kernels(page: Any, memory: list[Memory | None]) -> Iterator[tuple[Any, tuple]]:
    types = {one.number: one.dtype for one in memory if one is not None}
    for call in likely_calls(page, memory):
        if call.loop is not None and not call.by_twin:
            dispatcher = call.loop.cpu if isinstance(call.loop, Loop) else call.loop
            yield dispatcher, tuple(_type(arg, types, dispatcher) for arg in call.args)


def _type(arg: Any, types: dict[int, np.dtype], dispatcher: Any) -> Any:
    if type(arg) is not Place:
        return dispatcher.typeof_pyval(arg)
    dtype = arg.memory.dtype if isinstance(arg.memory, Borrowed) else types[arg.memory]
    return numba.types.Array(from_dtype(dtype), 1, "C")


__all__ = ["kernels_of"]
