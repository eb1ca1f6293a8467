"""Servers at real sockets, in threads of the test's own process: for tests that need no other processes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from refimpl.kvstore.distributed import DistributedKVStore
from refimpl.kvstore.machines.node import Node
from refimpl.kvstore.machines.remote import RemoteTransport
from refimpl.kvstore.machines.serving import Serving
from refimpl.kvstore.machines.sockets import Listener


class Servers:
    """Some servers whose sockets and logs are in a folder.

    ``end`` ends one as if its process were killed: what it has in memory is lost, and so is what is on its way.
    """

    def __init__(self, workers: int, servers: int, folder: Path) -> None:
        folder.chmod(0o700)
        self.workers, self.folder = workers, folder
        self.nodes: list[Node] = [None] * servers
        self._running: list[tuple[threading.Event, threading.Thread]] = [None] * servers
        for number in range(servers):
            self.start(number)

    @property
    def endpoints(self) -> list[str]:
        return [f"ipc://{self.folder}/{number}" for number in range(len(self.nodes))]

    def start(self, number: int) -> None:
        self.nodes[number] = Node(number, self.workers, self.folder / f"server-{number}")
        serving, stop = Serving(self.nodes[number], Listener(self.endpoints[number])), threading.Event()
        thread = threading.Thread(target=serving.run, args=(stop,), daemon=True)
        thread.start()
        self._running[number] = stop, thread

    def end(self, number: int) -> None:
        stop, thread = self._running[number]
        stop.set()
        thread.join()

    def transport(self, rank: int, **given: Any) -> RemoteTransport:
        return RemoteTransport(self.endpoints, self.workers, rank, **given)

    def run(self, function: Callable[[Any], Any], kind: str = "dist_sync") -> list[Any]:
        """What ``function(store)`` returns as each worker, all at the same time."""
        results: list[Any] = [None] * self.workers

        def work(rank: int) -> None:
            transport = self.transport(rank)
            try:
                results[rank] = function(DistributedKVStore(kind, transport, rank, 0))
            except BaseException as error:  # noqa: BLE001  # it is what the test finds
                results[rank] = error
            finally:
                transport.close()

        threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(self.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results


@contextlib.contextmanager
def servers(workers: int, count: int, folder: Path) -> Iterator[Servers]:
    made = Servers(workers, count, folder)
    try:
        yield made
    finally:
        for number in range(count):
            made.end(number)
