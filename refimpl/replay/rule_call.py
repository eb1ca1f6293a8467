"""The loop call of one optimizer step, recorded from the optimizer itself.

A copy of the optimizer updates a parameter whose arrays have no elements, as a page is asked for its loops
(``asking.py``). So only the optimizer and the page define the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..context import Context
from ..kernels.foundation import Buffer, Loop
from ..kernels.foundation.described import Notes
from ..ndarray import NDArray
from ..optimizer.rule import Index, Optimizer
from .asking import Memory, Place, noted

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
        self._state, self._context = state, context
        self._memory = [Memory(number, (1,), SINGLE) for number in range(2 + len(arrays_of(state)))]

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

        def update(buffers: list[Buffer]) -> None:
            weight, grad, *states = (NDArray(buffer, self._context) for buffer in buffers)
            double.update_multi_precision(index, weight, grad, _like(self._state, iter(states)))

        calls = noted(update, self._memory, Notes(), apart=False)  # the usual path meets the same error, if any
        if calls is None or len(calls) != 1 or calls[0].by_twin or not isinstance(calls[0].loop, Loop):
            raise Unfit
        ((loop, _, args),) = calls
        order: list[Any] = [arg.memory for arg in args if type(arg) is Place]
        size, *numbers = args[len(order) :]
        named = len(numbers) == 1 and type(numbers[0]) is tuple
        if named:
            (numbers,) = numbers
        if order[0] != 0 or size != 1 or {*map(type, numbers)} != {np.float32}:
            raise Unfit
        return RuleCall(loop, tuple(order), named, tuple(numbers))


def _like(state: Any, arrays: Iterator[NDArray]) -> Any:
    """The same state with other arrays."""
    if isinstance(state, (tuple, list)):
        return type(state)([_like(part, arrays) for part in state])
    return None if state is None else next(arrays)


__all__ = ["SINGLE", "RuleCall", "StandIn", "Unfit", "arrays_of"]
