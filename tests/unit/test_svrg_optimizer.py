"""The optimizers behind SVRGModule."""

from __future__ import annotations

import base64
import pickle

import numpy as np
import pytest

import refimpl as mx
from refimpl.contrib.svrg_optimization.svrg_optimizer import _AssignmentOptimizer, _SVRGOptimizer
from refimpl.optimizer.states import dumps_optimizer, loads_optimizer

from .svrg_nets import iterator, ready

NAMES = {0: "weight", 1: "weight_full"}
# MXNet 1.9.1: base64.b85encode(pickle.dumps(_SVRGOptimizer(
#     default_optimizer="sgd", learning_rate=0.5, momentum=0.25, param_idx2name={0: "weight", 1: "weight_full"})))
OF_MXNET = (
    "fCQEE0ssI20001tE^T;jWpplMZ*FvQX<{yOc5-K5Z*X*JZE1R8bZKvHE^~HrXJ2n{bZKpAdS!Byj1FH@R#Hb#aCB*HX?kUHl#`Sxfs}oeD2xnp"
    "WpiU;Y-L|(a$#hYM?dfY000000E`T5a$j>}Xk}z|Y-MtkPK*L<a+F6u-~a#s0001t0(WGTM*si-000000E`E0a$jwAY;=@;l#B;=WM6G{Y;=@;"
    "lqie_cV%g3XmpfE0000000000j0<;VX=iA3UuJb|Y?Ma;000000001Wj1XdFXK8L<Zgp*6b#P>1bY+xF0E`N5b!}gDaAaY0Wt2+*j2K^GY;0d?"
    "Ze(S6Uv+R~VRU6*V{dhCbaRw_luH18lyi&|UukY+Wq4n8aAaY0WnW`&b#8Q&XcLSLV{B<~UuSY*WNBq?bd*kv4{dd9bZK93a%E#_b7^mGl!=TD"
    "VP|J@WoKb@WnXS}ZInv@j0kCDcrtEbZDo{wlqgF8XbnpNXbyFZ2y=ODUukY;Z<HyF4q<F;Z+BmAa9?3^a$$LtiHr+mWoBV@Y;<35aCDT68EtrO"
    "WpplYaCB*HX?kUHE^lyjX>DnGWpb2^15-ytl#`Sxfs}oeC};&oKkxtm00000Xa-Jb2S-2P00000003wRM*si-000000B8w)lxPcmlqhHoM*si-"
    "000000B8<J0000000000b!ZPu0B8_P0B8|?luH18lyhhlXeDSBPG}a1XctQaXc&EzC`$ln4NC!N4s~c6DQFvsj0kOSZDnqBb#0VKKhOXG00000"
    "j0<dGdU;=UaAaY0Wt50@VvGl2b$DNIaCDSt0E`r0L349yXKrm}Zgfv@bZKpAdS!Bylawielzo&aXaz?<@Bjb+0001J22N-PM?Zvm;YY3%duRwp"
    "0000000000XbF9kXbXLmXb(#OXb?*PXc2vsO8|Y8b7&N3F=!P|XcmcR7fS$W7=4sz8YyTSiFIOiVlD"
)


def pushed(optimizer: mx.optimizer.Optimizer, keys: tuple) -> list[list[list[float]]]:
    """What a store holds after the first and the second push of (1, 2)."""
    store = mx.kv.create("local")
    store.set_optimizer(optimizer)
    held = []
    for key in keys:
        store.init(key, mx.nd.zeros(2))
        out = mx.nd.zeros(2)
        held.append([])
        for _ in range(2):
            store.push(key, mx.nd.array([1, 2]))
            store.pull(key, out=out)
            held[-1].append(out.asnumpy().tolist())
    return held


def sgd(**settings) -> _SVRGOptimizer:
    return _SVRGOptimizer("sgd", learning_rate=0.5, momentum=0.25, param_idx2name=NAMES, **settings)


# MXNet 1.9.1 prints the same for its own
TRAINED, ASSIGNED = [[-0.5, -1], [-1.125, -2.25]], [[1, 2], [1, 2]]


@pytest.mark.clause("SVRG/optimizer", "SVRG/assignment", "SVRG/accumulator-names")
@pytest.mark.parametrize("keys", [(0, 1), ("weight", "weight_full")])
def test_a_store_trains_parameters_and_assigns_accumulators(keys) -> None:
    assert pushed(sgd(), keys) == [TRAINED, ASSIGNED]


@pytest.mark.clause("SVRG/accumulator-names")
def test_accumulators_are_known_by_their_whole_names() -> None:
    names = {0: "full_weight", 1: "weight_full", 2: "full"}
    assert _SVRGOptimizer("sgd", param_idx2name=names).accumulators == []
    assert sgd(accumulators=[]).accumulators == []
    assert pushed(sgd(accumulators=["other"]), (0, 1)) == [TRAINED, TRAINED]
    assert pushed(sgd(accumulators=["other"]), ("other", "weight")) == [ASSIGNED, TRAINED]


@pytest.mark.clause("SVRG/optimizer")
def test_its_attributes_are_those_of_the_optimizer_inside() -> None:
    inside = mx.optimizer.SGD(learning_rate=0.5, wd=0.25)
    outside = _SVRGOptimizer(inside)
    assert (outside.default_opt, outside.lr, outside.wd) == (inside, 0.5, 0.25)
    outside.set_learning_rate(0.125)
    outside.rescale_grad = 0.5
    outside.set_lr_mult({"w": 2.0})
    assert (inside.learning_rate, inside.rescale_grad, inside.lr_mult) == (0.125, 0.5, {"w": 2.0})
    updater = mx.optimizer.get_updater(outside)
    weight = mx.nd.ones(1)
    updater(["w", "v"], [mx.nd.ones(1), mx.nd.ones(1)], [weight, mx.nd.ones(1)])
    # 1 - 0.25 (0.5 + 0.25)
    assert weight.asscalar() == 0.8125
    assert outside.num_update == inside.num_update == 1
    assert not hasattr(outside, "nonsense")
    # SGD is handed several parameters at a time, this one is not
    assert (inside.aggregate_num, outside.aggregate_num) == (4, 0)


@pytest.mark.clause("SVRG/optimizer")
def test_it_is_registered() -> None:
    assert isinstance(mx.optimizer.create("_AssignmentOptimizer"), _AssignmentOptimizer)
    made = mx.optimizer.create("_SVRGOptimizer", default_optimizer="adam", beta1=0.5)
    assert isinstance(made, _SVRGOptimizer)
    assert isinstance(made.default_opt, mx.optimizer.Adam)
    assert made.beta1 == 0.5


@pytest.mark.clause("SVRG/optimizer")
@pytest.mark.parametrize("wrong", [None, 3, mx.optimizer.SGD, sgd])
def test_what_it_does_not_wrap(wrong) -> None:
    with pytest.raises(AssertionError) as caught:
        _SVRGOptimizer(wrong() if wrong is sgd else wrong)
    assert caught.value.clause == "SVRG/optimizer"


@pytest.mark.clause("SVRG/optimizer")
def test_half_precision() -> None:
    optimizer = sgd(multi_precision=True)
    updater = mx.optimizer.get_updater(optimizer)
    weight, full = (mx.nd.ones(2, dtype="float16") for _ in range(2))
    for index, array in enumerate((weight, full)):
        updater(index, mx.nd.array([1, 2], dtype="float16"), array)
    assert weight.asnumpy().tolist() == [0.5, 0]
    assert full.asnumpy().tolist() == [1, 2]
    assert updater.states[0][1].dtype == np.float32
    assert updater.states[1] is None


@pytest.mark.clause("SVRG/optimizer", "States/valid")
def test_its_file_is_mxnets() -> None:
    theirs = loads_optimizer(base64.b85decode(OF_MXNET))
    for optimizer in (theirs, loads_optimizer(dumps_optimizer(sgd())), loads_optimizer(dumps_optimizer(theirs))):
        assert isinstance(optimizer, _SVRGOptimizer)
        assert isinstance(optimizer.default_opt, mx.optimizer.SGD)
        assert (optimizer.lr, optimizer.momentum, optimizer.idx2name) == (0.5, 0.25, NAMES)
        assert optimizer.accumulators == ["weight_full"]
        assert pushed(optimizer, (0, 1)) == [TRAINED, ASSIGNED]
    assert b"mxnet.contrib.svrg_optimization.svrg_optimizer" in dumps_optimizer(sgd())


@pytest.mark.clause("States/valid")
@pytest.mark.parametrize("damage", [
    {"default_opt": 5}, {"default_opt": None}, {"accumulators": 5}, {"accumulators": {"weight": 1}}, {"self": True},
])
def test_a_damaged_file_is_refused(damage) -> None:
    optimizer = sgd()
    if "self" in damage:
        damage = {"default_opt": optimizer}
    for name, value in damage.items():
        object.__setattr__(optimizer, name, value)
    optimizer.__class__.__getstate__, held = lambda self: dict(self.__dict__), _SVRGOptimizer.__getstate__
    try:
        content = dumps_optimizer(optimizer)
    finally:
        _SVRGOptimizer.__getstate__ = held
    with pytest.raises(mx.MXNetError):
        loads_optimizer(content)


@pytest.mark.clause("States/valid")
def test_names_in_a_file_may_be_anything() -> None:
    optimizer = mx.optimizer.SGD()
    optimizer.idx2name = {0: 5, 1: "w", 2: "w_full", 3: None}
    content = dumps_optimizer(_SVRGOptimizer(optimizer, accumulators=[]))
    assert loads_optimizer(content).accumulators == []
    assert _SVRGOptimizer(optimizer).accumulators == ["w_full"]


@pytest.mark.clause("SVRG/optimizer")
def test_the_optimizer_of_one_module_serves_another() -> None:
    data = iterator()
    first = ready(data)
    second = ready(data, optimizer=first._optimizer)
    assert second._optimizer.default_opt is first._optimizer.default_opt


def test_states_go_with_the_optimizer(tmp_path) -> None:
    store = mx.kv.create("local")
    store.set_optimizer(sgd())
    for key in ("weight", "weight_full"):
        store.init(key, mx.nd.zeros(2))
        store.push(key, mx.nd.array([1, 2]))
    store.save_optimizer_states(str(tmp_path / "s.states"), dump_optimizer=True)
    again = mx.kv.create("local")
    again.set_optimizer(mx.optimizer.SGD())
    again.load_optimizer_states(str(tmp_path / "s.states"))
    for key in ("weight", "weight_full"):
        again.init(key, mx.nd.array([-0.5, -1]))
        again.push(key, mx.nd.array([1, 2]))
    out = mx.nd.zeros(2)
    again.pull("weight", out=out)
    assert out.asnumpy().tolist() == TRAINED[1]
    again.pull("weight_full", out=out)
    assert out.asnumpy().tolist() == [1, 2]


def test_it_is_copied_and_pickled_as_a_whole() -> None:
    again = pickle.loads(pickle.dumps(sgd()))
    assert again.default_opt.momentum == 0.25
    assert again.default_opt.aggregate_num == 4
    assert again.__getstate__()["aggregate_num"] == 0  # MXNet's class would hand lists to rules that take one array
    assert again.accumulators == ["weight_full"]
