"""Messages as bytes: requests and replies, several in one frame. Reading a frame makes messages, and never runs code.

A frame is a prefix of 64 bytes and a body. The prefix is ``RIPW``, a byte 1 (the version), a byte for the checksum
(``checksums.py``), two zero bytes, the size of the body (8 bytes, little-endian), its checksum (8 bytes), and zeros.
The body is a list of messages as :mod:`refimpl.kvstore.plain` writes it: a message is a list of the name of its class
and its fields, in their order.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...base import MXNetError, decides, refusal
from .. import messages as say
from ..plain import Pieces, parts, unpack
from .checksums import FASTEST, Bytes, checksum

MAGIC, VERSION = b"RIPW", 1
PREFIX = 64
LARGEST = 1 << 36
"""The most bytes of a frame, unless a reader allows more."""

_HEAD = struct.Struct("<4sBBHQQ")
_CLASSES: Mapping[str, type] = {
    one.__name__: one for one in (
        say.PartId, say.Rows, say.Packed, say.Join, say.Leave, say.Open, say.Init, say.Push, say.Pull, say.PullRows,
        say.Barrier, say.Command, say.Keep, say.Recall, say.Done, say.Held, say.Refused, say.Recalled, say.Request,
        say.Reply,
    )
}
_NAMES = {one: tuple(field.name for field in dataclasses.fields(one)) for one in _CLASSES.values()}
_BODIES = (
    say.Join, say.Leave, say.Open, say.Init, say.Push, say.Pull, say.PullRows, say.Barrier, say.Command, say.Keep,
    say.Recall,
)
_ANSWERS = (say.Done, say.Held, say.Refused, say.Recalled)
Message = say.Request | say.Reply


# --- writing --------------------------------------------------------------------------------------


@decides("Cluster/wire")
def encode(messages: Sequence[Message], kind: int = FASTEST) -> list[Bytes]:
    """A frame, in pieces to be sent one after the other; arrays are not copied."""
    body = parts([plain(message) for message in messages])
    size = sum(len(piece) for piece in body)
    head = _HEAD.pack(MAGIC, VERSION, kind, 0, size, checksum(kind, body, _unwritable))
    return [head.ljust(PREFIX, b"\0"), *body]


def _unwritable(reason: str) -> Exception:
    return refusal("Cluster/checksum", f"messages cannot be written: {reason}")


def plain(value: Any) -> Any:
    """A message, or a part of one, as a list of its class name and its fields; other values are unchanged."""
    names = _NAMES.get(type(value))
    if names is not None:
        return [type(value).__name__, *[plain(getattr(value, name)) for name in names]]
    if isinstance(value, np.dtype):
        return value.str
    return dict(value) if isinstance(value, Mapping) else value


# --- reading --------------------------------------------------------------------------------------


@decides("Cluster/wire-valid")
def size_of_frame(prefix: Bytes, name: str = "a message", largest: int = LARGEST) -> int:
    """The size of the frame that begins with these 64 bytes, before any memory is taken for it.

    Raises:
        MXNetError: the bytes are no prefix, or the frame is larger than ``largest``; the message begins with ``name``.
    """
    return PREFIX + _prefix(prefix, name, largest)[1]


def _prefix(prefix: Bytes, name: str, largest: int) -> tuple[int, int, int]:
    """(kind of the checksum, size of the body, checksum)."""
    if len(prefix) < PREFIX:
        raise _refused(name, len(prefix), f"it ends within its prefix of {PREFIX} bytes")
    magic, version, kind, zero, size, expected = _HEAD.unpack_from(prefix)
    if magic != MAGIC:
        raise _refused(name, 0, f"it begins with {magic!r}, not with {MAGIC!r}")
    if version != VERSION or zero or any(prefix[_HEAD.size : PREFIX]):
        raise _refused(name, 4, f"its version is {version}, {VERSION} can be read, or there is more in its prefix")
    if PREFIX + size > largest:
        raise _refused(name, 8, f"it says that it has {PREFIX + size} bytes, more than {largest}")
    return kind, size, expected


def decode(frame: Bytes | Sequence[Bytes], name: str = "a message", largest: int = LARGEST) -> list[Message]:
    """The messages in a frame, which is given whole or in pieces. Their arrays are read-only views of the frame.

    Raises:
        MXNetError: the frame is damaged, or holds anything but messages; the message says where.
    """
    pieces = [frame] if isinstance(frame, (bytes, bytearray, memoryview)) else frame
    whole = Pieces(pieces)
    kind, size, expected = _prefix(whole.between(0, min(PREFIX, len(whole))), name, largest)
    if len(whole) != PREFIX + size:
        at = min(len(whole), PREFIX + size)
        raise _refused(name, at, f"it has {len(whole)} bytes, {PREFIX + size} by its prefix")
    if len(whole.views[0]) < PREFIX:
        whole = Pieces([whole.between(0, len(whole))])
    body = Pieces(whole.views, skipped=PREFIX)
    found = checksum(kind, body.views, lambda reason: _refused(name, 5, reason))
    if found != expected:
        raise _refused(name, PREFIX, f"its checksum is {found:#x}, {expected:#x} by its prefix")
    try:
        read = unpack(body, "its body")
        if not isinstance(read, list):
            raise TypeError("its body is no list of messages")
        return [_message(one) for one in read]
    except (MXNetError, ValueError, TypeError, KeyError, IndexError) as error:
        raise _refused(name, PREFIX, str(error)) from error


def _refused(name: str, at: int, reason: str) -> Exception:
    return refusal("Cluster/wire-valid", f"{name} is no frame of messages: byte {at}: {reason}")


def _message(read: Any) -> Any:
    made = message_of(read)
    if not isinstance(made, (say.Request, say.Reply)):
        raise TypeError(f"a {type(made).__name__} is neither request nor reply")
    return made


def message_of(read: Any) -> Any:
    """The message from a list of :func:`plain`, with checked fields.

    Raises:
        ValueError, TypeError: the list is no message.
    """
    if not isinstance(read, list) or not read or read[0] not in _CLASSES:
        raise ValueError(f"{str(read)[:60]} is not part of a message")
    kind, given = _CLASSES[read[0]], read[1:]
    readers = _READERS[kind]
    if len(given) != len(readers):
        raise ValueError(f"a {kind.__name__} has {len(readers)} fields, not {len(given)}")
    return kind(*[reader(one) for reader, one in zip(readers, given, strict=True)])


def _exactly(*kinds: type) -> Callable[[Any], Any]:
    def checked(read: Any) -> Any:
        if type(read) not in kinds:
            raise ValueError(f"expected {' or '.join(one.__name__ for one in kinds)}, found {str(read)[:60]}")
        return read

    return checked


def _one_of(*kinds: type, otherwise: Callable[[Any], Any] | None = None) -> Callable[[Any], Any]:
    """A reader of an object of one of these classes; ``otherwise`` reads a value that is no list."""

    def checked(read: Any) -> Any:
        if otherwise is not None and not isinstance(read, list):
            return otherwise(read)
        made = message_of(read)
        if not isinstance(made, kinds):
            raise TypeError(f"a {type(made).__name__} does not belong here")
        return made

    return checked


def _shape(read: Any) -> tuple[int, ...]:
    if type(read) is not tuple or not all(type(side) is int and side >= 0 for side in read):
        raise ValueError(f"{str(read)[:60]} is no shape")
    return read


def _dtype(read: Any) -> np.dtype:
    dtype = np.dtype(_exactly(str)(read))
    if dtype.kind not in "biuf":
        raise ValueError(f"{read!r} is no type of numbers")
    return dtype


def _kept(read: Any) -> dict[str, bytes]:
    if type(read) is not dict or not all(type(key) is str and type(one) is bytes for key, one in read.items()):
        raise ValueError(f"{str(read)[:60]} is not what was kept")
    return read


_ARRAY = _exactly(np.ndarray)
_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "int": _exactly(int), "str": _exactly(str), "bool": _exactly(bool), "float": _exactly(float),
    "bytes": _exactly(bytes), "Key": _exactly(int, str), "np.ndarray": _ARRAY, "np.dtype": _dtype,
    "tuple[int, ...]": _shape, "Mapping[str, bytes]": _kept, "PartId": _one_of(say.PartId),
    "Value": _one_of(say.Rows, otherwise=_ARRAY), "Value | Packed": _one_of(say.Rows, say.Packed, otherwise=_ARRAY),
    "Value | None": _one_of(say.Rows, otherwise=_exactly(np.ndarray, type(None))), "Any": _one_of(*_BODIES, *_ANSWERS),
}
"""Annotation of a field -> function that reads the field."""
_READERS = {one: tuple(_FIELDS[str(field.type)] for field in dataclasses.fields(one)) for one in _CLASSES.values()}

__all__ = ["LARGEST", "PREFIX", "Message", "decode", "encode", "message_of", "plain", "size_of_frame"]
