"""Making each operator a function of a namespace: what ``mx.nd`` and ``mx.sym`` have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import known_operators
from .kernels.foundation import REGISTRY, Op


def publish(
    package: str, namespace: dict[str, Any], make: Callable[[Op, str], Callable]
) -> tuple[ModuleType, ModuleType]:
    """Put ``make(op, name)`` for every operator and alias into modules ``_internal`` and ``op`` of ``package``.

    Names that begin with an underscore go to ``_internal``, all others to ``op`` and into ``namespace``,
    unless it has the name already. Returns the two modules. Operators of MXNet 1.9.1 that are not here can be
    asked for in all three, and say so when they are called.
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
    namespace["__getattr__"] = known_operators.attributes(package)
    for module in (internal, public):
        own = known_operators.attributes(module.__name__, internal=module is internal)
        module.__getattr__ = own  # type: ignore[method-assign]  # PEP 562
        sys.modules[module.__name__] = module
    return internal, public
