"""FTML: follow the moving leader, an adaptive step in which recent gradients weigh more.

S. Zheng, J. T. Kwok (2017): Follow the moving leader in deep learning.

    g = clip(rescale_grad * grad + wd * w)
    v <- beta2 * v + (1 - beta2) * g^2
    d' = (1 - beta1^t) / lr * (sqrt(v / (1 - beta2^t)) + epsilon)
    z <- beta1 * z + (1 - beta1) * g - (d' - beta1 * d) * w;  d <- d'
    w <- -z / d

t counts the updates of the parameter on its device, from 1. The state is (d, v, z). Kernel: ``kernels/ftml.py``.

>>> positions("ftml", [1.0, 1.0], learning_rate=0.5, beta1=0.5, beta2=0.75, epsilon=0.0)
[-0.5, -0.833333]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base import decides
from ..ndarray import NDArray
from .apply import apply_update, clipping, zeros_like
from .rule import Index, Optimizer, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Keywords


@register
class FTML(Optimizer):
    """Follow the moving leader.

    Args:
        beta1, beta2: decay rates of the averages of gradients and of squared gradients.
        epsilon: added to the square root.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(
        self, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8, **kwargs: Unpack[Keywords]
    ) -> None:
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: Index, weight: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """(d, v, z), zeros like the weight."""
        return zeros_like(weight), zeros_like(weight), zeros_like(weight)

    @decides("FTML/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """One step; ``state`` is (d, v, z)."""
        lr, wd = self._counted_rates(index)
        apply_update(
            "ftml_update", weight, grad, *state, lr=lr, wd=wd, t=self._index_update_count[index], beta1=self.beta1,
            beta2=self.beta2, epsilon=self.epsilon, rescale_grad=self.rescale_grad, clip_grad=clipping(self),
        )


__all__ = ["FTML"]
