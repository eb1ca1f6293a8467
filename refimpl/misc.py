"""mx.misc: the learning rate schedule of MXNet before ``mx.lr_scheduler``."""

from __future__ import annotations

from .base import refusal, require
from .log import LOG


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
        raise refusal(
            "misc/schedule", f"{type(self).__name__} has no __call__: a class of schedules says what the rate is",
            NotImplementedError,
        )


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
        require("misc/schedule", not step < 1, f"step is {step}: give 1 or more iterations", ValueError)
        require("misc/schedule", not factor >= 1.0, f"factor is {factor}: give less than 1, rates fall", ValueError)
        self.step, self.factor = step, factor
        self.init, self.old_lr = False, self.base_lr  # whether a rate was asked for, and what it was

    def __call__(self, iteration: int) -> float:
        """The learning rate at an iteration; a change since the last call is logged."""
        rate = self.base_lr * self.factor ** int(iteration / self.step)
        before = self.old_lr if self.init else self.base_lr
        self.init, self.old_lr = True, rate
        if rate != before:
            LOG.info("Iteration[%d]: learning rate is now %0.5e", iteration, rate)
        return rate


__all__ = ["FactorScheduler", "LearningRateScheduler"]
