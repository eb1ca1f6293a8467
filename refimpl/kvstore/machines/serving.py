"""The loop of a server process: requests arrive, a node carries them out, replies leave.

Two kinds of content travel: ``m`` is a frame of messages, ``?`` a question as JSON that changes nothing: what a request
waits for (``{"why": [worker, number]}``) or how it goes (``{"report": ..., "ended": [ranks]}``).
"""

from __future__ import annotations

import json
import logging
import threading
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

from ...base import MXNetError, decides
from .. import messages as say
from ..simulated import describe
from .checksums import Bytes
from .node import Node
from .sockets import Listener
from .wire import encode

MESSAGES, QUESTION = b"m", b"?"


def name_of(rank: int, restarts: int, process: int) -> bytes:
    """What a worker's process is known by at the servers."""
    return f"worker {rank} {restarts} {process}".encode()


def _place_of(name: bytes) -> tuple[int, int] | None:
    """(rank, restarts) of a worker's process; None for whoever asks questions only."""
    words = name.decode("utf-8", "replace").split(" ")
    if len(words) != 4 or words[0] != "worker" or not all(word.isdigit() for word in words[1:]):
        return None
    return int(words[1]), int(words[2])


class Serving:
    """A node at a socket.

    Args:
        node: the server.
        listener: where the workers call.
        noting: whether to remember every message for :meth:`report`.
    """

    def __init__(self, node: Node, listener: Listener, *, noting: bool = False) -> None:
        self.node, self._listener = node, listener
        self._callers: dict[int, tuple[int, bytes]] = {}  # rank: (restarts, name) of its newest process
        self._ended: set[int] = set()
        self._noted: deque[list[Any]] = deque(maxlen=100_000 if noting else 0)

    def run(self, stop: threading.Event) -> None:
        """Serve until ``stop`` is set."""
        while not stop.is_set():
            self.once(0.2)
        self._listener.close()
        self.node.close()

    @decides("Cluster/stranger")
    def once(self, seconds: float) -> None:
        """Carry out what has arrived, after at most ``seconds``."""
        frames: list[Sequence[Bytes]] = []
        for name, kind, pieces in self._listener.receive(seconds):
            place = _place_of(name)
            if kind == QUESTION:
                self._answer(name, b"".join(pieces))
            elif kind == MESSAGES and place is not None and place[0] < self.node.workers:
                if place[1] >= self._callers.get(place[0], (-1, b""))[0]:
                    self._callers[place[0]] = place[1], name
                frames.append(pieces)
        if frames:
            self._send(self._taken(frames))

    def _taken(self, frames: list[Sequence[Bytes]]) -> list[say.Reply]:
        """Replies to several frames; of damaged ones among them there are none."""
        try:
            return self.node.take(frames)
        except MXNetError as error:
            if len(frames) > 1:
                return [reply for frame in frames for reply in self._taken([frame])]
            logging.warning("%s", error)
            return []

    def _send(self, replies: Sequence[say.Reply]) -> None:
        by_worker: dict[int, list[say.Reply]] = defaultdict(list)
        for reply in replies:
            by_worker[reply.worker].append(reply)
            if self._noted.maxlen:
                self._noted.append(["answers", reply.worker, f"#{reply.number} gets {describe(reply.body)}"])
        for worker, theirs in by_worker.items():
            if worker in self._callers:
                self._listener.send(self._callers[worker][1], MESSAGES, encode(theirs))

    def _answer(self, name: bytes, content: bytes) -> None:
        """Answer a question; what is none gets no answer."""
        try:
            asked = json.loads(content)
            if "why" in asked:
                worker, number = map(int, asked["why"])
                what, missing = self.node.why(worker, number)
                ended = sorted(self._ended & set(missing))
                found: Any = {"why": what, "missing": missing, "ended": ended, "of": number}
            else:
                self._ended = set(map(int, asked["ended"]))
                found = {**self.node.report(), "noted": list(self._noted)}
                self._noted.clear()
        except (ValueError, TypeError, KeyError) as error:
            logging.warning("server %d: a question that is none: %s", self.node.number, error)
            return
        self._listener.send(name, QUESTION, [json.dumps(found).encode()])


__all__ = ["MESSAGES", "QUESTION", "Serving", "name_of"]
