"""Callbacks and Monitor: the very lines that MXNet 1.9.1 logs."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np
import pytest

from refimpl import callback, metric
from refimpl import ndarray as nd
from refimpl.monitor import Monitor

LABELS = nd.array([1, 0, 0])
SCORES = nd.array([[0.3, 0.7], [0.6, 0.4], [0.2, 0.8]])


class Param(NamedTuple):
    epoch: int
    nbatch: int
    eval_metric: Any
    locals: Any


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO)
    return caplog.messages


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until the test moves it."""
    now = [0.0]
    monkeypatch.setattr(callback.time, "time", lambda: now[0])
    return now


def run(speedometer, eval_metric, batches, clock, epoch=0):
    """Batches of half a second each."""
    for number in batches:
        clock[0] += 0.5
        if eval_metric is not None:
            eval_metric.update([LABELS], [SCORES])
        speedometer(Param(epoch, number, eval_metric, None))


@pytest.mark.clause("Speedometer/line", "Speedometer/auto-reset")
def test_speedometer(lines, clock, caplog):
    accuracy = metric.Accuracy()
    run(callback.Speedometer(10, 2), accuracy, range(6), clock)
    assert caplog.messages == [
        "Epoch[0] Batch [0-2]\tSpeed: 20.00 samples/sec\taccuracy=0.666667",
        "Epoch[0] Batch [2-4]\tSpeed: 20.00 samples/sec\taccuracy=0.666667",
    ]
    assert (accuracy.num_inst, accuracy.global_num_inst) == (3, 18)


@pytest.mark.clause("Speedometer/auto-reset")
def test_speedometer_over_the_whole_epoch(lines, clock, caplog):
    both = metric.create(["acc", "ce"])
    run(callback.Speedometer(10, 2, auto_reset=False), both, range(6), clock)
    assert caplog.messages == [
        f"Epoch[0] Batch [0-{n}]\tSpeed: 20.00 samples/sec\taccuracy=0.666667\tcross-entropy=0.825646"
        for n in (2, 4)
    ]


@pytest.mark.clause("Speedometer/clock")
def test_speedometer_starts_its_clock_with_each_epoch(lines, clock, caplog):
    speedometer = callback.Speedometer(10, 2)
    run(speedometer, None, range(4), clock)
    clock[0] += 100
    run(speedometer, None, range(4), clock, epoch=1)
    clock[0] += 100
    run(speedometer, None, range(1, 4), clock, epoch=2)
    assert caplog.messages == [
        "Iter[0] Batch [2]\tSpeed: 20.00 samples/sec",
        "Iter[1] Batch [2]\tSpeed: 20.00 samples/sec",
        "Iter[2] Batch [2]\tSpeed: 40.00 samples/sec",
    ]


@pytest.mark.clause("Speedometer/clock", "Speedometer/frequent")
def test_speedometer_corners(lines, clock, caplog):
    speedometer = callback.Speedometer(10, 1)
    for number in range(2):
        speedometer(Param(0, number, metric.Accuracy(), None))
    assert caplog.messages == ["Epoch[0] Batch [0-1]\tSpeed: inf samples/sec\taccuracy=nan"]
    with pytest.raises(ValueError, match="Speedometer/frequent"):
        callback.Speedometer(10, 0)


@pytest.mark.clause("ProgressBar/line", "ProgressBar/total")
def test_progress_bar(lines, caplog):
    bar = callback.ProgressBar(total=7, length=10)
    for number in range(9):
        bar(Param(0, number, None, None))
    assert caplog.messages == [
        "[----------] 0%\r", "[=---------] 15%\r", "[===-------] 29%\r", "[====------] 43%\r",
        "[======----] 58%\r", "[=======---] 72%\r", "[=========-] 86%\r", "[==========] 100%\r",
        "[===========] 115%\r",
    ]
    caplog.clear()
    percents = callback.ProgressBar(total=100, length=10)
    for number in (7, 14, 28, 55):
        percents(Param(0, number, None, None))
    assert caplog.messages == [  # as MXNet 1.9.1 logs them
        "[=---------] 7%\r", "[=---------] 14%\r", "[===-------] 28%\r", "[======----] 55%\r",
    ]
    with pytest.raises(ValueError, match="ProgressBar/total"):
        callback.ProgressBar(0)


@pytest.mark.clause("callback/train-metric")
def test_log_train_metric(lines, caplog):
    both = metric.create(["acc", "ce"])
    log = callback.log_train_metric(2)
    for number in range(4):
        both.update([LABELS], [SCORES])
        log(Param(3, number, both, None))
    assert caplog.messages == [
        f"Iter[3] Batch[{number}] Train-{text}"
        for number in (0, 2) for text in ("accuracy=0.666667", "cross-entropy=0.825646")
    ]
    callback.log_train_metric(1)(Param(3, 0, None, None))
    assert both.metrics[0].num_inst == 12
    callback.log_train_metric(1, auto_reset=True)(Param(3, 0, both, None))
    assert (both.metrics[0].num_inst, both.metrics[0].global_num_inst) == (0, 12)


@pytest.mark.clause("callback/validation-metric")
def test_log_validation_metric(lines, caplog):
    both = metric.create(["acc", "ce"])
    both.update([LABELS], [SCORES])
    log = callback.LogValidationMetricsCallback()
    log(Param(3, 0, both, None))
    log(Param(3, 0, None, None))
    assert caplog.messages == [
        "Epoch[3] Validation-accuracy=0.666667", "Epoch[3] Validation-cross-entropy=0.825646"
    ]


class Saving:
    def __init__(self):
        self.calls = []

    def save_checkpoint(self, prefix, epoch, save_optimizer_states=False):
        self.calls.append((prefix, epoch, save_optimizer_states))


@pytest.mark.clause("callback/checkpoint")
@pytest.mark.parametrize(("period", "epochs"), [
    (1, [1, 2, 3, 4]), (2, [2, 4]), (3, [3]), (0, [1, 2, 3, 4]), (-3, [1, 2, 3, 4]), (2.9, [2, 4])
])
def test_checkpoints(period, epochs, monkeypatch):
    module = Saving()
    save = callback.module_checkpoint(module, "net", period, save_optimizer_states=True)
    for epoch in range(4):
        save(epoch, "symbol", "args", "auxs")
    assert module.calls == [("net", epoch, True) for epoch in epochs]

    written: list[tuple] = []
    monkeypatch.setattr(callback, "save_checkpoint", lambda *args: written.append(args))
    save = callback.do_checkpoint("net", period)
    for epoch in range(4):
        save(epoch, "symbol", "args", "auxs")
    assert written == [("net", epoch, "symbol", "args", "auxs") for epoch in epochs]


# --- Monitor -------------------------------------------------------------------------------------


class Watched:
    """What Monitor needs of an executor: one output a forward pass, two arguments, one state."""

    def __init__(self):
        self.arg_dict = {
            "data": nd.array([[0, 1, 2], [3, 4, 5]]), "fc_weight": nd.array([[1, 2, 3], [-1, 1, 0]])
        }
        self.aux_dict = {"bn_moving_mean": nd.array([0.5, 0.5])}

    def set_monitor_callback(self, noted, monitor_all=False):
        self.noted, self.monitor_all = noted, monitor_all

    def forward(self):
        self.noted("fc_output", nd.array([[8.5, 1.5], [26.5, 1.5]]))


def watch(**kwargs):
    monitor, executor = Monitor(**kwargs), Watched()
    monitor.install(executor)
    return monitor, executor


@pytest.mark.clause("Monitor/statistic", "Monitor/arguments")
def test_monitor_notes_outputs_then_arguments(lines, caplog):
    monitor, executor = watch(interval=1)
    monitor.tic()
    executor.forward()
    entries = monitor.toc()
    assert [(step, name) for step, name, _ in entries] == [
        (1, "fc_output"), (1, "data"), (1, "fc_weight"), (1, "bn_moving_mean")
    ]
    assert all(text.endswith("\t") for _, _, text in entries)
    assert [float(text) for _, _, text in entries] == pytest.approx(
        [13.955285, 3.0276504, 1.6329931, 0.5], rel=1e-6
    )
    assert entries[1][2] == "3.0276504\t"
    assert monitor.toc() == []
    monitor.tic()
    monitor.toc_print()
    assert caplog.messages[-1] == "Batch:       2 bn_moving_mean                 0.5\t"


@pytest.mark.clause("Monitor/interval")
def test_monitor_interval():
    monitor, executor = watch(interval=2, pattern=".*weight")
    noted = []
    for _ in range(4):
        monitor.tic()
        executor.forward()
        noted.append([(step, name) for step, name, _ in monitor.toc()])
    assert noted == [[(1, "fc_weight")], [], [(3, "fc_weight")], []]
    assert Monitor(1).toc() == []


@pytest.mark.clause("Monitor/pattern")
def test_monitor_pattern_and_order():
    monitor, executor = watch(interval=1, pattern="weight")
    monitor.tic()
    executor.forward()
    assert monitor.toc() == []
    monitor, executor = watch(interval=1, sort=True, monitor_all=True)
    monitor.tic()
    executor.forward()
    assert [name for _, name, _ in monitor.toc()] == ["bn_moving_mean", "data", "fc_output", "fc_weight"]
    assert executor.monitor_all


@pytest.mark.clause("Monitor/statistic", "Monitor/arrays")
def test_monitor_statistics():
    monitor, executor = watch(interval=1, pattern="fc_output", stat_func=lambda x: [x[0], nd.array([2.5])])
    monitor.tic()
    executor.forward()
    assert monitor.toc() == [(1, "fc_output", "[8.5 1.5]\t2.5\t")]
    for wrong in (lambda x: 3.0, lambda x: x.asnumpy(), lambda x: np.float32(1)):
        monitor, executor = watch(interval=1, stat_func=wrong)
        monitor.tic()
        executor.forward()
        with pytest.raises(AssertionError, match="Monitor/arrays"):
            monitor.toc()
