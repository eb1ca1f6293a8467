"""The ``.states`` format: a pickle that MXNet 1.x writes and reads, here without running a pickle.

The content is ``{index or name: state}``, where a state is None, an array, or a tuple or list of states; or the pair
of this dict and an optimizer. A pickle is a program, so

* writing uses a dozen pickle operations, written out in :class:`_Writer`;
* reading builds data only (``pickle_reader.py``), from which ``revival.py`` makes arrays, optimizers and schedulers;
  the name of any other class is refused.

A worker sends its optimizer to a server in the same format.
"""

from __future__ import annotations

import os
import pickle
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np

from ..base import MXNetError, decides, refusal
from ..files import reading
from ..files.atomic import sha256_written, write_atomically
from ..files.mistaken import what_it_is
from ..ndarray import NDArray
from ..ndarray.file_format import record
from . import class_names
from .pickle_reader import Refused, read
from .revival import objection, revive

_ARRAYS = {
    "default": ("mxnet.ndarray.ndarray", "NDArray"),
    "row_sparse": ("mxnet.ndarray.sparse", "RowSparseNDArray"),
    "csr": ("mxnet.ndarray.sparse", "CSRNDArray"),
}
_SAVED_WITH = b"saved with the params file of SHA-256 "
_MARK = re.compile(b"\x80.X.{4}" + _SAVED_WITH + b"([0-9a-f]{64})0", re.DOTALL)


# --- writing --------------------------------------------------------------------------------------


@decides("States/layout")
def dumps(content: Any) -> bytes:
    """Write states, or (states, optimizer), as MXNet 1.9.1 under Python 3.4+ would (pickle protocol 4).

    Raises:
        MXNetError: ``content`` holds a value that a ``.states`` file cannot hold.
    """
    return _Writer().file(content)


def dumps_optimizer(optimizer: Any) -> bytes:
    """Write an optimizer alone, as a worker sends it to a server.

    Raises:
        MXNetError: an attribute of the optimizer cannot be written.
    """
    return _Writer().file(optimizer)


@decides("States/layout")
class _Writer:
    """A pickle writer for plain values, arrays, optimizers and schedulers.

    ``numbers`` has the memo numbers of dicts, lists and objects by id, so that a shared object stays shared.
    """

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []  # keeps the objects alive, so that their ids stay unique
        self.parts: list[bytes] = [pickle.PROTO + b"\x04"]

    def file(self, content: Any) -> bytes:
        """The whole file."""
        self.value(content)
        self.parts.append(pickle.STOP)
        return b"".join(self.parts)

    def put(self, *parts: bytes) -> None:
        self.parts += parts

    def remember(self, value: Any) -> None:
        self.numbers[id(value)] = len(self.numbers)
        self.kept.append(value)
        self.put(pickle.MEMOIZE)

    def value(self, value: Any) -> None:
        """Append the operations that build ``value``."""
        if id(value) in self.numbers:
            self.put(pickle.LONG_BINGET, struct.pack("<I", self.numbers[id(value)]))
        elif isinstance(value, dict):
            self.put(pickle.EMPTY_DICT)
            self.remember(value)
            self.put(pickle.MARK)
            for key, item in value.items():
                self.value(key)
                self.value(item)
            self.put(pickle.SETITEMS)
        elif isinstance(value, list):
            self.put(pickle.EMPTY_LIST)
            self.remember(value)
            self.put(pickle.MARK)
            for item in value:
                self.value(item)
            self.put(pickle.APPENDS)
        elif isinstance(value, tuple):
            self.put(pickle.MARK)
            for item in value:
                self.value(item)
            self.put(pickle.TUPLE)
        elif isinstance(value, NDArray):
            self.array(value)
        elif not self.plain(value):
            self.object(value)

    def plain(self, value: Any) -> bool:
        """Append None, a bool, a number or text; return False for a value of another type."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None:
            self.put(pickle.NONE)
        elif value is True or value is False:
            self.put(pickle.NEWTRUE if value else pickle.NEWFALSE)
        elif type(value) is int:
            raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            self.put(pickle.LONG4, struct.pack("<i", len(raw)), raw)
        elif type(value) is float:
            self.put(pickle.BINFLOAT, struct.pack(">d", value))
        elif isinstance(value, str):
            try:
                raw = str(value).encode("utf-8")
            except UnicodeEncodeError:
                raise refusal("States/content", f"{value!r} is no text that UTF-8 can hold") from None
            self.put(pickle.BINUNICODE, struct.pack("<I", len(raw)), raw)
        else:
            return False
        return True

    def named(self, module: str, name: str) -> None:
        self.plain(module)
        self.plain(name)
        self.put(pickle.STACK_GLOBAL)

    def array(self, array: NDArray) -> None:
        self.named(*_ARRAYS[array.stype])
        self.put(pickle.NONE, pickle.TUPLE1, pickle.REDUCE)
        self.remember(array)
        raw = record(array)
        self.put(pickle.EMPTY_DICT, pickle.MARK)
        self.plain("handle")
        self.named("builtins", "bytearray")
        self.put(pickle.BINBYTES8, struct.pack("<Q", len(raw)), raw, pickle.TUPLE1, pickle.REDUCE)
        self.put(pickle.SETITEMS, pickle.BUILD)

    def object(self, value: Any) -> None:
        module, name = class_names.written_name(type(value))
        self.named(module, name)
        self.put(pickle.EMPTY_TUPLE, pickle.NEWOBJ)
        self.remember(value)
        own_state = getattr(type(value), "__getstate__", None) if class_names.is_optimizer(type(value)) else None
        self.value(own_state(value) if own_state else dict(vars(value)))
        self.put(pickle.BUILD)


def save(fname: str | os.PathLike[str], content: bytes) -> None:
    """Write a pickle of states; if a params file is saved together with it, the pickle gets that file's SHA-256.

    Raises:
        FileNotFoundError: the folder is missing.
        MXNetError: the file cannot be written for another reason.
    """
    params = params_beside(fname)
    digest = None if params is None else sha256_written(params)
    if digest is not None and content.startswith(pickle.PROTO):  # older pickles begin with their first operation
        content = marked(content, digest)
    try:
        write_atomically(fname, content)
    except MXNetError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            target = os.path.realpath(fname) if Path(fname).is_symlink() else fname
            raise refusal(
                "States/folder", f"cannot write {os.fspath(fname)}: there is no folder {str(Path(target).parent)!r}",
                FileNotFoundError,
            ) from error.__cause__
        raise


@decides("States/mark")
def marked(content: bytes, sha256: str) -> bytes:
    """A pickle with the SHA-256 of its params file in front, as text that readers of pickles push and pop."""
    raw = _SAVED_WITH + sha256.encode()
    return content[:2] + pickle.BINUNICODE + struct.pack("<I", len(raw)) + raw + pickle.POP + content[2:]


# --- reading --------------------------------------------------------------------------------------


def saved_with(content: bytes) -> str | None:
    """The SHA-256 of the params file that states were saved with; None for a file without one."""
    found = _MARK.match(content)
    return None if found is None else found[1].decode()


def params_beside(fname: str | os.PathLike[str]) -> Path | None:
    """The params file that is saved with a ``.states`` file: it has the same name with ``.params``."""
    path = Path(fname)
    return path.with_suffix(".params") if path.suffix == ".states" else None


def read_file(fname: str | os.PathLike[str]) -> bytes:
    """The content of a ``.states`` file.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        return reading.read_file(fname)
    except OSError as error:
        raise refusal("States/readable", f"cannot read {fname}: {error.strerror}", type(error)) from None


def loads(content: bytes, name: str = "the content") -> tuple[dict[Any, Any], Any]:
    """Read a ``.states`` file: (states, optimizer or None).

    Raises:
        MXNetError: the file is damaged, or holds an object other than states, an optimizer and their parts.
            No code of the file is executed.
    """

    def refused(at: int, reason: str) -> Exception:
        return refusal("States/valid", f"{name} is not a valid .states file: byte {at}: {reason}")

    found = _data(content, refused)
    optimizer = None
    if isinstance(found, tuple) and len(found) == 2:
        found, optimizer = found
        if not class_names.is_optimizer(type(optimizer)):
            raise refused(0, f"expected an optimizer, found {type(optimizer).__name__}")
    if not isinstance(found, dict):
        raise refused(0, f"expected a dict of states, found {type(found).__name__}")
    return found, optimizer


def loads_optimizer(content: bytes, name: str = "the command") -> Any:
    """Read an optimizer that :func:`dumps_optimizer`, or ``pickle.dumps(optimizer)`` under MXNet 1.x, wrote.

    Raises:
        MXNetError: the content is damaged, or names a class that is no known optimizer or scheduler.
            No code of the content is executed, and no module imported.
    """

    def refused(at: int, reason: str) -> Exception:
        return refusal("Command/optimizer", f"{name} does not hold an optimizer: byte {at}: {reason}")

    found = _data(content, refused)
    if not class_names.is_optimizer(type(found)):
        raise refused(0, f"expected an optimizer, found {type(found).__name__}")
    return found


def _data(content: bytes, refused: Refused) -> Any:
    """The value of a pickle, as arrays, optimizers, schedulers and plain values."""
    foreign = what_it_is(content[:200])
    if foreign:
        raise refused(0, foreign)
    return revive(read(content, objection, refused), refused, len(content))


__all__ = [
    "dumps", "dumps_optimizer", "loads", "loads_optimizer", "marked", "params_beside", "read_file", "save",
    "saved_with",
]
