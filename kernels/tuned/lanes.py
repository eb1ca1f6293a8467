"""A vector of sixteen doubles, for long sums and maxima; where no sum is made, of sixteen single numbers.

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
    """The compile-time type of sixteen numbers."""

    def __init__(self, dtype: types.Float) -> None:
        self.dtype = dtype
        super().__init__(name=f"lanes(16 x {dtype})")


LANES, SINGLES = _Lanes(types.float64), _Lanes(types.float32)


@register_default(_Lanes)
class _LanesModel(PrimitiveModel):
    def __init__(self, manager: Any, kind: _Lanes) -> None:
        super().__init__(manager, kind, vector_of(kind))


def vector_of(kind: Any) -> ir.VectorType:
    """LLVM's type of sixteen of an array's or a vector's numbers."""
    return _SINGLE if kind.dtype == types.float32 else _DOUBLE


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
    """Load ``array[index : index + 16]`` of a float32 or float64 array as doubles; the index is not checked."""
    if array.dtype not in (types.float32, types.float64):
        raise TypingError(f"lanes are loaded from float32 and float64, not {array.dtype}")

    def build(context, builder, signature, args):
        value = _load(context, builder, signature.args[0], *args)
        return builder.fpext(value, _DOUBLE) if array.dtype == types.float32 else value

    return LANES(array, types.intp), build


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    start = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(start, [index]), vector_of(kind).as_pointer())


def _load(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    return builder.load(_place(context, builder, kind, array, index), align=kind.dtype.bitwidth // 8)


@intrinsic
def store(typing, lanes, array, index):
    """Store the lanes to ``array[index : index + 16]``, rounded to its float32 or float64; the index is not checked."""
    if array.dtype not in (types.float32, types.float64):
        raise TypingError(f"lanes are stored to float32 and float64, not {array.dtype}")

    def build(context, builder, signature, args):
        kind, value = signature.args[1], args[0]
        if array.dtype == types.float32:
            value = builder.fptrunc(value, _SINGLE)
        builder.store(value, _place(context, builder, kind, *args[1:]), align=kind.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(LANES, array, types.intp), build


@intrinsic
def add_product(typing, total, left, i, right, j):
    """Return total + left[i : i + 16] . right[j : j + 16] of float32 arrays, each product rounded to float32."""
    if not left.dtype == right.dtype == types.float32:
        raise TypingError(f"products are of float32, not {left.dtype} and {right.dtype}")

    def build(context, builder, signature, args):
        kinds = signature.args
        product = builder.fmul(
            _load(context, builder, kinds[1], *args[1:3]), _load(context, builder, kinds[3], *args[3:])
        )
        return builder.fadd(args[0], builder.fpext(product, _DOUBLE))

    return LANES(LANES, left, types.intp, right, types.intp), build


@intrinsic
def subtract(typing, left, right):
    """Return left - right."""

    def build(context, builder, signature, args):
        return builder.fsub(*args)

    return LANES(LANES, LANES), build


@intrinsic
def multiply(typing, left, right):
    """Return left . right."""

    def build(context, builder, signature, args):
        return builder.fmul(*args)

    return LANES(LANES, LANES), build


@intrinsic
def add(typing, left, right):
    """Return left + right."""

    def build(context, builder, signature, args):
        return builder.fadd(*args)

    return LANES(LANES, LANES), build


@intrinsic
def divide(typing, left, right):
    """Return left / right."""

    def build(context, builder, signature, args):
        return builder.fdiv(*args)

    return LANES(LANES, LANES), build


@intrinsic
def where_larger(typing, left, right, yes, no):
    """Return ``yes`` in the lanes where left > right, else ``no``, also where either is NaN."""

    def build(context, builder, signature, args):
        left, right, yes, no = args
        return builder.select(builder.fcmp_ordered(">", left, right), yes, no)

    return LANES(LANES, LANES, LANES, LANES), build


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
