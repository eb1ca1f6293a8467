"""Making each operator a function of a namespace: what ``mx.nd`` and ``mx.sym`` have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .kernels.foundation import REGISTRY, Op


def publish(
    package: str, namespace: dict[str, Any], make: Callable[[Op, str], Callable]
) -> tuple[ModuleType, ModuleType]:
    """Put ``make(op, name)`` for every operator and alias into modules ``_internal`` and ``op`` of ``package``.

    Names that begin with an underscore go to ``_internal``, all others to ``op`` and into ``namespace``,
    unless it has the name already. Returns the two modules.
    """
    internal = ModuleType(f"{package}._internal", "Operators under their internal names.")
    public = ModuleType(f"{package}.op", "Every public operator.")
    for name, op in REGISTRY.items():
        function = make(op, name)
        if name.startswith("_"):
            setattr(internal, name, function)
        else:
            setattr(public, name, function)
            namespace.setdefault(name, function)
    for module in (internal, public):
        sys.modules[module.__name__] = module
    return internal, public
