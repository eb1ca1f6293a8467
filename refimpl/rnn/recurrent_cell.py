"""The base of all cells: a cell makes the part of a network that belongs to one time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import ndarray, symbol
from ..base import decides, refusal, require
from ..symbol import Symbol
from .sequences import States, Steps, as_asked, as_list

StateInfo = dict[str, Any]
Arrays = dict[str, Any]  # arrays by name, as Module.get_params gives them


class RNNParams:
    """The variables of one or several cells, by name; each is made when it is first asked for."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._params: dict[str, Symbol] = {}

    def get(self, name: str, **kwargs: Any) -> Symbol:
        """The variable ``PREFIXname``; ``kwargs`` go to ``mx.sym.Variable`` when it is made."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.Variable(name, **kwargs)
        return self._params[name]


@decides("rnn/own-cell")
class BaseRNNCell:
    """Base class of cells.

    A subclass has ``state_info`` and ``__call__(inputs, states)``, which counts its calls in
    ``self._counter`` to name the nodes of each time; ``_num_hidden`` and ``_gate_names`` make
    :meth:`unpack_weights` and :meth:`pack_weights` work.

    Args:
        prefix: what the names of nodes, and of parameters that the cell owns, begin with.
        params: parameters to share with other cells; None makes new ones.
    """

    _num_hidden: int
    _cells: list[BaseRNNCell]

    @decides("rnn/names")
    def __init__(self, prefix: str = "", params: RNNParams | None = None) -> None:
        self._own_params = params is None
        self._params = RNNParams(prefix) if params is None else params
        self._prefix = prefix
        self._modified = False
        self.reset()

    @decides("rnn/reset")
    def reset(self) -> None:
        """Number nodes from 0 again, before the cell is used for another graph."""
        self._init_counter = -1
        self._counter = -1
        for cell in getattr(self, "_cells", []):
            cell.reset()

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time: (output, new states).

        Args:
            inputs: of shape (batch, inputs).
            states: those of the time before, or :meth:`begin_state`.
        """
        raise self._abstract("__call__")

    def _abstract(self, what: str) -> Exception:
        return refusal(
            "rnn/abstract", f"{type(self).__name__} has no {what}: a cell class defines it", NotImplementedError,
        )

    @property
    def params(self) -> RNNParams:
        """The parameters; once asked for, the cell counts them as shared."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[StateInfo]:
        """Shape (0 for the batch) and layout of each state."""
        raise self._abstract("state_info")

    @property
    @decides("rnn/state-info")
    def state_shape(self) -> list[tuple[int, ...]]:
        """Shape of each state."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self) -> tuple[str, ...]:
        """What the gates' names add to ``i2h`` and ``h2h``, in the order of their rows."""
        return ()

    def _require_unmodified(self) -> None:
        require(
            "rnn/modified", not self._modified,
            "After applying modifier cells (e.g. ZoneoutCell) the base cell cannot be called directly. Call"
            " the modifier cell instead.", AssertionError,
        )

    @decides("rnn/begin-state")
    def begin_state(self, func: Callable[..., Symbol] = symbol.zeros, **kwargs: Any) -> States:
        """States for before the first time, made by ``func(name=..., shape=..., __layout__=..., **kwargs)``.

        Use ``mx.sym.Variable`` to feed them as inputs.

        Raises:
            AssertionError: a modifier cell stands before this one and makes the states.
        """
        self._require_unmodified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            kwargs.update(info or {})
            states.append(func(name=f"{self._prefix}begin_state_{self._init_counter}", **kwargs))
        return states

    @decides("rnn/pack")
    def unpack_weights(self, args: Mapping[str, Any]) -> Arrays:
        """Cut this cell's weights and biases into one array for each gate; leave other arrays as they are.

        Raises:
            KeyError: one of the cell's arrays is missing.
        """
        args = dict(args)
        for group in ("i2h", "h2h") if self._gate_names else ():
            whole = {kind: args.pop(f"{self._prefix}{group}_{kind}") for kind in ("weight", "bias")}
            for index, gate in enumerate(self._gate_names):
                rows = slice(index * self._num_hidden, (index + 1) * self._num_hidden)
                for kind, array in whole.items():
                    args[f"{self._prefix}{group}{gate}_{kind}"] = array[rows].copy()
        return args

    @decides("rnn/pack")
    def pack_weights(self, args: Mapping[str, Any]) -> Arrays:
        """Join what :meth:`unpack_weights` cut.

        Raises:
            KeyError: one of the gates' arrays is missing.
        """
        args = dict(args)
        for group in ("i2h", "h2h") if self._gate_names else ():
            for kind in ("weight", "bias"):
                gates = [args.pop(f"{self._prefix}{group}{gate}_{kind}") for gate in self._gate_names]
                args[f"{self._prefix}{group}_{kind}"] = ndarray.concatenate(gates)
        return args

    @decides("rnn/unroll")
    def unroll(
        self, length: int, inputs: Steps, begin_state: States | None = None, layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """The cell over ``length`` times: (outputs, states after the last).

        Args:
            length: how many times.
            inputs: one symbol in ``layout``, or a list of symbols (batch, inputs).
            begin_state: states before the first time; None takes :meth:`begin_state`.
            layout: axes of ``inputs`` and of merged outputs: ``NTC`` or ``TNC``.
            merge_outputs: True for one symbol, False for a list, None for what costs nothing.

        Raises:
            AssertionError: the inputs do not fit.
        """
        self.reset()
        steps = as_list(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
        return as_asked(length, outputs, layout, merge_outputs), states

    def _get_activation(self, inputs: Symbol, activation: str | Callable[..., Symbol], **kwargs: Any) -> Symbol:
        """The activation of ``inputs``: by its name, or by a function on symbols."""
        if isinstance(activation, str):
            kind: Any = activation
            return symbol.Activation(inputs, act_type=kind, **kwargs)
        return activation(inputs, **kwargs)


__all__ = ["Arrays", "BaseRNNCell", "RNNParams", "StateInfo"]
