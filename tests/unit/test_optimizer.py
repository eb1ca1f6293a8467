"""Optimizers: five steps of SGD recorded from MXNet 1.9.1, multipliers, counts, refusals.

    w0 = [[1, -2, .5], [.25, 3, -.125]]
    u = mx.optimizer.get_updater(mx.optimizer.create("sgd", multi_precision=MP, **ARGUMENTS))
    w = nd.array(w0, dtype=DTYPE)
    for g in GRADIENTS: u(0, nd.array(g, dtype=DTYPE), w)
    print(w.asnumpy().ravel().tolist(), u.states[0])
"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import optimizer as opt

START = [[1.0, -2.0, 0.5], [0.25, 3.0, -0.125]]
GRADIENTS = [
    [[0.5, -1.0, 2.0], [-0.25, 0.125, 4.0]], [[1.0, 1.0, -1.0], [0.5, -0.5, 0.25]],
    [[-3.0, 0.75, 0.0], [2.0, -0.0625, 1.5]], [[0.1, 0.2, 0.3], [-0.4, -0.5, -0.6]],
    [[5.0, -5.0, 2.5], [-2.5, 1.25, -1.25]],
]
ALL = {"learning_rate": 0.1, "wd": 0.01, "clip_gradient": 0.15, "rescale_grad": 0.5, "momentum": 0.9}
WITHOUT_MOMENTUM = {key: value for key, value in ALL.items() if key != "momentum"}

# (arguments, dtype, multi_precision) -> weight after five steps
RECORDED = {
    "defaults": ({}, "float32", False, [
        0.9639999270439148, -1.9595000743865967, 0.4619999825954437, 0.2565000057220459, 2.996875047683716,
        -0.1639999896287918]),
    "defaults-float64": ({}, "float64", False, [
        0.9640000008046627, -1.9595000009052455, 0.4620000008493662, 0.25649999985471367, 2.996875000069849,
        -0.16399999912829206]),
    "defaults-float16": ({}, "float16", False, [
        0.96484375, -1.9599609375, 0.462158203125, 0.25634765625, 2.998046875, -0.1640625]),
    "defaults-mixed": ({}, "float16", True, [
        0.9638671875, -1.9599609375, 0.4619140625, 0.256591796875, 2.99609375, -0.1639404296875]),
    "all": (ALL, "float32", False, [
        0.8903661370277405, -2.0086374282836914, 0.44023892283439636, 0.24913835525512695,
        3.0085649490356445, -0.2245127111673355]),
    "all-float64": (ALL, "float64", False, [
        0.8903661150741163, -2.0086372688558507, 0.44023893124458247, 0.2491383548307079,
        3.0085650147927954, -0.2245127143537881]),
    "all-float16": (ALL, "float16", False, [
        0.89013671875, -2.009765625, 0.440185546875, 0.2491455078125, 3.009765625, -0.2244873046875]),
    "all-mixed": (ALL, "float16", True, [
        0.89013671875, -2.0078125, 0.440185546875, 0.2491455078125, 3.0078125, -0.2244873046875]),
    "no-momentum": (WITHOUT_MOMENTUM, "float32", False, [
        0.960089921951294, -1.9999951124191284, 0.4675349295139313, 0.26126253604888916, 2.996863842010498,
        -0.13676388561725616]),
    "negative-momentum": ({"learning_rate": 0.1, "momentum": -0.9}, "float32", False, [
        0.6399999856948853, -1.5950000286102295, 0.12000000476837158, 0.3149999976158142, 2.968749761581421,
        -0.5149999260902405]),
    "clip-zero": ({"learning_rate": 0.1, "clip_gradient": 0.0}, "float32", False, [
        0.6399999856948853, -1.5950000286102295, 0.12000000476837158, 0.3149999976158142, 2.968749761581421,
        -0.5149999260902405]),
    "clip-negative": ({"learning_rate": 0.1, "clip_gradient": -1.0}, "float32", False, [
        0.6399999856948853, -1.5950000286102295, 0.12000000476837158, 0.3149999976158142, 2.968749761581421,
        -0.5149999260902405]),
}
# one unit in the last place: MXNet updates several weights at once, which rounds in another order
TOLERANCE = {"float32": 2.0**-23, "float64": 1e-13, "float16": 2.0**-10}


def trained(name="sgd", dtype="float32", **kwargs):
    updater = opt.get_updater(opt.create(name, **kwargs))
    weight = nd.array(START, dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for gradient in GRADIENTS:
            updater(0, nd.array(gradient, dtype=dtype), weight)
    return weight.asnumpy(), updater


@pytest.mark.clause("Optimizer/gradient")
@pytest.mark.clause("SGD/plain")
@pytest.mark.clause("SGD/with-momentum")
@pytest.mark.clause("SGD/multi-precision")
@pytest.mark.parametrize("case", RECORDED)
def test_five_steps(case) -> None:
    arguments, dtype, mixed, expected = RECORDED[case]
    got, _ = trained(dtype=dtype, multi_precision=mixed, **arguments)
    np.testing.assert_allclose(got.ravel().astype(float), expected, rtol=TOLERANCE[dtype])


@pytest.mark.clause("SGD/with-momentum")
def test_states_of_sgd() -> None:
    _, updater = trained(**ALL)
    # MXNet 1.9.1: u.states[0] of the case "all"
    np.testing.assert_allclose(
        updater.states[0].asnumpy(),
        [[-0.03204106, 0.00092076, -0.02938686], [0.01260047, -0.0044195, -0.00187997]], atol=1e-8,
    )
    _, updater = trained(momentum=-0.9)
    assert not updater.states[0].asnumpy().any()
    _, updater = trained()
    assert updater.states[0] is None


@pytest.mark.clause("SGD/multi-precision")
def test_states_of_multi_precision() -> None:
    _, updater = trained(dtype="float16", multi_precision=True, **ALL)
    momentum, master = updater.states[0]
    assert (momentum.dtype, master.dtype) == (np.float32, np.float32)
    # MXNet 1.9.1: u.states[0][1] of the case "all-mixed"
    np.testing.assert_allclose(
        master.asnumpy(), [[0.89036846, -2.008633, 0.44023892], [0.24913836, 3.008565, -0.22451271]],
        rtol=5e-7,
    )
    sgd = opt.SGD(momentum=0.9)
    with pytest.warns(UserWarning, match="multi_precision"):
        assert sgd.create_state_multi_precision(0, nd.ones(2, dtype="float16")).dtype == np.float16


@pytest.mark.clause("Test/rule")
def test_the_rule_named_test() -> None:
    # MXNet 1.9.1: as above with create("test", rescale_grad=.5)
    got, updater = trained("test", rescale_grad=0.5)
    expected = [2.799999952316284, -4.025000095367432, 2.4000000953674316, -0.07500004768371582, 3.15625,
                1.8250000476837158]
    np.testing.assert_allclose(got.ravel(), expected, rtol=1e-6)
    assert updater.states[0].asnumpy().tolist() == got.tolist()


class Descent(opt.Optimizer):
    """A rule without an operator of its own."""

    def create_state(self, index, weight):
        return nd.zeros(weight.shape, dtype=weight.dtype)

    def update(self, index, weight, grad, state) -> None:
        state += grad
        weight -= grad


@pytest.mark.clause("Optimizer/multi-precision")
def test_multi_precision_of_any_rule() -> None:
    updater = opt.get_updater(Descent(multi_precision=True))
    weight = nd.ones(1, dtype="float16")
    for _ in range(4):
        updater(0, nd.array([2.0**-12], dtype="float16"), weight)  # lost in float16, not in float32
    master, state = updater.states[0]
    assert (master.dtype, state.dtype, weight.dtype) == (np.float32, np.float32, np.float16)
    assert master.asscalar() == weight.asscalar() == 1 - 2.0**-10


@given(
    st.sampled_from([1, 0.5, 0.25]), st.sampled_from([0, 0.5]), st.sampled_from([0, 0.5]),
    st.sampled_from([None, 1, 4]), st.lists(st.integers(-8, 8), min_size=1, max_size=4),
)
def test_sgd_is_its_formula(lr, momentum, wd, clip, gradients) -> None:
    """Dyadic numbers, so that float32 is exact: no tolerance."""
    sgd = opt.SGD(learning_rate=lr, momentum=momentum, wd=wd, clip_gradient=clip, rescale_grad=0.5)
    updater, weight = opt.get_updater(sgd), nd.array([1.0])
    w, m = 1.0, 0.0
    for gradient in gradients:
        updater("w", nd.array([gradient]), weight)
        g = gradient * 0.5 if clip is None else max(-clip, min(clip, gradient * 0.5))
        m = momentum * m - lr * (g + wd * w)
        w += m
    assert weight.asscalar() == w


# --- bookkeeping ---------------------------------------------------------------------------------


@pytest.mark.clause("Optimizer/create")
def test_create() -> None:
    assert type(opt.create("SGD")) is opt.SGD
    assert opt.create is opt.Optimizer.create_optimizer
    assert opt.register(opt.SGD) is opt.SGD
    with pytest.warns(UserWarning, match="no longer"):
        other = opt.register(type("SGD", (Descent,), {}))
    try:
        assert type(opt.create("sgd")) is other
    finally:
        opt.Optimizer.opt_registry["sgd"] = opt.SGD


@pytest.mark.clause("Optimizer/unknown-argument")
def test_unknown_argument() -> None:
    with pytest.raises(TypeError, match="foo"):
        opt.create("sgd", foo=3)


@pytest.mark.clause("Optimizer/learning-rate")
def test_learning_rate_and_scheduler() -> None:
    # MXNet 1.9.1 gives the same three pairs of (lr, scheduler.base_lr)
    make = mx.lr_scheduler.FactorScheduler
    assert opt.SGD().lr == opt.SGD().learning_rate == 0.01
    only_scheduler = opt.SGD(lr_scheduler=make(2, 0.5, base_lr=0.7))
    assert (only_scheduler.lr, only_scheduler.learning_rate) == (None, 0.7)
    with pytest.warns(UserWarning, match="which learning_rate=0.3 replaces"):
        both = opt.SGD(learning_rate=0.3, lr_scheduler=make(2, 0.5))
    assert (both.lr, both.lr_scheduler.base_lr, both.learning_rate) == (0.3, 0.3, 0.3)
    plain = opt.SGD()
    plain.set_learning_rate(0.5)
    assert plain.learning_rate == 0.5


@pytest.mark.clause("Optimizer/learning-rate")
@pytest.mark.clause("Optimizer/counts")
def test_schedule_counts_the_step_being_done() -> None:
    sgd = opt.SGD(lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=1.0))
    updater, weight, positions = opt.get_updater(sgd), nd.zeros(1), []
    for _ in range(5):
        updater(0, nd.ones(1), weight)
        positions.append(weight.asscalar())
    # num_update 1 and 2 at rate 1, 3 and 4 at 1/2, 5 at 1/4
    assert positions == [-1, -2, -2.5, -3, -3.25]


NAMES = {0: "a_weight", 1: "a_bias", 2: "g_gamma", 3: "b_beta"}


@pytest.mark.clause("Optimizer/multipliers")
@pytest.mark.clause("Optimizer/multiplier-sources")
@pytest.mark.clause("Optimizer/no-decay")
def test_multipliers() -> None:
    # values printed by MXNet 1.9.1
    sgd = opt.SGD(learning_rate=0.5, wd=0.01, param_idx2name=NAMES)
    assert [sgd._get_wd(i) for i in range(5)] == [0.01, 0.0, 0.01, 0.0, 0.01]
    sgd.set_lr_mult({"a_weight": 0.5, 1: 3})
    assert sgd._get_lrs([0, 1, 2, 9, "a_weight"]) == [0.25, 1.5, 0.5, 0.5, 0.25]
    sgd.set_wd_mult({"a_bias": 0.5})
    assert sgd.wd_mult == {"a_bias": 0.5, "b_beta": 0.0}
    assert sgd._get_wds([0, 1, 2]) == [0.01, 0.005, 0.01]
    sgd.set_lr_mult({})
    assert sgd._get_lr(0) == 0.5


@pytest.mark.clause("Optimizer/multipliers")
def test_multipliers_of_parameter_objects() -> None:
    class Parameter:
        lr_mult, wd_mult = 2, 3

    sgd = opt.SGD(learning_rate=0.5, wd=0.5, param_dict={0: Parameter}, param_idx2name={0: "b", 1: "c"})
    assert (sgd._get_lr(0), sgd._get_wd(0), sgd._get_wd(1)) == (1.0, 1.5, 0.0)


@pytest.mark.clause("Optimizer/multiplier-sources")
def test_multipliers_of_variables() -> None:
    weight = mx.sym.Variable("a_weight", lr_mult=0.25, wd_mult=0.75)
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), weight=weight, num_hidden=2, name="fc")
    sgd = opt.SGD(sym=net, param_idx2name={0: "a_weight", 1: "fc_bias"})
    assert (sgd.lr_mult, sgd.wd_mult) == ({"a_weight": 0.25}, {"fc_bias": 0.0, "a_weight": 0.75})
    sgd.set_lr_mult({"fc_bias": 0.5})
    assert sgd.lr_mult == {"a_weight": 0.25, "fc_bias": 0.5}


@pytest.mark.clause("Optimizer/counts")
def test_counts() -> None:
    # the dictionaries MXNet 1.9.1 has after the same calls
    sgd = opt.SGD()
    sgd._update_count(0)
    sgd._update_count([0, 1])
    assert (sgd._all_index_update_counts, sgd.num_update) == ({0: {0: 2, 1: 1}}, 2)
    sgd._set_current_context(1)
    sgd._update_count(0)
    assert sgd._all_index_update_counts == {0: {0: 2, 1: 1}, 1: {0: 1}}
    assert (sgd._index_update_count, sgd.num_update) == ({0: 1}, 2)
    late = opt.SGD(begin_num_update=10)
    late._update_count(0)
    assert (late._all_index_update_counts, late.num_update) == ({0: {0: 11}}, 11)


@pytest.mark.clause("Optimizer/pickle")
def test_pickle() -> None:
    sgd = opt.SGD(momentum=0.5, param_dict={0: 1}, param_idx2name={0: "x_bias"})
    sgd._update_count(0)
    copy = pickle.loads(pickle.dumps(sgd))
    assert copy.param_dict == {}
    assert {**vars(copy), "param_dict": None} == {**vars(sgd), "param_dict": None}


@pytest.mark.clause("Updater/resume")
def test_states_of_older_versions_lack_attributes() -> None:
    sgd = opt.SGD.__new__(opt.SGD)
    sgd.__setstate__({"lr": 0.5, "_index_update_count": {0: 3}, "momentum": 0.0})
    sgd._set_current_context(0)
    sgd._update_count(0)
    assert (sgd._index_update_count, sgd.rescale_grad, sgd.param_dict) == ({0: 4}, 1.0, {})


# --- the updater ---------------------------------------------------------------------------------


@pytest.mark.clause("Updater/lists")
@given(st.permutations([0, "b", 2]))
def test_lists_are_single_calls(order) -> None:
    weights = {"lists": {}, "singles": {}}
    for way, made in weights.items():
        updater = opt.get_updater(opt.create("sgd", momentum=0.5, learning_rate=0.5))
        made.update({index: nd.array([float(n)]) for n, index in enumerate(order)})
        for step in range(3):
            gradients = [nd.array([step - 1.0 + n]) for n in range(len(order))]
            if way == "lists":
                updater(list(order), gradients, list(made.values()))
            else:
                for index, gradient in zip(order, gradients, strict=True):
                    updater(index, gradient, made[index])
        made.update({index: weight.asscalar() for index, weight in made.items()})
    assert weights["lists"] == weights["singles"]


@pytest.mark.clause("Updater/states")
def test_states_follow_the_weight() -> None:
    updater = opt.get_updater(opt.SGD(momentum=0.5))
    weight = nd.ones(1, ctx=mx.cpu(1))
    updater(0, nd.ones(1, ctx=mx.cpu(0)), weight)
    assert updater.states[0].context == mx.cpu(1)
    assert updater.optimizer._all_index_update_counts[1] == {0: 1}
    updater.set_states(updater.get_states())
    assert updater.states_synced == {0: False}
    other = nd.ones(1, ctx=mx.cpu(2))
    updater(0, nd.ones(1, ctx=mx.cpu(2)), other)
    assert updater.states[0].context == mx.cpu(2)
    nested = updater.sync_state_context((nd.ones(1), [nd.ones(1)], None), mx.cpu(3))
    assert (nested[0].context, nested[1][0].context, nested[2]) == (mx.cpu(3), mx.cpu(3), None)


@pytest.mark.clause("Updater/states")
def test_every_setting_reaches_the_next_step() -> None:
    """Nothing about a parameter is computed once and kept: a change of any setting counts at once."""
    sgd = opt.SGD(learning_rate=1.0, param_idx2name={0: "a_weight"})
    updater, weight, steps = opt.get_updater(sgd), nd.zeros(1), []
    for change in (lambda: None, lambda: sgd.set_learning_rate(2.0), lambda: sgd.set_lr_mult({0: 2.0}),
                   lambda: setattr(sgd, "rescale_grad", 2.0), lambda: setattr(sgd, "clip_gradient", 1.0)):
        change()
        before = weight.asscalar()
        updater(0, nd.ones(1), weight)
        steps.append(before - weight.asscalar())
    assert steps == [1, 2, 4, 8, 4]


def _step(weight, grad, *, momentum=0.0, state=None):
    opt.SGD(momentum=momentum).update(0, weight, grad, state)


REFUSALS = [
    ("Optimizer/known-name", ValueError, lambda: opt.create("nope")),
    ("Optimizer/known-name", ValueError, lambda: opt.create(opt.SGD)),
    ("Optimizer/index-names", AssertionError, lambda: opt.SGD(param_idx2name=3)),
    ("Optimizer/scheduler-decides", UserWarning,
     lambda: opt.SGD(lr_scheduler=mx.lr_scheduler.FactorScheduler(2)).set_learning_rate(1)),
    ("Optimizer/lr-scale", DeprecationWarning, lambda: opt.SGD().set_lr_scale({})),
    ("Optimizer/floating", mx.MXNetError, lambda: _step(*[nd.ones(2, dtype="int32")] * 2)),
    ("Optimizer/equal-types", mx.MXNetError, lambda: _step(nd.ones(2), nd.ones(2, dtype="float64"))),
    ("Optimizer/equal-shapes", mx.MXNetError, lambda: _step(nd.ones(2), nd.ones(3))),
    ("Optimizer/equal-shapes", mx.MXNetError,
     lambda: _step(nd.ones(2), nd.ones(2), momentum=0.5, state=nd.ones(1))),
]


@pytest.mark.clause("Optimizer/known-name")
@pytest.mark.clause("Optimizer/index-names")
@pytest.mark.clause("Optimizer/scheduler-decides")
@pytest.mark.clause("Optimizer/lr-scale")
@pytest.mark.clause("Optimizer/floating")
@pytest.mark.clause("Optimizer/equal-types")
@pytest.mark.clause("Optimizer/equal-shapes")
@pytest.mark.parametrize(("clause", "kind", "call"), REFUSALS, ids=[r[0] for r in REFUSALS])
def test_refusals(clause, kind, call) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause


def test_a_rule_must_override_update() -> None:
    with pytest.raises(NotImplementedError, match="must override update"):
        opt.Optimizer().update(0, nd.ones(1), nd.ones(1), opt.Optimizer().create_state(0, nd.ones(1)))
