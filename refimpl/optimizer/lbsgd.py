"""LBSGD: gradient descent as if batches were larger, with a rate that warms up to what large batches need.

P. Goyal and others (2017): Accurate, large minibatch SGD: training ImageNet in 1 hour; Y. You, I. Gitman, B. Ginsburg
(2017): Large batch training of convolutional networks.

    each call adds up the gradient; each ``batch_scale`` calls:
    G = (sum of gradients) / batch_scale
    w <- one step of SGD along G with the rate lr * multiplier

With n the calls so far (``begin_epoch * updates_per_epoch`` more than were made here), N = warmup_epochs *
updates_per_epoch and s = n / N below 1, 1 from there on:

    linear:  1 + (batch_scale - 1) * s
    power2:  1 + (batch_scale - 1) * s^2
    sqrt:    1 + (batch_scale - 1) * sqrt(s)
    lars:    sqrt(|w|^2 / (|G|^2 + wd * |w|^2)), within 0.01 .. 100

and any other name means 1 during the warm-up. The state is as SGD's. Kernel: ``kernels/sgd.py``.

>>> positions("lbsgd", [1.0, 3.0, 5.0, 5.0], learning_rate=0.5, batch_scale=2, warmup_epochs=1, updates_per_epoch=4)
[0.0, -1.5, -1.5, -6.5]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import decides, require
from ..kernels.foundation import get
from ..log import LOG
from ..ndarray import NDArray, operators
from ..quirks import declare
from .apply import check_alike, master_copy, zeros_like
from .rule import Index, Optimizer, register, warn_half_precision
from .sgd import sgd_step

_ALIASED = declare(
    "lbsgd-first-gradient", "LBSGD/sum",
    "keeps the caller's first gradient array itself, which the next backward overwrites: the first large batch is the"
    " last small one, over and over",
    "the gradient of a large batch is the mean over its parts",
)
_LATE = declare(
    "lbsgd-late-rate", "LBSGD/schedule",
    "reads the learning rate before it counts the update, so that the first parameter of a step has the rate of the"
    " step before, and all others the new one",
    "parameters and devices that differ only in their order must not differ in their rates",
)

SHARES = {"linear": lambda share: share, "power2": lambda share: share * share, "sqrt": math.sqrt}
"""How much of the way to ``batch_scale`` the multiplier has gone after a share of the warm-up."""


@register
class LBSGD(Optimizer):
    """Large-batch gradient descent.

    Args:
        momentum: as for :class:`SGD`.
        multi_precision: keep a float32 copy of float16 weights.
        warmup_strategy: "linear", "power2", "sqrt" or "lars"; the formulas are in the module's docstring.
        warmup_epochs: epochs of the warm-up.
        batch_scale: the number of calls that make one step.
        updates_per_epoch: calls for each parameter in an epoch.
        begin_epoch: epochs that were trained before.
        num_epochs: epochs to train; it has no effect.
        kwargs: see :class:`Optimizer`.

    ``cumgrads`` holds the sum of gradients and the number of calls by index.

    Raises:
        ValueError: ``batch_scale`` is not positive.
    """

    _changing = ("cumgrads",)

    def __init__(
        self, momentum: float = 0.0, multi_precision: bool = False, warmup_strategy: str = "linear",
        warmup_epochs: int = 5, batch_scale: int = 1, updates_per_epoch: int = 32, begin_epoch: int = 0,
        num_epochs: int = 60, **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        require(
            "LBSGD/batch-scale", batch_scale > 0,
            f"batch_scale is the number of gradients in a step, 1 or more, got {batch_scale}", ValueError,
        )
        LOG.info(
            "Large batches: batch_scale %s, warm-up %r over %s epochs of %s updates", batch_scale, warmup_strategy,
            warmup_epochs, updates_per_epoch,
        )
        self.momentum = momentum
        self.multi_precision = multi_precision
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self.lbmult = 1
        self.cumgrads: dict[Any, dict[str, Any]] = {}
        self.adaptive = False
        self.admult = 1

    @decides("LBSGD/copy")
    def create_state(self, index: Index, weight: NDArray) -> Any:
        """The momentum or None; (momentum or None, float32 weight) for a float16 weight with multi_precision."""
        if weight.dtype == np.float16:
            if self.multi_precision:
                master = master_copy(weight)
                return (None if self.momentum == 0.0 else zeros_like(master, weight.stype)), master
            warn_half_precision(self)
        return None if self.momentum == 0.0 else zeros_like(weight, weight.stype)

    @decides("LBSGD/rule")
    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Add up the gradient; every ``batch_scale`` calls make a step. ``state`` comes from :meth:`create_state`."""
        check_alike("LBSGD", weight, grad)
        early = self._get_lr(index) if _LATE.active else None
        lr, wd = self._counted_rates(index)
        total, calls = self._added(index, grad)
        if calls % self.batch_scale:
            self.cumgrads[index] = {"cum_grad": total, "num_cums": calls}
            return
        mean = total / self.batch_scale
        multiplier = self._scale_of(weight, mean, wd) if self.warmup_strategy == "lars" else self._get_lbmult(calls)
        self.cumgrads[index] = {"cum_grad": 0, "num_cums": calls}
        sgd_step(self, weight, mean, state if isinstance(state, (list, tuple)) else (state,), self.momentum,
                 (lr if early is None else early) * multiplier, wd)

    def _added(self, index: Index, grad: NDArray) -> tuple[NDArray, int]:
        """(sum of gradients, number of calls), both with the present gradient."""
        held = self.cumgrads.get(index)
        if held is None:
            return (grad if _ALIASED.active else grad.copy()), self.init_updates + 1
        return held["cum_grad"] + grad, held["num_cums"] + 1

    @decides("LBSGD/warm-up")
    def _get_lbmult(self, nup: int) -> float:
        """The multiplier after ``nup`` calls."""
        warm_up = self.warmup_epochs * self.updates_per_epoch
        if nup >= warm_up:
            return float(self.batch_scale)
        share = SHARES.get(self.warmup_strategy)
        return 1.0 + (self.batch_scale - 1) * share(nup / warm_up) if share and warm_up > 1 else 1.0

    @staticmethod
    def _scale_of(weight: NDArray, mean: NDArray, wd: float) -> float:
        """The multiplier of "lars", from the norms of weight and gradient."""
        of_weight, of_gradient = (_square(array) for array in (weight, mean))
        return min(max(math.sqrt(of_weight / (of_gradient + wd * of_weight + 1e-18)), 0.01), 100)


def _square(array: NDArray) -> float:
    """The sum of squares of a dense or sparse array."""
    return operators.invoke(get("multi_sum_sq"), [array.tostype("default")], {}).asscalar()


__all__ = ["LBSGD"]
