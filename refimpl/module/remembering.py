"""The state of metrics and callbacks as plain values, for a worker that is started again."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..base import decides, refusal
from ..kvstore.optimizer_step import as_array, as_value
from ..kvstore.server_arithmetic import from_plain, plain_value
from ..ndarray import NDArray

_LEFT = (FunctionType, BuiltinFunctionType, MethodType, type, ModuleType, re.Pattern, logging.Logger)
_PLAIN = (bool, int, float, str, bytes, np.ndarray, np.generic, type(None))


@decides("Cluster/return-state")
def memory_of(thing: Any, depth: int = 0) -> Any:
    """The state of ``thing``: the result of its ``state()``, or else all of its attributes.

    Functions are left out, and so are objects of this package among the attributes, such as modules.

    Raises:
        MXNetError: the state holds an object that servers cannot keep.
    """
    if isinstance(thing, _LEFT):
        return ("left",)
    if isinstance(thing, _PLAIN):
        return ("plain", thing)
    if isinstance(thing, NDArray):
        return ("array", plain_value(as_value(thing)))
    if isinstance(thing, (list, tuple)):
        return ("items", isinstance(thing, tuple), [memory_of(one, depth) for one in thing])
    if isinstance(thing, Mapping):
        return ("dict", [(memory_of(key, depth), memory_of(one, depth)) for key, one in thing.items()])
    if callable(getattr(thing, "state", None)) and callable(getattr(thing, "restore", None)):
        return ("asked", thing.state())
    if depth and _is_part_of_the_package(thing):
        return ("left",)
    if not hasattr(thing, "__dict__") or depth > 8:
        raise refusal(
            "Cluster/return-state",
            f"servers cannot keep a {type(thing).__name__} that a metric or callback remembers: give the object that"
            " has it methods state(), which returns numbers, text, arrays and lists and dicts of these, and"
            " restore(state)",
        )
    return ("object", {name: memory_of(value, depth + 1) for name, value in vars(thing).items()})


def _is_part_of_the_package(thing: Any) -> bool:
    """Whether the class of an object is from this package, and is no metric."""
    package, _, part = type(thing).__module__.partition(".")
    return package == __name__.partition(".")[0] and not part.startswith("metric")


def remember(thing: Any, memory: Any) -> Any:
    """Restore the state that :func:`memory_of` returned; returns ``thing``, or a new value in its place."""
    kind = memory[0]
    if kind == "plain":
        return memory[1].copy() if isinstance(memory[1], np.ndarray) else memory[1]
    if kind == "array":
        return as_array(from_plain(memory[1]))
    if kind == "items":
        given = thing if isinstance(thing, (list, tuple)) and len(thing) == len(memory[2]) else [None] * len(memory[2])
        found = [remember(one, each) for one, each in zip(given, memory[2], strict=True)]
        return tuple(found) if memory[1] else found
    if kind == "dict":
        return _remember_dict(thing if isinstance(thing, dict) else {}, memory[1])
    if kind == "asked":
        thing.restore(memory[1])
    elif kind == "object":
        if thing is None:
            raise refusal(
                "Cluster/return-state", "a metric or callback had an object that it does not make when it is made again"
            )
        for name, each in memory[1].items():
            vars(thing)[name] = remember(vars(thing).get(name), each)
    return thing


def _remember_dict(named: dict[Any, Any], memory: list[tuple[Any, Any]]) -> dict[Any, Any]:
    pairs = {remember(None, key): each for key, each in memory}
    values = {key: remember(named.get(key), each) for key, each in pairs.items()}
    named.clear()
    named.update(values)
    return named


__all__ = ["memory_of", "remember"]
