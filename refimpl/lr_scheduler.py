"""mx.lr_scheduler: the learning rate as a function of the number of updates.

A scheduler is called with the number of updates done so far and returns the rate for the next. It
remembers what it returned: calling it with a smaller number does not undo a decay.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi

from .base import decides, refusal, require
from .log import LOG


class LRScheduler:
    """Base class: warm-up, and the rate that is being scheduled.

    During the first ``warmup_steps`` updates the rate rises from ``warmup_begin_lr`` to ``base_lr`` in
    equal steps (``warmup_mode="linear"``) or stays at ``warmup_begin_lr`` (``"constant"``). The target of
    the warm-up is the ``base_lr`` given here, whatever becomes of that attribute later.

    Raises:
        AssertionError: ``warmup_steps`` is not an integer.
        ValueError: it is negative, ``warmup_begin_lr`` is above ``base_lr``, or the mode is unknown.
    """

    _undo_follows = True

    def __init__(
        self, base_lr: float = 0.01, warmup_steps: int = 0, warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        _require_integer("warmup_steps", warmup_steps)
        require(
            "LRScheduler/warmup-steps", warmup_steps >= 0, f"warmup_steps is {warmup_steps}: give 0 or more updates",
            ValueError,
        )
        require(
            "LRScheduler/warmup-begin", not warmup_begin_lr > base_lr,
            f"the rate rises from warmup_begin_lr to base_lr, but {warmup_begin_lr} is above {base_lr}", ValueError,
        )
        require(
            "LRScheduler/warmup-mode", warmup_mode in ("linear", "constant"),
            f"warmup_mode is linear or constant, not {warmup_mode!r}", ValueError,
        )
        self.base_lr = self.warmup_final_lr = base_lr
        self.warmup_begin_lr, self.warmup_steps, self.warmup_mode = warmup_begin_lr, warmup_steps, warmup_mode

    @decides("LRScheduler/warm-up")
    def get_warmup_lr(self, num_update: int) -> float:
        """Return the rate after ``num_update`` updates of the warm-up.

        Raises:
            AssertionError: the warm-up is over by then.
        """
        if num_update >= self.warmup_steps:
            raise refusal(
                "LRScheduler/warmup-over",
                f"update {num_update} is past the warm-up of {self.warmup_steps} steps", AssertionError,
            )
        rise = 0 if self.warmup_mode == "constant" else self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * num_update / self.warmup_steps

    def __call__(self, num_update: int) -> float:
        """Return the rate after ``num_update`` updates."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        return self._scheduled(num_update)

    def _scheduled(self, num_update: int) -> float:
        raise refusal(
            "LRScheduler/abstract",
            f"{type(self).__name__} has no __call__: a class of schedulers says what the rate is", NotImplementedError,
        )


class FactorScheduler(LRScheduler):
    """Multiply the rate by ``factor`` after every ``step`` updates, down to ``stop_factor_lr``.

    Raises:
        ValueError: ``step`` is less than 1 or ``factor`` more than 1.
    """

    def __init__(
        self, step: int, factor: float = 1, stop_factor_lr: float = 1e-8, base_lr: float = 0.01,
        warmup_steps: int = 0, warmup_begin_lr: float = 0, warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        _require_step(step)
        _require_factor(factor)
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    @decides("LRScheduler/factor-rule", "LRScheduler/no-way-back")
    def _scheduled(self, num_update: int) -> float:
        while num_update > self.count + self.step:
            before, wanted = self.base_lr, self.base_lr * self.factor
            ended = wanted < self.stop_factor_lr
            self.base_lr = self.stop_factor_lr if ended else wanted
            self.count += self.step
            _log_change(num_update, self.base_lr, ", which is stop_factor_lr, and stays so" if ended else "")
            if self.base_lr == before:  # nor will further steps change it, however many there are
                self.count += (num_update - self.count - 1) // self.step * self.step
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Multiply the rate by ``factor`` after each number of updates in the list ``step``.

    Raises:
        AssertionError: ``step`` is not a list, or is empty.
        ValueError: a step is less than 1, they do not increase, or ``factor`` is more than 1.
    """

    def __init__(
        self, step: Sequence[int], factor: float = 1, base_lr: float = 0.01, warmup_steps: int = 0,
        warmup_begin_lr: float = 0, warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list) or not step:
            raise refusal(
                "LRScheduler/steps", f"step must be a list of one or more numbers, got {step!r}",
                AssertionError,
            )
        for number in step:
            _require_step(number)
        if any(later <= earlier for earlier, later in pairwise(step)):
            raise refusal(
                "LRScheduler/steps", f"the numbers in step must increase, got {step}",
                ValueError,
            )
        _require_factor(factor)
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    @decides("LRScheduler/multi-factor-rule", "LRScheduler/no-way-back")
    def _scheduled(self, num_update: int) -> float:
        for step in self.step[self.cur_step_ind : bisect_left(self.step, num_update)]:  # those before num_update
            self.cur_step_ind, self.count = self.cur_step_ind + 1, step
            self.base_lr *= self.factor
            _log_change(num_update, self.base_lr)
        return self.base_lr


class _FallingScheduler(LRScheduler):
    """From ``base_lr`` after the warm-up to ``final_lr`` at ``max_update`` along a curve from 1 to 0."""

    def __init__(
        self, max_update: int, base_lr: float, final_lr: float, warmup_steps: int,
        warmup_begin_lr: float, warmup_mode: str,
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        _require_integer("max_update", max_update)
        if max_update < 1:
            raise refusal(
                "LRScheduler/max-update",
                f"max_update is {max_update}: give 1 or more updates", ValueError,
            )
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = max_update - warmup_steps

    def _curve(self, done: float) -> float:
        raise NotImplementedError

    @decides("LRScheduler/curves-look-at-the-number", "LRScheduler/warm-up-to-the-end")
    def _scheduled(self, num_update: int) -> float:
        if self.max_update < self.warmup_steps:
            return self.base_lr  # the end comes before the curve begins
        reached = min(num_update, self.max_update)
        # A warm-up as long as the whole schedule leaves no curve to follow: it ends at once.
        done = (reached - self.warmup_steps) / self.max_steps if self.max_steps else 1.0
        self.base_lr = self.final_lr + (self.base_lr_orig - self.final_lr) * self._curve(done)
        return self.base_lr


class PolyScheduler(_FallingScheduler):
    """From ``base_lr`` to ``final_lr`` as (1 - share of updates done) to the power ``pwr``.

    Raises:
        AssertionError: ``max_update`` is not an integer.
        ValueError: it is less than 1.
    """

    def __init__(
        self, max_update: int, base_lr: float = 0.01, pwr: float = 2, final_lr: float = 0,
        warmup_steps: int = 0, warmup_begin_lr: float = 0, warmup_mode: str = "linear",
    ) -> None:
        super().__init__(
            max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode
        )
        self.power = pwr

    @decides("LRScheduler/poly-rule")
    def _curve(self, done: float) -> float:
        return pow(1 - done, self.power)


class CosineScheduler(_FallingScheduler):
    """From ``base_lr`` to ``final_lr`` along half a wave of the cosine.

    Raises:
        AssertionError: ``max_update`` is not an integer.
        ValueError: it is less than 1.
    """

    def __init__(
        self, max_update: int, base_lr: float = 0.01, final_lr: float = 0, warmup_steps: int = 0,
        warmup_begin_lr: float = 0, warmup_mode: str = "linear",
    ) -> None:
        super().__init__(
            max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode
        )

    @decides("LRScheduler/cosine-rule")
    def _curve(self, done: float) -> float:
        return (1 + cos(pi * done)) / 2


def _require_integer(name: str, value: object) -> None:
    if not isinstance(value, int):
        raise refusal("LRScheduler/integers", f"{name} must be an integer, got {value!r}", AssertionError)


def _require_step(step: float) -> None:
    require("LRScheduler/steps", not step < 1, f"step is {step}: give 1 or more updates", ValueError)


def _require_factor(factor: float) -> None:
    require(
        "LRScheduler/factor", not factor > 1.0, f"factor is {factor}: give 1 or less, rates do not rise", ValueError
    )


@decides("LRScheduler/log")
def _log_change(num_update: int, rate: float, note: str = "") -> None:
    LOG.info("Update[%d]: learning rate is now %0.5e%s", num_update, rate, note)


__all__ = [
    "CosineScheduler", "FactorScheduler", "LRScheduler", "MultiFactorScheduler", "PolyScheduler",
]
