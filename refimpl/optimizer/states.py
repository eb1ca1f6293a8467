"""The ``.states`` format: a pickle that MXNet 1.x writes and reads, handled without running anything.

The content is ``{index or name: state}``, a state being None, an array, or tuples and lists of these;
or the pair of that and an optimizer. A pickle is a program, so

* writing uses a dozen pickle operations, written out in :class:`_Writer`;
* reading lets Python's unpickler build inert :class:`_Found` objects in place of every class the file
  names, imports nothing and calls nothing, and afterwards turns those that belong here into arrays,
  numbers, optimizers and schedulers.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import struct
from typing import Any

import numpy as np

from ..base import DTYPE_FLAGS, MXNetError, refusal
from ..foreign import what_it_is
from ..ndarray import NDArray
from ..ndarray.file_format import from_record, record
from . import class_names

_ARRAYS = {
    "default": ("mxnet.ndarray.ndarray", "NDArray"),
    "row_sparse": ("mxnet.ndarray.sparse", "RowSparseNDArray"),
    "csr": ("mxnet.ndarray.sparse", "CSRNDArray"),
}
_STORAGE_OF_CLASS = {name: storage for storage, (_, name) in _ARRAYS.items()}
_BYTES = {("builtins", "bytearray"), ("__builtin__", "bytearray"), ("_codecs", "encode")}
_OBJECTS_OF_PYTHON_2 = {("copy_reg", "_reconstructor"), ("copyreg", "_reconstructor")}

# What a damaged pickle makes Python's unpickler raise.
_DAMAGE = (
    pickle.UnpicklingError, EOFError, ValueError, KeyError, IndexError, AttributeError, TypeError,
    OverflowError, MemoryError, ImportError, RecursionError, struct.error,
)


def invalid(name: str, reason: str) -> Exception:
    """The refusal of a file that is not a ``.states`` file."""
    return refusal("States/valid", f"{name} is not a valid .states file: {reason}")


# --- writing --------------------------------------------------------------------------------------


def dumps(content: Any) -> bytes:
    """Write states, or (states, optimizer), as MXNet 1.9.1 under Python 3.4+ would (pickle protocol 4).

    Raises:
        MXNetError: something in it has no place in a ``.states`` file.
    """
    return _Writer().file(content)


class _Writer:
    """A pickle writer for plain values, arrays, optimizers and schedulers.

    ``numbers`` remembers dicts, lists and objects by identity, so that what is shared stays shared.
    """

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []  # ids stay unique while what they belong to is kept
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
        """Append None, a truth value, a number or text; return False for anything else."""
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
            raw = str(value).encode("utf-8")
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


# --- reading --------------------------------------------------------------------------------------


def loads(content: bytes, name: str = "the content") -> tuple[dict[Any, Any], Any]:
    """Read a ``.states`` file: (states, optimizer or None).

    Raises:
        MXNetError: the file is damaged, or holds anything but states, an optimizer and what these are
            made of. Nothing that the file says is executed.
    """
    foreign = what_it_is(content[:200])
    if foreign:
        raise invalid(name, f"byte 0: {foreign}")
    _scan(content, name)
    try:
        raw = _Reader(io.BytesIO(content), encoding="latin1").load()
    except _DAMAGE as error:
        raise invalid(name, f"{type(error).__name__}: {error}") from None
    try:
        found = _Revival(name).value(raw)
    except (TypeError, RecursionError) as error:  # a dict's key that cannot be one, a value inside itself
        raise invalid(name, str(error)) from None
    optimizer = None
    if isinstance(found, tuple) and len(found) == 2:
        found, optimizer = found
        if not class_names.is_optimizer(type(optimizer)):
            raise invalid(name, f"expected an optimizer, found {type(optimizer).__name__}")
    if not isinstance(found, dict):
        raise invalid(name, f"expected a dict of states, found {type(found).__name__}")
    return found, optimizer


def _scan(content: bytes, name: str) -> None:
    """Read every operation without doing it, so that no memory is reserved for what cannot be true."""
    position = 0
    try:
        for operation, argument, at in pickletools.genops(content):
            position = at or 0
            if operation.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > len(content):
                raise ValueError(f"value number {argument} in a file of {len(content)} bytes")
    except _DAMAGE as error:
        raise invalid(name, f"{error} (after byte {position})") from None


class _Found:
    """An object of a file, as data: the class it names, the arguments and the state it gives."""

    origin: tuple[str, str]

    def __new__(cls, *arguments: Any) -> _Found:  # each class is made for one file
        made = super().__new__(cls)
        made.arguments = arguments
        made.state = None
        made.items = {}
        return made

    arguments: tuple
    state: Any
    items: dict[Any, Any]

    def __init__(self, *_: Any) -> None: ...

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        self.items[key] = value


class _Reader(pickle.Unpickler):
    """An unpickler that knows no classes: each one named gets a class of its own without meaning."""

    def find_class(self, module: str, name: str) -> Any:
        return type("Found", (_Found,), {"origin": (module, name)})

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError(f"it refers to something outside the file ({pid!r})")


class _Revival:
    """Turns what the reader found into what it stands for, or refuses."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.made: dict[int, Any] = {}
        self.kept: list[Any] = []

    def value(self, raw: Any) -> Any:
        """The real value of ``raw``; what is shared stays shared."""
        if raw is None or isinstance(raw, (bool, int, float, str, bytes)):
            return raw
        if isinstance(raw, bytearray):
            return bytes(raw)
        if id(raw) not in self.made:
            self.kept.append(raw)
            self.compound(raw)
        return self.made[id(raw)]

    def compound(self, raw: Any) -> None:
        key = id(raw)
        if isinstance(raw, dict):
            made = self.made[key] = {}
            made.update((self.value(k), self.value(v)) for k, v in raw.items())
        elif isinstance(raw, list):
            items = self.made[key] = []
            items.extend(map(self.value, raw))
        elif isinstance(raw, tuple):
            self.made[key] = tuple(map(self.value, raw))
        elif isinstance(raw, _Found):
            self.object(key, raw)
        else:
            raise invalid(self.name, f"it holds {type(raw).__name__}, which no state is made of")

    def object(self, key: int, raw: _Found) -> None:
        module, name = raw.origin
        if (module, name) in _OBJECTS_OF_PYTHON_2:  # the class comes as an argument
            module, name = getattr(raw.arguments[0] if raw.arguments else None, "origin", ("", ""))
        if (module, name) in _BYTES:
            self.made[key] = self.raw_bytes(raw.arguments)
        elif name in _STORAGE_OF_CLASS and module.partition(".")[0] in ("mxnet", "refimpl"):
            self.made[key] = self.array(raw.state, _STORAGE_OF_CLASS[name])
        elif (module, name) == ("collections", "OrderedDict"):
            made = self.made[key] = {}
            made.update((self.value(k), self.value(v)) for k, v in raw.items.items())
        elif name in ("scalar", "dtype") and module.partition(".")[0] == "numpy":
            self.made[key] = self.number_type(raw) if name == "dtype" else self.number(raw)
        else:
            self.made[key] = made_object = self.known_class(module, name)
            state = {str(k): self.value(v) for k, v in self.dict_of(raw.state).items()}
            if class_names.is_optimizer(type(made_object)):
                made_object.__setstate__(state)
            else:
                vars(made_object).update(state)

    def dict_of(self, state: Any) -> dict[Any, Any]:
        if not isinstance(state, dict):
            raise invalid(self.name, f"an object's state must be a dict, found {type(state).__name__}")
        return state

    def raw_bytes(self, arguments: tuple) -> bytes:
        source = self.value(arguments[0]) if arguments else b""
        if isinstance(source, str):
            try:
                return source.encode("latin-1")
            except UnicodeEncodeError:
                raise invalid(self.name, "bytes written as text hold a wide character") from None
        if not isinstance(source, bytes):
            raise invalid(self.name, f"bytes made from {type(source).__name__}")
        return source

    def array(self, state: Any, storage: str) -> NDArray | None:
        raw = self.value(self.dict_of(state).get("handle"))
        if raw is None:
            return None
        if not isinstance(raw, bytes):
            raise invalid(self.name, "an array without its bytes")
        try:
            found = from_record(raw, f"an array in {self.name}")
        except MXNetError as error:
            raise invalid(self.name, str(error)) from None
        if found is not None and found.stype != storage:
            raise invalid(self.name, f"an array of storage {found.stype} where {storage} was announced")
        return found

    def number_type(self, raw: _Found) -> np.dtype:
        code = raw.arguments[0] if raw.arguments else None
        kind = next((n for n in DTYPE_FLAGS if code in (n, np.dtype(n).str[1:])), None)
        if kind is None:
            raise invalid(self.name, f"unknown number type {code!r}")
        state = raw.state
        big = isinstance(state, tuple) and len(state) > 1 and state[1] == ">"
        return np.dtype(kind).newbyteorder(">" if big else "<")

    def number(self, raw: _Found) -> Any:
        if len(raw.arguments) != 2:
            raise invalid(self.name, "a NumPy number without type and bytes")
        kind, data = self.value(raw.arguments[0]), self.value(raw.arguments[1])
        if isinstance(data, str):
            data = data.encode("latin-1", "replace")
        if not isinstance(kind, np.dtype) or not isinstance(data, bytes) or len(data) != kind.itemsize:
            raise invalid(self.name, "a NumPy number whose bytes do not fit its type")
        return np.frombuffer(data, kind)[0].item()

    def known_class(self, module: str, name: str) -> Any:
        """An empty object of an optimizer or scheduler class that exists here under this name."""
        known = class_names.known_class(module, name)
        if known is None:
            raise invalid(self.name, f"it names {module}.{name}, which is {class_names.absent(module, name)}")
        return known.__new__(known)


__all__ = ["dumps", "loads"]
