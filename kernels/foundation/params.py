"""Operator parameters: a NamedTuple declares them; this file parses the values of users and of JSON files.

Supported annotations: ``int`` (32 bits, as MXNet declares them), ``Long`` (64 bits), ``Count`` (of arrays), ``float``,
``bool``, ``str``, ``Shape`` (a tuple of 64-bit ints; an int is accepted for one), ``Floats`` (a tuple of floats),
``Literal[...]`` (a choice), any of them ``| None``, and ``Annotated[int, AtLeast(0)]``. Fields stand in MXNet's order,
in which they may be given by position. A field without a default is required, and so is a field with ``= REQUIRED``,
which may stand behind fields with defaults.
"""

from __future__ import annotations

import ast
import typing
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import numpy as np

from .refusal import MXNetError, refusal

Shape = tuple[int, ...]
Floats = tuple[float, ...]


class AtLeast(NamedTuple):
    """Lower bound of a numeric parameter."""

    least: float


class AtMost(NamedTuple):
    """Upper bound of a numeric parameter."""

    most: float


class Long(int):
    """A whole number of 64 bits, where MXNet declares ``long``."""


class _Required:
    """Stands for the default of a parameter that has none."""

    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Any = _Required()

MOST_ARRAYS = 2**16
"""The largest number of arrays that one operator takes or gives."""
Count = Annotated[int, AtLeast(1), AtMost(MOST_ARRAYS)]
"""A number of arrays."""
_BITS = {int: 31, Long: 63}


class NoParams(NamedTuple):
    """For operators without parameters."""


class _BadValueError(Exception):
    """Raised inside the parser; the caller adds operator and parameter names."""


def _number(text: Any, kind: type) -> Any:
    if isinstance(text, str):
        text = text.strip()
        try:
            return kind(text)
        except ValueError:
            if kind is int and text.lower() in ("true", "false"):
                return int(text.lower() == "true")
            raise _BadValueError from None
    if isinstance(text, (bool, np.bool_, int, np.integer)):
        try:
            return kind(text)
        except OverflowError:  # no float is as large
            raise _BadValueError from None
    if isinstance(text, (float, np.floating)) and (kind is float or float(text).is_integer()):
        return kind(text)
    raise _BadValueError


def _whole(value: Any, bits: int) -> int:
    """A whole number of that many bits and a sign."""
    number: int = _number(value, int)
    if not -(2**bits) <= number < 2**bits:
        raise _BadValueError
    return number


def _boolean(text: Any) -> bool:
    if isinstance(text, str):
        word = text.strip().lower()
        if word in ("true", "1"):
            return True
        if word in ("false", "0"):
            return False
        raise _BadValueError
    if isinstance(text, (bool, np.bool_, int, np.integer)):
        return bool(text)
    raise _BadValueError


def _sequence(text: Any, kind: type) -> tuple:
    if isinstance(text, str):
        try:
            # 1.x files hold shapes as "(2, 3)", "[2,3]" and "(2L, 3L)"
            text = ast.literal_eval(text.strip().replace("L", ""))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # what literal_eval may raise
            raise _BadValueError from None
    if isinstance(text, np.ndarray):
        text = text.tolist()
    if isinstance(text, (int, float, np.integer, np.floating)):
        text = (text,)
    if not isinstance(text, (tuple, list)):
        raise _BadValueError
    return tuple(_whole(value, _BITS[Long]) if kind is int else _number(value, kind) for value in text)


def _parse(annotation: Any, value: Any) -> Any:
    """Turn ``value`` (any Python value, or its text) into one of ``annotation``."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *bounds = get_args(annotation)
        parsed = _parse(inner, value)
        for bound in bounds:
            # NaN is neither above nor below
            if parsed is not None and isinstance(bound, AtLeast) and not parsed >= bound.least:
                raise _BadValueError
            if parsed is not None and isinstance(bound, AtMost) and not parsed <= bound.most:
                raise _BadValueError
        return parsed
    if origin in (Union, UnionType):
        options = [a for a in get_args(annotation) if a is not NoneType]
        if value is None or (isinstance(value, str) and value.strip() == "None"):
            return None
        return _parse(options[0], value)
    if origin is Literal:
        choices = get_args(annotation)
        word = value.strip() if isinstance(value, str) else str(value)
        if word not in choices:
            raise _BadValueError
        return word
    if origin is tuple:
        return _sequence(value, get_args(annotation)[0])
    if annotation is bool:
        return _boolean(value)
    if annotation in _BITS:
        return _whole(value, _BITS[annotation])
    if annotation is float:
        return _number(value, float)
    return str(value)


def _shown(value: Any) -> str:
    """A value as messages show it, cut short where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of thousands of digits
        return f"a whole number of {value.bit_length()} bits"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_LONGEST = 200  # characters of a value in a message


def whole_part(what: str, value: float) -> int:
    """A parameter as a loop over whole numbers takes it: cut to its whole part.

    Raises:
        MXNetError: it is not finite, or has more than 64 bits.
    """
    if not -(2.0**63) <= value < 2.0**63:
        raise refusal(
            "params/whole", f"{what} is {value}, which stands beside whole numbers here: give one of at most 64 bits"
        )
    return int(value)


def describe(annotation: Any) -> str:
    """Return the type of a parameter in words, as ``refimpl ops`` prints it."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *bounds = get_args(annotation)
        words = [describe(inner)]
        words += [f">= {b.least:g}" for b in bounds if isinstance(b, AtLeast)]
        words += [f"<= {b.most:g}" for b in bounds if isinstance(b, AtMost)]
        return " ".join(words)
    if origin in (Union, UnionType):
        return " or ".join(describe(a) for a in get_args(annotation))
    if origin is Literal:
        return "{" + ", ".join(str(a) for a in get_args(annotation)) + "}"
    if annotation == Shape:
        return "Shape"
    if annotation == Floats:
        return "tuple of floats"
    if annotation in _BITS:
        return annotation.__name__.lower()
    return "None" if annotation is NoneType else annotation.__name__


@cache
def defaults(params: Any) -> dict[str, Any]:
    """Field name -> default, of the parameters that may be left out."""
    return {name: value for name, value in params._field_defaults.items() if value is not REQUIRED}


@cache
def field_types(params: type) -> dict[str, Any]:
    """Field name -> annotation, evaluated once."""
    return {
        name: hint
        for name, hint in typing.get_type_hints(params, include_extras=True).items()
        if name in params._fields  # type: ignore[attr-defined]  # a NamedTuple
    }


def keeps(params: Any, name: str, value: Any) -> bool:
    """Whether a call with ``name=value`` gives that parameter a value.

    None is a value where the parameter has None among its values, otherwise it leaves the parameter out.
    """
    if value is not None:
        return True
    annotation = field_types(params).get(name)
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    # MXNet's functions take a dtype of None for NumPy's default; here it means none was given
    return name != "dtype" and NoneType in get_args(annotation)


def is_hidden_key(key: str) -> bool:
    """Whether an attribute is for the graph (``__lr_mult__``, ``__ctx_group__``), not the operator."""
    return key.startswith("__") and key.endswith("__")


def parse(op_name: str, params: Any, attrs: dict[str, Any], ignores_unknown: bool = False) -> Any:
    """Build ``params`` from a dict of values or strings.

    Unknown names raise unless the operator takes no parameters at all or ignores them, as in MXNet 1.9.1.

    Raises:
        MXNetError: a required parameter is missing, a name is unknown or a value is out of range.
    """
    known = field_types(params)
    values: dict[str, Any] = {}
    for key, value in attrs.items():
        if is_hidden_key(key):
            continue
        if key not in known:
            if not known or ignores_unknown:
                continue
            raise refusal(
                "params/unknown-name",
                f"{op_name}: cannot find argument '{key}'. It takes: {', '.join(known)}",
            )
        try:
            values[key] = _parse(known[key], value)
        except _BadValueError:
            raise refusal(
                "params/bad-value",
                f"{op_name}: invalid value {_shown(value)} for parameter {key},"
                f" expected {describe(known[key])}",
            ) from None
    optional = defaults(params)
    missing = [n for n in known if n not in values and n not in optional]
    if missing:
        raise refusal(
            "params/required",
            f"{op_name}: required parameter {missing[0]} of {describe(known[missing[0]])}"
            " is not presented",
        )
    return params(**values)


__all__ = [
    "REQUIRED", "AtLeast", "AtMost", "Count", "Floats", "Long", "MXNetError", "NoParams", "Shape", "defaults",
    "describe", "field_types", "is_hidden_key", "keeps", "parse", "whole_part",
]
