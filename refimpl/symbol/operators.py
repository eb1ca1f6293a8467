"""Making symbols: variables, and every page of ``kernels/`` as a function ``mx.sym.X(..., name=None)``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from ..base import DTYPE_FLAGS, NotImplementedForSymbol, decides, dtype_of, refusal
from ..kernels.foundation import Op, keeps
from ..op_registry import methods
from ..op_registry.function import OperatorFunction
from . import calls
from .calls import checked_attributes, graph_key
from .ir import Entry, Node
from .symbol import Symbol

ARRAY_ONLY = ("as_in_context", "asnumpy", "asscalar", "backward", "copy", "detach", "wait_to_read")
"""Methods of arrays that symbols have only to raise an error, as in MXNet."""

STORAGE_FLAGS = {"default": 0, "row_sparse": 1, "csr": 2}
"""Storage type -> its number in MXNet."""


def variable(
    name: str, attr: dict[str, str] | None = None, shape: Any = None, lr_mult: float | None = None,
    wd_mult: float | None = None, dtype: Any = None, init: Any = None, stype: Any = None,
    profiler_scope: str | None = None, **kwargs: str,
) -> Symbol:
    """Create a variable: an input of the graph that gets a value at bind.

    Args:
        name: the variable's name.
        attr: attributes, merged with the attributes of the scope (``mx.AttrScope``).
        shape: the shape, which may have unknown dimensions; None if unknown.
        lr_mult: factor on the optimizer's learning rate.
        wd_mult: factor on the optimizer's weight decay.
        dtype: the dtype; None if unknown.
        init: the initializer of this variable, which overrides the module's.
        stype: the storage: "default", "row_sparse" or "csr".
        profiler_scope: the scope under which the profiler counts the variable's memory.
        **kwargs: further attributes; their names begin and end with two underscores.

    Raises:
        TypeError: ``name`` is not a string.
        ValueError: an unknown keyword, or a value that is not a string.
    """
    if not isinstance(name, str):
        raise refusal("Symbol/variable-name", "Expect a string for variable `name`", TypeError)
    attrs = checked_attributes(attr)
    if shape is not None:
        attrs["__shape__"] = str(tuple(shape) if not isinstance(shape, int) else (shape,))
    if lr_mult is not None:
        attrs["__lr_mult__"] = str(lr_mult)
    if wd_mult is not None:
        attrs["__wd_mult__"] = str(wd_mult)
    if dtype is not None:
        attrs["__dtype__"] = str(DTYPE_FLAGS[dtype_of(dtype).name])
    if init is not None:
        attrs["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        attrs["__storage_type__"] = str(STORAGE_FLAGS.get(stype, stype))
    if profiler_scope is not None:
        attrs["__profiler_scope__"] = profiler_scope
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise refusal(
                "Symbol/variable-keyword",
                f"Attribute name={key} is not supported. Additional attributes must start and end with"
                " double underscores, e.g, __yourattr__", ValueError,
            )
        attrs[key] = str(value)
    return Symbol([Entry(Node(None, name, attrs), 0)])


def call(
    op: Op, called: str, inputs: Mapping[str, Symbol] | Sequence[Symbol], params: Mapping[str, Any],
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """:func:`calls.call`, which explains the arguments, with a symbol of the outputs as result."""
    return Symbol(calls.call(op, called, inputs, params, name, attr))


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
