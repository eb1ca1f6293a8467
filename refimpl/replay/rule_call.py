"""The loop call of one optimizer step, recorded from the optimizer itself.

A copy of the optimizer updates a parameter whose arrays have no elements (``kernels/foundation/described.py``): a loop
that gets such arrays notes its call instead of running. So only the optimizer and the page define the step.
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


class Unfit(Exception):  # the caller takes the usual path: no user sees this error
    """These parameters cannot be updated by one kernel call."""


def arrays_of(state: Any) -> list[NDArray]:
    """The arrays of an optimizer state (None, an array, or nested tuples and lists), from left to right.

    Raises:
        Unfit: the state holds anything but dense arrays.
    """
    if isinstance(state, (tuple, list)):
        return [array for part in state for array in arrays_of(part)]
    if state is not None and type(state) is not NDArray:
        raise Unfit
    return [] if state is None else [state]


class RuleCall(NamedTuple):
    """The one loop that an optimizer runs for a parameter.

    ``order`` has the loop's arrays by number (0 weight, 1 gradient, then the states), ``numbers`` its float32
    hyperparameters; ``named`` says that the loop takes the hyperparameters as one NamedTuple.
    """

    loop: Loop
    order: tuple[int, ...]
    named: bool
    numbers: tuple[np.float32, ...]


class StandIn:
    """A parameter whose weight, gradient and states have no elements: an update of it only notes loop calls."""

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
        """The loop call of update number ``count``; ``rate`` is the learning rate before multipliers.

        The optimizer itself does not change.

        Raises:
            Unfit: the update is more than one loop over these arrays with float32 hyperparameters.
        """
        double = object.__new__(type(optimizer))
        vars(double).update(
            vars(optimizer), lr_scheduler=None, lr=rate, num_update=count, _index_update_count={index: count - 1}
        )
        self._noted.clear()
        try:
            double.update_multi_precision(index, self._weight, self._grad, self._state)
        except Exception as error:  # the usual path meets the same error
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
