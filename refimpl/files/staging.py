"""Where files are written until they take their names: a hidden folder beside them, removed by the next save if killed.

The folder is called ``.refimpl-HOST-RANDOM.part``, however long the names of the files are, so that any name that the
file system allows can be saved. It holds the file ``lock``, which the writer keeps locked: the system lets go of it
when the writer dies, however that happens, and so tells a folder that is in use from one that was left behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import secrets
import sys
import time
from pathlib import Path

from ..base import decides

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        """Lock an open file for this process alone, without waiting; OSError when it cannot be had."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_FOLDER = re.compile(r"\.refimpl-([0-9a-f]{8})-[0-9a-f]{16}\.part")
_CONTENT = re.compile(r"\d+(\.old)?")
_LOCK = "lock"
_HELD = (BlockingIOError, PermissionError)  # what a lock that another process has gives on POSIX and on Windows
_DAY = 24 * 60 * 60


@decides("Files/leftovers", "Files/long-names")
class Staging:
    """A folder beside ``parent``'s files for those that are being written, in use until :meth:`close`.

    Raises:
        OSError: ``parent`` is missing or cannot be written.
    """

    def __init__(self, parent: Path) -> None:
        sweep(parent)
        while True:
            self.folder = parent / f".refimpl-{_HOST}-{secrets.token_hex(8)}.part"
            self.folder.mkdir()
            self._descriptor: int | None = None
            try:
                if self._locked():
                    return
            except BaseException:
                self.close()
                raise
            self.close()

    def _locked(self) -> bool:
        """Take the lock; False when another process, which saw the folder without it, removes the folder."""
        lock = self.folder / _LOCK
        try:
            self._descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except FileNotFoundError:
            return False
        try:
            _lock(self._descriptor)
        except _HELD:
            return False
        except OSError:
            pass  # a file system without locks, where no sweep can get one either
        return lock.exists()

    def close(self) -> None:
        """Remove the folder and what is left in it; what cannot be removed is left to the next save."""
        lock, descriptor, self._descriptor = self.folder / _LOCK, self._descriptor, None
        with contextlib.suppress(OSError):  # a file that stays keeps the lock, by which the next save removes both
            _empty(self.folder)
            if os.name == "posix":  # while it is locked; elsewhere open files cannot be removed
                lock.unlink()
        with contextlib.suppress(OSError):  # nothing was written there
            os.close(-1 if descriptor is None else descriptor)
        with contextlib.suppress(OSError):
            _empty(self.folder)
            lock.unlink(missing_ok=True)
            self.folder.rmdir()


@decides("Files/leftovers")
def sweep(parent: Path) -> None:
    """Remove what killed saves left in ``parent``; what a live one works on stays, and so does everything else."""
    try:
        found = [path for path in parent.iterdir() if _FOLDER.fullmatch(path.name)]
    except OSError:  # it may be written and not listed
        return
    for folder in found:
        with contextlib.suppress(OSError):
            _sweep_one(folder)


def _sweep_one(folder: Path) -> None:
    named = _FOLDER.fullmatch(folder.name)
    # some network file systems show the locks of one machine to that machine alone
    foreign = named is None or named[1] != _HOST
    if folder.is_symlink() or (foreign and time.time() - folder.stat().st_mtime < _DAY):
        return
    lock = folder / _LOCK
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except FileNotFoundError:  # killed before it made the lock, or in the middle of a sweep
        folder.rmdir()
        return
    try:
        _lock(descriptor)
        _empty(folder)
        if os.name == "posix":
            lock.unlink()
    finally:
        os.close(descriptor)
    lock.unlink(missing_ok=True)
    folder.rmdir()


def _empty(folder: Path) -> None:
    """Remove the files of a save, and no others."""
    for file in folder.iterdir():
        if _CONTENT.fullmatch(file.name):
            file.unlink()


__all__ = ["Staging", "sweep"]
