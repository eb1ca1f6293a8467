"""MXNet's name for the interface of stores and for ``create``."""

from .interface import KVStoreBase, TestStore
from .store_kinds import create

__all__ = ["KVStoreBase", "TestStore", "create"]
