"""Checks of the messages of keepers and servers to the launcher: no malformed message may end a job."""

from __future__ import annotations

import json
import math
import signal
from collections.abc import Mapping
from typing import Any

_NUMBERS = ("requests", "bytes", "rounds", "recovered", "found", "safe", "process", "at", "began")
_TEXTS = ("warned", "kinds")


def one_line(text: object) -> str:
    """A text, or the text of an error, in one line of at most 200 letters, without control characters."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(text)[:200])


def news(found: Any) -> dict[str, Any]:
    """Check a keeper's message: ``worker``, and ``started`` with ``restarts`` or ``ended`` with ``again``.

    Raises:
        ValueError, TypeError, KeyError: ``found`` is no such message.
    """
    told = {"worker": int(found["worker"])}
    if "started" in found:
        return {**told, "started": int(found["started"]), "restarts": int(found["restarts"])}
    code = int(found["ended"])
    if code < 0:
        signal.Signals(-code)
    return {**told, "ended": code, "again": bool(found["again"])}


def report(content: bytes) -> dict[str, Any]:
    """Check a server's report: :meth:`~refimpl.kvstore.machines.node.Node.report`, with ``noted`` and ``warned``.

    Raises:
        ValueError, TypeError, KeyError, RecursionError: ``content`` is no such report.
    """
    told = json.loads(content)
    if not isinstance(told, Mapping):
        raise TypeError(f"it is no object, but a {type(told).__name__}")
    noted = told.get("noted", [])
    if not isinstance(noted, list) or not all(isinstance(one, Mapping) for one in noted):
        raise TypeError("noted is no list of objects")
    return {
        **{name: _number(name, told[name]) for name in _NUMBERS},
        **{name: [one_line(one) for one in _list(name, told.get(name, []))] for name in _TEXTS},
        "workers": [[_number("workers", one) for one in _list("workers", each, 4)] for each in told["workers"]],
        "waiting": [
            [
                _number("waiting", who),
                one_line(about),
                _number("waiting", turn),
                [_number("waiting", one) for one in _list("waiting", missing)],
            ]
            for who, about, turn, missing in told["waiting"]
        ],
        "noted": noted,
    }


def _number(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} has {value!r}, which is no number")
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} has {value!r}, which is neither a count nor a time")
    return value


def _list(name: str, value: Any, size: int | None = None) -> list[Any]:
    if not isinstance(value, list) or size not in (None, len(value)):
        raise TypeError(f"{name} has {value!r}, which is no list" + f" of {size}" * (size is not None))
    return value


__all__ = ["news", "one_line", "report"]
