"""LARS: gradient descent with a rate for each layer, measured by the lengths of its weight and gradient.

Y. You, I. Gitman, B. Ginsburg (2017): Large batch training of convolutional networks.

    rate = lr * eta * |w| / (|rescale_grad * grad| + wd * |w| + eps)
    m <- momentum' * m - rate * (clip(rescale_grad * grad) + wd * w);  w <- w + m

The rate is lr itself for parameters whose names end in gamma, beta or bias, and where a length is 0. When the learning
rate changes from one update to the next, momentum' = momentum * rate now / rate before. The state is as SGD's.
Kernels: ``kernels/lars.py``, ``kernels/sgd.py``.

>>> positions("lars", [[0.0, 0.5]], start=[3.0, 4.0], learning_rate=0.5, eta=0.1)
[[3.0, 3.75]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..base import decides
from ..kernels.foundation import allocate, as_buffer, get
from ..kernels.foundation import run as runner
from ..ndarray import NDArray
from ..quirks import declare
from .apply import check_alike
from .rule import GroupedOptimizer, Index, MomentumOptimizer, aggregation_size, register
from .sgd import sgd_step

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import Keywords

UNSCALED_SUFFIXES = ("gamma", "beta", "bias")

_ONCE = declare(
    "lars-first-group", "LARS/momentum-correction",
    "corrects the momentum for a change of the learning rate in the first aggregated group of parameters only",
    "the paper's correction is of the momentum of every layer",
)


@register
class LARS(MomentumOptimizer, GroupedOptimizer):
    """Layer-wise adaptive rate scaling.

    Args:
        momentum: 0 for plain steps; a negative value acts as 0 but keeps a state.
        lazy_update: for row_sparse gradients, update only the rows that are present.
        eta: the share of a weight's length that one step may take.
        eps: added to the divisor.
        momentum_correction: whether the momentum follows changes of the learning rate.
        kwargs: see :class:`Optimizer`.
    """

    decaying_suffixes: ClassVar[tuple[str, ...]] = ("_weight",)
    rate_update: int | None = None

    @decides("LARS/no-decay")
    def __init__(
        self, momentum: float = 0.0, lazy_update: bool = True, eta: float = 0.001, eps: float = 0,
        momentum_correction: bool = True, **kwargs: Unpack[Keywords],
    ) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.momentum_correction = momentum_correction
        self.lazy_update = lazy_update
        self.aggregate_num = aggregation_size(4)
        self.eta = eta
        self.eps = eps
        self.skip = 0
        self.last_lr: float | None = None
        self.cur_lr: float | None = None

    @decides("LARS/rule")
    def _get_lrs(self, indices: Any) -> list[float]:
        """The learning rates of parameters before scaling; notes the learning rates of this update and of the last."""
        rate = self.learning_rate
        if self.cur_lr is None:
            self.last_lr = rate
        elif _ONCE.active or self.rate_update != self.num_update:
            self.last_lr = self.cur_lr
        self.cur_lr, self.rate_update = rate, self.num_update
        return super()._get_lrs(indices)

    def _step(
        self, indices: list[Index], weights: list[NDArray], grads: list[NDArray], states: list[Any], *, mixed: bool
    ) -> None:
        for weight, grad in zip(weights, grads, strict=True):
            check_alike("LARS", weight, grad)
        self._update_count(indices)
        lrs, wds = self._get_lrs(indices), self._get_wds(indices)
        momentum = self.momentum
        if self.momentum_correction and self.last_lr:
            momentum *= self.cur_lr / self.last_lr  # type: ignore[operator]  # both are set beside lrs
        scaled = [k for k, index in enumerate(indices) if self._is_scaled(index)]
        rates = self._scaled(
            [weights[k] for k in scaled], [grads[k] for k in scaled], [lrs[k] for k in scaled], [wds[k] for k in scaled]
        )
        for k, rate in zip(scaled, rates, strict=True):
            lrs[k] = rate
        for weight, grad, state, lr, wd in zip(weights, grads, states, lrs, wds, strict=True):
            sgd_step(self, weight, grad, state if mixed else (state,), momentum, lr, wd)

    @decides("LARS/names")
    def _is_scaled(self, index: Index) -> bool:
        """Whether the rate of a parameter is scaled by the norms of weight and gradient."""
        return not str(self.idx2name.get(index, index)).endswith(UNSCALED_SUFFIXES)

    def _scaled(
        self, weights: list[NDArray], grads: list[NDArray], lrs: list[float], wds: list[float]
    ) -> list[float]:
        """The scaled rates of parameters, from the norms of weights and gradients."""
        if not weights:
            return []
        op = get("multi_lars")
        inputs = [as_buffer(np.array(each, np.float32)) for each in (lrs, _squares(weights), _squares(grads), wds)]
        rates = allocate(inputs[0].shape, inputs[0].dtype)
        runner.forward(op, op.params(eta=self.eta, eps=self.eps, rescale_grad=self.rescale_grad), inputs, [rates])
        return rates.to_numpy().tolist()


def _squares(arrays: list[NDArray]) -> np.ndarray:
    """The sum of squares of each array, in float32; of a sparse array only stored elements count."""
    sums = np.zeros(len(arrays), np.float32)
    stored = {k: each.data if each.is_sparse else each for k, each in enumerate(arrays)}  # type: ignore[attr-defined]
    handles = {k: each.handle for k, each in stored.items() if each.size}
    if handles:
        op, inputs = get("multi_sum_sq"), list(handles.values())
        of_stored = allocate((len(inputs),), sums.dtype, inputs[0].device)
        runner.forward(op, op.params(num_arrays=len(inputs)), inputs, [of_stored])
        sums[list(handles)] = of_stored.to_numpy()
    return sums


__all__ = ["LARS"]
