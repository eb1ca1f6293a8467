"""Updater: an optimizer together with the state it keeps for each parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..context import Context
from ..ndarray import NDArray
from . import states as states_file
from .optimizer import Index, Optimizer


class Updater:
    """``updater(index, grad, weight)`` updates ``weight`` in place; three lists of equal length do many.

    States are made when an index is first seen. An index that is bytes is read as its text, because a
    store hands string keys over that way.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Any, Any] = {}
        self.states_synced: dict[Any, bool] = {}
        self.aggregate_updates = optimizer.aggregate_num > 0

    def __call__(
        self, index: Index | Sequence[Index], grad: NDArray | Sequence[NDArray],
        weight: NDArray | Sequence[NDArray],
    ) -> None:
        """Update one weight or several."""
        if isinstance(index, (list, tuple)):
            for one_index, one_grad, one_weight in zip(index, grad, weight, strict=False):
                self._update(one_index, one_grad, one_weight)
        else:
            self._update(index, grad, weight)  # type: ignore[arg-type]  # single arrays in this case

    def _update(self, index: Any, grad: NDArray, weight: NDArray) -> None:
        if isinstance(index, bytes):
            index = index.decode()
        optimizer = self.optimizer
        optimizer._set_current_context(weight.context.device_id)
        if index not in self.states:
            self.states[index] = optimizer.create_state_multi_precision(index, weight)
            self.states_synced[index] = True
        elif not self.states_synced[index]:
            self.states[index] = self.sync_state_context(self.states[index], weight.context)
            self.states_synced[index] = True
        optimizer.update_multi_precision(index, weight, grad, self.states[index])

    def sync_state_context(self, state: Any, context: Context) -> Any:
        """Return ``state`` with its arrays on ``context``."""
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states as a ``.states`` file holds them, beside the optimizer if ``dump_optimizer``."""
        return states_file.dumps((self.states, self.optimizer) if dump_optimizer else self.states)

    def set_states(self, states: bytes, name: str = "the content") -> None:
        """Take over what :meth:`get_states` or MXNet 1.x returned; ``name`` is for error messages.

        Raises:
            MXNetError: the bytes are damaged or hold what no such file holds.
        """
        self.states, optimizer = states_file.loads(states, name)
        self.optimizer = optimizer or self.optimizer
        self.states_synced = dict.fromkeys(self.states, False)


def get_updater(optimizer: Optimizer) -> Updater:
    """Return an :class:`Updater` for ``optimizer``."""
    return Updater(optimizer)


__all__ = ["Updater", "get_updater"]
