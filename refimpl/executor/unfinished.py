"""After a forward or backward that did not finish: its outputs and gradients hold no values, only the failure.

States and accumulated gradients are as they were before. Outputs, and gradients that were to be written, hold no
values: reading one raises an error until the call is repeated. What forward keeps for backward lies in memory that
executors share; ``Pool.unfinished`` says that no backward may use it.
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

    ``settle`` is called first, and waits for threads that are still at work. (A class, because every forward comes
    through here, and a generator would take as long as a small graph.)
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
        """Nothing more is to be remembered."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._settle()
            for executor in self._executors:
                executor.program.pool.unfinished = True
            if self._held is not None:
                self._held.give_back()
            _spoil("forward", (array for executor in self._executors for array in executor.outputs))


@contextmanager
@decides("Module/unfinished")
def backward_of(executors: Sequence[Executor], settle: Callable[[], None] = _nothing) -> Iterator[None]:
    """If the block, a backward of ``executors``, fails: gradients it adds to are as before, others hold no values."""
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
    """Let arrays hold no values."""
    engine.spoil(engine.unfinished(what), (_memory(array) for array in arrays))


def _memory(array: Any) -> Buffer:
    return array._values._buffer if array.is_sparse else array._buffer


@decides("Executor/before-forward")
def clear(program: Program) -> None:
    """Put zeros in the place of everything that a forward would have left for backward."""
    for key in program.plan.place:
        engine.overwrite(program.buffers[key])
        program.buffers[key].fill(0)


def require_forward(executors: Iterable[Executor]) -> None:
    """Refuse to go on from a forward that did not finish.

    Raises:
        MXNetError: so it is of one of ``executors``, or of one that shares its memory.
    """
    if any(executor.program.pool.unfinished for executor in executors):
        raise refusal(
            "Executor/unfinished", "the last forward did not finish, and there is nothing to compute gradients from;"
            " run forward again",
        )


__all__ = ["ForwardOf", "backward_of", "clear", "require_forward"]
