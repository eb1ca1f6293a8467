"""Where MXNet 1.9.1's numbers are not ours: the intended result, and the quirk that brings back the old one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import optimizer as opt
from refimpl.optimizer.nadam import PRODUCTS

from .recorded_optimizers import ARGUMENTS, DEFAULTS, GRADIENTS, START
from .test_optimizers import assert_close, trained

# MXNet 1.9.1: run("nag", {"momentum": .9, **ARGUMENTS}), and the same steps by
# nd.nag_mom_update(w, g, m, out=another, lr=.1, wd=.01, clip_gradient=.15, rescale_grad=.5, momentum=.9); w = another
NAG_IN_PLACE = [0.8619381, -2.007831, 0.4139454, 0.2605143, 3.004565, -0.2257129]
NAG_APART = [0.8617446, -2.007821, 0.4138722, 0.2604975, 3.004576, -0.2259456]


@pytest.mark.clause("NAG/rule")
def test_nag_decays_the_weight_before_the_step() -> None:
    assert_close(trained("nag", momentum=0.9, **ARGUMENTS)[0], NAG_APART)
    with mx.quirks("nag-fresh-decay"):
        assert_close(trained("nag", momentum=0.9, **ARGUMENTS)[0], NAG_IN_PLACE)


@pytest.mark.clause("NAG/rule")
def test_nag_of_a_float32_copy() -> None:
    _, (momentum, master) = trained("nag", "float16", momentum=0.9, multi_precision=True)
    assert_close(master.asnumpy().astype(np.float16), np.float16(DEFAULTS["nag, momentum"]))
    assert momentum.dtype == np.float32


@pytest.mark.clause("Nadam/own-schedule")
def test_nadam_schedules_each_parameter() -> None:
    def two():
        updater, weights = opt.get_updater(opt.create("nadam")), [nd.array(START), nd.array(START)]
        for gradient in GRADIENTS:
            for index, weight in enumerate(weights):
                updater(index, nd.array(gradient), weight)
        return weights

    for weight in two():
        assert_close(weight.asnumpy(), DEFAULTS["nadam"])
    with mx.quirks("nadam-shared-schedule"):
        first, second = two()
    # MXNet 1.9.1: the same five steps of two parameters
    assert_close(first.asnumpy(), [0.9979504, -1.998991, 0.4980791, 0.2503495, 2.999779, -0.1262406])
    assert_close(second.asnumpy(), [0.9983006, -1.999271, 0.4983778, 0.2500822, 3.00005, -0.1259155])


@pytest.mark.clause("Nadam/own-schedule")
def test_a_long_schedule_ends_at_zero() -> None:
    nadam = opt.create("nadam", begin_num_update=5000, learning_rate=0.5)
    weight = nd.ones(1)
    nadam.update(0, weight, nd.ones(1), nadam.create_state(0, weight))
    assert 0.0 <= nadam.m_schedule < 1e-20
    assert math.isfinite(weight.asscalar())
    assert len(PRODUCTS[0.9, 0.004]) < 100


@pytest.mark.clause("AdaDelta/gradient-kept")
def test_adadelta_leaves_the_gradient_alone() -> None:
    def after():
        gradient, weight = nd.array([4.0, -8.0]), nd.ones(2)
        opt.get_updater(opt.create("adadelta", rescale_grad=0.5))(0, gradient, weight)
        assert_close(weight.asnumpy(), [0.9900001, 1.01])  # MXNet 1.9.1
        return gradient.asnumpy().tolist()

    assert after() == [4.0, -8.0]
    with mx.quirks("adadelta-gradient"):
        assert after() == [2.0, -4.0]


@pytest.mark.clause("LBSGD/sum")
def test_lbsgd_adds_up_gradients_of_one_array() -> None:
    def places():
        updater, weight, gradient, seen = opt.get_updater(opt.create(
            "lbsgd", batch_scale=2, learning_rate=0.5, warmup_epochs=0)), nd.zeros(1), nd.zeros(1), []
        for value in (1, 3, 5, 7):
            gradient[:] = value
            updater(0, gradient, weight)
            seen.append(weight.asscalar())
        return seen

    assert places() == [0, -2, -2, -8]  # rate 0.5 * 2 along the means 2 and 6
    with mx.quirks("lbsgd-first-gradient"):
        assert places() == [0, -3, -3, -9]  # MXNet 1.9.1


@pytest.mark.clause("LARS/momentum-correction")
def test_lars_corrects_every_momentum() -> None:
    def five():
        schedule = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=1.0)
        updater = opt.get_updater(opt.create("lars", momentum=0.9, eta=0.5, lr_scheduler=schedule))
        weights = [nd.array(START) for _ in range(5)]
        for gradient in GRADIENTS:
            updater(list(range(5)), [nd.array(gradient)] * 5, weights)
        return [weight.asnumpy() for weight in weights]

    # MXNet 1.9.1: the same program; the fifth parameter is in a group of its own
    first = [0.2925009, -2.340002, -0.2606769, -0.2445708, 3.591048, -3.31289]
    fifth = [-0.5750062, -2.424855, -1.396041, -0.6695778, 4.067199, -7.398958]
    for weight in five():
        assert_close(weight, first)
    with mx.quirks("lars-first-group"):
        weights = five()
    assert_close(weights[0], first)
    assert_close(weights[4], fifth)


@pytest.mark.clause("Signum/without-momentum")
def test_signum_without_momentum_sees_the_sign_of_rescale_grad() -> None:
    arguments = {"momentum": 0.0, "wd": 0.01, "rescale_grad": -1.0}
    # MXNet 1.9.1: with rescale_grad 1 and every gradient negated, and as it is
    assert_close(trained("signum", **arguments)[0], [1.029494, -1.989002, 0.519748, 0.239875, 2.988502, -0.1149455])
    with mx.quirks("signum-unscaled"):
        assert_close(trained("signum", **arguments)[0], [0.969506, -2.008998, 0.479752, 0.259875, 3.008498, -0.1349295])
    still, _ = trained("signum", momentum=0.0, rescale_grad=0.0)
    assert still.tolist() == START


@pytest.mark.clause("Signum/without-momentum")
def test_signum_without_momentum_decays_by_wd_lh() -> None:
    """MXNet raises. A weight without gradient: 1 - 0.5 * (0.25 + 0.5) is 0.625."""
    signum = opt.create("signum", momentum=0.0, learning_rate=0.5, wd=0.25, wd_lh=0.5)
    weight = nd.ones(1)
    signum.update(0, weight, nd.zeros(1), None)
    assert weight.asscalar() == 0.625


@pytest.mark.clause("DCASGD/with-momentum")
def test_dcasgd_with_momentum() -> None:
    """MXNet raises. By hand: m = -2, then 0.5 * -2 - 0.5 * (2 + 0.25 * 4 * (-1 - 1)) = -1, w = 1 - 2 - 1."""
    dcasgd = opt.create("dcasgd", momentum=0.5, learning_rate=0.5, lamda=0.25)
    updater, weight = opt.get_updater(dcasgd), nd.ones(1)
    for gradient in (4.0, 2.0):
        updater(0, nd.array([gradient]), weight)
    momentum, before = updater.states[0]
    assert (weight.asscalar(), momentum.asscalar(), before.asscalar()) == (-2.0, -1.0, -1.0)


@pytest.mark.clause("AdaMax/weight-stays")
def test_adamax_leaves_a_weight_without_gradients() -> None:
    weight = nd.ones(2)
    opt.get_updater(opt.create("adamax", learning_rate=0.5))(0, nd.array([0.0, 1.0]), weight)
    assert weight.asnumpy().tolist() == [1.0, 0.5]  # NaN and 0.5 in MXNet


@pytest.mark.clause("LBSGD/schedule")
def test_lbsgd_counts_before_it_asks_the_scheduler() -> None:
    def places():
        schedule = mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=1.0)
        updater, weights = opt.get_updater(opt.create("lbsgd", lr_scheduler=schedule)), [nd.zeros(1), nd.zeros(1)]
        seen = []
        for _ in range(5):
            for index, weight in enumerate(weights):
                updater(index, nd.ones(1), weight)
            seen.append([weight.asscalar() for weight in weights])
        return [list(of_one) for of_one in zip(*seen, strict=True)]

    sgd = [-1.0, -2.0, -2.5, -3.0, -3.25]
    assert places() == [sgd, sgd]
    with mx.quirks("lbsgd-late-rate"):
        assert places() == [[-1.0, -2.0, -3.0, -3.5, -4.0], sgd]  # MXNet 1.9.1
