"""Tiles: a small block of an output matrix, kept in vector registers while its sums grow.

A matrix product spends its time in ``out[i, j] += a[i, t] * b[t, j]``. Done one element at a time, every
multiplication waits for loads and a store. A tile turns this round: it holds R rows times B blocks of
8 lanes of ``out`` in registers and, for each t, multiplies R single numbers of ``a`` (each copied to all
lanes) with B blocks of ``b``: R + B loads feed R * B * 8 multiplications and nothing is stored until
the end. Such a loop runs at nearly the speed of the multipliers, and each output still adds its
products in increasing t.

``rows`` and ``blocks`` below are tuples of offsets, one per row and one per block of 8 lanes. Their lengths
tell the compiler the size of the tile. The lanes of a block are neighbours in memory; rows and blocks
may lie anywhere. All functions here exist in compiled code only and trust their offsets.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config
from numba.core import cgutils, types
from numba.core.codegen import get_host_cpu_features
from numba.core.datamodel import PrimitiveModel, register_default
from numba.core.errors import TypingError
from numba.core.extending import intrinsic

_INDEX = ir.IntType(32)
_FLOAT = ir.FloatType()
_HALF = ir.VectorType(_FLOAT, 8)  # one block
_WHOLE = ir.VectorType(_FLOAT, 16)  # two blocks; LLVM splits it where registers are narrower
_NUMBERS = ir.VectorType(_INDEX, 16)
_LANES = ir.VectorType(ir.IntType(1), 16)


def tile_sizes() -> dict[str, list[tuple[int, int]]]:
    """Sizes (rows, blocks) of wide and narrow tiles whose sums and operands fit this CPU's registers."""
    features = config.CPU_FEATURES
    features = (get_host_cpu_features() if features is None else features).split(",")
    if "+avx512f" in features:  # 32 registers of 16 lanes
        return {"wide": [(8, 4), (10, 4)], "narrow": [(16, 2)]}
    if "+avx" in features or "+neon" in features:  # 16 of 8 lanes, or 32 of 4
        return {"wide": [(6, 2), (5, 2)], "narrow": [(6, 2)]}
    return {"wide": [(2, 2)], "narrow": [(2, 2)]}


class Tile(types.Type):
    """The compile-time type of a tile of ``rows`` rows and ``blocks`` (an even number) blocks."""

    def __init__(self, rows: int, blocks: int) -> None:
        self.rows, self.pairs = rows, blocks // 2
        super().__init__(name=f"tile({rows}x{blocks})")


@register_default(Tile)
class _TileModel(PrimitiveModel):
    def __init__(self, manager: Any, kind: Tile) -> None:
        super().__init__(manager, kind, ir.ArrayType(_WHOLE, kind.rows * kind.pairs))


def _mask(lanes: Any) -> ir.Constant:
    lanes = list(lanes)
    return ir.Constant(ir.VectorType(_INDEX, len(lanes)), lanes)


def _even(builder: Any, count: Any, first: int) -> Any:
    """A mask of the even lanes 2 i with ``first + i`` below ``count``."""
    never = 1 << 20
    return _below(builder, count, [never if j % 2 else first + j // 2 for j in range(16)])


class _Memory:
    """Loads and stores of numbers and blocks of one array, at offsets that are not checked."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any) -> None:
        if kind.dtype != types.float32:
            raise TypingError(f"tiles are read and written as float32, not {kind.dtype}")
        self.builder = builder
        self.start = context.make_array(kind)(context, builder, array).data

    def _pointer(self, base: Any, offset: Any, kind: Any) -> Any:
        place = self.builder.gep(self.start, [self.builder.add(base, offset)], inbounds=True)
        return self.builder.bitcast(place, kind.as_pointer())

    def number(self, base: Any, offset: Any) -> Any:
        """One number, copied to all lanes."""
        b = self.builder
        value = b.load(self._pointer(base, offset, _FLOAT), align=4)
        first = b.insert_element(ir.Constant(_WHOLE, ir.Undefined), value, ir.Constant(_INDEX, 0))
        return b.shuffle_vector(first, ir.Constant(_WHOLE, ir.Undefined), _mask([0] * 16))

    def pair(self, base: Any, low: Any, high: Any) -> Any:
        """Two blocks as one vector."""
        b = self.builder
        halves = [b.load(self._pointer(base, o, _HALF), align=4) for o in (low, high)]
        return b.shuffle_vector(*halves, _mask(range(16)))

    def put_pair(self, base: Any, low: Any, high: Any, value: Any) -> None:
        b = self.builder
        for offset, lanes in ((low, range(8)), (high, range(8, 16))):
            half = b.shuffle_vector(value, ir.Constant(_WHOLE, ir.Undefined), _mask(lanes))
            b.store(half, self._pointer(base, offset, _HALF), align=4)

    def row(self, offset: Any, lanes: Any = None) -> Any:
        """Sixteen neighbours, or those of them that the mask ``lanes`` names."""
        place = self._pointer(ir.Constant(offset.type, 0), offset, _WHOLE)
        if lanes is None:
            return self.builder.load(place, align=4)
        kind = ir.FunctionType(_WHOLE, [place.type, _INDEX, _LANES, _WHOLE])
        load = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.masked.load.v16f32.p0")
        zeros = ir.Constant(_WHOLE, None)
        return self.builder.call(load, [place, ir.Constant(_INDEX, 4), lanes, zeros])

    def put_row(self, offset: Any, value: Any, lanes: Any = None) -> None:
        place = self._pointer(ir.Constant(offset.type, 0), offset, _WHOLE)
        if lanes is None:
            self.builder.store(value, place, align=4)
            return
        kind = ir.FunctionType(ir.VoidType(), [_WHOLE, place.type, _INDEX, _LANES])
        store = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.masked.store.v16f32.p0")
        self.builder.call(store, [value, place, ir.Constant(_INDEX, 4), lanes])


def _below(builder: Any, count: Any, numbers: Any) -> Any:
    """A mask of the lanes whose number is below ``count``."""
    count = builder.trunc(count, _INDEX)
    first = builder.insert_element(ir.Constant(_NUMBERS, ir.Undefined), count, ir.Constant(_INDEX, 0))
    every = builder.shuffle_vector(first, ir.Constant(_NUMBERS, ir.Undefined), _mask([0] * 16))
    return builder.icmp_signed("<", _mask(numbers), every)


def _parts(builder: Any, tuple_value: Any) -> list[Any]:
    count = tuple_value.type.count
    return [builder.extract_value(tuple_value, i) for i in range(count)]


def _pack(builder: Any, kind: Any, values: list[Any]) -> Any:
    packed = ir.Constant(kind, ir.Undefined)
    for i, value in enumerate(values):
        packed = builder.insert_value(packed, value, i)
    return packed


@intrinsic
def offsets(typing, table, index, like):
    """``(table[index], table[index + 1], ...)``, as many as ``like`` has."""
    signature = like(table, types.intp, like)

    def build(context, builder, signature, args):
        start = context.make_array(signature.args[0])(context, builder, args[0]).data
        values = [
            builder.load(builder.gep(start, [builder.add(args[1], ir.Constant(args[1].type, i))]))
            for i in range(like.count)
        ]
        return _pack(builder, context.get_value_type(like), values)

    return signature, build


@intrinsic
def ramp(typing, first, step, last, like):
    """``(first, first + step, first + 2 step, ...)``, nothing beyond ``last``, as many as ``like`` has."""
    signature = like(types.intp, types.intp, types.intp, like)

    def build(context, builder, signature, args):
        value, step, last, _ = args
        values = []
        for _ in range(like.count):
            values.append(builder.select(builder.icmp_signed("<", value, last), value, last))
            value = builder.add(value, step)
        return _pack(builder, context.get_value_type(like), values)

    return signature, build


@intrinsic
def blank(typing, rows, blocks):
    """A tile of zeros."""
    tile = Tile(rows.count, blocks.count)

    def build(context, builder, signature, args):
        return ir.Constant(context.get_value_type(tile), None)

    return tile(rows, blocks), build


@intrinsic
def lift(typing, array, rows, blocks, base):
    """A tile read from ``array[base + row + block]``."""
    tile = Tile(rows.count, blocks.count)

    def build(context, builder, signature, args):
        memory = _Memory(context, builder, signature.args[0], args[0])
        r, b = _parts(builder, args[1]), _parts(builder, args[2])
        values = [
            memory.pair(builder.add(args[3], row), b[i], b[i + 1])
            for row in r for i in range(0, len(b), 2)
        ]
        return _pack(builder, context.get_value_type(tile), values)

    return tile(array, rows, blocks, types.intp), build


@intrinsic
def lay(typing, tile, array, rows, blocks, base):
    """Write a tile to ``array[base + row + block]``."""

    def build(context, builder, signature, args):
        memory = _Memory(context, builder, signature.args[1], args[1])
        values = iter(_parts(builder, args[0]))
        b = _parts(builder, args[3])
        for row in _parts(builder, args[2]):
            start = builder.add(args[4], row)
            for i in range(0, len(b), 2):
                memory.put_pair(start, b[i], b[i + 1], next(values))
        return context.get_dummy_value()

    return types.void(tile, array, rows, blocks, types.intp), build


@intrinsic
def join(typing, left, right):
    """The sum of two tiles."""

    def build(context, builder, signature, args):
        pairs = zip(_parts(builder, args[0]), _parts(builder, args[1]), strict=True)
        values = [builder.fadd(x, y) for x, y in pairs]
        return _pack(builder, context.get_value_type(left), values)

    return left(left, right), build


@intrinsic
def grow(typing, tile, a, rows, a_base, b, blocks, b_base):
    """``tile[r, q] + a[a_base + rows[r]] * b[b_base + blocks[q]]``: one more product for every sum.

    Fused where the CPU can (one rounding), else a product and a sum.
    """

    def build(context, builder, signature, args):
        sums, a_array, r, a_from, b_array, q, b_from = args
        left = _Memory(context, builder, signature.args[1], a_array)
        right = _Memory(context, builder, signature.args[4], b_array)
        fuse = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_WHOLE, [_WHOLE] * 3), "llvm.fmuladd.v16f32"
        )
        q = _parts(builder, q)
        vectors = [right.pair(b_from, q[i], q[i + 1]) for i in range(0, len(q), 2)]
        old, new = iter(_parts(builder, sums)), []
        for row in _parts(builder, r):
            number = left.number(a_from, row)
            new += [builder.call(fuse, [number, vector, next(old)]) for vector in vectors]
        return _pack(builder, context.get_value_type(tile), new)

    kinds = (tile, a, rows, types.intp, b, blocks, types.intp)
    return tile(*kinds), build


@intrinsic
def carry(typing, source, start, target, to):
    """Copy sixteen neighbours."""

    def build(context, builder, signature, args):
        read = _Memory(context, builder, signature.args[0], args[0])
        write = _Memory(context, builder, signature.args[2], args[2])
        write.put_row(args[3], read.row(args[1]))
        return context.get_dummy_value()

    return types.void(source, types.intp, target, types.intp), build


@intrinsic
def carry_some(typing, source, start, target, to, count):
    """Copy at most sixteen neighbours, touching no others: ``target[to + i] = source[start + i]``."""

    def build(context, builder, signature, args):
        read = _Memory(context, builder, signature.args[0], args[0])
        write = _Memory(context, builder, signature.args[2], args[2])
        lanes = _below(builder, args[4], range(16))
        write.put_row(args[3], read.row(args[1], lanes), lanes)
        return context.get_dummy_value()

    return types.void(source, types.intp, target, types.intp, types.intp), build


@intrinsic
def carry_even(typing, source, start, target, to, count):
    """Copy at most sixteen numbers that lie two apart: ``target[to + i] = source[start + 2 i]``."""

    def build(context, builder, signature, args):
        read = _Memory(context, builder, signature.args[0], args[0])
        write = _Memory(context, builder, signature.args[2], args[2])
        more = ir.Constant(args[1].type, 16)
        low = read.row(args[1], _even(builder, args[4], 0))
        high = read.row(builder.add(args[1], more), _even(builder, args[4], 8))
        lanes = _below(builder, args[4], range(16))
        write.put_row(args[3], builder.shuffle_vector(low, high, _mask(range(0, 32, 2))), lanes)
        return context.get_dummy_value()

    return types.void(source, types.intp, target, types.intp, types.intp), build


@intrinsic
def carry_apart(typing, source, start, target, to, count):
    """Copy at most sixteen neighbours to places two apart: ``target[to + 2 i] = source[start + i]``."""

    def build(context, builder, signature, args):
        read = _Memory(context, builder, signature.args[0], args[0])
        write = _Memory(context, builder, signature.args[2], args[2])
        row = read.row(args[1], _below(builder, args[4], range(16)))
        for first in (0, 8):
            place = builder.add(args[3], ir.Constant(args[3].type, 2 * first))
            spaced = builder.shuffle_vector(row, row, _mask(first + j // 2 for j in range(16)))
            write.put_row(place, spaced, _even(builder, args[4], first))
        return context.get_dummy_value()

    return types.void(source, types.intp, target, types.intp, types.intp), build


@intrinsic
def turn(typing, source, start, pitch, target, to, to_pitch):
    """Transpose 16 x 16: ``target[to + j to_pitch + i] = source[start + i pitch + j]``.

    Four rounds of shuffles: round d swaps the off-diagonal squares of side d in every square of side 2 d.
    """

    def build(context, builder, signature, args):
        read = _Memory(context, builder, signature.args[0], args[0])
        write = _Memory(context, builder, signature.args[3], args[3])
        rows, place = [], args[1]
        for _ in range(16):
            rows.append(read.row(place))
            place = builder.add(place, args[2])
        for d in (1, 2, 4, 8):
            upper = _mask(j if not j & d else 16 + j - d for j in range(16))
            lower = _mask(j + d if not j & d else 16 + j for j in range(16))
            for i in range(16):
                if not i & d:
                    first, second = rows[i], rows[i + d]
                    rows[i] = builder.shuffle_vector(first, second, upper)
                    rows[i + d] = builder.shuffle_vector(first, second, lower)
        place = args[4]
        for row in rows:
            write.put_row(place, row)
            place = builder.add(place, args[5])
        return context.get_dummy_value()

    numbers = (types.intp, types.intp)
    return types.void(source, *numbers, target, *numbers), build
