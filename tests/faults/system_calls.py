"""The calls of the system that a process makes, numbered, and one of them failing: ``calls.c``, compiled and loaded."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("calls.c")
HALF = -1
"""A call that transfers half of what it was asked for."""


class Call(NamedTuple):
    """A call: its number from 1 on, what it does, to which file, and how many bytes or pieces it was asked for."""

    number: int
    kind: str
    name: str
    size: int


class _Call(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char * 16), ("name", ctypes.c_char * 240), ("size", ctypes.c_int64)]


FAULTS: dict[str, tuple[int, ...]] = {
    "open": (errno.EMFILE, errno.EACCES, errno.EIO),
    "open to write": (errno.EMFILE, errno.EACCES, errno.ENOSPC, errno.EIO),
    "read": (errno.EIO, errno.EINTR, HALF),
    "write": (errno.ENOSPC, errno.EIO, errno.EINTR, HALF),
    "flush": (errno.EIO, errno.ENOSPC, errno.EINTR),
    "close": (errno.EIO, errno.ENOSPC),
    "rename": (errno.EIO, errno.ENOSPC, errno.EACCES),
    "link": (errno.EPERM, errno.EMLINK, errno.EIO),
    "mkdir": (errno.ENOSPC, errno.EACCES, errno.EIO),
    "unlink": (errno.EIO, errno.EACCES),
    "rmdir": (errno.EIO,),
    "truncate": (errno.EIO, errno.EINTR),
    "lock": (errno.ENOLCK, errno.EINTR),
    "chmod": (errno.EPERM,),
    "stat": (errno.EACCES, errno.EIO),
    "fstat": (errno.EIO,),
    "list": (errno.EMFILE, errno.EACCES),
    "socket": (errno.EMFILE,),
    "bind": (errno.EACCES,),
    "connect": (errno.ECONNREFUSED,),
}
"""What each kind of call can meet. EINTR and a half are no failures: whoever calls goes on."""

HARMLESS = (errno.EINTR, HALF)


def compiler() -> str | None:
    """The C compiler that makes ``calls.c`` a library; None where there is none, or on another system than Linux."""
    return shutil.which("cc") if sys.platform == "linux" else None


def library(folder: Path) -> Path:
    """Compile ``calls.c`` into a folder."""
    found = folder / "calls.so"
    command = [str(compiler()), "-shared", "-fPIC", "-O2", str(SOURCE), "-o", str(found), "-ldl", "-pthread"]
    subprocess.run(command, check=True)
    return found


def _loaded() -> ctypes.CDLL:
    here = ctypes.CDLL(None)
    here.faults_calls.restype = ctypes.POINTER(_Call)
    here.faults_end.restype = ctypes.c_int64
    return here


def during(act: Callable[[], object], number: int = 0, how: int = 0) -> list[Call]:
    """The calls that ``act`` makes in this process, of which the one of that number fails so.

    The library must have been preloaded.
    """
    here = _loaded()
    here.faults_begin(number, how)
    try:
        act()
    finally:
        met = here.faults_end()
        seen = list(_read(here, met))
    return seen


def _read(here: ctypes.CDLL, met: int) -> Iterator[Call]:
    calls = here.faults_calls()
    for index in range(min(met, 1 << 14)):
        yield Call(index + 1, calls[index].kind.decode(), os.fsdecode(calls[index].name), calls[index].size)


def spelled(how: int) -> str:
    """The name of a fault: "EIO", "half"."""
    return "half" if how == HALF else errno.errorcode[how]
