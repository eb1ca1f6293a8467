"""Laws of every optimizer: resuming is continuing, together is one by one, devices count once, lazy is dense."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import optimizer as opt
from refimpl.ndarray import sparse

from .module_nets import DATA, LABEL, batch, network
from .recorded_optimizers import ARGUMENTS, GRADIENTS, START, VARIANTS

GROUPED = ["sgd", "ccsgd", "lars", "lamb"]
# of a float16 weight without a copy there would be warnings
pytestmark = pytest.mark.filterwarnings("ignore:learning rate .* overwritten")


def made(name, **more):
    """An optimizer of five arguments with a schedule that changes every second update."""
    arguments = {**ARGUMENTS, **more}
    if name == "groupadagrad":
        del arguments["wd"]
    schedule = mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.1)
    return opt.create(name, lr_scheduler=schedule, **arguments)


def stepped(updater, weights, steps):
    """Train parameters by name through one updater, with other gradients for each; noise is seeded by step."""
    for step in steps:
        mx.random.seed(step)
        for number, (name, weight) in enumerate(weights.items()):
            updater(name, nd.array(GRADIENTS[(step + number) % 5], dtype=weight.dtype), weight)


def fresh(dtype="float32"):
    return {name: nd.array(START, dtype=dtype) for name in ("a_weight", "b_weight")}


def values(weights):
    return [weight.asnumpy().tolist() for weight in weights.values()]


@pytest.mark.clause("Updater/resume")
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("case", VARIANTS)
def test_resuming_is_continuing(case: str, dtype: str) -> None:
    name, own = VARIANTS[case]
    straight, stopped = fresh(dtype), fresh(dtype)
    one = opt.get_updater(made(name, multi_precision=True, **own))
    two = opt.get_updater(made(name, multi_precision=True, **own))
    stepped(one, straight, range(3))
    stepped(two, stopped, range(3))
    saved = two.get_states(dump_optimizer=True)
    three = opt.get_updater(opt.create("test"))
    three.set_states(saved)
    assert three.get_states(dump_optimizer=True) == saved
    assert type(three.optimizer) is type(one.optimizer)
    counts = {} if name == "test" else {"a_weight": 3, "b_weight": 3}  # Test does not count
    assert three.optimizer._all_index_update_counts == {0: counts}
    stepped(one, straight, range(3, 7))
    stepped(three, stopped, range(3, 7))
    assert values(straight) == values(stopped)
    assert one.optimizer.lr_scheduler.base_lr == three.optimizer.lr_scheduler.base_lr
    assert one.get_states() == three.get_states()


# What MXNet keeps in the optimizer itself is not in a file of states alone.
STATELESS = sorted({name for name, _ in VARIANTS.values()} - {"lbsgd", "groupadagrad"})


def trained_module(optimizer, path=None, begin=0, steps=range(6), kvstore="local", contexts=2):
    """Train a classifier; from the checkpoint ``path`` when ``begin`` is not 0."""
    devices = [mx.cpu(number) for number in range(contexts)]
    if begin:
        module = mx.mod.Module.load(path, begin, load_optimizer_states=True, context=devices)
    else:
        module = mx.mod.Module(network(), context=devices)
    module.bind(DATA, LABEL)
    mx.random.seed(1)
    if not begin:
        module.init_params(mx.init.Uniform(0.5))
    schedule = mx.lr_scheduler.FactorScheduler(3, 0.5, base_lr=0.1)
    settings = {"wd": 0.01, "begin_num_update": begin, "lr_scheduler": schedule, "learning_rate": 0.1}
    if optimizer in ("lars", "sgd", "nag", "dcasgd"):
        settings["momentum"] = 0.0 if optimizer == "lars" else 0.5
    module.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=settings)
    for step in range(begin, steps.stop):
        mx.random.seed(step)
        rows = np.arange(8).reshape(4, 2) * 0.25 - step % 3
        module.forward_backward(batch(rows, [0, 1, 2, step % 3]))
        module.update()
        if path and step + 1 == 4 and not begin:
            module.save_checkpoint(path, 4, save_optimizer_states=True)
    return {name: value.asnumpy().tolist() for name, value in module.get_params()[0].items()}


@pytest.mark.clause("Updater/resume")
@pytest.mark.parametrize("kvstore", ["local", None])
@pytest.mark.parametrize("name", STATELESS)
def test_a_module_resumes(name: str, kvstore: str | None, tmp_path: Path) -> None:
    """With ``begin_num_update`` a file of states is enough; without a store contexts would drift apart: one of them."""
    contexts, path = 2 if kvstore else 1, str(tmp_path / "net")
    whole = trained_module(name, path, kvstore=kvstore, contexts=contexts)
    assert trained_module(name, path, begin=4, kvstore=kvstore, contexts=contexts) == whole


@pytest.mark.clause("Updater/together")
@pytest.mark.parametrize("size", ["0", "1", "2", "45"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", GROUPED)
def test_together_is_one_by_one(name: str, dtype: str, size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = {"momentum": 0.9} if name != "lamb" else {}

    def train(*, together):
        updater = opt.get_updater(made(name, multi_precision=True, **arguments))
        weights = [nd.array(np.array(START) * scale, dtype=dtype) for scale in (1, 2, 0.5, -1, 3)]
        for gradient in GRADIENTS:
            gradients = [nd.array(np.roll(gradient, k), dtype=dtype) for k in range(5)]
            if together:
                updater(tuple(range(5)), tuple(gradients), tuple(weights))
            else:
                for work in zip(range(5), gradients, weights, strict=True):
                    updater(*work)
        return [weight.asnumpy().tolist() for weight in weights], updater.get_states()

    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", size)
    assert opt.create(name).aggregate_num == (max(int(size), 1) if name == "lamb" else int(size))
    assert train(together=True) == train(together=False)


@pytest.mark.clause("Updater/together")
def test_together_are_weights_of_one_type() -> None:
    calls = []

    class Noting(opt.Optimizer):
        def __init__(self) -> None:
            super().__init__()
            self.aggregate_num = 2

        def update_multi_precision(self, index, weight, grad, state) -> None:
            calls.append((index, [w.dtype.__name__ for w in weight], state))

    updater = opt.get_updater(Noting())
    types = ["float32", "float64", "float32", "float32"]
    arrays = [nd.ones(1, dtype=kind) for kind in types]
    updater([0, 1, b"c", 3], arrays, arrays)
    assert calls == [
        ([0, "c"], ["float32"] * 2, [None] * 2), ([3], ["float32"], [None]), ([1], ["float64"], [None]),
    ]
    updater([], [], [])
    assert len(calls) == 3


@pytest.mark.clause("Updater/together")
@pytest.mark.parametrize(("before", "after"), [("sgd", "adam"), ("adam", "sgd")])
def test_an_updater_goes_by_the_optimizer_of_the_file(before: str, after: str) -> None:
    """MXNet raises AssertionError where an updater of sgd has read the states of adam."""
    source, updater = opt.get_updater(opt.create(after)), opt.get_updater(opt.create(before))
    weights = [nd.ones(2), nd.ones(2)]
    source([0, 1], [nd.ones(2)] * 2, weights)
    updater.set_states(source.get_states(dump_optimizer=True))
    updater([0, 1], [nd.ones(2)] * 2, weights)
    assert updater.optimizer.num_update == 2
    assert updater.aggregate_updates == (after == "sgd")
    assert weights[0].asnumpy().tolist() == weights[1].asnumpy().tolist()


@pytest.mark.clause("Updater/together")
def test_any_rule_may_be_given_several() -> None:
    class Descent(opt.Optimizer):
        def update(self, index, weight, grad, state) -> None:
            weight -= grad

    rule = Descent()
    rule.aggregate_num = 3
    updater, weights = opt.get_updater(rule), [nd.ones(1) for _ in range(4)]
    updater(list(range(4)), [nd.array([k]) for k in range(4)], weights)
    assert [weight.asscalar() for weight in weights] == [1, 0, -1, -2]


@pytest.mark.clause("Optimizer/counts")
@pytest.mark.parametrize("case", VARIANTS)
def test_devices_count_once(case: str) -> None:
    """Copies of a parameter on several devices go the same way, and together they make one step of the count."""
    name, own = VARIANTS[case]
    optimizer = made(name, **own)
    updater = opt.get_updater(optimizer)
    alone, lone = nd.array(START), opt.get_updater(made(name, **own))
    copies = [nd.array(START, ctx=mx.cpu(device)) for device in range(3)]
    for step, gradient in enumerate(GRADIENTS):
        mx.random.seed(step)
        lone(0, nd.array(gradient), alone)
        for device, weight in enumerate(copies):
            mx.random.seed(step)
            updater(device, nd.array(gradient, ctx=mx.cpu(device)), weight)
    if name != "test":  # which does not count
        assert optimizer.num_update == 5
        assert optimizer._all_index_update_counts == {device: {device: 5} for device in range(3)}
    assert copies[0].asnumpy().tolist() == alone.asnumpy().tolist()
    if name != "sgld":  # whose noise is the device's own
        assert all(copy.asnumpy().tolist() == alone.asnumpy().tolist() for copy in copies)


# --- row_sparse ----------------------------------------------------------------------------------

# rule, arguments, whether rows that a gradient lacks stay as they are
SPARSE = [
    ("sgd", {}, True), ("sgd", {"momentum": 0.9}, True), ("adam", {}, True), ("adagrad", {}, True),
    ("groupadagrad", {}, True), ("lars", {"momentum": 0.9}, True), ("lbsgd", {"momentum": 0.9}, True),
    ("sgd", {"momentum": 0.9, "lazy_update": False}, False), ("adam", {"lazy_update": False}, False),
    ("ftrl", {}, None), ("rmsprop", {}, False), ("nag", {"momentum": 0.9}, False), ("signum", {}, False),
    ("lamb", {}, False), ("adamax", {}, False), ("nadam", {}, False), ("dcasgd", {}, False), ("ftml", {}, False),
    ("adadelta", {}, False), ("sgld", {}, False), ("test", {}, False),
]
TOUCHED, HEIGHT = [1, 3], 4
TABLE = np.array([[1, -2, 0.5], [0.25, 3, -0.125], [-1, 2, 0.75], [0.5, 0.25, -3]], np.float32)


def of_rows(values, stype):
    """The table, or a gradient of it, in a storage."""
    return nd.array(values) if stype == "default" else nd.array(values).tostype(stype)


@pytest.mark.clause("Optimizer/lazy")
@pytest.mark.parametrize("stype", ["default", "row_sparse"])
@pytest.mark.parametrize(("name", "own", "lazy"), SPARSE, ids=[f"{n}-{k}" for k, (n, *_) in enumerate(SPARSE)])
def test_lazy_is_dense_on_the_rows_of_the_gradient(name, own, lazy, stype) -> None:
    decay = {} if name in ("adagrad", "groupadagrad") else {"wd": 0.01}
    arguments = {"learning_rate": 0.1, "rescale_grad": 0.5, "clip_gradient": 0.15, **decay, **own}
    if lazy is None:
        lazy = stype == "row_sparse"
    one, two = (opt.get_updater(opt.create(name, **arguments)) for _ in range(2))
    weight, whole = of_rows(TABLE, stype), nd.array(TABLE)
    part = nd.array(TABLE[TOUCHED])
    for step, gradient in enumerate(GRADIENTS):
        full = np.zeros_like(TABLE)
        full[TOUCHED] = gradient
        mx.random.seed(step)
        one(0, sparse.row_sparse_array((gradient, TOUCHED), shape=TABLE.shape), weight)
        mx.random.seed(step)
        two(0, nd.array(gradient if lazy else full), part if lazy else whole)
    assert weight.stype == stype
    got = weight.asnumpy()
    if not lazy:
        np.testing.assert_allclose(got, whole.asnumpy(), rtol=1e-6)
        return
    assert (np.delete(got, TOUCHED, 0) == np.delete(TABLE, TOUCHED, 0)).all()
    if name != "lars":  # which measures the whole table
        np.testing.assert_allclose(got[TOUCHED], part.asnumpy(), rtol=1e-6)


@pytest.mark.clause("Optimizer/lazy-clip")
@pytest.mark.parametrize("name", ["adagrad", "groupadagrad"])
def test_a_bound_of_zero_holds_for_sparse_gradients_too(name: str) -> None:
    weight = nd.array(TABLE)
    updater = opt.get_updater(opt.create(name, clip_gradient=0.0))
    updater(0, sparse.row_sparse_array((GRADIENTS[0], TOUCHED), shape=TABLE.shape), weight)
    assert weight.asnumpy().tolist() == TABLE.tolist()


@pytest.mark.clause("Optimizer/lazy")
def test_states_have_the_storage_of_the_weight() -> None:
    # MXNet 1.9.1: create_state(0, w).stype, of the first state
    expected = {"sgd": "row_sparse", "adam": "row_sparse", "adagrad": "row_sparse", "ftrl": "row_sparse",
                "rmsprop": "row_sparse", "signum": "row_sparse", "lamb": "row_sparse", "nag": "default",
                "adamax": "default", "nadam": "default", "ftml": "default", "adadelta": "default"}
    weight = of_rows(TABLE, "row_sparse")
    found = {}
    for name in expected:
        own = {"momentum": 0.9} if name in ("sgd", "nag") else {}
        state = opt.create(name, **own).create_state(0, weight)
        found[name] = (state[0] if isinstance(state, tuple) else state).stype
    assert found == expected
    assert opt.SGD(momentum=0.5, lazy_update=False).create_state(0, weight).stype == "default"


@pytest.mark.clause("Optimizer/multi-precision")
@pytest.mark.parametrize("name", ["adam", "rmsprop", "sgd", "nag", "lbsgd"])
def test_a_float16_weight_without_a_copy_warns(name: str) -> None:
    optimizer = opt.create(name)
    with pytest.warns(UserWarning, match=f"Accumulating with float16: {type(optimizer).__name__} "):
        optimizer.create_state_multi_precision(0, nd.ones(2, dtype="float16"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.create_state_multi_precision(0, nd.ones(2))


@pytest.mark.clause("LBSGD/copy")
def test_lbsgd_steps_a_copy_that_its_own_state_holds() -> None:
    lbsgd = opt.create("lbsgd", momentum=0.5, multi_precision=True, learning_rate=0.5)
    weight = nd.ones(2, dtype="float16")
    state = lbsgd.create_state(0, weight)
    assert [part.dtype for part in state] == [np.float32, np.float32]
    lbsgd.update(0, weight, nd.ones(2, dtype="float16"), state)
    assert state[1].asnumpy().tolist() == weight.asnumpy().tolist() == [0.5, 0.5]
