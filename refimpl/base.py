"""Errors, number types and small helpers that every module uses."""

from __future__ import annotations

import ctypes
import difflib
import os
import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .kernels.foundation import MXNetError, decides, printable, refusal, require

string_types = (str,)
numeric_types = (float, int, np.generic)
integer_types = (int, np.integer)
mx_real_t = np.float32
"""The default real type."""
NDArrayHandle = ctypes.c_void_p
"""What MXNet's C functions take for an array; scripts ask for its type only."""

# Numeric flags of dtypes, as files and the ``__dtype__`` attribute of variables hold them.
DTYPE_FLAGS: dict[str, int] = {
    "float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4, "int8": 5, "int64": 6, "bool": 7,
}
FLAG_DTYPES: dict[int, np.dtype] = {flag: np.dtype(name) for name, flag in DTYPE_FLAGS.items()}
_FLAG_TEXTS = frozenset(map(str, FLAG_DTYPES))
_ONE_TYPE = re.compile(r"[<>=|]?[A-Za-z0-9_?]{1,20}")
_KNOWN = frozenset(FLAG_DTYPES.values())


@decides("base/data-dir")
def data_dir_default() -> str:
    """The folder that data and models are kept in unless ``MXNET_HOME`` names one."""
    if os.name == "nt":
        return str(Path(os.environ.get("APPDATA", "")) / "mxnet")
    return str(Path("~").expanduser() / ".mxnet")


@decides("base/data-dir")
def data_dir() -> str:
    """The folder that data and models are kept in: ``MXNET_HOME``, or ``~/.mxnet``."""
    return os.environ.get("MXNET_HOME", data_dir_default())


def asked_for(clause: str, variable: str, kinds: Collection[str]) -> str:
    """What an environment variable asks for: one of ``kinds``, of which the first is the default.

    Raises:
        MXNetError: it is none of them, by ``clause``.
    """
    asked = os.environ.get(variable)
    if asked is None:
        return next(iter(kinds))
    if asked not in kinds:
        raise refusal(clause, f"{variable} must be one of {', '.join(kinds)}, it is {asked!r}")
    return asked


@decides("base/py-str")
def py_str(x: bytes | str) -> str:
    """Text of UTF-8 bytes; text stays as it is."""
    return x if isinstance(x, str) else x.decode("utf-8")


@decides("Symbol/not-for-symbols")
class NotImplementedForSymbol(MXNetError):
    """An operation that makes sense for arrays only was asked of a Symbol."""

    def __init__(self, function: Any, *args: Any) -> None:
        name = getattr(function, "__name__", str(function))
        given = ", ".join(type(a).__name__ for a in args)
        super().__init__(
            f"Function {name}({given}) is not implemented for Symbol and only available in NDArray."
        )


def _as_list(value: Any) -> list:
    """Return ``value`` itself when it is a list or tuple, otherwise a list holding it."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def dtype_of(value: Any) -> np.dtype:
    """A NumPy dtype from a dtype, a type, a name or MXNet's numeric flag.

    Raises:
        TypeError: the type is not one of float16/32/64, uint8, int8/32/64 or bool.
    """
    if isinstance(value, str) and value in _FLAG_TEXTS:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value in FLAG_DTYPES:
        return FLAG_DTYPES[value]
    try:
        # NumPy reads lists and shapes out of text, which MXNet has no types for
        found = None if isinstance(value, str) and not _ONE_TYPE.fullmatch(value) else np.dtype(value)
    except (TypeError, ValueError):
        found = None
    # a dtype makes its name anew each time it is asked, which takes longer than all the rest
    if found is not None and found not in _KNOWN:
        found = FLAG_DTYPES.get(DTYPE_FLAGS.get(found.name, -1))  # the other byte order names the same type
    if found is None:
        raise refusal(
            "types/known", f"dtype {reprlib.repr(value)} is not supported; use one of {', '.join(DTYPE_FLAGS)}",
            TypeError,
        )
    return found


@decides("base/repr")
def described(instance: object, say: Callable[[], str]) -> str:
    """``<Class: what it is>``, for ``__repr__``: of an object that is only half made, the class alone."""
    try:
        return f"<{type(instance).__name__}: {say()}>"
    except Exception:  # noqa: BLE001  # debuggers print what a failed constructor left
        return f"<{type(instance).__name__}>"


@decides("registry/suggests")
def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``did you mean sgd? ``, with up to three names that are spelled alike; "" where none is."""
    near = difflib.get_close_matches(name.lower(), list(known), n=3)
    return f"did you mean {' or '.join(near)}? " if near else ""


def shapes_in_words(named: Iterable[tuple[str, Sequence[int]]], most: int = 4) -> str:
    """``data (8, 5), label (8,)``; of more than ``most`` the first, and how many more."""
    words = [f"{name} {tuple(shape)}" for name, shape in named]
    return ", ".join([*words[:most], *([f"{len(words) - most} more"] if len(words) > most else [])])


__all__ = [
    "DTYPE_FLAGS", "FLAG_DTYPES", "MXNetError", "NDArrayHandle", "NotImplementedForSymbol", "asked_for", "data_dir",
    "data_dir_default", "decides", "described", "did_you_mean", "dtype_of", "integer_types", "mx_real_t",
    "numeric_types", "printable", "py_str", "refusal", "require", "shapes_in_words", "string_types",
]
