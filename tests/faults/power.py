"""What a disk may hold when the power goes: images of a folder, built from the changes that were recorded once.

A disk that loses power has everything that was flushed, and of the rest any part. A flush of a file keeps its bytes,
a flush of a folder keeps the names in it. So for each moment of an act the images are: all changes so far; all but
one, or all but two, of those that no flush had reached; and all of which one write that no flush had reached ends at
a multiple of 512 bytes.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

SECTOR = 512
_CHANGE = struct.Struct("16s5q")


class Change(NamedTuple):
    """A change of a file, which is a number, at a byte, or of the names in a folder."""

    kind: str
    node: int
    at: int
    name: str
    other: str
    content: bytes

    @property
    def of_names(self) -> bool:
        return self.kind in ("create", "rename", "link", "unlink", "mkdir", "rmdir")


class Disk:
    """Files by their numbers, and the names that folders give them."""

    def __init__(self, folder: Path) -> None:
        self.content: dict[int, bytes] = {}
        self.names: dict[str, int] = {}
        self.folders = {str(folder)}
        for path in folder.rglob("*"):
            if path.is_dir():
                self.folders.add(str(path))
            else:
                node = path.stat().st_ino
                self.names[str(path)], self.content[node] = node, path.read_bytes()

    def copy(self) -> Disk:
        other = object.__new__(Disk)
        other.content, other.names, other.folders = dict(self.content), dict(self.names), set(self.folders)
        return other

    def apply(self, change: Change, end: int | None = None) -> None:
        """Make a change; of a write only the bytes before ``end``."""
        if change.kind in ("write", "truncate"):
            old = self.content.get(change.node, b"")
            if change.kind == "truncate":
                self.content[change.node] = old[: change.at].ljust(change.at, b"\0")
            else:
                new = change.content[: None if end is None else max(0, end - change.at)]
                self.content[change.node] = old[: change.at].ljust(change.at, b"\0") + new + old[change.at + len(new) :]
        elif change.kind == "mkdir":
            self.folders.add(change.name)
        elif change.kind == "rmdir":
            self.folders.discard(change.name)
        elif change.kind in ("create", "link"):
            self.names[change.name] = change.node
            self.content.setdefault(change.node, b"")
        elif change.kind == "unlink":
            self.names.pop(change.name, None)
        elif change.kind == "rename":
            self.names.pop(change.name, None)
            self.names[change.other] = change.node

    def files(self) -> frozenset[tuple[str, bytes]]:
        """What a reader can reach: a name in a folder that is gone is gone."""
        reached = ((name, self.content.get(node, b"")) for name, node in self.names.items())
        return frozenset((name, content) for name, content in reached if _folder(name) in self.folders)

    def write(self, folder: Path) -> None:
        """Make an empty folder hold the image."""
        for path in sorted(self.folders):
            Path(path).mkdir(exist_ok=True)
        for name, content in self.files():
            Path(name).write_bytes(content)


def recorded(act: Callable[[], object], folder: Path) -> list[Change]:
    """The changes that ``act`` makes to files of a folder; the library must have been preloaded."""
    here = ctypes.CDLL(None)
    with tempfile.TemporaryFile() as trace:
        here.faults_record(trace.fileno())
        here.faults_begin(0, 0)
        try:
            act()
        finally:
            here.faults_end()
            here.faults_record(-1)
        trace.seek(0)
        return [change for change in _parsed(trace.read()) if change.name.startswith(str(folder))]


def _parsed(content: bytes) -> Iterator[Change]:
    at = 0
    while at < len(content):
        kind, node, place, size, first, second = _CHANGE.unpack_from(content, at)
        at += _CHANGE.size
        name, at = os.fsdecode(content[at : at + first]), at + first
        other, at = os.fsdecode(content[at : at + second]), at + second
        yield Change(kind.rstrip(b"\0").decode(), node, place, name, other, content[at : at + size])
        at += size


class Image(NamedTuple):
    """A disk after ``done`` changes, of which ``without`` are missing or torn."""

    done: int
    without: str
    disk: Disk


def images(before: Disk, changes: list[Change]) -> Iterator[Image]:
    """Each image once."""
    seen = set()
    for done in range(len(changes) + 1):
        for without, disk in _images(before, changes[:done]):
            key = done == len(changes), disk.files()
            if key not in seen:
                seen.add(key)
                yield Image(done, without, disk)


def _images(before: Disk, changes: list[Change]) -> Iterator[tuple[str, Disk]]:
    loose = [index for index in range(len(changes)) if not _flushed(changes, index)]
    for missing in itertools.chain([()], ((one,) for one in loose), itertools.combinations(loose, 2)):
        said = " and ".join(f"{changes[one].kind} {Path(changes[one].name).name}" for one in missing)
        yield said, _built(before, changes, set(missing))
    for index in loose:
        change = changes[index]
        if change.kind == "write":
            first = -(-(change.at + 1) // SECTOR) * SECTOR
            for end in range(first, change.at + len(change.content), SECTOR):
                yield f"{change.kind} from byte {end} on", _built(before, changes, set(), index, end)


def _built(before: Disk, changes: list[Change], missing: set[int], torn: int = -1, end: int | None = None) -> Disk:
    disk = before.copy()
    for index, change in enumerate(changes):
        if index not in missing and change.kind != "flush":
            disk.apply(change, end if index == torn else None)
    return disk


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _flushed(changes: list[Change], index: int) -> bool:
    """Whether a later flush reaches a change."""
    change = changes[index]
    if change.kind == "flush":
        return True
    folders = {_folder(name) for name in (change.name, change.other) if name}
    for later in changes[index + 1 :]:
        if later.kind == "flush":
            if change.of_names and later.name.rstrip("/") in folders:
                return True
            if not change.of_names and later.node == change.node:
                return True
    return False
