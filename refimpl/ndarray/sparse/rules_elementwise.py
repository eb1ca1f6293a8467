"""Rules of operators on elements: what stays zero keeps its storage, two patterns meet in their union."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import decides
from ...kernels.cast_storage import GATHER_ROWS
from ...kernels.foundation import ALWAYS, Buffer, Op, allocate, as_buffer, distinct
from ...kernels.shared.sparse_union import GATHER_STORED, aligned, union, without_zeros
from ...kernels.shared.starts import INDEX
from ...op_registry.storage_rules import Rule, add_rule, always
from ..convert import tostype
from ..ndarray import NDArray
from .base import BaseSparseNDArray
from .creation import zeros
from .csr import CSRNDArray
from .row_sparse import RowSparseNDArray
from .values import narrowed, on_dense, widened

SPARSE = ("row_sparse", "csr")


@decides("Sparse/zero-stays")
def on_values(name: str) -> Any:
    """The rule that runs operator ``name`` on the stored values."""

    def run(p: Any, arrays: Sequence[Any]) -> NDArray:
        (array,) = arrays
        return array._like(on_dense(name, p, [array._values]))

    return run


@decides("Sparse/quadratic")
def quadratic(p: Any, arrays: Sequence[Any]) -> NDArray:
    """The polynomial of the stored values; a value that becomes zero is stored no more."""
    (array,) = arrays
    values = on_dense("_contrib_quadratic", p, [array._values])
    kept, columns, starts = without_zeros(widened(values), *_pattern(array))
    parts = (NDArray(starts, array.context), NDArray(columns, array.context))
    return CSRNDArray(narrowed(kept, values.dtype, array.context), parts, array.shape)


def zeros_like(p: Any, arrays: Sequence[Any]) -> NDArray:
    """Nothing stored."""
    (array,) = arrays
    return zeros(array.stype, array.shape, array.context, array.dtype)


def spread(array: NDArray, places: Buffer) -> NDArray:
    """Values by place, zero where the place is -1."""
    values = widened(array)
    out = allocate((places.size, *values.shape[1:]), values.dtype, values.device)
    width = out.size // places.size if places.size else 0
    GATHER_ROWS(values, places, out, places.size, width)
    return narrowed(out, array.dtype, array.context)


@decides("Sparse/union")
def on_union(name: str) -> Any:
    """The rule that runs operator ``name`` on two arrays brought onto the union of their patterns.

    A csr result stores no zeros; of a row_sparse one every row of the union stays.
    """

    def run(p: Any, arrays: Sequence[Any]) -> NDArray:
        left, right = arrays
        ctx = left.context
        right = right.as_in_context(ctx)
        if left.stype == "row_sparse":
            indices, _, from_left, from_right = union(_one_run(left), _one_run(right))
            values = on_dense(name, p, [spread(left._values, from_left), spread(right._values, from_right)])
            return RowSparseNDArray(values, (NDArray(indices, ctx),), left.shape, ordered=True)
        one, other, indices, indptr = aligned(
            widened(left._values), _pattern(left), widened(right._values), _pattern(right)
        )
        values = on_dense(name, p, [narrowed(one, left.dtype, ctx), narrowed(other, right.dtype, ctx)])
        kept, columns, starts = without_zeros(widened(values), indices, indptr)
        parts = (NDArray(starts, ctx), NDArray(columns, ctx))
        return CSRNDArray(narrowed(kept, values.dtype, ctx), parts, left.shape, ordered=True)

    return run


def _pattern(array: BaseSparseNDArray) -> tuple[Buffer, Buffer]:
    """(indices, starts) of a csr matrix."""
    starts, columns = array._indices
    return columns._data, starts._data


def _one_run(array: BaseSparseNDArray) -> tuple[Buffer, Buffer]:
    """The same of a row_sparse array, whose rows are one run."""
    rows = array._indices[0]._data
    return rows, as_buffer(np.array([0, rows.size], INDEX), rows.device)


def stored_places(sparse: Any, dense: NDArray) -> NDArray:
    """The elements of a dense array that ``dense`` stretches to, where ``sparse`` stores values."""
    memory = widened(dense.as_in_context(sparse.context))
    if sparse.stype == "row_sparse":
        return spread(narrowed(memory, dense.dtype, sparse.context), sparse._indices[0]._data)
    sides = (1, 1, *dense.shape)[-2:]
    columns, starts = sparse._indices[1]._data, sparse._indices[0]._data
    out = allocate((columns.size,), memory.dtype, memory.device)
    row_step = sides[1] if sides[0] > 1 else 0
    GATHER_STORED(memory, columns, starts, out, sparse.shape[0], row_step, 1 if sides[1] > 1 else 0)
    return narrowed(out, dense.dtype, sparse.context)


@decides("Sparse/stored-places")
def on_stored(name: str, *, sparse_first: bool) -> Any:
    """The rule that runs ``name`` on stored values and the dense elements at their places."""

    def run(p: Any, arrays: Sequence[Any]) -> NDArray:
        sparse, dense = arrays if sparse_first else arrays[::-1]
        pair = [sparse._values, stored_places(sparse, dense)]
        return sparse._like(on_dense(name, p, pair if sparse_first else pair[::-1]))

    return run


def stored_quotient(p: Any, arrays: Sequence[Any]) -> NDArray:
    """``_scatter_elemwise_div``: the rows that the dividend stores."""
    lhs, rhs = arrays
    return on_stored("elemwise_div", sparse_first=True)(p, [lhs, rhs.tostype("default") if rhs.is_sparse else rhs])


@decides("Sparse/like-right")
def left_in_right_storage(p: Any, arrays: Sequence[NDArray]) -> NDArray:
    """``_identity_with_attr_like_rhs``: the left array; of one storage, its stored zeros stay."""
    lhs, rhs = arrays
    return lhs.copy() if lhs.stype == rhs.stype else tostype(tostype(lhs, "default"), rhs.stype)


def through_dense(name: str) -> Any:
    """The rule of operators whose result is full anyway: a dense copy costs no more than the result."""

    def run(p: Any, arrays: Sequence[NDArray]) -> NDArray:
        return on_dense(name, p, [array.tostype("default") if array.is_sparse else array for array in arrays])

    return run


def _keeps_shape(p: Any, arrays: Sequence[NDArray]) -> bool:
    """Whether the dense operand stretches to the sparse one: one row, one column, one element or the whole."""
    sparse, dense = arrays
    sides = (1, 1, *dense.shape)[-2:]
    return dense.ndim <= 2 and all(side in (1, whole) for side, whole in zip(sides, sparse.shape, strict=True))


def _stretches(p: Any, arrays: Sequence[NDArray]) -> bool:
    """As above, and truly smaller: dividing equal shapes meets 0 / 0 in places that are not stored."""
    return _keeps_shape(p, arrays) and arrays[0].shape != arrays[1].shape


def _zero_stays(op: Op, stype: str) -> Rule:
    """The rule of an operator that gives zero for zeros: of one array, or of two of one storage."""
    assert op.keeps_zero is not None
    words, holds = op.keeps_zero
    when = always if op.keeps_zero is ALWAYS else lambda p, _: holds(p)
    run = on_values(op.name) if len(op.all_inputs) == 1 else on_union(op.name)
    return Rule(op.name, (stype,) * len(op.all_inputs), stype, run, when, words)


def _register() -> None:
    for stype in SPARSE:
        for op in distinct():
            if op.keeps_zero is not None:
                add_rule(_zero_stays(op, stype))
        add_rule(Rule("zeros_like", (stype,), stype, zeros_like))
        for name in ("elemwise_add", "elemwise_sub"):
            add_rule(Rule(name, (stype, "default"), "default", through_dense(name), dense=True))
            add_rule(Rule(name, ("default", stype), "default", through_dense(name), dense=True))
        add_rule(Rule("elemwise_mul", (stype, "default"), stype, on_stored("elemwise_mul", sparse_first=True)))
        add_rule(Rule("elemwise_mul", ("default", stype), stype, on_stored("elemwise_mul", sparse_first=False)))
    add_rule(Rule("_contrib_quadratic", ("csr",), "csr", quadratic, lambda p, _: p.c == 0, "c = 0"))
    for name in ("broadcast_add", "broadcast_sub"):
        add_rule(Rule(name, ("csr", "default"), "default", through_dense(name), dense=True))
    mul, div = (on_stored(name, sparse_first=True) for name in ("broadcast_mul", "broadcast_div"))
    add_rule(Rule("broadcast_mul", ("csr", "default"), "csr", mul, _keeps_shape, "rhs stretches to lhs"))
    add_rule(Rule("broadcast_div", ("csr", "default"), "csr", div, _stretches, "rhs is smaller and stretches to lhs"))
    for stype in ("default", *SPARSE):
        add_rule(Rule("_scatter_elemwise_div", ("row_sparse", stype), "row_sparse", stored_quotient))
        for right in SPARSE:
            add_rule(Rule("_identity_with_attr_like_rhs", (stype, right), right, left_in_right_storage))


_register()
