"""Symbol: a handle on outputs of a graph, with MXNet 1.x's methods."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..attribute import GRAPH_KEYS, HIDDEN_KEYS, stored_key
from ..base import NotImplementedForSymbol, decides, numeric_types, refusal
from ..context import Context, current_context
from ..files.atomic import write_atomically
from ..kernels.foundation import get, keeps
from . import calls, gradient, json_format, passes
from .describe import debug_text
from .inferred_lists import inferred
from .ir import Entry, Node, copied, post_order, variables

if TYPE_CHECKING:
    from ..executor import Executor
    from ..executor_v2 import Executor as ExecutorV2
    from ..ndarray import NDArray
    from ._methods import SymbolMethods  # the methods that ``operators.py`` sets, in a generated stub
else:
    SymbolMethods = object


class Symbol(SymbolMethods):
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

    def _repr_svg_(self) -> str | None:
        """A drawing of the graph, for notebooks; None for more than 1,000 nodes, so that the text is shown."""
        from ..explain.symbol_drawing import of_notebook
        return of_notebook(self)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Symbol]:
        return (self[i] for i in range(len(self)))

    def list_outputs(self) -> list[str]:
        """Names of the outputs, ``fc1_output``."""
        return [entry.node.entry_name(entry.index) for entry in self.entries]

    def _variables(self, order: list[Node] | None = None) -> tuple[list[Node], list[Node]]:
        """(arguments, auxiliary states), depth first; ``order`` has all nodes, where they are already listed."""
        return variables(self.order() if order is None else order)

    def list_arguments(self) -> list[str]:
        """Names of the arguments in depth-first order; the name of two variables appears twice."""
        return [node.name for node in self._variables()[0]]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the states that operators update by themselves (BatchNorm's moving averages)."""
        return [node.name for node in self._variables()[1]]

    def list_inputs(self) -> list[str]:
        """Names of arguments and auxiliary states in graph order."""
        return [node.name for node in self.order() if node.is_variable]

    # --- parts -----------------------------------------------------------------------------------

    @decides("Symbol/parts")
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

    @decides("Symbol/parts")
    def get_internals(self) -> Symbol:
        """Every visible output of every node, as one group."""
        return Symbol([Entry(n, i) for n in self.order() for i in range(n.visible_count())])

    def get_children(self) -> Symbol | None:
        """The inputs of this node, or of each node of a group once; None for a variable."""
        nodes = {id(head.node): head.node for head in self.entries}.values()
        inputs = [entry for node in nodes for entry in node.inputs]
        return Symbol(inputs) if inputs else None

    def __copy__(self) -> Symbol:
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict) -> Symbol:
        return Symbol(copied(self.entries))

    def __getstate__(self) -> dict[str, str]:
        return {"handle": self.tojson()}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.entries = json_format.from_json(state["handle"])

    # --- attributes ------------------------------------------------------------------------------

    @decides("Symbol/attr-of-group")
    def attr(self, key: str) -> str | None:
        """An attribute of this node, None when it is not set and for a group of several nodes."""
        if self.name is None:
            return None
        attrs = self.entries[0].node.attrs
        return attrs.get(f"__{key}__", attrs.get(key)) if key in HIDDEN_KEYS else attrs.get(key)

    @decides("Symbol/attributes")
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
            MXNetError: a key is that of an input (``weight_lr_mult``).
        """
        for key, value in attrs.items():
            if not isinstance(value, str):
                raise refusal("Symbol/string-attributes", "Set Attr only accepts string values", ValueError)
            self.entries[0].node.set_attribute(stored_key(key), value)

    # --- composition -----------------------------------------------------------------------------

    def __call__(self, *args: Symbol, name: str | None = None, **kwargs: Symbol) -> Symbol:
        """A copy of this graph with variables replaced by other symbols, by name.

        Raises:
            TypeError: a value is not a symbol, or positional and keyword symbols are mixed.
            MXNetError: symbols are positional, or a keyword is not the name of an argument.
        """
        made = copy.deepcopy(self)
        made._compose(*args, name=name, **kwargs)
        return made

    @decides("Symbol/compose")
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
        calls.replace_variables(self.entries, kwargs)
        if name is not None:
            self.entries[0].node.name = name

    # --- inference -------------------------------------------------------------------------------

    @decides("infer/incomplete")
    def infer_shape(self, *args: Any, **kwargs: Any) -> tuple:
        """(argument, output, auxiliary) shapes from the shapes of some variables.

        All three are None, with a warning, when a shape stays unknown.

        Raises:
            MXNetError: the shapes contradict each other (the message names node and shapes), or no variable has a
                given name.
            TypeError: a shape is no tuple.
        """
        return inferred(self.entries, "shape", args, kwargs)

    def infer_shape_partial(self, *args: Any, **kwargs: Any) -> tuple:
        """As :meth:`infer_shape`, with () and 0 (under ``np_shape`` None and -1) where MXNet reports nothing."""
        return inferred(self.entries, "shape", args, kwargs, partial=True)

    def infer_type(self, *args: Any, **kwargs: Any) -> tuple:
        """(argument, output, auxiliary) dtypes from the dtypes of some variables."""
        return inferred(self.entries, "type", args, kwargs)

    def infer_type_partial(self, *args: Any, **kwargs: Any) -> tuple:
        """As :meth:`infer_type`, with None where MXNet reports nothing."""
        return inferred(self.entries, "type", args, kwargs, partial=True)

    # --- files and text --------------------------------------------------------------------------

    def tojson(self, remove_amp_cast: bool = True) -> str:
        """The graph as MXNet's JSON text, by default without the casts of mixed precision.

        Args:
            remove_amp_cast: whether to leave the casts of mixed precision out, except those that are outputs.

        Raises:
            MXNetError: a node is a gradient, which a file cannot hold.
        """
        return json_format.to_json(self.entries, remove_amp_cast=remove_amp_cast)

    def save(self, fname: str, remove_amp_cast: bool = True) -> None:
        """Write the JSON text of :meth:`tojson`; a crash leaves the old file or the new one, whole."""
        if not isinstance(fname, (str, Path)):
            raise refusal("Symbol/save-name", "fname need to be string", TypeError)
        write_atomically(fname, self.tojson(remove_amp_cast).encode())

    def debug_str(self) -> str:
        """One paragraph per node: inputs and attributes."""
        return debug_text(self.entries, self.order())

    # --- graphs made of this one ------------------------------------------------------------------

    @property
    def handle(self) -> list[Entry]:
        """The entries of the symbol: outputs of nodes."""
        return self.entries

    def as_nd_ndarray(self) -> Symbol:
        """The symbol itself."""
        return self

    def as_np_ndarray(self) -> Symbol:
        """Refused: symbols of ``mx.np`` do not exist here."""
        raise refusal("Symbol/numpy-symbol", "there is no mx.np here; this symbol is used as it is")

    def split_v2(self, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Symbol:
        """Cut this symbol along ``axis``: as ``mx.sym.split_v2``."""
        return self._apply("_split_v2", **calls.split_parameters(indices_or_sections, axis, squeeze_axis))

    @decides("Symbol/gradient")
    def gradient(self, wrt: str | Sequence[str]) -> Symbol:
        """A symbol of the gradients with respect to the named arguments, in their order.

        Its arguments are the variables that the gradients read, and one ``_head_grad_<i>`` per output that is no loss.

        Raises:
            MXNetError: a name is no argument, or an operator between an output and an argument has no gradient.
        """
        return Symbol(gradient.of_arguments(self.entries, [wrt] if isinstance(wrt, str) else list(wrt)))

    def get_backend_symbol(self, backend: str) -> Symbol:
        """The symbol after the pass named ``backend``, one of ``passes.BACKENDS``.

        Raises:
            MXNetError: there is no such pass.
        """
        if backend not in passes.BACKENDS:
            raise refusal(
                "Symbol/backend",
                f"SubgraphProperty {backend} is not found; there are {', '.join(sorted(passes.BACKENDS))}",
            )
        return Symbol(passes.BACKENDS[backend](passes.plain_graph(self.entries)).outputs)

    @decides("Symbol/optimize-for")
    def optimize_for(
        self, backend: str, args: Any = None, aux: Any = None, ctx: Any = None, shape_dict: Any = None,
        type_dict: Any = None, stype_dict: Any = None, skip_infer: bool = False, **options: Any,
    ) -> Symbol:
        """As :meth:`get_backend_symbol`; for an unknown ``backend`` the symbol itself is returned, with a warning.

        ``args``, ``aux``, ``ctx``, ``shape_dict``, ``type_dict``, ``stype_dict`` and ``skip_infer`` are not used: they
        are for passes that read values and shapes, and there is no such pass here.
        """
        del args, aux, ctx, shape_dict, type_dict, stype_dict, skip_infer, options
        if backend not in passes.BACKENDS:
            warnings.warn(f"backend {backend} is unknown, the symbol is returned as it is", stacklevel=2)
            return self.as_nd_ndarray()
        return self.get_backend_symbol(backend)

    # --- running ---------------------------------------------------------------------------------

    def bind(
        self, ctx: Context, args: Any, args_grad: Any = None, grad_req: Any = "write",
        aux_states: Any = None, group2ctx: Any = None, shared_exec: Executor | None = None,
    ) -> Executor:
        """Give every argument an array.

        Args:
            ctx: the context of nodes that belong to no group.
            args: the arguments: arrays in the order of ``list_arguments()``, or by name.
            args_grad: the arrays for gradients, likewise; an argument without an array gets no gradient.
            grad_req: "write", "add" or "null": for all arguments, a list of one each, or by name (missing: "null").
            aux_states: the auxiliary states, as ``args``.
            group2ctx: the context of each group of nodes, by the attribute ``ctx_group``.
            shared_exec: an executor with which to share working memory.
        """
        from ..executor.binding import bind

        return bind(self, ctx, args, args_grad, grad_req, aux_states, group2ctx, shared_exec)

    def simple_bind(
        self, ctx: Context, grad_req: Any = "write", type_dict: dict[str, Any] | None = None,
        stype_dict: Any = None, group2ctx: Any = None, shared_arg_names: list[str] | None = None,
        shared_exec: Executor | None = None, shared_buffer: dict[str, NDArray] | None = None, **kwargs: Any,
    ) -> Executor:
        """Infer all shapes from the given ones, allocate arrays of zeros and bind them.

        Args:
            ctx: the context of nodes that belong to no group.
            grad_req: as for :meth:`bind`; arguments with "null" get no gradient array.
            type_dict: dtypes by the name of an argument; a dtype that cannot be inferred is float32.
            stype_dict: storages by the name of an argument: "default", "row_sparse" or "csr".
            group2ctx: as for :meth:`bind`.
            shared_arg_names: the arguments whose arrays are taken from ``shared_exec`` if shape and dtype are equal.
            shared_exec: an executor with which to share states and working memory.
            shared_buffer: arrays by name for the other arguments; newly made arrays are put into it.
            **kwargs: shapes by the name of an argument.
        """
        from ..executor.binding import simple_bind

        return simple_bind(
            self,
            ctx, grad_req, type_dict, stype_dict, group2ctx, shared_arg_names, shared_exec,
            shared_buffer, kwargs,
        )

    @decides("Symbol/eval")
    def eval(self, ctx: Context | None = None, **kwargs: NDArray) -> list[NDArray]:
        """Bind the given arrays, run forward once and return the outputs."""
        return self.bind(ctx or current_context(), kwargs, grad_req="null").forward()

    def _bind(
        self, ctx: Context, args: Any, args_grad: Any = None, grad_req: Any = "write", aux_states: Any = None,
        static_alloc: bool = False,
    ) -> ExecutorV2:
        """The Executor of MXNet 2.0, over copies of the given arrays.

        Args:
            ctx: the context of the executor.
            args: the arguments: arrays in the order of ``list_arguments()``, or by name.
            args_grad: the arrays that receive gradients, likewise.
            grad_req: "write", "add" or "null", for all or by name.
            aux_states: the auxiliary states, as ``args``.
            static_alloc: MXNet's flag about speed, without effect here.
        """
        from ..executor_v2 import bind

        return bind(self, ctx, args, args_grad, grad_req, aux_states, static_alloc)

    def _simple_bind(
        self, ctx: Context, grad_req: Any = "write", type_dict: dict[str, Any] | None = None,
        stype_dict: Any = None, **kwargs: Any,
    ) -> ExecutorV2:
        """The Executor of MXNet 2.0, over zeros of the shapes that follow from the given shapes.

        Args:
            ctx: the context of the executor.
            grad_req: "write", "add" or "null", for all or by name.
            type_dict: dtypes by the name of an argument; a dtype that cannot be inferred is float32.
            stype_dict: storages by name, without effect here.
            **kwargs: shapes by the name of an argument.
        """
        from ..executor_v2 import simple_bind

        return simple_bind(self, ctx, grad_req, type_dict, stype_dict, **kwargs)

    # --- signs -----------------------------------------------------------------------------------

    def _binary(self, other: Any, array_op: str, called: str, scalar_op: str, scalar_called: str) -> Symbol:
        if isinstance(other, Symbol) and array_op:
            return Symbol(calls.call(get(array_op), called, [self, other], {}))
        if isinstance(other, numeric_types) and not isinstance(other, np.ndarray):
            return Symbol(calls.call(get(scalar_op), scalar_called, [self], {"scalar": other}))
        raise refusal("Symbol/operand", f"type {type(other)} not supported", TypeError)

    def __add__(self, other: Any) -> Symbol:
        return self._binary(other, "elemwise_add", "_Plus", "_plus_scalar", "_PlusScalar")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Symbol:
        return self._binary(other, "elemwise_sub", "_Minus", "_minus_scalar", "_MinusScalar")

    def __rsub__(self, other: Any) -> Symbol:
        return self._binary(other, "", "", "_rminus_scalar", "_RMinusScalar")

    def __mul__(self, other: Any) -> Symbol:
        return self._binary(other, "elemwise_mul", "_Mul", "_mul_scalar", "_MulScalar")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Symbol:
        return self._binary(other, "elemwise_div", "_Div", "_div_scalar", "_DivScalar")

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._binary(other, "", "", "_rdiv_scalar", "_RDivScalar")

    def __mod__(self, other: Any) -> Symbol:
        return self._binary(other, "_mod", "_Mod", "_mod_scalar", "_ModScalar")

    def __rmod__(self, other: Any) -> Symbol:
        return self._binary(other, "", "", "_rmod_scalar", "_RModScalar")

    def __pow__(self, other: Any) -> Symbol:
        return self._binary(other, "_power", "_Power", "_power_scalar", "_PowerScalar")

    def __rpow__(self, other: Any) -> Symbol:
        return self._binary(other, "", "", "_rpower_scalar", "_rpower_scalar")

    def __neg__(self) -> Symbol:
        return self * -1.0

    def __eq__(self, other: object) -> Any:
        return self._binary(other, "_equal", "_equal", "_equal_scalar", "_equal_scalar")

    def __ne__(self, other: object) -> Any:
        return self._binary(other, "_not_equal", "_not_equal", "_not_equal_scalar", "_not_equal_scalar")

    def __gt__(self, other: Any) -> Symbol:
        return self._binary(other, "_greater", "_greater", "_greater_scalar", "_greater_scalar")

    def __ge__(self, other: Any) -> Symbol:
        return self._binary(
            other, "_greater_equal", "_greater_equal", "_greater_equal_scalar", "_greater_equal_scalar"
        )

    def __lt__(self, other: Any) -> Symbol:
        return self._binary(other, "_lesser", "_lesser", "_lesser_scalar", "_lesser_scalar")

    def __le__(self, other: Any) -> Symbol:
        return self._binary(
            other, "_lesser_equal", "_lesser_equal", "_lesser_equal_scalar", "_lesser_equal_scalar"
        )

    def __bool__(self) -> bool:
        raise NotImplementedForSymbol(self.__bool__, self)

    def __iadd__(self, other: Any) -> Symbol:
        raise NotImplementedForSymbol(self.__iadd__, self, other)

    __isub__ = __imul__ = __itruediv__ = __imod__ = __iadd__

    # --- operators as methods --------------------------------------------------------------------
    # Methods that only call an operator, such as ``sum``, are set on the class by ``operators.py``.

    def _apply(self, name: str, **params: Any) -> Symbol:
        """The operator ``name`` with this symbol as its input."""
        op = get(name)
        return Symbol(calls.call(op, name, [self], {k: v for k, v in params.items() if keeps(op.params, k, v)}))

    def astype(self, dtype: Any) -> Symbol:
        """The same values in another type, by a Cast node."""
        return self._apply("Cast", dtype=dtype)

    def __abs__(self) -> Symbol:
        return self._apply("abs")


def _reported(node: Node) -> dict[str, str]:
    """A node's attributes as users see them."""
    shown = dict(node.attrs)
    for key in GRAPH_KEYS:
        if f"__{key}__" in node.attrs:
            shown[key] = node.attrs[f"__{key}__"]
    return shown
