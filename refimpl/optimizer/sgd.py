"""SGD: stochastic gradient descent, with momentum if wanted."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..ndarray import NDArray, zeros
from .apply import apply_update, clipping
from .optimizer import Index, Optimizer, register, warn_half_precision


@register
class SGD(Optimizer):
    """w <- w - lr * (g + wd * w), where g is the gradient, rescaled, then clipped.

    With momentum > 0: m <- momentum * m - lr * (g + wd * w), w <- w + m.

    Args:
        momentum: 0 for plain steps; a negative value acts as 0 but keeps a state.
        lazy_update: for row_sparse gradients, update only the rows that are present.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update
        # kept for the sake of saved optimizers; updating one by one gives the same numbers
        self.aggregate_num = int(os.environ.get("MXNET_OPTIMIZER_AGGREGATION_SIZE", "4"))

    def create_state(self, index: Index, weight: NDArray) -> NDArray | None:
        """The momentum, zeros like the weight; None without momentum."""
        if self.momentum == 0.0:
            return None
        return zeros(weight.shape, weight.context, dtype=weight.dtype)

    def create_state_multi_precision(self, index: Index, weight: NDArray) -> Any:
        """(momentum, float32 weight) for a float16 weight with multi_precision, else the momentum."""
        if weight.dtype == np.float16:
            if self.multi_precision:
                master = weight.astype(np.float32)
                return self.create_state(index, master), master
            warn_half_precision(self)
        return self.create_state(index, weight)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: NDArray | None) -> None:
        """One step; ``state`` is the momentum or None."""
        self._step("", index, weight, grad, state)

    def update_multi_precision(
        self, index: Index, weight: NDArray, grad: NDArray, state: Any
    ) -> None:
        """One step; with a float32 weight in ``state`` the arithmetic is done on that."""
        if self.multi_precision and weight.dtype == np.float16:
            self._step("mp_", index, weight, grad, *state)
        else:
            self._step("", index, weight, grad, state)

    def _step(
        self, family: str, index: Index, weight: NDArray, grad: NDArray, momentum: NDArray | None,
        *master: NDArray,
    ) -> None:
        self._update_count(index)
        numbers: dict[str, float] = {
            "lr": self._get_lr(index), "wd": self._get_wd(index),
            "rescale_grad": self.rescale_grad, "clip_gradient": clipping(self),
        }
        if momentum is not None and self.momentum > 0:
            numbers["momentum"] = self.momentum
            apply_update(f"{family}sgd_mom_update", weight, grad, momentum, *master, **numbers)
        else:
            apply_update(f"{family}sgd_update", weight, grad, *master, **numbers)
