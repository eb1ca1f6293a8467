"""mx.kv: key-value stores, which sum gradients of several devices and hand weights back.

``local.py`` is the store of one process and the statement of its push and pull rules; ``base.py`` is
what any store offers, and the names under which stores are created.
"""

from .base import KVStoreBase, TestStore, create
from .local import KVStore

__all__ = ["KVStore", "KVStoreBase", "TestStore", "create"]
