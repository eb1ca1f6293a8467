"""Connections of a port of the network that nobody has spoken on: how many there may be, and which one is ended."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from ...base import decides

UNKNOWN = 64
"""So many connections there may be, beside those of the processes of the job, on which nobody has spoken."""


class Newcomers:
    """Watches over a port, in a thread of its own, which ends with ``close``.

    Args:
        news: a PAIR socket of ZeroMQ with the events ACCEPTED and DISCONNECTED of the listening socket.
        accepted: the number of the event ACCEPTED.
        port: the port; connections of another are none of ours.
        most: so many newcomers there may be.
        seconds: after these a connection is no newcomer: who has shown no key by then, ZeroMQ has cut off.
        clock: seconds.
    """

    def __init__(
        self, news: Any, accepted: int, port: int, most: int, seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._news, self._accepted, self._port, self._most, self._seconds = news, accepted, port, most, seconds
        self._clock = clock
        self._since: dict[int, float] = {}  # file descriptor: since when, oldest first
        self._spoken: set[int] = set()  # on whose connections a message came, which the thread is to know
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def spoken(self, descriptor: int) -> None:
        """Know that a message came on a connection: who sent it has shown a key."""
        if descriptor in self._since:
            self._spoken.add(descriptor)

    def close(self) -> None:
        """End the thread; the socket is closed with it."""
        self._closed.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._closed.is_set():
            if self._news.poll(200):
                content, _ = self._news.recv_multipart()
                self._hear(int.from_bytes(content[:2], sys.byteorder), int.from_bytes(content[2:6], sys.byteorder))
        self._news.close(linger=0)

    @decides("Cluster/unknown-memory")
    def _hear(self, event: int, descriptor: int) -> None:
        """Take an event of a connection; with one newcomer too many, end the oldest."""
        self._since.pop(descriptor, None)
        self._spoken.discard(descriptor)
        if event != self._accepted:
            return
        now = self._clock()
        self._since[descriptor] = now
        while self._spoken:
            self._since.pop(self._spoken.pop(), None)
        for old in [one for one, at in self._since.items() if now - at > self._seconds]:
            del self._since[old]
        while len(self._since) > self._most:
            oldest = next(iter(self._since))
            del self._since[oldest]
            self._end(oldest)

    def _end(self, descriptor: int) -> None:
        """End a connection, which ZeroMQ then closes; whatever else has this number by now is left alone."""
        with contextlib.suppress(OSError), socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as one:
            if one.getsockname()[1:2] == (self._port,):
                one.shutdown(socket.SHUT_RDWR)


__all__ = ["UNKNOWN", "Newcomers"]
