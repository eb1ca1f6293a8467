"""mx.misc: the learning rate schedule of MXNet before ``mx.lr_scheduler``."""

from __future__ import annotations

from .base import refusal
from .root_log import LOG


class LearningRateScheduler:
    """Base of these schedules: a call with the number of the iteration gives the learning rate."""

    def __init__(self) -> None:
        self.base_lr = 0.01

    def __call__(self, iteration: int) -> float:
        """The learning rate at an iteration.

        Raises:
            NotImplementedError: a subclass says what it is.
        """
        del iteration
        raise refusal("misc/schedule", "must override this", NotImplementedError)


class FactorScheduler(LearningRateScheduler):
    """base_lr * factor ** (iteration // step), and base_lr is 0.01 unless it is set.

    Args:
        step: after how many iterations the rate is multiplied by the factor, at least 1.
        factor: less than 1.

    Raises:
        ValueError: ``step`` or ``factor`` is out of range.
    """

    def __init__(self, step: float, factor: float = 0.1) -> None:
        super().__init__()
        if step < 1:
            raise refusal(
                "misc/schedule", f"Schedule step must be greater or equal than 1 round, got {step}", ValueError
            )
        if factor >= 1.0:
            raise refusal("misc/schedule", f"Factor must be less than 1 to make lr reduce, got {factor}", ValueError)
        self.step = step
        self.factor = factor
        self.old_lr = self.base_lr
        self.init = False

    def __call__(self, iteration: int) -> float:
        """The learning rate at an iteration; a change since the last call is logged."""
        if not self.init:
            self.init = True
            self.old_lr = self.base_lr
        rate = self.base_lr * self.factor ** int(iteration / self.step)
        if rate != self.old_lr:
            self.old_lr = rate
            LOG.info("At Iteration [%d]: Swith to new learning rate %.5f", iteration, rate)
        return rate


__all__ = ["FactorScheduler", "LearningRateScheduler"]
