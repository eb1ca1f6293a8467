"""What a rule does to a parameter: the one loop that it runs, with its numbers, told by the rule itself.

A copy of the optimizer takes a step on arrays without elements (``kernels/foundation/described.py``), whose loops note
their calls in place of running. So the rules and the pages stay the only places that say what a step is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..context import Context
from ..kernels.foundation import Buffer, Loop
from ..kernels.foundation.described import Described, Notes
from ..ndarray import NDArray
from ..optimizer.rule import Index, Optimizer

SINGLE = np.dtype(np.float32)


class Unfit(Exception):  # it leads to the usual path, and no user sees it
    """An update cannot be done at once."""


def arrays_of(state: Any) -> list[NDArray]:
    """The arrays of a state, from left to right."""
    if isinstance(state, (tuple, list)):
        return [array for part in state for array in arrays_of(part)]
    if state is not None and type(state) is not NDArray:
        raise Unfit
    return [] if state is None else [state]


class RuleCall(NamedTuple):
    """The one loop that a rule runs: the numbers of its arrays (weight, gradient, states), and its hyperparameters."""

    loop: Loop
    order: tuple[int, ...]
    named: bool
    numbers: tuple[np.float32, ...]


class StandIn:
    """A parameter without elements, on which a rule tells what it does."""

    def __init__(self, state: Any, context: Context) -> None:
        self._noted = Notes()
        self._context = context
        self._weight, self._grad, self._state = self._described(), self._described(), self._like(state)
        self._memory = [array._buffer.flat for array in (self._weight, self._grad, *arrays_of(self._state))]

    def _described(self) -> NDArray:
        return NDArray(Buffer(Described(0, SINGLE, 1, self._noted), (1,)), self._context)

    def _like(self, state: Any) -> Any:
        if isinstance(state, (tuple, list)):
            return type(state)(map(self._like, state))
        return None if state is None else self._described()

    def step(self, optimizer: Optimizer, index: Index, rate: float, count: int) -> RuleCall:
        """What update ``count`` of a parameter does at a learning rate before multipliers; nothing changes.

        Raises:
            Unfit: it is not one loop over its arrays with float32 numbers.
        """
        double = object.__new__(type(optimizer))
        vars(double).update(
            vars(optimizer), lr_scheduler=None, lr=rate, num_update=count, _index_update_count={index: count - 1}
        )
        self._noted.clear()
        try:
            double.update_multi_precision(index, self._weight, self._grad, self._state)
        except Exception as error:  # whatever it is, the usual path comes to it too
            raise Unfit from error
        if len(self._noted) != 1 or not isinstance(self._noted[0][0], Loop):
            raise Unfit
        ((loop, given),) = self._noted
        values = loop.unwrapped(given)
        order = [self._memory.index(value) for value in values if type(value) is Described]
        size, *numbers = values[len(order) :]
        named = len(numbers) == 1 and type(numbers[0]) is tuple
        if named:
            (numbers,) = numbers
        if loop.has_twin_for(given) or order[0] != 0 or size != 1 or {*map(type, numbers)} != {np.float32}:
            raise Unfit
        return RuleCall(loop, tuple(order), named, tuple(numbers))


__all__ = ["SINGLE", "RuleCall", "StandIn", "Unfit", "arrays_of"]
