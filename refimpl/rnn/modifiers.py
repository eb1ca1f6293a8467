"""Cells that change what another cell does: zoneout and residual connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import symbol
from ..base import decides, require
from ..symbol import Symbol
from .combined import BidirectionalCell, SequentialRNNCell
from .dropout_cell import DropoutCell
from .fused import FusedRNNCell
from .recurrent_cell import Arrays, BaseRNNCell, RNNParams, StateInfo
from .sequences import States, Steps, as_asked


class ModifierCell(BaseRNNCell):
    """Base class of cells that change another cell and use its parameters.

    Args:
        base_cell: the cell; from now on it makes no states by itself.
    """

    def __init__(self, base_cell: BaseRNNCell) -> None:
        base_cell._modified = True
        super().__init__()
        self.base_cell = base_cell

    @property
    def params(self) -> RNNParams:
        """The parameters of the base cell."""
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self) -> list[StateInfo]:
        """The states of the base cell."""
        return self.base_cell.state_info

    def _with_base(self, work: Callable[[], Any]) -> Any:
        """Let the base cell make states while ``work`` is done."""
        self.base_cell._modified = False
        try:
            return work()
        finally:
            self.base_cell._modified = True

    def begin_state(  # type: ignore[override]  # MXNet's name of the argument
        self, init_sym: Callable[..., Symbol] = symbol.zeros, **kwargs: Any
    ) -> States:
        """States of the base cell, made by ``init_sym`` (or ``func``, as other cells name it).

        Raises:
            AssertionError: another modifier cell stands before this one and makes the states.
        """
        self._require_unmodified()
        func = kwargs.pop("func", init_sym)
        if isinstance(self.base_cell, ModifierCell):
            return self._with_base(lambda: self.base_cell.begin_state(init_sym=func, **kwargs))
        return self._with_base(lambda: self.base_cell.begin_state(func=func, **kwargs))

    def unpack_weights(self, args: Mapping[str, Any]) -> Arrays:
        """Cut the base cell's weights into gates."""
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args: Mapping[str, Any]) -> Arrays:
        """Join the base cell's gates."""
        return self.base_cell.pack_weights(args)


def _holds_bidirectional(cell: BaseRNNCell) -> bool:
    if isinstance(cell, SequentialRNNCell):
        return any(_holds_bidirectional(inner) for inner in cell._cells)
    if isinstance(cell, ModifierCell):
        return _holds_bidirectional(cell.base_cell)
    return isinstance(cell, BidirectionalCell)


class ZoneoutCell(ModifierCell):
    """In training, numbers of outputs and states keep the values of the time before, by chance.

    Args:
        base_cell: the cell whose outputs and states these are.
        zoneout_outputs, zoneout_states: the share of numbers that stay.

    Raises:
        AssertionError: the base cell cannot go time by time.
    """

    def __init__(
        self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0
    ) -> None:
        require(
            "rnn/zoneout-base", not isinstance(base_cell, FusedRNNCell),
            "zoneout goes time by time, a FusedRNNCell does not: unfuse() it", AssertionError,
        )
        require(
            "rnn/zoneout-base", not _holds_bidirectional(base_cell),
            "zoneout goes time by time, a BidirectionalCell does not: put a ZoneoutCell around each cell underneath",
            AssertionError,
        )
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self.prev_output: Symbol | None = None

    def reset(self) -> None:
        """Number nodes from 0 again, and forget the output of the time before."""
        super().reset()
        self.prev_output = None

    @decides("rnn/zoneout")
    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time: (output, states)."""
        output, after = self.base_cell(inputs, states)
        before = self.prev_output
        if before is None:
            infos = self.base_cell.state_info
            before = symbol.zeros((0,) * (len(infos[0]["shape"]) if infos else 2))
        if self.zoneout_outputs:
            output = _mixed(output, before, self.zoneout_outputs)
        if self.zoneout_states:
            after = [_mixed(*pair, self.zoneout_states) for pair in zip(after, states, strict=True)]
        self.prev_output = output
        return output, after


def _mixed(new: Symbol, old: Symbol, share: float) -> Symbol:
    """``new``, but in training a random share of ``old``."""
    chosen = symbol.Dropout(symbol.ones_like(new), p=share)
    return symbol.where(chosen, new, old)


@decides("rnn/residual")
class ResidualCell(ModifierCell):
    """Adds the inputs to the outputs of the base cell, which have the same shape."""

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time: (output, states)."""
        output, states = self.base_cell(inputs, states)
        return _plus(output, inputs), states

    def unroll(
        self, length: int, inputs: Steps, begin_state: States | None = None, layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """Unroll the base cell and add the inputs; see :meth:`BaseRNNCell.unroll`."""
        self.reset()
        outputs, states = self._with_base(
            lambda: self.base_cell.unroll(
                length, inputs, begin_state=begin_state, layout=layout, merge_outputs=merge_outputs,
            )
        )
        merged = isinstance(outputs, Symbol)
        added = as_asked(length, inputs, layout, merged)
        if merged:
            return _plus(outputs, added), states
        return [_plus(*pair) for pair in zip(outputs, added, strict=True)], states


def _plus(output: Symbol, inputs: Any) -> Symbol:
    return symbol.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")


__all__ = ["DropoutCell", "ModifierCell", "ResidualCell", "ZoneoutCell"]
