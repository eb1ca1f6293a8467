"""mx.kv: key-value stores, which sum gradients of several devices and hand weights back.

``interface.py`` is what every store offers, ``store_kinds.py`` which store a name stands for. ``local.py`` is the store
of one process and the statement of its push and pull rules. ``server.py`` and ``server_table.py`` are the parameter
server, ``distributed.py`` the store of a worker that talks to it, ``simulated.py`` a cluster of both within one
process. ``histories.py`` judges any parameter server by what it handed out. ``machines/`` has messages and logs as
bytes.
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
