"""A server that survives its process: it writes down what it is asked before it answers. It knows of no network.

:meth:`Node.take` is all of it: frames of requests go in, they are written to the log, the server's rules are applied
to all of them at once, and the replies come out. A node that is made in the folder of one whose process ended begins
with the snapshot, applies the records since, and so knows all that anybody had an answer to.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from ...base import decides
from .. import messages as say
from .. import server as rules
from ..waiting import waits_for
from .checksums import Bytes
from .log import Log
from .snapshots import decode_server, encode_server
from .wire import decode

SNAPSHOT_AFTER = 1 << 30
"""A snapshot is made when so many bytes were written since the last, or twice the size of that one if it is larger."""


class Node:
    """One server.

    Args:
        number, workers: which server it is, and how many workers the job has.
        folder: where its log is; None for a server that writes nothing down.
        durable: whether a record is on the disk before its requests are answered.
        snapshot_after: see ``SNAPSHOT_AFTER``.

    Attributes:
        state: all that the server knows.
        recovered: how many records it applied when it was made.

    Raises:
        MXNetError: the log is damaged.
    """

    @decides("Cluster/recover")
    def __init__(
        self, number: int, workers: int, folder: str | os.PathLike[str] | None = None, *, durable: bool = False,
        snapshot_after: int = SNAPSHOT_AFTER,
    ) -> None:
        self.number, self.workers = number, workers
        self._limit, self._written = snapshot_after, 0
        self._log = None if folder is None else Log(folder, durable=durable)
        self.state = rules.start(workers)
        self.requests = self.bytes = self.recovered = 0
        if self._log is not None:
            _, kept = self._log.snapshot()
            if kept is not None:
                self.state = decode_server(kept, f"the snapshot in {folder}")
                self._limit = max(snapshot_after, 2 * len(kept))
            for record in self._log.records():
                self.state, _ = rules.step_all(self.state, _requests(decode(record, f"a record in {folder}")))
                self._written += len(record)
                self.recovered += 1

    @decides("Cluster/log-first", "Cluster/log-space")
    def take(self, frames: Sequence[Sequence[Bytes]]) -> list[say.Reply]:
        """Carry out the requests in ``frames``, each given in pieces; the replies may leave when this returns.

        Raises:
            MXNetError: a frame holds no requests; none of them was carried out, nor written down.
        """
        requests: list[say.Request] = []
        for pieces in frames:
            requests += _requests(decode(pieces, f"what server {self.number} received"))
        try:
            if self._log is not None:
                self._write(frames)
        except OSError as error:
            message = (
                f"server {self.number} cannot write down what it is asked: {error}; free space for its log, and start"
                " the job again with the same --state"
            )
            refused = say.Refused("Cluster/log-space", message)
            return [say.Reply(one.worker, one.incarnation, one.number, refused) for one in requests]
        self.state, replies = rules.step_all(self.state, requests)
        self.requests += len(requests)
        self.bytes += sum(len(piece) for pieces in frames for piece in pieces)
        if self._log is not None and self._written > self._limit:
            self.keep()
        return replies

    def _write(self, frames: Sequence[Sequence[Bytes]]) -> None:
        assert self._log is not None
        for pieces in frames:
            self._log.append(pieces)
            self._written += sum(len(piece) for piece in pieces)

    def keep(self) -> None:
        """Make a snapshot: what was written until now is needed no longer."""
        if self._log is not None:
            content = encode_server(self.state)
            self._log.keep(content)
            self._limit, self._written = max(SNAPSHOT_AFTER, 2 * len(content)), 0

    def why(self, worker: int, number: int) -> tuple[str, list[int]]:
        """What request ``number`` of a worker waits for, in words, and which workers are missing."""
        what, missing = waits_for(self.state, worker, number)
        return what, list(missing)

    def report(self) -> dict[str, Any]:
        """Plain values that tell how it goes: requests and bytes since it was made, rounds, who waits for what."""
        waiting = [
            [who, str(part), held.version + 1, sorted(m for m in self.state.members if not held.queues.get(m))]
            for table in self.state.tables.values() for part, held in table.parts.items()
            for who, _, _ in held.pulls[:4]
        ]
        rounds = max((one.version for t in self.state.tables.values() for one in t.parts.values()), default=0)
        return {
            "server": self.number, "requests": self.requests, "bytes": self.bytes, "rounds": rounds,
            "recovered": self.recovered, "process": os.getpid(), "waiting": waiting[:16], "at": time.time(),
        }

    def close(self) -> None:
        """End the log."""
        if self._log is not None:
            self._log.close()


@decides("Cluster/requests-only")
def _requests(messages: Sequence[Any]) -> list[say.Request]:
    """The requests among what arrived: a server is sent nothing else, and drops it."""
    return [one for one in messages if isinstance(one, say.Request)]


__all__ = ["SNAPSHOT_AFTER", "Node"]
