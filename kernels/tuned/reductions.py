"""Reductions by vectors: sixteen lanes along a row, or neighbouring groups side by side; all bits are the page's.

Where neighbours in memory are reduced, the page combines them in sixteen lanes (clause reduce/sum-order), and a vector
holds these lanes. Where neighbours belong to different groups, the page's order is C order, and the totals of up to
512 groups take in one row after another; this loop is vectorised by the compiler, from the page's own formulas.

Sums and products are made in doubles. Maxima and minima stay in the array's type, in which they are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..foundation import Buffer
from ..foundation.loop import loops_of
from ..foundation.walks import LANES as LANE_COUNT
from ..foundation.walks import GroupSizes, offset_of
from ..reduce import reduce_rows
from .kernel import FLOATS, kernel, twin, workspace
from .lanes import LANES, SINGLES, _load, _place, vector_of
from .simd import _mask_below, _shuffle

BESIDE = 512  # totals that are kept in the cache
FEWEST = 1024  # elements that are worth a twin

# --- formulas over vectors: combine(total, x) of a page, and the join of two totals ---------------


def _wide(b: Any, x: Any) -> Any:
    return b.fpext(x, ir.VectorType(ir.DoubleType(), x.type.count)) if x.type.element == ir.FloatType() else x


def _constant(like: Any, value: float) -> ir.Constant:
    return ir.Constant(like.type, [value] * like.type.count)


def _add(b: Any, total: Any, x: Any) -> Any:
    return b.fadd(total, _wide(b, x))


def _multiply(b: Any, total: Any, x: Any) -> Any:
    return b.fmul(total, _wide(b, x))


def _if_nan(b: Any, total: Any, x: Any) -> Any:
    return b.select(b.fcmp_unordered("uno", x, x), x, total)


def _above(b: Any, total: Any, x: Any) -> Any:
    return b.select(b.fcmp_ordered(">", x, total), x, total)


def _below(b: Any, total: Any, x: Any) -> Any:
    return b.select(b.fcmp_ordered("<", x, total), x, total)


def _if_number(formula: Callable) -> Callable:
    return lambda b, total, x: b.select(b.fcmp_ordered("ord", x, x), formula(b, total, x), total)


def _if_not_zero(formula: Callable) -> Callable:
    return lambda b, total, x: b.select(b.fcmp_unordered("!=", x, _constant(x, 0.0)), formula(b, total, x), total)


def _count_zeros(b: Any, total: Any, x: Any) -> Any:
    return b.select(b.fcmp_ordered("==", x, _constant(x, 0.0)), b.fadd(total, _constant(total, 1.0)), total)


def _add_magnitude(b: Any, total: Any, x: Any) -> Any:
    wide = _wide(b, x)
    kind, name = ir.FunctionType(wide.type, [wide.type]), f"llvm.fabs.v{wide.type.count}f64"
    return b.fadd(total, b.call(cgutils.get_or_insert_function(b.module, kind, name), [wide]))


def _add_square(b: Any, total: Any, x: Any) -> Any:
    wide = _wide(b, x)
    return b.fadd(total, b.fmul(wide, wide))


def _add_own_square(b: Any, total: Any, x: Any) -> Any:
    return b.fadd(total, _wide(b, b.fmul(x, x)))


class _Vector(NamedTuple):
    combine: Callable
    join: Callable
    doubles: bool = True
    keeps_nan: bool = False
    """Whether a NaN makes the result NaN although ``combine`` forgets it: remembered apart, it delays no comparison."""


_VECTORS = {
    "totals.add": _Vector(_add, _add),
    "totals.add_numbers": _Vector(_if_number(_add), _add),
    "totals.multiply": _Vector(_multiply, _multiply),
    "totals.multiply_numbers": _Vector(_if_number(_multiply), _multiply),
    "totals.multiply_others": _Vector(_if_not_zero(_multiply), _multiply),
    "totals.multiply_other_numbers": _Vector(_if_number(_if_not_zero(_multiply)), _multiply),
    "totals.count_zeros": _Vector(_count_zeros, _add),
    "totals.larger": _Vector(_above, _above, doubles=False, keeps_nan=True),
    "totals.smaller": _Vector(_below, _below, doubles=False, keeps_nan=True),
    "norm.add_magnitude": _Vector(_add_magnitude, _add),
    "norm.add_square": _Vector(_add_square, _add),
    "square_sum.add_square": _Vector(_add_own_square, _add),
}
"""Of a page's formula: the same over vectors. A loop whose formula is not here has no twin."""


@intrinsic
def begin(typing, data, start):
    """Sixteen lanes of ``start``, in its type."""
    lanes = LANES if start == types.float64 else SINGLES

    def build(context, builder, signature, args):
        vector = vector_of(lanes)
        first = builder.insert_element(ir.Constant(vector, ir.Undefined), args[1], ir.Constant(ir.IntType(32), 0))
        every = ir.Constant(ir.VectorType(ir.IntType(32), LANE_COUNT), [0] * LANE_COUNT)
        return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), every)

    return lanes(data, start), build


def _folding(combine: Callable) -> tuple[Any, Any]:
    """Two functions that combine sixteen lanes with the same number of elements, or the first lanes with fewer."""

    @intrinsic
    def fold(typing, totals, data, index):
        def build(context, builder, signature, args):
            return combine(builder, args[0], _load(context, builder, signature.args[1], *args[1:]))

        return totals(totals, data, types.intp), build

    @intrinsic
    def fold_part(typing, totals, data, index, count):
        def build(context, builder, signature, args):
            mask = _mask_below(builder, args[3], range(LANE_COUNT))
            pointer, kind = _place(context, builder, signature.args[1], *args[1:3]), vector_of(data)
            bits = data.dtype.bitwidth
            load = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(kind, [pointer.type, ir.IntType(32), mask.type, kind]),
                f"llvm.masked.load.v{LANE_COUNT}f{bits}.p0",
            )
            x = builder.call(load, [pointer, ir.Constant(ir.IntType(32), bits // 8), mask, ir.Constant(kind, None)])
            return builder.select(mask, combine(builder, args[0], x), args[0])

        return totals(totals, data, types.intp, types.intp), build

    return fold, fold_part


def _join(b: Any, join: Callable, total: Any) -> Any:
    for count in (4, 1):
        parts = [b.shuffle_vector(total, total, _shuffle(range(i, i + count))) for i in range(0, 4 * count, count)]
        total = parts[0]
        for part in parts[1:]:
            total = join(b, total, part)
    return b.extract_element(total, ir.Constant(ir.IntType(32), 0))


@intrinsic
def sum_of_lanes(typing, lanes):
    """The sum of sixteen lanes, in the order of ``joined``."""

    def build(context, builder, signature, args):
        return _join(builder, _add, args[0])

    return types.float64(LANES), build


def _joining(join: Callable, keeps_nan: bool) -> Any:
    @intrinsic
    def joined(typing, totals, nans):
        """Lanes 0, 4, 8 and 12 joined in this order, so are 1, 5, 9, 13 and so on, then these four totals."""

        def build(context, builder, signature, args):
            total, nans = _join(builder, join, args[0]), args[1]
            if keeps_nan:
                some = builder.bitcast(builder.fcmp_unordered("uno", nans, nans), ir.IntType(LANE_COUNT))
                nan = ir.Constant(total.type, float("nan"))
                total = builder.select(builder.icmp_unsigned("!=", some, ir.Constant(some.type, 0)), nan, total)
            return total

        return totals.dtype(totals, totals), build

    return joined


def _steps(vector: _Vector) -> dict[str, Any]:
    """What a loop over lanes is bound to."""
    fold, fold_part = _folding(vector.combine)
    note, note_part = _folding(_if_nan if vector.keeps_nan else lambda b, total, x: total)
    joined = _joining(vector.join, vector.keeps_nan)
    return {"fold": fold, "fold_part": fold_part, "note": note, "note_part": note_part, "joined": joined}


def lanes_of_extremes(largest: bool) -> dict[str, Any]:
    """The same for maxima or minima."""
    return _steps(_VECTORS["totals.larger" if largest else "totals.smaller"])


# --- loops ---------------------------------------------------------------------------------------


def fill_by_lanes(data, out, start, count, kept_sides, kept_steps, sides, steps, g: GroupSizes):
    whole = g.length // 16 * 16
    for t in range(g.n):
        base = offset_of(t, kept_sides, kept_steps, g.kept_rank)
        totals, nans = begin(data, start), begin(data, start)
        for r in range(g.rows):
            at = base + offset_of(r, sides, steps, g.rank)
            for c in range(at, at + whole, 16):
                totals = fold(totals, data, c)  # noqa: F821  # bound by kernel
                nans = note(nans, data, c)  # noqa: F821
            if whole < g.length:
                totals = fold_part(totals, data, at + whole, g.length - whole)  # noqa: F821
                nans = note_part(nans, data, at + whole, g.length - whole)  # noqa: F821
        out[t] = finish(joined(totals, nans), count)  # noqa: F821


def fill_beside(data, out, totals, start, count, kept_sides, kept_steps, sides, steps, g: GroupSizes):
    """Groups whose elements lie apart; ``totals`` are of some that lie side by side."""
    beside = kept_sides[g.kept_rank - 1]
    for t in range(0, g.n, beside):
        base = offset_of(t, kept_sides, kept_steps, g.kept_rank)
        for left in range(0, beside, BESIDE):
            width = min(BESIDE, beside - left)
            for i in range(width):
                totals[i] = start
            for r in range(g.rows):
                a = base + left + offset_of(r, sides, steps, g.rank)
                for _ in range(g.length // 4):
                    b, c, d = a + g.step, a + 2 * g.step, a + 3 * g.step
                    for i in range(width):
                        total = combine(totals[i], data[a + i])  # noqa: F821  # bound by kernel
                        total = combine(total, data[b + i])  # noqa: F821
                        total = combine(total, data[c + i])  # noqa: F821
                        totals[i] = combine(total, data[d + i])  # noqa: F821
                    a += 4 * g.step
                for _ in range(g.length % 4):
                    for i in range(width):
                        totals[i] = combine(totals[i], data[a + i])  # noqa: F821
                    a += g.step
            for i in range(width):
                out[t + left + i] = finish(totals[i], count)  # noqa: F821


# --- twins ---------------------------------------------------------------------------------------


def takes(args: Sequence[Any]) -> bool:
    """Whether the twin runs a call: for few elements, and few neighbours, the page's loop is as fast."""
    g = args[-1]
    return g.n * g.rows * g.length >= FEWEST and (g.lanes > 1 or g.step > 1)


def reducer(vector: _Vector, combine: Callable, finish: Callable) -> Callable:
    """The twin of a loop with these formulas."""

    @cache
    def by_lanes() -> Any:
        return kernel(fill_by_lanes, combine=combine, finish=finish, **_steps(vector))

    @cache
    def beside() -> Any:
        return kernel(fill_beside, combine=combine, finish=finish)

    def reduce(
        data: Buffer, out: Buffer, start: float, count: float, kept_sides: Buffer, kept_steps: Buffer,
        sides: Buffer, steps: Buffer, g: GroupSizes,
    ) -> None:  # fmt: skip
        """Each group of elements combined, in the page's order."""
        flat = data.flat
        kind = np.float64 if vector.doubles else flat.dtype.type
        numbers = kind(start), count, kept_sides.flat, kept_steps.flat, sides.flat, steps.flat, tuple(g)
        if g.lanes > 1:
            by_lanes()(flat, out.flat, *numbers)
        else:
            beside()(flat, out.flat, workspace("totals", BESIDE, kind), *numbers)

    return reduce


for _loop in loops_of(reduce_rows):
    _combine, _, _finish = _loop.formulas.values()
    _vector = _VECTORS.get(f"{_combine.__module__.rpartition('.')[2]}.{_combine.__name__}")
    if _vector is not None:
        twin(_loop, dtypes=FLOATS, takes=takes)(reducer(_vector, _combine, _finish))
