"""Fit, stopped after any epoch and begun again from the checkpoint, ends where an unbroken fit ends: bit for bit.

Every optimizer, every schedule, with a store and two contexts or without a store; from a file of states, told where
to go on (``begin_num_update``), and from a file that holds the optimizer too.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from tests.unit.recorded_optimizers import VARIANTS

EPOCHS, BATCHES = 4, 3
DATA = (np.random.RandomState(4).uniform(-1, 1, (12, 5)) * 8).round() / 8
LABEL = np.arange(12) % 3
OPTIMIZERS = sorted({name for name, _ in VARIANTS.values()})
SCHEDULES: dict[str, Any] = {
    "none": lambda: None,
    "factor": lambda: mx.lr_scheduler.FactorScheduler(2, 0.75, base_lr=0.1),
    "multifactor": lambda: mx.lr_scheduler.MultiFactorScheduler(
        [4, 7, 10], 0.5, base_lr=0.1, warmup_steps=2, warmup_mode="constant", warmup_begin_lr=0.01
    ),
    "poly": lambda: mx.lr_scheduler.PolyScheduler(11, base_lr=0.1, pwr=2, final_lr=0.01, warmup_steps=5),
    "cosine": lambda: mx.lr_scheduler.CosineScheduler(10, base_lr=0.1, final_lr=0.02),
}
OWN: dict[str, dict[str, Any]] = {
    name: {"momentum": 0.5} for name in ("sgd", "ccsgd", "nag", "dcasgd", "lars", "lbsgd", "signum")
}


def network(*, bias: bool) -> mx.sym.Symbol:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, no_bias=not bias, name="fc1")
    if bias:
        net = mx.sym.BatchNorm(net, fix_gamma=False, name="bn")
    net = mx.sym.FullyConnected(mx.sym.tanh(net), num_hidden=3, no_bias=not bias, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def train(
    prefix: str, optimizer: str, schedule: str, *, kvstore: str | None, begin: int = 0, whole: bool = False,
) -> dict[str, list]:
    """Train to the last epoch, with a checkpoint after each; from that of epoch ``begin`` unless 0.

    ``whole`` lets the files of states hold the optimizer too.
    """
    contexts = [mx.cpu(index) for index in range(2 if kvstore else 1)]
    if begin:
        module = mx.mod.Module.load(prefix, begin, load_optimizer_states=True, context=contexts)
    else:
        module = mx.mod.Module(network(bias=optimizer != "groupadagrad"), context=contexts)  # for matrices alone

    def checkpoint(epoch: int, *_: Any) -> None:
        module.save_checkpoint(prefix, epoch + 1, save_optimizer_states=True)
        states = f"{prefix}-{epoch + 1:04d}.states"
        if whole and kvstore:
            module._kvstore.save_optimizer_states(states, dump_optimizer=True)
        elif whole:
            Path(states).write_bytes(module._updater.get_states(dump_optimizer=True))

    settings = {"learning_rate": 0.1, "lr_scheduler": SCHEDULES[schedule](), **OWN.get(optimizer, {})}
    if not whole:
        settings["begin_num_update"] = begin * BATCHES
    if optimizer == "lbsgd":
        settings["updates_per_epoch"] = BATCHES
        settings |= {"batch_scale": 2} if whole else {"begin_epoch": begin}
    if optimizer != "groupadagrad":  # which refuses weight decay
        settings["wd"] = 0.01
    # noise goes by the batch before: the state of generators is in no checkpoint
    mx.random.seed(100 * begin - 100 + BATCHES - 1 if begin else 0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Parameters already initialized")
        module.fit(
            mx.io.NDArrayIter(DATA, LABEL, len(DATA) // BATCHES), num_epoch=EPOCHS, begin_epoch=begin,
            kvstore=kvstore, optimizer=optimizer, optimizer_params=settings, initializer=mx.init.Uniform(0.5),
            epoch_end_callback=checkpoint,
            batch_end_callback=lambda param: mx.random.seed(100 * param.epoch + param.nbatch),
        )
    return {name: array.asnumpy().tolist() for part in module.get_params() for name, array in part.items()}


def check(optimizer: str, schedule: str, *, kvstore: str | None, whole: bool, begins: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder, "net"))
        straight = train(prefix, optimizer, schedule, kvstore=kvstore, whole=whole)
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        for begin in begins:
            again = train(prefix, optimizer, schedule, kvstore=kvstore, whole=whole, begin=begin)
            assert again == straight, begin
            assert {path.name: path.read_bytes() for path in Path(folder).iterdir()} == files, begin


@pytest.mark.clause("Updater/resume")
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("kvstore", ["local", None])
@pytest.mark.parametrize("whole", [False, True], ids=["states", "states and optimizer"])
def test_a_fit_goes_on_from_its_checkpoint(optimizer: str, kvstore: str | None, whole: bool) -> None:
    schedule = list(SCHEDULES)[OPTIMIZERS.index(optimizer) % len(SCHEDULES)]
    check(optimizer, schedule, kvstore=kvstore, whole=whole, begins=[1])


@pytest.mark.clause("Updater/resume")
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("whole", [False, True], ids=["states", "states and optimizer"])
def test_every_schedule_goes_on(schedule: str, whole: bool) -> None:
    check("adam", schedule, kvstore="local", whole=whole, begins=range(1, EPOCHS))


@pytest.mark.clause("Updater/resume", "LRScheduler/curves-look-at-the-number")
def test_a_schedule_that_is_over_goes_on_from_a_file_with_the_optimizer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new schedule, asked about updates past its end alone, is at its end (MXNet's is at its beginning)."""
    for kind in (mx.lr_scheduler.CosineScheduler, mx.lr_scheduler.PolyScheduler):
        assert kind(7, base_lr=0.1, final_lr=0.02)(10) == 0.02
        monkeypatch.setitem(SCHEDULES, "over", lambda kind=kind: kind(7, base_lr=0.1, final_lr=0.02))
        check("sgd", "over", kvstore="local", whole=True, begins=[3])


def test_every_optimizer_is_here() -> None:
    registry = mx.optimizer.Optimizer.opt_registry
    here = {name for name, kind in registry.items() if kind.__module__.startswith("refimpl.optimizer.")}
    assert here == set(OPTIMIZERS)
