"""The n-th reservation of memory, write, flush, new name or start of a thread fails: what was there stays whole.

    python -m pytest tests/stateful/test_resume_after_failures.py     some n
    python -m pytest -m long -k resume                                every n (two minutes), beside 300 kills

After each failure the same is tried again, and must give the numbers of a run in which nothing failed.
"""

from __future__ import annotations

import functools
import logging
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import refimpl as mx
from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule

from .failing import KINDS, Scenario, fail_each
from .test_killed_training import unbroken, unfinished
from .training_to_kill import DATA, EPOCHS, LABEL, Batches, files, network, train
from .training_to_kill import KINDS as CHECKPOINTS

FILES = ("write", "flush", "rename")
OPTIMIZER = {"learning_rate": 0.25, "momentum": 0.9}
LARGER = [("data", (6, 5))], [("softmax_label", (6,))]


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.CRITICAL)
    yield


# --- modules -----------------------------------------------------------------------------------------


def unbound(contexts: int) -> mx.mod.Module:
    return mx.mod.Module(network()[0], context=[mx.cpu(index) for index in range(contexts)])


def prepare(module: mx.mod.Module, kvstore: Any = "local") -> None:
    """Take the steps towards training that are not taken yet."""
    if not module.binded:
        module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    if not module.params_initialized:
        mx.random.seed(3)
        module.init_params(mx.init.Uniform(0.5))
    if not module.optimizer_initialized:
        module.init_optimizer(kvstore=kvstore, optimizer_params=OPTIMIZER)


def step(module: mx.mod.Module, rows: int = 4) -> None:
    module.forward_backward(mx.io.DataBatch([mx.nd.array(DATA[:rows])], [mx.nd.array(LABEL[:rows])]))
    module.update()


def trained(contexts: int, steps: int) -> mx.mod.Module:
    module = unbound(contexts)
    prepare(module)
    for _ in range(steps):
        step(module)
    return module


def content(module: mx.mod.Module) -> list[Any]:
    """Parameters on the host and on every context, and the optimizer's states, as bytes."""
    held = [executor.arg_dict | executor.aux_dict for executor in module._exec_group.execs]
    merged = module.get_params()[0] | module.get_params()[1]
    updater = module._updater or module._kvstore._updater
    return [{name: part[name].asnumpy().tobytes() for name in merged} for part in (merged, *held)] + [
        updater.get_states()
    ]


@functools.cache
def after(contexts: int, steps: int) -> list[Any]:
    """The content of a module after so many undisturbed steps."""
    return content(trained(contexts, steps))


class Saving(Scenario):
    """A checkpoint over the one of a step before; the parameters are still on the contexts."""

    def __init__(self, contexts: int) -> None:
        self.contexts, self.folder = contexts, tempfile.TemporaryDirectory()
        self.prefix, self.module = str(Path(self.folder.name, "net")), trained(contexts, 1)
        self.act()
        self.old = files(self.prefix)
        step(self.module)

    def act(self) -> None:
        self.module.save_checkpoint(self.prefix, 0, save_optimizer_states=True)

    def check(self, error: mx.MXNetError | None) -> None:
        assert error is not None
        assert files(self.prefix) == self.old
        assert unfinished(Path(self.folder.name)) == []
        assert content(self.module) == after(self.contexts, 2)
        self.act()
        assert files(self.prefix) == saved(self.contexts)


@functools.cache
def saved(contexts: int) -> dict[str, bytes]:
    """The files of a checkpoint after two steps."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder, "net"))
        trained(contexts, 2).save_checkpoint(prefix, 0, save_optimizer_states=True)
        return files(prefix)


class Loading(Scenario):
    """A module out of a checkpoint, bound and trained on."""

    def __init__(self, contexts: int) -> None:
        self.contexts, self.folder = contexts, tempfile.TemporaryDirectory()
        self.prefix = str(Path(self.folder.name, "net"))
        for name, raw in saved(contexts).items():
            Path(self.prefix + name).write_bytes(raw)

    def act(self) -> None:
        context = [mx.cpu(index) for index in range(self.contexts)]
        self.module = mx.mod.Module.load(self.prefix, 0, load_optimizer_states=True, context=context)
        prepare(self.module)

    def check(self, error: mx.MXNetError | None) -> None:
        assert error is not None
        assert files(self.prefix) == saved(self.contexts)
        self.act()
        step(self.module)
        assert content(self.module) == went_on(self.contexts)


@functools.cache
def loaded(contexts: int) -> Loading:
    """A checkpoint that was loaded undisturbed."""
    loading = Loading(contexts)
    loading.act()
    return loading


@functools.cache
def went_on(contexts: int) -> list[Any]:
    """The content of a module one step after it was loaded undisturbed."""
    loading = Loading(contexts)
    loading.act()
    step(loading.module)
    return content(loading.module)


class LoadingInto(Loading):
    """Parameters and states out of files into a module that is in use."""

    def __init__(self, contexts: int) -> None:
        super().__init__(contexts)
        self.module = trained(contexts, 3)

    def act(self) -> None:
        self.module.load_params(f"{self.prefix}-0000.params")
        self.module.load_optimizer_states(f"{self.prefix}-0000.states")

    def check(self, error: mx.MXNetError | None) -> None:
        new = content(loaded(self.contexts).module)
        for now, before, then in zip(content(self.module), after(self.contexts, 3), new, strict=True):
            assert now in (before, then)
        super().check(error)


class Reshaping(Scenario):
    """Another batch size for a module that is in use, by ``change``."""

    def __init__(self, contexts: int, change: Callable[[mx.mod.Module], None]) -> None:
        self.contexts, self.change = contexts, change
        self.module, self.other = trained(contexts, 2), trained(contexts, 2)

    def act(self) -> None:
        self.change(self.module)

    def check(self, error: mx.MXNetError | None) -> None:
        assert error is not None
        assert content(self.module) == after(self.contexts, 2)
        step(self.module)
        assert content(self.module) == after(self.contexts, 3)
        step(self.other)
        for module in (self.module, self.other):
            self.change(module)
            step(module, 6)
        assert content(self.module) == content(self.other)


class Preparing(Scenario):
    """bind, init_params and init_optimizer, in a store of the user's."""

    def __init__(self, contexts: int) -> None:
        self.contexts, self.module = contexts, unbound(contexts)
        self.store = None if contexts == 1 else mx.kv.create("local")

    def act(self) -> None:
        prepare(self.module, self.store)

    def check(self, error: mx.MXNetError | None) -> None:
        assert error is not None
        self.act()
        step(self.module)
        assert content(self.module) == after(self.contexts, 1)


class Fitting(Scenario):
    """``fit`` with checkpoints, which goes on from the last one."""

    def __init__(self, kind: str) -> None:
        self.kind, self.folder = kind, tempfile.TemporaryDirectory()
        self.prefix, self.made = str(Path(self.folder.name, "net")), 0

    def _count(self, *unused: Any) -> None:
        self.made += 1

    def act(self) -> None:
        train(self.prefix, self.kind, epoch_end=self._count)

    def check(self, error: mx.MXNetError | None) -> None:
        expected = unbroken(self.kind)
        assert (error is None) == (self.made == EPOCHS)  # without a thread, contexts take turns
        assert files(self.prefix) == expected[self.made]
        assert unfinished(Path(self.folder.name)) == []
        train(self.prefix, self.kind, begin=self.made)
        assert files(self.prefix) == expected[-1]


class FittingAgain(Scenario):
    """``fit`` from the beginning, and with the same module once more."""

    def __init__(self, kind: str, engine: str) -> None:
        self.kind, self.engine, self.module = kind, engine, OF_TWO_CONTEXTS[kind]()

    def act(self) -> None:
        with mx.engine.use(self.engine):
            if self.module.optimizer_initialized:
                self.module.init_optimizer(optimizer_params=OPTIMIZER, force_init=True)
            mx.random.seed(3)
            self.module.fit(
                Batches(DATA, LABEL, batch_size=4), num_epoch=2, force_init=True, force_rebind=True,
                optimizer_params=OPTIMIZER, initializer=mx.init.Uniform(0.5),
            )

    def content(self) -> dict[str, bytes]:
        arguments, states = self.module.get_params()
        return {name: array.asnumpy().tobytes() for name, array in (arguments | states).items()}

    def check(self, error: mx.MXNetError | None) -> None:
        if error is None:  # without a thread, contexts take turns
            assert self.content() == fitted(self.kind)
        self.act()
        assert self.content() == fitted(self.kind)


@functools.cache
def fitted(kind: str) -> dict[str, bytes]:
    """What ``fit`` ends with undisturbed."""
    fitting = FittingAgain(kind, "naive")
    fitting.act()
    return fitting.content()


OF_TWO_CONTEXTS: dict[str, Callable[[], Any]] = {
    "Module": lambda: unbound(2),
    "BucketingModule": lambda: mx.mod.BucketingModule(network, default_bucket_key=1, context=[mx.cpu(0), mx.cpu(1)]),
    "SVRGModule": lambda: SVRGModule(network()[0], update_freq=1, context=[mx.cpu(0), mx.cpu(1)]),
}


# --- stores ------------------------------------------------------------------------------------------


class Pushing(Scenario):
    """A key that is pushed by two devices to a store with an optimizer."""

    def __init__(self, store: str, optimizer: str, compressed: bool) -> None:
        self.made_with = store, optimizer, compressed
        mx.random.seed(3)
        self.store = mx.kv.create(store)
        if compressed:
            self.store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
        self.store.init(["w", "b"], [mx.nd.array([1, 2, 3]), mx.nd.ones(2)])
        self.store.set_optimizer(mx.optimizer.create(optimizer, learning_rate=0.5))
        self.act()
        self.before = self.content()

    def act(self) -> None:
        gradients = [mx.nd.array([1, 1, 0.75]), mx.nd.array([2, 2, 0.25], ctx=mx.cpu(1))]
        self.store.push("w", gradients)

    def content(self) -> tuple[list[float], bytes, int]:
        weight, updater = mx.nd.zeros(3), self.store._updater
        self.store.pull("w", out=weight)
        return weight.asnumpy().tolist(), updater.get_states(), updater.optimizer.num_update

    def check(self, error: mx.MXNetError | None) -> None:
        assert error is not None
        assert self.content() == self.before
        other = Pushing(*self.made_with)
        for each in (self, other):
            mx.random.seed(5)
            each.act()
        assert self.content() == other.content() != self.before


class Storing(Scenario):
    """Two keys that get values at once: first ones by ``init``, others by ``replace``."""

    def __init__(self, replaced: bool) -> None:
        self.store, self.replaced = mx.kv.create("local"), replaced
        if replaced:
            self.store.init(["w", "b"], [mx.nd.ones(3), mx.nd.ones(2)])

    def act(self) -> None:
        put = self.store.replace if self.replaced else self.store.init
        put(["w", "b"], [mx.nd.array([1, 2, 3]), mx.nd.array([4, 5])])

    def content(self) -> list[list[float]]:
        arrays = [mx.nd.zeros(3), mx.nd.zeros(2)]
        self.store.pull(["w", "b"], out=arrays)
        return [array.asnumpy().tolist() for array in arrays]

    def check(self, error: mx.MXNetError | None) -> None:
        assert error is not None
        if self.replaced:
            assert self.content() == [[1, 1, 1], [1, 1]]
        self.act()
        assert self.content() == [[1, 2, 3], [4, 5]]


# --- the lanes ---------------------------------------------------------------------------------------


def _rebind(module: mx.mod.Module) -> None:
    module.bind(*LARGER, force_rebind=True)


def _reshape(module: mx.mod.Module) -> None:
    module.reshape(*LARGER)


SCENARIOS: dict[str, tuple[Callable[[], Scenario], tuple[str, ...]]] = {
    f"{name} on {contexts}": (functools.partial(make, contexts), kinds)
    for contexts in (1, 2)
    for name, make, kinds in (
        ("save", Saving, ("memory", *FILES)),
        ("load", Loading, ("memory",)),
        ("load into", LoadingInto, ("memory",)),
        ("bind", functools.partial(Reshaping, change=_rebind), ("memory",)),
        ("reshape", functools.partial(Reshaping, change=_reshape), ("memory",)),
        ("prepare", Preparing, ("memory",)),
    )
} | {
    f"fit with {kind}": (
        functools.partial(Fitting, kind),
        ("memory", *FILES, "thread") if "checkpoint" in kind else ("memory", *FILES),
    )
    for kind in CHECKPOINTS
} | {
    f"fit {kind} again, {engine}": (functools.partial(FittingAgain, kind, engine), ("memory", "thread"))
    for kind, engine in (
        ("Module", "naive"), ("Module", "threaded"), ("BucketingModule", "naive"), ("SVRGModule", "threaded"),
    )
} | {
    f"push to {store}, {optimizer}, {compressed}": (
        functools.partial(Pushing, store, optimizer, compressed == "compressed"), ("memory",)
    )
    for store, optimizer, compressed in (
        ("local", "adam", "whole"), ("device", "sgd", "compressed"), ("local", "sgld", "whole"),
        ("local", "lars", "whole"), ("local", "lbsgd", "whole"),
    )
} | {
    "init": (functools.partial(Storing, False), ("memory",)), "replace": (functools.partial(Storing, True), ("memory",))
}
CASES = [(name, kind) for name, (_, kinds) in SCENARIOS.items() for kind in kinds]


@pytest.mark.clause("Files/atomic", "Files/together", "Module/failed-optimizer", "KVStore/no-memory", "Updater/failed")
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_some_failures_leave_what_was_there(name: str, kind: str) -> None:
    fits = name.startswith("fit")
    stride = {"memory": 120 if fits else 9}.get(kind, 6 if fits else 1)
    assert fail_each(SCENARIOS[name][0], kind, stride) > 0


@pytest.mark.long
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_every_failure_leaves_what_was_there(name: str, kind: str) -> None:
    assert fail_each(SCENARIOS[name][0], kind, 1) > 0


def test_all_that_can_fail_is_made_to() -> None:
    assert {kind for _, kind in CASES} == set(KINDS)
