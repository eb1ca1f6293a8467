"""A backend by its name: ``package.module:Name``, ``package.module:on(device="cpu", compile=True)``, or a command.

``command:node backend.js`` runs a program that speaks the protocol of ``spec/reference/tools/oracle-protocol.md``.
"""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from typing import Any, NamedTuple

from .protocol import Crashed

COMMAND = "command:"
"""How names begin that are commands."""


class Name(NamedTuple):
    """A name that was read."""

    text: str
    module: str
    attribute: str
    arguments: tuple[list[Any], dict[str, Any]] | None
    """Those in brackets; None where none stand."""


def read(text: str) -> Name:
    """Read a name.

    Args:
        text: ``package.module:Name``, where ``Name`` is a backend, or a class or function that makes one. Arguments
            may follow in brackets; they are Python's literals. Or ``command:`` and a command.

    Raises:
        ValueError: the text is no such name.
    """
    if text.startswith(COMMAND):
        return Name(text, "refimpl.oracle.backends.isolate", "command", ([text[len(COMMAND):]], {}))
    module, colon, rest = text.partition(":")
    if not colon or not module or not rest:
        raise ValueError(f"{text!r} names no implementation: write package.module:Name")
    if rest.isidentifier():
        return Name(text, module, rest, None)
    try:
        call = ast.parse(rest, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            options = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
            return Name(text, module, call.func.id, ([ast.literal_eval(each) for each in call.args], options))
    except (SyntaxError, ValueError):
        pass
    raise ValueError(f"{text!r} names no implementation: write package.module:Name, or Name(key=literal) in its place")


def named(text: str) -> Any:
    """The backend that a name names; a class or function without brackets is called without arguments.

    Raises:
        ValueError: the text is no name, or there is no such thing; the message says which.
    """
    name = read(text)
    try:
        found = getattr(import_module(name.module), name.attribute)
        if name.arguments is not None:
            return found(*name.arguments[0], **name.arguments[1])
    except (ImportError, AttributeError, TypeError, Crashed) as error:
        raise ValueError(f"{text} cannot be loaded: {error}") from error
    return found() if inspect.isclass(found) or inspect.isfunction(found) else found
