"""Names and arguments of every operator, as ``mx.operator`` tells them."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from ..kernels.foundation import REGISTRY, get
from ..kernels.foundation.params import Floats, Shape, defaults, field_types

_WORDS = {int: "int", float: "float", bool: "boolean", str: "string", Shape: "Shape(tuple)", Floats: "tuple of <float>"}


class OperatorArguments(NamedTuple):
    """``narg`` arguments: inputs first, then parameters, with a description of each type."""

    narg: int
    names: list[str]
    types: list[str]


def get_all_registered_operators() -> list[str]:
    """Every name of every operator, in order of the alphabet."""
    return sorted(REGISTRY)


def _kind(annotation: Any) -> tuple[str, bool]:
    """A type in MXNet's words, and whether it is a choice of names."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kind(get_args(annotation)[0])
    if origin in (Union, UnionType):
        inner = next(part for part in get_args(annotation) if part is not NoneType)
        word, choice = _kind(inner)
        return (f"{{None, {word[1:]}" if choice else f"{word} or None"), choice
    if origin is Literal:
        return "{" + ", ".join(sorted(repr(choice) for choice in get_args(annotation))) + "}", True
    return _WORDS.get(annotation, str(annotation)), False


def _default(value: Any, choice: bool) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return "[" + ",".join(str(part) for part in value) + "]"
    return repr(str(value)) if choice or value is None or isinstance(value, str) else f"{value:g}"


def get_operator_arguments(op_name: str) -> OperatorArguments:
    """Arguments of the operator ``op_name``.

    Raises:
        MXNetError: there is no such operator.
    """
    op = get(op_name)
    if op.variadic or op_name == "Custom":
        names, types = ["data"], ["NDArray-or-Symbol[]"]
    else:
        names, types = list(op.all_inputs), ["NDArray-or-Symbol"] * len(op.all_inputs)
    optional = defaults(op.params)
    for name, annotation in field_types(op.params).items():
        word, choice = _kind(annotation)
        comma = "," if choice else ", "
        needed = word if annotation is str else f"{word}, required"
        names.append(name)
        types.append(
            needed if name not in optional else f"{word}{comma}optional, default={_default(optional[name], choice)}"
        )
    return OperatorArguments(len(names), names, types)
