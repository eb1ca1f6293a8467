"""Executors after a forward or backward that did not finish.

States and accumulated gradients are as before the call. Outputs, and gradients with grad_req 'write', hold no values:
reading one raises an error until the call is repeated. The values that forward keeps for backward are in memory that
executors share; ``Pool.unfinished`` says that no backward may use them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import engine
from ..base import decides, refusal
from ..kernels.foundation import Buffer
from ..ndarray import NDArray
from ..ndarray.restoring import Held

if TYPE_CHECKING:
    from .executor import Executor
    from .program import Program


def _nothing() -> None:
    pass


@decides("Module/unfinished")
class ForwardOf:
    """If the block, a forward of ``executors``, fails: states and ``inputs`` are as before, outputs hold no values.

    ``settle`` is called first, and waits for threads that still run. (A class, because each forward enters this
    block, and entering a generator takes as long as running a small graph.)
    """

    __slots__ = ("_executors", "_held", "_settle")

    def __init__(
        self, executors: Sequence[Executor], inputs: Iterable[NDArray] = (), settle: Callable[[], None] = _nothing
    ) -> None:
        self._executors, self._settle = executors, settle
        arrays = [*inputs]
        for executor in executors:
            arrays += executor.aux_arrays
        self._held = Held(*arrays) if arrays else None

    def __enter__(self) -> None:
        """Do nothing: the constructor has remembered the arrays."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._settle()
            forward_failed(self._executors, self._held)


def forward_failed(executors: Sequence[Executor], held: Held | None) -> None:
    """Mark the forward of ``executors`` as unfinished, and give back the contents ``held`` before it."""
    for executor in executors:
        executor.program.pool.unfinished = True
    if held is not None:
        held.give_back()
    _spoil("forward", (array for executor in executors for array in executor.outputs))


@contextmanager
@decides("Module/unfinished")
def backward_of(executors: Sequence[Executor], settle: Callable[[], None] = _nothing) -> Iterator[None]:
    """If the block, a backward of ``executors``, fails: gradients with 'add' are as before, others hold no values."""
    written: list[NDArray] = []
    kept: list[NDArray] = []
    for executor in executors:
        for array, requirement in zip(executor._bound.gradients, executor._grad_req, strict=True):
            if array is not None and requirement != "null":
                (kept if requirement == "add" or array.is_sparse else written).append(array)
        kept += executor.aux_arrays
    held = Held(*kept)
    try:
        yield
    except BaseException:
        settle()
        held.give_back()
        _spoil("backward", written)
        raise


def _spoil(what: str, arrays: Iterable[Any]) -> None:
    """Mark arrays as holding no values."""
    engine.spoil(engine.unfinished(what), (_memory(array) for array in arrays))


def _memory(array: Any) -> Buffer:
    return array._values._buffer if array.is_sparse else array._buffer


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
    if any(executor.program.pool.unfinished for executor in executors):
        raise refusal(
            "Executor/unfinished", "the last forward did not finish, and there is nothing to compute gradients from;"
            " run forward again",
        )


__all__ = ["ForwardOf", "backward_of", "clear", "forward_failed", "require_forward"]
