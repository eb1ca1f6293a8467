"""RecordIO: a file of records one after the other; image_records.py has what data sets put into each.

A record is

    u32 0xCED7230A, u32 (part << 29 | length), the bytes, zeros up to a multiple of 4

all little-endian. Where the bytes themselves hold the first number at a multiple of 4, the record is cut
there into parts (1 first, 2 middle, 3 last; 0 is a record in one piece) and the number is left out. So that
number at a multiple of 4 always begins a part, and a reader that is lost finds its way.
"""

from __future__ import annotations

import contextlib
import io
import os
import struct
from collections.abc import Callable, Iterator
from typing import Any

from ..base import MXNetError, decides, refusal
from ..files.mistaken import what_it_is
from ..files.reading import new_file, open_file, read_file
from .image_records import IRHeader, pack, pack_img, unpack, unpack_img

_MAGIC = 0xCED7230A
_MARK = struct.pack("<I", _MAGIC)
_LONGEST = 1 << 29
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_AT_ONCE = 1 << 20  # a length in a damaged file is not believed before the bytes are there


@decides("RecordIO/layout")
def _cut(content: bytes) -> list[bytes]:
    """The parts of a record: cut, without the mark, wherever the mark stands at a multiple of 4."""
    parts, start, place = [], 0, content.find(_MARK)
    while place >= 0:
        if place % 4 == 0:
            parts.append(content[start:place])
            start = place + 4
            place = content.find(_MARK, start)
        else:
            place = content.find(_MARK, place + 1)
    return [*parts, content[start:]]


@decides("RecordIO/layout")
def _encoded(content: bytes) -> bytes:
    parts = _cut(content)
    kinds = [_WHOLE] if len(parts) == 1 else [_FIRST, *[_MIDDLE] * (len(parts) - 2), _LAST]
    pieces = []
    for kind, part in zip(kinds, parts, strict=True):
        pieces += [_MARK, struct.pack("<I", kind << 29 | len(part)), part, b"\0" * (-len(part) % 4)]
    return b"".join(pieces)


class MXRecordIO:
    """A file of records, written or read in order.

    What ``write`` has returned from is in the hands of the system: a program that is killed afterwards loses
    none of it. A record that is cut short by a power failure is refused when it is read.

    Args:
        uri: name of the file.
        flag: "r" to read it, "w" to write a new one in its place.

    Raises:
        ValueError: another flag.
        MXNetError: the file cannot be opened.
    """

    handle: io.BufferedReader | io.FileIO | None

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        self.uri = uri
        self.flag = flag
        self.handle = None
        self.pid: int | None = None
        self.is_open = False
        self.open()

    def open(self) -> None:
        """Open the file at its beginning; one that is written becomes empty."""
        if self.flag not in ("r", "w"):
            raise refusal("RecordIO/flag", f"flag is 'r' (read) or 'w' (write), not {self.flag!r}", ValueError)
        self.writable = self.flag == "w"
        try:
            self._open()
            if self.writable:
                self._empty()
        except BaseException:
            self.close()
            raise
        self.pid = os.getpid()
        self.is_open = True

    def _open(self) -> None:
        """Open without emptying: where another file cannot be opened, this one stays as it was."""
        with self._opening(self.uri, "RecordIO/openable"):
            # unbuffered: each record goes to the system in one call
            self.handle = new_file(self.uri) if self.writable else open_file(self.uri)

    def _empty(self) -> None:
        with self._opening(self.uri, "RecordIO/openable"):
            assert self.handle is not None
            os.ftruncate(self.handle.fileno(), 0)

    @contextlib.contextmanager
    def _opening(self, name: Any, clause: str, missing: type[Exception] = MXNetError) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kind = missing if isinstance(error, FileNotFoundError) else MXNetError
            raise refusal(clause, f"cannot open {os.fspath(name)}: {error.strerror}", kind) from None

    def close(self) -> None:
        """Close the file; closing twice does nothing.

        Raises:
            MXNetError: the disk refuses what was written before.
        """
        handle, self.handle = self.handle, None
        self.is_open = False
        self.pid = None
        self._closed(handle, self.uri)

    @decides("RecordIO/disk-full")
    def _closed(self, handle: Any, name: Any) -> None:
        try:
            if handle is not None:
                handle.close()
        except OSError as error:
            if self.writable:  # of a file that was read nothing is lost
                raise refusal("Files/writable", f"cannot write {os.fspath(name)}: {error.strerror}") from None

    def __del__(self) -> None:
        if getattr(self, "handle", None) is not None:
            self.close()

    @decides("RecordIO/reset")
    def reset(self) -> None:
        """Go back to the first record; a file that is written becomes empty."""
        self.close()
        self.open()

    def __getstate__(self) -> dict[str, Any]:
        if self.writable and self.is_open:
            raise refusal(
                "RecordIO/pickle", f"{os.fspath(self.uri)} is being written, and a copy would empty it; close it first",
                TypeError,
            )
        return {**vars(self), "handle": None, "pid": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if state["is_open"]:
            self.open()

    def _here(self, *, reopen: bool = False) -> Any:
        """The file, if this process opened it: after a fork two processes share one position."""
        if self.pid != os.getpid() and reopen and self.is_open:
            self.reset()
        if self.handle is None or self.pid != os.getpid():
            what = "is closed" if self.handle is None else "was opened by another process"
            raise refusal(
                "RecordIO/process", f"{os.fspath(self.uri)} {what};"
                " call reset() or open it here", RuntimeError,
            )
        return self.handle

    def _require_mode(self, *, writable: bool, method: str) -> None:
        if self.writable != writable:
            wanted = "'w'" if writable else "'r'"
            raise refusal(
                "RecordIO/mode", f"{method} needs a file opened with flag {wanted}, this one has {self.flag!r}",
                AssertionError,
            )

    def write(self, buf: bytes) -> None:
        """Append a record.

        Raises:
            AssertionError: the file is being read.
            TypeError: ``buf`` holds no bytes.
            MXNetError: it is 2^29 bytes or longer, or the disk refuses.
        """
        self._require_mode(writable=True, method="write")
        handle = self._here()
        if not isinstance(buf, (bytes, bytearray, memoryview)):
            raise refusal("RecordIO/bytes", f"a record is bytes, not {type(buf).__name__}", TypeError)
        content = bytes(buf)
        if len(content) >= _LONGEST:
            raise refusal("RecordIO/length", f"a record holds less than 2^29 bytes, not {len(content)}")
        self._put(handle, self.uri, _encoded(content))

    @decides("RecordIO/killed")
    def _put(self, handle: Any, name: Any, content: bytes) -> None:
        with self._whole(handle, name):
            left = memoryview(content)
            while left:
                left = left[handle.write(left) :]

    @decides("RecordIO/disk-full")
    @contextlib.contextmanager
    def _whole(self, handle: Any, name: Any) -> Iterator[None]:
        """If the block fails or is interrupted, the file ends where it ended before."""
        end = handle.tell() if handle.seekable() else None
        try:
            yield
        except BaseException as error:
            torn = ""
            if end is not None:
                try:
                    os.ftruncate(handle.fileno(), end)
                    handle.seek(end)
                except OSError as other:
                    torn = f"; its end from byte {end} on is torn: {other.strerror}"
            if not isinstance(error, OSError):
                raise
            raise refusal("Files/writable", f"cannot write {os.fspath(name)}: {error.strerror}{torn}") from None

    def read(self) -> bytes | None:
        """The next record; None at the end.

        Raises:
            AssertionError: the file is being written.
            MXNetError: the file is damaged here, or the disk refuses; the message names the file.
        """
        self._require_mode(writable=False, method="read")
        handle = self._here()
        try:
            return self._next(handle)
        except OSError as error:
            raise self._unreadable(error) from None

    @decides("RecordIO/openable")
    def _unreadable(self, error: OSError) -> Exception:
        return refusal("RecordIO/openable", f"cannot read {os.fspath(self.uri)}: {error.strerror}")

    def _size(self) -> int:
        """The bytes of the file."""
        try:
            return os.fstat(self._here(reopen=True).fileno()).st_size
        except OSError as error:
            raise self._unreadable(error) from None

    def _head(self, place: int) -> bytes:
        """The eight bytes at ``place``, or what is left of them at the end; the next record is read behind them."""
        handle = self._here(reopen=True)
        try:
            handle.seek(place)
            return handle.read(8)
        except OSError as error:
            raise self._unreadable(error) from None

    def _next(self, handle: Any) -> bytes | None:
        parts: list[bytes] = []
        while True:
            start = handle.tell()
            head = handle.read(8)
            if not head and not parts:
                return None
            if len(head) < 8:
                raise self._damaged(start, head, f"the file ends {8 - len(head)} bytes short of a record's head")
            mark, word = struct.unpack("<II", head)
            if mark != _MAGIC:
                raise self._damaged(start, head, f"0x{mark:08x} is not the mark 0x{_MAGIC:08x} of a record")
            kind, length = word >> 29, word & (_LONGEST - 1)
            if kind > _LAST or (kind in (_MIDDLE, _LAST)) != bool(parts):
                raise self._damaged(start, head, f"part {kind} of a record does not follow what stands before it")
            content = self._take(handle, start, length + -length % 4)[:length]
            parts.append(content)
            if kind in (_WHOLE, _LAST):
                return _MARK.join(parts)

    def _take(self, handle: Any, start: int, count: int) -> bytes:
        pieces, left = [], count
        while left:
            piece = handle.read(min(left, _AT_ONCE))
            if not piece:
                raise self._damaged(start, b"", f"needs {count} bytes after its head, the file has {count - left}")
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def _damaged(self, at: int, head: bytes, reason: str) -> Exception:
        if at == 0 and head and self.handle is not None:
            reason = what_it_is(head + self.handle.read(192)) or reason
        return refusal("RecordIO/valid", f"Invalid RecordIO file: {os.fspath(self.uri)}, byte {at}: {reason}")


class MXIndexedRecordIO(MXRecordIO):
    """A file of records with a second one that says at which byte the record of each key begins.

    The index is text, one line ``key<tab>byte`` for each record, written after the record: it never names one
    that is not there.

    Args:
        idx_path: name of the index file.
        uri: name of the file of records.
        flag: "r" or "w".
        key_type: makes a key from the text in the index (``int``, ``str``).

    Raises:
        FileNotFoundError: there is no index to read.
        MXNetError: the file of records cannot be opened, or the index is damaged.
    """

    def __init__(
        self, idx_path: str | os.PathLike[str], uri: str | os.PathLike[str], flag: str,
        key_type: Callable[[Any], Any] = int,
    ) -> None:
        self.idx_path = idx_path
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        self.key_type = key_type
        self.fidx: io.FileIO | None = None
        super().__init__(uri, flag)

    def open(self) -> None:
        """Open both files and read the index; files that are written become empty when both are open."""
        self.idx, self.keys = {}, []
        super().open()

    @decides("RecordIO/index-openable")
    def _open(self) -> None:
        super()._open()
        with self._opening(self.idx_path, "RecordIO/index-openable", FileNotFoundError):
            if self.writable:
                self.fidx = new_file(self.idx_path)
                return
            content = read_file(self.idx_path)
        self._read_index(content)

    def _empty(self) -> None:  # first the index, which else would name records that are not there
        with self._opening(self.idx_path, "RecordIO/index-openable"):
            assert self.fidx is not None
            os.ftruncate(self.fidx.fileno(), 0)
        super()._empty()

    @decides("RecordIO/index-file")
    def _read_index(self, content: bytes) -> None:
        at = 0
        for line in content.splitlines(keepends=True):
            parts = line.strip().split(b"\t")
            try:
                key, place = self.key_type(parts[0].decode("utf-8")), int(parts[1][:20])
            except (ValueError, IndexError):
                foreign = what_it_is(content) if at == 0 else None
                raise refusal(
                    "RecordIO/index", f"Invalid index: {os.fspath(self.idx_path)}, byte {at}:"
                    f" {foreign or f'{line[:40]!r} is not key<tab>byte'}",
                ) from None
            at += len(line)
            self.keys.append(key)
            self.idx[key] = place

    def close(self) -> None:
        """Close both files."""
        index, self.fidx = self.fidx, None
        try:
            super().close()
        finally:
            self._closed(index, self.idx_path)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "fidx": None}

    def seek(self, idx: Any) -> None:
        """Go to the record of key ``idx``. In a process that was forked, the file is opened anew first.

        Raises:
            AssertionError: the file is being written.
            KeyError: there is no such key.
            MXNetError: the index names a byte beyond the end of the file.
        """
        self._require_mode(writable=False, method="seek")
        handle = self._here(reopen=True)
        if idx not in self.idx:
            raise refusal("RecordIO/key", f"{idx!r} is no key of {os.fspath(self.idx_path)}", KeyError)
        place, size = self.idx[idx], self._size()
        if not 0 <= place < size:
            raise refusal(
                "RecordIO/index", f"Invalid index: {os.fspath(self.idx_path)} says that {idx!r} begins at byte"
                f" {place}, but {os.fspath(self.uri)} has {size}",
            )
        handle.seek(place)

    def tell(self) -> int:
        """The byte at which the next record will be written.

        Raises:
            AssertionError: the file is being read.
        """
        self._require_mode(writable=True, method="tell")
        return self._here().tell()

    def read_idx(self, idx: Any) -> bytes | None:
        """The record of key ``idx``."""
        self.seek(idx)
        return self.read()

    @decides("RecordIO/index-file")
    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Append a record and its line in the index; of records with the same key the last counts.

        Raises:
            ValueError: the key has a tab or a line break in its text.
        """
        self._require_mode(writable=True, method="write_idx")
        key = self.key_type(idx)
        if any(mark in str(key) for mark in "\t\n\r"):
            raise refusal("RecordIO/key-text", f"key {key!r} has a tab or a line break in it", ValueError)
        place = self.tell()
        with self._whole(self.handle, self.uri):  # a record without its line would be found by reading in order only
            self.write(buf)
            self._put(self.fidx, self.idx_path, f"{key}\t{place}\n".encode())
        self.idx[key] = place
        self.keys.append(key)


__all__ = ["IRHeader", "MXIndexedRecordIO", "MXRecordIO", "pack", "pack_img", "unpack", "unpack_img"]
