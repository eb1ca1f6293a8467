"""RMSProp: gradients divided by the root of a moving average of their squares.

T. Tieleman, G. Hinton (2012): Lecture 6.5 - RMSProp, Coursera: neural networks for machine learning. The centred form:
A. Graves (2013): Generating sequences with recurrent neural networks, equations 38 to 45.

    g = clip(rescale_grad * grad + wd * w)
    n <- gamma1 * n + (1 - gamma1) * g^2
    w <- w - lr * g / sqrt(n + epsilon)                              plain
    a <- gamma1 * a + (1 - gamma1) * g
    d <- gamma2 * d - lr * g / sqrt(n - a^2 + epsilon);  w <- w + d  centred

and then w is clipped to -clip_weights .. clip_weights. The state is (n,) or (n, a, d). Kernel: ``kernels/rmsprop.py``.

>>> positions("rmsprop", [1.0, 1.0], learning_rate=1.0, gamma1=0.75, epsilon=0.0)
[-2.0, -3.511858]
>>> positions("rmsprop", [1.0, 1.0], learning_rate=1.0, gamma1=0.5, gamma2=0.5, epsilon=0.0, centered=True)
[-2.0, -5.309401]
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
class RMSProp(Optimizer):
    """RMSProp, plain (Tieleman and Hinton) or centred (Graves).

    Args:
        learning_rate: step size; it replaces the base rate of a scheduler.
        gamma1: decay rate of the averages.
        gamma2: the momentum of the centred form.
        epsilon: added under the square root.
        centered: whether to divide by the standard deviation of gradients instead of their root mean square.
        clip_weights: bound of each weight after a step; None or 0 for no bound.
        kwargs: see :class:`Optimizer`.
    """

    def __init__(
        self, learning_rate: float = 0.001, gamma1: float = 0.9, gamma2: float = 0.9, epsilon: float = 1e-8,
        centered: bool = False, clip_weights: float | None = None, **kwargs: Unpack[Others],
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index: Index, weight: NDArray) -> tuple[NDArray, ...]:
        """(average of squares,), or (average of squares, average of gradients, last step); zeros like the weight."""
        return tuple(zeros_like(weight, weight.stype) for _ in range(3 if self.centered else 1))

    @decides("RMSProp/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """One step; ``state`` is the result of :meth:`create_state`."""
        lr, wd = self._counted_rates(index)
        numbers: dict[str, Any] = {
            "lr": lr, "wd": wd, "gamma1": self.gamma1, "epsilon": self.epsilon, "rescale_grad": self.rescale_grad,
            "clip_gradient": clipping(self), "clip_weights": self.clip_weights or -1.0,
        }
        if self.centered:
            apply_update("rmspropalex_update", weight, grad, *state, gamma2=self.gamma2, **numbers)
        else:
            apply_update("rmsprop_update", weight, grad, *state, **numbers)


__all__ = ["RMSProp"]
