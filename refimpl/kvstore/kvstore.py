"""The store of one process, in the module where MXNet has it, ``mxnet.kvstore.kvstore``."""

from .base import KVStoreBase
from .local import KVStore

__all__ = ["KVStore", "KVStoreBase"]
