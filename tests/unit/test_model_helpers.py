"""Checkpoints, whole files, and who updates the weights."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

import pytest

import refimpl as mx
from refimpl import model
from refimpl import ndarray as nd
from refimpl.files.atomic import write_atomically


def network():
    return mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")


# --- checkpoints ---------------------------------------------------------------------------------


@pytest.mark.clause("Checkpoint/files")
@pytest.mark.parametrize(("epoch", "number"), [(7, "0007"), (12345, "12345")])
def test_round_trip(tmp_path: Path, caplog, epoch, number) -> None:
    caplog.set_level(logging.INFO)
    prefix = str(tmp_path / "net")
    arguments = {"fc_weight": nd.array([[1, 2], [3, 4]]), "fc_bias": nd.array([5, 6], dtype="float64")}
    model.save_checkpoint(prefix, epoch, network(), arguments, {"mean": nd.ones(1)})
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"net-{number}.params", "net-symbol.json"]
    assert caplog.messages == [f'Saved checkpoint to "{prefix}-{number}.params"']
    assert list(nd.load(f"{prefix}-{number}.params")) == ["arg:fc_weight", "arg:fc_bias", "aux:mean"]
    symbol, args, aux = model.load_checkpoint(prefix, epoch)
    assert symbol.tojson() == network().tojson()
    assert {n: (v.dtype, v.asnumpy().tolist()) for n, v in args.items()} == {
        n: (v.dtype, v.asnumpy().tolist()) for n, v in arguments.items()
    }
    assert aux["mean"].asnumpy().tolist() == [1]


@pytest.mark.clause("Checkpoint/files")
def test_without_symbol(tmp_path: Path) -> None:
    model.save_checkpoint(str(tmp_path / "net"), 1, None, {}, {"b": nd.ones(1)})
    assert [p.name for p in tmp_path.iterdir()] == ["net-0001.params"]
    assert list(model.load_params(str(tmp_path / "net"), 1)[1]) == ["b"]


@pytest.mark.clause("Checkpoint/names")
def test_names_in_a_parameter_file(tmp_path: Path, caplog) -> None:
    prefix = str(tmp_path / "p")
    nd.save(f"{prefix}-0001.params", {"arg:a:b": nd.ones(1), "foo:c": nd.ones(1)})
    assert [list(part) for part in model.load_params(prefix, 1)] == [["a:b"], []]
    nd.save(f"{prefix}-0002.params", {})
    assert model.load_params(prefix, 2) == ({}, {})
    assert "is empty" in caplog.text
    for number, content in ((3, {"noprefix": nd.ones(1)}), (4, [nd.ones(1)])):
        nd.save(f"{prefix}-{number:04d}.params", content)
        with pytest.raises(ValueError, match=f"{number:04d}") as caught:
            model.load_params(prefix, number)
        assert caught.value.clause == "Checkpoint/names"


@pytest.mark.clause("Files/writable")
def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError, match="nowhere"):
        model.save_checkpoint(str(tmp_path / "nowhere" / "net"), 1, network(), {}, {})
    with pytest.raises(mx.MXNetError):
        model.load_checkpoint(str(tmp_path / "net"), 1)


# --- whole files ---------------------------------------------------------------------------------


@pytest.mark.clause("Files/atomic")
def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "x"
    write_atomically(file, b"old")
    for function in ("fsync", "replace"):
        def fail(*_, **__):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(os, function, fail)
            if function == "replace":
                patched.setattr(Path, "replace", fail)
            with pytest.raises(mx.MXNetError, match="No space left") as caught:
                write_atomically(file, b"new")
        assert caught.value.clause == "Files/writable"
        assert file.read_bytes() == b"old"
        assert [p.name for p in tmp_path.iterdir()] == ["x"]


@pytest.mark.clause("Files/atomic")
def test_an_interrupt_leaves_the_old_file(tmp_path: Path, monkeypatch) -> None:
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "x", b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("Files/atomic")
@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_permissions_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "x", tmp_path / "link"
    write_atomically(file, b"1")
    (tmp_path / "plain").write_bytes(b"")
    assert file.stat().st_mode == (tmp_path / "plain").stat().st_mode
    file.chmod(0o640)
    link.symlink_to(file)
    write_atomically(str(link), b"2")
    assert link.is_symlink()
    assert file.read_bytes() == b"2"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    write_atomically(os.devnull, b"3")
    assert not Path(os.devnull).is_file()


@pytest.mark.clause("Files/writable")
def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError, match="it is a folder"):
        write_atomically(tmp_path, b"")


# --- who updates the weights ---------------------------------------------------------------------


class Sized:
    """Stands for an array of any size."""

    def __init__(self, size: int) -> None:
        self.shape = (size,)


@pytest.mark.clause("KVStore/decision")
@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [("local", 2**24, True), ("local", 2**24 + 1, False), ("device", 2**24 + 1, True),
     ("local ", 2**24 + 1, True), ("teststore", 1, False)],
)
def test_size_limit(name, size, expected) -> None:
    store, on_store = model._create_kvstore(name, 2, {"w": Sized(1), "v": Sized(size)})
    assert store.type == name
    assert on_store is expected


@pytest.mark.clause("KVStore/decision")
@pytest.mark.parametrize(("text", "expected"), [("0", False), ("1", True), ("2", True)])
def test_environment(monkeypatch, text, expected) -> None:
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", text)
    for kvstore in ("device", mx.kv.create()):
        assert model._create_kvstore(kvstore, 2, {})[1] is expected


@pytest.mark.clause("KVStore/environment")
def test_bad_environment(monkeypatch) -> None:
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "yes")
    with pytest.raises(ValueError, match="yes") as caught:
        model._create_kvstore("local", 2, {})
    assert caught.value.clause == "KVStore/environment"


@pytest.mark.clause("KVStore/argument-type")
def test_bad_store() -> None:
    with pytest.raises(TypeError) as caught:
        model._create_kvstore(3, 2, {})
    assert caught.value.clause == "KVStore/argument-type"
    with pytest.raises(mx.MXNetError):
        model._create_kvstore("dist_sync", 1, {})


class Recorder:
    """A store or updater that writes down its calls."""

    def __init__(self) -> None:
        self.calls: list = []

    def __getattr__(self, name):
        return lambda *args, **kwargs: self.calls.append((name, args, kwargs))


WEIGHTS, GRADS = [["w0", "w1"], ["f0", "f1"], ["v0", "v1"]], [["g0", "g1"], [None, None], ["h0", "h1"]]
NAMES = ["w", "fixed", "v"]


@pytest.mark.clause("KVStore/update-on-store")
def test_calls_of_a_store_that_updates() -> None:
    # the calls MXNet 1.9.1 makes on such a store
    store = Recorder()
    model._initialize_kvstore(store, WEIGHTS, {"w": 1, "fixed": 2, "v": 3}, NAMES, True)
    model._update_params_on_kvstore(WEIGHTS, GRADS, store, NAMES)
    assert store.calls == [
        ("broadcast", ("w", 1), {"out": ["w0", "w1"]}), ("broadcast", ("fixed", 2), {"out": ["f0", "f1"]}),
        ("broadcast", ("v", 3), {"out": ["v0", "v1"]}),
        ("pushpull", ("w", ["g0", "g1"]), {"out": ["w0", "w1"], "priority": 0}),
        ("pushpull", ("v", ["h0", "h1"]), {"out": ["v0", "v1"], "priority": -2}),
    ]


@pytest.mark.clause("KVStore/update-on-devices")
@pytest.mark.parametrize("with_store", [True, False])
def test_calls_of_an_updater(with_store) -> None:
    store, updates = Recorder(), []
    if with_store:
        model._initialize_kvstore(store, WEIGHTS, {"w": 1, "fixed": 2, "v": 3}, NAMES, False)
    model._update_params(
        WEIGHTS, GRADS, lambda *args: updates.append(args), 2, store if with_store else None, NAMES
    )
    assert updates == [((0, 4), ("g0", "h0"), ("w0", "v0")), ((1, 5), ("g1", "h1"), ("w1", "v1"))]
    assert store.calls == [] if not with_store else [
        ("init", ("w", 1), {}), ("init", ("fixed", 2), {}), ("init", ("v", 3), {}),
        ("pushpull", ("w", ["g0", "g1"]), {"priority": 0}),
        ("pushpull", ("v", ["h0", "h1"]), {"priority": -2}),
    ]


@pytest.mark.clause("KVStore/update-on-devices")
@pytest.mark.clause("KVStore/update-on-store")
def test_both_ways_give_the_same_weights() -> None:
    def train(on_store: bool) -> list:
        store = mx.kv.create("device")
        start, names = {"w": nd.array([1.0, 2.0]), "v": nd.array([4.0])}, ["w", "v"]
        weights = [[start[n].copyto(mx.cpu(i)) for i in range(2)] for n in names]
        optimizer = mx.optimizer.SGD(learning_rate=0.5, momentum=0.5)
        updater = mx.optimizer.get_updater(optimizer)
        if on_store:
            store.set_optimizer(optimizer)
        model._initialize_kvstore(store, weights, start, names, on_store)
        for step in range(3):
            grads = [[w * (step + 1) for w in pair] for pair in weights]
            if on_store:
                model._update_params_on_kvstore(weights, grads, store, names)
            else:
                model._update_params(weights, grads, updater, 2, store, names)
        return [w.asnumpy().tolist() for pair in weights for w in pair]

    assert train(True) == train(False)


@pytest.mark.clause("KVStore/update-names")
def test_summing_needs_names() -> None:
    with pytest.raises(TypeError) as caught:
        model._update_params(WEIGHTS, GRADS, print, 2, Recorder())
    assert caught.value.clause == "KVStore/update-names"


def test_parameters_of_a_batch_end_callback() -> None:
    assert model.BatchEndParam._fields == ("epoch", "nbatch", "eval_metric", "locals")
