"""Gradients that are computed again and again go straight to their kernels, as calls do (``ndarray/repeated.py``).

What a page's backward calls depends on nothing but the operator, its parameters, the shapes, types and devices of what
it reads, which gradients are wanted, the mode and the active quirks. So the second gradient with such a key writes the
calls down (``kernels/foundation/described.py``), and later ones make them. Bits and errors are those of the usual path,
which stays for all other operators and while anything runs in another way than usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from .. import engine
from ..context import Context
from ..executor.steps import BackwardStep
from ..executor.table import exact, page_of
from ..kernels.foundation import Buffer, Loop
from ..kernels.foundation.contract import Op
from ..kernels.foundation.described import LoopCall, Memory, Place, repeatable_calls
from ..kernels.foundation.loop import _CHOICE
from ..kernels.foundation.quirk import SCOPE
from ..symbol.ir import Node

LIMIT = 4096
"""The table is emptied when it holds that many gradients."""


class _Kernel(NamedTuple):
    """A kernel; its arguments that are no memory, and how to bring memory and these into its order."""

    run: Any
    constants: tuple
    pick: itemgetter


_TABLE: dict[tuple, list[_Kernel] | None] = {}
"""Key -> what the gradient amounts to; None where only the usual path will do, or where there was one so far."""

_SEEN: set[tuple] = set()
"""Keys of which there was a gradient."""


def fill(node: Node, reads: list[Buffer], gradients: list[Buffer | None], ctx: Context, is_train: bool) -> None:
    """Fill the gradients that are wanted: straight by their kernels where these are known.

    Args:
        node: the gradient node.
        reads: the memory of its inputs.
        gradients: memory for its outputs, None for those that nobody wants.
        ctx: where it runs.
        is_train: whether operators run as in training.
    """
    key = _key_for(node, reads, gradients, is_train)
    kernels = None if key is None else _TABLE.get(key)
    if kernels is not None:
        flats = [buffer.flat for buffer in (*reads, *gradients) if buffer is not None]
        for run, constants, pick in kernels:
            run(*pick((*flats, *constants)))
        return
    step = BackwardStep(node, reads, gradients, ctx)
    step.run(is_train)
    if key is not None and key not in _TABLE:
        _learn(key, step, [buffer for buffer in (*reads, *gradients) if buffer is not None], is_train)


def _key_for(
    node: Node, reads: Sequence[Buffer], gradients: Sequence[Buffer | None], is_train: bool
) -> tuple | None:
    """What the calls of a gradient depend on; None where the usual path has to be taken."""
    op, p = node.op, node.params
    if engine.attention or _CHOICE.python or _CHOICE.plain or type(op) is not Op or not isinstance(p, tuple):
        return None
    parts: list[Any] = [op, exact(p), is_train, SCOPE.get()]
    for buffer in (*reads, *gradients):
        parts += (None,) if buffer is None else (buffer.shape, buffer.flat.dtype, buffer.device)
    return tuple(parts)


def _learn(key: tuple, step: BackwardStep, given: list[Buffer], is_train: bool) -> None:
    """Remember a gradient that ``step`` has filled on the usual path, where it is the second one."""
    if key in _SEEN:
        _TABLE[key] = _kernels(step, given, is_train)
        return
    if len(_SEEN) >= LIMIT:
        forget()
    _SEEN.add(key)


def forget() -> None:
    """Let every gradient take the usual path again, until it is repeated."""
    _TABLE.clear()
    _SEEN.clear()


def _kernels(step: BackwardStep, given: list[Buffer], is_train: bool) -> list[_Kernel] | None:
    """The kernels that a step calls with ``given``, in the order in which it has them."""
    asked = page_of(step, is_train)
    if asked is None or any(buffer.device != "cpu" for buffer in given):
        return None
    _, page, buffers = asked
    there = [buffer for buffer in buffers if buffer is not None]
    if list(map(id, there)) != list(map(id, given)):
        return None
    numbers = iter(range(len(there)))  # what is the same memory now need not be so the next time
    calls = repeatable_calls(
        page, [None if b is None else Memory(next(numbers), b.shape, b.flat.dtype) for b in buffers]
    )
    made = [_kernel(call, len(given)) for call in calls or ()]
    return None if None in made or not made else made  # type: ignore[return-value]  # it holds no None


def _kernel(call: LoopCall, count: int) -> _Kernel | None:
    """None where a call borrows memory, takes buffers, or is that of no kernel."""
    places = [arg for arg in call.args if type(arg) is Place]
    if call.loop is None or any(type(p.memory) is not int or p.shape is not None for p in places) or len(call.args) < 2:
        return None
    constants = tuple(arg for arg in call.args if type(arg) is not Place)
    after = iter(range(count, count + len(constants)))
    pick = itemgetter(*[arg.memory if type(arg) is Place else next(after) for arg in call.args])
    return _Kernel(call.loop.cpu if isinstance(call.loop, Loop) else call.loop, constants, pick)


__all__ = ["fill", "forget"]
