"""Signum: steps of one length along every axis, towards the sign of the gradient or of its momentum.

J. Bernstein, Y.-X. Wang, K. Azizzadenesheli, A. Anandkumar (2018): signSGD: compressed optimisation for non-convex
problems. Decay beside the gradient: I. Loshchilov, F. Hutter (2017): Decoupled weight decay regularization.

    g = clip(rescale_grad * grad)
    m <- momentum * m - (1 - momentum) * (g + wd * w)
    w <- (1 - lr * wd_lh) * w + lr * sign(m)                         with momentum
    w <- (1 - lr * (wd + wd_lh)) * w - lr * sign(g)                  without

The state is m, or None. Kernel: ``kernels/signum.py``.

>>> positions("signum", [1.0, -1.0, -4.0], learning_rate=0.5, momentum=0.5)
[-0.5, 0.0, 0.5]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base import decides
from ..ndarray import NDArray
from ..quirks import declare
from .apply import apply_update, clipping, zeros_like
from .rule import Index, Optimizer, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Others

_UNSCALED = declare(
    "signum-unscaled", "Signum/without-momentum",
    "without momentum rescale_grad is ignored, also where it is 0 or negative",
    "the sign is that of the rescaled gradient, as it is with momentum",
)


@register
class Signum(Optimizer):
    """The sign of the gradient's momentum; of the gradient itself when ``momentum`` is 0.

    Args:
        learning_rate: step size; it replaces the base rate of a scheduler.
        momentum: a negative value acts as 0 but keeps a state.
        wd_lh: decay of weights beside the gradient.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.9, wd_lh: float = 0.0, **kwargs: Unpack[Others]
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index: Index, weight: NDArray) -> NDArray | None:
        """The momentum, zeros like the weight; None without momentum."""
        return None if self.momentum == 0.0 else zeros_like(weight, weight.stype)

    @decides("Signum/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: NDArray | None) -> None:
        """One step; ``state`` is the momentum or None."""
        lr, wd = self._counted_rates(index)
        if state is None:
            if self.rescale_grad <= 0 and not _UNSCALED.active:
                grad = grad * self.rescale_grad
            apply_update("signsgd_update", weight, grad, lr=lr, wd=wd + self.wd_lh)
            return
        apply_update(
            "signum_update", weight, grad, state, lr=lr, wd=wd, wd_lh=self.wd_lh, momentum=max(self.momentum, 0.0),
            rescale_grad=self.rescale_grad, clip_gradient=clipping(self),
        )


__all__ = ["Signum"]
