"""Making symbols: variables, operator calls, automatic names and automatic inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..attribute import AttrScope, stored_key
from ..base import DTYPE_FLAGS, dtype_of, refusal
from ..kernels.foundation import Op
from ..name import NameManager
from .ir import Entry, Node

if TYPE_CHECKING:
    from .symbol import Symbol

STORAGE_FLAGS = {"default": 0, "row_sparse": 1, "csr": 2}
"""MXNet's numbers of the kinds of storage."""


def attribute_text(value: Any) -> str:
    """A parameter as files hold it: ``(2, 2)``, ``True``, ``0.9``, ``float32``.

    Raises:
        MXNetError: it is a whole number with too many digits to be written.
    """
    if isinstance(value, (type, np.dtype)):
        return np.dtype(value).name
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list):
        value = tuple(value)
    if isinstance(value, tuple):
        value = tuple(v.item() if isinstance(v, np.generic) else v for v in value)
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return str(value)
    except ValueError as error:  # Python's limit, of some thousand digits
        raise refusal("params/bad-value", f"a parameter cannot be written: {error}") from None


def _checked_attributes(attr: dict[str, str] | None) -> dict[str, str]:
    """User attributes merged with the scope's, under their stored spelling."""
    merged = AttrScope.current.get(attr)
    for key, value in merged.items():
        if not isinstance(value, str):
            raise refusal(
                "Symbol/string-attributes",
                f"Set Attr only accepts string values, {key}={value!r} is {type(value).__name__}", ValueError,
            )
    return {stored_key(key): value for key, value in merged.items()}


def variable(
    name: str, attr: dict[str, str] | None = None, shape: Any = None, lr_mult: float | None = None,
    wd_mult: float | None = None, dtype: Any = None, init: Any = None, stype: Any = None,
    profiler_scope: str | None = None, **kwargs: str,
) -> Symbol:
    """Create a variable: an input of the graph that is given a value at bind.

    ``shape`` and ``dtype`` take part in inference; ``lr_mult``, ``wd_mult`` and ``init`` are read by
    optimizers and initializers. Further keywords must look like ``__this__``.

    Raises:
        TypeError: ``name`` is not a string.
        ValueError: an unknown keyword, or a value that is not a string.
    """
    from .symbol import Symbol

    if not isinstance(name, str):
        raise refusal("Symbol/variable-name", "Expect a string for variable `name`", TypeError)
    attrs = _checked_attributes(attr)
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


def single_entry(symbol: Symbol, op_name: str, input_name: str) -> Entry:
    """The one output of a symbol that is used as an operator's input."""
    if len(symbol.entries) != 1:
        raise refusal(
            "Symbol/single-input",
            f"{op_name}: input {input_name} needs a symbol with one output, {symbol} has"
            f" {len(symbol.entries)}; pick one with symbol[i]",
        )
    return symbol.entries[0]


def call(
    op: Op, called: str, inputs: dict[str, Any] | list[Any], params: dict[str, Any],
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply an operator to symbols; inputs that are missing become variables ``<name>_<input>``.

    Raises:
        MXNetError: a parameter is refused, or an input does not exist or has several outputs.
    """
    from .symbol import Symbol

    scope = _checked_attributes(attr)
    # the hint is the name the user called; MXNet spells both Concat and concat "concat0"
    node_name = NameManager.current.get(name, called.lower())
    attrs = {**scope, **{key: attribute_text(value) for key, value in params.items()}}
    if op.variadic and op.variadic not in attrs:
        attrs[op.variadic] = str(len(inputs))
    node = Node(op, node_name, attrs)
    names = op.input_names(node.params)
    if isinstance(inputs, list):
        if len(inputs) > len(names):
            raise refusal(
                "Symbol/input-count", f"{op.name} takes {len(names)} inputs, got {len(inputs)}"
            )
        inputs = dict(zip(names, inputs, strict=False))
    unknown = [key for key in inputs if key not in names]
    if unknown:
        raise refusal(
            "Symbol/input-name",
            f"{op.name} has no input named {unknown[0]!r} with these parameters; its inputs are {', '.join(names)}",
        )
    for input_name in names:
        if input_name in inputs:
            node.inputs.append(single_entry(inputs[input_name], op.name, input_name))
            continue
        automatic = {key: value for key, value in attrs.items() if key != op.variadic}
        if input_name in op.initial_attrs:
            automatic["__init__"] = op.initial_attrs[input_name]
        node.inputs.append(Entry(Node(None, f"{node_name}_{input_name}", automatic), 0))
    return Symbol([Entry(node, i) for i in range(node.visible_count())])
