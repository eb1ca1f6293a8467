"""The interface of stores and ``create``, in the module where MXNet has them."""

from .interface import KVStoreBase, TestStore
from .store_kinds import create

__all__ = ["KVStoreBase", "TestStore", "create"]
