"""The store of one process under the name of MXNet's module, ``mxnet.kvstore.kvstore``."""

from .base import KVStoreBase
from .local import KVStore

__all__ = ["KVStore", "KVStoreBase"]
