"""Cells over pictures: their sums are convolutions, and their states are pictures too."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from .. import symbol
from ..base import decides, require
from ..initializer.fused import GATES
from ..symbol import Symbol
from .cells import Activation, gru_step, lstm_step
from .recurrent_cell import BaseRNNCell, RNNParams, StateInfo
from .sequences import States

Sides = tuple[int, ...]
_LEAKY: Any = partial(getattr(symbol, "LeakyReLU"), act_type="leaky", slope=0.2)  # noqa: B009  # mypy cannot see operators


@decides("rnn/convolutional")
class BaseConvRNNCell(BaseRNNCell):
    """Base class of convolutional cells.

    Args:
        input_shape: shape of one batch of inputs in ``conv_layout``; the batch size does not matter.
        num_hidden: channels of the output and of each state.
        h2h_kernel, h2h_dilate: sides of the convolution of the state, all kernel sides odd; it is padded
            so that the state keeps its shape.
        i2h_kernel, i2h_stride, i2h_pad, i2h_dilate: sides of the convolution of the input.
        i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer: an
            initializer or its name for each parameter, or None for the network's own.
        activation: a name that Activation knows, or a function on symbols.
        prefix, params: as every cell has them.
        conv_layout: axes of inputs and states.

    Raises:
        AssertionError: a side of ``h2h_kernel`` is even.
        MXNetError: the convolution does not fit ``input_shape`` or ``conv_layout``.
    """

    def __init__(
        self, input_shape: Sides, num_hidden: int, h2h_kernel: Sides, h2h_dilate: Sides, i2h_kernel: Sides,
        i2h_stride: Sides, i2h_pad: Sides, i2h_dilate: Sides, i2h_weight_initializer: Any,
        h2h_weight_initializer: Any, i2h_bias_initializer: Any, h2h_bias_initializer: Any,
        activation: Activation, prefix: str = "", params: RNNParams | None = None, conv_layout: str = "NCHW",
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        require(
            "rnn/odd-kernel", all(side % 2 == 1 for side in h2h_kernel),
            f"the sides of h2h_kernel are odd, so that the state keeps its shape, not {h2h_kernel}", AssertionError,
        )
        # a padding of half of what the kernel covers keeps the shape of the state
        padding = tuple(dilate * (side - 1) // 2 for side, dilate in zip(h2h_kernel, h2h_dilate, strict=True))
        self._sides: dict[str, dict[str, Any]] = {
            "i2h": {"kernel": i2h_kernel, "stride": i2h_stride, "pad": i2h_pad, "dilate": i2h_dilate},
            "h2h": {"kernel": h2h_kernel, "stride": (1,) * len(h2h_kernel), "pad": padding, "dilate": h2h_dilate},
        }
        self._num_hidden, self._activation = num_hidden, activation
        self._input_shape = input_shape
        self._conv_layout = cast("Any", conv_layout)
        once = symbol.Convolution(
            symbol.Variable("data"), num_filter=num_hidden, kernel=i2h_kernel, stride=i2h_stride, pad=i2h_pad,
            dilate=i2h_dilate, layout=self._conv_layout,
        )
        _, outputs, _ = once.infer_shape_partial(data=input_shape)
        self._state_shape = (0, *outputs[0][1:])
        self._weights: dict[str, dict[str, Any]] = {
            "i2h": {
                "weight": self.params.get("i2h_weight", init=i2h_weight_initializer),
                "bias": self.params.get("i2h_bias", init=i2h_bias_initializer),
            },
            "h2h": {
                "weight": self.params.get("h2h_weight", init=h2h_weight_initializer),
                "bias": self.params.get("h2h_bias", init=h2h_bias_initializer),
            },
        }

    @property
    def _num_gates(self) -> int:
        return len(self._gate_names)

    @property
    def state_info(self) -> list[StateInfo]:
        """Shape and layout of the states: two, until a subclass says otherwise."""
        return [{"shape": self._state_shape, "__layout__": self._conv_layout} for _ in range(2)]

    def _conv_forward(self, inputs: Symbol, states: States, name: str) -> tuple[Symbol, Symbol]:
        """The gates' part of the input and their part of the state."""
        filters = self._num_hidden * self._num_gates
        i2h, h2h = (
            symbol.Convolution(
                data=data, **self._weights[part], **self._sides[part], num_filter=filters,
                layout=self._conv_layout, name=f"{name}{part}",
            )
            for part, data in (("i2h", inputs), ("h2h", states[0]))
        )
        return i2h, h2h

    def _activate(self, value: Symbol, **kwargs: Any) -> Symbol:
        return self._get_activation(value, self._activation, **kwargs)

    def _next_name(self) -> str:
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"


class _ConvCell(BaseConvRNNCell):
    """The arguments and defaults that the three cells have in common."""

    _kind: str
    _mode: str

    def __init__(
        self, input_shape: Sides, num_hidden: int, h2h_kernel: Sides = (3, 3), h2h_dilate: Sides = (1, 1),
        i2h_kernel: Sides = (3, 3), i2h_stride: Sides = (1, 1), i2h_pad: Sides = (1, 1),
        i2h_dilate: Sides = (1, 1), i2h_weight_initializer: Any = None, h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros", h2h_bias_initializer: Any = "zeros",
        activation: Activation = _LEAKY, prefix: str | None = None, params: RNNParams | None = None,
        conv_layout: str = "NCHW",
    ) -> None:
        super().__init__(
            input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate,
            i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
            activation, f"{self._kind}_" if prefix is None else prefix, params, conv_layout,
        )

    @property
    def state_info(self) -> list[StateInfo]:
        """Shape and layout of the states: two for an LSTM, else one."""
        return super().state_info[: 2 if self._mode == "lstm" else 1]

    @property
    def _gate_names(self) -> tuple[str, ...]:
        return GATES[self._mode]


class ConvRNNCell(_ConvCell):
    """RNNCell with convolutions; arguments as :class:`BaseConvRNNCell`."""

    _kind, _mode = "ConvRNN", "rnn_tanh"

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time: (output, [state])."""
        name = self._next_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        output = self._activate(i2h + h2h, name=f"{name}out")
        return output, [output]


class ConvLSTMCell(_ConvCell):
    """LSTMCell with convolutions; arguments as :class:`BaseConvRNNCell`."""

    _kind, _mode = "ConvLSTM", "lstm"

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time: (output, [state, cell])."""
        name = self._next_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        return lstm_step(i2h + h2h, states[1], self._activate, name, axis=self._conv_layout.find("C"))


class ConvGRUCell(_ConvCell):
    """GRUCell with convolutions; arguments as :class:`BaseConvRNNCell`."""

    _kind, _mode = "ConvGRU", "gru"

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time: (output, [state])."""
        name = self._next_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        return gru_step(i2h, h2h, states[0], self._activate, name, f"{name}out")


__all__ = ["BaseConvRNNCell", "ConvGRUCell", "ConvLSTMCell", "ConvRNNCell"]
