"""Makes the objects that the data of a ``.states`` file describes: arrays, numbers, optimizers and schedulers."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..base import DTYPE_FLAGS, MXNetError, decides
from ..ndarray import NDArray, array
from ..ndarray.file_format import from_record
from . import class_names, soundness
from .pickle_reader import Found, Named, Refused, shown

_STORAGE_OF_CLASS = {"NDArray": "default", "RowSparseNDArray": "row_sparse", "CSRNDArray": "csr"}
_HOMES = ("mxnet", __name__.partition(".")[0])
_BYTES = {("builtins", "bytearray"), ("__builtin__", "bytearray"), ("_codecs", "encode")}
_PYTHON_2_OBJECTS = {("copy_reg", "_reconstructor"), ("copyreg", "_reconstructor")}
_ARRAY_MAKERS = {("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct")}
_HELPERS = {
    *_BYTES, *_PYTHON_2_OBJECTS, *_ARRAY_MAKERS, ("builtins", "object"), ("__builtin__", "object"),
    ("collections", "OrderedDict"), ("numpy", "ndarray"), ("numpy", "dtype"), ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
}
_LATIN = ("latin-1", "latin1")

DEEPEST = 100
"""The most levels of nesting; valid files have less than ten."""
UNFOLDED = 16
"""The most values, and bytes of arrays, that a file may unfold to, per byte: shared values could multiply them."""


def objection(module: str, name: str) -> str | None:
    """The reason to refuse a (module, name) in a file; None for an array, optimizer, scheduler or helper."""
    if (module, name) in _HELPERS or _is_array(module, name) or class_names.known_class(module, name):
        return None
    return class_names.absent(module, name)


def _is_array(module: str, name: str) -> bool:
    return name in _STORAGE_OF_CLASS and module.partition(".")[0] in _HOMES


def revive(raw: Any, refused: Refused, length: int) -> Any:
    """The objects that the data ``raw`` of a file of ``length`` bytes describes. A shared object stays shared.

    Raises:
        MXNetError: made by ``refused``: the data describe no valid object.
    """
    return _Revival(refused, length).value(raw)


class _Revival:
    """The values of one file, made one by one."""

    def __init__(self, refused: Refused, length: int) -> None:
        self.refused = refused
        self.limit = 1000 + UNFOLDED * length
        self.at = self.depth = self.count = 0
        self.made: dict[int, Any] = {}  # by id: the file's outermost value keeps all objects alive
        self.sizes: dict[int, int] = {}

    def error(self, reason: str) -> Exception:
        """The error for the present object."""
        return self.refused(self.at, reason)

    def value(self, raw: Any) -> Any:
        """The object that ``raw`` describes."""
        self.count += 1
        if raw is None or isinstance(raw, (bool, int, float, str, bytes)):
            return raw
        key = id(raw)
        if key in self.made:
            if key not in self.sizes:
                raise self.error("a value that holds itself")
            self.count += self.sizes[key]
        else:
            before, self.depth = self.count, self.depth + 1
            if self.depth > DEEPEST:
                raise self.error(f"values nested more than {DEEPEST} deep")
            self.compound(raw)
            self.depth -= 1
            self.sizes[key] = 0 if isinstance(raw, Found) else self.count - before
        self.weigh(0)
        return self.made[key]

    def compound(self, raw: Any) -> None:
        key = id(raw)
        self.made[key] = None
        if isinstance(raw, dict):
            made = self.made[key] = {}
            made.update((self.value(k), self.value(v)) for k, v in raw.items())
        elif isinstance(raw, list):
            self.made[key] = [self.value(item) for item in raw]
        elif isinstance(raw, tuple):
            self.made[key] = tuple([self.value(item) for item in raw])
        elif isinstance(raw, Found):
            outer, self.at = self.at, raw.at
            self.object(key, raw)
            self.at = outer
        else:
            raise self.error(f"it holds {shown('.'.join(raw.origin))} itself, not an object of that class")

    def object(self, key: int, raw: Found) -> None:
        module, name = raw.origin
        if raw.origin in _PYTHON_2_OBJECTS:
            module, name = self.reconstructed(raw.arguments)
        if (module, name) in _BYTES:
            self.made[key] = self.raw_bytes(raw.arguments)
        elif _is_array(module, name):
            self.made[key] = self.array(raw.state, _STORAGE_OF_CLASS[name])
        elif (module, name) in _ARRAY_MAKERS:
            self.made[key] = self.numpy_array(raw)
        elif (module, name) == ("numpy", "dtype"):
            self.made[key] = self.number_type(raw)
        elif name == "scalar":
            self.made[key] = self.number(raw.arguments)
        else:
            known = class_names.known_class(module, name)
            if known is None:
                raise self.error(f"it makes an object of {module}.{name}")
            self.made[key] = made = known.__new__(known)
            self.sizes[key] = 0  # an object may contain itself
            state = self.attributes(known, raw.state)
            if class_names.is_optimizer(known):
                made.__setstate__(state)
            else:
                vars(made).update(state)
            against = soundness.completed(made)
            if against:
                raise self.error(against)
            if class_names.is_optimizer(known):
                self.weigh(len(made.idx2name))

    def reconstructed(self, arguments: tuple) -> tuple[str, str]:
        """The (module, name) of a class from its arguments (class, object, None) in protocols 0 and 1."""
        base = arguments[1].origin if len(arguments) == 3 and isinstance(arguments[1], Named) else ("", "object")
        if len(arguments) != 3 or not isinstance(arguments[0], Named) or base[1] != "object" or arguments[2]:
            raise self.error("an object that is not made of its class alone")
        return arguments[0].origin

    def attributes(self, known: type, state: Any) -> dict[str, Any]:
        """The attributes of an object of class ``known``; refuse one with the name of a method or property."""
        for name in self.dict_of(state):
            if not isinstance(name, str):
                raise self.error(f"an attribute whose name is {type(name).__name__}")
            of_class = getattr(known, name, None)
            if callable(of_class) or isinstance(of_class, property):
                raise self.error(f"an attribute that hides {known.__name__}.{shown(name)}")
        return self.value(state)

    def dict_of(self, state: Any) -> dict[Any, Any]:
        if not isinstance(state, dict):
            raise self.error(f"an object's state must be a dict, found {type(state).__name__}")
        return state

    @decides("States/bounds")
    def weigh(self, size: int) -> None:
        """Count values made of data that may be shared; refuse the file above the limit."""
        self.count += size
        if self.count > self.limit:
            raise self.error(f"a file that unfolds to more than {self.limit} values")

    def raw_bytes(self, arguments: tuple) -> bytes:
        source = self.value(arguments[0]) if arguments else b""
        self.weigh(len(source) if isinstance(source, (str, bytes)) else 0)
        if isinstance(source, str) and len(arguments) > 1 and arguments[1] not in _LATIN:
            raise self.error("bytes made from text by an unknown codec")
        return self.plain_bytes(source, f"bytes made from {type(source).__name__}")

    def array(self, state: Any, storage: str) -> NDArray | None:
        raw = self.value(self.dict_of(state).get("handle"))
        if raw is None:
            return None
        raw = self.plain_bytes(raw, "an array without its bytes")
        self.weigh(len(raw))
        try:
            found = from_record(raw, "its record")
        except MXNetError as error:
            raise self.error(f"an array that cannot be read: {error}") from None
        if found is not None and found.stype != storage:
            raise self.error(f"an array of storage {found.stype} where {storage} was announced")
        return found

    @decides("States/python-2")
    def numpy_array(self, raw: Found) -> NDArray:
        """An NDArray from a NumPy array, which some files of Python 2 hold."""
        maker = raw.arguments[0] if raw.arguments else None
        if not isinstance(maker, Named) or maker.origin != ("numpy", "ndarray"):
            raise self.error("a NumPy array of an unknown class")
        state = self.value(raw.state)
        if not isinstance(state, tuple) or len(state) not in (4, 5):
            raise self.error("a NumPy array without shape, type and values")
        shape, kind, by_columns, content = state[-4:]
        content = self.plain_bytes(content, "a NumPy array without its bytes")
        if not isinstance(shape, tuple) or len(shape) > 32 or not all(map(soundness.is_count, shape)):
            raise self.error("a NumPy array whose shape is none")
        if not isinstance(kind, np.dtype) or kind.kind != "f":
            raise self.error("a NumPy array of no floating numbers, which no state is")
        if prod(shape) * kind.itemsize != len(content):
            raise self.error(f"a NumPy array of shape {shape} with {len(content)} bytes")
        self.weigh(len(content))
        try:
            values = np.frombuffer(content, kind).reshape(shape, order="F" if by_columns else "C")
        except ValueError:  # without elements, but with dimensions that NumPy cannot hold
            raise self.error("a NumPy array whose shape is none") from None
        return array(values, dtype=kind.newbyteorder("="))

    def plain_bytes(self, value: Any, otherwise: str) -> bytes:
        """Bytes; text is encoded, because Python 3 reads bytes of Python 2 as text."""
        if isinstance(value, str):
            try:
                return value.encode("latin-1")
            except UnicodeEncodeError:
                raise self.error("bytes written as text hold a wide character") from None
        if not isinstance(value, bytes):
            raise self.error(otherwise)
        return value

    def number_type(self, raw: Found) -> np.dtype:
        code = raw.arguments[0] if raw.arguments else None
        kind = next((n for n in DTYPE_FLAGS if code in (n, np.dtype(n).str[1:])), None)
        if kind is None:
            raise self.error("an unknown type of number")
        state = raw.state
        big = isinstance(state, tuple) and len(state) > 1 and state[1] == ">"
        return np.dtype(kind).newbyteorder(">" if big else "<")

    def number(self, arguments: tuple) -> Any:
        if len(arguments) != 2:
            raise self.error("a NumPy number without type and bytes")
        kind, data = self.value(arguments[0]), self.value(arguments[1])
        if isinstance(data, str):
            data = data.encode("latin-1", "replace")
        if not isinstance(kind, np.dtype) or not isinstance(data, bytes) or len(data) != kind.itemsize:
            raise self.error("a NumPy number whose bytes do not fit its type")
        return np.frombuffer(data, kind)[0].item()


__all__ = ["objection", "revive"]
