"""A public callable with more than three arguments says what each of them is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import refimpl as mx

MANY = 4
_OURS = mx.__name__


def _explanation(owner: type | None, function: FunctionType) -> str:
    """The docstring of a function; for a method those of the methods that it overrides too, and a class for itself."""
    texts = [function.__doc__]
    if owner is not None:
        texts += [vars(each)[function.__name__].__doc__ for each in owner.__mro__ if function.__name__ in vars(each)]
        if function.__name__ == "__init__":
            texts += [each.__doc__ for each in owner.__mro__ if each.__module__.startswith(_OURS)]
    return "\n".join(text for text in texts if text)


def unexplained(function: FunctionType, owner: type | None = None) -> list[str]:
    """Arguments that the explanation of a callable with many of them does not name."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    given = [
        name for number, (name, each) in enumerate(inspect.signature(function).parameters.items())
        if each.kind not in kinds and not name.startswith("_") and not (owner is not None and number == 0)
    ]
    text = _explanation(owner, function)
    missing = [name for name in given if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    return missing if len(given) >= MANY else []


def _functions(name: str, thing: Any) -> Iterator[tuple[str, type | None, FunctionType]]:
    """What can be called of a function or a class of ours."""
    if not getattr(thing, "__module__", "").startswith(_OURS):
        return
    if isinstance(thing, FunctionType):
        yield name, None, thing
    elif isinstance(thing, type):
        for own, value in vars(thing).items():
            inner = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            if isinstance(inner, FunctionType) and (own == "__init__" or not own.startswith("_")):
                yield f"{name}.{own}", None if isinstance(value, staticmethod) else thing, inner


def _public() -> dict[Callable[..., Any], tuple[str, type | None]]:
    """Every function and method that is reached from ``refimpl`` by public names, under its shortest name."""
    found: dict[Any, tuple[str, type | None]] = {}
    seen: set[int] = set()

    def walk(prefix: str, module: ModuleType) -> None:
        if id(module) in seen or not module.__name__.startswith(_OURS) or ".kernels" in module.__name__:
            return
        seen.add(id(module))
        names = getattr(module, "__all__", None) or [each for each in vars(module) if not each.startswith("_")]
        for name in names:
            value = vars(module).get(name)
            if isinstance(value, ModuleType):
                walk(f"{prefix}.{name}", value)
            else:
                for path, owner, function in _functions(f"{prefix}.{name}", value):
                    found.setdefault(function, (path, owner))

    walk("mx", mx)
    return found


def test_an_argument_without_explanation_is_noticed() -> None:
    def explained_in_part(a: int, b: int, c: int, d: int) -> None:
        """``a`` and b, with c."""

    def short(a: int, b: int) -> None: ...

    assert unexplained(explained_in_part) == ["d"]
    assert unexplained(short) == []


def test_public_callables_explain_their_arguments() -> None:
    public = _public()
    assert len(public) > 500
    wrong = [
        f"{path} does not explain {', '.join(missing)}"
        for function, (path, owner) in public.items() if (missing := unexplained(function, owner))
    ]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)
