"""The arguments of ``infer_shape`` and ``infer_type``, and the three lists that they return."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base import decides, integer_types, printable, refusal
from ..kernels.foundation import known
from . import inference
from .ir import Entry, Node, post_order, variables

KINDS = ("shape", "type")


def require_sides(name: str, shape: Any) -> None:
    """Require that the shape given for ``name`` is a tuple or list of whole numbers.

    Raises:
        TypeError: it is not.
    """
    if not (isinstance(shape, (tuple, list)) and all(isinstance(side, integer_types) for side in shape)):
        raise refusal("infer/shape-type", f"Arguments need to be shapes (tuple), but {name!r} is {shape!r}", TypeError)


def _given(kind: str, names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Shapes or dtypes by the name of a variable, from positional or keyword arguments."""
    if len(args) > len(names):
        raise refusal("infer/known-name", f"{len(args)} {kind}s are given for the arguments {names}")
    given = {}
    for name, value in zip(names, args, strict=False) if args else kwargs.items():
        if name not in names:
            raise refusal("infer/known-name", f"Keyword argument name {name} not found; there are {names}")
        if value is None:
            continue
        if kind == "shape":
            require_sides(name, value)
        given[name] = inference.read_shape(value) if kind == "shape" else value
    return given


def _shown_types(lists: Sequence[list], partial: bool) -> tuple:
    if any(v is None for part in lists for v in part) and not partial:
        return (None, None, None)
    return tuple([None if v is None else v.type for v in part] for part in lists)


@decides("infer/empty-sides")
def _shown_shapes(lists: Sequence[list], arguments: Sequence[Node], partial: bool) -> tuple:
    if partial or all(known(v) for part in lists for v in part):
        return tuple([inference.shown_shape(v) for v in part] for part in lists)
    unknown = [
        f"{n.name}: {inference.shown_shape(v)}" for n, v in zip(arguments, lists[0], strict=True) if not known(v)
    ]
    warnings.warn(
        "Cannot decide shape for the following arguments (0s in shape means unknown dimensions)."
        f" Consider providing them as input:\n\t{printable(chr(10).join(unknown))}", stacklevel=4,
    )
    return (None, None, None)


def inferred(
    entries: Sequence[Entry], kind: str, args: Sequence[Any], kwargs: Mapping[str, Any], partial: bool = False
) -> tuple:
    """Three lists of shapes or dtypes: of the arguments, the outputs and the auxiliary states of a graph.

    Args:
        entries: the outputs of the graph.
        kind: what to infer, one of ``KINDS``.
        args: given shapes or dtypes of the arguments, in their order.
        kwargs: given shapes or dtypes of arguments and auxiliary states by name, instead of ``args``.
        partial: whether to return the partial result that MXNet reports; without it, the result is three times None
            where a shape or dtype stays unknown.

    Raises:
        MXNetError: given shapes or dtypes contradict each other, or no variable has a name.
        TypeError: a shape is no tuple.
        ValueError: both ``args`` and ``kwargs`` are given.
    """
    if args and kwargs:
        raise refusal(
            "infer/positional-or-keyword", f"Can only specify known argument {kind}s either by positional"
            " or kwargs way.", ValueError,
        )
    order = post_order(entries)
    arguments, auxiliary = variables(order)
    listed = arguments if args else [node for node in order if node.is_variable]
    given = _given(kind, [node.name for node in listed], args, kwargs)
    infer: Any = inference.shapes if kind == "shape" else inference.types
    lists = _listed(infer(order, given, reported=partial), entries, arguments, auxiliary)
    return _shown_shapes(lists, arguments, partial) if kind == "shape" else _shown_types(lists, partial)


def _listed(found: Mapping[Any, Any], entries: Sequence[Entry], *of: Sequence[Node]) -> tuple[list, list, list]:
    """(facts about the arguments, about the outputs, about the auxiliary states) as lists."""
    arguments, auxiliary = ([found.get((id(node), 0)) for node in nodes] for nodes in of)
    return arguments, [found.get(inference.key_of(entry)) for entry in entries], auxiliary


def known_shapes(entries: Sequence[Entry], given: Mapping[str, Sequence[int]]) -> tuple[list, list, list]:
    """As ``infer_shape_partial``, with all shapes that follow from ``given``, also those that MXNet does not report.

    Raises:
        MXNetError: given shapes contradict each other, or no variable has a name.
    """
    order = post_order(entries)
    names = [node.name for node in order if node.is_variable]
    found = inference.shapes(order, _given("shape", names, (), given))
    lists = _listed(found, entries, *variables(order))
    return _shown_shapes(lists, (), partial=True)  # type: ignore[return-value]  # three lists, as it is partial


def known_types(entries: Sequence[Entry]) -> dict[str, np.dtype]:
    """The dtypes of all variables by name, inferred from ``__dtype__`` attributes and operators, else float32.

    Raises:
        MXNetError: dtypes contradict each other.
    """
    order = post_order(entries)
    found = inference.types(order, {}, np.dtype(np.float32))
    return {node.name: found[id(node), 0] for node in order if node.is_variable}


__all__ = ["KINDS", "inferred", "known_shapes", "known_types"]
