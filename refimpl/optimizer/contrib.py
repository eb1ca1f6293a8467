"""GroupAdaGrad (``mx.optimizer.contrib``): AdaGrad with one rate for each row.

J. Duchi, E. Hazan, Y. Singer (2011): Adaptive subgradient methods for online learning and stochastic optimization;
for tables of embeddings, where a row belongs to one word.

    g = clip(rescale_grad * grad)
    h <- h + mean of g^2 over each row
    w <- w - lr * g / sqrt(h + eps)

The state is h, of shape (rows, 1). Kernel: ``kernels/adagrad.py``.

>>> positions("groupadagrad", [[[3.0, 4.0]], [[0.0, 5.0]]], learning_rate=1.0, eps=0.0)
[[[-0.848528, -1.131371]], [[-0.848528, -2.131371]]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base import decides, require
from ..ndarray import NDArray, contrib, zeros
from .apply import check_alike, strict_clipping
from .rule import Index, Optimizer, register

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Keywords


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one number for each row of a matrix. A row_sparse gradient updates its rows only.

    Args:
        eps: added under the square root.
        kwargs: see :class:`Optimizer`; no parameter may decay.
    """

    def __init__(self, eps: float = 1e-5, **kwargs: Unpack[Keywords]) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Index, weight: NDArray) -> NDArray:
        """The sums of mean squares: zeros, one for each row.

        Raises:
            AssertionError: the weight is no matrix.
        """
        require(
            "GroupAdaGrad/matrix", len(weight.shape) == 2,
            f"GroupAdaGrad is for matrices, the weight has shape {weight.shape}", AssertionError,
        )
        return zeros((weight.shape[0], 1), weight.context, dtype=weight.dtype, stype=weight.stype)

    @decides("GroupAdaGrad/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: NDArray) -> None:
        """One step; ``state`` holds the sum of each row.

        Raises:
            AssertionError: the parameter decays.
        """
        lr, wd = self._counted_rates(index)
        require(
            "GroupAdaGrad/no-decay", wd == 0,
            f"Weight decay is not supported for GroupAdaGrad, got {wd}; set wd or the parameter's wd_mult to 0",
            AssertionError,
        )
        check_alike("GroupAdaGrad", weight, grad)
        contrib.group_adagrad_update(  # type: ignore[attr-defined]  # made from its page
            weight, grad.as_in_context(weight.context), state, out=weight, lr=lr, epsilon=self.float_stable_eps,
            rescale_grad=self.rescale_grad, clip_gradient=strict_clipping(self),
        )


__all__ = ["GroupAdaGrad"]
