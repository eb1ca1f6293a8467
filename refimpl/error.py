"""mx.error: the error types, and names for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import MXNetError

_TYPES: dict[str, type] = {"MXNetError": MXNetError}


def register(func_name: Any = None, cls: type | None = None) -> Any:
    """Register an error type under a name: ``register("Name", cls)``, or ``@register`` on a class.

    In MXNet errors of the native side come as text and are raised as the type of that name. Here nothing
    crosses such a border; :func:`error_type` tells what was registered.
    """

    def register_class(klass: type) -> type:
        _TYPES[name or klass.__name__] = klass
        return klass

    name = func_name if isinstance(func_name, str) else None
    if cls is not None:
        return register_class(cls)
    if isinstance(func_name, type):
        return register_class(func_name)
    decorator: Callable[[type], type] = register_class
    return decorator


register_error = register


def error_type(name: str) -> type:
    """The type registered under ``name``, MXNetError for any other name."""
    return _TYPES.get(name, MXNetError)


@register
class InternalError(MXNetError):
    """Something is broken inside the machine; nothing that a caller gave explains it."""


for _error in (ValueError, TypeError, AttributeError, IndexError, NotImplementedError):
    register(_error)

__all__ = ["InternalError", "MXNetError", "error_type", "register", "register_error"]
