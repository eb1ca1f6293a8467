"""NAG: Nesterov's accelerated gradient.

Y. Nesterov (1983): A method for solving the convex programming problem with convergence rate O(1/k^2).
I. Sutskever, J. Martens, G. Dahl, G. Hinton (2013): On the importance of initialization and momentum in deep learning.

    g = clip(rescale_grad * grad) + wd * w
    m' = momentum * m - lr * g
    w <- w + momentum * m' - lr * g;  m <- m'

which is gradient descent with momentum, seen one step ahead. Without momentum it is plain SGD. The state is m, or
None. Kernel: ``kernels/nag.py``, which writes the same as w - M + (momentum + 1) * (M - lr * g), M = momentum * m.

>>> positions("nag", [1.0, 1.0, 1.0], learning_rate=1.0, momentum=0.5)
[-1.5, -3.25, -5.125]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ndarray import NDArray
from ..quirks import declare
from .apply import apply_update, clipping
from .rule import Index, MomentumOptimizer, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Keywords

_FRESH = declare(
    "nag-fresh-decay", "NAG/rule",
    "nag_mom_update reads the weight again after it wrote it, so that m decays with the new weight: lr * wd * w'",
    "both places of the formula mean one gradient, at the weight before the step",
)


@register
class NAG(MomentumOptimizer):
    """Gradient descent with Nesterov's momentum; plain SGD when ``momentum`` is 0.

    Args:
        momentum: a negative value acts as 0 but keeps a state.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(self, momentum: float = 0.0, **kwargs: Unpack[Keywords]) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: NDArray | None) -> None:
        """One step; ``state`` is the momentum or None."""
        self._step(index, weight, grad, state)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """One step; where the state has a float32 weight, the step is computed on it."""
        if isinstance(index, (list, tuple)):
            super().update_multi_precision(index, weight, grad, state)
        elif self.multi_precision and weight.dtype == np.float16 and isinstance(state, (list, tuple)):
            momentum, master = state
            self._step(index, master, grad.astype(np.float32), momentum)
            weight[:] = master
        else:
            self._step(index, weight, grad, state)

    def _step(self, index: Index, weight: NDArray, grad: NDArray, momentum: NDArray | None) -> None:
        lr, wd = self._counted_rates(index)
        numbers: dict[str, Any] = {
            "lr": lr, "wd": wd, "rescale_grad": self.rescale_grad, "clip_gradient": clipping(self),
        }
        if momentum is None:
            apply_update("sgd_update", weight, grad, **numbers)
            return
        numbers["momentum"] = max(self.momentum, 0.0)
        if _FRESH.active or wd == 0:
            apply_update("nag_mom_update", weight, grad, momentum, **numbers)
        else:  # into another array, because the operator reads its input again after writing
            stepped = weight.copy()
            apply_update("nag_mom_update", weight, grad, momentum, out=stepped, **numbers)
            weight[:] = stepped


__all__ = ["NAG"]
