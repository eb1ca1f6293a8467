"""AdaDelta: steps as long as recent steps were, so that no learning rate is needed.

M. D. Zeiler (2012): ADADELTA: an adaptive learning rate method.

    g = clip(rescale_grad * grad)
    G <- rho * G + (1 - rho) * g^2
    d = sqrt(D + epsilon) / sqrt(G + epsilon) * g
    D <- rho * D + (1 - rho) * d^2
    w <- w - d - wd * w

The state is (G, D). Kernel: ``kernels/adadelta.py``.

>>> positions("adadelta", [3.0, 3.0], rho=0.75, epsilon=0.25)
[-0.948683, -1.959077]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base import decides
from ..ndarray import NDArray
from ..quirks import declare
from .apply import apply_update, strict_clipping, zeros_like
from .rule import Index, Optimizer, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Keywords

_SCALED = declare(
    "adadelta-gradient", "AdaDelta/gradient-kept",
    "multiplies the caller's gradient array by rescale_grad, in place",
    "an update reads gradients; with grad_req add the next backward would add to scaled ones",
)


@register
class AdaDelta(Optimizer):
    """AdaDelta. It has no learning rate: neither ``learning_rate`` nor a scheduler nor ``lr_mult`` changes a step.

    Args:
        rho: decay rate of both averages.
        epsilon: added under the square roots; it sets the length of the first steps.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(self, rho: float = 0.90, epsilon: float = 1e-5, **kwargs: Unpack[Keywords]) -> None:
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index: Index, weight: NDArray) -> tuple[NDArray, NDArray]:
        """(average of squared gradients, average of squared steps), zeros like the weight."""
        return zeros_like(weight), zeros_like(weight)

    @decides("AdaDelta/rule", "AdaDelta/no-rate")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """One step; ``state`` is (average of squared gradients, average of squared steps)."""
        self._update_count(index)
        rescale = self.rescale_grad
        if _SCALED.active:
            grad *= rescale
            rescale = 1.0
        apply_update(
            "_adadelta_step", weight, grad, *state, rho=self.rho, epsilon=self.epsilon, wd=self._get_wd(index),
            rescale_grad=rescale, clip_gradient=strict_clipping(self),
        )


__all__ = ["AdaDelta"]
