"""A reader of pickles that only builds data.

A pickle is a program for a machine with a stack, a list of marks and a memo of numbered values. This machine neither
imports nor calls: where a pickle names a class or function, :class:`Named` holds the name, and where it calls one,
:class:`Found` holds the arguments. Every operation is in :data:`_OPERATIONS`; operations that reach outside the file
are in :data:`_OUTSIDE` and are refused.
"""

from __future__ import annotations

import pickle
import re
import struct
from collections.abc import Callable
from typing import Any

from ..base import decides

LONGEST_NUMBER = 1024
"""The most bytes of a whole number; Python takes quadratic time to read and print long numbers."""
LARGEST_KEY = 2**60
"""Whole numbers below this hash to themselves; an attacker can choose larger numbers with equal hashes."""


class Found:
    """An object of a file, as data: the name of its class, the arguments of the call that made it, and its state."""

    __slots__ = ("arguments", "at", "origin", "state")

    def __init__(self, origin: tuple[str, str], arguments: tuple, at: int) -> None:
        self.origin = origin
        self.arguments = arguments
        self.state: Any = None
        self.at = at


class Named:
    """The name of a class or function in a file."""

    __slots__ = ("origin",)

    def __init__(self, origin: tuple[str, str]) -> None:
        self.origin = origin


Objection = Callable[[str, str], "str | None"]
"""Returns the reason to refuse a (module, name), or None."""
Refused = Callable[[int, str], Exception]
"""Returns the error for (byte offset, reason)."""


def read(content: bytes, objection: Objection, refused: Refused) -> Any:
    """The value that a pickle, of any protocol from 0 to 5, builds.

    Raises:
        MXNetError: made by ``refused``: the content is no pickle, names a class that ``objection`` refuses, or has an
            operation that reaches outside the file.
    """
    return _Machine(content, objection, refused).run()


class _Machine:
    """The machine that runs one pickle."""

    def __init__(self, content: bytes, objection: Objection, refused: Refused) -> None:
        self.content = content
        self.objection = objection
        self.refused = refused
        self.position = self.at = self.paired = 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.names: dict[tuple[str, str], Named] = {}

    def run(self) -> Any:
        """The value that the pickle builds."""
        while True:
            self.at = self.position
            code = self.take(1)
            if code == pickle.STOP:
                break
            operation = _OPERATIONS.get(code)
            if operation is None:
                raise self.error(_OUTSIDE.get(code, f"{code!r} is no operation of a pickle"))
            operation(self)
        value = self.pop()
        if self.stack or self.marks:
            raise self.error("it ends with values left over")
        if self.position != len(self.content):
            raise self.refused(self.position, f"{len(self.content) - self.position} bytes follow its end")
        return value

    def error(self, reason: str) -> Exception:
        """The error for the present operation."""
        return self.refused(self.at, reason)

    # --- what stands behind an operation -------------------------------------------------------------

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        if not 0 <= count <= len(self.content) - self.position:
            raise self.error(f"it ends where {count} more bytes should be")
        self.position += count
        return self.content[self.position - count : self.position]

    def packed(self, form: str) -> Any:
        """The next number, in the ``struct`` format ``form``."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def counted(self, form: str) -> bytes:
        """The next number, in format ``form``, is a count: that many bytes after it."""
        return self.take(self.packed(form))

    def line(self) -> bytes:
        """The bytes up to the end of the line."""
        end = self.content.find(b"\n", self.position)
        if end < 0:
            raise self.error("a line without an end")
        found = self.content[self.position : end]
        self.position = end + 1
        return found

    def text(self, raw: bytes, encoding: str = "utf-8") -> str:
        """Decode bytes to text; refuse half characters."""
        try:
            found = raw.decode(encoding)
            if encoding == "utf-8":
                return found
            # Python 2 wrote some characters as two surrogates
            return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeError:
            raise self.error(f"text that is not {encoding}") from None

    def digits(self, suffix: bytes = b"") -> int:
        """The whole number on the next line."""
        line = self.line().removesuffix(suffix)
        if not re.fullmatch(rb"[+-]?[0-9]{1,400}", line):
            raise self.error("a line that is no whole number")
        return int(line)

    # --- the stack -----------------------------------------------------------------------------------

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise self.error("it takes a value where none is")
        return self.stack.pop()

    def popped(self, count: int) -> tuple:
        return tuple([self.pop() for _ in range(count)][::-1])

    def top(self) -> Any:
        value = self.pop()
        self.push(value)
        return value

    def since_mark(self) -> list[Any]:
        """Take the values above the last mark, and the mark."""
        if not self.marks:
            raise self.error("it goes back to a mark that was not set")
        start = self.marks.pop()
        values = self.stack[start:]
        del self.stack[start:]
        return values

    # --- operations ----------------------------------------------------------------------------------

    def truth_or_number(self) -> None:
        if self.content[self.position : self.position + 3] in (b"00\n", b"01\n"):
            self.push(self.line() == b"01")
        else:
            self.push(self.digits())

    def decimal(self) -> None:
        line = self.line()
        try:
            self.push(float(line) if len(line) <= LONGEST_NUMBER else float("too long"))
        except ValueError:
            raise self.error("a line that is no number") from None

    def whole(self, form: str) -> None:
        raw = self.counted(form)
        if len(raw) > LONGEST_NUMBER:
            raise self.error(f"a number of {len(raw)} bytes")
        self.push(int.from_bytes(raw, "little", signed=True))

    @decides("States/python-2")
    def quoted(self) -> None:
        """Push text that Python 2 wrote as its ``repr``."""
        line = self.line()
        if len(line) < 2 or line[:1] not in (b"'", b'"') or line[-1:] != line[:1]:
            raise self.error("text without its quotes")
        try:
            self.push(_ESCAPED.sub(_unescaped, line[1:-1]).decode("latin-1"))
        except KeyError:
            raise self.error("text with an unknown escape") from None

    def remember(self, number: int) -> None:
        if not 0 <= number < LARGEST_KEY:
            raise self.error("it stores a value under a number that no pickle needs")
        self.memo[number] = self.top()

    def recall(self, number: int) -> None:
        if number not in self.memo:
            raise self.error(f"it recalls value {number}, which it did not store")
        self.push(self.memo[number])

    def extend(self, values: list[Any]) -> None:
        target = self.top()
        if type(target) is not list:
            raise self.error(f"it appends to {_kind(target)}")
        target.extend(values)

    def put(self, values: list[Any] | tuple) -> None:
        """Put keys and values, in turn, into the dict on the stack."""
        target = self.top()
        if type(target) is not dict:
            raise self.error(f"it puts items into {_kind(target)}")
        target.update(self.pairs(values))

    def pairs(self, values: list[Any] | tuple) -> dict[Any, Any]:
        if len(values) % 2:
            raise self.error("a key without its value")
        for key in values[::2]:
            plain = key is None or isinstance(key, (str, bytes, bool, float))
            if not plain and not (isinstance(key, int) and abs(key) < LARGEST_KEY):
                raise self.error(f"a key that is {'too large' if isinstance(key, int) else _kind(key)}")
        return dict(zip(values[::2], values[1::2], strict=True))

    def name(self, module: Any, name: Any) -> Named:
        if type(module) is not str or type(name) is not str:
            raise self.error("the name of a class that is no text")
        if (module, name) not in self.names:
            against = self.objection(module, name)
            if against:
                raise self.error(f"it names {shown(f'{module}.{name}')}, which is {against}")
            self.names[module, name] = Named((module, name))
        return self.names[module, name]

    def line_name(self) -> Named:
        return self.name(self.text(self.line()), self.text(self.line()))

    def make(self, maker: Any, arguments: Any) -> None:
        if not isinstance(maker, Named) or type(arguments) is not tuple:
            raise self.error(f"it calls {_kind(maker)} with {_kind(arguments)}")
        if maker.origin == ("collections", "OrderedDict"):
            given = arguments[0] if arguments else []  # Python 2 passes a list of pairs
            self.paired += len(given) if type(given) is list else 0
            if self.paired > len(self.content):  # a file may pass one list many times
                raise self.error("dicts of more pairs than the file can hold")
            if type(given) is not list or not all(type(pair) in (list, tuple) and len(pair) == 2 for pair in given):
                raise self.error("a dict that is not made of pairs")
            self.push(self.pairs([part for pair in given for part in pair]))
        else:
            self.push(Found(maker.origin, arguments, self.at))

    def make_of_mark(self) -> None:
        values = self.since_mark()
        self.make(values[0] if values else None, tuple(values[1:]))

    def build(self) -> None:
        state, target = self.pop(), self.top()
        if isinstance(target, Found):
            target.state = state
        elif state is not None or type(target) is not dict:  # an OrderedDict may get the state None
            raise self.error(f"it gives a state to {_kind(target)}")

    def pop_or_mark(self) -> None:
        if self.marks and self.marks[-1] == len(self.stack):
            self.marks.pop()
        else:
            self.pop()

    def protocol(self) -> None:
        if self.packed("<B") > 5:
            raise self.error("a pickle of a protocol after 5")

    def frame(self) -> None:
        if self.packed("<Q") > len(self.content) - self.position:
            raise self.error("a frame that is longer than the file")


def _kind(value: Any) -> str:
    return shown(".".join(value.origin)) if isinstance(value, (Found, Named)) else type(value).__name__


def shown(text: str) -> str:
    """Text of a file, shortened and escaped for a message."""
    return text if len(text) <= 80 and text.isprintable() else ascii(text[:80])


_ESCAPED = re.compile(rb"\\(x[0-9a-fA-F]{2}|.?)", re.DOTALL)
_ESCAPES = {b"\\": b"\\", b"'": b"'", b'"': b'"', b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code[1:], 16)]) if len(code) == 3 else _ESCAPES[code]


_OPERATIONS: dict[bytes, Callable[[_Machine], Any]] = {
    pickle.PROTO: _Machine.protocol,
    pickle.FRAME: _Machine.frame,
    pickle.NONE: lambda m: m.push(None),
    pickle.NEWTRUE: lambda m: m.push(True),
    pickle.NEWFALSE: lambda m: m.push(False),
    pickle.INT: _Machine.truth_or_number,
    pickle.BININT: lambda m: m.push(m.packed("<i")),
    pickle.BININT1: lambda m: m.push(m.packed("<B")),
    pickle.BININT2: lambda m: m.push(m.packed("<H")),
    pickle.LONG: lambda m: m.push(m.digits(b"L")),
    pickle.LONG1: lambda m: m.whole("<B"),
    pickle.LONG4: lambda m: m.whole("<i"),
    pickle.FLOAT: _Machine.decimal,
    pickle.BINFLOAT: lambda m: m.push(m.packed(">d")),
    pickle.STRING: _Machine.quoted,
    pickle.BINSTRING: lambda m: m.push(m.counted("<i").decode("latin-1")),
    pickle.SHORT_BINSTRING: lambda m: m.push(m.counted("<B").decode("latin-1")),
    pickle.UNICODE: lambda m: m.push(m.text(m.line(), "raw-unicode-escape")),
    pickle.BINUNICODE: lambda m: m.push(m.text(m.counted("<I"))),
    pickle.SHORT_BINUNICODE: lambda m: m.push(m.text(m.counted("<B"))),
    pickle.BINUNICODE8: lambda m: m.push(m.text(m.counted("<Q"))),
    pickle.BINBYTES: lambda m: m.push(m.counted("<I")),
    pickle.SHORT_BINBYTES: lambda m: m.push(m.counted("<B")),
    pickle.BINBYTES8: lambda m: m.push(m.counted("<Q")),
    pickle.BYTEARRAY8: lambda m: m.push(m.counted("<Q")),
    pickle.EMPTY_LIST: lambda m: m.push([]),
    pickle.EMPTY_DICT: lambda m: m.push({}),
    pickle.EMPTY_TUPLE: lambda m: m.push(()),
    pickle.TUPLE1: lambda m: m.push(m.popped(1)),
    pickle.TUPLE2: lambda m: m.push(m.popped(2)),
    pickle.TUPLE3: lambda m: m.push(m.popped(3)),
    pickle.LIST: lambda m: m.push(m.since_mark()),
    pickle.TUPLE: lambda m: m.push(tuple(m.since_mark())),
    pickle.DICT: lambda m: m.push(m.pairs(m.since_mark())),
    pickle.APPEND: lambda m: m.extend([m.pop()]),
    pickle.APPENDS: lambda m: m.extend(m.since_mark()),
    pickle.SETITEM: lambda m: m.put(m.popped(2)),
    pickle.SETITEMS: lambda m: m.put(m.since_mark()),
    pickle.MARK: lambda m: m.marks.append(len(m.stack)),
    pickle.POP: _Machine.pop_or_mark,
    pickle.POP_MARK: _Machine.since_mark,
    pickle.DUP: lambda m: m.push(m.top()),
    pickle.PUT: lambda m: m.remember(m.digits()),
    pickle.BINPUT: lambda m: m.remember(m.packed("<B")),
    pickle.LONG_BINPUT: lambda m: m.remember(m.packed("<I")),
    pickle.MEMOIZE: lambda m: m.remember(len(m.memo)),
    pickle.GET: lambda m: m.recall(m.digits()),
    pickle.BINGET: lambda m: m.recall(m.packed("<B")),
    pickle.LONG_BINGET: lambda m: m.recall(m.packed("<I")),
    pickle.GLOBAL: lambda m: m.push(m.line_name()),
    pickle.STACK_GLOBAL: lambda m: m.push(m.name(*m.popped(2))),
    pickle.INST: lambda m: m.make(m.line_name(), tuple(m.since_mark())),
    pickle.OBJ: _Machine.make_of_mark,
    pickle.NEWOBJ: lambda m: m.make(*m.popped(2)),
    pickle.REDUCE: lambda m: m.make(*m.popped(2)),
    pickle.BUILD: _Machine.build,
}

_OUTSIDE = {
    **dict.fromkeys((pickle.PERSID, pickle.BINPERSID, pickle.NEXT_BUFFER), "it refers to something outside the file"),
    **dict.fromkeys((pickle.EXT1, pickle.EXT2, pickle.EXT4), "it names a class by a number of a registry"),
    **dict.fromkeys((pickle.EMPTY_SET, pickle.FROZENSET, pickle.ADDITEMS), "a set, which no state is made of"),
    pickle.NEWOBJ_EX: "it calls a class with named arguments",
    pickle.READONLY_BUFFER: "a buffer, which no state is made of",
}


__all__ = ["Found", "Named", "Refused", "read", "shown"]
