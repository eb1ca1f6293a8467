"""A worker's end of real connections: the transport between its stores and the servers of a job.

Requests to a server wait in an outbox, and leave in one frame: when the worker waits for an answer, when there are
many bytes, or after a moment. When a connection was lost, all unanswered requests are sent again.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from multiprocessing.util import Finalize

from ...base import decides, refusal, require
from ...log import LOG
from .. import messages as say
from ..transport import Channel, Ticket
from .serving import MESSAGES, QUESTION, name_of
from .sockets import Caller, Keys, wait_for
from .wire import decode, encode

FLUSHED = 1 << 20
"""The bytes of an outbox from which it is sent at once."""

MOMENT = 0.05
"""Seconds after which an outbox is sent even if the worker does not wait."""

TOLD = 10.0
"""Seconds between two log lines of a waiting worker."""

ASKED = 1.0
"""Seconds between two questions to the launcher for the address of a server that cannot be reached."""

_TAKEN = (say.Push, say.Init, say.Command, say.Keep, say.Join, say.Leave)


class RemoteTransport:
    """The connections of one worker to the servers of a job; see :class:`~refimpl.kvstore.transport.Transport`.

    Args:
        endpoints: the addresses of the servers.
        workers, rank: the number of workers, and the rank of this worker.
        restarts: how often the process of this worker was started again.
        returning: whether the process is started again when it is killed.
        patience: seconds without an answer after which a wait is given up.
        keys, server: the worker's keys, and the servers' public key.
        head: the address of the launcher, which knows the address of a server that was started elsewhere.
    """

    def __init__(
        self, endpoints: Sequence[str], workers: int, rank: int, *, restarts: int = 0, returning: bool = False,
        patience: float = 3600.0, keys: Keys | None = None, server: str = "", head: str = "",
    ) -> None:
        self.servers, self.workers, self.rank, self.returning = len(endpoints), workers, rank, returning
        self._patience = patience
        name = name_of(rank, restarts, os.getpid())
        self._callers = [Caller(endpoint, name, keys, server) for endpoint in endpoints]
        self._head = Caller(head, name, keys, server) if head else None
        self._asked_head = time.monotonic()
        self._channels = [Channel(rank, 0, restarts, returning=returning) for _ in endpoints]
        self._outboxes: list[list[say.Request]] = [[] for _ in endpoints]
        self._sizes, self._since = [0] * len(endpoints), [0.0] * len(endpoints)
        self._due: set[int] = set()  # servers to which all unanswered requests have to be sent again
        self._reasons: dict[tuple[int, int], dict[str, object]] = {}
        self._lock = threading.RLock()
        self._gone = ""
        self._closed = threading.Event()
        self._closer = 0  # the thread that closes
        self._process = os.getpid()
        threading.Thread(target=self._flush_now_and_then, daemon=True).start()
        atexit.register(self._end)
        Finalize(None, self._end, exitpriority=0)  # a process that multiprocessing forked ends without atexit

    # --- what a store calls ----------------------------------------------------------------------

    @decides("Cluster/last-pushes")
    def send(self, rank: int, server: int, body: say.Body, number: int | None = None) -> Ticket:
        """Put a message into the outbox of a server; after the worker has left, the returned ticket has failed.

        Raises:
            MXNetError: the connections are closed, or belong to the process that forked this one.
        """
        if self._process != os.getpid():  # its lock may be another thread's of the parent
            raise refusal(
                "Cluster/forked", f"this process was forked by worker {self.rank}, whose connections are its parent's;"
                " use the store in the parent only",
            )
        with self._lock:
            require("Cluster/last-pushes", not self._closed.is_set(), self._gone)
            if self._gone and not isinstance(body, say.Leave):
                ticket = Ticket(rank, server, -1, self._wait)
                ticket.failure = self._gone
                return ticket
            request, ticket = self._channels[server].ask(server, body, self._wait, number)
            if not self._outboxes[server]:
                self._since[server] = time.monotonic()
            self._outboxes[server].append(request)
            self._sizes[server] += say.size_of(body)
            if self._sizes[server] > FLUSHED:
                self._flush(server)
            return ticket

    def channel(self, rank: int, server: int) -> Channel:
        """The worker's end of its connection to a server."""
        del rank
        return self._channels[server]

    def stop(self, rank: int) -> None:
        """Let the worker leave; its earlier messages still count."""
        self._gone = f"worker {rank} has left"
        for ticket in [self.send(rank, server, say.Leave()) for server in range(self.servers)]:
            ticket.wait()

    @decides("Cluster/last-pushes")
    def close(self) -> None:
        """Wait until the servers have all pushes, then end the connections; waits of other threads end.

        Raises:
            MXNetError: a push was refused, or cannot arrive, and this was not raised before.
        """
        if self._closed.is_set() or self._process != os.getpid():
            return
        self._closer = threading.get_ident()
        with self._lock:
            try:
                lost = self._lost()
            finally:
                self._closed.set()
                self._gone = f"worker {self.rank} has closed its connections"
                for caller in (*self._callers, *([] if self._head is None else [self._head])):
                    caller.close()
        require("Cluster/last-pushes", not lost, f"worker {self.rank} ends, and what it pushed last is lost: {lost}")

    def _lost(self) -> str:
        """Wait for the answers to all requests that change a server; returns why one failed, or an empty text."""
        for channel in self._channels:
            for request, ticket in list(channel.unanswered.values()):
                if isinstance(request.body, _TAKEN) and not (
                    isinstance(request.body, say.Init) and request.body.value is None
                ):
                    self._wait(ticket)
                    if ticket.failure:
                        return ticket.failure
            refused = channel.refused
            if refused is not None and not refused.told and isinstance(refused.answer, say.Refused):
                return refused.answer.message
        return ""

    def _end(self) -> None:
        """Close when the script has ended; after a lost push end the process with 1, which an error here could not."""
        try:
            self.close()
        except BaseException as error:  # noqa: BLE001  # after any error here Python would end with 0
            LOG.error("%s", error)  # without a traceback, which says nothing more
            with contextlib.suppress(OSError, ValueError):  # a stream that nobody reads, or that is closed
                sys.stdout.flush()
            os._exit(1)

    # --- sending ---------------------------------------------------------------------------------

    def _flush(self, server: int) -> None:
        """Send the content of an outbox; without a connection it stays there."""
        if not self._callers[server].up:
            return
        if server in self._due:
            self._again(server)
        elif self._outboxes[server] and self._sends(server, self._outboxes[server]):
            self._outboxes[server], self._sizes[server] = [], 0

    def _sends(self, server: int, requests: Sequence[say.Request]) -> bool:
        return self._callers[server].send(MESSAGES, encode(requests))

    def _flush_now_and_then(self) -> None:
        while not self._closed.wait(MOMENT):
            if self._lock.acquire(blocking=False):  # whoever has it sends
                try:
                    if self._closed.is_set():
                        return
                    now = time.monotonic()
                    for server, since in enumerate(self._since):
                        if self._outboxes[server] and now - since > MOMENT:
                            self._hear(0.0)
                            self._flush(server)
                finally:
                    self._lock.release()

    @decides("Cluster/resend")
    def _again(self, server: int) -> None:
        """Send all unanswered requests again: there is a new connection, and earlier messages may be lost."""
        requests = [request for request, _ in self._channels[server].unanswered.values()]
        if not requests or self._sends(server, requests):
            self._outboxes[server], self._sizes[server] = [], 0
            self._due.discard(server)

    # --- waiting ---------------------------------------------------------------------------------

    @decides("Cluster/last-pushes")
    def _wait(self, ticket: Ticket) -> None:
        """Wait until a ticket has its answer, or has failed.

        Raises:
            MXNetError: another thread closes the connections.
        """
        with self._lock:
            began = told = time.monotonic()
            for server in range(self.servers):
                self._flush(server)
            while ticket.answer is None and not ticket.failure:
                if self._closed.is_set() or self._closer not in (0, threading.get_ident()):
                    raise refusal("Cluster/last-pushes", f"worker {self.rank} ends, and a thread of it waits in vain")
                self._hear(0.5)
                now = time.monotonic()
                if now - told > TOLD:
                    told = now
                    self._told(ticket, now - began)

    def _hear(self, seconds: float) -> None:
        """Take the messages that have arrived, after waiting for at most ``seconds``."""
        heads = [] if self._head is None else [self._head]
        ready = wait_for([*self._callers, *heads], min(seconds, 0.01) if self._due else seconds)
        for head in heads:
            self._look_for_servers(head, ready)
        for server, caller in enumerate(self._callers):
            for kind, pieces in caller.receive() if caller in ready else ():
                if kind == MESSAGES:
                    for reply in decode(pieces, f"what server {server} sent"):
                        if isinstance(reply, say.Reply):
                            self._channels[server].take(reply)
                elif kind == QUESTION:
                    found = json.loads(b"".join(pieces))
                    self._reasons[server, int(found["of"])] = found
            if caller in ready and caller.connected_anew():
                self._due.add(server)
            self._flush(server)

    @decides("Cluster/server-moved")
    def _look_for_servers(self, head: Caller, ready: Sequence[Caller]) -> None:
        """Ask the launcher, every ``ASKED`` seconds, for the addresses of servers that cannot be reached."""
        if head in ready:
            head.connected_anew()
        for _, pieces in head.receive() if head in ready else ():
            for caller, endpoint in zip(self._callers, json.loads(b"".join(pieces)), strict=True):
                caller.move(endpoint)
        now = time.monotonic()
        if now - self._asked_head > ASKED and not all(caller.up for caller in self._callers):
            self._asked_head = now
            head.send(QUESTION, [b"where"])

    @decides("Cluster/waits-by-name")
    def _told(self, ticket: Ticket, waited: float) -> None:
        """Log what a ticket waits for; fail it when its answer cannot come, or after ``patience`` seconds."""
        where = ticket.server, ticket.number
        self._reasons.pop(where, None)
        asked = self._callers[ticket.server].send(
            QUESTION, [json.dumps({"why": [self.rank, ticket.number]}).encode()]
        )
        end = time.monotonic() + 2
        while asked and where not in self._reasons and ticket.answer is None and time.monotonic() < end:
            self._hear(0.1)
        if ticket.answer is not None:
            return
        found = self._reasons.get(where)
        if found is None:
            refused = self._callers[ticket.server].refused
            how = "does not know this worker's key" if refused else "is away"
            what, names, in_vain = f"server {ticket.server}, which {how}", "", refused
        else:
            missing, ended = list(found["missing"]), set(found["ended"])  # type: ignore[call-overload]
            names = ", ".join(f"worker {one}" + " (has ended)" * (one in ended) for one in missing)
            what, in_vain = str(found["why"]), bool(ended)
        message = f"worker {self.rank} has waited {waited:.0f} s for {what}" + f": {names} is missing" * bool(names)
        if in_vain or waited > self._patience:
            ticket.failure = f"{message}; the wait is given up"
        else:
            LOG.warning("%s", message)


__all__ = ["RemoteTransport"]
