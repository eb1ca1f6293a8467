"""FusedRNN: first values of the one vector that holds all weights of a fused recurrent network."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from ..base import decides, refusal, require
from ..ndarray import NDArray, zeros
from .initializer import InitDesc, Initializer, create, register

# Mode of a recurrent network -> the names of its gates, in the order of their rows in a matrix.
GATES: dict[str, tuple[str, ...]] = {
    "rnn_relu": ("",), "rnn_tanh": ("",), "lstm": ("_i", "_f", "_c", "_o"), "gru": ("_r", "_z", "_o"),
}


def require_mode(mode: str) -> None:
    """Refuse what is not a mode (MXNetError)."""
    require("rnn/mode", mode in GATES, f"mode must be one of {', '.join(GATES)}, got {mode!r}")


class PackedWeights(NamedTuple):
    """Where each gate's weight and bias lie in the vector ``PREFIXparameters``.

    Layer by layer, and direction by direction in each, come the gates' weights of the input (i2h), then
    those of the state (h2h); behind all weights come the biases in the same order.
    """

    num_hidden: int
    num_layers: int
    mode: str
    bidirectional: bool = False
    prefix: str = ""

    @property
    def directions(self) -> tuple[str, ...]:
        """Letters of the directions: ``l`` for forwards, ``r`` for backwards."""
        return ("l", "r") if self.bidirectional else ("l",)

    def shapes(self, num_input: int) -> dict[str, tuple[int, ...]]:
        """Shape of every piece by name, in the order of the vector, for inputs of this many numbers."""
        weights: dict[str, tuple[int, ...]] = {}
        biases: dict[str, tuple[int, ...]] = {}
        for layer in range(self.num_layers):
            columns = self.num_hidden * len(self.directions) if layer else num_input
            for direction in self.directions:
                for group, width in (("i2h", columns), ("h2h", self.num_hidden)):
                    for gate in GATES[self.mode]:
                        name = f"{self.prefix}{direction}{layer}_{group}{gate}"
                        weights[f"{name}_weight"] = (self.num_hidden, width)
                        biases[f"{name}_bias"] = (self.num_hidden,)
        return weights | biases

    def size(self, num_input: int) -> int:
        """Length of the vector."""
        return sum(prod(shape) for shape in self.shapes(num_input).values())

    def num_input(self, size: int) -> int:
        """How many numbers an input has, from the length of the vector.

        Raises:
            AssertionError: no number of inputs gives this length.
        """
        smallest = self.size(1)
        each = self.size(2) - smallest
        found, rest = divmod(size - smallest, each)
        require(
            "rnn/parameters-size", rest == 0 and found >= 0,
            f"the vector of a FusedRNNCell has {size} numbers; {self.num_layers} layers of"
            f" {self.num_hidden} {self.mode} units have {smallest} for one input and {each} more for"
            " each further one", AssertionError,
        )
        return 1 + found

    @decides("rnn/packed-order")
    def views(self, vector: NDArray) -> dict[str, NDArray]:
        """Every piece of the vector by name, as a view: writing to it writes to the vector."""
        pieces, start = {}, 0
        for name, shape in self.shapes(self.num_input(vector.size)).items():
            pieces[name] = vector[start : start + prod(shape)].reshape(shape)
            start += prod(shape)
        return pieces

    def pack(self, pieces: Mapping[str, NDArray]) -> NDArray:
        """One vector out of the pieces, with the type and context of the first.

        Raises:
            KeyError: a piece is missing.
        """
        first = pieces[next(iter(self.shapes(1)))]
        vector = zeros(self.size(first.shape[1]), ctx=first.context, dtype=first.dtype)
        for name, view in self.views(vector).items():
            view[:] = pieces[name]
        return vector


@register
@decides("Initializer/fused")
class FusedRNN(Initializer):
    """Fills the parameters of a FusedRNNCell gate by gate, as the unfused weights would be filled.

    Args:
        init: an initializer, its name or its :meth:`dumps`; None takes the network's own.
        num_hidden, num_layers, mode, bidirectional: those of the cell.
        forget_bias: what both biases of an LSTM's forget gates are filled with.

    Raises:
        AttributeError: ``init`` is none of these.
        MXNetError: ``mode`` is unknown.
    """

    def __init__(
        self, init: Any, num_hidden: int, num_layers: int, mode: str, bidirectional: bool = False,
        forget_bias: float = 1.0,
    ) -> None:
        require_mode(mode)
        self._init = create(init) if isinstance(init, str) else init
        require(
            "Initializer/fused-inner", self._init is None or isinstance(self._init, Initializer),
            f"init must be an Initializer, its name or its dumps(), or None, got {init!r}", AttributeError,
        )
        super().__init__(
            init=None if self._init is None else self._init.dumps(), num_hidden=num_hidden,
            num_layers=num_layers, mode=mode, bidirectional=bidirectional, forget_bias=forget_bias,
        )
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:
        network = getattr(name, "global_init", None)
        fill = self._init or (None if network is self else network)
        if fill is None:
            raise refusal(
                "Initializer/fused-inner", f"{name}: FusedRNN has no initializer to fill the weights with;"
                " give it one, or an InitDesc with a global_init", TypeError,
            )
        packed = PackedWeights(self._num_hidden, self._num_layers, self._mode, self._bidirectional)
        for piece, view in packed.views(arr).items():
            if self._mode == "lstm" and piece.endswith("_f_bias"):
                view[:] = self._forget_bias
            else:
                fill(InitDesc(piece, global_init=network), view)


__all__ = ["GATES", "FusedRNN", "PackedWeights", "require_mode"]
