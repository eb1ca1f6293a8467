"""The state of an array in MXNet's pickles: ``{"handle": record}``, where a record is as in a .params file.

MXNet pickles ``NDArray(None)`` and this state. Pickles of this project name the function ``_unpickled`` instead; both
kinds are read.
"""

from __future__ import annotations

from typing import Any

from ..base import decides, refusal
from .file_format import from_record, record
from .ndarray import NDArray
from .sparse.base import BaseSparseNDArray


@decides("NDArray/state")
def _state(self: NDArray) -> dict[str, bytearray | None]:
    """The state of the array in MXNet's pickles; ``{"handle": None}`` for ``NDArray(None)``."""
    return {"handle": None if self._ctx is None else bytearray(record(self))}


@decides("NDArray/state")
def _take_state(self: NDArray, state: dict[str, Any]) -> None:
    """Take the values, dtype and storage of the record in ``state``; ``{"handle": None}`` changes nothing.

    Raises:
        KeyError: ``state`` has no "handle".
        TypeError: the handle is not bytes.
        MXNetError: the bytes are no record, or the record of an array of another storage.
    """
    handle = state["handle"]
    if handle is None:
        return
    if not isinstance(handle, (bytes, bytearray, memoryview)):
        raise refusal("NDArray/state", f"handle must be the bytes of a record, got {type(handle).__name__}", TypeError)
    found = from_record(bytes(handle), "handle")
    if found is None:
        return
    if type(found) is not type(self) and (found.is_sparse or self.is_sparse):
        raise refusal(
            "NDArray/state",
            f"the record holds a {found.stype} array, which a {type(self).__name__} cannot be; use"
            f" {type(found).__name__}(None)",
        )
    slots = BaseSparseNDArray.__slots__ if found.is_sparse else ("_buffer",)
    for slot in (*slots, "_ctx"):
        setattr(self, slot, getattr(found, slot))
    self._place = None


NDArray.__getstate__ = _state  # type: ignore[attr-defined]  # set here, because the file format imports arrays
NDArray.__setstate__ = _take_state  # type: ignore[attr-defined]  # as above
