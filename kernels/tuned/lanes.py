"""A vector of sixteen doubles, for long sums and maxima.

A sum in one variable must finish every addition before it starts the next. Sixteen partial sums, one for
each index modulo 16, are independent of each other. Their order is fixed, so the result is the same on every
machine and for any number of threads. They are doubles, so the result is as good as rounding the exact sum.

All functions exist in compiled code only.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import PrimitiveModel, register_default
from numba.core.errors import TypingError
from numba.core.extending import intrinsic

COUNT = 16
_INDEX = ir.IntType(32)
_SINGLE = ir.VectorType(ir.FloatType(), COUNT)
_DOUBLE = ir.VectorType(ir.DoubleType(), COUNT)  # LLVM splits it into what the CPU has


class _Lanes(types.Type):
    """The compile-time type of sixteen doubles."""

    def __init__(self) -> None:
        super().__init__(name="lanes(16 x float64)")


LANES = _Lanes()


@register_default(_Lanes)
class _LanesModel(PrimitiveModel):
    def __init__(self, manager: Any, kind: _Lanes) -> None:
        super().__init__(manager, kind, _DOUBLE)


@intrinsic
def broadcast(typing, number):
    """Copy one number to all lanes."""

    def build(context, builder, signature, args):
        nothing = ir.Constant(_DOUBLE, ir.Undefined)
        first = builder.insert_element(nothing, args[0], ir.Constant(_INDEX, 0))
        every = ir.Constant(ir.VectorType(_INDEX, COUNT), [0] * COUNT)
        return builder.shuffle_vector(first, nothing, every)

    return LANES(types.float64), build


@intrinsic
def load(typing, array, index):
    """Load ``array[index : index + 16]`` of a float32 array as doubles; the index is not checked."""
    if array.dtype != types.float32:
        raise TypingError(f"lanes are loaded from float32, not {array.dtype}")

    def build(context, builder, signature, args):
        start = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(start, [args[1]]), _SINGLE.as_pointer())
        return builder.fpext(builder.load(pointer, align=4), _DOUBLE)

    return LANES(array, types.intp), build


@intrinsic
def subtract(typing, left, right):
    """Return left - right."""

    def build(context, builder, signature, args):
        return builder.fsub(*args)

    return LANES(LANES, LANES), build


@intrinsic
def add(typing, left, right):
    """Return left + right."""

    def build(context, builder, signature, args):
        return builder.fadd(*args)

    return LANES(LANES, LANES), build


@intrinsic
def fma(typing, total, left, right):
    """Return total + left . right, with one rounding where the CPU has a fused multiply-add."""

    def build(context, builder, signature, args):
        fuse = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_DOUBLE, [_DOUBLE] * 3), "llvm.fmuladd.v16f64"
        )
        return builder.call(fuse, [args[1], args[2], args[0]])

    return LANES(LANES, LANES, LANES), build


@intrinsic
def maximum(typing, left, right):
    """Return the larger of each pair of lanes; ``left`` where either is NaN."""

    def build(context, builder, signature, args):
        return _maximum(builder, *args)

    return LANES(LANES, LANES), build


def _maximum(builder: Any, left: Any, right: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", right, left), right, left)


def _reduced(builder: Any, value: Any, combine: Any) -> Any:
    """All lanes combined into one number: first those 8 apart, then 4, 2 and 1."""
    for apart in (8, 4, 2, 1):
        moved = [(i + apart) % COUNT for i in range(COUNT)]
        moved = ir.Constant(ir.VectorType(_INDEX, COUNT), moved)
        value = combine(value, builder.shuffle_vector(value, value, moved))
    return builder.extract_element(value, ir.Constant(_INDEX, 0))


@intrinsic
def reduce_sum(typing, lanes):
    """Return the sum of the lanes: first of those 8 apart, then 4, 2 and 1."""

    def build(context, builder, signature, args):
        return _reduced(builder, args[0], builder.fadd)

    return types.float64(LANES), build


@intrinsic
def reduce_max(typing, lanes):
    """Return the largest lane."""

    def build(context, builder, signature, args):
        return _reduced(builder, args[0], lambda left, right: _maximum(builder, left, right))

    return types.float64(LANES), build
