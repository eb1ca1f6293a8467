"""Registries of named classes, as initializers, optimizers and metrics use them.

A name is a lower-case class name or an alias. ``create`` functions take a name, a JSON text
``["name", {"argument": value}]``, a dict, or an instance, which they return as it is.
"""

from __future__ import annotations

import json
import reprlib
import warnings
from collections.abc import Callable
from typing import Any

from .base import decides, did_you_mean, refusal

_REGISTRIES: dict[type, dict[str, type]] = {}


def get_registry(base_class: type) -> dict[str, type]:
    """Return a copy of the names known for ``base_class``."""
    return dict(_REGISTRIES.get(base_class, {}))


@decides("registry/register", "Metric/register")
def get_register_func(base_class: type, nickname: str) -> Callable:
    """Return ``register(klass, name=None)``, which adds a subclass under its lower-case name."""
    known = _REGISTRIES.setdefault(base_class, {})

    def register(klass: type, name: str | None = None) -> type:
        if not issubclass(klass, base_class):
            raise refusal(
                "registry/subclass", f"can only register a subclass of {base_class.__name__},"
                f" {klass.__name__} is none", AssertionError,
            )
        word = (name or klass.__name__).lower()
        if word in known and known[word] is not klass:
            old, new = known[word], klass
            warnings.warn(
                f"{nickname} {word!r} is {new.__module__}.{new.__name__} now, no longer"
                f" {old.__module__}.{old.__name__}",
                UserWarning, stacklevel=2,
            )
        known[word] = klass
        return klass

    return register


@decides("registry/register", "Metric/register")
def get_alias_func(base_class: type, nickname: str) -> Callable:
    """Return the decorator ``alias(*names)``, which registers a class under further names."""
    register = get_register_func(base_class, nickname)

    def alias(*names: str) -> Callable[[type], type]:
        def decorate(klass: type) -> type:
            for name in names:
                register(klass, name)
            return klass

        return decorate

    return alias


@decides("Initializer/dumps")
def get_create_func(base_class: type, nickname: str) -> Callable:
    """Return ``create(what, **arguments)``, which makes instances of registered classes."""
    known = _REGISTRIES.setdefault(base_class, {})

    def create(*args: Any, **kwargs: Any) -> Any:
        what, args = (args[0], args[1:]) if args else (kwargs.pop(nickname, None), ())
        if isinstance(what, base_class):
            _require_no_more(nickname, args, kwargs)
            return what
        if isinstance(what, dict):
            return create(**what)
        if not isinstance(what, str):
            raise refusal(
                "registry/name-type", f"{nickname} must be a name or a {base_class.__name__}, got"
                f" {what!r}", AssertionError,
            )
        if what.startswith(("[", "{")):
            _require_no_more(nickname, args, kwargs)
            name, arguments = _from_json(nickname, what)
            return create(name, **arguments)
        if what.lower() not in known:
            raise refusal(
                "registry/known-name", f"{what} is not registered; {did_you_mean(what, known)}{nickname} names are"
                f" {', '.join(sorted(known))}; add one with {nickname}.register", AssertionError,
            )
        return known[what.lower()](*args, **kwargs)

    return create


def _require_no_more(nickname: str, args: tuple, kwargs: dict) -> None:
    if args or kwargs:
        raise refusal(
            "registry/no-more-arguments",
            f"{nickname} is given with its arguments already; drop {args or kwargs}", AssertionError,
        )


def _from_json(nickname: str, text: str) -> tuple[str, dict[str, Any]]:
    """Name and arguments out of ``["name", {...}]`` or ``{"nickname": "name", ...}``."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = []
    if isinstance(found, dict) and isinstance(found.get(nickname), str):
        return found.pop(nickname), found
    if not isinstance(found, list) or [type(part) for part in found] != [str, dict]:
        raise refusal(
            "registry/json", f'{nickname} text must be ["name", {{"argument": value}}], got {reprlib.repr(text)}',
            ValueError,
        )
    return found[0], found[1]


__all__ = ["get_alias_func", "get_create_func", "get_register_func", "get_registry"]
