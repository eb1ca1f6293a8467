"""Operators on symbols: every page of ``kernels/`` as a function ``mx.sym.X(..., name=None)``."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from ..base import refusal
from ..kernels.foundation import Op, get, keeps
from ..ndarray.operators import METHODS as _ARRAY_METHODS
from ..op_registry.function import OperatorFunction
from .compose import call
from .symbol import Symbol

METHODS = _ARRAY_METHODS | {"reshape"}

# Methods of arrays that exist on symbols only to say no, as in MXNet.
ARRAY_ONLY = frozenset(
    {"asnumpy", "asscalar", "wait_to_read", "copy", "as_in_context", "detach", "backward"}
)


def _split_arguments(op: Op, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Arguments as (inputs by name, or a list, and attributes)."""
    if op.variadic:
        given = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
        named = {k: v for k, v in kwargs.items() if isinstance(v, Symbol)}
        rest = {k: v for k, v in kwargs.items() if k not in named and keeps(op.params, k, v)}
        for value in given:
            if not isinstance(value, Symbol):
                raise refusal(
                    "Symbol/input-type", f"{op.name}: inputs must be Symbols, got {type(value)}", AssertionError
                )
        return [*given, *named.values()], rest
    inputs: dict[str, Symbol] = {}
    attrs: dict[str, Any] = {}
    names = [*op.all_inputs, *op.params._fields]
    if len(args) > len(names):
        raise refusal("Symbol/arguments", f"{op.name} takes at most {len(names)} arguments", TypeError)
    for key, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if not keeps(op.params, key, value):
            continue
        if key in inputs or key in attrs:
            raise refusal("Symbol/arguments", f"{op.name} got {key} twice", TypeError)
        if isinstance(value, Symbol):
            inputs[key] = value
        elif key in op.all_inputs and key not in op.params._fields:
            raise refusal(
                "Symbol/input-type", f"{op.name}: {key} must be a Symbol, got {type(value)}", AssertionError
            )
        else:
            attrs[key] = value
    return inputs, attrs


class SymbolFunction(OperatorFunction):
    """An operator as a function on symbols."""

    value = "Symbol"

    def __call__(self, *args: Any, name: str | None = None, attr: Any = None, **kwargs: Any) -> Symbol:
        """Make a node of the operator."""
        inputs, attrs = _split_arguments(self.op, args, kwargs)
        hidden = {k: v for k, v in attrs.items() if k.startswith("__") and k.endswith("__")}
        params = {k: v for k, v in attrs.items() if k not in hidden}
        return call(self.op, self.__name__, inputs, params, name, {**(attr or {}), **hidden} or None)


def make_function(op: Op, name: str) -> Callable:
    """The public function of an operator under one of its names."""
    return SymbolFunction(op, name)


class _Reshape(SymbolFunction):
    """The method ``reshape``, which also takes the sides one by one."""

    def __call__(self, *args: Any, **kwargs: Any) -> Symbol:
        """Make a node of the operator."""
        symbol, *rest = args
        if rest and all(isinstance(side, int) for side in rest):
            rest = [tuple(rest)]
        return super().__call__(symbol, *rest, **kwargs)


def bound_method(name: str, symbol: Symbol) -> Callable:
    """``symbol.name`` for an operator method."""
    kind = _Reshape if name == "reshape" else SymbolFunction
    return MethodType(kind(get(name), name), symbol)
