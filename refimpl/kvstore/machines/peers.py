"""``--keep peer``: each server's records are also at the next server, which gives them back if a disk is lost.

:class:`Copies` keeps the records of other servers, :class:`Backup` lets another server keep this server's records. Both
exchange messages and use no network; any message may be lost when a connection ends. A message is a head (the kind, the
server whose records it is about, a number) and a content:

======== ============================ ======================================================================
message  number                       content
======== ============================ ======================================================================
ASK      -                            asks the keeper of a copy how many records it has
HAVE     the next record that it lacks  its answer, also to each record and snapshot
RECORD   of the record                a frame, as it is in the log
SNAPSHOT of the first record after it  all that the server knew
FETCH    -                            asks for the copy: its snapshot, its records, and WHOLE
WHOLE    the next record              ends a copy
======== ============================ ======================================================================
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from ...base import decides
from .. import messages as say
from .checksums import Bytes
from .node import Node
from .write_ahead_log import Log

ASK, HAVE, RECORD, SNAPSHOT, FETCH, WHOLE = range(6)
_HEAD = struct.Struct("<BIQ")

Message = list[Bytes]


def _message(what: int, owner: int, number: int = 0, pieces: Sequence[Bytes] = ()) -> Message:
    return [_HEAD.pack(what, owner, number), *pieces]


def _read(message: Sequence[Bytes]) -> tuple[int, int, int, bytes]:
    """(what, whose, number, content)."""
    content = b"".join(message)
    what, owner, number = _HEAD.unpack_from(content)
    return what, owner, number, content[_HEAD.size :]


class Copies:
    """The copies of other servers' records that a server keeps.

    Args:
        folder: the folder of the copies; each server's copy has a folder in it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._logs: dict[int, Log] = {}

    @decides("Cluster/keep-peer")
    def take(self, message: Sequence[Bytes]) -> list[Message]:
        """Keep the sent records, or return the copy of a server; returns the answers.

        Raises:
            OSError: there is no space; nothing was kept.
            struct.error: the bytes are no message.
        """
        what, owner, number, content = _read(message)
        if owner not in self._logs:
            self._logs[owner] = Log(self._folder / f"copy-of-{owner}")
        log = self._logs[owner]
        if what == FETCH:
            return _whole(log, owner, 0)
        if what == RECORD and number == log.position:
            log.append([content])
        elif what == SNAPSHOT and number == log.position:
            log.keep(content)
        elif what == SNAPSHOT and number > log.position:
            log.begin_again(number, content)
        return [_message(HAVE, owner, log.position)]

    def close(self) -> None:
        """End the logs."""
        for log in self._logs.values():
            log.close()


def _whole(log: Log, owner: int, number: int) -> list[Message]:
    """The messages with all of a log for a server that has the records below ``number``."""
    first, content = log.snapshot()
    messages = [_message(SNAPSHOT, owner, first, [content])] if content is not None and number <= first else []
    records = enumerate(log.records(), first)
    messages += [_message(RECORD, owner, at, [record]) for at, record in records if at >= number]
    return [*messages, _message(WHOLE, owner, log.position)]


class Backup:
    """The server's side: its answers leave when the other server has the records of the requests.

    Args:
        node: the server, which has a log.

    Attributes:
        ready: whether the server has all records that it ever answered, and may carry requests out.
        safe: the number of the first record of which there is no copy.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self.ready, self.safe = False, 0
        self._level = False                                # whether the copy has all that was sent
        self._held: deque[tuple[int, list[say.Reply]]] = deque()
        self._fetched: list[tuple[int, int, bytes]] = []

    @property
    def waits(self) -> bool:
        """Whether answers are held until there is a copy."""
        return bool(self._held)

    def begin(self) -> list[Message]:
        """The messages to send on a new connection, or after a silence."""
        self._level, self._fetched = False, []
        return [_message(ASK, self._node.number)]

    @decides("Cluster/keep-peer")
    def carry_out(self, frames: Sequence[Sequence[Bytes]]) -> list[Message]:
        """Let the node take frames; returns the messages to send. The node's replies are held back.

        Raises:
            MXNetError: a frame holds no requests; nothing happened.
        """
        node, first, before = self._node, self._node.log.position, self._node.snapshots
        replies = node.take(frames)
        self._held.append((node.log.position, replies))
        if not self._level:
            return []
        written = frames[: node.log.position - first]      # none if there was no space
        messages = [_message(RECORD, node.number, first + at, pieces) for at, pieces in enumerate(written)]
        if node.snapshots != before:
            number, content = node.log.snapshot()
            messages.append(_message(SNAPSHOT, node.number, number, [content or b""]))
        return messages

    def take(self, message: Sequence[Bytes]) -> list[Message]:
        """Take a message of the other server; returns the messages to send.

        Raises:
            struct.error: the bytes are no message.
        """
        what, _, number, content = _read(message)
        log = self._node.log
        if what in (SNAPSHOT, RECORD):
            self._fetched.append((what, number, content))
            return []
        if what == WHOLE:
            self._recover()
            return self.begin()
        if not self.ready and number > log.position:       # the disk was lost, or is an old one
            return [_message(FETCH, self._node.number)]
        self.ready, self.safe = True, number
        if self._level and number <= log.position:
            return []
        self._level = True
        return _whole(log, self._node.number, number)[:-1]

    def _recover(self) -> None:
        """Replace the log by the fetched copy."""
        fetched, log = self._fetched, self._node.log
        snapshots = [(number, content) for what, number, content in fetched if what == SNAPSHOT]
        log.begin_again(*(snapshots[-1] if snapshots else (0, None)))
        log.extend([[content] for what, _, content in fetched if what == RECORD])
        self._node.recover()

    def released(self) -> list[say.Reply]:
        """Replies that may leave now."""
        found: list[say.Reply] = []
        while self._held and self._held[0][0] <= self.safe:
            found += self._held.popleft()[1]
        return found


__all__ = ["Backup", "Copies", "Message"]
