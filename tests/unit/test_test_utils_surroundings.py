"""mx.test_utils: random generators, what a test runs in, and files."""

from __future__ import annotations

import bz2
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import symbol as sym
from refimpl import test_utils as tu
from refimpl.test_utils.statistics import chi_square_tail


@pytest.fixture(autouse=True)
def _seeded():
    np.random.seed(0)


def refused(kind: type, clause: str, call) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
    return str(caught.value)


# --- generators -------------------------------------------------------------------------------------------


def test_chi_square_check() -> None:
    # MXNet 1.9.1 with scipy 1.10: chi_square_check(generator, buckets, probs, 1000)
    quarters, probs = tu.gen_buckets_probs_with_ppf(lambda q: q, 4)
    assert quarters == [(0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1)]
    uneven = tu.chi_square_check(lambda n: ((np.arange(n) + 0.5) / n) ** 1.1, quarters, probs, 1000)
    assert uneven[0] == pytest.approx(0.07502138675156271, rel=1e-12)
    assert [part.tolist() for part in uneven[1:]] == [[284, 249, 237, 230], [250] * 4]
    discrete = tu.chi_square_check(lambda n: nd.array(np.arange(n) % 3), [0, 1, 2], [0.3, 0.3, 0.4], 1000)
    assert discrete[0] == pytest.approx(8.671213950100412e-05, rel=1e-12)
    assert [part.tolist() for part in discrete[1:]] == [[334, 333, 333], [300, 300, 400]]
    assert tu.chi_square_check(lambda n: np.arange(n) % 3, [0, 1, 2], [1 / 3] * 3, 1000)[0] > 0.99


# scipy 1.10: scipy.stats.chi2.sf(statistic, freedom)
TAILS = [
    (0.5, 1, 0.47950012218695337), (3, 1, 0.08326451666355042), (10, 10, 0.44049328506521257),
    (30, 10, 0.000856641210775301), (150, 100, 0.0009039320423540184), (300, 3, 9.948758346327588e-65),
    (0, 4, 1.0),
]


@pytest.mark.parametrize(("statistic", "freedom", "tail"), TAILS)
def test_chi_square_tail(statistic, freedom, tail) -> None:
    assert chi_square_tail(statistic, freedom) == pytest.approx(tail, rel=1e-12, abs=0)


@pytest.mark.clause("test_utils/generator")
def test_verify_generator() -> None:
    buckets, probs = tu.gen_buckets_probs_with_ppf(lambda q: q, 4)
    p_values = tu.verify_generator(lambda n: np.random.uniform(size=n), buckets, probs, 1000, 3)
    assert len(p_values) == 3
    text = refused(
        AssertionError, "test_utils/generator",
        lambda: tu.verify_generator(lambda n: np.random.uniform(size=n) ** 2, buckets, probs, 1000, 3),
    )
    assert "the generator fails: p of chi-square is [" in text


@pytest.mark.clause("test_utils/buckets")
def test_buckets() -> None:
    even = np.linspace
    for kind, buckets, probs in (
        (AssertionError, [(0, 1)], [0.5, 0.5]), (AssertionError, "ab", [0.5, 0.5]),
        (ValueError, [(0, 0.5), (0.5, 2)], [0.5, 0.4]), (ValueError, [(0, 0.5), (0.5, 0.7)], [0.5, 0.5]),
    ):
        refused(
            kind, "test_utils/buckets",
            lambda buckets=buckets, probs=probs: tu.chi_square_check(lambda n: even(0, 1, n), buckets, probs, 100),
        )


# MXNet 1.9.1: mean_check of 100 samples of m against 0 and 0.1; var_check of 100 samples of +-s against 1
@pytest.mark.parametrize(("mean", "mean_ok"), [(0.02, True), (0.029, True), (0.04, False), (-0.04, False)])
@pytest.mark.parametrize(("spread", "var_ok"), [(0.7, False), (0.9, True), (1.17, True), (1.2, False)])
def test_moments(mean, mean_ok, spread, var_ok) -> None:
    assert tu.mean_check(lambda n: np.full(n, mean), 0, 0.1, 100) is mean_ok
    assert tu.var_check(lambda n: spread * np.r_[np.ones(n // 2), -np.ones(n // 2)], 1, 100) is var_ok


# --- surroundings -----------------------------------------------------------------------------------------


def test_default_context() -> None:
    seen = []

    def elsewhere() -> None:
        tu.set_default_context(mx.cpu(4))
        seen.append(nd.zeros(1).context)
        with mx.cpu(5):
            tu.set_default_context(mx.cpu(6))
            seen.append(tu.default_context())
        seen.append(tu.default_context())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [mx.cpu(4), mx.cpu(6), mx.cpu(4)]
    assert tu.default_context() == tu.current_context() == mx.cpu(0)


def test_environment(monkeypatch) -> None:
    monkeypatch.setenv("REFIMPL_ONE", "0")
    monkeypatch.delenv("REFIMPL_TWO", raising=False)
    with pytest.raises(KeyError), tu.environment({"REFIMPL_ONE": None, "REFIMPL_TWO": "2"}):
        assert (os.environ.get("REFIMPL_ONE"), os.environ["REFIMPL_TWO"]) == (None, "2")
        raise KeyError
    assert (os.environ["REFIMPL_ONE"], os.environ.get("REFIMPL_TWO")) == ("0", None)
    with pytest.raises(TypeError), tu.environment({"REFIMPL_ONE": "1", "REFIMPL_TWO": 2}):
        pass
    assert os.environ["REFIMPL_ONE"] == "0"


def test_discard_stderr() -> None:
    code = (
        "import os, sys; from refimpl import test_utils\n"
        "with test_utils.discard_stderr():\n"
        "    os.write(2, b'native'); print('python', file=sys.stderr)\n"
        "print('after', file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert (done.stdout, done.stderr) == ("", "after\n")


def test_retry() -> None:
    tries = []

    @tu.retry(3)
    def flaky(error, good: int) -> str:
        tries.append(good)
        if len(tries) < good:
            raise error
        return "done"

    assert flaky(AssertionError, 3) == "done"
    with pytest.raises(AssertionError):
        flaky(AssertionError, 9)
    assert len(tries) == 6
    with pytest.raises(ValueError, match=r"^$"):
        flaky(ValueError, 9)
    assert len(tries) == 7


def test_assert_exception() -> None:
    tu.assert_exception(int, ValueError, "a", base=10)
    with pytest.raises(ValueError, match="invalid literal"):
        tu.assert_exception(int, KeyError, "a")


def test_platform(monkeypatch) -> None:
    monkeypatch.setenv("CD_JOB", "1")
    assert tu.is_cd_run()
    monkeypatch.delenv("CD_JOB")
    assert not tu.is_cd_run()
    assert (tu.has_tvm_ops(), tu.is_op_runnable()) == (False, True)
    assert tu.list_gpus() == list(range(mx.num_gpus()))


# --- files --------------------------------------------------------------------------------------------------


@pytest.mark.clause("test_utils/download")
def test_download(tmp_path) -> None:
    source = tmp_path / "a b.txt"
    source.write_text("first")
    target = tu.download(source.as_uri(), dirname=str(tmp_path / "new" / "folder"))
    assert Path(target) == tmp_path / "new" / "folder" / "a b.txt"
    source.write_text("second")
    assert Path(tu.download(source.as_uri(), target)).read_text() == "first"
    assert Path(tu.download(source.as_uri(), target, overwrite=True)).read_text() == "second"
    for kind, url, options in (
        (OSError, "foo", {}), (OSError, "ssh://host/file", {}), (OSError, "file:///", {}),
        (OSError, (tmp_path / "absent").as_uri(), {"retries": 2}), (AssertionError, source.as_uri(), {"retries": 0}),
    ):
        refused(
            kind, "test_utils/download",
            lambda url=url, options=options: tu.download(url, dirname=str(tmp_path / "other"), **options),
        )
    assert not (tmp_path / "other").exists()


def test_packed_data(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "source.zip", "w") as packed:
        packed.writestr("inside.txt", "unpacked")
    (tmp_path / "source.bz2").write_bytes(bz2.compress(b"unpacked"))
    folder = tmp_path / "data"
    tu.get_zip_data(str(folder), (tmp_path / "source.zip").as_uri(), "data.zip")
    tu.get_bz2_data(str(folder), "plain.txt", (tmp_path / "source.bz2").as_uri(), "data.bz2")
    assert (folder / "inside.txt").read_text() == (folder / "plain.txt").read_text() == "unpacked"
    assert not (folder / "data.bz2").exists()


def test_download_model(tmp_path) -> None:
    sym.FullyConnected(sym.Variable("x"), num_hidden=3, name="fc").save(str(tmp_path / "symbol.json"))
    nd.save(str(tmp_path / "weights.params"), {"arg:fc_bias": nd.zeros(3)})
    addresses = {"symbol": (tmp_path / "symbol.json").as_uri(), "params": (tmp_path / "weights.params").as_uri()}
    prefix, epoch = tu.download_model("net", str(tmp_path / "zoo"), {"net": addresses})
    symbol, arguments, _ = mx.model.load_checkpoint(prefix, epoch)
    assert (symbol.list_outputs(), list(arguments)) == (["fc_output"], ["fc_bias"])
    assert tu.download_model("other", meta_info={}) == (None, 0)


@pytest.mark.clause("test_utils/data-sets")
def test_mnist_files(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for call in (
        tu.get_mnist, tu.get_mnist_ubyte, tu.get_mnist_pkl, tu.get_cifar10,
        lambda: tu.get_mnist_iterator(2, (784,)), lambda: tu.download_model("imagenet1k-resnet-50"),
    ):
        refused(OSError, "test_utils/data-sets", call)
    digits, labels = mx.data.DIGIT_IMAGES.read_bytes(), mx.data.DIGIT_LABELS.read_bytes()
    Path("data").mkdir()
    for part in ("train", "t10k"):
        for ending in ("", ".gz"):
            folder = Path("" if ending else "data")
            (folder / f"{part}-images-idx3-ubyte{ending}").write_bytes(digits)
            (folder / f"{part}-labels-idx1-ubyte{ending}").write_bytes(labels)
    found = tu.get_mnist()
    assert found["train_data"].shape == (1797, 1, 8, 8)
    assert (found["train_data"].dtype, found["test_label"].dtype) == (np.float32, np.int8)
    train, test = tu.get_mnist_iterator(100, (1, 8, 8))
    assert train.next().data[0].shape == test.next().data[0].shape == (100, 1, 8, 8)
    assert tu.get_mnist_iterator(100, (64,))[0].next().data[0].shape == (100, 64)




@pytest.mark.clause("test_utils/im2rec")
def test_im2rec(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    refused(OSError, "test_utils/im2rec", tu.get_im2rec_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "im2rec.py").touch()
    assert tu.get_im2rec_path() == str(tmp_path / "tools" / "im2rec.py")
