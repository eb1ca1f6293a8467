"""An operator call as a node: its attributes, its automatic name, and variables for missing inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..attribute import GRAPH_KEYS, AttrScope, stored_key
from ..base import decides, refusal
from ..kernels.foundation import Op
from ..kernels.foundation.params import is_hidden_key
from ..name import NameManager
from .ir import Entry, Node, post_order

if TYPE_CHECKING:
    from .symbol import Symbol


def attribute_text(value: Any) -> str:
    """A parameter as text, as in symbol files: ``(2, 2)``, ``True``, ``0.9``, ``float32``.

    Raises:
        MXNetError: ``value`` is a whole number with too many digits to be written.
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


def checked_attributes(attr: dict[str, str] | None) -> dict[str, str]:
    """User attributes merged with the scope's, under their stored spelling."""
    merged = AttrScope.current.get(attr)
    for key, value in merged.items():
        if not isinstance(value, str):
            raise refusal(
                "Symbol/string-attributes",
                f"Set Attr only accepts string values, {key}={value!r} is {type(value).__name__}", ValueError,
            )
    return {stored_key(key): value for key, value in merged.items()}


@decides("Symbol/graph-keywords")
def graph_key(op: Op, key: str) -> str | None:
    """The attribute key of a keyword that is for the graph; None for a keyword that is the operator's parameter.

    Raises:
        MXNetError: the keyword is an attribute of an input (``weight_lr_mult``).
    """
    if key in op.params._fields or key in op.all_inputs:
        return None
    found = next((known for known in GRAPH_KEYS if key.startswith(known) or key.endswith(known)), None)
    if found is not None and key.startswith(found):
        return f"__{key}__"
    stored_key(key)  # refuses an attribute of an input
    return key if is_hidden_key(key) else None


def single_entry(symbol: Symbol, op_name: str, input_name: str) -> Entry:
    """The only output of a symbol that is used as an operator's input; refuse a symbol with several outputs."""
    if len(symbol.entries) != 1:
        raise refusal(
            "Symbol/single-input",
            f"{op_name}: input {input_name} needs a symbol with one output, {symbol} has"
            f" {len(symbol.entries)}; pick one with symbol[i]",
        )
    return symbol.entries[0]


def _attributes(
    op: Op, params: Mapping[str, Any], attr: dict[str, str] | None
) -> tuple[dict[str, str], dict[str, Any]]:
    """(attributes for the graph, parameters of the operator)."""
    own: dict[str, Any] = {}
    graph: dict[str, str] = {}
    for key, value in params.items():
        hidden = graph_key(op, key)
        if hidden is None:
            own[key] = value
        else:
            graph.setdefault(hidden, str(value))
    graph.update((graph_key(op, key) or key, value) for key, value in checked_attributes(attr).items())
    return graph, own


def _by_name(
    op: Op, names: Sequence[str], inputs: Mapping[str, Symbol] | Sequence[Symbol]
) -> Mapping[str, Symbol]:
    """The inputs by name; refuse unknown names."""
    if not isinstance(inputs, Mapping):
        if len(inputs) > len(names):
            raise refusal(
                "Symbol/input-count", f"{op.name} takes {len(names)} inputs, got {len(inputs)}"
            )
        return dict(zip(names, inputs, strict=False))
    unknown = [key for key in inputs if key not in names]
    if unknown:
        raise refusal(
            "Symbol/input-name",
            f"{op.name} has no input named {unknown[0]!r} with these parameters; its inputs are {', '.join(names)}",
        )
    return inputs


def call(
    op: Op, called: str, inputs: Mapping[str, Symbol] | Sequence[Symbol], params: Mapping[str, Any],
    name: str | None = None, attr: dict[str, str] | None = None,
) -> list[Entry]:
    """Apply an operator; returns the visible outputs of its node. Missing inputs become variables ``<name>_<input>``.

    Args:
        op: the operator.
        called: the name by which the user called the operator; automatic names begin with it.
        inputs: symbols of one output each, by the name of the input or in order.
        params: the operator's parameters and keywords for the graph; their text becomes attributes of the node.
        name: the node's name; None for an automatic name.
        attr: attributes of the user, merged with the attributes of the scope (``mx.AttrScope``). They override
            keywords for the graph.

    Raises:
        MXNetError: a parameter is refused, or an input does not exist or has several outputs.
    """
    graph, own = _attributes(op, params, attr)
    # the hint is the name that the user called; MXNet names the nodes of Concat and concat "concat0"
    node_name = NameManager.current.get(name, called.lower())
    attrs = {**graph, **{key: attribute_text(value) for key, value in own.items()}}
    if op.variadic and op.variadic not in attrs:
        attrs[op.variadic] = str(len(inputs))
    node = Node(op, node_name, attrs)
    names = op.input_names(node.params)
    given = _by_name(op, names, inputs)
    for input_name in names:
        if input_name in given:
            node.inputs.append(single_entry(given[input_name], op.name, input_name))
            continue
        automatic = {key: value for key, value in attrs.items() if key != op.variadic}
        if input_name in op.initial_attrs:
            automatic["__init__"] = op.initial_attrs[input_name]
        node.inputs.append(Entry(Node(None, f"{node_name}_{input_name}", automatic), 0))
    return [Entry(node, i) for i in range(node.visible_count())]


def replace_variables(entries: Sequence[Entry], named: Mapping[str, Symbol]) -> None:
    """In the graph of ``entries``, replace the variables of these names by other symbols.

    Raises:
        MXNetError: no variable has a name, or a symbol has several outputs.
    """
    order = post_order(entries)
    names = [node.name for node in order if node.is_variable]
    for key, symbol in named.items():
        if key not in names:
            raise refusal("Symbol/compose-name", f"Cannot find variable {key!r} to replace; there are {names}")
        if len(symbol.entries) != 1:
            raise refusal(
                "Symbol/single-input", f"{key} needs a symbol with one output, {symbol} has {len(symbol.entries)}"
            )
    for node in order:
        node.inputs = [
            named[e.node.name].entries[0] if e.node.is_variable and e.node.name in named else e for e in node.inputs
        ]


def split_parameters(indices_or_sections: Any, axis: int, squeeze_axis: bool) -> dict[str, Any]:
    """The parameters of the operator ``_split_v2``, from the arguments of MXNet's function ``split_v2``.

    Raises:
        ValueError: ``indices_or_sections`` is neither a number nor a tuple of numbers.
    """
    if isinstance(indices_or_sections, int):
        cut: dict[str, Any] = {"indices": [], "sections": indices_or_sections}
    elif isinstance(indices_or_sections, (tuple, list)):
        cut = {"indices": [0, *indices_or_sections], "sections": 0}
    else:
        raise refusal(
            "Symbol/split-where",
            f"indices_or_sections must either int or tuple of ints, got {indices_or_sections!r}", ValueError,
        )
    return {"axis": axis, "squeeze_axis": squeeze_axis, **cut}


__all__ = ["attribute_text", "call", "checked_attributes", "replace_variables", "split_parameters"]
