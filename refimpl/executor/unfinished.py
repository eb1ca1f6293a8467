"""Executors after a forward or backward that did not finish.

States and accumulated gradients are as before the call. Outputs, and gradients with grad_req 'write', hold no values:
reading one raises an error until the call is repeated. The values that forward keeps for backward are in memory that
executors share; ``Pool.unfinished`` says that no backward may use them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import engine
from ..base import decides, refusal
from ..ndarray import NDArray
from ..ndarray.undo import undo

if TYPE_CHECKING:
    from .executor import Executor
    from .program import Program


@decides("Module/unfinished")
def undo_forward(
    executors: Sequence[Executor], inputs: Iterable[NDArray] = (), settle: Callable[[], object] = lambda: None
) -> AbstractContextManager[None]:
    """A block, a forward of ``executors``. If it fails, states and ``inputs`` are as before; outputs hold no values.

    ``settle`` waits for threads that still run.
    """
    arrays = [*inputs]
    for executor in executors:
        arrays += executor.aux_arrays
    return undo(arrays, settle=settle, then=partial(_forward_failed, executors))


def _forward_failed(executors: Sequence[Executor]) -> None:
    for executor in executors:
        executor.program.pool.unfinished = True
    _spoil("forward", [array for executor in executors for array in executor.outputs])


@decides("Module/unfinished")
def undo_backward(
    executors: Sequence[Executor], settle: Callable[[], object] = lambda: None
) -> AbstractContextManager[None]:
    """A block, a backward of ``executors``. If it fails, gradients with 'add' are as before; others hold no values."""
    written: list[NDArray] = []
    kept: list[NDArray] = []
    for executor in executors:
        for array, requirement in zip(executor._bound.gradients, executor._grad_req, strict=True):
            if array is not None and requirement != "null":
                (kept if requirement == "add" or array.is_sparse else written).append(array)
        kept += executor.aux_arrays
    return undo(kept, settle=settle, then=partial(_spoil, "backward", written))


def _spoil(what: str, arrays: Sequence[Any]) -> None:
    """Mark arrays as holding no values."""
    engine.spoil(
        engine.unfinished(what), [array._values._buffer if array.is_sparse else array._buffer for array in arrays]
    )


@decides("Executor/before-forward")
def clear(program: Program) -> None:
    """Fill the planned memory with zeros, for a backward without a forward before it."""
    for key in program.plan.place:
        engine.overwrite(program.buffers[key])
        program.buffers[key].fill(0)


def require_forward(executors: Iterable[Executor]) -> None:
    """Refuse a backward after a forward that did not finish.

    Raises:
        MXNetError: the last forward on the memory of one of ``executors`` did not finish.
    """
    for executor in executors:
        if executor.program.pool.unfinished:
            raise refusal(
                "Executor/unfinished", "the last forward did not finish, and there is nothing to compute gradients"
                " from; run forward again",
            )


__all__ = ["clear", "require_forward", "undo_backward", "undo_forward"]
