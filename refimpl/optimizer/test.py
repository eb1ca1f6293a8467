"""Test: the simplest rule, for testing stores and updaters.

    w <- w + rescale_grad * grad

The weight moves along the gradient, without learning rate or decay. The state is a copy of w.

>>> positions("test", [1.0, 2.0], rescale_grad=0.5)
[0.5, 1.5]
"""

from __future__ import annotations

from ..base import decides
from ..ndarray import NDArray, zeros
from .rule import Index, Optimizer, register


@register
class Test(Optimizer):
    """w <- w + rescale_grad * g; the state is a copy of the new weight."""

    __test__ = False  # pytest would take the class for a test

    def create_state(self, index: Index, weight: NDArray) -> NDArray:
        """Zeros like the weight."""
        return zeros(weight.shape, weight.context)

    @decides("Test/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: NDArray) -> None:
        """Add the gradient."""
        weight += grad * self.rescale_grad
        state[:] = weight
