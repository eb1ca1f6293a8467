"""The kernel calls that update many parameters: sums of gradients, the loop of a rule, copies of the new weights.

Machine code makes them all (``kernels/tuned/native_calls.py``): no Ctrl-C comes between two of them. Gradients are
added up, a weight is updated, and its copies are written piece by piece, so that a piece stays in the cache. Where
weights have copies on other contexts, half of the pieces of a large array are left to a thread that watches for work
(``kernels/tuned/hand_over.py``), in its own cache.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..kernels.elementwise import MAPS
from ..kernels.foundation import Loop
from ..kernels.foundation.buffer import aligned_empty
from ..kernels.foundation.loops import COPY
from ..kernels.tuned.hand_over import latest
from ..kernels.tuned.native_calls import FIRST_FLOAT, FLOATS, SIZES, address_of, code_for, walker, written
from ..ndarray import NDArray
from ..optimizer.rule import Index
from .rule_call import SINGLE, RuleCall, Unfit

ADD = MAPS["add"]
PIECE = 16384
"""The number of elements that are summed, updated and copied before the next ones."""


class Row(NamedTuple):
    """A parameter: its key in the updater, its weight, the gradients to add up, and copies of the new weight."""

    key: Index
    weight: NDArray
    grads: Sequence[NDArray]
    copies: Sequence[NDArray] = ()


def require_alike(arrays: Sequence[NDArray]) -> None:
    """Require dense, writable float32 arrays of one shape on the CPU.

    Raises:
        Unfit: an array differs.
    """
    shape = arrays[0].shape
    for each in arrays:
        if type(each) is not NDArray or each.shape != shape or each.context.memory != "cpu" or not each.writable:
            raise Unfit
        flat = each._buffer.flat
        if flat.dtype != SINGLE or flat.strides != (SINGLE.itemsize,):
            raise Unfit


def require_apart(rows: Sequence[Row], states: Sequence[NDArray]) -> None:
    """Require that no two arrays share memory.

    Raises:
        Unfit: arrays overlap.
    """
    arrays = [*states, *[each for row in rows for each in (row.weight, *row.grads, *row.copies)]]
    flats = [each._buffer.flat for each in arrays if each.size]
    spans = sorted((address_of(flat), flat.nbytes) for flat in flats)
    if any(start + size > after for (start, size), (after, _) in pairwise(spans)):
        raise Unfit


def additions(
    grads: Sequence[np.ndarray], together: int, total: np.ndarray, group: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The additions (one, other, sum) that add up gradients in ``total``, in the order of ``kvstore.local.added_up``.

    After the first gradient, each ``together`` gradients are added up in ``group`` before they join the total.
    """
    joined = grads[0]
    for start in range(1, len(grads), together):
        part, *others = grads[start : start + together]
        for other in others:
            yield part, other, group
            part = group
        yield joined, part, total
        joined = total


class Walk:
    """The kernel calls of an update, written for machine code. They keep no array of a parameter alive.

    ``done[0]`` is 1 as soon as the calls are made: an interrupt may come right after them.

    Args:
        rows: the parameters.
        states: the state arrays of each of them.
        groups: for each of them, which of the hyperparameters it takes.
        call: the call of the rule's loop, with any hyperparameters.
        together: the argument of :func:`additions`.

    Raises:
        Unfit: machine code cannot make these calls.
    """

    def __init__(
        self, rows: Sequence[Row], states: Sequence[Sequence[NDArray]], groups: Sequence[int], call: RuleCall,
        together: int,
    ) -> None:
        self._call, self._together = call, together
        self._words, self._count, self._codes = array("q"), 0, dict[Loop, int]()
        self._numbers: list[tuple[int, list[int]]] = []  # of each call of the rule: its group, and which words they are
        self._sums = [[aligned_empty(PIECE, SINGLE) for _ in range(2)] for _ in range(2)]
        self.done, self._one = np.zeros(1, SINGLE), np.ones(1, SINGLE)
        self._add(COPY, self._one, self.done, 1)
        ends = [(0, 0)]
        for half, sums in enumerate(self._sums):  # the calls of this thread, and those of another
            for row, state, group in zip(rows, states, groups, strict=True):
                pieces = _pieces(row)
                middle = (len(pieces) + 1) // 2 if row.copies else len(pieces)
                for piece in pieces[middle:] if half else pieces[:middle]:
                    self._update(row, state, group, piece, sums)
            ends.append((len(self._words), self._count))
        self._words.extend([0] * SIZES[-1])  # the last call, too, may read as many words as the largest size
        start, _ = self._words.buffer_info()
        self._halves = [(start + 8 * at, last - first) for (at, first), (_, last) in pairwise(ends)]
        self._values = np.frombuffer(self._words, np.int64)
        self._groups, self._places = (np.array(part, np.intp) for part in zip(*self._numbers, strict=True))

    def _update(
        self, row: Row, state: Sequence[NDArray], group: int, piece: slice, sums: Sequence[np.ndarray]
    ) -> None:
        """Add the calls that update a piece of a parameter by the hyperparameters of ``group``."""
        weight, *states = (each._buffer.flat[piece] for each in (row.weight, *state))
        grads = [each._buffer.flat[piece] for each in row.grads]
        total, part = (each[: weight.size] for each in sums)
        for addition in additions(grads, self._together, total, part):
            self._add(ADD, *addition, weight.size)
        arrays, call = [weight, total if len(grads) > 1 else grads[0], *states], self._call
        first = len(self._words) + FIRST_FLOAT
        numbers: Any = (call.numbers,) if call.named else call.numbers
        self._add(call.loop, *[arrays[number] for number in call.order], weight.size, *numbers)
        words = [*range(first, first + FLOATS)][: len(call.numbers)]
        words += range(len(self._words) + len(words) - len(call.numbers), len(self._words))
        self._numbers.append((group, words))
        for each in row.copies:
            self._add(COPY, weight, each._buffer.flat[piece], weight.size)

    def _add(self, loop: Loop, *args: Any) -> None:
        code = self._codes.get(loop) or code_for(loop.cpu, args)  # all arrays are of one type
        if code is None:
            raise Unfit
        self._codes[loop] = code
        self._words.extend(written(code, args))
        self._count += 1

    def take(self, numbers: Sequence[Sequence[np.float32]]) -> None:
        """Take the hyperparameters of each group from now on."""
        self._values.put(self._places, np.array(numbers, SINGLE).view(np.uint32).take(self._groups, 0))

    def __call__(self) -> None:
        """Update all parameters. No interrupt comes before the end.

        Raises:
            RuntimeError: a kernel failed.
        """
        (place, count), second = self._halves
        other = latest() if second[1] else None
        made = walker()(place, count + second[1]) if other is None else other.share((place, count), second)
        if made < count + second[1]:
            raise RuntimeError("a kernel failed")


def _pieces(row: Row) -> list[slice]:
    """The pieces of a parameter; one where nothing is summed or copied."""
    size = row.weight.size
    step = PIECE if row.copies or len(row.grads) > 1 else max(size, 1)
    return [slice(start, start + step) for start in range(0, max(size, 1), step)]


__all__ = ["Row", "Walk", "additions", "require_alike", "require_apart"]
