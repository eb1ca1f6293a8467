"""Opening files to read. Only regular files are opened, because reading a device or a pipe may never end."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader, FileIO

from ..base import decides

Name = str | os.PathLike[str]


@decides("Files/readable")
def open_file(name: Name) -> BufferedReader:
    """The file of that name, to read its bytes.

    Raises:
        OSError: there is none, or it cannot be read; it is a folder, a device, a pipe or a socket; or no file can
            have that name. ``strerror`` says which.
    """
    try:
        return open(os.fspath(name), "rb", opener=_descriptor)  # a Path takes no opener, and a number is no name
    except ValueError:
        raise no_such_name() from None


def read_file(name: Name) -> bytes:
    """The whole content of a file.

    Raises:
        OSError: as :func:`open_file`, or the file is larger than the memory.
    """
    with open_file(name) as file:
        try:
            return file.read()
        except MemoryError:
            raise OSError(errno.ENOMEM, "it is larger than the memory") from None


def new_file(name: Name) -> FileIO:
    """A file of that name, open for writing at its beginning; what was in it stays until ``truncate(0)``.

    Each write goes to the system in one call.

    Raises:
        OSError: it cannot be made, or no file can have that name.
    """
    try:
        return open(os.fspath(name), "wb", buffering=0, opener=_kept)  # it stays open
    except ValueError:
        raise no_such_name() from None


def size_of(name: Name) -> int:
    """How many bytes a file has.

    Raises:
        OSError: as :func:`open_file`.
    """
    with open_file(name) as file:
        return os.fstat(file.fileno()).st_size


def no_such_name() -> OSError:
    """What to say of a name with a NUL byte or half a character in it."""
    return OSError(errno.EINVAL, "a file's name has no NUL byte and no half of a character in it")


def _kept(name: str, flags: int) -> int:
    """Open without emptying."""
    return os.open(name, flags & ~os.O_TRUNC, 0o666)


@decides("Files/only-files")
def _descriptor(name: str, flags: int) -> int:
    """Open without waiting for whoever writes into a pipe, and keep only what is a file."""
    descriptor = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a device or a pipe; copy what it gives into a file first", name)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


__all__ = ["new_file", "no_such_name", "open_file", "read_file", "size_of"]
