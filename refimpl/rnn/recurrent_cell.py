"""The base of all cells: a cell makes the part of a network that belongs to one time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
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
        known, full = self._params, f"{self._prefix}{name}"
        if full not in known:
            known[full] = symbol.Variable(full, **kwargs)
        return known[full]


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
            "a modifier cell, such as ZoneoutCell, stands before this cell: call the modifier cell",
            AssertionError,
        )

    @decides("rnn/begin-state")
    def begin_state(self, func: Callable[..., Symbol] = symbol.zeros, **kwargs: Any) -> States:
        """States for before the first time, made by ``func(name=..., shape=..., __layout__=..., **kwargs)``.

        Use ``mx.sym.Variable`` to feed them as inputs.

        Raises:
            AssertionError: a modifier cell stands before this one and makes the states.
        """
        self._require_unmodified()
        infos, number = self.state_info, self._init_counter + 1
        self._init_counter += len(infos)
        return [
            func(name=f"{self._prefix}begin_state_{number + place}", **{**kwargs, **(info or {})})
            for place, info in enumerate(infos)
        ]

    def _pieces(self) -> Iterator[tuple[str, str, slice]]:
        """The name of each gate's weight and bias, and the array and rows that it is cut from."""
        for group, (number, gate), kind in product(("i2h", "h2h"), enumerate(self._gate_names), ("weight", "bias")):
            rows = slice(number * self._num_hidden, (number + 1) * self._num_hidden)
            yield f"{self._prefix}{group}{gate}_{kind}", f"{self._prefix}{group}_{kind}", rows

    @decides("rnn/pack")
    def unpack_weights(self, args: Mapping[str, Any]) -> Arrays:
        """Cut this cell's weights and biases into one array for each gate; leave other arrays as they are.

        Raises:
            KeyError: one of the cell's arrays is missing.
        """
        cut = {piece: args[whole][rows].copy() for piece, whole, rows in self._pieces()}
        wholes = {whole for _, whole, _ in self._pieces()}
        return {name: array for name, array in args.items() if name not in wholes} | cut

    @decides("rnn/pack")
    def pack_weights(self, args: Mapping[str, Any]) -> Arrays:
        """Join what :meth:`unpack_weights` cut.

        Raises:
            KeyError: one of the gates' arrays is missing.
        """
        gates: dict[str, Arrays] = {}
        for piece, whole, _ in self._pieces():
            gates.setdefault(whole, {})[piece] = args[piece]
        joined = {whole: ndarray.concatenate(list(arrays.values())) for whole, arrays in gates.items()}
        pieces = {piece for piece, _, _ in self._pieces()}
        return {name: array for name, array in args.items() if name not in pieces} | joined

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
        kind: Any = activation
        apply = partial(symbol.Activation, act_type=kind) if isinstance(activation, str) else activation
        return apply(inputs, **kwargs)


__all__ = ["Arrays", "BaseRNNCell", "RNNParams", "StateInfo"]
