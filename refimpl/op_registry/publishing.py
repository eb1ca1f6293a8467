"""Making each operator a function of a namespace: what ``mx.nd`` and ``mx.sym`` have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..kernels.foundation import REGISTRY, Op
from . import known as known_operators


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


ROOMS = ("contrib", "image", "linalg")
"""``_linalg_gemm`` is ``linalg.gemm``: rooms whose operators bear their name."""


def furnish(package: str, namespace: dict[str, Any], make: Callable[[Op, str], Callable]) -> None:
    """Put operators whose names begin with a room's into that room of ``package``, unless it has the name already.

    A room that ``namespace`` does not hold yet is made. Like the package itself, it also has functions for the
    operators of MXNet 1.9.1 that are not here.
    """
    for room in ROOMS:
        prefix = f"_{room}_"
        if room not in namespace:
            namespace[room] = ModuleType(f"{package}.{room}", f"Operators whose internal names begin with {prefix}.")
            sys.modules[f"{package}.{room}"] = namespace[room]
        module = namespace[room]
        for name, op in REGISTRY.items():
            if name.startswith(prefix):
                short = name.removeprefix(prefix)
                vars(module).setdefault(short, make(op, short))
        module.__getattr__ = known_operators.attributes(module.__name__, prefix)
