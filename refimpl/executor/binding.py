"""Binding: the arrays and gradient requirements of an executor, given by the caller or allocated here."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ..base import MXNetError, decides, dtype_of, printable, refusal
from ..context import Context
from ..kernels.foundation import collector_pause as collection
from ..kernels.foundation import known
from ..ndarray import NDArray, zeros
from ..ndarray.creation import zeros_of
from ..ndarray.tape import REQUIREMENTS, require_known
from ..symbol import devices, inference, storage
from ..symbol.graph import Facts
from ..symbol.inferred_lists import require_sides
from ..symbol.ir import Node, variables
from ..symbol.symbol import Symbol
from .executor import Executor


@dataclass
class Bound:
    """Arrays and requirements in the order of the symbol's arguments and auxiliary states."""

    arguments: list[NDArray]
    gradients: list[NDArray | None]
    auxiliary: list[NDArray]
    requirements: list[str]
    places: Mapping[str, Context] | None = None
    """The context of each group of nodes, by the name in their attribute ``ctx_group``."""
    inferred: tuple[Facts, Facts] | None = None
    """Shapes and dtypes of all values of the symbol, where they are already inferred."""
    order: list[Node] | None = None
    """All nodes of the symbol, inputs first, where they are already listed."""
    has_gradients: bool = True
    """Whether the caller gave gradient arrays or asked for them; if not, ``grad_arrays`` of the executor is None."""


def resolve_requirements(grad_req: Any, names: list[str]) -> list[str]:
    """The requirement of each argument, from a string, a list or a dict (arguments not in the dict get 'null').

    Raises:
        ValueError: a string is none of write, add and null, or a list has the wrong length.
        KeyError: a value in a list or dict is none of write, add and null.
        TypeError: ``grad_req`` has another type.
    """
    if isinstance(grad_req, str):
        if grad_req not in REQUIREMENTS:
            raise refusal(
                "Executor/grad-req", f"grad_req must be in {sorted(REQUIREMENTS)}, got {grad_req!r}", ValueError
            )
        return [grad_req] * len(names)
    if isinstance(grad_req, (list, tuple)):
        if len(grad_req) != len(names):
            raise refusal(
                "Executor/grad-req-length",
                f"grad_req has {len(grad_req)} entries for {len(names)} arguments {names}", ValueError,
            )
        found = list(grad_req)
    elif isinstance(grad_req, dict):
        found = [grad_req.get(name, "null") for name in names]
    elif grad_req is None:
        return ["null"] * len(names)
    else:
        raise refusal(
            "Executor/grad-req-type", f"grad_req must be a string, list or dict, got {type(grad_req)}", TypeError
        )
    require_known("Executor/grad-req", found)
    return found


@decides("Executor/aliases")
def bind(
    symbol: Symbol, ctx: Context, args: Any, args_grad: Any, grad_req: Any, aux_states: Any,
    group2ctx: Any, shared_exec: Executor | None,
) -> Executor:
    """``Symbol.bind`` of ``symbol``: check the caller's arguments, then make the executor.

    ``Symbol.bind`` explains ``ctx``, ``args``, ``args_grad``, ``grad_req``, ``aux_states``, ``group2ctx`` and
    ``shared_exec``.

    Raises:
        TypeError: ``ctx`` is not a Context, or an array is not an NDArray.
        ValueError: an argument is missing, or a list has the wrong length.
        KeyError: a list or dict holds a requirement that is none of write, add and null.
        MXNetError: shapes or dtypes contradict each other, a gradient array has another shape or dtype than its
            argument, or an array is on another context.
    """
    if not isinstance(ctx, Context):
        raise refusal("Executor/context", "Context type error", TypeError)
    order = symbol.order()
    names, states = ([node.name for node in nodes] for nodes in variables(order))
    arguments = _listed("args", args, names, missing=False)
    gradients = [None] * len(names) if args_grad is None else _listed("args_grad", args_grad, names, missing=True)
    auxiliary = _listed("aux_states", aux_states or [], states, missing=False)
    requirements = resolve_requirements(grad_req, names)
    if not group2ctx:
        _require_context(ctx, [*names, *names, *states], [*arguments, *gradients, *auxiliary])
    _require_alike(names, arguments, gradients, requirements)
    bound = Bound(
        arguments, gradients, auxiliary, requirements, group2ctx, order=order, has_gradients=args_grad is not None
    )
    return Executor(symbol, ctx, bound, shared_exec)


def _require_context(ctx: Context, names: list[str], arrays: list[NDArray | None]) -> None:
    for name, array in zip(names, arrays, strict=True):
        if array is not None and array.context != ctx:
            raise refusal(
                "Executor/one-context",
                f"an array of {name} is in {array.context} while binding with ctx={ctx};"
                " give array.as_in_context(ctx)",
            )


def _require_alike(
    names: list[str], arguments: list[NDArray], gradients: list[NDArray | None], requirements: list[str]
) -> None:
    """Refuse a gradient array that differs from its argument: a backward step does not check the size of its output."""
    for name, argument, gradient, req in zip(names, arguments, gradients, requirements, strict=True):
        if gradient is None or req == "null":
            continue
        if (gradient.shape, gradient.dtype) != (argument.shape, argument.dtype):
            raise refusal(
                "Executor/gradient-alike",
                f"the gradient array of {name} is {np.dtype(gradient.dtype)} {gradient.shape}, the argument"
                f" {np.dtype(argument.dtype)} {argument.shape}",
            )
        if gradient.context != argument.context:
            raise refusal(
                "Executor/gradient-context",
                f"Trying to save the gradient of {name} to {gradient.context} while the argument is in"
                f" {argument.context}; give array.as_in_context({argument.context})",
            )


def _listed(what: str, given: Any, names: list[str], missing: bool) -> list[Any]:
    """The arrays in the order of ``names``, from a list, a dict, or one array, which counts as a list of one.

    ``missing`` allows None.
    """
    if isinstance(given, dict):
        absent = [name for name in names if name not in given]
        if absent and not missing:
            raise refusal("Executor/bind-missing", f"key `{absent[0]}` is missing in `{what}`", ValueError)
        arrays = [given.get(name) for name in names]
    else:
        arrays = list(given) if isinstance(given, (list, tuple)) else [given]
        if len(arrays) != len(names) and isinstance(given, (list, tuple, NDArray)):
            raise refusal(
                "Executor/bind-length",
                f"Length of {what} does not match the number of arguments: {len(arrays)} for {names}", ValueError,
            )
    if any(not isinstance(a, NDArray) and not (missing and a is None) for a in arrays):
        raise refusal(
            "Executor/bind-type", "Only accept list of NDArrays or dict of str to NDArray", TypeError
        )
    return arrays


def _listed_kind(stype: str, shape: tuple[int, ...], dtype: np.dtype, ctx: Context) -> str:
    return f"{dtype} {shape} in {ctx}{'' if stype == 'default' else f' ({stype})'}"


class _Allocator:
    """Makes the arrays of ``simple_bind``, or takes them from ``shared_exec`` or ``shared_buffer`` where asked."""

    def __init__(
        self, shared_names: list[str], shared_exec: Executor | None, shared_buffer: dict[str, NDArray] | None
    ) -> None:
        self.shared_names, self.buffer = shared_names, shared_buffer
        self.arguments = shared_exec.arg_dict if shared_exec is not None else {}
        self.gradients = shared_exec.grad_dict if shared_exec is not None else {}
        self.auxiliary = shared_exec.aux_dict if shared_exec is not None else {}

    def _from_executor(
        self, owned: dict[str, Any], name: str, shape: tuple[int, ...], dtype: np.dtype, ctx: Context, stype: str
    ) -> NDArray | None:
        found = owned.get(name)
        if found is None:
            return None
        like, wanted = (found.stype, found.shape, np.dtype(found.dtype), found.context), (stype, shape, dtype, ctx)
        if like == wanted:
            return found
        if self.buffer is not None:
            raise refusal(
                "binding/shared-alike",
                f"{name} is shared with an executor that has {_listed_kind(*like)}, {_listed_kind(*wanted)} is needed;"
                " leave it out of shared_arg_names, or bind without shared_exec",
            )
        return None

    @decides("binding/shared-buffer")
    def _from_buffer(self, name: str, shape: tuple[int, ...], dtype: np.dtype, ctx: Context) -> NDArray:
        """[binding/shared-buffer] The front of a remembered array that is large enough, else a new one."""
        assert self.buffer is not None
        found = self.buffer.get(name)
        if found is not None and found.size >= prod(shape) and found.context == ctx:
            if np.dtype(found.dtype) != dtype:
                raise refusal(
                    "binding/shared-type", f"shared array {name} holds {found.dtype}, {dtype} is needed"
                )
            return found._shared(shape, 0)
        if found is not None and found.size < prod(shape):
            warnings.warn(
                f"bucketing: data {printable(name)} has a shape {shape}, which is larger than the shared {found.shape};"
                " bind the largest bucket first to save memory", stacklevel=2,
            )
        made = self.buffer[name] = zeros(shape, ctx, dtype)
        return made

    def make(
        self, role: str, name: str, shape: tuple[int, ...], dtype: np.dtype, ctx: Context, stype: str = "default"
    ) -> NDArray:
        """An array for an argument ("arg"), its gradient ("grad") or an auxiliary state ("aux")."""
        owners: dict[str, Any] = {"arg": self.arguments, "grad": self.gradients, "aux": self.auxiliary}
        owned = owners[role]
        if role == "aux" or name in self.shared_names:
            found = self._from_executor(owned, name, shape, dtype, ctx, stype)
            if found is not None:
                return found
        elif self.buffer is not None and stype == "default":
            return self._from_buffer(name if role == "arg" else f"grad of {name}", shape, dtype, ctx)
        return zeros_of(shape, ctx, dtype) if stype == "default" else zeros(shape, ctx, dtype, stype=stype)


def _infer(order: list[Node], type_dict: dict[str, Any], shapes: dict[str, Any]) -> tuple[Facts, Facts]:
    """Shapes and dtypes of all values; a dtype that cannot be inferred is float32."""
    values = inference.numbered(order)
    told = {k: inference.read_shape(v) for k, v in shapes.items() if isinstance(v, tuple)}
    found = inference.shapes(order, told, values=values)
    types = inference.types(order, type_dict, np.dtype(np.float32), values=values)
    unknown = [n.name for n in order if n.is_variable and not known(found[id(n), 0])]
    if unknown:
        raise refusal(
            "binding/known-shapes", f"the shapes of {unknown} cannot be inferred from {shapes}", RuntimeError
        )
    return found, types


def _resolve(
    symbol: Symbol, order: list[Node], inferred: tuple[Facts, Facts], stype_dict: Any, ctx: Context, places: Any
) -> tuple[list, list, list[str]]:
    """Two lists of (name, shape, dtype, context, storage), of arguments and auxiliary states; storages of gradients."""
    contexts = devices.contexts(order, ctx, places)
    found, types = inferred
    arguments, auxiliary = variables(order)
    stypes = storage.declared([*arguments, *auxiliary], stype_dict)
    specs = [
        [(n.name, found[id(n), 0], np.dtype(types[id(n), 0]), contexts[id(n)], stypes[id(n)]) for n in nodes]
        for nodes in (arguments, auxiliary)
    ]
    if storage.is_dense(order, stypes):
        return specs[0], specs[1], ["default"] * len(arguments)
    gradients = storage.GradientStorage(order, symbol.entries, storage.values(order, stypes, found, types).stypes)
    return specs[0], specs[1], [gradients.stype((id(n), 0)) for n in arguments]


@decides("binding/types", "binding/failures")
def simple_bind(
    symbol: Symbol, ctx: Context, grad_req: Any, type_dict: dict[str, Any] | None, stype_dict: Any,
    group2ctx: Any, shared_arg_names: list[str] | None, shared_exec: Executor | None,
    shared_buffer: dict[str, NDArray] | None, shapes: dict[str, Any],
) -> Executor:
    """``Symbol.simple_bind``, which explains the arguments: allocate zeros for all arrays and bind.

    Raises:
        RuntimeError: inference fails, there is no memory, or a requirement is unknown or empty; the message begins
            "simple_bind error. Arguments:".
        AttributeError: ``ctx`` is not a Context.
        TypeError: a dimension of a shape is not a whole number.
        ValueError: ``shared_buffer`` is not a dict or ``shared_arg_names`` not a list.
    """
    _check_arguments(ctx, grad_req, shared_arg_names, shared_buffer, shapes)
    order = symbol.order()
    given_types = {k: dtype_of(v) for k, v in (type_dict or {}).items()}
    try:
        requirements = resolve_requirements(grad_req, [node.name for node in variables(order)[0]])
        with collection.paused():
            inferred = _infer(order, given_types, shapes)
            arguments, auxiliary, sparse = _resolve(symbol, order, inferred, stype_dict, ctx, group2ctx)
            allocator = _Allocator(shared_arg_names or [], shared_exec, shared_buffer)
            made = [allocator.make("arg", *spec) for spec in arguments]
            gradients = [
                None if req == "null" else allocator.make("grad", name, shape, dtype, place, stype)
                for (name, shape, dtype, place, _), req, stype in zip(arguments, requirements, sparse, strict=True)
            ]
            states = [allocator.make("aux", *spec) for spec in auxiliary]
            bound = Bound(made, gradients, states, requirements, group2ctx, inferred, order)
            return Executor(symbol, ctx, bound, shared_exec)
    except (MXNetError, ValueError, RuntimeError, KeyError) as error:
        raise _with_arguments(error, shapes) from error.__cause__


def _check_arguments(
    ctx: Any, grad_req: Any, shared_arg_names: Any, shared_buffer: Any, shapes: dict[str, Any]
) -> None:
    """Refuse arguments of :func:`simple_bind` that are wrong for every symbol."""
    if shared_buffer is not None and not isinstance(shared_buffer, dict):
        raise refusal("binding/shared-buffer-type", "shared_buffer must be dict or None", ValueError)
    if shared_arg_names is not None and not isinstance(shared_arg_names, list):
        raise refusal("binding/shared-names-type", "shared_arg_names must be list or None", ValueError)
    if grad_req is not None and not isinstance(grad_req, str) and not grad_req:
        raise refusal("binding/empty-grad-req", "grad_req must not be empty", RuntimeError)
    if not isinstance(ctx, Context):
        raise refusal(
            "binding/context", f"ctx must be a Context such as mx.cpu(0), got {ctx!r}", AttributeError
        )
    for name, shape in shapes.items():
        if isinstance(shape, (tuple, list)):
            require_sides(name, shape)


@decides("binding/failures")
def _with_arguments(error: Exception, shapes: dict[str, Any]) -> RuntimeError:
    """MXNet's error of simple_bind: the shapes given, then the message of ``error``."""
    listed = "\n".join(f"{name}: {shape}" for name, shape in shapes.items())
    told = error.args[0] if isinstance(error, KeyError) else error  # str() of a KeyError is in quotes
    raised = RuntimeError(printable(f"simple_bind error. Arguments:\n{listed}\n{told}"))
    raised.clause = getattr(error, "clause", None)  # type: ignore[attr-defined]  # of a refusal
    return raised


__all__ = ["REQUIREMENTS", "Bound", "bind", "resolve_requirements", "simple_bind"]
