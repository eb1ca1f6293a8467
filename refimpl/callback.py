"""mx.callback: what ``fit`` and ``score`` call after a batch or an epoch.

A batch callback takes one object with ``epoch``, ``nbatch`` (from 0), ``eval_metric`` and ``locals``; an
epoch callback takes the epoch, the symbol, the parameters and the auxiliary states. All text goes to the
root logger at level INFO, in MXNet's formats, which plotting scripts parse.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from .base import decides, refusal
from .root_log import LOG
from .symbol.checkpoint import save_checkpoint

EpochCallback = Callable[..., None]
BatchCallback = Callable[[Any], None]


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
    period = int(max(1, period))

    def _callback(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        del sym, arg, aux  # the module has its own
        if (iter_no + 1) % period == 0:
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states=save_optimizer_states)

    return _callback


@decides("callback/checkpoint")
def do_checkpoint(prefix: str, period: int = 1) -> EpochCallback:
    """Return an epoch callback that saves symbol and parameters after every ``period`` epochs.

    The files are ``prefix-symbol.json`` and ``prefix-0001.params``, numbered from 1. A period below 1
    counts as 1.
    """
    period = int(max(1, period))

    def _callback(iter_no: int, sym: Any, arg: Any, aux: Any) -> None:
        if (iter_no + 1) % period == 0:
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)

    return _callback


@decides("callback/train-metric")
def log_train_metric(period: int, auto_reset: bool = False) -> BatchCallback:
    """Return a batch callback that logs the training metric at every ``period``-th batch, from 0 on.

    With ``auto_reset`` the local sums of the metric begin anew after each line.
    """

    def _callback(param: Any) -> None:
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                LOG.info(
                    "Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value
                )
            if auto_reset:
                param.eval_metric.reset_local()

    return _callback


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
        self.batch_size = batch_size
        self.frequent = frequent
        self.init = False
        self.tic = 0.0
        self.last_count = 0
        self.auto_reset = auto_reset

    def __call__(self, param: Any) -> None:
        """Log when ``frequent`` batches have passed; the first call of an epoch starts the clock."""
        count = param.nbatch
        if self.last_count > count:
            self.init = False
        self.last_count = count
        if not self.init:
            self.init = True
            self.tic = time.time()
            return
        if count % self.frequent:
            return
        seconds = time.time() - self.tic
        speed = self.frequent * self.batch_size / seconds if seconds > 0 else math.inf
        metric = param.eval_metric
        if metric is None:
            LOG.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
        else:
            results = metric.get_name_value()
            first = count - self.frequent if self.auto_reset else 0
            if self.auto_reset:
                metric.reset_local()
            shown = "".join(f"\t{name}={value:f}" for name, value in results)
            LOG.info(
                "Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec%s",
                param.epoch, first, count, speed, shown,
            )
        self.tic = time.time()


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
        share = param.nbatch / float(self.total)
        filled = round(self.bar_len * share)
        bar = "=" * filled + "-" * (self.bar_len - filled)
        LOG.info("[%s] %s%%\r", bar, math.ceil(100.0 * share))


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
