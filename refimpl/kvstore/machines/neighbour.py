"""The connection of a server to the next server, which keeps its copy; ``peers.py`` has the messages."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence

from .peers import Message
from .sockets import Caller, Keys

QUESTION, COPY = b"?", b"c"

ASKED = 1.0
"""Seconds between two questions to the launcher for the address of a server that cannot be reached."""

SILENT = 5.0
"""Seconds without an answer after which the next server is asked again which records it has."""


class Neighbour:
    """The connection to the next server.

    Args:
        number: the number of the calling server.
        servers: the number of servers.
        head: the address of the launcher, which knows the addresses of servers.
        keys: the keys of the servers and the launcher.

    Attributes:
        next: the number of the next server.
    """

    def __init__(self, number: int, servers: int, head: str, keys: Keys | None = None) -> None:
        self.next = (number + 1) % servers
        self._name, self._keys = f"server {number} {os.getpid()}".encode(), keys
        self._public = "" if keys is None else keys.public
        self._head = Caller(head, self._name, keys, self._public)
        self._caller: Caller | None = None
        self._asked = self._heard = 0.0
        self._failed = False

    @property
    def callers(self) -> list[Caller]:
        """The connections whose events to wait for."""
        return [self._head] if self._caller is None else [self._head, self._caller]

    def is_new(self, *, waiting: bool) -> bool:
        """Whether to ask the next server which records it has.

        The connection is new, a message could not be sent, or answers are ``waiting`` and none came for a while.
        """
        now = time.monotonic()
        self._head.connected_anew()
        for _, pieces in self._head.receive():
            endpoint = json.loads(b"".join(pieces))[self.next]
            if self._caller is None:
                self._caller = Caller(endpoint, self._name, self._keys, self._public)
            else:
                self._caller.move(endpoint)
        anew = self._caller is not None and self._caller.connected_anew()
        if now - self._asked > ASKED and not (self._caller is not None and self._caller.up):
            self._asked = now
            self._head.send(QUESTION, [b"where"])
        late = self._failed or (waiting and now - self._heard > SILENT)
        again = anew or (late and self._caller is not None and self._caller.up)
        if again:
            self._heard, self._failed = now, False
        return again

    def send(self, messages: Sequence[Message]) -> None:
        """Send messages, if there is a connection; lost records are sent again later."""
        for message in messages:
            self._failed |= self._caller is None or not self._caller.send(COPY, message)

    def receive(self) -> list[Message]:
        """The messages that have come from the next server."""
        found = [] if self._caller is None else [pieces for kind, pieces in self._caller.receive() if kind == COPY]
        if found:
            self._heard = time.monotonic()
        return found

    def close(self) -> None:
        """End the connections."""
        for caller in self.callers:
            caller.close()


__all__ = ["COPY", "Neighbour"]
