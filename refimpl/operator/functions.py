"""``mx.nd.Custom`` and ``mx.sym.Custom``: any inputs, any parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ndarray, symbol
from ..base import decides, refusal, require
from ..ndarray import NDArray, operators
from ..symbol import Symbol
from ..symbol.calls import graph_key
from ..symbol.operators import call as make_symbol
from .custom import find
from .record import CUSTOM, CustomUse


def _plain(value: Any) -> Any:
    """A value whose text does not depend on NumPy's version."""
    if isinstance(value, (type, np.dtype)):
        return np.dtype(value).name
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(part) for part in value)
    return value


@decides("Custom/parameters")
def _texts(attrs: dict[str, Any]) -> dict[str, str]:
    """Parameters as the property class gets them: the text of each value."""
    return {key: str(_plain(value)) for key, value in attrs.items()}


@decides("Custom/round-trip")
def _split(kind: type, data: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list, dict[str, Any], dict[str, str]]:
    """(inputs by position, inputs by name, parameters as text)."""
    given = list(data[0]) if len(data) == 1 and isinstance(data[0], (list, tuple)) else list(data)
    for value in given:
        if not isinstance(value, kind):
            raise refusal(
                "Custom/input", f"Custom takes {kind.__name__}s, got {type(value).__name__}", AssertionError
            )
    named = {key: value for key, value in kwargs.items() if isinstance(value, kind)}
    if given and named:
        raise refusal(
            "Custom/positional-or-named",
            f"give the inputs of Custom by position or by name, not both; {', '.join(named)} came by name", TypeError,
        )
    return given, named, _texts({key: value for key, value in kwargs.items() if key not in named})


def _known(named: dict[str, Any], use: CustomUse) -> None:
    for name in named:
        require(
            "Custom/input-name", name in use.inputs,
            f"{use.op_type} has no input {name!r}; its inputs are {', '.join(use.inputs)}",
        )


def _nd_custom(*data: NDArray, out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """Run the custom operator ``op_type`` on arrays: inputs, then auxiliary states, by position or by name.

    Every other keyword goes to the property class as a string. Returns one array, or a list of several.

    Raises:
        MXNetError: the operator is not registered, arrays do not fit, or the user's code raised.
    """
    del name
    given, named, attrs = _split(NDArray, data, kwargs)
    if named:
        use = CustomUse(attrs)
        _known(named, use)
        given = [named[key] for key in use.inputs if key in named]
    if "op_type" in attrs:
        # parameters are remembered by their text; a new registration under the same name is another operator
        attrs["__registration__"] = str(find(attrs["op_type"]).number)
    return operators.invoke(CUSTOM, given, dict(attrs), out)


def _sym_custom(*data: Symbol, name: str | None = None, attr: Any = None, **kwargs: Any) -> Symbol:
    """A node of the custom operator ``op_type``: inputs by position or by name, missing ones become variables.

    Every other keyword is a parameter and goes to the property class as a string.

    Raises:
        MXNetError: the operator is not registered, has no such input, or the user's code raised.
    """
    return compose_custom("Custom", data, kwargs, name, attr)


def compose_custom(
    called: str, data: Sequence[Symbol], kwargs: dict[str, Any], name: str | None = None, attr: Any = None
) -> Symbol:
    """``mx.sym.Custom`` under another name.

    Args:
        called: the name, from which automatic names are made.
        data: the inputs by position.
        kwargs: inputs by name, and the parameters.
        name: the node's name; None for an automatic one.
        attr: attributes of the user.
    """
    given, named, attrs = _split(Symbol, data, kwargs)
    if named:
        _known(named, CustomUse({key: value for key, value in attrs.items() if graph_key(CUSTOM, key) is None}))
    return make_symbol(CUSTOM, called, named or given, attrs, name, attr)


def publish() -> None:
    """Put the two functions into the namespaces of arrays and of symbols."""
    for namespace, function in ((ndarray, _nd_custom), (symbol, _sym_custom)):
        function.__name__ = function.__qualname__ = "Custom"
        for module in (namespace, namespace.op):
            setattr(module, "Custom", function)  # noqa: B010  # a module's functions are made from pages
