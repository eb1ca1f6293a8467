"""Modules of operators, such as ``mx.nd.op`` and ``mx.sym.linalg``: their functions are made from the registry.

``submodules.py`` lists these modules. What a type checker sees in one stands in its generated stub, such as
``refimpl/ndarray/op.pyi``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels.foundation import REGISTRY, Op
from . import known

_SPARSE = "_sparse_"
"""How names begin that operators have in ``mx.nd.sparse`` and ``mx.sym.sparse``."""


def members(prefix: str = "", *, internal: bool = False) -> dict[str, Op]:
    """Name in a module -> operator, for operators and aliases whose names begin with ``prefix``.

    Without a prefix an ``internal`` module has the names that begin with an underscore, others have the rest.
    """
    if prefix:
        return {name.removeprefix(prefix): op for name, op in REGISTRY.items() if name.startswith(prefix)}
    return {name: op for name, op in REGISTRY.items() if name.startswith("_") == internal}


def fill(
    module: dict[str, Any], make: Callable[[Op, str], Callable], prefix: str = "", *, internal: bool = False
) -> list[str]:
    """Put ``make(op, name)`` for each of :func:`members` into a module's globals; returns the names.

    Names that the module defines itself stay. Operators of MXNet 1.9.1 that are not here can be asked for too: they
    are functions that say so when they are called.
    """
    found = members(prefix, internal=internal)
    for name, op in found.items():
        module.setdefault(name, make(op, name))
    module["__getattr__"] = known.attributes(module["__name__"], prefix, internal=internal)
    return list(found)


def fill_sparse(module: dict[str, Any], make: Callable[[Op, str], Callable]) -> list[str]:
    """Put the operators whose names begin with ``_sparse_`` into a module's globals; returns their names there."""
    found = {name: op for name, op in members(_SPARSE).items() if not name.startswith("_")}
    for name in sorted(found):
        module[name] = make(found[name], name)
    return sorted(found)
