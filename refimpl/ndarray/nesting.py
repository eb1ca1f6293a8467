"""Flattens the nested lists of arrays or symbols that loops and branches take, and nests flat lists again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import refusal

Form = Any
"""The nesting of items: 0 for one item, n for a symbol of n outputs, a list of forms for a list."""


def flatten(given: Any, kind: type, what: str, parts: Callable[[Any], list] | None = None) -> tuple[list, Form]:
    """The items of nested lists or tuples in order, and the form to nest them again.

    ``kind`` is the class of the items, ``what`` names them in messages. ``parts(item)`` returns the outputs of an
    item, which may be several for a symbol.

    Raises:
        AssertionError: ``given`` holds an object that is no ``kind``, list or tuple.
    """
    if isinstance(given, kind):
        found = [given] if parts is None else parts(given)
        return found, len(found) if len(found) > 1 else 0
    if not isinstance(given, (list, tuple)):
        raise refusal(
            "control-flow/nested", f"{what} must be (nested) list of {kind.__name__}, but got {given!r} of type"
            f" {type(given).__name__}", AssertionError,
        )
    items: list = []
    forms = []
    for part in given:
        found, form = flatten(part, kind, what, parts)
        items += found
        forms.append(form)
    return items, forms


def nest(items: Sequence[Any], form: Form) -> Any:
    """The items in nested lists of the form that :func:`flatten` returned."""
    rest = list(items)

    def taken(form: Form) -> Any:
        if form == 0:
            return rest.pop(0)
        if isinstance(form, int):
            return [rest.pop(0) for _ in range(form)]
        return [taken(part) for part in form]

    return taken(form)


def to_scalar(value: Any, kind: type, name: str) -> Any:
    """A number, or an array of one element, as a Python ``kind``.

    Raises:
        ValueError: an array has more elements, or the value cannot be converted.
    """
    if hasattr(value, "asscalar"):
        value = value.asscalar()
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise refusal(
            "control-flow/scalar", f"Cannot convert {name} to python {kind.__name__}: it is {value!r}", ValueError
        ) from None


__all__ = ["Form", "flatten", "nest", "to_scalar"]
