"""CachedOp: a symbol that is called like a function; it runs node by node on arrays.

While autograd records, every node is recorded on the tape, as a call of ``mx.nd`` is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..base import decides, refusal
from ..kernels.foundation import Op
from ..ndarray import NDArray, dense, operators
from ..symbol import Symbol, passes
from ..symbol.inference import Key, key_of, shapes
from ..symbol.ir import Node


class _Flags:
    """The names of MXNet's flags, by the type of their value. Flags concern speed; none changes a result."""

    switches = frozenset({"static_alloc", "static_shape", "is_dynamic"})
    numbers = frozenset({"inline_limit", "forward_bulk_size", "backward_bulk_size"})
    lists = frozenset({"data_indices", "param_indices", "subgraph"})


def _check_flags(flags: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    known = _Flags.switches | _Flags.numbers | _Flags.lists
    for name, value in flags:
        if name not in known:
            raise refusal(
                "CachedOp/flags", f"Cannot find argument '{name}', possible arguments: {', '.join(sorted(known))}"
            )
        if name in _Flags.switches and str(value).lower() not in ("true", "false", "1", "0"):
            raise refusal("CachedOp/flags", f"Invalid Parameter format for {name} expect boolean but value='{value}'")
        if name in _Flags.numbers and not str(value).isdigit():
            raise refusal("CachedOp/flags", f"Invalid Parameter format for {name} expect int but value='{value}'")
        read[name] = value
    return read


class CachedOp:
    """``op = CachedOp(symbol); op(*arrays)``: inputs in the order of ``symbol.list_inputs()``.

    Returns one array, or a list for a symbol with several outputs. ``flags`` are (name, value) pairs of MXNet's flags
    (``static_alloc``, ``static_shape``, ...); they are checked and have no effect.

    Raises:
        MXNetError: a flag is unknown, the number of inputs is wrong, or shapes or types contradict each other.
        TypeError: keywords other than ``out`` are given, or an input is not an NDArray.
    """

    def __init__(self, sym: Symbol, flags: Iterable[tuple[str, Any]] = (), thread_safe: bool = False) -> None:
        del thread_safe  # calls share no state
        self.flags = _check_flags(flags)
        self.symbol = sym
        order = sym.order()
        self._variables = [node for node in order if node.is_variable]
        self._operators = [node for node in order if not node.is_variable]
        self._checked: set[Any] = set()
        self._hook: tuple[Callable, bool] | None = None

    @decides("CachedOp/outputs")
    def __call__(self, *args: NDArray, out: Any = None, **kwargs: Any) -> Any:
        """Run the graph on ``args``."""
        if kwargs:
            raise refusal(
                "CachedOp/keywords", "CachedOp.__call__ got unexpected keyword argument(s): " + ", ".join(kwargs),
                TypeError,
            )
        self._check_inputs(args)
        values: dict[Key, NDArray] = {
            (id(node), 0): array for node, array in zip(self._variables, args, strict=True)
        }
        ctx = args[0].context if args else None
        for node in self._operators:
            self._run(node, values, ctx)
        results: list[NDArray] = []
        for result in (values[key_of(entry)] for entry in self.symbol.entries):
            again = any(result is other for other in results)  # each output has memory of its own, as in MXNet
            results.append(result.copy() if again else result)
        if out is not None:
            self._copy_to(out, results)
            return out
        return results[0] if len(results) == 1 else results

    def _copy_to(self, out: Any, results: list[NDArray]) -> None:
        targets = list(out) if isinstance(out, (list, tuple)) else [out]
        if len(targets) != len(results):
            raise refusal(
                "CachedOp/count", f"out holds {len(targets)} arrays for the {len(results)} outputs"
                f" {self.symbol.list_outputs()}",
            )
        for target, result in zip(targets, results, strict=True):
            target[:] = result

    def _check_inputs(self, args: tuple[NDArray, ...]) -> None:
        """Refuse wrong inputs; infer all shapes of the graph once per set of input shapes: an error names the node."""
        if len(args) != len(self._variables):
            raise refusal(
                "CachedOp/count", f"{len(args)} inputs are given for the {len(self._variables)} variables"
                f" {[node.name for node in self._variables]}",
            )
        for node, array in zip(self._variables, args, strict=True):
            if not isinstance(array, NDArray):
                raise refusal(
                    "CachedOp/input-type", f"{node.name} must be an NDArray, got {type(array).__name__}", TypeError
                )
        given = tuple(a.shape for a in args)
        if given not in self._checked:
            told = {id(node): shape for node, shape in zip(self._variables, given, strict=True)}
            shapes(self.symbol.order(), told)
            self._checked.add(given)

    @decides("CachedOp/inputs")
    def _run(self, node: Node, values: dict[Key, NDArray], ctx: Any) -> None:
        assert node.op is not None
        inputs = [values[key_of(entry)] for entry in node.inputs]
        if node.subgraphs():  # loops and branches run on dense arrays
            inputs = [array.tostype("default") if array.is_sparse else array for array in inputs]
        place = inputs[0].context if inputs else ctx
        if any(array.is_sparse for array in inputs) or place is None:
            attrs = {k: v for k, v in node.attrs.items() if not k.startswith("__")}
            made = operators.invoke(node.op, inputs, attrs)
        else:
            made = dense.execute(node.op, node.params, dict(node.attrs), inputs, place)
        listed = made if isinstance(made, list) else [made]
        for index, array in enumerate(listed):
            values[id(node), index] = array
        if self._hook is not None:
            _report(node, node.op, inputs, listed, *self._hook)

    def get_optimized_symbol(self) -> Symbol:
        """The graph after the passes that an Executor applies."""
        return Symbol(passes.optimized(self.symbol.entries))

    def _register_op_hook(self, callback: Callable, monitor_all: bool = False) -> None:
        """Call ``callback(name, operator, array)`` for every node's outputs; with ``monitor_all``, for inputs too."""
        self._hook = (callback, monitor_all)


__all__ = ["CachedOp"]


def _report(
    node: Node, op: Op, inputs: list[NDArray], outputs: list[NDArray], callback: Callable, monitor_all: bool
) -> None:
    """Show a monitor the outputs of a node, and with ``monitor_all`` its inputs before them."""
    if monitor_all:
        for name, array in zip(op.input_names(node.params), inputs, strict=True):
            callback(f"{node.name}_{name}", op.name, array)
    for index, array in enumerate(outputs):
        callback(node.entry_name(index), op.name, array)
