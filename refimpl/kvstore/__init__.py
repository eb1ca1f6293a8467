"""mx.kv: key-value stores, which sum gradients of several devices and hand weights back.

``interface.py`` has the interface of all stores, ``store_kinds.py`` makes a store by its name. ``local.py`` is the
store of one process, with the rules of push and pull. ``server.py`` and ``server_table.py`` are the parameter server,
``distributed.py`` the store of a worker that talks to a server, ``simulated.py`` a cluster of servers and workers
within one process. ``histories.py`` checks any parameter server by the values that it handed out. ``machines/`` has
the messages and logs of clusters as bytes.
"""

from . import histories, kvstore
from .base import KVStoreBase, TestStore, create
from .distributed import DistributedKVStore
from .kvstore_server import KVStoreServer
from .local import KVStore
from .schedule import Faults
from .simulated import SimulatedCluster, simulate

__all__ = [
    "DistributedKVStore", "Faults", "KVStore", "KVStoreBase", "KVStoreServer", "SimulatedCluster", "TestStore",
    "create", "histories", "kvstore", "simulate",
]
