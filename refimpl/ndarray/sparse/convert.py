"""From one storage to another: `tostype`, and assignment whatever the storages are."""

from __future__ import annotations

import numpy as np

from ... import engine
from ...base import refusal, require
from ...kernels.cast_storage import GATHER_ROWS, INDEX, SCATTER_ROWS, SPREAD_CSR, csr_of, rows_of
from ...kernels.foundation import Buffer, allocate
from ...kernels.foundation.loops import FILL
from .. import tape
from ..indexing import require_writable
from ..ndarray import NDArray
from .base import BaseSparseNDArray, dense_of
from .csr import CSRNDArray
from .row_sparse import RowSparseNDArray
from .values import narrowed, widened

STORAGES = ("default", "row_sparse", "csr")


def tostype(array: NDArray, stype: str) -> NDArray:
    """``array`` in storage ``stype``, a copy; the storages are default, row_sparse and csr.

    Raises:
        MXNetError: there is no such storage.
        MXNetError: a single number, which has no rows.
        ValueError: csr is asked of an array that is no matrix, or from one sparse storage to the other.
    """
    if stype not in STORAGES:
        raise refusal("Sparse/storage", f"Invalid Input: '{stype}', valid values are: {', '.join(STORAGES)}")
    if array.stype == stype:
        return array.copy()
    if isinstance(array, BaseSparseNDArray):
        if stype != "default":
            raise refusal(
                "Sparse/cross-storage",
                f"cast_storage from {array.stype} to {stype} is not supported; go through tostype('default')",
                ValueError,
            )
        return _dense(array)
    if stype == "csr" and array.ndim != 2:
        raise refusal(
            "Sparse/csr-rank",
            f"To convert to a CSR, the NDArray should be 2 Dimensional. Current shape is {array.shape}", ValueError,
        )
    require("Sparse/row-rank", array.ndim > 0, "a single number has no rows to list; keep it dense")
    ctx, dense = array.context, widened(array)
    if stype == "csr":
        values, columns, starts = csr_of(dense)
        parts = (NDArray(starts, ctx), NDArray(columns, ctx))
        return CSRNDArray(narrowed(values, array.dtype, ctx), parts, array.shape, ordered=True)
    values, rows = rows_of(dense)
    return RowSparseNDArray(narrowed(values, array.dtype, ctx), (NDArray(rows, ctx),), array.shape, ordered=True)


def _dense(array: BaseSparseNDArray) -> NDArray:
    array = array._ordered()
    values = widened(array._values)
    dense = allocate(array.shape, values.dtype, values.device)
    indices = [part._data for part in array._indices]
    if isinstance(array, CSRNDArray):
        SPREAD_CSR(values, indices[1], indices[0], dense, *array.shape)
    else:
        FILL(dense, 0.0, dense.size)
        scatter(values, indices[0], dense)
    return narrowed(dense, array.dtype, array.context)


def scatter(values: Buffer, rows: Buffer, dense: Buffer) -> None:
    """Write the listed rows of ``dense``."""
    stored = rows.size
    SCATTER_ROWS(values, rows, dense, stored, values.size // stored if stored else 0)


def refuse_losing(source: NDArray, target: NDArray) -> None:
    """While recording, no array on the tape is written, and none is copied from there into a sparse array."""
    tape.refuse_overwriting(target)
    if tape.on_tape(source) and target.is_sparse:
        raise refusal(
            "Sparse/recording",
            "while recording, an array on the tape cannot be copied into a sparse one: its gradient would be lost;"
            " use tostype, or copy detach()",
        )


def copy_into(source: NDArray, target: NDArray) -> NDArray:
    """Give ``target`` the values of ``source``, cast, whatever their storages and contexts; returns it.

    Raises:
        MXNetError: the shapes differ.
    """
    if source.shape != target.shape:
        raise refusal("NDArray/copy-shape", f"cannot copy an array of shape {source.shape} to {target.shape}")
    require_writable(target)
    if tape.STATE.recording:
        refuse_losing(source, target)
    if source.stype not in ("default", target.stype):
        source = source.tostype("default")
    if isinstance(target, BaseSparseNDArray):
        made = source if isinstance(source, BaseSparseNDArray) else tostype(source, target.stype)
        assert isinstance(made, BaseSparseNDArray)
        target._become(made)
    else:
        memory = source._data
        engine.overwrite(target._buffer)
        target._buffer.copy_from(memory)
    return target


def put(source: NDArray, target: NDArray, rows: np.ndarray | None) -> None:
    """Give ``target`` the values of a dense array; a row_sparse one stores ``rows``, ascending, whatever they hold.

    Without ``rows`` it stores those that differ from zero.
    """
    if rows is None or not isinstance(target, RowSparseNDArray):
        copy_into(source, target)
        return
    source = source.as_in_context(target.context)
    wide = widened(source)
    places = dense_of(rows.astype(INDEX), target.context)
    taken = allocate((len(rows), *wide.shape[1:]), wide.dtype, wide.device)
    if len(rows):
        GATHER_ROWS(wide, places._data, taken, len(rows), taken.size // len(rows))
    values = narrowed(taken, source.dtype, target.context)
    target._become(RowSparseNDArray(values, (places,), target.shape, ordered=True))
