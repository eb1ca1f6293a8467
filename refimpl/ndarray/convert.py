"""Conversion between storages: ``tostype``, and assignment between arrays of any storages."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .. import engine
from ..base import refusal, require
from . import classes, tape

if TYPE_CHECKING:
    from .ndarray import NDArray
    from .sparse.base import BaseSparseNDArray

STORAGES = ("default", "row_sparse", "csr")


def ordered(array: NDArray) -> NDArray:
    """The array itself, or, for a sparse array whose indices are not ascending, a copy with sorted indices."""
    return cast("BaseSparseNDArray", array)._ordered() if array.is_sparse else array


def tostype(array: NDArray, stype: str) -> NDArray:
    """``array`` in storage ``stype``, a copy; the storages are default, row_sparse and csr.

    Raises:
        MXNetError: there is no storage ``stype``, or it is sparse and ``array`` has no axis.
        ValueError: ``stype`` is csr and ``array`` is no matrix, or both storages are sparse and differ.
    """
    if stype not in STORAGES:
        raise refusal("Sparse/storage", f"Invalid Input: '{stype}', valid values are: {', '.join(STORAGES)}")
    if array.stype == stype:
        return array.copy()
    if array.is_sparse:
        if stype != "default":
            raise refusal(
                "Sparse/cross-storage",
                f"cast_storage from {array.stype} to {stype} is not supported; go through tostype('default')",
                ValueError,
            )
        return cast("BaseSparseNDArray", array)._dense()
    if stype == "csr" and array.ndim != 2:
        raise refusal(
            "Sparse/csr-rank",
            f"To convert to a CSR, the NDArray should be 2 Dimensional. Current shape is {array.shape}", ValueError,
        )
    require("Sparse/row-rank", array.ndim > 0, "a single number has no rows to list; keep it dense")
    return classes.sparse_class(stype)._of_dense(array)


def refuse_losing(source: NDArray, target: NDArray) -> None:
    """Refuse, while recording, to write an array on the tape, or to copy an array on the tape into a sparse array."""
    tape.refuse_overwriting(target)
    if tape.on_tape(source) and target.is_sparse:
        raise refusal(
            "Sparse/recording",
            "while recording, an array on the tape cannot be copied into a sparse one: its gradient would be lost;"
            " use tostype, or copy detach()",
        )


def copy_into(source: NDArray, target: NDArray) -> NDArray:
    """Copy ``source`` into ``target``, cast to its dtype; any storages and contexts. Returns ``target``.

    Raises:
        MXNetError: the shapes differ.
    """
    if source.shape != target.shape:
        raise refusal("NDArray/copy-shape", f"cannot copy an array of shape {source.shape} to {target.shape}")
    tape.require_writable(target)
    if tape.STATE.recording:
        refuse_losing(source, target)
    if source.stype not in ("default", target.stype):
        source = source.tostype("default")
    if target.is_sparse:
        made = source if source.is_sparse else tostype(source, target.stype)
        cast("BaseSparseNDArray", target)._become(cast("BaseSparseNDArray", made))
    else:
        memory = source._data
        engine.overwrite(target._buffer)
        target._buffer.copy_from(memory)
    return target
