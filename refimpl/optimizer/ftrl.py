"""Ftrl: follow the regularised leader, which keeps weights at zero whose gradients are small.

H. B. McMahan and others (2013): Ad click prediction: a view from the trenches.

    g = clip(rescale_grad * grad)
    z <- z + g - (sqrt(n + g^2) - sqrt(n)) / lr * w;  n <- n + g^2
    w <- 0                                                           where |z| <= lamda1
    w <- (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd)       elsewhere

The state is (z, n). Kernel: ``kernels/ftrl.py``.

>>> positions("ftrl", [3.0, 4.0], learning_rate=0.5, lamda1=1.0)
[-0.25, -0.583333]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base import decides
from ..ndarray import NDArray
from .apply import apply_update, clipping, zeros_like
from .rule import Index, Optimizer, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Others


@register
class Ftrl(Optimizer):
    """FTRL-Proximal.

    Args:
        lamda1: the threshold, called so without a b.
        learning_rate: step size; beside a scheduler it has no effect.
        beta: damps the first steps.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(
        self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1, **kwargs: Unpack[Others]
    ) -> None:
        super().__init__(**kwargs)
        self.lamda1 = lamda1
        self.beta = beta
        self.lr = learning_rate

    def create_state(self, index: Index, weight: NDArray) -> tuple[NDArray, NDArray]:
        """(z, n), zeros like the weight, in its storage."""
        return zeros_like(weight, weight.stype), zeros_like(weight, weight.stype)

    @decides("FTRL/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """One step; ``state`` is (z, n)."""
        lr, wd = self._counted_rates(index)
        apply_update(
            "ftrl_update", weight, grad, *state, lr=lr, wd=wd, lamda1=self.lamda1, beta=self.beta,
            rescale_grad=self.rescale_grad, clip_gradient=clipping(self),
        )


__all__ = ["Ftrl"]
