"""DCASGD: gradient descent for workers whose gradients are late, with a correction for the delay.

S. Zheng and others (2017): Asynchronous stochastic gradient descent with delay compensation.

    g = clip(rescale_grad * grad)
    now = g + wd * w + lamda * g^2 * (w - w_before)
    w_before <- w
    m <- momentum * m - lr * now;  w <- w + m

w_before is the weight before the last update, which stands for the weight that the gradient was computed at. The state
is (m or None, w_before). Kernel: ``kernels/dcasgd.py``.

>>> positions("dcasgd", [1.0, 2.0, 2.0], learning_rate=0.5, lamda=0.25)
[-0.5, -1.25, -1.875]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base import decides
from ..ndarray import NDArray
from .apply import apply_update, strict_clipping, zeros_like
from .rule import Index, Optimizer, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Keywords


@register
class DCASGD(Optimizer):
    """Delay-compensated asynchronous gradient descent.

    Args:
        momentum: 0 for none.
        lamda: the strength of the correction, called so without a b.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(self, momentum: float = 0.0, lamda: float = 0.04, **kwargs: Unpack[Keywords]) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.weight_previous: dict[Any, Any] = {}
        self.lamda = lamda

    def create_state(self, index: Index, weight: NDArray) -> tuple[NDArray | None, NDArray]:
        """(momentum or None, a copy of the weight)."""
        return (None if self.momentum == 0.0 else zeros_like(weight)), weight.copy()

    @decides("DCASGD/rule", "DCASGD/with-momentum")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """One step; ``state`` is (momentum or None, weight before the last update)."""
        lr, wd = self._counted_rates(index)
        numbers: dict[str, Any] = {
            "lr": lr, "wd": wd, "lamda": self.lamda, "rescale_grad": self.rescale_grad,
            "clip_gradient": strict_clipping(self),
        }
        momentum, previous = state
        if momentum is None:
            apply_update("_dcasgd_step", weight, grad, previous, **numbers)
        else:
            apply_update("_dcasgd_mom_step", weight, grad, momentum, previous, momentum=self.momentum, **numbers)


__all__ = ["DCASGD"]
