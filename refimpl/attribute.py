"""Attribute scopes: ``with mx.AttrScope(ctx_group="dev1"):`` marks the symbols made inside."""

from __future__ import annotations

import threading
from typing import Any

from .base import decides, refusal

GRAPH_KEYS = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")
"""What the graph asks of its nodes. Keywords of operators that begin so are attributes, not parameters."""
# Attributes meant for the graph, stored as ``__key__``; users may write them without the underscores.
HIDDEN_KEYS = (*GRAPH_KEYS, "profiler_scope")


@decides("Symbol/attributes")
def stored_key(key: str) -> str:
    """The spelling under which an attribute is stored.

    Raises:
        MXNetError: the key is that of an input (``weight_lr_mult``).
    """
    if key in HIDDEN_KEYS:
        return f"__{key}__"
    ending = next((ending for ending in GRAPH_KEYS if key.endswith(ending)), None)
    if ending is not None:
        raise refusal(
            "Symbol/attribute-of-input",
            f"Setting variable attributes with {key} is deprecated. Give the attribute to the variable instead:"
            f" w = Variable({ending}=...), and the variable to the operator: {key[: -len(ending) - 1] or 'weight'}=w",
        )
    return key


def _stack() -> list[AttrScope]:
    stack = getattr(AttrScope._local, "stack", None)
    if not stack:
        stack = AttrScope._local.stack = [AttrScope()]
    return stack


class _AttrScopeType(type):
    @property
    def current(cls) -> AttrScope:
        """The innermost scope of this thread; assigning replaces it."""
        return _stack()[-1]

    @current.setter
    def current(cls, scope: AttrScope) -> None:
        _stack()[-1] = scope


@decides("Symbol/attributes")
class AttrScope(metaclass=_AttrScopeType):
    """Attributes (strings) given to every symbol created inside; scopes nest, the inner one wins.

    Raises:
        ValueError: an attribute value is not a string.
    """

    _local = threading.local()

    def __init__(self, **attrs: str) -> None:
        for key, value in attrs.items():
            if not isinstance(value, str):
                raise refusal(
                    "AttrScope/strings",
                    f"Attributes need to be a string, {key}={value!r} is {type(value).__name__}",
                    ValueError,
                )
        self._attr = attrs

    def get(self, attr: dict[str, str] | None) -> dict[str, str]:
        """Merge the scope's attributes with ``attr``, which wins."""
        return {**self._attr, **(attr or {})}

    def __enter__(self) -> AttrScope:
        outer = AttrScope.current
        merged = AttrScope()
        merged._attr = {**outer._attr, **self._attr}
        _stack().append(merged)
        return self

    def __exit__(self, *_: Any) -> None:
        AttrScope._local.stack.pop()
