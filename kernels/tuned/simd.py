"""SIMD vectors and register tiles, for kernels in which Numba's own vectoriser is too slow.

A tile is a small block of an output matrix that stays in vector registers while its sums are accumulated.
A matrix product spends its time in ``out[i, j] += a[i, t] * b[t, j]``. Done one element at a time, every
multiplication waits for two loads and a store. A tile holds R rows times B blocks of 8 lanes of ``out`` in
registers. For each t it multiplies R single elements of ``a``, each broadcast to all lanes, with B blocks of ``b``:
R + B loads feed R * B * 8 multiplications, and nothing is stored before the last t. Such a loop runs at nearly the
peak of the CPU, and each output still adds its products in increasing t.

``rows`` and ``blocks`` below are tuples of offsets, one per row and one per block of 8 lanes. The compiler knows
the lengths of tuples, and so the size of the tile. The lanes of a block are contiguous in memory; rows and blocks
may begin anywhere. All functions here exist in compiled code only and do not check their offsets.
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
_BLOCK = ir.VectorType(_FLOAT, 8)
_VECTOR = ir.VectorType(_FLOAT, 16)  # two blocks; LLVM splits it where registers are narrower
_INDICES = ir.VectorType(_INDEX, 16)
_MASK = ir.VectorType(ir.IntType(1), 16)


def tile_sizes() -> dict[str, list[tuple[int, int]]]:
    """Sizes (rows, blocks) of tiles whose sums and operands fit this CPU's registers, by what they are for."""
    features = config.CPU_FEATURES
    features = (get_host_cpu_features() if features is None else features).split(",")
    if "+avx512f" in features:  # 32 registers of 16 lanes
        return {
            "wide": [(8, 4), (10, 4)], "narrow": [(16, 2)],
            "lanes": [(6, 8), (6, 4), (8, 2)], "sums": [(6, 8), (8, 4), (8, 2)],
        }
    if "+avx" in features or "+neon" in features:  # 16 of 8 lanes, or 32 of 4
        return {"wide": [(6, 2), (5, 2)], "narrow": [(6, 2)], "lanes": [(6, 2)], "sums": [(6, 2)]}
    return {"wide": [(2, 2)], "narrow": [(2, 2)], "lanes": [(2, 2)], "sums": [(2, 2)]}


class Tile(types.Type):
    """The compile-time type of a tile of ``rows`` rows and ``blocks`` (an even number) blocks."""

    def __init__(self, rows: int, blocks: int) -> None:
        self.rows, self.pairs = rows, blocks // 2
        super().__init__(name=f"tile({rows}x{blocks})")


@register_default(Tile)
class _TileModel(PrimitiveModel):
    def __init__(self, manager: Any, kind: Tile) -> None:
        super().__init__(manager, kind, ir.ArrayType(_VECTOR, kind.rows * kind.pairs))


def _shuffle(lanes: Any) -> ir.Constant:
    """The lanes that a shuffle takes, as LLVM wants them."""
    lanes = list(lanes)
    return ir.Constant(ir.VectorType(_INDEX, len(lanes)), lanes)


def _mask_even(builder: Any, count: Any, first: int) -> Any:
    """A mask of the even lanes 2 i with ``first + i`` below ``count``."""
    never = 1 << 20
    return _mask_below(builder, count, [never if j % 2 else first + j // 2 for j in range(16)])


class _Memory:
    """Loads from and stores to one array, at offsets that are not checked."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any) -> None:
        if kind.dtype != types.float32:
            raise TypingError(f"tiles are read and written as float32, not {kind.dtype}")
        self.builder = builder
        self.start = context.make_array(kind)(context, builder, array).data

    def _pointer(self, base: Any, offset: Any, kind: Any) -> Any:
        pointer = self.builder.gep(self.start, [self.builder.add(base, offset)], inbounds=True)
        return self.builder.bitcast(pointer, kind.as_pointer())

    def broadcast(self, base: Any, offset: Any) -> Any:
        """Load one element and copy it to all lanes."""
        b = self.builder
        value = b.load(self._pointer(base, offset, _FLOAT), align=4)
        first = b.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(_INDEX, 0))
        return b.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), _shuffle([0] * 16))

    def load_pair(self, base: Any, low: Any, high: Any) -> Any:
        """Load two blocks as one vector."""
        b = self.builder
        halves = [b.load(self._pointer(base, o, _BLOCK), align=4) for o in (low, high)]
        return b.shuffle_vector(*halves, _shuffle(range(16)))

    def store_pair(self, base: Any, low: Any, high: Any, value: Any) -> None:
        b = self.builder
        for offset, lanes in ((low, range(8)), (high, range(8, 16))):
            half = b.shuffle_vector(value, ir.Constant(_VECTOR, ir.Undefined), _shuffle(lanes))
            b.store(half, self._pointer(base, offset, _BLOCK), align=4)

    def load_row(self, offset: Any, lanes: Any = None) -> Any:
        """Load sixteen contiguous elements, or those of them that the mask ``lanes`` selects (the others are 0)."""
        pointer = self._pointer(ir.Constant(offset.type, 0), offset, _VECTOR)
        if lanes is None:
            return self.builder.load(pointer, align=4)
        kind = ir.FunctionType(_VECTOR, [pointer.type, _INDEX, _MASK, _VECTOR])
        load = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.masked.load.v16f32.p0")
        zeros = ir.Constant(_VECTOR, None)
        return self.builder.call(load, [pointer, ir.Constant(_INDEX, 4), lanes, zeros])

    def store_row(self, offset: Any, value: Any, lanes: Any = None) -> None:
        pointer = self._pointer(ir.Constant(offset.type, 0), offset, _VECTOR)
        if lanes is None:
            self.builder.store(value, pointer, align=4)
            return
        kind = ir.FunctionType(ir.VoidType(), [_VECTOR, pointer.type, _INDEX, _MASK])
        store = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.masked.store.v16f32.p0")
        self.builder.call(store, [value, pointer, ir.Constant(_INDEX, 4), lanes])


def _mask_below(builder: Any, count: Any, numbers: Any) -> Any:
    """A mask of the lanes whose entry in ``numbers`` is below ``count``."""
    count = builder.trunc(count, _INDEX)
    first = builder.insert_element(ir.Constant(_INDICES, ir.Undefined), count, ir.Constant(_INDEX, 0))
    every = builder.shuffle_vector(first, ir.Constant(_INDICES, ir.Undefined), _shuffle([0] * 16))
    return builder.icmp_signed("<", _shuffle(numbers), every)


def _unpack(builder: Any, tuple_value: Any) -> list[Any]:
    count = tuple_value.type.count
    return [builder.extract_value(tuple_value, i) for i in range(count)]


def _pack(builder: Any, kind: Any, values: list[Any]) -> Any:
    packed = ir.Constant(kind, ir.Undefined)
    for i, value in enumerate(values):
        packed = builder.insert_value(packed, value, i)
    return packed


@intrinsic
def load_offsets(typing, table, index, like):
    """Load ``(table[index], table[index + 1], ...)``, as many as ``like`` has."""
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
    """Return ``(first, first + step, first + 2 step, ...)``, each at most ``last``, as many as ``like`` has."""
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
def zero_tile(typing, rows, blocks):
    """Return a tile of zeros."""
    tile = Tile(rows.count, blocks.count)

    def build(context, builder, signature, args):
        return ir.Constant(context.get_value_type(tile), None)

    return tile(rows, blocks), build


@intrinsic
def load_tile(typing, array, rows, blocks, base):
    """Load a tile from ``array[base + row + block]``."""
    tile = Tile(rows.count, blocks.count)

    def build(context, builder, signature, args):
        memory = _Memory(context, builder, signature.args[0], args[0])
        r, b = _unpack(builder, args[1]), _unpack(builder, args[2])
        values = [
            memory.load_pair(builder.add(args[3], row), b[i], b[i + 1])
            for row in r for i in range(0, len(b), 2)
        ]
        return _pack(builder, context.get_value_type(tile), values)

    return tile(array, rows, blocks, types.intp), build


@intrinsic
def store_tile(typing, tile, array, rows, blocks, base):
    """Store a tile to ``array[base + row + block]``."""

    def build(context, builder, signature, args):
        memory = _Memory(context, builder, signature.args[1], args[1])
        values = iter(_unpack(builder, args[0]))
        b = _unpack(builder, args[3])
        for row in _unpack(builder, args[2]):
            start = builder.add(args[4], row)
            for i in range(0, len(b), 2):
                memory.store_pair(start, b[i], b[i + 1], next(values))
        return context.get_dummy_value()

    return types.void(tile, array, rows, blocks, types.intp), build


@intrinsic
def add_tiles(typing, left, right):
    """Return the sum of two tiles."""

    def build(context, builder, signature, args):
        pairs = zip(_unpack(builder, args[0]), _unpack(builder, args[1]), strict=True)
        values = [builder.fadd(x, y) for x, y in pairs]
        return _pack(builder, context.get_value_type(left), values)

    return left(left, right), build


@intrinsic
def fma_tile(typing, tile, a, rows, a_base, b, blocks, b_base):
    """Return ``tile[r, q] + a[a_base + rows[r]] * b[b_base + blocks[q]]`` for every r and q.

    It is a fused multiply-add (one rounding) where the CPU has one, otherwise a product and a sum.
    """

    def build(context, builder, signature, args):
        sums, a_array, r, a_from, b_array, q, b_from = args
        left = _Memory(context, builder, signature.args[1], a_array)
        right = _Memory(context, builder, signature.args[4], b_array)
        fuse = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fmuladd.v16f32"
        )
        q = _unpack(builder, q)
        vectors = [right.load_pair(b_from, q[i], q[i + 1]) for i in range(0, len(q), 2)]
        old, new = iter(_unpack(builder, sums)), []
        for row in _unpack(builder, r):
            number = left.broadcast(a_from, row)
            new += [builder.call(fuse, [number, vector, next(old)]) for vector in vectors]
        return _pack(builder, context.get_value_type(tile), new)

    kinds = (tile, a, rows, types.intp, b, blocks, types.intp)
    return tile(*kinds), build


@intrinsic
def multiply_add_tile(typing, tile, a, rows, a_base, b, blocks, b_base):
    """Return ``tile[r, q] + a[a_base + rows[r] + blocks[q]] * b[b_base + blocks[q]]``.

    The product is rounded before it is added, as plain loops do.
    """

    def build(context, builder, signature, args):
        sums, a_array, r, a_from, b_array, q, b_from = args
        left = _Memory(context, builder, signature.args[1], a_array)
        right = _Memory(context, builder, signature.args[4], b_array)
        q = _unpack(builder, q)
        pairs = [(q[i], q[i + 1]) for i in range(0, len(q), 2)]
        vectors = [right.load_pair(b_from, *pair) for pair in pairs]
        old, new = iter(_unpack(builder, sums)), []
        for row in _unpack(builder, r):
            start = builder.add(a_from, row)
            for pair, vector in zip(pairs, vectors, strict=True):
                new.append(builder.fadd(next(old), builder.fmul(left.load_pair(start, *pair), vector)))
        return _pack(builder, context.get_value_type(tile), new)

    kinds = (tile, a, rows, types.intp, b, blocks, types.intp)
    return tile(*kinds), build


@intrinsic
def copy_16(typing, source, start, target, to):
    """Copy sixteen contiguous elements."""

    def build(context, builder, signature, args):
        read = _Memory(context, builder, signature.args[0], args[0])
        write = _Memory(context, builder, signature.args[2], args[2])
        write.store_row(args[3], read.load_row(args[1]))
        return context.get_dummy_value()

    return types.void(source, types.intp, target, types.intp), build


@intrinsic
def copy_masked(typing, source, start, target, to, count):
    """Copy ``count`` elements, at most sixteen, and touch no others: ``target[to + i] = source[start + i]``."""

    def build(context, builder, signature, args):
        read = _Memory(context, builder, signature.args[0], args[0])
        write = _Memory(context, builder, signature.args[2], args[2])
        lanes = _mask_below(builder, args[4], range(16))
        write.store_row(args[3], read.load_row(args[1], lanes), lanes)
        return context.get_dummy_value()

    return types.void(source, types.intp, target, types.intp, types.intp), build


@intrinsic
def copy_from_stride_2(typing, source, start, target, to, count):
    """Copy ``count`` elements, at most sixteen, from every second place: ``target[to + i] = source[start + 2 i]``."""

    def build(context, builder, signature, args):
        read = _Memory(context, builder, signature.args[0], args[0])
        write = _Memory(context, builder, signature.args[2], args[2])
        more = ir.Constant(args[1].type, 16)
        low = read.load_row(args[1], _mask_even(builder, args[4], 0))
        high = read.load_row(builder.add(args[1], more), _mask_even(builder, args[4], 8))
        lanes = _mask_below(builder, args[4], range(16))
        write.store_row(args[3], builder.shuffle_vector(low, high, _shuffle(range(0, 32, 2))), lanes)
        return context.get_dummy_value()

    return types.void(source, types.intp, target, types.intp, types.intp), build


@intrinsic
def copy_to_stride_2(typing, source, start, target, to, count):
    """Copy ``count`` elements, at most sixteen, to every second place: ``target[to + 2 i] = source[start + i]``."""

    def build(context, builder, signature, args):
        read = _Memory(context, builder, signature.args[0], args[0])
        write = _Memory(context, builder, signature.args[2], args[2])
        row = read.load_row(args[1], _mask_below(builder, args[4], range(16)))
        for first in (0, 8):
            place = builder.add(args[3], ir.Constant(args[3].type, 2 * first))
            spaced = builder.shuffle_vector(row, row, _shuffle(first + j // 2 for j in range(16)))
            write.store_row(place, spaced, _mask_even(builder, args[4], first))
        return context.get_dummy_value()

    return types.void(source, types.intp, target, types.intp, types.intp), build
