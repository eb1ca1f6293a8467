"""Runs of a bound program: the kernels that its steps call, with their arguments, recorded in a table.

Most steps make the same kernel calls in each run: the loops of their page depend only on parameters, shapes, dtypes
and the active quirks, and their buffers stay the same. So the second run of a list of steps records the compiled
kernels and their arguments (``asking.py``). The second and all later runs call these kernels one after the other: the
same kernels with the same arguments, hence the same bits. Machine code makes the calls where it can (``pieces.py``).

Some steps stay in the table as they are: steps that draw random numbers, look at values, run a user's code, or compute
in float16 or on a GPU. Memory that pages borrow belongs to the program, so that programs may run side by side.

The list of steps stays the specification. It runs wherever no table is replayed
(``refimpl/executor/step_runner.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice
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
from ..kernels.foundation.quirk import SCOPE
from ..kernels.tuned.native_calls import code_of
from .asking import LoopCall, Memory, Page, Place, repeatable_calls
from .pieces import Piece, Rows, walked
from .recorder import Recorder

LIMIT = 8
"""The most tables of one list of steps: in training and in inference, each under some sets of quirks."""

MOST_BORROWED = 1 << 20
"""A step that borrows an array of more bytes is not recorded."""

_WHOLE = slice(None)


@decides("Executor/table")
class Table:
    """The recorded tables of one list of steps: one for each pair (training or not, active quirks).

    Args:
        steps: the list of steps.
        pool: the pool whose memory kernels borrow.
    """

    def __init__(self, steps: Sequence[Step], pool: Pool) -> None:
        self._steps, self._pool = steps, pool
        self.recorder: Recorder[Rows] = Recorder(LIMIT, 8 * LIMIT)

    def is_replayed(self, is_train: bool) -> bool:
        """Make the recorded calls of the steps; False, and nothing has run, where none are recorded.

        Raises:
            StepFailed: a step failed; the steps after it have not run.
        """
        key = is_train, SCOPE.get()
        rows = self.recorder.made.get(key) or self._rows(key)
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
        """The recorded calls of a second or later run if machine code makes all of them, else None."""
        key = is_train, SCOPE.get()
        rows = self.recorder.made.get(key)
        if rows is None and self.recorder.has_seen(key):
            rows = self._rows(key)
        return rows if rows is not None and rows.place[0] else None

    def _rows(self, key: tuple) -> Rows | None:
        """The recorded calls of a run; None in the first run, which compiles kernels."""
        if not self.recorder.is_due(key):
            return None
        return self.recorder.keep(key, walked(_Writer(key[0], self._pool.lent).rows(self._steps)))


class _Writer:
    """Writes a table. For equal steps, as an unrolled network has, the page is asked once."""

    def __init__(self, is_train: bool, lent: dict[tuple[Any, np.dtype], np.ndarray]) -> None:
        self._is_train, self._lent = is_train, lent
        self._known: dict[tuple, list[LoopCall] | None] = {}
        self._codes: dict[tuple[int, ...], tuple[Callable, int | None]] = {}

    def rows(self, steps: Sequence[Step]) -> Rows:
        """The table of ``steps``."""
        found = [(*called, number) for number, step in enumerate(steps) for called in self._calls(step)]
        calls, codes, numbers = map(list, zip(*found, strict=True)) if found else ([], [], [])
        return Rows(calls, numbers, codes, [Piece(0, len(calls), None)])

    def _calls(self, step: Step) -> list[tuple[partial, int | None]]:
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

    def _call(self, call: LoopCall, flats: dict[int, np.ndarray]) -> tuple[partial, int | None]:
        """What makes a call, and the address of its machine code, or None."""
        args = [self._argument(arg, flats) for arg in call.args]
        if call.loop is None:
            return partial(args[0].__setitem__, _WHOLE, args[1]), None
        if call.by_twin:
            return partial(call.loop._tuned, *args), None
        key = id(call), *[arg.flags.num for arg in args if type(arg) is np.ndarray]
        if key not in self._codes:  # equal steps share their machine code, as only their arrays differ
            self._codes[key] = _machine_code(call.loop.cpu if isinstance(call.loop, Loop) else call.loop, args)
        run, code = self._codes[key]
        return partial(run, *args), code

    def _argument(self, arg: Any, flats: dict[int, np.ndarray]) -> Any:
        if type(arg) is not Place:
            return arg
        flat = self._borrowed(arg.memory) if isinstance(arg.memory, Borrowed) else flats[arg.memory]
        return flat if arg.shape is None else Buffer(flat, arg.shape)

    def _borrowed(self, what: Borrowed) -> np.ndarray:
        """Memory that a page borrows: the array that an earlier step borrowed, where it is large enough."""
        key = what.name, what.dtype
        found = self._lent.get(key)
        if found is None or found.size < what.size:
            size = 1 << what.size.bit_length()  # a row of growing sizes then allocates few arrays
            found = self._lent[key] = allocate((size,), what.dtype).flat
        return found[: what.size]


def page_of(
    step: Step, is_train: bool, *, likely: bool = False
) -> tuple[tuple, Page, list[Buffer | None]] | None:
    """(key of the page, the page as a function of buffers, the buffers) of a step; None where its calls may vary.

    ``likely``: also for a step that draws random numbers or computes in float16, for its other kernel calls.
    """
    if not isinstance(step, (ForwardStep, BackwardStep, AddStep)) or isinstance(step, TransferStep):
        return None
    op, p = step.op, step.params
    if type(op) is not Op or engine.goes_alone(p) or not (likely or step.is_direct):
        return None
    run: Callable[..., object] = runner.backward if isinstance(step, BackwardStep) else runner.fill
    parts: list[Sequence[Buffer | None]] = (
        [step.heads, step.needs, step.gradients] if isinstance(step, BackwardStep) else [step.inputs, step.outputs]
    )
    if any(buffer is not None and buffer.device != "cpu" for buffer in parts[-1]):
        return None
    sizes = [len(part) for part in parts]

    def page(given: list[Any]) -> None:
        each = iter(given)
        run(op, p, *[[*islice(each, size)] for size in sizes], is_train=is_train)

    # a page that draws fails for lack of random streams, after it has noted its other calls
    return (op, exact(p), run, *sizes), page, [*chain(*parts)]


def exact(p: tuple) -> tuple:
    """Parameters as part of a key, with their text: 0.0 == -0.0, but the calls may differ."""
    return (p, repr(p)) if p else p


def described_buffers(buffers: Sequence[Buffer | None]) -> list[Memory | None]:
    """The descriptions of a page's buffers; buffers over one array have the same number."""
    numbers: dict[int, int] = {}
    return [
        None if b is None else Memory(numbers.setdefault(id(b.flat), len(numbers)), b.shape, b.flat.dtype)
        for b in buffers
    ]


def _lean(calls: list[LoopCall] | None) -> list[LoopCall] | None:
    """The calls, or None where one borrows more than ``MOST_BORROWED`` bytes, which the table would keep allocated."""
    borrowed = [arg.memory for call in calls or () for arg in call.args if type(arg) is Place]
    large = any(isinstance(one, Borrowed) and one.size * one.dtype.itemsize > MOST_BORROWED for one in borrowed)
    return None if large else calls


def _machine_code(dispatcher: Any, args: list[Any]) -> tuple[Callable, int | None]:
    """(entry point, address) for the types of ``args``: an entry point does not look at types again.

    (dispatcher, None) where Numba has not compiled the kernel for these types yet.
    """
    kernel = dispatcher.overloads.get(tuple(map(dispatcher.typeof_pyval, args)))
    return (dispatcher, None) if kernel is None else (kernel.entry_point, code_of(kernel))


__all__ = ["Rows", "Table", "described_buffers", "exact", "page_of"]
