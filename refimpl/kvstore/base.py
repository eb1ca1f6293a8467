"""MXNet's name for the interface of stores and for ``create``."""

from .creation import create
from .interface import KVStoreBase, TestStore

__all__ = ["KVStoreBase", "TestStore", "create"]
