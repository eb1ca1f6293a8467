"""SGLD: gradient descent with noise, whose weights wander through the posterior instead of settling.

M. Welling, Y. W. Teh (2011): Bayesian learning via stochastic gradient Langevin dynamics.

    g = clip(rescale_grad * grad)
    w <- w - lr / 2 * (g + wd * w) + noise of mean 0 and standard deviation sqrt(lr)

The noise comes from the normal stream of the weight's context (``mx.random.seed``). There is no state. Kernels:
``kernels/sgd.py``, ``kernels/random.py``.

>>> mx.random.seed(1)
>>> positions("sgld", [1.0, 1.0], learning_rate=0.25)
[-0.463826, -0.538456]
"""

from __future__ import annotations

import math
from typing import Any

from ..base import decides, require
from ..ndarray import NDArray
from ..ndarray.random import normal
from .apply import apply_update, strict_clipping
from .rule import Index, Optimizer, register


@register
class SGLD(Optimizer):
    """Stochastic gradient Langevin dynamics.

    Args:
        kwargs: see :class:`Optimizer`.
    """

    @decides("SGLD/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """One step; ``state`` is None."""
        lr, wd = self._counted_rates(index)
        require("SGLD/rate", not lr < 0, f"the noise has the deviation sqrt(lr), and the learning rate is {lr}")
        moved = weight.copy()  # the weight changes last, in one step: memory for the noise may be missing
        apply_update(
            "sgd_update", moved, grad, lr=lr / 2, wd=wd, rescale_grad=self.rescale_grad,
            clip_gradient=strict_clipping(self), lazy_update=False,
        )
        moved += normal(0, math.sqrt(lr), weight.shape, weight.dtype, weight.context)
        moved.copyto(weight)


__all__ = ["SGLD"]
