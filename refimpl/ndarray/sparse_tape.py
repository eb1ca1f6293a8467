"""Sparse arrays on the tape.

The tape holds dense memory. A sparse array that is read while autograd records is on the tape as its dense copy, whose
place has the array as ``origin``. A sparse result has the values and the storage that it has without recording, and the
place of the dense result. So gradients are computed by dense operators, and flow through sparse arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..base import refusal
from ..kernels.foundation import Op, get
from . import classes, dense, tape
from .convert import tostype

if TYPE_CHECKING:
    from .ndarray import NDArray


def recording(*arrays: NDArray) -> bool:
    """Whether autograd records an operator on these arrays."""
    return tape.STATE.recording and any(tape.on_tape(array) for array in arrays)


def stand_in(array: NDArray) -> NDArray:
    """The dense array that stands for ``array`` on the tape: the array itself, or a dense copy with its place.

    A variable is copied again for each use, because it may have been written in between.
    """
    if not array.is_sparse:
        return array
    place = array._place if tape.on_tape(array) else None
    if place is not None and place.record is not None:
        made = classes.ndarray(place.value, place.context)
    else:
        made = tostype(array, "default")
        if place is None:
            place = tape.Place(made._buffer, made._ctx)
        place.value, place.origin = made._buffer, array
    made._place = place
    return made


def execute(
    op: Op, p: Any, attrs: dict[str, Any], inputs: Sequence[NDArray], targets: list[NDArray], out: Any
) -> Any:
    """Run and record the dense operator on the stand-ins of ``inputs``.

    Raises:
        MXNetError: an array in ``out`` is sparse.
    """
    if any(target.is_sparse for target in targets):
        raise refusal(
            "Sparse/recording",
            f"while recording, out= of {op.name} cannot be sparse: its gradient would be lost; take the result as it"
            " is returned",
        )
    arrays = [stand_in(array) for array in inputs]
    return dense.execute(op, p, attrs, arrays, arrays[0].context, targets, out)


def with_storage(result: NDArray, made: NDArray) -> NDArray:
    """``made``, the values of ``result`` in another storage, with the place of ``result`` on the tape."""
    made._place = result._place
    return made


def cast(array: NDArray, stype: str) -> NDArray:
    """``array`` in storage ``stype``; recorded as cast_storage where autograd records."""
    if not recording(array):
        return tostype(array, stype)
    tape_free = tostype(array, stype)
    op = get("cast_storage")
    attrs = {"stype": stype}
    result = execute(op, op.parse(attrs), attrs, [array], [], None)
    return result if stype == "default" else with_storage(result, tape_free)
