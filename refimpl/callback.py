"""mx.callback: what ``fit`` and ``score`` call after a batch or an epoch.

A batch callback takes one object with ``epoch``, ``nbatch`` (from 0), ``eval_metric`` and ``locals``; an
epoch callback takes the epoch, the symbol, the parameters and the auxiliary states. All text goes to the
root logger at level INFO, in MXNet's formats, which plotting scripts parse.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from .base import decides, refusal
from .log import LOG
from .symbol.checkpoint import save_checkpoint

EpochCallback = Callable[..., None]
BatchCallback = Callable[[Any], None]


def _every(period: int, save: EpochCallback) -> EpochCallback:
    """An epoch callback that calls ``save(epoch, symbol, parameters, states)``, the epoch counted from 1."""
    epochs = int(max(1, period))

    def at_end(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        number = iter_no + 1
        if number % epochs == 0:
            save(number, sym, arg, aux)

    return at_end


@decides("callback/checkpoint")
def module_checkpoint(
    mod: Any, prefix: str, period: int = 1, save_optimizer_states: bool = False
) -> EpochCallback:
    """Return an epoch callback that saves a module after every ``period`` epochs, with epochs counted from 1.

    Args:
        mod: a module that has ``save_checkpoint``.
        prefix: str, what the names of the files begin with.
        period: int, epochs from one checkpoint to the next; below 1 counts as 1.
        save_optimizer_states: bool, whether to write the optimizer's states too.
    """
    def save(number: int, *_: Any) -> None:
        mod.save_checkpoint(prefix, number, save_optimizer_states=save_optimizer_states)

    return _every(period, save)


@decides("callback/checkpoint")
def do_checkpoint(prefix: str, period: int = 1) -> EpochCallback:
    """Return an epoch callback that saves symbol and parameters after every ``period`` epochs.

    The files are ``prefix-symbol.json`` and ``prefix-0001.params``, numbered from 1. A period below 1
    counts as 1.
    """
    return _every(period, partial(save_checkpoint, prefix))


@decides("callback/train-metric")
def log_train_metric(period: int, auto_reset: bool = False) -> BatchCallback:
    """Return a batch callback that logs the training metric at every ``period``-th batch, from 0 on.

    With ``auto_reset`` the local sums of the metric begin anew after each line.
    """

    def at_batch(param: Any) -> None:
        metric = param.eval_metric
        if metric is None or param.nbatch % period:
            return
        for name, value in metric.get_name_value():
            LOG.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value)
        if auto_reset:
            metric.reset_local()

    return at_batch


@decides("Speedometer/line", "Speedometer/auto-reset", "Speedometer/clock")
class Speedometer:
    """Batch callback that logs samples per second and the training metric.

    Args:
        batch_size: samples in a batch.
        frequent: batches between two lines.
        auto_reset: whether a line counts only the batches since the last line; otherwise it counts all batches of
            the epoch.

    Raises:
        ValueError: ``frequent`` is less than 1.
    """

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        if frequent < 1:
            raise refusal(
                "Speedometer/frequent", f"frequent must be 1 or more batches, got {frequent}", ValueError
            )
        self.batch_size, self.frequent, self.auto_reset = batch_size, frequent, auto_reset
        self.init, self.tic, self.last_count = False, 0.0, 0  # whether the clock runs, since when; the last batch

    def __call__(self, param: Any) -> None:
        """Log when ``frequent`` batches have passed; the first call of an epoch starts the clock."""
        fresh = not self.init or param.nbatch < self.last_count
        self.init, self.last_count = True, param.nbatch
        if not fresh and param.nbatch % self.frequent:
            return
        if not fresh:
            self._log(param, time.time() - self.tic)
        self.tic = time.time()

    def _log(self, param: Any, seconds: float) -> None:
        """One line, in MXNet's format: scripts that plot a log look for it."""
        speed = self.frequent * self.batch_size / seconds if seconds > 0 else math.inf
        count, metric = param.nbatch, param.eval_metric
        if metric is None:
            LOG.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
            return
        shown = "".join(f"\t{name}={value:f}" for name, value in metric.get_name_value())
        if self.auto_reset:
            metric.reset_local()
        first = count - self.frequent if self.auto_reset else 0
        LOG.info("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec%s", param.epoch, first, count, speed, shown)


@decides("ProgressBar/line")
class ProgressBar:
    """Batch callback that logs a bar of ``length`` characters, full at ``total`` batches.

    Raises:
        ValueError: ``total`` is less than 1.
    """

    def __init__(self, total: int, length: int = 80) -> None:
        if total < 1:
            raise refusal(
                "ProgressBar/total", f"total must be 1 or more batches, got {total}", ValueError
            )
        self.bar_len = length
        self.total = total

    def __call__(self, param: Any) -> None:
        """Log the bar as it stands after ``param.nbatch`` batches."""
        done, percent = (full * param.nbatch / self.total for full in (self.bar_len, 100))  # rounds 7 of 100 to 7
        LOG.info("[%s] %s%%\r", ("=" * round(done)).ljust(self.bar_len, "-"), math.ceil(percent))


@decides("callback/validation-metric")
class LogValidationMetricsCallback:
    """Score-end callback that logs each value of the validation metric."""

    def __call__(self, param: Any) -> None:
        """Log one line for each value; nothing without a metric."""
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            LOG.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)


__all__ = [
    "LogValidationMetricsCallback", "ProgressBar", "Speedometer", "do_checkpoint", "log_train_metric",
    "module_checkpoint", "save_checkpoint",
]
