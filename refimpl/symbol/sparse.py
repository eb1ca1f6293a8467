"""mx.sym.sparse: the operators of mx.nd.sparse as functions on symbols.

A graph holds dense arrays only, so that these are the dense operators under the names of this namespace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels.foundation import REGISTRY, get
from ..ndarray.sparse import OPERATORS
from .operators import make_function


def _function(name: str) -> Callable:
    """The operator ``name`` as a function; one whose page is missing says so when it is called."""
    known = f"_sparse_{name}" if f"_sparse_{name}" in REGISTRY else name
    if known in REGISTRY:
        return make_function(REGISTRY[known], name)

    def missing(*_: Any, **__: Any) -> Any:
        get(known)  # raises: not implemented

    missing.__name__ = missing.__qualname__ = name
    return missing


for _name in OPERATORS:
    globals()[_name] = _function(_name)

__all__ = [*OPERATORS]  # noqa: PLE0604  # the operators' names
