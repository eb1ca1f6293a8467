"""The transport of a distributed store's messages: an interface of three calls, and a ticket for each message.

``simulated.py`` carries messages within one process. A transport between real machines is another class with the same
calls; neither the servers (``server.py``) nor the workers' store (``distributed.py``) depend on the class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..base import MXNetError, decides, refusal
from ..log import LOG
from .messages import Answer, Body, Push, Recall, Refused, Reply, Request, size_of

WAITING = 1 << 28
"""The most unanswered bytes to one server, after which a worker waits before it sends more."""

KEPT = 1 << 32
"""The most bytes of answers that a server keeps for a worker that may be started again."""


class Ticket:
    """A message that was sent, and its answer when it has come.

    Attributes:
        told: whether a caller has waited for the answer.
    """

    def __init__(self, worker: int, server: int, number: int, wait: Callable[[Ticket], None]) -> None:
        self.worker, self.server, self.number = worker, server, number
        self.answer: Answer | None = None
        self.failure = ""
        self.told = False
        self._wait = wait

    def wait(self) -> Answer:
        """Wait for the answer and return it.

        Raises:
            MXNetError: the server refused, or the answer can never come; the message names the missing workers.
        """
        self.told = True
        if self.answer is None and not self.failure:
            self._wait(self)
        if self.failure:
            raise refusal("Cluster/who-is-missing", self.failure, MXNetError)
        if isinstance(self.answer, Refused):
            raise refusal(self.answer.clause, self.answer.message, MXNetError)
        assert self.answer is not None
        return self.answer


class Channel:
    """A worker's end of the connection to one server: numbers requests and keeps them until they are answered.

    Args:
        worker, incarnation: as in :class:`~refimpl.kvstore.messages.Request`.
        restarts: how often the worker's process was started again in this incarnation.
        returning: whether the process may be started again and repeat its requests. The server then keeps the answers
            to all from number ``held`` on, which :meth:`hold` moves.

    Attributes:
        unanswered: requests without an answer, by number.
        refused: the oldest push that the server refused and nobody has waited for.
    """

    def __init__(self, worker: int, incarnation: int, restarts: int = 0, *, returning: bool = False) -> None:
        self.worker, self.incarnation, self.restarts = worker, incarnation, restarts
        self.next = self.stores = 0
        self.held: int | None = 0 if returning else None
        self.unanswered: dict[int, tuple[Request, Ticket]] = {}
        self.refused: Ticket | None = None
        self._out = self._kept = 0  # bytes that were sent and not answered, bytes of answers that the server keeps

    @decides("Cluster/bytes-waiting")
    def ask(
        self, server: int, body: Body, wait: Callable[[Ticket], None], number: int | None = None
    ) -> tuple[Request, Ticket]:
        """A new request and its ticket; one that asks again has its old ``number``.

        When more than ``WAITING`` bytes have no answer yet, it first waits for the oldest of them.
        """
        while self._out > WAITING:
            _, oldest = next(pair for pair in self.unanswered.values() if size_of(pair[0].body))
            oldest.wait()
        if isinstance(body, Recall):
            number = -1 - self.restarts  # an answer to the process before this one is told from the one to this
        elif number is None:
            number = self.next
            self.next += 1
        answered = max(next(iter(self.unanswered), number), 0) if self.held is None else self.held  # oldest first
        request = Request(self.worker, self.incarnation, number, answered, body)
        ticket = Ticket(self.worker, server, number, wait)
        self.unanswered[number] = request, ticket
        self._out += size_of(body)
        return request, ticket

    def take(self, reply: Reply) -> bool:
        """Give an answer to its ticket; False for a repeated answer, or an answer to an earlier incarnation."""
        if reply.incarnation != self.incarnation or reply.number not in self.unanswered:
            return False
        request, ticket = self.unanswered.pop(reply.number)
        self._out -= size_of(request.body)
        self._count(size_of(reply.body))
        ticket.answer = reply.body
        untold = self.refused is not None and not self.refused.told
        if isinstance(request.body, Push) and isinstance(reply.body, Refused) and not untold:
            self.refused = ticket
        return True

    def hold(self, number: int) -> None:
        """Let the server forget its answers to the requests below ``number``."""
        if self.held is not None:
            self.held, self._kept = number, 0

    @decides("Cluster/bytes-kept")
    def _count(self, size: int) -> None:
        """Count the bytes of answers that the server keeps; above ``KEPT`` it drops them, and no return is possible."""
        if self.held is None:
            return
        self._kept += size
        if self._kept > KEPT:
            self.held = None
            LOG.warning(
                "worker %d has pulled %d MiB without giving anything to keep: were it started again, it would be"
                " refused [Cluster/bytes-kept]", self.worker, self._kept >> 20,
            )


class Transport(Protocol):
    """The interface between a distributed store and a network.

    Attributes:
        servers, workers: the numbers of servers and workers.
        returning: whether a worker's process that ends is started again, see ``Cluster/kill``.
    """

    servers: int
    workers: int
    returning: bool

    def send(self, rank: int, server: int, body: Body, number: int | None = None) -> Ticket:
        """Send a message; the messages of one worker to one server arrive once each and in order.

        ``number`` is the number of an earlier request that is repeated; None for a new request.
        """

    def channel(self, rank: int, server: int) -> Channel:
        """The worker's end of a connection, with the next number and the answers that the server keeps."""

    def stop(self, rank: int) -> None:
        """Let a worker leave for good: rounds and barriers no longer wait for it."""


__all__ = ["KEPT", "WAITING", "Channel", "Ticket", "Transport"]
