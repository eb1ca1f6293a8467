"""Every optimizer: five steps recorded from MXNet 1.9.1, signatures, pages, corners and refusals."""

from __future__ import annotations

import doctest
import importlib
import inspect
import warnings

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import optimizer as opt

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
    "RMSProp/rule", "SGD/plain", "SGD/with-momentum", "SGLD/rule", "Signum/rule", "Signum/without-momentum",
    "Test/rule", "Optimizer/gradient",
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


# --- corners ---------------------------------------------------------------------------------------


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
    with pytest.warns(UserWarning, match="learning_rate=0.001 replaces"):
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
