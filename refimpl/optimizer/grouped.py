"""Base classes of rules that update several parameters in one call, and of rules with momentum."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..base import decides
from ..ndarray import NDArray
from .apply import master_copy, zeros_like
from .rule import Index, Optimizer, warn_half_precision


class GroupedOptimizer(Optimizer):
    """Base of rules that take up to ``aggregate_num`` parameters in one call.

    A subclass gives ``_step(indices, weights, grads, states, mixed)``; ``mixed`` says that the states hold float32
    copies of the weights.
    """

    def _step(
        self, indices: list[Index], weights: list[NDArray], grads: list[NDArray], states: list[Any], *, mixed: bool
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__} must override _step")

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """One step of one parameter, or of several parameters given as lists."""
        self._step(*_as_lists(index, weight, grad, state), mixed=False)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """As :meth:`update`; where the state has a float32 weight, the step is computed on it."""
        lists = _as_lists(index, weight, grad, state)
        mixed = self.multi_precision and bool(lists[1]) and lists[1][0].dtype == np.float16
        self._step(*lists, mixed=mixed)


class MomentumOptimizer(Optimizer):
    """Base of rules whose state is a momentum or None; with a float32 copy ``(momentum or None, float32 weight)``."""

    momentum: float
    lazy_update: bool = False

    def create_state(self, index: Index, weight: NDArray) -> NDArray | None:
        """The momentum, zeros like the weight (in its storage with lazy_update); None without momentum."""
        if self.momentum == 0.0:
            return None
        return zeros_like(weight, weight.stype if self.lazy_update else "default")

    @decides("SGD/multi-precision")
    def create_state_multi_precision(self, index: Index, weight: NDArray) -> Any:
        """(momentum, float32 weight) for a float16 weight with multi_precision, else the momentum."""
        if weight.dtype == np.float16:
            if self.multi_precision:
                master = master_copy(weight)
                return self.create_state(index, master), master
            warn_half_precision(self)
        return self.create_state(index, weight)

    def _master(self, state: Any) -> NDArray:
        return state[1]


@decides("Updater/together")
def aggregation_size(default: int) -> int:
    """The most parameters of one call: MXNET_OPTIMIZER_AGGREGATION_SIZE, or ``default``."""
    return int(os.environ.get("MXNET_OPTIMIZER_AGGREGATION_SIZE", str(default)))


def _as_lists(index: Any, weight: Any, grad: Any, state: Any) -> tuple[list, list, list, list]:
    if isinstance(index, (list, tuple)):
        return list(index), list(weight), list(grad), list(state)
    return [index], [weight], [grad], [state]


__all__ = ["GroupedOptimizer", "MomentumOptimizer", "aggregation_size"]
