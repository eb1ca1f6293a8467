"""One update of an optimizer as a function that, except for counting the update, does not change its arguments."""

from __future__ import annotations

import copy
import enum
import random
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..base import decides
from ..ndarray import NDArray, array
from ..ndarray.sparse import BaseSparseNDArray, row_sparse_array
from ..optimizer import Optimizer
from ..resource import exchange_streams
from .messages import PartId, Rows, Value


class Nothing(enum.Enum):
    """The state of a part before its first update. It is not None, because None is a state of some optimizers.

    There is only one such object, also after copying it, or writing it to a snapshot and reading it again.
    """

    NOTHING = 0


NOTHING = Nothing.NOTHING
_PLAIN = (bool, float, int, str, type(None))


def updated(
    optimizer: Optimizer, state: Any, part: PartId, version: int, weight: Value, gradient: Value
) -> tuple[Any, Value]:
    """(state, weight) after update number ``version`` of ``part``.

    The optimizer counts the update; the other arguments do not change.
    """
    held, key = as_array(weight), part.key
    optimizer._set_current_context(0)
    with random_numbers_of(part, version, whole=not _of_this_package(optimizer)):
        if state is NOTHING:
            state = optimizer.create_state_multi_precision(key, held)
        else:
            state = _copied_state(state)
        optimizer.update_multi_precision(key, held, as_array(gradient), state)
    return state, as_value(held)


@contextmanager
@decides("Cluster/optimizer-noise")
def random_numbers_of(part: PartId, version: int, *, whole: bool) -> Iterator[None]:
    """A block whose random numbers depend only on ``part`` and the number ``version`` of its update.

    The random streams of all contexts are seeded for the block, and restored after it. With ``whole`` so are the global
    generators of NumPy and Python, from which no optimizer of this package draws.
    """
    seed = zlib.crc32(repr((part.table, part.key, part.number, version)).encode("utf-8", "surrogatepass")) & 0x7FFFFFFF
    streams, others = exchange_streams(({}, seed)), None
    if whole:
        others = np.random.get_state(), random.getstate()  # noqa: NPY002  # a user's rule may draw there
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
    try:
        yield
    finally:
        exchange_streams(streams)
        if others is not None:
            np.random.set_state(others[0])  # noqa: NPY002
            random.setstate(others[1])


def _of_this_package(optimizer: Optimizer) -> bool:
    """Whether both the optimizer and its scheduler are classes of this package."""
    package = __name__.partition(".")[0] + "."
    parts = (optimizer, optimizer.lr_scheduler)
    return all(part is None or type(part).__module__.startswith(package) for part in parts)


def copied(optimizer: Optimizer) -> Optimizer:
    """A copy with its own update counts; the attributes that describe the network are shared."""
    shared = (optimizer.sym_info, optimizer.idx2name, optimizer.param_dict, optimizer.lr_mult, optimizer.wd_mult)
    copies: dict[int, Any] = {id(part): part for part in shared}
    copies.update({id(counts): dict(counts) for counts in optimizer._all_index_update_counts.values()})
    if not _of_this_package(optimizer):
        return copy.deepcopy(optimizer, copies)
    new = object.__new__(type(optimizer))  # deepcopy needs three times as long
    for name, value in vars(optimizer).items():
        setattr(new, name, value if type(value) in _PLAIN else copy.deepcopy(value, copies))
    return new


def _copied_state(state: Any) -> Any:
    if isinstance(state, NDArray):
        return state.copy()
    if isinstance(state, (list, tuple)):
        return type(state)(map(_copied_state, state))
    return copy.deepcopy(state)


def as_array(value: Value) -> NDArray:
    """An NDArray with a copy of the value."""
    if isinstance(value, Rows):
        return row_sparse_array((value.data, value.ids), shape=value.shape, dtype=value.data.dtype)
    return array(value, dtype=value.dtype)


def as_value(held: NDArray) -> Value:
    """Return the numbers of an NDArray as a read-only copy, dense for a csr array.

    Raises:
        MXNetError: an index of a row_sparse array comes twice or is out of range.
    """
    if held.stype == "csr":
        held = held.tostype("default")
    if isinstance(held, BaseSparseNDArray):
        rows: Any = held._ordered()
        return Rows(frozen(rows.indices.asnumpy().astype(np.int64)), frozen(rows.data.asnumpy()), rows.shape)
    return frozen(held.asnumpy())


def frozen(numbers: np.ndarray) -> np.ndarray:
    """``numbers`` themselves, made read-only."""
    numbers.flags.writeable = False
    return numbers


__all__ = ["NOTHING", "Nothing", "as_array", "as_value", "copied", "frozen", "random_numbers_of", "updated"]
