"""A server that survives its process: it writes down what it is asked before it answers. It knows of no network.

:meth:`Node.take` is all of it: frames of requests go in, they are written to the log, the server's rules are applied
to one after the other, and the replies come out. A node that is made in the folder of one whose process ended begins
with the snapshot, applies the records since, and so knows all that anybody had an answer to.
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
"""A snapshot is made when so many bytes were written since the last, or twice the size of that one if it is larger."""


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
        number, workers: which server it is, and how many workers the job has.
        folder: where its log is; None for a server that writes nothing down.
        durable: whether a record is on the disk before its requests are answered.
        snapshot_after: see ``SNAPSHOT_AFTER``.
        step: the server's rules.

    Attributes:
        state: all that the server knows.
        recovered: how many records it applied when it was made.
        snapshots: how many it has made.

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
        """Where it writes down what it is asked."""
        assert self._log is not None
        return self._log

    @decides("Cluster/recover")
    def recover(self) -> None:
        """Know what is in the log, and nothing else."""
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
            MXNetError: a frame holds no requests; none of them was carried out, nor written down.
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
        """Make a snapshot: what was written until now is needed no longer."""
        if self._log is not None:
            pieces = pieces_of_server(self.state)
            self._log.keep(*pieces)
            self.snapshots += 1
            self._limit, self._written = max(SNAPSHOT_AFTER, 2 * sum(len(piece) for piece in pieces)), 0

    def why(self, worker: int, number: int) -> tuple[str, list[int]]:
        """What request ``number`` of a worker waits for, in words, and which workers are missing."""
        what, missing = waits_for(self.state, worker, number)
        return what, list(missing)

    def report(self) -> dict[str, Any]:
        """Plain values that tell how it goes, for :class:`~refimpl.kvstore.machines.progress.Progress`.

        ``workers`` has rank, rounds, requests and bytes of each worker that has called; ``waiting`` has who waits, for
        what, for which round of it, and for whom. ``found`` is the number of the record after those that the server
        began with, ``safe`` of that after those that were answered. Requests and bytes count since it was made.
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
        """End the log."""
        if self._log is not None:
            self._log.close()


@decides("Cluster/requests-only")
def _requests(messages: Sequence[Any]) -> list[say.Request]:
    """The requests among what arrived: a server is sent nothing else, and drops it."""
    return [one for one in messages if isinstance(one, say.Request)]


__all__ = ["SNAPSHOT_AFTER", "Node", "step_all"]
