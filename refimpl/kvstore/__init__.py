"""mx.kv: key-value stores, which sum gradients of several devices and hand weights back.

``local.py`` is the store of one process and the statement of its push and pull rules; ``base.py`` is what any store
offers, and the names under which stores are created. ``server.py`` is the parameter server, ``distributed.py`` the
store of a worker that talks to it, ``simulated.py`` a cluster of both within one process. ``histories.py`` judges any
parameter server by what it handed out.
"""

from . import histories
from .base import KVStoreBase, TestStore, create
from .distributed import DistributedKVStore
from .kvstore_server import KVStoreServer
from .local import KVStore
from .schedule import Faults
from .simulated import SimulatedCluster, simulate

__all__ = [
    "DistributedKVStore", "Faults", "KVStore", "KVStoreBase", "KVStoreServer", "SimulatedCluster", "TestStore",
    "create", "histories", "simulate",
]
