"""Rules of dot: csr with dense or row_sparse, and dense with csr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import decides, require
from ...kernels.foundation import Buffer, as_buffer
from ...kernels.shared.sparse_dot import csr_dot, dense_dot, rows_reached, turned_dot
from ...kernels.shared.starts import INDEX
from ...op_registry.storage_rules import FALLBACK_STORAGE, Rule, Storages, add_rule
from ..convert import tostype
from ..ndarray import NDArray
from .base import BaseSparseNDArray
from .row_sparse import RowSparseNDArray
from .values import narrowed, widened


def _matrix(array: Any) -> tuple[Buffer, Buffer, Buffer]:
    """(values, indices, indptr) of a csr matrix."""
    return widened(array._values), array._indices[1]._data, array._indices[0]._data


def _right(array: Any) -> tuple[Buffer, Buffer]:
    """(rows, places): the rows of the right operand, and where each row number lies among them."""
    rows = array.shape[0]
    if not isinstance(array, BaseSparseNDArray):
        memory = widened(array)
        return memory, as_buffer(np.arange(rows, dtype=INDEX), memory.device)
    places = np.full(rows, -1, INDEX)
    stored = array._indices[0].asnumpy()
    places[stored] = np.arange(len(stored))
    values = widened(array._values)
    return values, as_buffer(places, values.device)


def _matrices(p: Any, arrays: Sequence[NDArray]) -> None:
    require(
        "Sparse/dot-rank", all(array.ndim == 2 for array in arrays),
        f"sparse dot multiplies matrices, given shapes {[array.shape for array in arrays]}",
    )


@decides("Sparse/dot")
def csr_times_rows(p: Any, arrays: Sequence[Any]) -> NDArray:
    """csr . right, dense."""
    _matrices(p, arrays)
    left, right = arrays[0], arrays[1].as_in_context(arrays[0].context)
    return narrowed(csr_dot(*_matrix(left), *_right(right)), left.dtype, left.context)


@decides("Sparse/dot")
def turned_csr_times_rows(p: Any, arrays: Sequence[Any]) -> NDArray:
    """csr^T . right: dense, or row_sparse with the rows that can differ from zero."""
    _matrices(p, arrays)
    left, right = arrays[0], arrays[1].as_in_context(arrays[0].context)
    ctx, columns = left.context, left.shape[1]
    values, indices, indptr = _matrix(left)
    rows, places = _right(right)
    if p.forward_stype == "default":
        slots = as_buffer(np.arange(columns, dtype=INDEX), values.device)
        out = turned_dot(values, indices, indptr, rows, places, slots, columns)
        return narrowed(out, left.dtype, ctx)
    slots, stored = rows_reached(indices, indptr, places, columns)
    out = turned_dot(values, indices, indptr, rows, places, slots, stored.size)
    shape = (columns, right.shape[1])
    return RowSparseNDArray(narrowed(out, left.dtype, ctx), (NDArray(stored, ctx),), shape, ordered=True)


def dense_times_csr(p: Any, arrays: Sequence[Any]) -> NDArray:
    """dense . csr or dense . csr^T, dense or as csr."""
    _matrices(p, arrays)
    left, right = arrays[0], arrays[1].as_in_context(arrays[0].context)
    columns = right.shape[0 if p.transpose_b else 1]
    product = dense_dot(widened(left), *_matrix(right), columns, p.transpose_b)
    made = narrowed(product, left.dtype, left.context)
    return made if p.forward_stype == "default" else tostype(made, "csr")


@decides("Sparse/dot-storage")
def result_storage(p: Any, storages: Storages) -> str:
    """Storage of a product: forward_stype, or what the operands suggest."""
    if p.forward_stype not in (None, "None"):
        return p.forward_stype
    if storages == ("default", "csr") and not p.transpose_a:
        return "csr"
    if storages[0] == "csr" and storages[1] != "csr" and p.transpose_a and not p.transpose_b:
        return "row_sparse"
    return "default"


def _condition(output: str, *, turned: bool) -> Any:
    def when(p: Any, arrays: Sequence[NDArray]) -> bool:
        storages = tuple(array.stype for array in arrays)
        return p.transpose_a == turned and not p.transpose_b and result_storage(p, storages) == output

    return when


def _dense_csr(output: str) -> Any:
    def when(p: Any, arrays: Sequence[NDArray]) -> bool:
        return not p.transpose_a and result_storage(p, ("default", "csr")) == output

    return when


def _register() -> None:
    FALLBACK_STORAGE["dot"] = result_storage
    for right in ("default", "row_sparse"):
        plain, sparse, full = "no transpose", "transpose_a", 'transpose_a, forward_stype="default"'
        inputs = ("csr", right)
        add_rule(Rule("dot", inputs, "default", csr_times_rows, _condition("default", turned=False), plain))
        add_rule(
            Rule("dot", inputs, "row_sparse", turned_csr_times_rows, _condition("row_sparse", turned=True), sparse)
        )
        add_rule(Rule("dot", inputs, "default", turned_csr_times_rows, _condition("default", turned=True), full))
    add_rule(Rule("dot", ("default", "csr"), "csr", dense_times_csr, _dense_csr("csr"), "not transpose_a"))
    add_rule(Rule("dot", ("default", "csr"), "default", dense_times_csr, _dense_csr("default"),
                  'not transpose_a, forward_stype="default"'))


_register()
