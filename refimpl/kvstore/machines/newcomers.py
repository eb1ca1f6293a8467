"""Limits the number of silent connections to a network port: connections without a message yet, ended oldest first."""

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
"""The most silent connections, in addition to the connections of the job's processes."""


class Newcomers:
    """Watches the connections of a port, in a thread of its own, which ends with ``close``.

    Args:
        news: a PAIR socket of ZeroMQ with the events ACCEPTED and DISCONNECTED of the listening socket.
        accepted: the number of the event ACCEPTED.
        port: the port; connections of other ports are ignored.
        most: the most silent connections.
        seconds: the age up to which a connection counts: after that ZeroMQ has ended connections without a key.
        clock: returns seconds.
    """

    def __init__(
        self, news: Any, accepted: int, port: int, most: int, seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._news, self._accepted, self._port, self._most, self._seconds = news, accepted, port, most, seconds
        self._clock = clock
        self._since: dict[int, float] = {}  # file descriptor -> time of its connection, oldest first
        self._spoken: set[int] = set()  # file descriptors with a message, for the thread
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def spoken(self, descriptor: int) -> None:
        """Note that a message came on a connection: its sender has shown a key."""
        if descriptor in self._since:
            self._spoken.add(descriptor)

    def close(self) -> None:
        """End the thread, which closes the socket."""
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
        """Take an event of a connection; above ``most`` silent connections, end the oldest."""
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
        """End a connection, which ZeroMQ then closes; leave another file alone that has this number now."""
        with contextlib.suppress(OSError), socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as one:
            if one.getsockname()[1:2] == (self._port,):
                one.shutdown(socket.SHUT_RDWR)


__all__ = ["UNKNOWN", "Newcomers"]
