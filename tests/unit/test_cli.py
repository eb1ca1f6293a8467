"""The command line: what it writes and says, and every way in which it says no."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli

QUICK = ["train", "--network", "mlp", "--num-epochs", "1", "--devices", "1", "--batch-size", "100"]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def names() -> set[str]:
    return {file.name for file in Path.cwd().iterdir()}


def idx(values: np.ndarray) -> bytes:
    header = struct.pack(f">{values.ndim + 1}I", 0x800 + values.ndim, *values.shape)
    return header + values.astype(np.uint8).tobytes()


def write_mnist(folder: Path, side: int = 8, trained: int = 40, held: int = 20) -> None:
    """Pictures of bars: class k lights row k modulo the side."""
    folder.mkdir(exist_ok=True)
    for part, count in (("train", trained), ("t10k", held)):
        labels = np.arange(count) % 4
        images = np.zeros((count, side, side))
        images[np.arange(count), labels] = 255
        (folder / f"{part}-images-idx3-ubyte").write_bytes(idx(images))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx(labels))


# --- what works -----------------------------------------------------------------------------------


def test_train_score_resume_plot(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*QUICK, "--num-epochs", "3", "--save-period", "2", "--disp-batches", "5"]) == 0
    out = capsys.readouterr().out
    for piece in (
        "1437 images to train, 360 held out", "Epoch[0] Train-accuracy=", "Epoch[2] Time cost=",
        "Epoch[2] Validation-accuracy=", "samples/sec", "held-out accuracy 0.",
        "wrote mlp-digits-symbol.json and mlp-digits-0003.params", "next: refimpl score mlp-digits 3",
    ):
        assert piece in out
    assert names() == {"mlp-digits-symbol.json", "mlp-digits-0002.params", "mlp-digits-0003.params"}
    said = next(line for line in out.splitlines() if line.startswith("held-out accuracy"))
    assert cli.run(["score", "mlp-digits", "3"]) == 0
    assert said in capsys.readouterr().out
    assert cli.run([*QUICK, "--num-epochs", "4", "--load-epoch", "3"]) == 0
    out = capsys.readouterr().out
    assert "Epoch[3]" in out
    assert "Epoch[2]" not in out
    assert cli.run(["plot", "mlp-digits", "--shape", "1,1,8,8", "-o", "net.svg"]) == 0
    out = capsys.readouterr().out
    assert "fc1(FullyConnected)" in out or "wrote net.svg" in out


def test_the_same_seed_gives_the_same_file() -> None:
    assert cli.run([*QUICK, "--model-prefix", "a", "--seed", "5"]) == 0
    assert cli.run([*QUICK, "--model-prefix", "b", "--seed", "5"]) == 0
    assert cli.run([*QUICK, "--model-prefix", "c", "--seed", "6"]) == 0
    a, b, c = (Path(f"{name}-0001.params").read_bytes() for name in "abc")
    assert a == b
    assert a != c


@pytest.mark.clause("Cli/input-types")
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_dtype(dtype: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*QUICK, "--dtype", dtype]) == 0
    saved = mx.nd.load("mlp-digits-0001.params")
    assert {np.dtype(array.dtype).name for array in saved.values()} == {dtype}
    assert cli.run(["score", "mlp-digits", "1"]) == 0
    capsys.readouterr()
    assert cli.run(["predict", "mlp-digits", "1", "--shape", "data=2,1,8,8", "--output", "fc1"]) == 0
    assert capsys.readouterr().out.startswith(f"fc1_output: {dtype} (2, 128), from")


def test_mnist_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_mnist(tmp_path / "bars")
    flags = ["--batch-size", "8", "--num-epochs", "8", "--model-prefix", "bars"]
    assert cli.run([*QUICK, "--data", str(tmp_path / "bars"), *flags]) == 0
    assert "held-out accuracy 1.0000 (20 of 20)" in capsys.readouterr().out


@pytest.mark.clause("Cli/epochs-left")
def test_epochs_are_counted_from_the_loaded_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_mnist(tmp_path / "bars", side=4)
    words = [*QUICK, "--data", str(tmp_path / "bars"), "--batch-size", "20"]
    for resumed, counted in (["--num-epochs", "2"], "01"), (["--num-epochs", "3", "--load-epoch", "2"], "2"):
        assert cli.run([*words, *resumed]) == 0
        out = capsys.readouterr().out
        found = {piece.split("]")[0] for piece in out.split("Epoch[")[1:]}
        assert sorted(found) == list(counted)


@pytest.mark.clause("Cli/held-out-once")
def test_every_held_out_image_counts_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_mnist(tmp_path / "bars", held=23)  # a prime: some batch must be padded
    assert cli.run([*QUICK, "--data", str(tmp_path / "bars"), "--batch-size", "8", "--devices", "2"]) == 0
    assert "of 23)" in capsys.readouterr().out


def test_lr_steps_and_other_optimizers(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*QUICK, "--num-epochs", "3", "--lr-step-epochs", "1,2"]) == 0
    assert "learning rate is now 5.0" in capsys.readouterr().out


def test_ops_lists_and_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["ops"]) == 0
    listed = capsys.readouterr().out
    assert "Convolution" in listed
    assert "refimpl ops NAME" in listed
    assert cli.run(["ops", "FullyConnected"]) == 0
    page = capsys.readouterr().out
    for piece in ("[FullyConnected/flatten]", ">>> run(", "num_hidden", "int >= 1", "required"):
        assert piece in page


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == 0
    out = capsys.readouterr().out
    assert all(command in out for command in ("train", "score", "ops", "plot"))


# --- what is refused ------------------------------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line that a refused command prints; it wrote no file."""
    before = names()
    assert cli.run(list(words)) == 2
    streams = capsys.readouterr()
    assert streams.err.count("\n") == 1
    assert streams.err.startswith("refimpl: ")
    assert names() == before
    return streams.err


@pytest.mark.parametrize(
    "words",
    [
        ("trian",), ("train", "--netwrok", "mlp"), ("train", "--network", "vgg"), ("train", "--lr", "fast"),
        ("train", "--batch-size", "0"), ("train", "--devices", "0"), ("train", "--dtype", "int8"),
        ("train", "--kv-store", "dist_sync"), ("score", "lenet"), ("score", "lenet", "last"), ("plot",),
    ],
    ids=" ".join,
)
def test_usage_errors(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    assert "refimpl --help" in refused(capsys, *words)


@pytest.mark.clause(
    "Cli/batch-covers-devices", "Cli/batch-within-data", "Cli/gpus", "Cli/lr-step-epochs", "Cli/optimizer",
    "Cli/data-exists", "Cli/folder-exists", "Cli/checkpoint-exists", "Cli/epochs-left", "Cli/known-operator",
    "Cli/picture-format", "Cli/shape",
)
@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("Cli/batch-covers-devices", ("train", "--batch-size", "1")),
        ("Cli/batch-within-data", ("train", "--batch-size", "1438")),
        ("Cli/gpus", ("train", "--gpus", "one")),
        ("Cli/gpus", ("train", "--gpus", "99")),
        ("Cli/lr-step-epochs", ("train", "--lr-step-epochs", "5,x")),
        ("Cli/lr-step-epochs", ("train", "--lr-step-epochs", "8,5")),
        ("Cli/optimizer", ("train", "--optimizer", "sdg")),
        ("Cli/data-exists", ("train", "--data", "nowhere")),
        ("Cli/data-exists", ("train", "--data", ".")),
        ("Cli/folder-exists", ("train", "--model-prefix", "none/here")),
        ("Cli/folder-exists", ("plot", "net-symbol.json", "-o", "none/net.svg")),
        ("Cli/checkpoint-exists", ("train", "--load-epoch", "3")),
        ("Cli/checkpoint-exists", ("score", "lenet", "3")),
        ("Cli/checkpoint-exists", ("plot", "lenet")),
        ("Cli/epochs-left", ("train", "--load-epoch", "10")),
        ("Cli/known-operator", ("ops", "Convoluton")),
        ("Cli/picture-format", ("plot", "net-symbol.json", "-o", "net")),
        ("Cli/shape", ("plot", "net-symbol.json", "--shape", "one")),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], clause: str, words: tuple[str, ...]) -> None:
    mx.sym.Flatten(mx.sym.Variable("data")).save("net-symbol.json")
    assert clause in refused(capsys, *words)


def test_a_misspelled_operator_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean Convolution" in refused(capsys, "ops", "Convoluton")


@pytest.mark.clause("Cli/data-readable")
@pytest.mark.parametrize("name", ["train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"])
@pytest.mark.parametrize("keep", [0, 3, 10, -1])
def test_a_truncated_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, keep: int
) -> None:
    write_mnist(tmp_path / "bars")
    file = tmp_path / "bars" / name
    file.write_bytes(file.read_bytes()[:keep])
    line = refused(capsys, "train", "--data", str(tmp_path / "bars"))
    assert "Cli/data-readable" in line
    assert name in line


@pytest.mark.clause("Cli/data-pairs")
def test_files_that_do_not_belong_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_mnist(tmp_path / "bars")
    labels = tmp_path / "bars" / "train-labels-idx1-ubyte"
    labels.write_bytes(idx(np.zeros(39)))
    assert "40 train images but 39 labels" in refused(capsys, "train", "--data", str(tmp_path / "bars"))
    write_mnist(tmp_path / "bars")
    write_mnist(tmp_path / "other", side=9)
    (tmp_path / "other" / "t10k-images-idx3-ubyte").replace(tmp_path / "bars" / "t10k-images-idx3-ubyte")
    assert "Cli/data-pairs" in refused(capsys, "train", "--data", str(tmp_path / "bars"))


@pytest.mark.clause("Cli/same-network")
def test_resuming_another_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*QUICK, "--model-prefix", "net"]) == 0
    capsys.readouterr()
    line = refused(
        capsys, "train", "--network", "lenet", "--model-prefix", "net", "--load-epoch", "1"
    )
    assert "Cli/same-network" in line


@pytest.mark.clause("Cli/fits-data")
def test_scoring_on_other_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(QUICK) == 0
    capsys.readouterr()
    write_mnist(tmp_path / "big", side=9)
    line = refused(capsys, "score", "mlp-digits", "1", "--data", str(tmp_path / "big"))
    assert "Cli/fits-data" in line


@pytest.mark.clause("Cli/interrupted", "Cli/whole-checkpoint")
def test_an_interrupted_save_leaves_the_old_checkpoint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(QUICK) == 0
    before = {name: Path(name).read_bytes() for name in names()}

    def interrupted(self: mx.mod.Module, prefix: str, *unused: object) -> None:
        Path(f"{prefix}-symbol.json").write_text("half of a fi")
        raise KeyboardInterrupt

    monkeypatch.setattr(mx.mod.Module, "save_checkpoint", interrupted)
    assert cli.run([*QUICK, "--seed", "1"]) == 130
    assert capsys.readouterr().err == "refimpl: interrupted\n"
    assert {name: Path(name).read_bytes() for name in names()} == before


def test_a_crash_is_not_dressed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*unused: object, **also: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(mx.mod.Module, "fit", broken)
    with pytest.raises(ValueError, match="a bug"):
        cli.run(QUICK)


@pytest.mark.clause("Cli/pipe")
@pytest.mark.parametrize("command", [[*QUICK, "--num-epochs", "2"], ["rule"]])
def test_a_reader_that_goes_away_ends_the_command_without_a_word(command: list[str], tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "refimpl.cli", *command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait() == 1


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"refimpl {mx.__version__}\n"
