"""AdaGrad: gradients divided by the root of the sum of all their squares so far.

J. Duchi, E. Hazan, Y. Singer (2011): Adaptive subgradient methods for online learning and stochastic optimization.

    g = clip(rescale_grad * grad)
    h <- h + g^2
    w <- w - lr * (g / sqrt(h + eps) + wd * w)

The state is h. Kernel: ``kernels/adagrad.py``.

>>> positions("adagrad", [3.0, 4.0, 12.0], learning_rate=1.0, eps=0.0)
[-1.0, -1.8, -2.723077]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base import decides
from ..ndarray import NDArray
from .apply import apply_update, check_alike, strict_clipping, zeros_like
from .rule import Index, Optimizer, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Keywords


@register
class AdaGrad(Optimizer):
    """AdaGrad. A row_sparse gradient updates its rows only, and allows no weight decay.

    Args:
        eps: added under the square root.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(self, eps: float = 1e-7, **kwargs: Unpack[Keywords]) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Index, weight: NDArray) -> NDArray:
        """The sum of squares, zeros like the weight, in its storage."""
        return zeros_like(weight, weight.stype)

    @decides("AdaGrad/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: NDArray) -> None:
        """One step; ``state`` is the sum of squares.

        Raises:
            MXNetError: the gradient is row_sparse and ``wd`` is not 0.
        """
        lr, wd = self._counted_rates(index)
        if wd and grad.stype == "default":
            check_alike("AdaGrad", weight, grad, (state,))
            weight *= 1 - lr * wd  # decay of the weight itself, outside the gradient
            wd = 0.0
        apply_update(
            "_sparse_adagrad_update", weight, grad, state, lr=lr, wd=wd, epsilon=self.float_stable_eps,
            rescale_grad=self.rescale_grad, clip_gradient=strict_clipping(self),
        )


__all__ = ["AdaGrad"]
