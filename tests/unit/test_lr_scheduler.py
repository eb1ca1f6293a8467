"""Learning-rate schedules: numbers printed by MXNet 1.9.1 for the same calls in the same order."""

from __future__ import annotations

import logging

import pytest

from refimpl import lr_scheduler as lr

# [schedule(n) for n in CALLS]
CALLS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 30)
WARM = {"base_lr": 1.0, "warmup_steps": 4, "warmup_begin_lr": 0.1}
RECORDED = [
    (lr.FactorScheduler, (3, 0.5), {}, (
        0.01, 0.01, 0.01, 0.01, 0.005, 0.005, 0.005, 0.0025, 0.0025, 0.0025, 0.00125, 0.00125, 0.00125,
        0.000625, 0.00015625, 1.953125e-05,
    )),
    (lr.FactorScheduler, (3, 0.5), {"base_lr": 1.0, "stop_factor_lr": 0.2}, (
        1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2,
    )),
    (lr.FactorScheduler, (3, 0.5), {**WARM, "warmup_begin_lr": 0.2}, (
        0.2, 0.4, 0.6000000000000001, 0.8, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.0625,
        0.015625, 0.001953125,
    )),
    (lr.FactorScheduler, (2.5, 0.5), {}, (
        0.01, 0.01, 0.01, 0.005, 0.005, 0.005, 0.0025, 0.0025, 0.00125, 0.00125, 0.00125, 0.000625,
        0.000625, 0.0003125, 7.8125e-05, 4.8828125e-06,
    )),
    (lr.FactorScheduler, (3, -1.0), {}, (0.01,) * 4 + (1e-08,) * 12),
    (lr.MultiFactorScheduler, ([3, 5, 9], 0.5), {"base_lr": 1.0}, (
        1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125,
    )),
    (lr.MultiFactorScheduler, ([6, 9], 0.1), {"base_lr": 1.0, "warmup_steps": 4}, (
        0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1, *(0.010000000000000002,) * 6,
    )),
    (lr.PolyScheduler, (10,), {}, (
        0.01, 0.008100000000000001, 0.006400000000000001, 0.0049, 0.0036, 0.0025, 0.0016000000000000003,
        0.0009000000000000003, 0.0003999999999999998, 9.999999999999995e-05, *(0.0,) * 6,
    )),
    (lr.PolyScheduler, (10, 1.0, 2, 0.1), {}, (
        1.0, 0.8290000000000001, 0.6760000000000002, 0.5409999999999999, 0.42400000000000004, 0.325,
        0.24400000000000005, 0.18100000000000005, 0.13599999999999998, 0.109, *(0.1,) * 6,
    )),
    (lr.PolyScheduler, (10,), WARM, (
        0.1, 0.325, 0.55, 0.775, 1.0, 0.6944444444444445, 0.44444444444444453, 0.25, 0.11111111111111113,
        0.027777777777777766, *(0.0,) * 6,
    )),
    (lr.PolyScheduler, (10,), {**WARM, "pwr": 0.5, "final_lr": 0.25, "warmup_mode": "constant"}, (
        0.1, 0.1, 0.1, 0.1, 1.0, 0.9346531968814576, 0.8623724356957945, 0.7803300858899107,
        0.6830127018922194, 0.5561862178478972, *(0.25,) * 6,
    )),
    (lr.CosineScheduler, (10, 1.0, 0.1), {}, (
        1.0, 0.9779754323328191, 0.9140576474687263, 0.8145033635316129, 0.6890576474687263, 0.55,
        0.41094235253127376, 0.2854966364683872, 0.18594235253127372, 0.12202456766718092, *(0.1,) * 6,
    )),
    (lr.CosineScheduler, (10,), WARM, (
        0.1, 0.325, 0.55, 0.775, 1.0, 0.9330127018922194, 0.75, 0.5, 0.2500000000000001,
        0.06698729810778065, *(0.0,) * 6,
    )),
    (lr.CosineScheduler, (4, 1.0), {"warmup_steps": 6}, (
        0.0, 0.16666666666666666, 0.3333333333333333, 0.5, 0.6666666666666666, 0.8333333333333334,
        *(1.0,) * 10,
    )),
]


@pytest.mark.clause(
    "LRScheduler/factor-rule", "LRScheduler/multi-factor-rule", "LRScheduler/poly-rule",
    "LRScheduler/cosine-rule", "LRScheduler/warm-up",
)
@pytest.mark.parametrize(("kind", "args", "kwargs", "expected"), RECORDED)
def test_recorded(kind, args, kwargs, expected):
    schedule = kind(*args, **kwargs)
    # The last digits of cos and pow belong to the platform's mathematics library.
    assert [schedule(n) for n in CALLS] == pytest.approx(expected, rel=1e-14, abs=1e-17)


@pytest.mark.clause("LRScheduler/no-way-back")
@pytest.mark.parametrize("schedule", [
    lr.FactorScheduler(3, 0.5, base_lr=1.0), lr.MultiFactorScheduler([3, 5, 9], 0.5, base_lr=1.0)
])
def test_decay_is_not_undone(schedule):
    assert [schedule(10), schedule(2), schedule(11)] == [0.125] * 3
    assert schedule.count == 9


@pytest.mark.clause("LRScheduler/curves-look-at-the-number")
def test_curves_look_at_the_number_alone():
    schedule = lr.PolyScheduler(10, 1.0, final_lr=0.01)
    assert [schedule(8), schedule(2), schedule(50), schedule(3)] == pytest.approx(
        [0.01 + 0.99 * 0.2**2, 0.01 + 0.99 * 0.8**2, 0.01, 0.01 + 0.99 * 0.7**2]
    )
    assert lr.CosineScheduler(7, base_lr=0.1, final_lr=0.02)(10) == 0.02  # new, and over already


@pytest.mark.clause("LRScheduler/warm-up")
def test_warm_up():
    schedule = lr.FactorScheduler(10, 0.5, base_lr=1.0, warmup_steps=4)
    schedule.base_lr = 5.0
    assert [schedule(1), schedule(3), schedule(5)] == [0.25, 0.75, 5.0]
    linear = lr.LRScheduler(0.1, 4, 0.02)
    assert [linear.get_warmup_lr(n) for n in range(4)] == pytest.approx([0.02, 0.04, 0.06, 0.08])
    constant = lr.LRScheduler(0.1, 4, 0.02, "constant")
    assert [constant.get_warmup_lr(n) for n in range(4)] == [0.02] * 4


@pytest.mark.clause("LRScheduler/warm-up-to-the-end")
@pytest.mark.parametrize("kind", [lr.PolyScheduler, lr.CosineScheduler])
def test_a_warm_up_as_long_as_the_schedule(kind):
    schedule = kind(4, 1.0, final_lr=0.1, warmup_steps=4)
    assert [schedule(n) for n in (0, 2, 4, 9)] == [0.0, 0.5, 0.1, 0.1]


@pytest.mark.clause("LRScheduler/log")
def test_log(caplog):
    caplog.set_level(logging.INFO)
    lr.FactorScheduler(3, 0.5, stop_factor_lr=0.004)(9)
    lr.MultiFactorScheduler([3], 0.1)(4)
    assert caplog.messages == [
        "Update[9]: learning rate is now 5.00000e-03",
        "Update[9]: learning rate is now 4.00000e-03, which is stop_factor_lr, and stays so",
        "Update[4]: learning rate is now 1.00000e-03",
    ]


@pytest.mark.clause(
    "LRScheduler/warmup-steps", "LRScheduler/warmup-begin", "LRScheduler/warmup-mode",
    "LRScheduler/warmup-over", "LRScheduler/integers", "LRScheduler/steps", "LRScheduler/factor",
    "LRScheduler/max-update", "LRScheduler/abstract",
)
@pytest.mark.parametrize(("clause", "kind", "make"), [
    ("warmup-steps", ValueError, lambda: lr.LRScheduler(warmup_steps=-1)),
    ("integers", AssertionError, lambda: lr.LRScheduler(warmup_steps=1.5)),
    ("warmup-begin", ValueError, lambda: lr.LRScheduler(0.1, warmup_begin_lr=0.2)),
    ("warmup-mode", ValueError, lambda: lr.LRScheduler(warmup_mode="steep")),
    ("warmup-over", AssertionError, lambda: lr.LRScheduler(0.1, 4).get_warmup_lr(4)),
    ("abstract", NotImplementedError, lambda: lr.LRScheduler()(1)),
    ("steps", ValueError, lambda: lr.FactorScheduler(0)),
    ("factor", ValueError, lambda: lr.FactorScheduler(3, 1.5)),
    ("steps", AssertionError, lambda: lr.MultiFactorScheduler([])),
    ("steps", AssertionError, lambda: lr.MultiFactorScheduler((1, 2))),
    ("steps", AssertionError, lambda: lr.MultiFactorScheduler(3)),
    ("steps", ValueError, lambda: lr.MultiFactorScheduler([3, 3])),
    ("steps", ValueError, lambda: lr.MultiFactorScheduler([0, 2])),
    ("factor", ValueError, lambda: lr.MultiFactorScheduler([1, 2], 1.5)),
    ("max-update", ValueError, lambda: lr.PolyScheduler(0)),
    ("max-update", ValueError, lambda: lr.CosineScheduler(-1)),
    ("integers", AssertionError, lambda: lr.CosineScheduler(2.5)),
])
def test_refusals(clause, kind, make):
    with pytest.raises(kind) as caught:
        make()
    assert caught.value.clause == f"LRScheduler/{clause}"


@pytest.mark.parametrize("settings", [{"factor": 1}, {"factor": 0.5}, {"factor": 0.5, "stop_factor_lr": 0}])
def test_a_number_of_updates_that_is_far_ahead_takes_no_time(settings):
    scheduler = lr.FactorScheduler(step=3, base_lr=1.0, **settings)
    rate = scheduler(10**15 + 5)
    assert rate == {1: 1.0, 0.5: settings.get("stop_factor_lr", 1e-8)}[settings["factor"]]
    assert scheduler.count < 10**15 + 5 <= scheduler.count + 3
    assert scheduler.count % 3 == 0
