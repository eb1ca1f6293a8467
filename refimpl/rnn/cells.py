"""The plain cells: RNNCell, LSTMCell and GRUCell, and the arithmetic that others share with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import symbol
from ..base import decides
from ..initializer import LSTMBias
from ..initializer.fused import GATES
from ..symbol import Symbol
from .recurrent_cell import BaseRNNCell, RNNParams, StateInfo
from .sequences import States

Activation = str | Callable[..., Symbol]


class _DenseCell(BaseRNNCell):
    """A cell whose gates are sums W x + b and R h + c, each for all gates at once."""

    def __init__(self, num_hidden: int, prefix: str, params: RNNParams | None, **bias: Any) -> None:
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._iW = self.params.get("i2h_weight")
        self._iB = self.params.get("i2h_bias", **bias)
        self._hW = self.params.get("h2h_weight")
        self._hB = self.params.get("h2h_bias")

    @property
    def state_info(self) -> list[StateInfo]:
        """One state (batch, num_hidden)."""
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"}]

    def _sums(self, inputs: Symbol, state: Symbol, name: str) -> tuple[Symbol, Symbol]:
        """The gates' part of the input and their part of the state."""
        rows = self._num_hidden * len(self._gate_names)
        return (
            symbol.FullyConnected(
                data=inputs, weight=self._iW, bias=self._iB, num_hidden=rows, name=f"{name}i2h",
            ),
            symbol.FullyConnected(
                data=state, weight=self._hW, bias=self._hB, num_hidden=rows, name=f"{name}h2h",
            ),
        )


class RNNCell(_DenseCell):
    """A simple cell: h = act(W x + b + R h' + c), and the output is h.

    Args:
        num_hidden: numbers in the output and the state.
        activation: a name that Activation knows, or a function on symbols.
        prefix: what names begin with.
        params: parameters to share.
    """

    def __init__(
        self, num_hidden: int, activation: Activation = "tanh", prefix: str = "rnn_",
        params: RNNParams | None = None,
    ) -> None:
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    @property
    def _gate_names(self) -> tuple[str, ...]:
        return GATES["rnn_tanh"]

    @decides("rnn/simple-cell")
    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time: (output, [state])."""
        self._counter += 1
        name = f"{self._prefix}t{self._counter}_"
        i2h, h2h = self._sums(inputs, states[0], name)
        output = self._get_activation(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


@decides("rnn/lstm-cell")
def lstm_step(
    sums: Symbol, cell: Symbol, activate: Callable[..., Symbol], name: str, **axis: Any
) -> tuple[Symbol, States]:
    """One time of an LSTM from the sums of its gates and its memory cell: (output, [state, cell])."""
    gates = symbol.SliceChannel(sums, num_outputs=4, name=f"{name}slice", **axis)
    write = symbol.Activation(gates[0], act_type="sigmoid", name=f"{name}i")
    keep = symbol.Activation(gates[1], act_type="sigmoid", name=f"{name}f")
    new = activate(gates[2], name=f"{name}c")
    show = symbol.Activation(gates[3], act_type="sigmoid", name=f"{name}o")
    cell = symbol.elemwise_add(keep * cell, write * new, name=f"{name}state")
    output = symbol.elemwise_mul(show, activate(cell), name=f"{name}out")
    return output, [output, cell]


class LSTMCell(_DenseCell):
    """A long short-term memory cell with the gates i, f, c, o in this order.

    c = f c' + i g and h = o tanh(c), where i, f and o are sigmoids of sums W x + b + R h' + c and g is the
    tanh of one. The states are h and c.

    Args:
        num_hidden: numbers in the output and in each state.
        prefix: what names begin with.
        params: parameters to share.
        forget_bias: first value of the forget gate's input bias.
    """

    def __init__(
        self, num_hidden: int, prefix: str = "lstm_", params: RNNParams | None = None,
        forget_bias: float = 1.0,
    ) -> None:
        super().__init__(num_hidden, prefix, params, init=LSTMBias(forget_bias=forget_bias))

    @property
    def state_info(self) -> list[StateInfo]:
        """Two states (batch, num_hidden)."""
        return [info.copy() for info in super().state_info * 2]

    @property
    def _gate_names(self) -> tuple[str, ...]:
        return GATES["lstm"]

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time: (output, [state, cell])."""
        self._counter += 1
        name = f"{self._prefix}t{self._counter}_"
        i2h, h2h = self._sums(inputs, states[0], name)

        def activate(value: Symbol, **kwargs: Any) -> Symbol:
            return symbol.Activation(value, act_type="tanh", **kwargs)

        return lstm_step(i2h + h2h, states[1], activate, name)


@decides("rnn/gru-cell")
def gru_step(
    i2h: Symbol, h2h: Symbol, state: Symbol, activate: Callable[..., Symbol], name: str, output_name: str
) -> tuple[Symbol, States]:
    """One time of a GRU from both parts of the sums of its gates: (output, [state])."""
    from_input = symbol.SliceChannel(i2h, num_outputs=3, name=f"{name}_i2h_slice")
    from_state = symbol.SliceChannel(h2h, num_outputs=3, name=f"{name}_h2h_slice")
    reset = symbol.Activation(from_input[0] + from_state[0], act_type="sigmoid", name=f"{name}_r_act")
    keep = symbol.Activation(from_input[1] + from_state[1], act_type="sigmoid", name=f"{name}_z_act")
    new = activate(from_input[2] + reset * from_state[2], name=f"{name}_h_act")
    output = symbol.elemwise_add((1.0 - keep) * new, keep * state, name=output_name)
    return output, [output]


class GRUCell(_DenseCell):
    """A gated recurrent unit with the gates r, z, o in this order.

    h = (1 - z) n + z h', where r and z are sigmoids of sums W x + b + R h' + c, and
    n = tanh((W x + b) + r (R h' + c)).

    Args:
        num_hidden: numbers in the output and the state.
        prefix: what names begin with.
        params: parameters to share.
    """

    def __init__(self, num_hidden: int, prefix: str = "gru_", params: RNNParams | None = None) -> None:
        super().__init__(num_hidden, prefix, params)

    @property
    def _gate_names(self) -> tuple[str, ...]:
        return GATES["gru"]

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time: (output, [state])."""
        self._counter += 1
        name = f"{self._prefix}t{self._counter}_"
        i2h, h2h = self._sums(inputs, states[0], f"{name}_")

        def activate(value: Symbol, **kwargs: Any) -> Symbol:
            return symbol.Activation(value, act_type="tanh", **kwargs)

        return gru_step(i2h, h2h, states[0], activate, name, f"{name}out")


__all__ = ["Activation", "GRUCell", "LSTMCell", "RNNCell", "gru_step", "lstm_step"]
