"""A server that survives its process: it writes requests to a log before it answers. It uses no network.

:meth:`Node.take` takes frames of requests, writes them to the log, applies the server's rules to each request, and
returns the replies. A node that is made in the folder of an ended process begins with the snapshot and applies the
later records, so that it has the effects of all answered requests.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from ...base import decides
from ...log import LOG
from .. import messages as say
from .. import server as rules
from ..waiting import waits, waits_for
from .checksums import Bytes
from .snapshots import decode_server, pieces_of_server
from .wire import decode
from .write_ahead_log import Log

SNAPSHOT_AFTER = 1 << 28
"""The bytes written since the last snapshot after which a new one is made; at least twice the size of the last one."""


@decides("Cluster/batch")
def step_all(
    server: rules.Server, requests: Sequence[say.Request], step: rules.Step = rules.step
) -> tuple[rules.Server, list[say.Reply]]:
    """The server after several messages in their order, and its replies: one step after the other."""
    replies: list[say.Reply] = []
    for request in requests:
        server, answers = step(server, request)
        replies += answers
    return server, replies


class Node:
    """One server.

    Args:
        number, workers: the number of the server, and the number of workers of the job.
        folder: the folder of its log; None for a server without a log.
        durable: whether a record is on the disk before its requests are answered.
        snapshot_after: see ``SNAPSHOT_AFTER``.
        step: the server's rules.

    Attributes:
        state: the state of the server.
        recovered: the number of records that it applied when it was made.
        snapshots: the number of snapshots that it has made.

    Raises:
        MXNetError: the log is damaged.
    """

    def __init__(
        self, number: int, workers: int, folder: str | os.PathLike[str] | None = None, *, durable: bool = False,
        snapshot_after: int = SNAPSHOT_AFTER, step: rules.Step = rules.step,
    ) -> None:
        self.number, self.workers, self._step = number, workers, step
        self._began, self._asked = time.time(), dict[int, list[int]]()
        self._after = self._limit = snapshot_after
        self._written = self.requests = self.bytes = self.recovered = self.snapshots = self._found = 0
        self._log = None if folder is None else Log(folder, durable=durable)
        self.state = rules.start(workers)
        self.recover()

    @property
    def log(self) -> Log:
        """The log of its requests."""
        assert self._log is not None
        return self._log

    @decides("Cluster/recover")
    def recover(self) -> None:
        """Set the state to that of the log's snapshot and records."""
        if self._log is None:
            return
        name = self._log.folder
        _, kept = self._log.snapshot()
        self.state = rules.start(self.workers) if kept is None else decode_server(kept, f"the snapshot in {name}")
        self._limit = max(self._after, 2 * len(kept or b""))
        self._written = self.recovered = 0
        for record in self._log.records():
            self.state, _ = step_all(self.state, _requests(decode(record, f"a record in {name}")), self._step)
            self._written += len(record)
            self.recovered += 1
        self._found = self._log.position

    @decides("Cluster/log-first", "Cluster/log-space")
    def take(self, frames: Sequence[Sequence[Bytes]]) -> list[say.Reply]:
        """Carry out the requests in ``frames``, each given in pieces; the replies may leave when this returns.

        Raises:
            MXNetError: a frame holds no requests; no frame was carried out or written to the log.
        """
        received = [_requests(decode(pieces, f"what server {self.number} received")) for pieces in frames]
        requests = [one for asked in received for one in asked]
        try:
            if self._log is not None:
                self._write(frames)
        except OSError as error:
            message = (
                f"server {self.number} cannot write down what it is asked: {error}; free space for its log, and start"
                " the job again with the same --state, or with one on a larger disk"
            )
            refused = say.Refused("Cluster/log-space", message)
            return [say.Reply(one.worker, one.incarnation, one.number, refused) for one in requests]
        self.state, replies = step_all(self.state, requests, self._step)
        for asked, pieces in zip(received, frames, strict=True):
            self._count(asked, sum(map(len, pieces)))
        if self._log is not None and self._written > self._limit:
            try:
                self.keep()
            except OSError as error:  # the log goes on
                LOG.warning("server %d cannot write a snapshot: %s", self.number, error)
                self._limit = 2 * self._written
        return replies

    def _count(self, requests: Sequence[say.Request], size: int) -> None:
        """Count requests of one frame; they come from one worker."""
        self.requests += len(requests)
        self.bytes += size
        if requests:
            of_worker = self._asked.setdefault(requests[0].worker, [0, 0])
            of_worker[0] += len(requests)
            of_worker[1] += size

    def _write(self, frames: Sequence[Sequence[Bytes]]) -> None:
        assert self._log is not None
        self._log.extend(frames)
        self._written += sum(len(piece) for pieces in frames for piece in pieces)

    def keep(self) -> None:
        """Make a snapshot, after which the earlier records are not needed."""
        if self._log is not None:
            pieces = pieces_of_server(self.state)
            self._log.keep(*pieces)
            self.snapshots += 1
            self._limit, self._written = max(SNAPSHOT_AFTER, 2 * sum(len(piece) for piece in pieces)), 0

    def why(self, worker: int, number: int) -> tuple[str, list[int]]:
        """(event that request ``number`` of a worker waits for, in words, workers that the event waits for)."""
        what, missing = waits_for(self.state, worker, number)
        return what, list(missing)

    def report(self) -> dict[str, Any]:
        """The progress of the server as plain values, for :class:`~refimpl.kvstore.machines.progress.Progress`.

        ``workers`` has rank, rounds, requests and bytes of each worker that has called. ``waiting`` has, for each
        waiting worker, its rank, the event and its round, and the missing workers. ``found`` is the number of the first
        record after the recovered ones, ``safe`` the number of the first record without an answer. Requests and bytes
        count from the start of this process.
        """
        parts = [held for table in self.state.tables.values() for held in table.parts.values()]
        workers = [
            [rank, max((one.version + len(one.queues.get(rank, ())) for one in parts), default=0), *asked]
            for rank, asked in sorted(self._asked.items())
        ]
        return {
            "server": self.number, "requests": self.requests, "bytes": self.bytes,
            "rounds": max((one.version for one in parts), default=0), "recovered": self.recovered,
            "found": self._found, "safe": 0 if self._log is None else self._log.position,
            "process": os.getpid(), "workers": workers, "began": self._began, "at": time.time(),
            "waiting": [[worker, *of_it] for worker, of_it in sorted(waits(self.state).items())],
            "kinds": sorted({("dist_async", "dist_sync")[table.sync] for table in self.state.tables.values()}),
        }

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()


@decides("Cluster/requests-only")
def _requests(messages: Sequence[Any]) -> list[say.Request]:
    """The requests among the messages; others, which nobody should send to a server, are dropped."""
    return [one for one in messages if isinstance(one, say.Request)]


__all__ = ["SNAPSHOT_AFTER", "Node", "step_all"]
