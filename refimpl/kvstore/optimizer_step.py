"""One update of an optimizer as a pure function: its arguments do not change."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..ndarray import NDArray, array
from ..ndarray.sparse import BaseSparseNDArray, row_sparse_array
from ..optimizer import Optimizer
from .messages import Key, Rows, Value

# The state of a part before its first update. It is not None, which is the state of some optimizers after one.
NOTHING = object()


def updated(
    optimizer: Optimizer, state: Any, key: Key, weight: Value, gradient: Value
) -> tuple[Optimizer, Any, Value]:
    """(optimizer, state, weight) after one update of ``key``; the arguments stay what they were."""
    optimizer, held = _copied(optimizer), as_array(weight)
    optimizer._set_current_context(0)
    if state is NOTHING:
        state = optimizer.create_state_multi_precision(key, held)
    else:
        state = _copied_state(state)
    optimizer.update_multi_precision(key, held, as_array(gradient), state)
    return optimizer, state, as_value(held)


def _copied(optimizer: Optimizer) -> Optimizer:
    """A copy with update counts of its own; what only describes the network is shared."""
    shared = (optimizer.sym_info, optimizer.idx2name, optimizer.param_dict, optimizer.lr_mult, optimizer.wd_mult)
    return copy.deepcopy(optimizer, {id(part): part for part in shared})


def _copied_state(state: Any) -> Any:
    if isinstance(state, NDArray):
        return state.copy()
    if isinstance(state, (list, tuple)):
        return type(state)(map(_copied_state, state))
    return copy.deepcopy(state)


def as_array(value: Value) -> NDArray:
    """An NDArray in memory of its own."""
    if isinstance(value, Rows):
        return row_sparse_array((value.data, value.ids), shape=value.shape, dtype=value.data.dtype)
    return array(value, dtype=value.dtype)


def as_value(held: NDArray) -> Value:
    """Return the numbers of an NDArray as a read-only copy, dense for a csr array.

    Raises:
        MXNetError: the rows of a row_sparse array come twice or lie outside.
    """
    if held.stype == "csr":
        held = held.tostype("default")
    if isinstance(held, BaseSparseNDArray):
        rows: Any = held._ordered()
        return Rows(frozen(rows.indices.asnumpy().astype(np.int64)), frozen(rows.data.asnumpy()), rows.shape)
    return frozen(held.asnumpy())


def frozen(numbers: np.ndarray) -> np.ndarray:
    """``numbers``, not to be written to."""
    numbers.flags.writeable = False
    return numbers


__all__ = ["NOTHING", "as_array", "as_value", "frozen", "updated"]
