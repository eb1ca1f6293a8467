"""LAMB: Adam with a step for each layer that is measured by the weight's length.

Y. You and others (2019): Large batch optimization for deep learning: training BERT in 76 minutes.

    g = clip(rescale_grad * grad)
    m <- beta1 * m + (1 - beta1) * g;  v <- beta2 * v + (1 - beta2) * g^2
    u = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + wd * w
    w <- w - lr * |w| / |u| * u

|w| is kept within lower_bound .. upper_bound; the ratio is 1 where a length is 0. Without bias_correction the divisors
1 - beta^t are left out. t counts the updates of the parameter on its device, from 1. The state is (m, v). Kernels:
``kernels/lamb.py``, ``kernels/multi_lamb.py``.

>>> positions("lamb", [[1.0, 2.0]], start=[3.0, 4.0], learning_rate=0.5, epsilon=0.0)
[[1.232233, 2.232233]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base import decides
from ..ndarray import NDArray
from .apply import apply_together, clipping, zeros_like
from .rule import GroupedOptimizer, Index, aggregation_size, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Others

MOST = 45
"""So many parameters MXNet's operator takes at once."""


@register
class LAMB(GroupedOptimizer):
    """Layer-wise adaptive moments.

    Args:
        learning_rate: step size; it replaces the base rate of a scheduler.
        beta1, beta2: decay rates of the averages of gradients and of squared gradients.
        epsilon: added to the square root.
        lower_bound, upper_bound: bounds of a weight's length; None or 0 for none.
        bias_correction: whether the averages are corrected for their initial zeros.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6,
        lower_bound: float | None = None, upper_bound: float | None = None, bias_correction: bool = True,
        **kwargs: Unpack[Others],
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        self.aggregate_num = max(1, min(MOST, aggregation_size(MOST)))

    def create_state(self, index: Index, weight: NDArray) -> tuple[NDArray, NDArray]:
        """(average of gradients, average of squares), zeros like the weight, in its storage."""
        return zeros_like(weight, weight.stype), zeros_like(weight, weight.stype)

    @decides("LAMB/rule")
    def _step(
        self, indices: list[Index], weights: list[NDArray], grads: list[NDArray], states: list[Any], *, mixed: bool
    ) -> None:
        rates = [self._counted_rates(index) for index in indices]
        groups = []
        for weight, grad, state in zip(weights, grads, states, strict=True):
            master, (mean, var) = ([state[0]], state[1]) if mixed else ([], state)
            groups.append((weight, grad, mean, var, *master))
        apply_together(
            "_multi_mp_lamb_update" if mixed else "_multi_lamb_update", groups, num_tensors=len(groups),
            learning_rates=tuple(lr for lr, _ in rates), wds=tuple(wd for _, wd in rates),
            step_count=tuple(self._index_update_count[index] for index in indices), beta1=self.beta1,
            beta2=self.beta2, epsilon=self.epsilon, rescale_grad=self.rescale_grad,
            lower_bound=self.lower_bound or -1.0, upper_bound=self.upper_bound or -1.0,
            clip_gradient=clipping(self), bias_correction=self.bias_correction,
        )


__all__ = ["LAMB"]
