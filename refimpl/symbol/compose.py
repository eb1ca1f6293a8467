"""Making symbols: variables, and operators applied to symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..base import DTYPE_FLAGS, dtype_of, refusal
from ..kernels.foundation import Op
from . import calls
from .calls import checked_attributes
from .ir import Entry, Node
from .symbol import Symbol

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


__all__ = ["STORAGE_FLAGS", "call", "variable"]
