"""Symbol: a handle on outputs of a graph, with MXNet 1.x's methods."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..attribute import HIDDEN_KEYS
from ..base import NotImplementedForSymbol, integer_types, refusal
from ..kernels.foundation import known
from . import inference, json_format
from .arithmetic import Arithmetic
from .execution import Execution
from .ir import Entry, Node, auxiliary_nodes, post_order
from .transforms import Transforms


class Symbol(Arithmetic, Execution, Transforms):
    """One or more outputs of a graph. Made by ``mx.sym.Variable`` and ``mx.sym.<operator>``."""

    __slots__ = ("entries",)
    __hash__ = None  # type: ignore[assignment]  # == builds a graph, so symbols cannot be dict keys
    __array_priority__ = 1000.0

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries

    # --- what it is ------------------------------------------------------------------------------

    def order(self) -> list[Node]:
        """All nodes, inputs first."""
        return post_order(self.entries)

    @property
    def name(self) -> str | None:
        """Name of the node, None for a group of several outputs of different nodes."""
        nodes = {id(entry.node) for entry in self.entries}
        return self.entries[0].node.name if len(nodes) == 1 else None

    def __repr__(self) -> str:
        if self.name is None:
            return f"<Symbol group [{', '.join(e.node.name for e in self.entries)}]>"
        return f"<Symbol {self.name}>"

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Symbol]:
        return (self[i] for i in range(len(self)))

    def list_outputs(self) -> list[str]:
        """Names of the outputs, ``fc1_output``."""
        return [entry.node.entry_name(entry.index) for entry in self.entries]

    def _variables(self, order: list[Node] | None = None) -> tuple[list[Node], list[Node]]:
        """(arguments, auxiliary states), depth first; ``order`` holds all nodes, where they are listed already."""
        order = self.order() if order is None else order
        auxiliary = auxiliary_nodes(order)
        variables = [node for node in order if node.is_variable]
        return (
            [n for n in variables if id(n) not in auxiliary], [n for n in variables if id(n) in auxiliary],
        )

    def list_arguments(self) -> list[str]:
        """Names of the arguments in depth-first order; two variables of one name appear twice."""
        return [node.name for node in self._variables()[0]]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the states that operators update by themselves (BatchNorm's moving averages)."""
        return [node.name for node in self._variables()[1]]

    def list_inputs(self) -> list[str]:
        """Names of arguments and auxiliary states in graph order."""
        return [node.name for node in self.order() if node.is_variable]

    # --- parts -----------------------------------------------------------------------------------

    def __getitem__(self, index: int | str | slice) -> Symbol:
        """One output by number or name, or several by slice.

        Raises:
            IndexError: the number is past the end.
            ValueError: no output, or more than one, has the name.
            MXNetError: the number is negative.
        """
        if isinstance(index, slice):
            return Symbol(self.entries[index])
        if isinstance(index, str):
            found = [i for i, name in enumerate(self.list_outputs()) if name == index]
            if len(found) != 1:
                problem = "Cannot find output that matches" if not found else "There are multiple outputs with"
                raise refusal("Symbol/output-name", f"{problem} name {index!r}", ValueError)
            index = found[0]
        if not isinstance(index, int):
            raise refusal("Symbol/index", "Symbol only supports integer, slice or str index", TypeError)
        if index >= len(self.entries):
            raise refusal("Symbol/index", f"Index {index} is past the {len(self.entries)} outputs", IndexError)
        if index < 0:
            raise refusal("Symbol/index", f"Index {index} is negative")
        return Symbol([self.entries[index]])

    def get_internals(self) -> Symbol:
        """Every visible output of every node, as one group."""
        return Symbol([Entry(n, i) for n in self.order() for i in range(n.visible_count())])

    def get_children(self) -> Symbol | None:
        """The inputs of this node; None for a variable."""
        inputs = [entry for head in self.entries for entry in head.node.inputs]
        return Symbol(inputs) if inputs else None

    def __copy__(self) -> Symbol:
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict) -> Symbol:
        return Symbol(_copied(self.entries, {}))

    def __getstate__(self) -> dict[str, str]:
        return {"handle": self.tojson()}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.entries = json_format.from_json(state["handle"])

    # --- attributes ------------------------------------------------------------------------------

    def attr(self, key: str) -> str | None:
        """An attribute of this node, None when it is not set and for a group of several nodes."""
        if self.name is None:
            return None
        attrs = self.entries[0].node.attrs
        return attrs.get(f"__{key}__", attrs.get(key)) if key in HIDDEN_KEYS else attrs.get(key)

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """All attributes of this node; hidden keys appear with and without underscores."""
        if recursive:
            raise refusal(
                "Symbol/list-attr", "list_attr with recursive=True is gone, use attr_dict", DeprecationWarning
            )
        return _reported(self.entries[0].node)

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """Attributes of every node that has some, by name."""
        return {node.name: _reported(node) for node in self.order() if node.attrs}

    def _set_attr(self, **attrs: str) -> None:
        """Set attributes of this node.

        Raises:
            ValueError: a value is not a string.
        """
        for key, value in attrs.items():
            if not isinstance(value, str):
                raise refusal("Symbol/string-attributes", "Set Attr only accepts string values", ValueError)
            self.entries[0].node.set_attribute(f"__{key}__" if key in HIDDEN_KEYS else key, value)

    # --- composition -----------------------------------------------------------------------------

    def __call__(self, *args: Symbol, name: str | None = None, **kwargs: Symbol) -> Symbol:
        """A copy of this graph with variables replaced by other symbols, by name.

        Raises:
            TypeError: something else than symbols is given, or positional and named ones are mixed.
            MXNetError: positional symbols, or a name that is not an argument.
        """
        made = copy.deepcopy(self)
        made._compose(*args, name=name, **kwargs)
        return made

    def _compose(self, *args: Symbol, name: str | None = None, **kwargs: Symbol) -> None:
        if args and kwargs:
            raise refusal(
                "Symbol/compose-mixed", "compose only accepts input Symbols either as positional or keyword"
                " arguments, not both", TypeError,
            )
        if not all(isinstance(s, Symbol) for s in (*args, *kwargs.values())):
            raise refusal("Symbol/compose-type", "Compose expects `Symbol` as arguments", TypeError)
        if args:
            raise refusal("Symbol/compose-keyword", "name the variables to replace: net(data=other)")
        names = self.list_inputs()
        for key, symbol in kwargs.items():
            if key not in names:
                raise refusal(
                    "Symbol/compose-name", f"Cannot find variable {key!r} to replace; there are {names}"
                )
            if len(symbol.entries) != 1:
                raise refusal(
                    "Symbol/single-input", f"{key} needs a symbol with one output, {symbol} has"
                    f" {len(symbol.entries)}",
                )
        for node in self.order():
            node.inputs = [
                kwargs[e.node.name].entries[0] if e.node.is_variable and e.node.name in kwargs else e
                for e in node.inputs
            ]
        if name is not None:
            self.entries[0].node.name = name

    # --- inference -------------------------------------------------------------------------------

    def _given(self, kind: str, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Shapes or types by the name of a variable, from either way of giving them."""
        if args and kwargs:
            raise refusal(
                "infer/positional-or-keyword", f"Can only specify known argument {kind}s either by positional"
                " or kwargs way.", ValueError,
            )
        names = self.list_arguments() if args else self.list_inputs()
        if len(args) > len(names):
            raise refusal("infer/known-name", f"{len(args)} {kind}s are given for the arguments {names}")
        given = {}
        for name, value in zip(names, args, strict=False) if args else kwargs.items():
            if name not in names:
                raise refusal("infer/known-name", f"Keyword argument name {name} not found; there are {names}")
            if value is None:
                continue
            if kind == "shape" and not (
                isinstance(value, (tuple, list)) and all(isinstance(side, integer_types) for side in value)
            ):
                raise refusal(
                    "infer/shape-type", f"Arguments need to be shapes (tuple), but {name!r} is {value!r}",
                    TypeError,
                )
            given[name] = inference.read_shape(value) if kind == "shape" else value
        return given

    def _infer(self, kind: str, args: tuple, kwargs: dict[str, Any], partial: bool) -> tuple:
        given = self._given(kind, args, kwargs)
        order = self.order()
        if kind == "shape":
            found = inference.shapes(order, given)
        else:
            found = inference.types(order, given)
        arguments, auxiliary = self._variables(order)
        lists = tuple(
            [found.get(key) for key in keys]
            for keys in (
                [(id(n), 0) for n in arguments],
                [inference.key_of(e) for e in self.entries],
                [(id(n), 0) for n in auxiliary],
            )
        )
        if kind == "type":
            if any(v is None for part in lists for v in part) and not partial:
                return (None, None, None)
            return tuple([None if v is None else v.type for v in part] for part in lists)
        if partial or all(inference.is_shown_whole(v) for part in lists for v in part):
            return tuple([inference.shown_shape(v) for v in part] for part in lists)
        unknown = [
            f"{n.name}: {inference.shown_shape(v)}" for n, v in zip(arguments, lists[0], strict=True) if not known(v)
        ]
        warnings.warn(
            "Cannot decide shape for the following arguments (0s in shape means unknown dimensions)."
            f" Consider providing them as input:\n\t{chr(10).join(unknown)}", stacklevel=3,
        )
        return (None, None, None)

    def infer_shape(self, *args: Any, **kwargs: Any) -> tuple:
        """(argument, output, auxiliary) shapes from the shapes of some variables.

        All three are None, with a warning, when not everything can be known.

        Raises:
            MXNetError: the shapes contradict each other (the message names node and shapes), or a name is
                that of no variable.
            TypeError: a shape is no tuple.
        """
        return self._infer("shape", args, kwargs, partial=False)

    def infer_shape_partial(self, *args: Any, **kwargs: Any) -> tuple:
        """As :meth:`infer_shape`, with () and 0 (under ``np_shape`` None and -1) where something stays unknown."""
        return self._infer("shape", args, kwargs, partial=True)

    def infer_type(self, *args: Any, **kwargs: Any) -> tuple:
        """(argument, output, auxiliary) dtypes from the dtypes of some variables."""
        return self._infer("type", args, kwargs, partial=False)

    def infer_type_partial(self, *args: Any, **kwargs: Any) -> tuple:
        """As :meth:`infer_type`, with None where something stays unknown."""
        return self._infer("type", args, kwargs, partial=True)

    # --- files and text --------------------------------------------------------------------------

    def tojson(self, remove_amp_cast: bool = True) -> str:
        """The graph as MXNet's JSON text.

        Raises:
            MXNetError: a node is a gradient, which a file cannot hold.
        """
        del remove_amp_cast  # no such nodes exist here
        return json_format.to_json(self.entries)

    def save(self, fname: str, remove_amp_cast: bool = True) -> None:
        """Write the JSON text; a crash leaves the old file or the new one, whole."""
        from ..files.atomic import write_atomically

        if not isinstance(fname, (str, Path)):
            raise refusal("Symbol/save-name", "fname need to be string", TypeError)
        write_atomically(fname, self.tojson(remove_amp_cast).encode())

    def debug_str(self) -> str:
        """One paragraph per node: inputs and attributes."""
        from .describe import debug_text

        return debug_text(self.entries, self.order())

    # --- operators as methods --------------------------------------------------------------------

    def astype(self, dtype: Any) -> Symbol:
        """The same values in another type, by a Cast node."""
        from . import operators

        return operators.bound_method("Cast", self)(dtype=dtype)

    def __abs__(self) -> Symbol:
        from . import operators

        return operators.bound_method("abs", self)()

    def __getattr__(self, name: str) -> Any:
        """``s.sum(axis=1)`` is ``mx.sym.sum(s, axis=1)``, for the operators MXNet offers as methods."""
        from . import operators

        if name in operators.ARRAY_ONLY:
            return _only_for_arrays(name, self)
        if name in operators.METHODS:
            return operators.bound_method(name, self)
        raise AttributeError(f"'Symbol' object has no attribute {name!r}")


def _only_for_arrays(name: str, symbol: Symbol) -> Any:
    """A method that arrays have, and that refuses when it is called on a symbol."""

    def method(*args: Any, **_: Any) -> Any:
        raise NotImplementedForSymbol(method, symbol, *args)

    method.__name__ = name
    return method


def _reported(node: Node) -> dict[str, str]:
    """A node's attributes as users see them."""
    shown = dict(node.attrs)
    for key in HIDDEN_KEYS:
        if f"__{key}__" in node.attrs:
            shown[key] = node.attrs[f"__{key}__"]
    return shown


def _copied(entries: list[Entry], made: dict[int, Node]) -> list[Entry]:
    """Copies of a graph's nodes. Parameters are copied too: some remember what forward left for backward."""
    params: dict[int, Any] = {}  # a gradient has those of its operator
    for node in post_order(entries):
        made[id(node)] = copied = node.reading([Entry(made[id(e.node)], e.index) for e in node.inputs])
        copied.attrs = dict(node.attrs)
        copied.params = params.setdefault(id(node.params), copy.copy(node.params))
    return [Entry(made[id(e.node)], e.index) for e in entries]
