"""Every optimizer: five steps recorded from MXNet 1.9.1, signatures, pages, and where MXNet's numbers are not ours."""

from __future__ import annotations

import doctest
import importlib
import inspect
import math
import warnings

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import optimizer as opt
from refimpl.optimizer.nadam import PRODUCTS

from .recorded_optimizers import (
    ARGUMENTS,
    CLIPPED_TO_ZERO,
    DEFAULTS,
    GRADIENTS,
    MIXED,
    START,
    VARIANTS,
    WITH_ARGUMENTS,
)

# The bound that the project sets itself: the largest of these cases is 4e-7 off.
CLOSE = 1e-5
RULES = [
    "AdaDelta/rule", "AdaGrad/rule", "Adam/rule", "AdaMax/rule", "DCASGD/rule", "FTML/rule", "FTRL/rule",
    "GroupAdaGrad/rule", "LAMB/rule", "LARS/rule", "LBSGD/rule", "LBSGD/warm-up", "Nadam/rule", "NAG/rule",
    "RMSProp/rule", "SGD/plain", "SGD/momentum", "SGLD/rule", "Signum/rule", "Signum/plain", "Test/rule",
    "Optimizer/gradient",
]


def trained(name, dtype="float32", gradients=GRADIENTS, **arguments):
    mx.random.seed(7)
    updater = opt.get_updater(opt.create(name, **arguments))
    weight = nd.array(START, dtype=dtype)
    for gradient in gradients:
        updater(0, nd.array(gradient, dtype=dtype), weight)
    return weight.asnumpy(), updater.states[0]


def assert_close(got, expected) -> None:
    got, expected = np.ravel(got), np.array(expected)
    assert np.linalg.norm(got - expected) <= CLOSE * np.linalg.norm(expected), (got, expected)


@pytest.mark.clause(*RULES)
@pytest.mark.parametrize("case", DEFAULTS)
def test_five_steps_by_defaults(case: str) -> None:
    name, arguments = VARIANTS[case]
    assert_close(trained(name, **arguments)[0], DEFAULTS[case])


@pytest.mark.clause(*RULES)
@pytest.mark.parametrize("case", WITH_ARGUMENTS)
def test_five_steps_with_every_argument(case: str) -> None:
    name, arguments = VARIANTS[case]
    given = {key: value for key, value in ARGUMENTS.items() if not (name == "groupadagrad" and key == "wd")}
    assert_close(trained(name, **{**given, **arguments})[0], WITH_ARGUMENTS[case])


@pytest.mark.clause("Optimizer/clip-zero")
@pytest.mark.parametrize("case", CLIPPED_TO_ZERO)
def test_five_steps_clipped_to_zero(case: str) -> None:
    name, arguments = VARIANTS[case]
    assert_close(trained(name, learning_rate=0.1, clip_gradient=0.0, **arguments)[0], CLIPPED_TO_ZERO[case])


@pytest.mark.clause("Optimizer/gradient")
@pytest.mark.parametrize("name", ["adadelta", "adagrad", "adamax", "dcasgd", "groupadagrad", "nadam", "sgd", "sgld"])
def test_a_negative_bound_is_none(name: str) -> None:
    assert trained(name, clip_gradient=-1.0)[0].tolist() == trained(name)[0].tolist()


@pytest.mark.clause("Optimizer/multi-precision", "SGD/multi-precision")
@pytest.mark.parametrize("case", MIXED)
def test_five_steps_of_a_float32_copy(case: str) -> None:
    name, arguments = VARIANTS[case]
    weight, state = trained(name, "float16", multi_precision=True, **arguments)
    last = name in ("ccsgd", "lars", "nag", "sgd")  # (momentum, copy); elsewhere (copy, state)
    master = state[1 if last else 0].asnumpy()
    assert master.dtype == np.float32
    assert_close(master, MIXED[case])
    assert weight.tolist() == master.astype(np.float16).tolist()


@pytest.mark.clause("Optimizer/state-types")
@pytest.mark.parametrize("dtype", ["float64", "float16"])
@pytest.mark.parametrize("case", DEFAULTS)
def test_every_type_of_weight(case: str, dtype: str) -> None:
    """States have the weight's type; float16 is coarse, so that only its first step is compared."""
    name, arguments = VARIANTS[case]
    count = 5 if dtype == "float64" else 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # float16 without a copy
        weight, state = trained(name, dtype, GRADIENTS[:count], **arguments)
    single, _ = trained(name, "float32", GRADIENTS[:count], **arguments)
    if name != "sgld":  # another type draws other noise
        np.testing.assert_allclose(weight, single, rtol=2e-5 if dtype == "float64" else 4e-3, atol=1e-3)
    types = {part.dtype for part in _arrays(state) if name != "test"}
    assert types <= {np.dtype(dtype).type}


def _arrays(state):
    if isinstance(state, tuple):
        return [part for each in state for part in _arrays(each)]
    return [] if state is None else [state]


# inspect.signature(mx.optimizer.Optimizer.opt_registry[name].__init__) in MXNet 1.9.1
SIGNATURES = {
    "adadelta": "rho=0.9, epsilon=1e-05", "adagrad": "eps=1e-07",
    "adam": "learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, lazy_update=True",
    "adamax": "learning_rate=0.002, beta1=0.9, beta2=0.999", "ccsgd": "momentum=0.0, lazy_update=True",
    "dcasgd": "momentum=0.0, lamda=0.04", "ftml": "beta1=0.6, beta2=0.999, epsilon=1e-08",
    "ftrl": "lamda1=0.01, learning_rate=0.1, beta=1", "groupadagrad": "eps=1e-05",
    "lamb": "learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-06, lower_bound=None, upper_bound=None,"
            " bias_correction=True",
    "lars": "momentum=0.0, lazy_update=True, eta=0.001, eps=0, momentum_correction=True",
    "lbsgd": "momentum=0.0, multi_precision=False, warmup_strategy='linear', warmup_epochs=5, batch_scale=1,"
             " updates_per_epoch=32, begin_epoch=0, num_epochs=60",
    "nadam": "learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, schedule_decay=0.004", "nag": "momentum=0.0",
    "rmsprop": "learning_rate=0.001, gamma1=0.9, gamma2=0.9, epsilon=1e-08, centered=False, clip_weights=None",
    "sgd": "momentum=0.0, lazy_update=True", "signum": "learning_rate=0.01, momentum=0.9, wd_lh=0.0",
}


@pytest.mark.clause("Optimizer/create")
@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name: str) -> None:
    given = inspect.signature(type(opt.create(name))).parameters.values()
    assert ", ".join(f"{p.name}={p.default!r}" for p in given if p.kind is p.POSITIONAL_OR_KEYWORD) == SIGNATURES[name]


def test_names() -> None:
    # dir(mx.optimizer) in MXNet 1.9.1, without modules and what it imports from elsewhere
    names = """AdaDelta AdaGrad Adam Adamax DCASGD FTML Ftrl LAMB LARS LBSGD NAG NDabs Nadam Optimizer RMSProp SGD SGLD
        Signum Test Updater ccSGD create get_updater register"""
    assert [name for name in names.split() if not hasattr(opt, name)] == []
    assert opt.contrib.GroupAdaGrad is type(opt.create("groupadagrad"))
    assert not issubclass(opt.LARS, opt.SGD)  # as in MXNet, whose callers ask
    assert issubclass(opt.ccSGD, opt.SGD)


PAGES = sorted({type(opt.create(name)).__module__.rpartition(".")[2] for name in VARIANTS if "," not in name})


def positions(name, gradients, start=None, **arguments):
    """Where a weight is after each gradient, rounded to six digits."""
    updater = opt.get_updater(opt.create(name, **arguments))
    single = np.ndim(gradients[0]) == 0
    weight, seen = nd.array(np.zeros(np.shape(gradients[0]) or 1) if start is None else start), []
    for gradient in gradients:
        updater(0, nd.array(np.reshape(gradient, weight.shape)), weight)
        rounded = np.round(weight.asnumpy().astype(float), 6) + 0.0
        seen.append(float(rounded[0]) if single else rounded.tolist())
    return seen


@pytest.mark.parametrize("page", PAGES)
def test_example_of_page(page: str) -> None:
    """The numbers on the pages are MXNet's, printed there by a function like ``positions``."""
    text = importlib.import_module(f"refimpl.optimizer.{page}").__doc__ or ""
    example = doctest.DocTestParser().get_doctest(text, {"positions": positions, "mx": mx}, page, None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted > 0, f"{page} has no example"


# --- where MXNet's numbers are not ours ------------------------------------------------------------

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


@pytest.mark.clause("Nadam/schedule")
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


@pytest.mark.clause("Nadam/schedule")
def test_a_long_schedule_ends_at_zero() -> None:
    nadam = opt.create("nadam", begin_num_update=5000, learning_rate=0.5)
    weight = nd.ones(1)
    nadam.update(0, weight, nd.ones(1), nadam.create_state(0, weight))
    assert 0.0 <= nadam.m_schedule < 1e-20
    assert math.isfinite(weight.asscalar())
    assert len(PRODUCTS[0.9, 0.004]) < 100


@pytest.mark.clause("AdaDelta/gradient")
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


@pytest.mark.clause("Signum/plain")
def test_signum_without_momentum_sees_the_sign_of_rescale_grad() -> None:
    arguments = {"momentum": 0.0, "wd": 0.01, "rescale_grad": -1.0}
    # MXNet 1.9.1: with rescale_grad 1 and every gradient negated, and as it is
    assert_close(trained("signum", **arguments)[0], [1.029494, -1.989002, 0.519748, 0.239875, 2.988502, -0.1149455])
    with mx.quirks("signum-unscaled"):
        assert_close(trained("signum", **arguments)[0], [0.969506, -2.008998, 0.479752, 0.259875, 3.008498, -0.1349295])
    still, _ = trained("signum", momentum=0.0, rescale_grad=0.0)
    assert still.tolist() == START


@pytest.mark.clause("Signum/plain")
def test_signum_without_momentum_decays_by_wd_lh() -> None:
    """MXNet raises. A weight without gradient: 1 - 0.5 * (0.25 + 0.5) is 0.625."""
    signum = opt.create("signum", momentum=0.0, learning_rate=0.5, wd=0.25, wd_lh=0.5)
    weight = nd.ones(1)
    signum.update(0, weight, nd.zeros(1), None)
    assert weight.asscalar() == 0.625


@pytest.mark.clause("DCASGD/momentum")
def test_dcasgd_with_momentum() -> None:
    """MXNet raises. By hand: m = -2, then 0.5 * -2 - 0.5 * (2 + 0.25 * 4 * (-1 - 1)) = -1, w = 1 - 2 - 1."""
    dcasgd = opt.create("dcasgd", momentum=0.5, learning_rate=0.5, lamda=0.25)
    updater, weight = opt.get_updater(dcasgd), nd.ones(1)
    for gradient in (4.0, 2.0):
        updater(0, nd.array([gradient]), weight)
    momentum, before = updater.states[0]
    assert (weight.asscalar(), momentum.asscalar(), before.asscalar()) == (-2.0, -1.0, -1.0)


@pytest.mark.clause("AdaMax/still")
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


@pytest.mark.clause("AdaDelta/no-rate")
def test_adadelta_has_no_learning_rate() -> None:
    assert trained("adadelta", learning_rate=5.0)[0].tolist() == trained("adadelta")[0].tolist()


@pytest.mark.clause("LARS/no-decay")
def test_only_weights_decay_under_lars() -> None:
    names = {0: "a_weight", 1: "a_gamma", 2: "a_bias"}
    # MXNet 1.9.1: _get_wds([0, 1, 2, 3])
    assert opt.create("lars", wd=0.5, param_idx2name=names)._get_wds([0, 1, 2, 3]) == [0.5, 0.0, 0.0, 0.5]


@pytest.mark.clause("LARS/names")
def test_lars_does_not_scale_biases() -> None:
    """3, 4 and a gradient of length 0.5: scaled by 0.1 * 5 / 0.5 = 1, so that both go as far."""
    lars = opt.create("lars", learning_rate=0.5, eta=0.2, param_idx2name={0: "a_weight", 1: "a_bias", 2: "g_gamma"})
    ends = []
    for index in range(3):
        weight = nd.array([3.0, 4.0])
        lars.update(index, weight, nd.array([0.0, 0.5]), None)
        ends.append(weight.asnumpy().tolist())
    assert ends == [[3.0, 3.5], [3.0, 3.75], [3.0, 3.75]]


@pytest.mark.clause("Optimizer/own-rate")
def test_a_rate_of_its_own_overrides_the_scheduler() -> None:
    with pytest.warns(UserWarning, match="overwritten"):
        adam = opt.create("adam", lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.7))
    assert adam.lr_scheduler.base_lr == 0.001  # MXNet 1.9.1
    ftrl = opt.create("ftrl", lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.7))
    assert (ftrl.learning_rate, ftrl.lr) == (0.7, 0.1)


def _step(name, weight, gradient, **arguments):
    opt.get_updater(opt.create(name, **arguments))(0, gradient, weight)


REFUSALS = [
    ("GroupAdaGrad/matrix", AssertionError, lambda: _step("groupadagrad", nd.ones(3), nd.ones(3))),
    ("GroupAdaGrad/no-decay", AssertionError, lambda: _step("groupadagrad", nd.ones((2, 2)), nd.ones((2, 2)), wd=0.1)),
    ("LBSGD/batch-scale", ValueError, lambda: opt.create("lbsgd", batch_scale=0)),
    ("adagrad/decay", mx.MXNetError, lambda: _step(
        "adagrad", nd.ones((2, 2)), nd.sparse.row_sparse_array(([[1, 1]], [0]), shape=(2, 2)), wd=0.1)),
]


@pytest.mark.clause("GroupAdaGrad/matrix", "GroupAdaGrad/no-decay", "LBSGD/batch-scale", "adagrad/decay")
@pytest.mark.parametrize(("clause", "kind", "call"), REFUSALS, ids=[r[0] for r in REFUSALS])
def test_refusals(clause, kind, call) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause


@pytest.mark.clause("Optimizer/equal-shapes", "Optimizer/equal-types", "Optimizer/floating")
@pytest.mark.parametrize("name", [case for case in DEFAULTS if "," not in case and case != "test"])
def test_every_rule_refuses_what_does_not_fit(name: str) -> None:
    weight = nd.ones((2, 3))
    for gradient, clause in ((nd.ones((2, 2)), "equal-shapes"), (nd.ones((2, 3), dtype="float64"), "equal-types")):
        with pytest.raises(mx.MXNetError) as caught:
            _step(name, weight, gradient, learning_rate=0.5)
        assert caught.value.clause == f"Optimizer/{clause}"
    with pytest.raises(mx.MXNetError) as caught:
        _step(name, *[nd.ones((2, 3), dtype="int32")] * 2)
    assert caught.value.clause == "Optimizer/floating"
    assert (weight.asnumpy() == 1).all()
