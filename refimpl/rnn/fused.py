"""FusedRNNCell: several layers over all times as one node of the operator RNN."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .. import symbol
from ..base import decides, refusal, require
from ..initializer import FusedRNN
from ..initializer.fused import GATES, PackedWeights, require_mode
from ..symbol import Symbol
from .cells import GRUCell, LSTMCell, RNNCell
from .combined import BidirectionalCell, SequentialRNNCell
from .dropout_cell import DropoutCell
from .recurrent_cell import Arrays, BaseRNNCell, RNNParams, StateInfo
from .sequences import States, Steps, as_asked, as_one, time_axis

_CELLS: dict[str, Callable[..., BaseRNNCell]] = {
    "rnn_relu": partial(RNNCell, activation="relu"), "rnn_tanh": partial(RNNCell, activation="tanh"),
    "lstm": LSTMCell, "gru": GRUCell,
}
"""The plain cell of each mode."""


class FusedRNNCell(BaseRNNCell):
    """Layers of one kind of cell, computed by the operator RNN, with all weights in one vector.

    Args:
        num_hidden: numbers in the output of each direction and in each state.
        num_layers: how many layers.
        mode: ``"rnn_relu"``, ``"rnn_tanh"``, ``"lstm"`` or ``"gru"``.
        bidirectional: let each layer go both ways.
        dropout: share of numbers between layers that become 0 in training.
        get_next_state: return the states after the last time.
        forget_bias: first value of both biases of an LSTM's forget gates.
        prefix: what names begin with; None takes the mode.
        params: parameters to share.

    Raises:
        MXNetError: ``mode`` is unknown.
    """

    def __init__(
        self, num_hidden: int, num_layers: int = 1, mode: str = "lstm", bidirectional: bool = False,
        dropout: float = 0.0, get_next_state: bool = False, forget_bias: float = 1.0,
        prefix: str | None = None, params: RNNParams | None = None,
    ) -> None:
        require_mode(mode)
        super().__init__(prefix=f"{mode}_" if prefix is None else prefix, params=params)
        self._mode: Any = mode
        self._bidirectional = bidirectional
        self._num_hidden, self._num_layers = num_hidden, num_layers
        self._dropout, self._forget_bias = dropout, forget_bias
        self._get_next_state = get_next_state
        self._parameter = self.params.get(
            "parameters", init=FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        )
        self._parameter_name = str(self._parameter.name)

    @property
    def state_info(self) -> list[StateInfo]:
        """States (layers * directions, batch, num_hidden): two for an LSTM, else one."""
        rows = self._num_layers * len(self._packed.directions)
        info = {"shape": (rows, 0, self._num_hidden), "__layout__": "LNC"}
        return [info.copy() for _ in range(2 if self._mode == "lstm" else 1)]

    @property
    def _gate_names(self) -> tuple[str, ...]:
        return GATES[self._mode]

    @property
    def _num_gates(self) -> int:
        return len(self._gate_names)

    @property
    def _packed(self) -> PackedWeights:
        return PackedWeights(
            self._num_hidden, self._num_layers, self._mode, self._bidirectional, self._prefix
        )

    @decides("rnn/pack")
    def unpack_weights(self, args: Mapping[str, Any]) -> Arrays:
        """Cut the vector into weights and biases for each layer, direction and gate.

        Raises:
            KeyError: the vector is missing.
            AssertionError: it has not the length that this cell asks for.
        """
        args = dict(args)
        views = self._packed.views(args.pop(self._parameter_name))
        return args | {name: view.copy() for name, view in views.items()}

    @decides("rnn/pack")
    def pack_weights(self, args: Mapping[str, Any]) -> Arrays:
        """Join what :meth:`unpack_weights` cut.

        Raises:
            KeyError: one of the gates' arrays is missing.
        """
        vector = self._packed.pack(args)
        parts = self._packed.shapes(1)
        return {name: array for name, array in args.items() if name not in parts} | {
            self._parameter_name: vector
        }

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Refuse: all times are one node (NotImplementedError)."""
        raise refusal("rnn/step", "FusedRNNCell computes all times at once: use unroll", NotImplementedError)

    @decides("rnn/fused")
    def unroll(
        self, length: int, inputs: Steps, begin_state: States | None = None, layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """One node for all times; see :meth:`BaseRNNCell.unroll`. The layout TNC costs no transposing.

        Raises:
            AssertionError: the inputs do not fit, or ``T`` is neither first nor second in the layout.
        """
        self.reset()
        axis = time_axis(layout)
        require("rnn/layout", axis in {0, 1}, f"layout is NTC or TNC, not {layout}", AssertionError)
        batch_first = axis == 1
        data = as_one(length, inputs, layout)
        if batch_first:
            warnings.warn("the operator RNN takes TNC: inputs in NTC are transposed for it", stacklevel=2)
            data = symbol.swapaxes(data, dim1=0, dim2=1)
        states = self.begin_state() if begin_state is None else begin_state
        before: dict[str, Any] = dict(zip(("state", "state_cell"), states, strict=False))
        node = symbol.RNN(
            data=data, parameters=self._parameter, **before, state_outputs=self._get_next_state, mode=self._mode,
            state_size=self._num_hidden, num_layers=self._num_layers, bidirectional=self._bidirectional,
            p=self._dropout, name=f"{self._prefix}rnn",
        )
        output, *after = list(node) if self._get_next_state else [node]
        for state in after:
            state._set_attr(__layout__="LNC")
        if batch_first:
            output = symbol.swapaxes(output, dim1=0, dim2=1)
        return as_asked(length, output, layout, merge_outputs), after

    @decides("rnn/unfuse")
    def unfuse(self) -> SequentialRNNCell:
        """Plain cells that compute the same: load them with ``unfused.pack_weights(fused.unpack_weights(args))``."""
        own = {"forget_bias": self._forget_bias} if self._mode == "lstm" else {}
        make = partial(_CELLS[self._mode], self._num_hidden, **own)
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            if layer and self._dropout > 0:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer - 1}_"))
            first, *other = (
                make(prefix=f"{self._prefix}{way}{layer}_") for way in self._packed.directions
            )
            stack.add(
                BidirectionalCell(first, other[0], output_prefix=f"{self._prefix}bi_l{layer}_") if other else first
            )
        return stack


__all__ = ["FusedRNNCell"]
