"""AdaMax: Adam with the largest recent gradient in place of the root of averaged squares.

D. P. Kingma, J. Ba (2014): Adam: a method for stochastic optimization, section 7.1.

    g = clip(rescale_grad * grad + wd * w)
    m <- beta1 * m + (1 - beta1) * g;  u <- max(beta2 * u, |g|)
    w <- w - lr / (1 - beta1^t) * m / u                              where u is not 0

t counts the updates of the parameter on its device, from 1. The state is (m, u). Kernel: ``kernels/adamax.py``.

>>> positions("adamax", [1.0, 2.0, 0.0], learning_rate=0.5, beta1=0.5, beta2=0.5)
[-0.5, -0.916667, -1.27381]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base import decides
from ..ndarray import NDArray
from .apply import apply_update, strict_clipping, zeros_like
from .rule import Index, Optimizer, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Others


@register
class Adamax(Optimizer):
    """AdaMax.

    Args:
        learning_rate: step size; it replaces the base rate of a scheduler.
        beta1: decay rate of the average of gradients.
        beta2: decay rate of the largest gradient.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(
        self, learning_rate: float = 0.002, beta1: float = 0.9, beta2: float = 0.999, **kwargs: Unpack[Others]
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2

    def create_state(self, index: Index, weight: NDArray) -> tuple[NDArray, NDArray]:
        """(average of gradients, largest gradient), zeros like the weight."""
        return zeros_like(weight), zeros_like(weight)

    @decides("AdaMax/rule", "AdaMax/weight-stays")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """One step; ``state`` is (average of gradients, largest gradient)."""
        lr, wd = self._counted_rates(index)
        t = self._index_update_count[index]
        apply_update(
            "_adamax_step", weight, grad, *state, lr=lr / (1 - self.beta1**t), wd=wd, beta1=self.beta1,
            beta2=self.beta2, rescale_grad=self.rescale_grad, clip_gradient=strict_clipping(self),
        )


__all__ = ["Adamax"]
