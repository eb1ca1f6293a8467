"""The connection of a server to the next one, which keeps its copy; what they say to each other is in ``peers.py``."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence

from .peers import Message
from .sockets import Caller, Keys

QUESTION, COPY = b"?", b"c"

ASKED = 1.0
"""Every so many seconds the launcher is asked where the server is, while it cannot be reached."""

SILENT = 5.0
"""After so many seconds without an answer it is asked again what it has."""


class Neighbour:
    """The next server, as the one before it reaches it.

    Args:
        number: the server that calls.
        servers: how many there are.
        head: where the launcher listens, which knows where servers are.
        keys: those of the servers, which are the launcher's too.

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
        """Whom to wait for."""
        return [self._head] if self._caller is None else [self._head, self._caller]

    def is_new(self, *, waiting: bool) -> bool:
        """Whether the next server is to be asked what it has.

        There is a new connection, something could not be sent, or nothing answers what is ``waiting`` for a while.
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
        """Send, if there is a connection; what is lost is asked for again."""
        for message in messages:
            self._failed |= self._caller is None or not self._caller.send(COPY, message)

    def receive(self) -> list[Message]:
        """What has come from it."""
        found = [] if self._caller is None else [pieces for kind, pieces in self._caller.receive() if kind == COPY]
        if found:
            self._heard = time.monotonic()
        return found

    def close(self) -> None:
        """End the connections."""
        for caller in self.callers:
            caller.close()


__all__ = ["COPY", "Neighbour"]
