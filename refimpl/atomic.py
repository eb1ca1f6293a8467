"""Writing files whole: whatever happens, a reader finds the old content or the new, never a part."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from .base import refusal
from .reading import no_such_name


def write_atomically(path: str | os.PathLike[str], content: bytes | Iterable[bytes | memoryview]) -> None:
    """Replace the file at ``path`` by ``content``, one piece of bytes or several in order.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and take the name in
    one step. A file that exists keeps its permissions; a link keeps pointing at its file. What is not
    a regular file (``/dev/stdout``, a pipe) is written directly.

    Raises:
        MXNetError: the folder is missing, ``path`` is a folder, or the disk refuses.
    """
    pieces = [content] if isinstance(content, bytes) else content
    try:
        target = _target(path)
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as file:
                file.writelines(pieces)
            return
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        _replace(target, pieces)
    except OSError as error:
        raise refusal(
            "Files/writable",
            f"cannot write {os.fspath(path)}: {error.strerror}; give a file name in a folder that exists"
            " and can be written",
        ) from error


def _target(path: str | os.PathLike[str]) -> Path:
    """The file behind a name that may be a link."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        raise no_such_name() from None


def _replace(target: Path, pieces: Iterable[bytes | memoryview]) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    # opened this way, not with tempfile, so that the file gets the permissions any new file would get
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def _flush_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut, where the system lets a folder be flushed."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


__all__ = ["write_atomically"]
