"""``mx.kv.create``, which makes a store by its name."""

from __future__ import annotations

from typing import Any

from ..base import decides, refusal
from .interface import KVStoreBase
from .local import KVStore
from .machines.seat import seat_here
from .simulated import member_here, store_here


@decides("KVStore/types")
def create(name: str = "local") -> Any:
    """Make a store.

    A registered name makes an object of its class. A name with ``dist`` in it makes the store of a worker in a cluster
    (:func:`mx.kv.simulate`). The store of any other name with ``device`` in it adds up from left to right, on the
    context of the first array; every other name makes a ``local`` store.

    Raises:
        TypeError: ``name`` is not a string.
        MXNetError: the name asks for a cluster (``dist``) where there is none, or for NCCL.
    """
    if not isinstance(name, str):
        raise refusal(
            "KVStore/name-type", f"name must be a string, got {name!r}; try 'local'", TypeError
        )
    word = name.lower()
    if word in KVStoreBase.kv_registry:
        return KVStoreBase.kv_registry[word]()
    if "dist" in word:
        seat = None if member_here() else seat_here()
        return store_here(word) if seat is None else seat.store(word)
    if "nccl" in word:
        raise refusal(
            "KVStore/no-nccl",
            f"kvstore {name!r} needs NVIDIA's NCCL library, which is not used here; use 'device'",
        )
    return KVStore(word)


__all__ = ["create"]
