"""One call of a loop for many sets of arrays: the update of all parameters of a network at once.

The loop of a page is compiled once more inside ``walk`` (or ``walk_with_sums``), which reads the addresses of the
arrays from a table. A row of the table holds int64 numbers: the size of its arrays; the index of its first
hyperparameter in ``numbers``; the addresses of the arrays in the loop's order; three addresses (one, other, sum) for
each of ``sums`` additions before the loop; and ``copies`` addresses to which the loop's first array is copied after it.
Sums and copies are made piece by piece, so that a piece stays in the cache. The table's last word counts the calls.

A loop fits when its arguments are float32 arrays, their size, and float32 numbers or one NamedTuple of these. The table
keeps no array alive: its maker does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.extending import intrinsic

from ...kernels.foundation import Loop
from ...kernels.foundation import cache as kernel_cache
from ...kernels.foundation.buffer import aligned_empty
from ...kernels.foundation.loop import DistinctArrays
from ...kernels.foundation.texts import UNCALLED_FROM_C, rewrite
from .hand_over import latest
from .native_calls import Form, form_of

PIECE = 4096
"""The number of elements that are summed, updated and copied before the next ones."""

SHARED = 2 * PIECE
"""The least number of elements of an array that two threads share."""

_WORD = ir.IntType(64)
_ARRAY = types.Array(types.float32, 1, "C")


def _array(context: Any, builder: Any, address: Any, size: Any) -> Any:
    made = context.make_array(_ARRAY)(context, builder)  # zeros: no owner is counted
    four = ir.Constant(_WORD, 4)
    made.data, made.nitems, made.itemsize = builder.inttoptr(address, ir.FloatType().as_pointer()), size, four
    made.shape, made.strides = cgutils.pack_array(builder, [size]), cgutils.pack_array(builder, [four])
    return made._getvalue()


@intrinsic
def arrays_at(typing, table, first, offset, size, like):
    """The arrays at addresses ``table[first] + offset`` and following, as many as ``like`` has entries."""
    kinds = types.UniTuple(_ARRAY, len(like))

    def build(context, builder, signature, args):
        table, first, offset, size, _ = args
        start = context.make_array(signature.args[0])(context, builder, table).data
        places = [builder.add(first, ir.Constant(_WORD, number)) for number in range(len(like))]
        addresses = [builder.add(builder.load(builder.gep(start, [place])), offset) for place in places]
        return context.make_tuple(builder, kinds, [_array(context, builder, each, size) for each in addresses])

    return kinds(table, types.int64, types.int64, types.int64, like), build


@intrinsic
def copied(typing, source, target, size):
    """Copy ``size`` floats from one address to another."""
    def build(context, builder, signature, args):
        source, target, size = args
        pointers = [builder.inttoptr(address, ir.IntType(8).as_pointer()) for address in (target, source)]
        cgutils.raw_memcpy(builder, *pointers, size, 4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), build


@intrinsic
def numbers_at(typing, numbers, first, like):
    """``numbers[first]`` and following, as many as ``like`` has entries; in an inner tuple where ``like`` has one."""
    inner = like[0] if isinstance(like[0], types.BaseTuple) else like
    flat = types.UniTuple(types.float32, len(inner))
    kind = flat if inner is like else types.Tuple((flat,))

    def build(context, builder, signature, args):
        start = context.make_array(signature.args[0])(context, builder, args[0]).data
        places = [builder.add(args[1], ir.Constant(_WORD, number)) for number in range(len(inner))]
        made = context.make_tuple(builder, flat, [builder.load(builder.gep(start, [place])) for place in places])
        return made if inner is like else context.make_tuple(builder, kind, [made])

    return kind(numbers, types.int64, like), build


def added(one, other, total, n):
    for i in range(n):
        total[i] = one[i] + other[i]


def rule(*arguments):
    """Stands for the loop of a page, which replaces it when ``walk`` is compiled."""


def walk(table, numbers, rows, like, tail):
    width = 2 + len(like)
    for row in range(0, rows * width, width):
        values = numbers_at(numbers, table[row + 1], tail)
        rule(*(arrays_at(table, row + 2, 0, table[row], like) + (table[row],) + values))  # noqa: RUF005  # see below
    table[rows * width] += 1


def walk_with_sums(table, numbers, rows, sums, copies, like, tail):
    first = 2 + len(like)
    width = first + 3 * sums + copies
    for row in range(0, rows * width, width):
        n, values = table[row], numbers_at(numbers, table[row + 1], tail)
        for start in range(0, n, PIECE):
            size, offset = min(n - start, PIECE), 4 * start
            for place in range(row + first, row + first + 3 * sums, 3):
                one, other, total = arrays_at(table, place, offset, size, (0, 0, 0))
                added(one, other, total, size)
            arrays = arrays_at(table, row + 2, offset, size, like)
            rule(*(arrays + (size,) + values))  # noqa: RUF005  # Numba joins tuples, and unpacks no more than one
            for place in range(row + width - copies, row + width):
                copied(table[row + 2] + offset, table[place] + offset, size)
    table[rows * width] += 1


def _inside(function: Any) -> Any:
    """A function that only ``walk`` calls, compiled as loops are."""
    return njit(
        nogil=True, error_model="numpy", pipeline_class=DistinctArrays, no_cpython_wrapper=True, **UNCALLED_FROM_C
    )(rewrite(function, "cpu"))


@cache
def _compiled(loop: Loop, text: FunctionType) -> Any:
    """``text`` (``walk`` or ``walk_with_sums``) compiled with ``loop`` in it."""
    body = rewrite(text, "cpu")
    inside = {"rule": loop._source} if text is walk else {"rule": loop._source, "added": added}
    body.__globals__.update({name: _inside(function) for name, function in inside.items()})
    body.__name__ = body.__qualname__ = f"{text.__name__}_{loop._label}"
    body.__module__ = loop._source.__module__
    dispatcher = njit(nogil=True, error_model="numpy", pipeline_class=DistinctArrays, **UNCALLED_FROM_C)(body)
    kernel_cache.enable(dispatcher)
    return dispatcher


def halves(rows: Sequence[Sequence[int]], apart: Mapping[int, int]) -> tuple[list[list[int]], list[list[int]]]:
    """The rows of two tables that together stand for ``rows``: each has half of every large array.

    ``apart`` maps the address of each sum to the address that the second table uses, as both are walked at once.
    """
    first, second = [], []
    for size, number, *addresses in rows:
        cut = size if size < SHARED else size // 32 * 16  # at a cache line
        first.append([cut, number, *addresses])
        if cut < size:
            second.append([size - cut, number, *[apart.get(place, place) + 4 * cut for place in addresses]])
    return first, second


class Walk:
    """A table of parameters with the compiled function that updates all its rows."""

    def __init__(
        self, loop: Loop, rows: Sequence[Sequence[int]], arrays: int, numbers: int, *, named: bool, sums: int = 0,
        copies: int = 0, apart: Mapping[int, int] | None = None,
    ) -> None:
        """Make the table of ``rows`` for a loop.

        With copies, arrays belong to several contexts: then the thread of another context, if it watches for work,
        updates half of each large array, in its own cache.

        Args:
            loop: the loop.
            rows: the rows of the table, as the module's text describes them.
            arrays, numbers: how many arrays and hyperparameters the loop takes.
            named: whether it takes the hyperparameters as one NamedTuple.
            sums, copies: how many additions and copies each row has.
            apart: the argument of :func:`halves`.
        """
        tail: Any = (0,) * numbers
        more = sums or copies
        self._run = _compiled(loop, walk_with_sums if more else walk)
        self._rest = *((sums, copies) if more else ()), (0,) * arrays, (tail,) if named else tail
        self._table, self._rows = _table(rows), len(rows)
        first, second = halves(rows, apart or {}) if copies else ([], [])
        self._halves = [(_table(half), len(half)) for half in (first, second)] if second else []
        self._form: Form | None = None

    @property
    def done(self) -> int:
        """The number of finished calls: machine code counts them, so that no interrupt comes between work and count."""
        return int(self._table[-1]) + sum(int(table[-1]) for table, _ in self._halves[:1])

    def __call__(self, numbers: np.ndarray) -> None:
        """Update all rows with the float32 hyperparameters ``numbers``."""
        form = self._form
        other = None if form is None else latest()
        if form is not None and other is not None:
            first, second = (form.written((table, numbers, rows, *self._rest)) for table, rows in self._halves)
            other.share(first, second)
            return
        self._run(self._table, numbers, self._rows, *self._rest)
        if self._halves and self._form is None:
            kinds = map(self._run.typeof_pyval, (self._table, numbers, self._rows, *self._rest))
            self._form = form_of(self._run.overloads[tuple(kinds)])


def _table(rows: Sequence[Sequence[int]]) -> np.ndarray:
    return np.append(np.array(rows, np.int64).reshape(-1), 0)


def empty(size: int) -> np.ndarray:
    """Memory for sums."""
    return aligned_empty(size, np.float32)


def address_of(flat: np.ndarray) -> int:
    """The address of an array's first element."""
    return flat.__array_interface__["data"][0]


__all__ = ["Walk", "address_of", "empty"]
