"""Runs of a bound program: which kernels its steps call, and with what.

Most steps do the same each time they run: their page chooses loops, by nothing but parameters, shapes, types and the
active quirks, and hands them the same memory. So the second run of a list of steps writes down the compiled kernels
and their arguments (``asking.py`` tells which), and it and all later runs call them one after the other: the same
kernels with the same arguments, hence the same bits. Machine code makes these calls where it can (``pieces.py``).

A step of another kind stays in the table as it is: one that draws, looks at values, runs a user's code, computes in
half precision or on a GPU. Memory that pages borrow belongs to the program, so that programs may run side by side.

The list of steps stays the specification, and runs wherever nothing is replayed (``refimpl/executor/step_runner.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import engine
from ..base import MXNetError, decides
from ..executor.memory_pool import Pool
from ..executor.steps import (
    AddStep,
    BackwardStep,
    ForwardStep,
    Step,
    StepFailed,
    TransferStep,
    ViewBackwardStep,
    ViewStep,
)
from ..kernels.foundation import Buffer, allocate
from ..kernels.foundation import run as runner
from ..kernels.foundation.contract import Op
from ..kernels.foundation.described import Borrowed
from ..kernels.foundation.loop import Loop
from ..kernels.foundation.quirk import current
from .asking import LoopCall, Memory, Page, Place, repeatable_calls
from .pieces import Piece, Rows, walked
from .recorder import Recorder

LIMIT = 8
"""So many tables of one list of steps are kept: in training and not, under some sets of quirks."""

MOST_BORROWED = 1 << 20
"""A step that borrows an array of more bytes stays a step."""

_WHOLE = slice(None)


@decides("Executor/table")
class Table:
    """The tables of one list of steps, each for what its calls depend on.

    Args:
        steps: the list.
        pool: where the memory is that kernels work in.
    """

    def __init__(self, steps: Sequence[Step], pool: Pool) -> None:
        self._steps, self._pool = steps, pool
        self.recorder: Recorder[Rows] = Recorder(LIMIT, 8 * LIMIT)

    def is_replayed(self, is_train: bool) -> bool:
        """Run what the steps amount to, where that is known.

        Raises:
            StepFailed: a step failed; those after it have not run.
        """
        rows = self._rows(is_train)
        if rows is None:
            return False
        at = 0
        try:
            for first, last, walk in rows.pieces:
                at = first if walk is None else first + walk()
                while at < last:
                    rows.calls[at]()
                    at += 1
        except MXNetError as error:
            raise StepFailed(rows.steps[at]) from error
        return True

    def walked(self, is_train: bool) -> Rows | None:
        """What a run calls that is not the first, if machine code makes all of it."""
        found = self._rows(is_train) if self.recorder.has_seen((is_train, current())) else None
        return found if found is not None and found.place[0] else None

    def _rows(self, is_train: bool) -> Rows | None:
        """What a run calls now; None in the first run, which compiles kernels."""
        key = is_train, current()
        found = self.recorder.made.get(key)
        if found is None and self.recorder.is_due(key):
            found = self.recorder.keep(key, walked(_Writer(is_train, self._pool.lent).rows(self._steps)))
        return found


class _Writer:
    """Writes a table. Steps that are alike, as those of an unrolled network are, have their page asked once."""

    def __init__(self, is_train: bool, lent: dict[tuple[Any, np.dtype], np.ndarray]) -> None:
        self._is_train, self._lent = is_train, lent
        self._known: dict[tuple, list[LoopCall] | None] = {}
        self._codes: dict[tuple[int, ...], tuple[Callable, Any]] = {}

    def rows(self, steps: Sequence[Step]) -> Rows:
        """The table of ``steps``."""
        found = [(*called, number) for number, step in enumerate(steps) for called in self._calls(step)]
        calls, kernels, numbers = map(list, zip(*found, strict=True)) if found else ([], [], [])
        return Rows(calls, numbers, kernels, [Piece(0, len(calls), None)])

    def _calls(self, step: Step) -> list[tuple[partial, Any]]:
        if isinstance(step, (ViewStep, ViewBackwardStep)):
            return []
        asked = page_of(step, self._is_train)
        if asked is not None:
            key, page, buffers = asked
            memory = described_buffers(buffers)
            key = (*key, *memory)
            if key not in self._known:
                self._known[key] = _lean(repeatable_calls(page, memory, apart=True))
            calls = self._known[key]
            if calls is not None:
                flats = {one.number: b.flat for one, b in zip(memory, buffers, strict=True) if one and b}
                return [self._call(call, flats) for call in calls]
        return [(partial(step.run, self._is_train), None)]

    def _call(self, call: LoopCall, flats: dict[int, np.ndarray]) -> tuple[partial, Any]:
        args = [self._argument(arg, flats) for arg in call.args]
        if call.loop is None:
            return partial(args[0].__setitem__, _WHOLE, args[1]), None
        if call.by_twin:
            return partial(call.loop._tuned, *args), None
        run, compiled = self._machine_code(call, args)
        return partial(run, *args), compiled

    def _machine_code(self, call: LoopCall, args: list[Any]) -> tuple[Callable, Any]:
        """What a loop, or a kernel itself, runs for ``args``; calls of one kind differ in their arrays only."""
        key = id(call), *[arg.flags.num for arg in args if type(arg) is np.ndarray]
        found = self._codes.get(key)
        if found is None:
            dispatcher = call.loop.cpu if isinstance(call.loop, Loop) else call.loop
            found = self._codes[key] = _machine_code(dispatcher, args)
        return found

    def _argument(self, arg: Any, flats: dict[int, np.ndarray]) -> Any:
        if type(arg) is not Place:
            return arg
        flat = self._borrowed(arg.memory) if isinstance(arg.memory, Borrowed) else flats[arg.memory]
        return flat if arg.shape is None else Buffer(flat, arg.shape)

    def _borrowed(self, what: Borrowed) -> np.ndarray:
        """Memory for pages to work in; that of an earlier step where it is large enough."""
        key = what.name, what.dtype
        found = self._lent.get(key)
        if found is None or found.size < what.size:
            size = 1 << what.size.bit_length()  # growing sizes then take little more than the last
            found = self._lent[key] = allocate((size,), what.dtype).flat
        return found[: what.size]


def page_of(
    step: Step, is_train: bool, *, likely: bool = False
) -> tuple[tuple, Page, list[Buffer | None]] | None:
    """What a step's page is and does, and its buffers; None where it may do something else each time.

    ``likely``: also the page of a step that draws or computes in half precision, for what it does beside that.
    """
    if not isinstance(step, (ForwardStep, BackwardStep, AddStep)) or isinstance(step, TransferStep):
        return None
    op, p = step.op, step.params
    if type(op) is not Op or engine.goes_alone(p) or not (likely or step.is_direct) or not _is_on_cpu(step):
        return None
    if isinstance(step, BackwardStep):
        heads, first = len(step.heads), len(step.heads) + len(step.needs)
        return (
            (op, exact(p), "backward", first),
            lambda b: runner.backward(op, p, b[:heads], b[heads:first], b[first:], is_train=is_train),
            [*step.heads, *step.needs, *step.gradients],
        )
    first = len(step.inputs)
    return (  # what draws fails without random streams, and what it did before is known
        (op, exact(p), "forward", first), lambda b: runner.fill(op, p, b[:first], b[first:], is_train=is_train),
        [*step.inputs, *step.outputs],
    )


def _is_on_cpu(step: ForwardStep | BackwardStep | AddStep) -> bool:
    """Whether what a step fills is memory that machine code of the processor may write."""
    filled = step.gradients if isinstance(step, BackwardStep) else step.outputs
    return all(buffer is None or buffer.device == "cpu" for buffer in filled)


def exact(p: tuple) -> tuple:
    """Parameters as a part of a key: 0.0 and -0.0 are equal, and not the same."""
    return (p, repr(p)) if p else p


def described_buffers(buffers: Sequence[Buffer | None]) -> list[Memory | None]:
    """What a page may know of its buffers: two over one array are the same memory to it."""
    numbers: dict[int, int] = {}
    return [
        None if b is None else Memory(numbers.setdefault(id(b.flat), len(numbers)), b.shape, b.flat.dtype)
        for b in buffers
    ]


def _lean(calls: list[LoopCall] | None) -> list[LoopCall] | None:
    """The calls, unless they borrow so much that the table would make a program visibly larger."""
    borrowed = [arg.memory for call in calls or () for arg in call.args if type(arg) is Place]
    large = any(isinstance(one, Borrowed) and one.size * one.dtype.itemsize > MOST_BORROWED for one in borrowed)
    return None if large else calls


def _machine_code(dispatcher: Any, args: list[Any]) -> tuple[Callable, Any]:
    """What a kernel runs for ``args``, without asking for their types each time.

    With it comes what Numba has compiled, or None where it would have to be compiled first.
    """
    compiled = dispatcher.overloads.get(tuple(map(dispatcher.typeof_pyval, args)))
    return (dispatcher if compiled is None else compiled.entry_point), compiled


__all__ = ["Rows", "Table", "described_buffers", "exact", "page_of"]
