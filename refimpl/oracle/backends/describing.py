"""Descriptions of adapters."""

from __future__ import annotations

from typing import Any, TypeVar

from ..drawing.drawn_graphs import drawable

B = TypeVar("B", bound=Any)


def described(backend: B, version: str) -> B:
    """Give a backend a version and ``describe()``; returns it.

    Args:
        backend: any backend.
        version: the library and its version.
    """
    backend.version = version
    backend.describe = lambda: description(backend.capabilities, version)
    return backend


def description(capabilities: Any, version: str) -> str:
    """The levels and operators of a backend, and the missing ones, as text."""
    own = capabilities.operators or frozenset(drawable())
    missing = sorted(set(drawable()) - own)
    levels = " and ".join([f"levels 1 to {capabilities.level}", *map(str, capabilities.others)])
    return "\n".join([
        f"{version}: {levels}, {len(own & set(drawable()))} operators",
        f"styles: {', '.join(capabilities.styles)}; types: {', '.join(capabilities.dtypes)}",
        f"supported: {', '.join(sorted(own))}", f"not supported: {', '.join(missing)}",
    ])
