"""The loop of a server process: requests arrive, a node carries them out, replies leave.

There are three kinds of content: ``m`` is a frame of messages, ``c`` is about copies (``peers.py``), ``?`` a question
in JSON, which changes no state: the reason why a request waits (``{"why": [worker, number]}``) or the server's report
(``{"report": ..., "ended": [ranks]}``).
"""

from __future__ import annotations

import json
import struct
import threading
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

from ...base import MXNetError, decides
from ...log import LOG
from .. import messages as say
from .checksums import Bytes
from .events import Noting
from .neighbour import COPY, Neighbour
from .node import Node
from .peers import Backup, Copies
from .sockets import Listener
from .wire import encode

MESSAGES, QUESTION = b"m", b"?"

WARNED = 20
"""The most warnings that are kept until the launcher asks for them."""


def name_of(rank: int, restarts: int, process: int) -> bytes:
    """The name of a worker's process at the servers."""
    return f"worker {rank} {restarts} {process}".encode()


def _place_of(name: bytes) -> tuple[int, int] | None:
    """(rank, restarts) of a worker's process from its name; None for a caller that only asks questions."""
    words = name.decode("utf-8", "replace").split(" ")
    if len(words) != 4 or words[0] != "worker" or not all(word.isdigit() for word in words[1:]):
        return None
    return int(words[1]), int(words[2])


class Serving:
    """A node at a socket.

    Args:
        node: the server.
        listener: the socket on which the workers call.
        noting: the object that notes the node's events for the launcher, or None.
        neighbour: the connection to the next server, which keeps a copy of the node's log; None without copies.
    """

    def __init__(self, node: Node, listener: Listener, noting: Noting | None = None, neighbour: Neighbour | None = None
    ) -> None:
        self.node, self._listener = node, listener
        self._callers: dict[int, tuple[int, bytes]] = {}  # rank: (restarts, name) of its newest process
        self._ended: set[int] = set()
        self._noting, self._neighbour = noting, neighbour
        self._backup = None if neighbour is None else Backup(node)
        self._copies = None if neighbour is None else Copies(node.log.folder)
        self._warned: deque[str] = deque(maxlen=WARNED)
        self._early: list[Sequence[Bytes]] = []  # frames that came before the server had recovered

    def run(self, stop: threading.Event) -> None:
        """Serve until ``stop`` is set."""
        while not stop.is_set():
            self.once(0.2)
        self._listener.close()
        self.node.close()
        if self._neighbour is not None and self._copies is not None:
            self._neighbour.close()
            self._copies.close()

    @decides("Cluster/stranger")
    def once(self, seconds: float) -> None:
        """Carry out the messages that have arrived, after waiting for at most ``seconds``."""
        frames, self._early = self._early, []
        others = () if self._neighbour is None else (self._neighbour.callers,)
        for name, kind, pieces in self._listener.receive(seconds, *others):
            place = _place_of(name)
            if kind == QUESTION:
                self._answer(name, b"".join(pieces))
            elif kind == COPY and name.startswith(b"server "):
                self._keep_copy(name, pieces)
            elif kind == MESSAGES and place is not None and place[0] < self.node.workers:
                if place[1] >= self._callers.get(place[0], (-1, b""))[0]:
                    self._callers[place[0]] = place[1], name
                frames.append(pieces)
            else:
                self._warn(f"a message of a stranger, {name[:40]!r}, was dropped")
        denied = self._listener.denied()
        if denied:
            self._warn(f"{denied} connections of strangers, whose keys are not of this job, were refused")
        if self._backup is not None and self._neighbour is not None:
            self._hear_neighbour(self._backup, self._neighbour)
            if not self._backup.ready:
                self._early = frames
                return
        if frames:
            self._send(self._taken(frames))

    def _hear_neighbour(self, backup: Backup, neighbour: Neighbour) -> None:
        """Bring the copy up to date, and send the answers whose records are in the copy."""
        if self._noting is not None:
            self._noting.replaying = not backup.ready
        if neighbour.is_new(waiting=backup.waits or not backup.ready):
            neighbour.send(backup.begin())
        for message in neighbour.receive():
            try:
                neighbour.send(backup.take(message))
            except (OSError, MXNetError, struct.error) as error:  # the neighbour is asked again after a while
                self._warn(f"cannot use what server {neighbour.next} has of it: {error}")
        self._send(backup.released())

    def _keep_copy(self, name: bytes, pieces: Sequence[Bytes]) -> None:
        """Keep the records that another server sent; without an answer that server continues to wait."""
        if self._copies is None:
            return
        try:
            for message in self._copies.take(pieces):
                self._listener.send(name, COPY, message)
        except (OSError, struct.error) as error:
            self._warn(f"cannot keep a copy for {name[:40]!r}: {error}")

    def _taken(self, frames: list[Sequence[Bytes]]) -> list[say.Reply]:
        """The replies to several frames; damaged frames get no reply."""
        try:
            if self._backup is None or self._neighbour is None:
                return self.node.take(frames)
            self._neighbour.send(self._backup.carry_out(frames))
            return self._backup.released()
        except MXNetError as error:
            if len(frames) > 1:
                return [reply for frame in frames for reply in self._taken([frame])]
            self._warn(f"a damaged message was dropped: {error}")
            return []

    def _warn(self, message: str) -> None:
        """Log a warning, and keep it for the launcher, which shows it to the user."""
        LOG.warning("server %d: %s", self.node.number, message)
        self._warned.append(message)

    def _send(self, replies: Sequence[say.Reply]) -> None:
        by_worker: dict[int, list[say.Reply]] = defaultdict(list)
        for reply in replies:
            by_worker[reply.worker].append(reply)
        for worker, theirs in by_worker.items():
            if worker in self._callers:
                self._listener.send(self._callers[worker][1], MESSAGES, encode(theirs))

    def _answer(self, name: bytes, content: bytes) -> None:
        """Answer a question; content that is no question gets no answer."""
        try:
            asked = json.loads(content)
            if "why" in asked:
                worker, number = map(int, asked["why"])
                what, missing = self.node.why(worker, number)
                if self._backup is not None and self._neighbour is not None and self._backup.waits and not missing:
                    what = f"server {self._neighbour.next} to keep a copy of what it asked"
                ended = sorted(self._ended & set(missing))
                found: Any = {"why": what, "missing": missing, "ended": ended, "of": number}
            else:
                self._ended = set(map(int, asked["ended"]))
                if self._backup is not None and not self._backup.ready:
                    return  # the recovered state is not known yet
                safe = {} if self._backup is None else {"safe": self._backup.safe}
                found = {**self.node.report(), **safe, "noted": [] if self._noting is None else self._noting.taken()}
                if name.startswith(b"launcher "):
                    found["warned"] = list(self._warned)
                    self._warned.clear()
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            self._warn(f"a question that is none, from {name[:40]!r}: {error}")
            return
        self._listener.send(name, QUESTION, [json.dumps(found).encode()])


__all__ = ["MESSAGES", "QUESTION", "Serving", "name_of"]
