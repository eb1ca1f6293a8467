"""Adam: steps scaled by moving averages of the gradient and of its square.

D. P. Kingma, J. Ba (2014): Adam: a method for stochastic optimization.

    g = clip(rescale_grad * grad + wd * w)
    m <- beta1 * m + (1 - beta1) * g;  v <- beta2 * v + (1 - beta2) * g^2
    w <- w - lr * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon)

t counts the updates of the parameter on its device, from 1. The state is (m, v). Kernel: ``kernels/adam.py``.

>>> positions("adam", [1.0, 2.0, 0.0], learning_rate=0.5, beta1=0.5, beta2=0.75, epsilon=0.0)
[-0.5, -1.005814, -1.293558]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..base import decides
from ..ndarray import NDArray
from .apply import apply_update, clipping, zeros_like
from .rule import Index, Optimizer, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Others


@register
class Adam(Optimizer):
    """Adam, with both averages corrected for their initial zeros.

    Args:
        learning_rate: step size; it replaces the base rate of a scheduler.
        beta1, beta2: decay rates of the averages of gradients and of squared gradients.
        epsilon: added to the square root.
        lazy_update: for row_sparse gradients, update only the rows that are present.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        lazy_update: bool = True, **kwargs: Unpack[Others],
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def create_state(self, index: Index, weight: NDArray) -> tuple[NDArray, NDArray]:
        """(average of gradients, average of squares), zeros like the weight, in its storage with lazy_update."""
        stype = weight.stype if self.lazy_update else "default"
        return zeros_like(weight, stype), zeros_like(weight, stype)

    @decides("Adam/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """One step; ``state`` is (average of gradients, average of squares)."""
        lr, wd = self._counted_rates(index)
        t = self._index_update_count[index]
        apply_update(
            "adam_update", weight, grad, *state, lr=lr * math.sqrt(1 - self.beta2**t) / (1 - self.beta1**t), wd=wd,
            beta1=self.beta1, beta2=self.beta2, epsilon=self.epsilon, rescale_grad=self.rescale_grad,
            clip_gradient=clipping(self), lazy_update=self.lazy_update,
        )


__all__ = ["Adam"]
