"""Bytes between processes over ZeroMQ: a server listens, workers call. This module does not interpret the bytes.

A message is a kind (one byte) and content in pieces. A message is lost only when its connection ends; a :class:`Caller`
reports a new connection. On one machine the sockets are files in a folder of the user's own; between machines each side
proves its identity with a CURVE key, and all messages are encrypted.
"""

from __future__ import annotations

import importlib
import os
import socket
import stat
import struct
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...base import decides, refusal, require
from .checksums import Bytes
from .newcomers import UNKNOWN, Newcomers

zmq: Any = None  # the package, from the first socket on: it comes with the extra "ray"

LARGEST = 1 << 20
"""The most bytes of one part of a message over tcp: memory is allocated before the sender is known."""

HANDSHAKE = 10_000
"""Milliseconds after which a connection without a key ends."""

SMALL = 1 << 16
"""The bytes below which neighbouring pieces are sent as one."""

_BATCH = 1 << 28
_SIOCGIFADDR = 0xC0206921 if sys.platform == "darwin" else 0x8915  # asks for the address of an interface
_CONTEXTS: list[Any] = []  # of listeners with keys; ending one would wait for all that is on its way


class Keys(NamedTuple):
    """A CURVE key pair, in Z85 text."""

    public: str
    secret: str


@decides("Cluster/needs-zmq")
def require_zmq() -> None:
    """Import ZeroMQ, or refuse to go on (MXNetError)."""
    global zmq  # noqa: PLW0603  # there is one, and most who import this never need it
    try:
        zmq = importlib.import_module("zmq")
        importlib.import_module("zmq.utils.garbage")  # it ends at exit: only what registers later can still send
    except ImportError as error:
        raise refusal(
            "Cluster/needs-zmq",
            "the processes of a job talk over ZeroMQ, and the package pyzmq is not installed:"
            ' pip install "refimpl[ray]"',
        ) from error


def new_keys() -> Keys:
    """A new key pair."""
    require_zmq()
    public, secret = zmq.curve_keypair()
    return Keys(public.decode(), secret.decode())


@decides("Cluster/keys")
def require_safe(endpoint: str, *, keys: bool) -> None:
    """Refuse (MXNetError) an address that others can reach without keys."""
    if endpoint.startswith("ipc://"):
        folder = Path(endpoint.removeprefix("ipc://")).parent
        mode = stat.S_IMODE(folder.stat().st_mode)
        mine = not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
        if not mine or mode & 0o077:
            raise refusal(
                "Cluster/keys", f"{folder} can be entered by others (mode {mode:o}): sockets need a folder of your own"
                f" with mode 700; chmod 700 {folder}",
            )
        return
    require(
        "Cluster/keys", keys,
        f"{endpoint} can be reached by others, and there are no keys: whoever connects could read and change the"
        " weights; refimpl launch makes keys for every job",
    )


def _socket(kind: int, context: Any = None) -> Any:
    made = (context or zmq.Context.instance()).socket(kind)
    for option in (zmq.SNDHWM, zmq.RCVHWM, zmq.LINGER):
        made.setsockopt(option, 0)
    made.setsockopt(zmq.HEARTBEAT_IVL, 2000)
    made.setsockopt(zmq.HEARTBEAT_TIMEOUT, 10000)
    return made


def _monitor(one: Any, events: int, context: Any = None) -> Any:
    """A monitor: a socket that receives the events of another socket."""
    news = f"inproc://{uuid.uuid4().hex}"  # pyzmq would name it by a number that is used again
    one.monitor(news, events)
    made = _socket(zmq.PAIR, context)
    made.connect(news)
    return made


@decides("Cluster/unknown-memory")
def _guard(one: Any) -> None:
    """Limit the memory that a socket, which strangers can reach, holds for connections without a key."""
    one.setsockopt(zmq.MAXMSGSIZE, LARGEST)
    one.setsockopt(zmq.HANDSHAKE_IVL, HANDSHAKE)
    one.setsockopt(zmq.BACKLOG, 64)


def _cut(pieces: Sequence[Bytes]) -> list[Bytes]:
    """The same bytes, in pieces that fit into a part with its encryption."""
    size = LARGEST - 1024
    return [memoryview(piece)[at : at + size] for piece in pieces for at in range(0, len(piece), size)]


def _sent(pieces: Sequence[Bytes], *, keyed: bool) -> Iterator[Bytes]:
    """The same bytes, with small pieces joined, and large ones cut where there are keys."""
    pieces = _cut(pieces) if keyed else pieces
    small: list[Bytes] = []
    for piece in pieces:
        if len(piece) < SMALL:
            small.append(piece)
            continue
        if small:
            yield b"".join(small)
            small = []
        yield piece
    if small:
        yield b"".join(small)


class Listener:
    """A server's end of all its connections.

    Args:
        endpoint: ``ipc://FILE`` or ``tcp://HOST:PORT``; port 0 means any free port.
        keys, allowed: the server's own keys, and the public keys of allowed callers. Needed for tcp.
        callers: the number of processes of the job that may call.

    Attributes:
        endpoint: the address at which it listens.

    Raises:
        MXNetError: the address could be reached by others, or ZeroMQ is missing.
    """

    def __init__(self, endpoint: str, keys: Keys | None = None, allowed: Sequence[str] = (), callers: int = 0) -> None:
        require_zmq()
        require_safe(endpoint, keys=keys is not None and bool(allowed))
        context, self._guard, self._known = zmq.Context.instance(), None, _Known(allowed)
        if keys is not None:  # allowed keys hold for all sockets of a context
            context = zmq.Context()
            _CONTEXTS.append(context)
            self._guard = importlib.import_module("zmq.auth.thread").ThreadAuthenticator(context)
            self._guard.start()
            self._guard.configure_curve_callback(credentials_provider=self._known)
        self._socket = _socket(zmq.ROUTER, context)
        self._socket.setsockopt(zmq.ROUTER_HANDOVER, 1)  # who connects again is heard at once
        if keys is not None:
            self._socket.curve_secretkey, self._socket.curve_publickey = keys.secret.encode(), keys.public.encode()
            self._socket.curve_server = True
            _guard(self._socket)
        self._keyed = keys is not None
        self._socket.bind(endpoint)
        self.endpoint = self._socket.getsockopt(zmq.LAST_ENDPOINT).decode()
        self._newcomers = self._newcomers_to(context, callers) if keys is not None else None

    def _newcomers_to(self, context: Any, callers: int) -> Newcomers:
        news = _monitor(self._socket, zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED, context)
        port = int(self.endpoint.rpartition(":")[2])
        return Newcomers(news, zmq.EVENT_ACCEPTED, port, UNKNOWN + callers, HANDSHAKE / 1000)

    def receive(self, seconds: float, others: Sequence[Caller] = ()) -> list[tuple[bytes, bytes, list[Bytes]]]:
        """The messages that have arrived, oldest first, after at most ``seconds``: (sender, kind, content in pieces).

        It returns earlier when one of the connections ``others`` has an event.
        """
        found: list[tuple[bytes, bytes, list[Bytes]]] = []
        size = 0
        if others:
            poller = zmq.Poller()
            for one in (self._socket, *[one for caller in others for one in caller.sockets]):
                poller.register(one, zmq.POLLIN)
            poller.poll(int(seconds * 1000))
        elif not self._socket.poll(int(seconds * 1000)):
            return found
        while size < _BATCH:
            try:
                parts = self._socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                break
            if self._newcomers is not None:
                self._newcomers.spoken(parts[0].get(zmq.SRCFD))
            if len(parts) >= 2:
                pieces: list[Bytes] = [part.buffer for part in parts[2:]]
                size += sum(map(len, pieces)) + 1024
                found.append((parts[0].bytes, parts[1].bytes, pieces))
        return found

    def send(self, to: bytes, kind: bytes, pieces: Sequence[Bytes]) -> None:
        """Send a message to a caller; it is dropped if the caller is no longer connected."""
        self._socket.send_multipart([to, kind, *_sent(pieces, keyed=self._keyed)], copy=False)

    def denied(self) -> int:
        """The number of connections with unknown keys since the last call."""
        count, self._known.denied = self._known.denied, 0
        return count

    def close(self) -> None:
        """Stop listening.

        The news of connections ends first: news that nobody can read would stop ZeroMQ in this process.
        """
        if self._newcomers is not None:
            self._socket.disable_monitor()
            self._newcomers.close()
        self._socket.close()
        if self._guard is not None:
            self._guard.stop()


class _Known:
    """The allowed public keys, with the method that ZeroMQ's authenticator calls."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = {one.encode() for one in allowed}
        self.denied = 0

    def callback(self, domain: str, key: bytes) -> bool:
        """Whether ``key``, as Z85 text, is an allowed key."""
        del domain
        known = key in self._allowed
        self.denied += not known
        return known


class Caller:
    """A worker's end of its connection to one server; it connects again for as long as it is not closed.

    Args:
        endpoint: the address of the server.
        name: the name of the caller at the server; each process has its own name.
        keys, server: the caller's own keys, and the server's public key. Needed for tcp.

    Attributes:
        up: whether there is a connection.
        refused: whether the server did not know the caller's key.
    """

    def __init__(self, endpoint: str, name: bytes, keys: Keys | None = None, server: str = "") -> None:
        require_zmq()
        require_safe(endpoint, keys=keys is not None and bool(server))
        self.up = self.refused = False
        self._socket = _socket(zmq.DEALER)
        self._socket.setsockopt(zmq.IMMEDIATE, 1)  # a message not sent when its connection ends is dropped
        self._socket.setsockopt(zmq.RECONNECT_IVL, 20)
        self._socket.setsockopt(zmq.IDENTITY, name)
        if keys is not None:
            self._socket.curve_secretkey, self._socket.curve_publickey = keys.secret.encode(), keys.public.encode()
            self._socket.curve_serverkey = server.encode()
        events = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_DISCONNECTED
        self._monitor = _monitor(self._socket, events)
        self._endpoint, self._keyed = endpoint, keys is not None
        self._socket.connect(endpoint)

    def move(self, endpoint: str) -> None:
        """Connect to the server's present address, if it has changed."""
        if endpoint != self._endpoint:
            require_safe(endpoint, keys=self._keyed)
            self._socket.disconnect(self._endpoint)
            self._socket.connect(endpoint)
            self._endpoint, self.up = endpoint, False

    @property
    def sockets(self) -> list[Any]:
        """The sockets for a poller of ZeroMQ."""
        return [self._socket, self._monitor]

    def connected_anew(self) -> bool:
        """Whether there is a new connection since the last call: earlier messages may be lost."""
        anew = False
        while self._monitor.poll(0):
            content, _ = self._monitor.recv_multipart()
            event = int.from_bytes(content[:2], sys.byteorder)
            self.up = anew = event == zmq.EVENT_HANDSHAKE_SUCCEEDED
            self.refused |= event == zmq.EVENT_HANDSHAKE_FAILED_AUTH
        return anew

    def send(self, kind: bytes, pieces: Sequence[Bytes]) -> bool:
        """Send a message; False if there is no connection, or it is not ready yet: try again after a moment."""
        try:
            self._socket.send_multipart([kind, *_sent(pieces, keyed=self._keyed)], zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return False
        return True

    def receive(self) -> list[tuple[bytes, list[Bytes]]]:
        """The messages that have arrived, oldest first: (kind, content in pieces)."""
        found: list[tuple[bytes, list[Bytes]]] = []
        while True:
            try:
                parts = self._socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return found
            found.append((parts[0].bytes, [part.buffer for part in parts[1:]]))

    def close(self) -> None:
        """End the connection; messages that were not sent are dropped.

        The monitor ends first: news that nobody can read would stop ZeroMQ in this process.
        """
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=0)


@decides("Cluster/interface")
def address_of(interface: str) -> str:
    """The IPv4 address of a network interface of this machine.

    Raises:
        MXNetError: there is no interface of this name, or it has no IPv4 address.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            named = struct.pack("256s", interface.encode()[:15])
            answer = importlib.import_module("fcntl").ioctl(probe.fileno(), _SIOCGIFADDR, named)
        except (OSError, ImportError) as error:
            names = ", ".join(name for _, name in socket.if_nameindex())
            raise refusal(
                "Cluster/interface",
                f"DMLC_INTERFACE is {interface!r}, from which this machine ({socket.gethostname()}) gets no address:"
                f" {getattr(error, 'strerror', None) or error}; its network interfaces are {names}",
            ) from error
    return socket.inet_ntoa(answer[20:24])


def wait_for(callers: Sequence[Caller], seconds: float) -> list[Caller]:
    """Wait for an event at one of the connections, for ``seconds`` at most; returns the connections with events."""
    poller, whose = zmq.Poller(), {}
    for caller in callers:
        for one in caller.sockets:
            poller.register(one, zmq.POLLIN)
            whose[one] = caller
    return [whose[one] for one, _ in poller.poll(int(seconds * 1000))]


__all__ = ["Caller", "Keys", "Listener", "address_of", "new_keys", "require_safe", "require_zmq", "wait_for"]
