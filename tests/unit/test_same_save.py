"""States of one save and parameters of another: refused by name, or allowed by an argument."""

from __future__ import annotations

import hashlib
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

import refimpl as mx
from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule
from refimpl.files.atomic import together, write_atomically
from refimpl.optimizer import states

FIXTURES = Path(__file__).parents[1] / "fixtures"
DATA, LABEL = [("data", (4, 3))], [("softmax_label", (4,))]
OPTIMIZER = {"learning_rate": 0.5, "momentum": 0.5}


def network(_: Any = None) -> tuple[mx.sym.Symbol, list[str], list[str]]:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    return mx.sym.SoftmaxOutput(net, name="softmax"), ["data"], ["softmax_label"]


KINDS = {
    "module": (lambda **more: mx.mod.Module(network()[0], **more), mx.mod.Module.load, {}),
    "two contexts": (
        lambda **more: mx.mod.Module(network()[0], context=[mx.cpu(0), mx.cpu(1)], **more), mx.mod.Module.load,
        {"context": [mx.cpu(0), mx.cpu(1)]},
    ),
    "buckets": (
        lambda **more: mx.mod.BucketingModule(network, default_bucket_key=1, **more), mx.mod.BucketingModule.load,
        {"sym_gen": network, "default_bucket_key": 1},
    ),
    "SVRG": (
        lambda **more: SVRGModule(network()[0], update_freq=2, **more), SVRGModule.load, {"update_freq": 2},
    ),
}


def begin(module: Any) -> Any:
    module.bind(DATA, LABEL)
    if not module.params_initialized:
        module.init_params(mx.init.Uniform(0.5))
    module.init_optimizer(optimizer_params=OPTIMIZER)
    return module


def step(module: Any) -> None:
    batch = mx.io.DataBatch(
        [mx.nd.ones((4, 3))], [mx.nd.array([0, 1, 1, 1])], bucket_key=1, provide_data=DATA, provide_label=LABEL
    )
    kind = mx.mod.Module if isinstance(module, SVRGModule) else type(module)  # a step without its snapshot
    kind.forward(module, batch, is_train=True)
    kind.backward(module)
    module.update()


def two_saves(kind: str, folder: Path) -> str:
    """Two checkpoints of one training, 1 and 2."""
    prefix, module = str(folder / "net"), begin(KINDS[kind][0]())
    for epoch in (1, 2):
        step(module)
        module.save_checkpoint(prefix, epoch, save_optimizer_states=True)
    return prefix


@pytest.mark.clause("States/same-save")
@pytest.mark.parametrize("kind", KINDS)
def test_states_of_another_save_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    prefix = two_saves(kind, tmp_path)
    _, load, more = KINDS[kind]
    begin(load(prefix, 2, load_optimizer_states=True, **more))
    shutil.copy(f"{prefix}-0001.states", f"{prefix}-0002.states")  # as after a kill between the two names
    module = load(prefix, 2, load_optimizer_states=True, **more)
    for _ in range(2):  # the module is as it was
        with pytest.raises(mx.MXNetError) as caught:
            begin(module)
        assert caught.value.clause == "States/same-save"
        told = str(caught.value)
        assert all(part in told for part in ("net-0002.states", "net-0002.params", "allow_other_params=True"))
        for epoch in (1, 2):
            assert hashlib.sha256(Path(f"{prefix}-000{epoch}.params").read_bytes()).hexdigest()[:12] in told
    module = begin(load(prefix, 2, load_optimizer_states=True, allow_other_params=True, **more))
    step(module)
    begin(load(prefix, 2, **more))  # without the states nothing is compared


@pytest.mark.clause("States/same-save")
@pytest.mark.parametrize("kind", KINDS)
def test_states_read_by_hand_are_compared_with_the_params_beside_them(kind: str, tmp_path: Path) -> None:
    prefix = two_saves(kind, tmp_path)
    module = begin(KINDS[kind][0]())
    module.load_optimizer_states(f"{prefix}-0001.states")
    shutil.copy(f"{prefix}-0002.params", f"{prefix}-0001.params")
    with pytest.raises(mx.MXNetError, match=r"net-0001\.states was saved with.*net-0001\.params") as caught:
        module.load_optimizer_states(f"{prefix}-0001.states")
    assert caught.value.clause == "States/same-save"
    module.load_optimizer_states(f"{prefix}-0001.states", allow_other_params=True)
    Path(f"{prefix}-0001.params").unlink()
    module.load_optimizer_states(f"{prefix}-0001.states")
    shutil.copy(f"{prefix}-0001.states", f"{prefix}-momentum")
    Path(f"{prefix}-momentum.params").write_bytes(b"")
    module.load_optimizer_states(f"{prefix}-momentum")  # that name says nothing of params


@pytest.mark.clause("States/same-save")
def test_params_replaced_after_they_were_read(tmp_path: Path) -> None:
    """A training saves again between Module.load and init_optimizer: what was read belongs to the old states."""
    prefix = two_saves("module", tmp_path)
    module = mx.mod.Module.load(prefix, 1, load_optimizer_states=True)
    for ending in ("params", "states"):
        shutil.copy(f"{prefix}-0002.{ending}", f"{prefix}-0001.{ending}")
    with pytest.raises(mx.MXNetError) as caught:
        begin(module)
    assert caught.value.clause == "States/same-save"


@pytest.mark.clause("States/same-save")
def test_files_without_a_mark_load_beside_any_params(tmp_path: Path) -> None:
    prefix = two_saves("module", tmp_path)
    module = begin(mx.mod.Module.load(prefix, 2))
    step(module)
    module.save_optimizer_states(f"{prefix}-0002.states")  # alone: nothing says which params are meant
    assert states.saved_with(Path(f"{prefix}-0002.states").read_bytes()) is None
    begin(mx.mod.Module.load(prefix, 2, load_optimizer_states=True))
    for name in ("mxnet-0003.states", "mxnet-sparse.states"):
        assert states.saved_with((FIXTURES / name).read_bytes()) is None


@pytest.mark.clause("States/mark")
@pytest.mark.parametrize("kind", KINDS)
def test_the_states_of_a_checkpoint_name_its_params(kind: str, tmp_path: Path) -> None:
    prefix = two_saves(kind, tmp_path)
    for epoch in (1, 2):
        content = Path(f"{prefix}-000{epoch}.states").read_bytes()
        digest = hashlib.sha256(Path(f"{prefix}-000{epoch}.params").read_bytes()).hexdigest()
        # protocol 4, a text of 102 bytes put on the stack, and dropped
        head = b"\x80\x04X\x66\x00\x00\x00saved with the params file of SHA-256 " + digest.encode() + b"0"
        assert content.startswith(head)
        assert states.saved_with(content) == digest
        found, _ = states.loads(content)
        assert sorted(found) == sorted(states.loads(content[:2] + content[len(head):])[0])


@pytest.mark.clause("States/mark")
def test_other_readers_of_pickles_pass_over_the_mark() -> None:
    """MXNet 1.9.1 under Python 3.8 reads it too: Module.load("net", 3, load_optimizer_states=True), init_optimizer and
    load_optimizer_states of a Module and of a KVStore, on such a file made of mxnet-0003.states, gave its states."""
    assert pickle.loads(states.marked(pickle.dumps({0: (1, 2.5)}, 4), "a" * 64)) == {0: (1, 2.5)}


@pytest.mark.clause("States/mark")
@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_an_updater_may_write_its_states_as_any_pickle(protocol: int, tmp_path: Path) -> None:
    with together():
        write_atomically(tmp_path / "x.params", b"new")
        states.save(tmp_path / "x.states", pickle.dumps({0: 2.5}, protocol))
    content = (tmp_path / "x.states").read_bytes()
    assert pickle.loads(content) == states.loads(content)[0] == {0: 2.5}
    # printf new | sha256sum; protocols 0 and 1 have no place for a mark
    digest = "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"
    assert states.saved_with(content) == (None if protocol < 2 else digest)


@pytest.mark.clause("States/mark")
@pytest.mark.parametrize("text", [b"a" * 63 + b"A", b"g" * 64, b"a" * 63])
def test_what_is_no_mark_is_not_taken_for_one(text: bytes) -> None:
    content = states.marked(states.dumps({0: None}), "a" * 64).replace(b"a" * 64, text)
    assert states.saved_with(content) is None


class OwnStore(mx.kv.KVStoreBase):
    """A store of a user's own that updates weights and has files of its own."""

    type, rank, num_workers = "own", 0, 1
    loaded: list[str]

    def __init__(self) -> None:
        self.loaded = []

    def broadcast(self, key, value, out, priority=0) -> None:
        for target in out:
            value.copyto(target)

    def pushpull(self, key, value, out=None, priority=0) -> None:
        pass

    def set_optimizer(self, optimizer) -> None:
        pass

    @staticmethod
    def is_capable(capability) -> bool:
        return True

    def save_optimizer_states(self, fname, dump_optimizer=False) -> None:
        Path(fname).write_text("own")

    def load_optimizer_states(self, fname) -> None:
        self.loaded.append(Path(fname).read_text())


@pytest.mark.clause("States/same-save")
def test_a_store_of_ones_own_reads_and_writes_its_files(tmp_path: Path) -> None:
    prefix = str(tmp_path / "net")
    module = mx.mod.Module(network()[0])
    module.bind(DATA, LABEL)
    module.init_params()
    module.init_optimizer(kvstore=OwnStore())
    module.save_checkpoint(prefix, 1, save_optimizer_states=True)
    again = mx.mod.Module.load(prefix, 1, load_optimizer_states=True)
    again.bind(DATA, LABEL)
    store = OwnStore()
    again.init_optimizer(kvstore=store)
    again.load_optimizer_states(f"{prefix}-0001.states")
    assert store.loaded == ["own", "own"]
