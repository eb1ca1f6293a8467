"""Optimizers, schedulers and states of files: what the next update needs, demanded before anything changes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import lr_scheduler as schedules
from refimpl.ndarray import sparse
from refimpl.optimizer import soundness, states

OPTIMIZERS = sorted(set(mx.optimizer.Optimizer.opt_registry) - {"_svrgoptimizer", "ownmessage", "ownrule"})
SCHEDULERS = {
    "FactorScheduler": (2,), "MultiFactorScheduler": ([1, 3],), "PolyScheduler": (5,), "CosineScheduler": (5,),
    "LRScheduler": (),
}
NOT_READ = {
    "param_dict", "allow_np_array", "weight_previous", "num_epochs", "lbmult", "adaptive", "admult", "skip",
    "rate_update",
}
"""Attributes that no rule reads, and those that a constructor sets from another one."""


def made(kind: str) -> Any:
    if kind in SCHEDULERS:
        return getattr(schedules, kind)(*SCHEDULERS[kind])
    return mx.optimizer.create(kind)


@pytest.mark.clause("Command/attributes")
@pytest.mark.parametrize("kind", [*OPTIMIZERS, *SCHEDULERS])
def test_every_attribute_is_checked_and_has_the_constructor_s_value(kind: str) -> None:
    """A rule that gets another attribute has to say what that must be."""
    whole = made(kind)
    if not type(whole).__module__.startswith("refimpl"):
        pytest.skip("another test's own")
    said = soundness._attributes_of(type(whole))
    assert set(vars(whole)) - NOT_READ <= set(said)
    assert soundness.completed(whole) is None
    for name, (default, holds) in said.items():
        assert holds(getattr(whole, name)), name
        lacking = copy.copy(whole)
        del vars(lacking)[name]
        (filled, _) = states.loads(states.dumps({0: lacking}))
        if default is soundness._REQUIRED:
            assert not hasattr(filled[0], name)
        elif name not in ("lr", "aggregate_num", "lazy_update"):  # such a file is older than what the rules set
            assert getattr(filled[0], name) == getattr(whole, name), name


SGD: dict[str, Any] = {"momentum": 0.5, "learning_rate": 0.25}


def sgd(**changes: Any) -> Any:
    optimizer = mx.optimizer.SGD(**SGD)
    vars(optimizer).update(changes)
    return optimizer


def changed(kind: str, **changes: Any) -> Any:
    optimizer = made(kind)
    vars(optimizer).update(changes)
    return optimizer


def scheduled(kind: str, num_update: int = 0, **changes: Any) -> Any:
    schedule = made(kind)
    vars(schedule).update(changes)
    return sgd(lr_scheduler=schedule, num_update=num_update)


NAN = float("nan")
UNSOUND: dict[str, Callable[[], Any]] = {
    "rescale_grad of text": lambda: sgd(rescale_grad="x"),
    "momentum of nothing": lambda: sgd(momentum=None),
    "momentum beyond every float": lambda: sgd(momentum=10**400),
    "no learning rate": lambda: sgd(lr=None),
    "a bound of text": lambda: sgd(clip_gradient="1"),
    "half an update": lambda: sgd(num_update=1.5),
    "a negative count": lambda: sgd(begin_num_update=-1),
    "a count of text": lambda: sgd(_index_update_count={0: "1"}),
    "a count of a float": lambda: sgd(_all_index_update_counts={0: {0: 2.0}}),
    "a count of a device of text": lambda: sgd(_all_index_update_counts={0: "x"}),
    "a count too large": lambda: sgd(num_update=2**60),
    "a group of a half": lambda: sgd(aggregate_num=0.5),
    "a factor of text": lambda: sgd(lr_mult={"w": "2"}),
    "a factor of nothing": lambda: sgd(wd_mult={"w": None}),
    "a list of names": lambda: sgd(idx2name=["w"]),
    "a name that is a dict": lambda: sgd(idx2name={0: {}}),
    "half a description": lambda: sgd(sym_info=({},)),
    "a description of text": lambda: sgd(sym_info=({"w": "x"}, ["w"])),
    "a description of numbers": lambda: sgd(sym_info=({}, [1])),
    "NAG in groups": lambda: changed("nag", aggregate_num=4),
    "Adam's beta1 of 1": lambda: changed("adam", beta1=1),
    "Adam's beta1 below 0": lambda: changed("adam", beta1=-0.5),
    "Adam's beta2 above 1": lambda: changed("adam", beta2=1.5),
    "Adam's beta2 not a number": lambda: changed("adam", beta2=NAN),
    "Adamax's beta1 of 1": lambda: changed("adamax", beta1=1.0),
    "Nadam's beta1 of 1": lambda: changed("nadam", beta1=1.0),
    "Nadam's product that takes hours": lambda: changed("nadam", beta1=1 - 1e-12, num_update=2**50),
    "Nadam's decay below 0": lambda: changed("nadam", schedule_decay=-1e6),
    "RMSProp's bound of a list": lambda: changed("rmsprop", clip_weights=[1]),
    "LBSGD's steps of nothing": lambda: changed("lbsgd", batch_scale=0),
    "LBSGD's strategy of 7": lambda: changed("lbsgd", warmup_strategy=7),
    "LBSGD's sum of text": lambda: changed("lbsgd", cumgrads={0: {"cum_grad": "x", "num_cums": 1}}),
    "LBSGD's sums in a list": lambda: changed("lbsgd", cumgrads={0: [1]}),
    "LBSGD's calls below 0": lambda: changed("lbsgd", cumgrads={0: {"cum_grad": 0, "num_cums": -1}}),
    "LARS's last rate of text": lambda: changed("lars", last_lr="x"),
    "a schedule's rate of text": lambda: scheduled("FactorScheduler", base_lr="x"),
    "a schedule's factor of text": lambda: scheduled("FactorScheduler", factor="x"),
    "steps below 1": lambda: scheduled("FactorScheduler", step=0.5),
    "a schedule without steps": lambda: scheduled("FactorScheduler", step=None),
    "a schedule a million steps behind": lambda: scheduled("FactorScheduler", num_update=2**50),
    "a schedule's count of a float": lambda: scheduled("FactorScheduler", count=0.5),
    "steps in a tuple": lambda: scheduled("MultiFactorScheduler", step=(1, 2)),
    "a step of text": lambda: scheduled("MultiFactorScheduler", step=[1, "2"]),
    "the step before the first": lambda: scheduled("MultiFactorScheduler", cur_step_ind=-9),
    "an end of text": lambda: scheduled("PolyScheduler", max_update="5"),
    "an end before the beginning": lambda: scheduled("PolyScheduler", max_update=0),
    "a curve of another length": lambda: scheduled("PolyScheduler", max_steps=2),
    "a power below 0": lambda: scheduled("PolyScheduler", power=-1),
    "a warm-up below 0": lambda: scheduled("CosineScheduler", warmup_steps=-1, max_steps=6),
}


@pytest.mark.clause("Command/attributes", "States/valid")
@pytest.mark.parametrize("case", UNSOUND)
def test_unsound_optimizers_are_refused(case: str) -> None:
    optimizer = UNSOUND[case]()
    with pytest.raises(mx.MXNetError) as caught:
        states.loads_optimizer(states.dumps_optimizer(optimizer), "the message")
    assert caught.value.clause == "Command/optimizer"
    assert "the message" in str(caught.value)
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    with pytest.raises(mx.MXNetError) as caught:
        updater.set_states(states.dumps(({}, optimizer)))
    assert caught.value.clause == "States/valid"
    assert updater.optimizer.lr == 0.01


@pytest.mark.clause("Command/attributes")
@pytest.mark.parametrize("kind", ["FactorScheduler", "MultiFactorScheduler", "PolyScheduler"])
def test_a_schedule_that_lacks_what_nobody_can_know(kind: str) -> None:
    optimizer = scheduled(kind)
    name = "max_update" if kind == "PolyScheduler" else "step"
    content = states.dumps_optimizer(optimizer).replace(name.encode(), name[::-1].encode())
    with pytest.raises(mx.MXNetError, match=f"a scheduler without {name}|whose {name} is"):
        states.loads_optimizer(content)


@pytest.mark.clause("Command/attributes")
def test_an_older_file_lacks_what_was_added_since() -> None:
    """MXNet 0.9's SGD had no lazy_update and no aggregate_num, its PolyScheduler no warm-up."""
    content = (
        b"cmxnet.optimizer\nSGD\n)\x81}(U\x08momentumG?\xe0\0\0\0\0\0\0U\x02lrG?\xd0\0\0\0\0\0\0U\x0clr_scheduler"
        b"cmxnet.lr_scheduler\nPolyScheduler\n)\x81}(U\x07base_lrG?\xd0\0\0\0\0\0\0U\x0cbase_lr_origG?\xd0\0\0\0\0\0\0"
        b"U\x0amax_updateK\x04U\x05powerK\x01ububub."
    ).replace(b"ububub.", b"ubub.")
    optimizer = states.loads_optimizer(content)
    weight = mx.nd.array([1.0])
    mx.optimizer.get_updater(optimizer)(0, mx.nd.array([1.0]), weight)
    # one of four updates is done: the rate is 0.25 * (1 - 1/4)
    assert weight.asnumpy().tolist() == [1 - 0.25 * 0.75]


# --- states ---------------------------------------------------------------------------------------


def zeros(*shape: int, dtype: str = "float32") -> Any:
    return mx.nd.zeros(shape, dtype=dtype)


UNFIT: dict[str, tuple[str, dict[str, Any], Any]] = {
    "another shape": ("sgd", SGD, zeros(3)),
    "another rank": ("sgd", SGD, zeros(2, 1)),
    "another type": ("sgd", SGD, zeros(2, dtype="float64")),
    "whole numbers": ("sgd", SGD, zeros(2, dtype="int32")),
    "another storage": ("sgd", SGD, sparse.row_sparse_array(zeros(2))),
    "a number": ("sgd", SGD, 0.5),
    "a float32 copy that the weight has not": ("sgd", SGD, (zeros(2), zeros(2))),
    "one average": ("adam", {}, (zeros(2),)),
    "no second average": ("adam", {}, (zeros(2), None)),
    "three averages": ("adam", {}, (zeros(2),) * 3),
    "an array for two": ("adam", {}, zeros(2)),
    "nothing at all": ("adam", {}, None),
    "text": ("adam", {}, ("x", "y")),
    "a second average of another shape": ("adam", {}, (zeros(2), zeros(1))),
    "no sum of squares": ("adagrad", {}, None),
    "the plain form": ("rmsprop", {"centered": True}, (zeros(2),)),
    "no weight of before": ("dcasgd", {"momentum": 0.5}, (zeros(2), None)),
}


@pytest.mark.clause("States/fits")
@pytest.mark.parametrize("case", UNFIT)
def test_states_that_do_not_fit_are_refused_when_the_weight_is_known(case: str) -> None:
    name, settings, state = UNFIT[case]
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.create(name, **settings))
    store.init("w", zeros(2))
    before = store._updater.states
    with pytest.raises(mx.MXNetError, match="the state of 'w' is ") as caught:
        store._updater.set_states(states.dumps({"w": state}), "x.states", store._stored)
    assert caught.value.clause == "States/fits"
    assert store._updater.states is before


@pytest.mark.clause("States/fits")
@pytest.mark.parametrize("several", [False, True])
def test_or_before_the_first_update_changes_anything(several: bool) -> None:
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(**SGD))
    updater.set_states(states.dumps({0: zeros(2), 1: zeros(3)}))
    weights = [mx.nd.ones(2), mx.nd.ones(2)]
    with pytest.raises(mx.MXNetError, match="the state of 1 is float32 ") as caught:
        if several:
            updater([0, 1], [mx.nd.ones(2), mx.nd.ones(2)], weights)
        else:
            updater(1, mx.nd.ones(2), weights[1])
    assert caught.value.clause == "States/fits"
    assert [weight.asnumpy().tolist() for weight in weights] == [[1.0, 1.0]] * 2
    assert updater.optimizer.num_update == 0


@pytest.mark.clause("States/fits")
@pytest.mark.parametrize(
    ("name", "settings", "kind", "state"),
    [
        ("sgd", SGD, "float32", None), ("sgd", {"learning_rate": 0.25}, "float32", zeros(2)),
        ("signum", {}, "float32", None), ("dcasgd", {"momentum": 0.5}, "float32", (None, zeros(2))),
        ("sgld", {}, "float32", zeros(7)), ("adam", {}, "float32", [zeros(2), zeros(2)]),
        ("sgd", {**SGD, "multi_precision": True}, "float16", (None, zeros(2))),
        ("adam", {"multi_precision": True}, "float16", (zeros(2), (zeros(2), zeros(2)))),
    ],
)
def test_what_a_rule_can_do_without_may_lack(name: str, settings: dict, kind: str, state: Any) -> None:
    """Momentum may be switched on and off between two trainings; a rule without a state looks at none."""
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, **settings))
    updater.set_states(states.dumps({0: state}))
    weight = mx.nd.ones(2, dtype=kind)
    updater(0, mx.nd.ones(2, dtype=kind), weight)
    assert updater.optimizer.num_update == 1


@pytest.mark.clause("States/fits")
def test_lbsgd_s_sum_is_as_the_weight() -> None:
    optimizer = changed("lbsgd", cumgrads={0: {"cum_grad": mx.nd.ones(3), "num_cums": 1}})
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    with pytest.raises(mx.MXNetError, match="the sum of gradients of 0 has shape"):
        updater.set_states(states.dumps(({0: None}, optimizer)), "x", {0: zeros(2)})


class Own(mx.optimizer.SGD):
    """A rule of the user's own, with a state of its own."""

    def create_state(self, index: Any, weight: Any) -> Any:
        return {"seen": 0}

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        state["seen"] += 1

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        self.update(index, weight, grad, state)


@pytest.mark.clause("States/fits")
def test_rules_of_the_user_s_own_are_not_asked() -> None:
    optimizer = Own()
    optimizer.aggregate_num = 0
    updater = mx.optimizer.get_updater(optimizer)
    updater.set_states(states.dumps({0: {"seen": 5}}), "x", {0: zeros(2)})
    updater(0, zeros(2), zeros(2))
    assert updater.states == {0: {"seen": 6}}


@pytest.mark.clause("States/fits")
@pytest.mark.parametrize("update_on_kvstore", [True, False])
def test_a_module_refuses_states_of_another_network(update_on_kvstore: bool, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", str(int(update_on_kvstore)))

    def module(hidden: int) -> Any:
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=hidden, name="fc")
        found = mx.mod.Module(mx.sym.LinearRegressionOutput(net, name="out"), label_names=["out_label"],
                              context=[mx.cpu(0), mx.cpu(1)])
        found.bind([("data", (2, 3))], [("out_label", (2, hidden))])
        found.init_params()
        found.init_optimizer(optimizer_params=SGD)
        found.forward_backward(mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.ones((2, hidden))]))
        found.update()
        return found

    one, other = module(2), module(4)
    one.save_optimizer_states(str(tmp_path / "x.states"))
    before = other.get_params()[0]["fc_weight"].asnumpy()
    with pytest.raises(mx.MXNetError) as caught:
        other.load_optimizer_states(str(tmp_path / "x.states"))
    assert caught.value.clause == "States/fits"
    one.load_optimizer_states(str(tmp_path / "x.states"))
    assert np.array_equal(other.get_params()[0]["fc_weight"].asnumpy(), before)


# --- numbers that are met later ---------------------------------------------------------------------


@pytest.mark.clause("SGLD/rate")
def test_noise_of_a_negative_rate() -> None:
    weight = mx.nd.ones(2)
    with pytest.raises(mx.MXNetError) as caught:
        mx.optimizer.get_updater(mx.optimizer.SGLD(learning_rate=-1))(0, mx.nd.ones(2), weight)
    assert caught.value.clause == "SGLD/rate"
    assert weight.asnumpy().tolist() == [1.0, 1.0]


@pytest.mark.clause("Optimizer/multipliers")
@pytest.mark.parametrize("attribute", ["__lr_mult__", "__wd_mult__"])
def test_a_variable_s_factor_is_a_number(attribute: str) -> None:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), mx.sym.Variable("w", attr={attribute: "much"}), num_hidden=1)
    with pytest.raises(mx.MXNetError, match=f"{attribute} of variable w is 'much', not a number") as caught:
        mx.optimizer.SGD(sym=net)
    assert caught.value.clause == "Optimizer/multipliers"
