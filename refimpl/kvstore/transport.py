"""What carries the messages of a distributed store: an interface of seven calls, and a ticket for each message.

``simulated.py`` carries them within one process. A way to real machines is another class with these calls; neither
the servers (``server.py``) nor the workers' store (``distributed.py``) would notice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..base import MXNetError, refusal
from .messages import Answer, Body, Refused, Reply, Request


class Ticket:
    """A message that was sent, and its answer when it has come."""

    def __init__(self, worker: int, server: int, number: int, wait: Callable[[Ticket], None]) -> None:
        self.worker, self.server, self.number = worker, server, number
        self.answer: Answer | None = None
        self.failure = ""
        self._wait = wait

    def wait(self) -> Answer:
        """The answer, when it is there.

        Raises:
            MXNetError: the server refused, or the answer can never come; the message says who is missing.
        """
        if self.answer is None and not self.failure:
            self._wait(self)
        if self.failure:
            raise refusal("Cluster/who-is-missing", self.failure, MXNetError)
        if isinstance(self.answer, Refused):
            raise refusal(self.answer.clause, self.answer.message, MXNetError)
        assert self.answer is not None
        return self.answer


class Channel:
    """A worker's end of the connection to one server: numbers requests and keeps them until they are answered."""

    def __init__(self, worker: int, incarnation: int) -> None:
        self.worker, self.incarnation = worker, incarnation
        self.next = 0
        self.unanswered: dict[int, tuple[Request, Ticket]] = {}

    def ask(self, server: int, body: Body, wait: Callable[[Ticket], None]) -> tuple[Request, Ticket]:
        """A new request and its ticket."""
        number = self.next
        self.next += 1
        answered = next(iter(self.unanswered), number)  # the first was asked first
        request = Request(self.worker, self.incarnation, number, answered, body)
        ticket = Ticket(self.worker, server, number, wait)
        self.unanswered[number] = request, ticket
        return request, ticket

    def take(self, reply: Reply) -> bool:
        """Give an answer to its ticket; False if it came before, or was meant for an earlier incarnation."""
        if reply.incarnation != self.incarnation or reply.number not in self.unanswered:
            return False
        _, ticket = self.unanswered.pop(reply.number)
        ticket.answer = reply.body
        return True


class Transport(Protocol):
    """The interface between a distributed store and a network."""

    servers: int
    workers: int

    def start(self) -> None:
        """Bring up the servers."""

    def connect(self, rank: int) -> None:
        """Let worker ``rank`` talk to every server; once more after it was lost."""

    def send(self, rank: int, server: int, body: Body) -> Ticket:
        """Send a message; those of one worker to one server arrive once each and in order."""

    def barrier(self, rank: int, table: int) -> None:
        """Return when every worker has called."""

    def command(self, rank: int, table: int, head: int, body: str) -> list[str]:
        """Send every server a command; return the notes of their answers."""

    def membership(self) -> frozenset[int]:
        """The workers that rounds and barriers wait for."""

    def stop(self, rank: int) -> None:
        """Let a worker leave for good: nobody waits for it any longer."""


__all__ = ["Channel", "Ticket", "Transport"]
