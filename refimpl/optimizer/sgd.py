"""SGD: stochastic gradient descent, with momentum if wanted.

H. Robbins, S. Monro (1951): A stochastic approximation method. B. T. Polyak (1964): Some methods of speeding up the
convergence of iteration methods.

    g = clip(rescale_grad * grad)
    w <- w - lr * (g + wd * w)                                       without momentum
    m <- momentum * m - lr * (g + wd * w);  w <- w + m               with it

The state is m, or None. Kernel: ``kernels/sgd.py``.

>>> positions("sgd", [1.0, 1.0, 1.0], learning_rate=1.0, momentum=0.5)
[-1.0, -2.5, -4.25]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base import decides
from ..ndarray import NDArray
from .apply import apply_update, clipping
from .rule import GroupedOptimizer, Index, MomentumOptimizer, Optimizer, aggregation_size, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Keywords


@register
class SGD(MomentumOptimizer, GroupedOptimizer):
    """w <- w - lr * (g + wd * w), where g is the gradient, rescaled, then clipped.

    With momentum > 0: m <- momentum * m - lr * (g + wd * w), w <- w + m.

    Args:
        momentum: 0 for plain steps; a negative value acts as 0 but keeps a state.
        lazy_update: for row_sparse gradients, update only the rows that are present.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Unpack[Keywords]) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.aggregate_num = aggregation_size(4)

    def _step(
        self, indices: list[Index], weights: list[NDArray], grads: list[NDArray], states: list[Any], *, mixed: bool
    ) -> None:
        self._update_count(indices)
        rates = self._get_lrs(indices), self._get_wds(indices)
        for weight, grad, state, lr, wd in zip(weights, grads, states, *rates, strict=True):
            sgd_step(self, weight, grad, state if mixed else (state,), self.momentum, lr, wd)


@decides("SGD/plain", "SGD/with-momentum")
def sgd_step(
    optimizer: Optimizer, weight: NDArray, grad: NDArray, state: Any, momentum: float, lr: float, wd: float,
) -> None:
    """One step of gradient descent.

    ``state`` is (momentum or None,), or (momentum or None, float32 weight) to compute the step on the float32 weight.
    """
    rolling, *master = state
    numbers: dict[str, Any] = {
        "lr": lr, "wd": wd, "rescale_grad": optimizer.rescale_grad, "clip_gradient": clipping(optimizer),
        "lazy_update": getattr(optimizer, "lazy_update", True),
    }
    family = "mp_sgd" if master else "sgd"
    if rolling is not None and momentum > 0:
        apply_update(f"{family}_mom_update", weight, grad, rolling, *master, momentum=momentum, **numbers)
    else:
        apply_update(f"{family}_update", weight, grad, *master, **numbers)


@register
class ccSGD(SGD):  # noqa: N801  # MXNet's name
    """Another name of :class:`SGD`, kept for old scripts."""


__all__ = ["SGD", "ccSGD", "sgd_step"]
