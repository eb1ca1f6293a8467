"""Operators on symbols: every page of ``kernels/`` as a function ``mx.sym.X(..., name=None)``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from ..base import NotImplementedForSymbol, decides, refusal
from ..kernels.foundation import Op, keeps
from ..op_registry import methods
from ..op_registry.function import OperatorFunction
from .calls import graph_key
from .compose import call
from .symbol import Symbol

ARRAY_ONLY = ("as_in_context", "asnumpy", "asscalar", "backward", "copy", "detach", "wait_to_read")
"""Methods of arrays that symbols have only to raise an error, as in MXNet."""


def _given(op: Op, key: str, value: Any) -> bool:
    """Whether ``key=value`` is kept: None leaves a parameter out, but is kept, as text, as a graph attribute."""
    return keeps(op.params, key, value) or graph_key(op, key) is not None


@decides("Symbol/ignored-arguments")
def _split_arguments(op: Op, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a call as (inputs by name or as a list, attributes)."""
    if op.variadic:
        return _split_variadic(op, args, kwargs)
    inputs: dict[str, Symbol] = {}
    attrs: dict[str, Any] = {}
    names = [*op.all_inputs, *op.params._fields]
    if len(args) > len(names):
        raise refusal("Symbol/arguments", f"{op.name} takes at most {len(names)} arguments", TypeError)
    for key, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if not _given(op, key, value):
            continue
        if isinstance(value, Symbol) and not op.all_inputs and key not in op.params._fields:
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


def _split_variadic(op: Op, args: tuple, kwargs: dict[str, Any]) -> tuple[list[Symbol], dict[str, Any]]:
    given = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    named = {k: v for k, v in kwargs.items() if isinstance(v, Symbol)}
    rest = {k: v for k, v in kwargs.items() if k not in named and _given(op, k, v)}
    for value in given:
        if not isinstance(value, Symbol):
            raise refusal(
                "Symbol/input-type", f"{op.name}: inputs must be Symbols, got {type(value)}", AssertionError
            )
    return [*given, *named.values()], rest


class SymbolFunction(OperatorFunction):
    """An operator as a function on symbols."""

    value = "Symbol"

    def __call__(
        self, *args: Any, name: str | None = None, attr: Any = None, out: Any = None, **kwargs: Any
    ) -> Symbol:
        """Make a node of the operator; ``out`` is ignored."""
        inputs, params = _split_arguments(self.op, args, kwargs)
        return call(self.op, self.__name__, inputs, params, name, attr)


def make_function(op: Op, name: str) -> Callable:
    """The public function of an operator under one of its names."""
    return SymbolFunction(op, name)


class _Reshape(SymbolFunction):
    """The method ``reshape``, which also takes the dimensions as separate arguments."""

    def __call__(self, *args: Any, **kwargs: Any) -> Symbol:
        """Make a node of the operator."""
        symbol, *rest = args
        if rest and all(isinstance(side, int) for side in rest):
            rest = [tuple(rest)]
        return super().__call__(symbol, *rest, **kwargs)


@decides("Symbol/in-place")
class ViewMethod(SymbolFunction):
    """The methods flatten, expand_dims and squeeze, which accept ``inplace``, like the methods of arrays."""

    def __call__(self, *args: Any, **kwargs: Any) -> Symbol:
        """Make a node of the operator."""
        symbol, *rest = args
        said, _ = methods.split_in_place(self.__name__, rest, kwargs)
        return super().__call__(symbol, **said)

    @property
    def __signature__(self) -> inspect.Signature:
        return methods.signature_in_place(super().__signature__)


def _method(op: Op, name: str) -> SymbolFunction:
    if name in methods.IN_PLACE:
        return ViewMethod(op, name)
    return (_Reshape if name == "reshape" else SymbolFunction)(op, name)


def _refusing(name: str) -> Callable[..., NoReturn]:
    """A method for symbols that only raises an error: arrays have a method of this name."""

    def method(self: Symbol, *args: Any, **_: Any) -> NoReturn:
        raise NotImplementedForSymbol(method, self, *args)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Refused: {name} is a method of arrays, and a symbol holds no values."
    return method


methods.install(Symbol, _method)
for _name in ARRAY_ONLY:
    setattr(Symbol, _name, _refusing(_name))
