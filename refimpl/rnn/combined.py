"""Cells made of cells: one after another, and one for each direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import symbol
from ..base import decides, refusal, require
from ..symbol import Symbol
from .recurrent_cell import Arrays, BaseRNNCell, RNNParams, StateInfo
from .sequences import States, Steps, as_list, time_axis


class _Cells(BaseRNNCell):
    """Several cells whose states lie one after another in one list."""

    def __init__(self, params: RNNParams | None) -> None:
        super().__init__(prefix="", params=params)
        self._override_cell_params = params is not None
        self._cells = []

    def _adopt(self, *cells: BaseRNNCell) -> None:
        """Add cells, and their parameters to ours.

        Raises:
            AssertionError: we were given parameters, and a cell has its own in use.
        """
        for cell in cells if self._override_cell_params else ():
            require(
                "rnn/params", cell._own_params,
                f"the cells of a {type(self).__name__} with params take these: make them without params",
                AssertionError,
            )
        for cell in cells:
            if self._override_cell_params:
                cell.params._params.update(self.params._params)
            self.params._params.update(cell.params._params)
            self._cells.append(cell)

    @property
    def state_info(self) -> list[StateInfo]:
        """The states of all cells, in order."""
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, **kwargs: Any) -> States:  # type: ignore[override]  # func is one of the keywords
        """States for before the first time; see :meth:`BaseRNNCell.begin_state`.

        Raises:
            AssertionError: a modifier cell stands before this one and makes the states.
        """
        self._require_unmodified()
        return [state for cell in self._cells for state in cell.begin_state(**kwargs)]

    def unpack_weights(self, args: Mapping[str, Any]) -> Arrays:
        """Cut every cell's weights into gates."""
        args = dict(args)
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args: Mapping[str, Any]) -> Arrays:
        """Join every cell's gates."""
        args = dict(args)
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args

    def _with_states(self, states: Any) -> Iterator[tuple[BaseRNNCell, States]]:
        """Each cell with its own states, out of one list or of the nested lists that unroll returns."""
        states, start = _flat(states), 0
        for cell in self._cells:
            stop = start + len(cell.state_info)
            yield cell, states[start:stop]
            start = stop


def _flat(states: Any) -> States:
    if isinstance(states, (list, tuple)):
        return [state for inner in states for state in _flat(inner)]
    return [states]


@decides("rnn/sequential")
class SequentialRNNCell(_Cells):
    """Cells one upon another: the output of each is the input of the next.

    Args:
        params: parameters to share with the cells that are added.
    """

    def __init__(self, params: RNNParams | None = None) -> None:
        super().__init__(params)

    def add(self, cell: BaseRNNCell) -> None:
        """Put a cell on top.

        Raises:
            AssertionError: both this cell and ``cell`` were given parameters.
        """
        self._adopt(cell)

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """One time of all cells: (output of the last, states of all).

        Raises:
            AssertionError: one of them is bidirectional, which cannot go time by time.
        """
        self._counter += 1
        after: States = []
        for cell, own in self._with_states(states):
            require(
                "rnn/step", not isinstance(cell, BidirectionalCell),
                "a BidirectionalCell among the cells needs the whole sequence: use unroll", AssertionError,
            )
            inputs, new = cell(inputs, own)
            after.extend(new)
        return inputs, after

    def unroll(
        self, length: int, inputs: Steps, begin_state: States | None = None, layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """Unroll cell after cell; see :meth:`BaseRNNCell.unroll`."""
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        after: States = []
        for cell, own in self._with_states(states):
            inputs, new = cell.unroll(
                length, inputs, begin_state=own, layout=layout,
                merge_outputs=merge_outputs if cell is self._cells[-1] else None,
            )
            after.extend(new)
        return inputs, after


class BidirectionalCell(_Cells):
    """Two cells over the same sequence, the second from its end; outputs lie side by side.

    Args:
        l_cell: goes forwards.
        r_cell: goes backwards.
        params: parameters to share with both.
        output_prefix: what the names of the joined outputs begin with.

    Raises:
        AssertionError: both this cell and one of the two were given parameters.
    """

    def __init__(
        self, l_cell: BaseRNNCell, r_cell: BaseRNNCell, params: RNNParams | None = None,
        output_prefix: str = "bi_",
    ) -> None:
        super().__init__(params)
        self._output_prefix = output_prefix
        self._adopt(l_cell, r_cell)

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Refuse: the second direction begins at the end (NotImplementedError)."""
        raise refusal("rnn/step", "a BidirectionalCell needs the whole sequence: use unroll", NotImplementedError)

    @decides("rnn/bidirectional-cell")
    def unroll(
        self, length: int, inputs: Steps, begin_state: States | None = None, layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """Unroll both ways; see :meth:`BaseRNNCell.unroll`."""
        self.reset()
        axis = time_axis(layout)
        steps = as_list(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        results: list[Any] = []
        after: Any = []  # a list for each direction, as in MXNet
        for (cell, own), given in zip(self._with_states(states), (steps, steps[::-1]), strict=True):
            outputs, new = cell.unroll(
                length, given, begin_state=own, layout=layout, merge_outputs=merge_outputs,
            )
            results.append(outputs)
            after.append(new)
        if merge_outputs is None:
            merge_outputs = all(isinstance(outputs, Symbol) for outputs in results)
        if merge_outputs:
            forwards, backwards = results
            joined: Steps = symbol.Concat(
                forwards, symbol.reverse(backwards, axis=axis), dim=2, name=f"{self._output_prefix}out",
            )
        else:
            first, second = (as_list(length, outputs, layout) for outputs in results)
            joined = [
                symbol.Concat(*pair, dim=1, name=f"{self._output_prefix}t{time}")
                for time, pair in enumerate(zip(first, reversed(second), strict=True))
            ]
        return joined, after


__all__ = ["BidirectionalCell", "SequentialRNNCell"]
