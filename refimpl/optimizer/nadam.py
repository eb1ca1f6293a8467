"""Nadam: Adam with Nesterov's momentum.

T. Dozat (2016): Incorporating Nesterov momentum into Adam.

    g = clip(rescale_grad * grad + wd * w)
    m <- beta1 * m + (1 - beta1) * g;  v <- beta2 * v + (1 - beta2) * g^2
    mu(t) = beta1 * (1 - 0.96^(t * schedule_decay) / 2),  product(t) = mu(1) * ... * mu(t)
    ahead = (1 - mu(t)) * g / (1 - product(t)) + mu(t + 1) * m / (1 - product(t + 1))
    w <- w - lr * ahead / (sqrt(v / (1 - beta2^t)) + epsilon)

t counts the updates of the parameter on its device, from 1. The state is (m, v). Kernel: ``kernels/nadam.py``.

>>> positions("nadam", [1.0, 1.0, 1.0], learning_rate=0.5, beta1=0.5, beta2=0.75, schedule_decay=0.0, epsilon=0.0)
[-0.566667, -1.061905, -1.552661]
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

    from .keywords import Others

_SHARED = declare(
    "nadam-shared-schedule", "Nadam/own-schedule",
    "the product of momenta is one number for all parameters, multiplied by a momentum for each of them",
    "so the numbers depend on how many other parameters there are; the paper's product is over the steps of one",
)

SMALL = 1e-20
PRODUCTS: dict[tuple[float, float], list[float]] = {}
"""For each (beta1, schedule_decay) the products of the first 0, 1, 2 ... momenta, as far as they were asked for."""


@register
class Nadam(Optimizer):
    """Nadam.

    Args:
        learning_rate: step size; it replaces the base rate of a scheduler.
        beta1, beta2: decay rates of the averages of gradients and of squared gradients.
        epsilon: added to the square root.
        schedule_decay: how fast the momentum rises from about beta1 / 2 to beta1.
        kwargs: see :class:`Optimizer`.

    ``m_schedule`` is the product of momenta of the latest update.
    """

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        schedule_decay: float = 0.004, **kwargs: Unpack[Others],
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def create_state(self, index: Index, weight: NDArray) -> tuple[NDArray, NDArray]:
        """(average of gradients, average of squares), zeros like the weight."""
        return zeros_like(weight), zeros_like(weight)

    @decides("Nadam/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """One step; ``state`` is (average of gradients, average of squares)."""
        lr, wd = self._counted_rates(index)
        t = self._index_update_count[index]
        now = _momentum(self.beta1, self.schedule_decay, t)
        if _SHARED.active:
            self.m_schedule *= now
        else:
            self.m_schedule = _product(self.beta1, self.schedule_decay, t)
        ahead = _momentum(self.beta1, self.schedule_decay, t + 1)
        apply_update(
            "_nadam_step", weight, grad, *state, lr=lr, wd=wd, u=now, v=ahead, product=self.m_schedule, t=t,
            beta1=self.beta1, beta2=self.beta2, epsilon=self.epsilon,
            rescale_grad=self.rescale_grad, clip_gradient=strict_clipping(self),
        )


def _momentum(beta1: float, decay: float, t: int) -> float:
    """The momentum of update ``t``."""
    return beta1 * (1.0 - 0.5 * 0.96 ** (t * decay))


def _product(beta1: float, decay: float, t: int) -> float:
    """The product of the first ``t`` momenta; a product too small to change 1 - product is not multiplied further."""
    known = PRODUCTS.setdefault((beta1, decay), [1.0])
    while len(known) <= t and known[-1] > SMALL:
        known.append(known[-1] * _momentum(beta1, decay, len(known)))
    return known[min(t, len(known) - 1)]


__all__ = ["Nadam"]
