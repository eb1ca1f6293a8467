"""One call of a loop for many sets of arrays: the update of all parameters of a network at once.

The loop of a page is compiled once more, with ``walk`` around it, which reads from a table where the arrays lie. A row
of the table is, in whole numbers: the size of its arrays, the first of its numbers in ``numbers``, the addresses of the
arrays in the loop's order, those of ``sums`` arrays to be added up, and those of ``copies`` that the first array is
copied into afterwards. Sums and copies are made piece by piece, so that a piece stays in the cache. The last word of
the table counts the calls.

A loop fits when its arguments are float32 arrays, their size, and float32 numbers or one geometry of these. The table
keeps no array alive: whoever makes it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.extending import intrinsic
from numba.np.arrayobj import populate_array

from ..foundation import Loop, allocate
from ..foundation import cache as kernel_cache
from ..foundation.loop import _UNCALLED_FROM_C, _DistinctArrays, _ForCpu, _rewrite

PIECE = 4096
"""So many elements of an array are summed, updated and copied before the next ones."""

_WORD = ir.IntType(64)
_ARRAY = types.Array(types.float32, 1, "C")


def _array(context: Any, builder: Any, address: Any, size: Any) -> Any:
    made = context.make_array(_ARRAY)(context, builder)
    four = ir.Constant(_WORD, 4)
    data = builder.inttoptr(address, ir.FloatType().as_pointer())
    populate_array(made, data=data, shape=[size], strides=[four], itemsize=four, meminfo=None)
    return made._getvalue()


@intrinsic
def array_at(typing, address, size):
    """Return ``size`` floats at an address, as an array."""
    def build(context, builder, signature, args):
        return _array(context, builder, *args)

    return _ARRAY(types.int64, types.int64), build


@intrinsic
def arrays_at(typing, table, first, offset, size, place, total, like):
    """Return arrays at ``table[first] + offset`` and following, as many as ``like`` has.

    Number ``place`` of them is at ``total``.
    """
    kinds = types.UniTuple(_ARRAY, len(like))

    def build(context, builder, signature, args):
        table, first, offset, size, place, total, _ = args
        start = context.make_array(signature.args[0])(context, builder, table).data
        made = []
        for number in range(len(like)):
            one = ir.Constant(_WORD, number)
            address = builder.add(builder.load(builder.gep(start, [builder.add(first, one)])), offset)
            address = builder.select(builder.icmp_signed("==", place, one), total, address)
            made.append(_array(context, builder, address, size))
        return context.make_tuple(builder, kinds, made)

    whole = types.int64
    return kinds(table, whole, whole, whole, whole, whole, like), build


@intrinsic
def numbers_at(typing, numbers, first, like):
    """Return ``numbers[first]`` and following, as many as ``like`` has; in a tuple of their own if ``like`` is one."""
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


def copied(source, target, n):
    for i in range(n):
        target[i] = source[i]


def rule(*arguments):
    """The loop of a page, when ``walk`` is compiled."""


def walk(table, numbers, rows, sums, together, copies, place, total, part, like, tail):
    first = 2 + len(like)
    width = first + sums + copies
    for k in range(rows):
        row = k * width
        n = table[row]
        values = numbers_at(numbers, table[row + 1], tail)
        for start in range(0, n, PIECE):
            size, offset = min(n - start, PIECE), 4 * start
            if sums > 0:  # the first of them, and groups of ``together`` others, each added up before
                left = table[row + first] + offset
                for begin in range(1, sums, together):
                    right = table[row + first + begin] + offset
                    for other in range(begin + 1, min(begin + together, sums)):
                        address = table[row + first + other] + offset
                        added(array_at(right, size), array_at(address, size), array_at(part, size), size)
                        right = part
                    added(array_at(left, size), array_at(right, size), array_at(total, size), size)
                    left = total
            arrays = arrays_at(table, row + 2, offset, size, place, total, like)
            rule(*(arrays + (size,) + values))  # noqa: RUF005  # Numba joins tuples, and unpacks no more than one
            for copy in range(copies):
                target = table[row + first + sums + copy] + offset
                copied(array_at(table[row + 2] + offset, size), array_at(target, size), size)
    table[rows * width] += 1


def _inside(function: Any) -> Any:
    """A function that only ``walk`` calls, compiled as loops are."""
    return njit(
        nogil=True, error_model="numpy", pipeline_class=_DistinctArrays, no_cpython_wrapper=True, **_UNCALLED_FROM_C
    )(_rewrite(function, "cpu", _ForCpu()))


@cache
def _compiled(loop: Loop) -> Any:
    """``walk`` around a loop."""
    body = _rewrite(walk, "cpu", _ForCpu())
    body.__globals__.update(rule=_inside(loop._source), added=_inside(added), copied=_inside(copied))
    body.__name__ = body.__qualname__ = f"walk_{loop._label}"
    body.__module__ = loop._source.__module__
    dispatcher = njit(nogil=True, error_model="numpy", pipeline_class=_DistinctArrays, **_UNCALLED_FROM_C)(body)
    kernel_cache.enable(dispatcher, walk, loop._source, *loop._formulas)
    return dispatcher


def is_possible() -> bool:
    """Whether there is machine code, which trusts the addresses of a table."""
    return not (numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK)


class Shape(NamedTuple):
    """How the rows of a table look: see the module's text.

    ``place`` is the number of the array that the sum stands for; ``together`` how many of the arrays after the first
    are added up among themselves before they join the total.
    """

    arrays: int
    sums: int = 0
    together: int = 1
    copies: int = 0
    place: int = -1


class Walk:
    """The rows of a table, and the call that goes through them."""

    def __init__(self, loop: Loop, shape: Shape, rows: Sequence[Sequence[int]], count: int, *, named: bool) -> None:
        """Make the table of ``rows``; the loop takes ``count`` numbers, ``named`` says in a geometry."""
        tail: Any = (0,) * count
        total, self._part = (allocate((PIECE,), np.dtype(np.float32)).flat for _ in range(2))
        self._total, self._run = total, _compiled(loop)
        self._table = np.append(np.array(rows, np.int64).reshape(-1), 0)
        self._rest = (
            len(rows), shape.sums, shape.together, shape.copies, shape.place, address_of(total),
            address_of(self._part), (0,) * shape.arrays, (tail,) if named else tail,
        )

    @property
    def done(self) -> int:
        """How many calls have done their work: machine code counts them, so that no interrupt comes in between."""
        return int(self._table[-1])

    def __call__(self, numbers: np.ndarray) -> None:
        """Update everything, with float32 ``numbers``."""
        self._run(self._table, numbers, *self._rest)


def address_of(flat: np.ndarray) -> int:
    """Where an array's elements begin."""
    return flat.__array_interface__["data"][0]


__all__ = ["Shape", "Walk", "address_of", "is_possible"]
