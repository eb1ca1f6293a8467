"""The cell that applies dropout between two others."""

from __future__ import annotations

from typing import Any

from .. import symbol
from ..base import decides, numeric_types, require
from ..symbol import Symbol
from .recurrent_cell import BaseRNNCell, RNNParams, StateInfo
from .sequences import States, Steps, as_asked


class DropoutCell(BaseRNNCell):
    """Dropout on the outputs of the cell before it in a sequence; it has no states.

    Args:
        dropout: share of numbers that become 0 in training; 0 or less does nothing.
        prefix, params: as every cell has them.

    Raises:
        AssertionError: ``dropout`` is not a number.
    """

    def __init__(self, dropout: float, prefix: str = "dropout_", params: RNNParams | None = None) -> None:
        super().__init__(prefix, params)
        require(
            "rnn/dropout-cell", isinstance(dropout, numeric_types),
            f"dropout probability must be a number, got {dropout!r}", AssertionError,
        )
        self.dropout = dropout

    @property
    def state_info(self) -> list[StateInfo]:
        """None."""
        return []

    @decides("rnn/dropout-cell")
    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time: (output, states as they were)."""
        if self.dropout > 0:
            inputs = symbol.Dropout(data=inputs, p=self.dropout)
        return inputs, states

    def unroll(
        self, length: int, inputs: Steps, begin_state: States | None = None, layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """Dropout of all times at once where they are one symbol; see :meth:`BaseRNNCell.unroll`."""
        self.reset()
        inputs = as_asked(length, inputs, layout, merge_outputs)
        if isinstance(inputs, Symbol):
            return self(inputs, [])
        return [self(step, [])[0] for step in inputs], []


__all__ = ["DropoutCell"]
