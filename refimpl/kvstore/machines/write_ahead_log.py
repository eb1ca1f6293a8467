"""The log that a server writes before it answers: records in segment files of a folder, and snapshots.

A segment is a file of records, each at a multiple of 64 bytes. A record is a prefix of 64 bytes and its content. The
prefix is ``RIPL``, a byte 1 (the version), a byte for the checksum (``checksums.py``), two zero bytes, the number of
the record (8 bytes, little-endian), the size of the content (8 bytes), the checksum of all this and the content
(8 bytes), and zeros. 64 zero bytes follow the last record. Records are numbered from 0, and segments are named by the
number of their first record. A segment whose records are all in a snapshot is used again as a later segment.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from ...base import decides, refusal
from .checksums import FASTEST, NAMES, Bytes, checksum

MAGIC, VERSION = b"RIPL", 1
PREFIX = ALIGNED = 64
SEGMENT = 1 << 26
"""The bytes of a segment from which it gets no further record."""

_AT_ONCE = 512  # pieces in one call of the system, which takes 1,024
_HEAD = struct.Struct("<4sBBHQQ")
_SUM = struct.Struct("<Q")
_SNAPSHOT, _NEXT, _OLD = "snapshot", "snapshot.next", "snapshot.old"


class Log:
    """The log in a folder. A log that was not closed, because its process was killed, is repaired when it is opened.

    Args:
        folder: the folder; made if it is missing.
        durable: whether :meth:`append` returns when the disk has the record, so that it survives the machine.
        kind: the number of the checksum of new records.
        segment: the size from which a segment gets no further record.

    Attributes:
        position: the number of the next record.

    Raises:
        MXNetError: a record is damaged that is not the last, or the snapshot is; the message says which byte.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, durable: bool = False, kind: int = FASTEST, segment: int = SEGMENT
    ) -> None:
        self.folder, self._durable, self._kind, self._segment = Path(folder), durable, kind, segment
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = -1
        self._spare: list[Path] = []
        self._from = self.snapshot()[0]
        self.position, self._end = self._from, 0
        try:
            self._recover()
        except BaseException:
            self._close()
            raise

    # --- reading ---------------------------------------------------------------------------------

    @decides("Cluster/log-damaged")
    def snapshot(self) -> tuple[int, bytes | None]:
        """(number of the first record after the last snapshot, content of the snapshot); (0, None) without one.

        Raises:
            MXNetError: the snapshot is damaged.
        """
        path = self.folder / _SNAPSHOT
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return 0, None
        found = _record(content, 0, path)
        if found is None:
            raise refusal("Cluster/log-damaged", f"{path} is damaged: byte 0: there is no whole snapshot")
        return found

    def records(self) -> Iterator[bytes]:
        """The contents of the records from the snapshot on, oldest first."""
        for path in self._segments():
            for number, _, content in _records(path, _first(path)):
                if number >= self._from:
                    yield content

    @decides("Cluster/log-torn", "Cluster/log-damaged")
    def _recover(self) -> None:
        """Find the end of the log, and cut off a last record that is not whole."""
        segments = self._segments()
        last = self._from
        for path, following in zip(segments, [*map(_first, segments[1:]), None], strict=False):
            after, end = _first(path), 0
            if after > max(last, self._from):
                raise refusal(
                    "Cluster/log-damaged",
                    f"{path} is damaged: byte 0: it begins with record {after}, and record {last} is missing",
                )
            for number, end, _ in _records(path, after):  # noqa: B007  # the last ones count
                after = number + 1
            missing = following is not None and max(after, self._from) < following
            if missing or _later(path, end, after):
                raise refusal(
                    "Cluster/log-damaged",
                    f"{path} is damaged: byte {end}: record {after} is not whole, and later ones are there",
                )
            last = max(after, self._from)
            if after <= self._from and _first(path) < self._from:
                self._spare.append(path)
            elif following is None:
                self.position, self._end = after, end
                self._open(path)
                self._cut()

    def _cut(self) -> None:
        """Overwrite the prefix behind the end with zeros, so that no record follows."""
        size = os.fstat(self._file).st_size
        if size > self._end:
            os.pwrite(self._file, bytes(min(PREFIX, size - self._end)), self._end)

    # --- writing ---------------------------------------------------------------------------------

    def append(self, pieces: Sequence[Bytes]) -> int:
        """Write a record; returns its number.

        Raises:
            OSError: there is no space; the log is as it was.
        """
        self.extend([pieces])
        return self.position - 1

    @decides("Cluster/log")
    def extend(self, records: Sequence[Sequence[Bytes]]) -> None:
        """Write several records, each given in pieces, by one call of the system.

        Raises:
            OSError: there is no space; the log is as it was.
        """
        if self._file < 0 or self._end >= self._segment:
            self._begin(self.position)
        before = self._end, self.position
        try:  # a disk writes in any order, and only the last record may be torn
            for some in [[one] for one in records] if self._durable else [records]:
                self._extend(some)
        except OSError:
            self._end, self.position = before
            os.ftruncate(self._file, self._end)
            raise

    def _extend(self, records: Sequence[Sequence[Bytes]]) -> None:
        written: list[Bytes] = []
        for number, pieces in enumerate(records, self.position):
            head = _prefixed(self._kind, number, pieces)
            size = len(head) + sum(len(piece) for piece in pieces)
            written += [head, *pieces, bytes(_aligned(size) - size)]
        written.append(bytes(PREFIX))  # zeros: older bytes there are no record
        self._end = _write(self._file, written, self._end) - PREFIX
        if self._durable:
            os.fdatasync(self._file)
        self.position += len(records)

    @decides("Cluster/snapshot")
    def keep(self, *pieces: Bytes) -> None:
        """Write a snapshot, in pieces, of the state after all records so far; their segments are used again.

        The file of the snapshot before the last is overwritten: a file that has its space already is faster to write.

        Raises:
            OSError: there is no space; the log is as it was.
        """
        whole, following, old = (self.folder / name for name in (_SNAPSHOT, _NEXT, _OLD))
        file = os.open(following, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(file, _write(file, [_prefixed(self._kind, self.position, pieces), *pieces], 0))
            if self._durable:
                os.fsync(file)
        except OSError:
            following.unlink()
            raise
        finally:
            os.close(file)
        old.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # the first snapshot, or a file system without links
            os.link(whole, old)
        following.replace(whole)
        if old.exists():
            old.replace(following)
        self._flush_folder()
        self._from = self.position
        self._spare += [path for path in self._segments() if path not in self._spare]
        self._close()

    def begin_again(self, position: int = 0, content: Bytes | None = None) -> None:
        """Drop all records; continue with record number ``position``, after a snapshot that was made elsewhere."""
        self._close()
        self._spare = []
        for path in reversed(self._segments()):  # whatever is left begins where it began
            path.unlink()
        (self.folder / _SNAPSHOT).unlink(missing_ok=True)
        self._from, self.position = 0, position
        if content is not None:
            self.keep(content)

    def _begin(self, number: int) -> None:
        """Continue in a new segment, whose file is that of a segment no longer needed, if there is one."""
        self._close()
        path = self.folder / f"{number:020d}.log"
        if self._spare:
            self._spare.pop(0).replace(path)
        self._open(path)
        self._flush_folder()  # before anything is written: a disk that lost the new name would have it in older records
        self._end = 0
        self._cut()

    def _flush_folder(self) -> None:
        """Flush new names in the folder to the disk, if the log is durable."""
        if self._durable:
            folder = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _open(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def _close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def close(self) -> None:
        """Close the log; all appended records are in its files."""
        self._close()

    def _segments(self) -> list[Path]:
        """The segments that may have records after the snapshot, in order."""
        # not by glob, which takes a folder that may not be listed for an empty one
        found = sorted(path for path in self.folder.iterdir() if path.suffix == ".log")
        return [path for path in found if path not in self._spare]


# --- records --------------------------------------------------------------------------------------


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _first(path: Path) -> int:
    return int(path.stem)


def _write(file: int, pieces: Sequence[Bytes], at: int) -> int:
    """Write pieces one after the other from byte ``at`` of a file on; returns the position behind them."""
    views = deque(memoryview(piece).cast("B") for piece in pieces if len(piece))
    while views:
        done = os.pwritev(file, list(islice(views, _AT_ONCE)), at)
        at += done
        while views and done >= len(views[0]):
            done -= len(views.popleft())
        if done:
            views[0] = views[0][done:]
    return at


def _prefixed(kind: int, number: int, pieces: Sequence[Bytes]) -> bytes:
    """The prefix of a record."""
    head = _HEAD.pack(MAGIC, VERSION, kind, 0, number, sum(len(piece) for piece in pieces))
    value = checksum(kind, [head, *pieces], lambda reason: refusal("Cluster/checksum", f"no record: {reason}"))
    return (head + _SUM.pack(value)).ljust(PREFIX, b"\0")


def _record(content: Bytes, at: int, path: Path) -> tuple[int, bytes] | None:
    """(number, content) of the record at byte ``at``; None if there is no whole record."""
    if at + PREFIX > len(content):
        return None
    magic, version, kind, zero, number, size = _HEAD.unpack_from(content, at)
    if magic != MAGIC or version != VERSION or zero or size > len(content) - at - PREFIX:
        return None
    if any(content[at + _HEAD.size + _SUM.size : at + PREFIX]) or kind not in NAMES:
        return None
    body = content[at + PREFIX : at + PREFIX + size]
    (expected,) = _SUM.unpack_from(content, at + _HEAD.size)
    found = checksum(
        kind, [content[at : at + _HEAD.size], body],
        lambda reason: refusal("Cluster/checksum", f"{path} cannot be read: byte {at}: {reason}"),
    )
    return (number, bytes(body)) if found == expected else None


def _records(path: Path, number: int) -> Iterator[tuple[int, int, bytes]]:
    """(number, end, content) of the records of a segment from ``number`` on, up to the first missing record."""
    content, at = path.read_bytes(), 0
    while (found := _record(content, at, path)) is not None and found[0] == number:
        at = at + _aligned(PREFIX + len(found[1]))
        yield number, at, found[1]
        number += 1


def _later(path: Path, at: int, number: int) -> bool:
    """Whether a whole record with a higher number than ``number`` follows behind ``at``."""
    content = path.read_bytes()
    for start in range(at + ALIGNED, len(content) - PREFIX + 1, ALIGNED):
        if content[start : start + 4] == MAGIC:
            found = _record(content, start, path)
            if found is not None and found[0] > number:
                return True
    return False


__all__ = ["SEGMENT", "Log"]
