"""``refimpl predict`` and ``score`` on files: what MXNet 1.9.1 computed, and every way in which they say no."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli
from refimpl.cli import loaded, waiting

FIXTURES = Path(__file__).parents[1] / "fixtures"
# tests/fixtures/make_predictions.py made the checkpoints, the picture and these numbers with MXNet 1.9.1
EXPECTED = json.loads((FIXTURES / "predictions.json").read_text(encoding="utf-8"))
RESIDUAL, DETECTOR, PICTURE = (str(FIXTURES / name) for name in ("residual", "detector", "picture.png"))
COLORS = ["--mean", "128", "--std", "64,64,64"]

pytest.importorskip("PIL")


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The lines that a command prints."""
    assert cli.run(list(words)) == 0
    return capsys.readouterr().out.splitlines()


def cut() -> np.ndarray:
    """The middle of the picture, (1, 3, 16, 16), by the formula of make_predictions.py."""
    rows, columns, channels = np.indices((16, 20, 3))
    pixels = (rows * 37 + columns * (11 + channels * 5) + rows * columns * (channels + 1)) % 256
    return ((pixels[:, 2:18].transpose(2, 0, 1)[None] - 128) / 64).astype(np.float32)


def write_records(name: str, labels: list) -> None:
    writer = mx.recordio.MXRecordIO(name, "w")
    for number, label in enumerate(labels):
        head = mx.recordio.IRHeader(0, label, number, 0)
        writer.write(mx.recordio.pack(head, Path(PICTURE).read_bytes()))
    writer.close()


def shares(lines: list[str]) -> np.ndarray:
    """The numbers of the lines that name classes, by class."""
    found = dict(re.findall(r"^  ([\d.]+)  class (\d)$", line)[0][::-1] for line in lines if line.startswith("  "))
    return np.array([float(found[key]) for key in sorted(found)])


# --- predictions ------------------------------------------------------------------------------------


@pytest.mark.clause("Cli/answers", "Cli/pixels")
def test_classes_of_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    Path("names.txt").write_text("n0 ant\nn1 bee\n\nn2 cat, tom\nn3 dog\nn4 eel\n", encoding="utf-8")
    lines = said(capsys, "predict", RESIDUAL, "4", "--image", PICTURE, *COLORS, "--synset", "names.txt", "--top", "3")
    assert lines == [PICTURE, "  0.282064  n2 cat, tom", "  0.204351  n1 bee", "  0.192908  n4 eel"]


@pytest.mark.clause("Cli/answers", "Cli/pixels")
@pytest.mark.parametrize("words", [[], ["--resize", "16"]])
def test_boxes_of_a_picture(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    flags = [*COLORS, "--threshold", "0.77", "--shape", "data=2,3,16,16", *words]
    lines = said(capsys, "predict", DETECTOR, "4", "--image", PICTURE, PICTURE, PICTURE, *flags)
    titles = [line for line in lines if not line.startswith("  ")]
    assert len(titles) == 3
    if words:  # without --resize the picture is stretched, and not cut as MXNet's script did
        assert titles[2] == f"{PICTURE}: 6 boxes with a score of 0.77 or more"
        found = [re.findall(r"[\d.]+", line) for line in lines[-6:]]
        rows = np.array([[float(row[1]), float(row[0]), *map(float, row[2:])] for row in found])
        np.testing.assert_allclose(rows, EXPECTED["detector"][:6], rtol=0, atol=6e-5)


@pytest.mark.clause("Cli/answers", "Cli/pixels")
def test_an_output_of_a_layer_is_summed_up_and_saved(capsys: pytest.CaptureFixture[str]) -> None:
    words = [RESIDUAL, "4", "--image", PICTURE, *COLORS, "--output", "pool", "--save", "seen.npz"]
    lines = said(capsys, "predict", *words)
    expected = np.array(EXPECTED["pool_output"][0])
    head = "pool_output: float32 (1, 16, 1, 1), from -0.34377 to 0.61156,"
    assert lines == [f"{head} mean {expected.mean():.5g}, deviation {expected.std():.5g}", "wrote seen.npz"]
    with np.load("seen.npz") as saved:
        assert sorted(saved) == ["data", "pool_output"]
        np.testing.assert_array_equal(saved["data"], cut())
        np.testing.assert_allclose(saved["pool_output"].ravel(), expected, rtol=1e-5, atol=1e-6)
    lines = said(capsys, "predict", RESIDUAL, "4", "--npz", "seen.npz")
    np.testing.assert_allclose(shares(lines), EXPECTED["residual"][0], rtol=0, atol=2e-6)


def test_several_axes_are_no_classes(capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("cut.npz", data=cut())
    words = ["--npz", "cut.npz", "--output", "cls_prob_output", "--save", "out.npz"]
    assert said(capsys, "predict", DETECTOR, "4", *words)[0].startswith("cls_prob_output: float32 (1, 3, 160), from")
    with np.load("out.npz") as saved:
        found = saved["cls_prob_output"].ravel()[:16]
    np.testing.assert_allclose(found, EXPECTED["cls_prob_output"][0], rtol=1e-5, atol=1e-6)


@pytest.mark.clause("Cli/pixels")
def test_records_are_read_as_by_the_iterator(capsys: pytest.CaptureFixture[str]) -> None:
    write_records("a.rec", [0, 1, 2])
    lines = said(capsys, "predict", RESIDUAL, "4", "--rec", "a.rec", *COLORS, "--batch-size", "2")
    assert [line for line in lines if line[0] != " "] == ["row 0", "row 1", "row 2"]
    for start in (0, 6, 12):
        np.testing.assert_allclose(shares(lines[start : start + 6]), EXPECTED["residual"][0], rtol=0, atol=2e-6)
    write_records("b.rec", [np.array([2, 5, 1, 0.1, 0.1, 0.5, 0.5], np.float32)])
    lines = said(capsys, "predict", DETECTOR, "4", "--rec", "b.rec", *COLORS, "--shape", "data=1,3,16,16")
    assert lines[0].startswith("row 0: ")


def test_batches_do_not_change_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("rows.npz", data=np.concatenate([cut() * factor for factor in (1, 0.5, -1)]))
    words = ["predict", RESIDUAL, "4", "--npz", "rows.npz", "--top", "1"]
    assert said(capsys, *words) == said(capsys, *words, "--batch-size", "2")


@pytest.mark.clause("Cli/zeros")
def test_states_and_labels_are_zeros(capsys: pytest.CaptureFixture[str]) -> None:
    state = mx.sym.Variable("l0_init_c", shape=(2, 3))
    mx.sym.SoftmaxOutput(mx.sym.Variable("data") + state, mx.sym.Variable("label")).save("next-symbol.json")
    mx.nd.save("next-0001.params", {"arg:unused": mx.nd.ones(1)})
    np.savez("a.npz", data=np.log([[1, 2, 5], [5, 3, 2]]))
    lines = said(capsys, "predict", "next", "1", "--npz", "a.npz", "--top", "1")
    assert lines == ["row 0", "  0.625000  class 2", "row 1", "  0.500000  class 0"]


def test_random_numbers_of_a_shape(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", RESIDUAL, "4", "--shape", "data=2,3,16,16"]
    lines = said(capsys, *words)
    assert lines[0] == "row 0"
    assert lines[6] == "row 1"
    assert shares(lines[:6]).sum() == pytest.approx(1, abs=1e-5)
    assert said(capsys, *words) == lines


def test_the_shape_follows_from_the_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "predict", DETECTOR, "4", "--image", PICTURE, "--output", "scale0_relu")
    assert lines[0].startswith("scale0_relu_output: float32 (1, 8, 8, 10)")


def test_numbers_that_are_not_finite(capsys: pytest.CaptureFixture[str]) -> None:
    write_identity(3)
    np.savez("nan.npz", data=np.full((1, 3), np.nan))
    assert said(capsys, "predict", "same", "1", "--npz", "nan.npz")[1] == "  softmax_output: float32 (3,), 3 not finite"


# --- scores -----------------------------------------------------------------------------------------


def write_identity(classes: int) -> None:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=classes, no_bias=True, name="fc")
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    mx.model.save_checkpoint("same", 1, net, {"fc_weight": mx.nd.eye(classes)}, {})


@pytest.mark.clause("Cli/score-file")
@pytest.mark.parametrize("name", ["softmax_label", "label"])
def test_score_counts_the_first_and_the_first_five(capsys: pytest.CaptureFixture[str], name: str) -> None:
    write_identity(7)
    rows = np.array([[7, 6, 5, 4, 3, 2, 1]] * 5)
    np.savez("rows.npz", data=rows, **{name: [0, 0, 4, 5, 6]})
    words = ["score", "same", "1", "--npz", "rows.npz", "--batch-size", "2"]
    assert said(capsys, *words) == ["accuracy 0.4000 (2 of 5), top-5 0.6000 (3 of 5)"]


@pytest.mark.clause("Cli/score-file")
def test_score_of_records(capsys: pytest.CaptureFixture[str]) -> None:
    write_records("a.rec", [2, 2, 1])  # MXNet says 2
    words = ["score", RESIDUAL, "4", "--rec", "a.rec", *COLORS, "--batch-size", "2"]
    assert said(capsys, *words) == ["accuracy 0.6667 (2 of 3)"]


# --- what is shown meanwhile ------------------------------------------------------------------------


@pytest.mark.clause("Cli/waiting")
def test_a_line_when_it_was_silent(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(waiting, "SILENCE", 0.001)
    told = ""
    with waiting.working("predicting", "rows") as work:
        work.done, work.total, work.note = 3, 8, "binding"
        while "3 of 8" not in told:
            told += capsys.readouterr().err
    assert re.search(r"^predicting: 3 of 8 rows, binding \(0 s\)$", told, re.MULTILINE)


@pytest.mark.clause("Cli/waiting")
def test_a_line_that_changes_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text, console = io.StringIO(), waiting.Console
    monkeypatch.setattr(waiting, "Console", lambda stderr: console(file=text, force_terminal=stderr))
    with waiting.working("warming", "operators") as work:
        while "warming: 0 operators" not in text.getvalue():
            pass
        work.compiled.current = "pooling.sums"
        while "now pooling.sums" not in text.getvalue():
            pass
    assert "warming: 0 operators" in text.getvalue()


@pytest.mark.clause("Cli/waiting")
def test_work_that_counts_nothing() -> None:
    assert waiting.Work("inspecting", "").text() == "inspecting (0 s)"


@pytest.mark.heavy
@pytest.mark.clause("Cli/pipe")
def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    words = ["predict", RESIDUAL, "4", "--shape", "data=2,3,16,16"]
    child = subprocess.Popen(
        [sys.executable, "-m", "refimpl.cli", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.close()
    child.stdout = None
    _, errors = child.communicate()
    assert "Traceback" not in errors.decode()
    assert child.returncode == 1


# --- what is refused --------------------------------------------------------------------------------


def write_wrong_files() -> None:
    """Files that a command refuses."""
    write_identity(3)
    Path("empty.txt").write_text("\n", encoding="utf-8")
    Path("two.txt").write_text("a\nb\n", encoding="utf-8")
    np.savez("pickle.npz", data=np.array([{}], dtype=object))
    np.savez("text.npz", data=np.array(["a"]))
    np.savez("label.npz", softmax_label=np.ones(3))
    np.savez("other.npz", date=np.ones((1, 3)))
    np.savez("rows.npz", data=np.ones((2, 3)), label=np.ones(3))
    np.savez("high.npz", data=np.ones((1, 3)), label=[3])
    np.savez("half.npz", data=np.ones((1, 3)), label=[0.5])
    np.savez("none.npz", data=np.ones((1, 3)))
    np.savez("wide.npz", data=np.ones((1, 3)), label=[[1, 2]])
    with zipfile.ZipFile("large.npz", "w") as members:
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": (1 << 40,)})
        members.writestr("data.npy", head.getvalue())
    net = mx.sym.FullyConnected(mx.sym.Variable("a") + mx.sym.Variable("b"), num_hidden=3, name="fc")
    net.save("two-symbol.json")
    mx.nd.save("two-0001.params", {"arg:fc_weight": mx.nd.ones((3, 3)), "arg:fc_bias": mx.nd.ones(3)})
    net.save("lost-symbol.json")
    mx.nd.save("lost-0001.params", {"arg:fc_weight": mx.nd.ones((3, 3))})
    write_records("a.rec", [0])


SAME, SHAPED = ["predict", "same", "1"], ["predict", "same", "1", "--shape", "data=1,3"]
LOOK = ["predict", RESIDUAL, "4", "--image", PICTURE]


@pytest.mark.clause(
    "Cli/source", "Cli/image", "Cli/npz", "Cli/colors", "Cli/synset", "Cli/output-name", "Cli/input-name",
    "Cli/input-shape", "Cli/fits-network", "Cli/parameters-there", "Cli/score-labels", "Cli/folder-exists",
    "Cli/shape", "Cli/checkpoint-exists",
)
@pytest.mark.parametrize(
    ("clause", "words", "piece"),
    [
        ("Cli/checkpoint-exists", ["predict", "same", "2", "--shape", "data=1,3"], "same-0002.params"),
        ("Cli/source", SAME, "not none"),
        ("Cli/source", [*SHAPED, "--npz", "none.npz", "--rec", "a.rec"], "--npz and --rec"),
        ("Cli/source", [*SHAPED, "a.png"], "a.png: pictures stand behind --image"),
        ("Cli/source", ["score", "same", "1", "--npz", "rows.npz", "--rec", "a.rec"], "one of"),
        ("Cli/image", ["predict", RESIDUAL, "4", "--image", "none.png"], "none.png is not a file"),
        ("Cli/image", ["predict", RESIDUAL, "4", "--image", "two.txt"], "two.txt: buf is no picture"),
        ("Cli/npz", [*SAME, "--npz", "gone.npz"], "cannot open gone.npz"),
        ("Cli/npz", [*SAME, "--npz", "two.txt"], "two.txt is not a whole file"),
        ("Cli/npz", [*SAME, "--npz", "pickle.npz"], "of object"),
        ("Cli/npz", [*SAME, "--npz", "large.npz"], "in 128 bytes"),
        ("Cli/npz", [*SAME, "--npz", "text.npz"], "data"),
        ("Cli/npz", ["score", "same", "1", "--npz", "rows.npz"], "data 2, the labels 3"),
        ("Cli/colors", [*LOOK, "--mean", "red"], "'red'"),
        ("Cli/colors", [*LOOK, "--mean", "1,2"], "2 numbers"),
        ("Cli/colors", [*LOOK, "--std", "1,0,1"], "divided by 0"),
        ("Cli/colors", [*LOOK, "--scale", "nan"], "nan"),
        ("Cli/synset", [*SHAPED, "--synset", "gone.txt"], "cannot open gone.txt"),
        ("Cli/synset", [*SHAPED, "--synset", "empty.txt"], "names no class"),
        ("Cli/synset", [*SHAPED, "--synset", "two.txt"], "2 classes, but softmax_output has 3"),
        ("Cli/output-name", [*SHAPED, "--output", "fc_outptu"], "did you mean fc_output"),
        ("Cli/input-name", [*SAME, "--shape", "date=1,3"], "are data, softmax_label"),
        ("Cli/input-name", [*SAME, "--npz", "other.npz"], "names date"),
        ("Cli/input-name", [*SAME, "--npz", "label.npz"], "names nothing"),
        ("Cli/input-name", ["predict", "two", "1", "--image", PICTURE], "none of the inputs of two, a, b"),
        ("Cli/input-shape", ["predict", "two", "1", "--shape", "a=1,3"], "also needs b"),
        ("Cli/input-shape", ["predict", DETECTOR, "4", "--rec", "a.rec"], "does not state the shape of data"),
        ("Cli/fits-network", [*SAME, "--shape", "data=1,4"], "does not take data=1,4"),
        ("Cli/fits-network", ["predict", "same", "1", "--image", PICTURE, "--shape", "data=1,3"], "4 axes"),
        ("Cli/fits-network", [*LOOK, "--shape", "data=1,4,16,16"], "1 or 3 channels"),
        ("Cli/parameters-there", ["predict", "lost", "1", "--shape", "a=1,3"], "lack fc_bias"),
        ("Cli/score-labels", ["score", "same", "1", "--npz", "none.npz"], "it needs labels"),
        ("Cli/score-labels", ["score", "same", "1", "--npz", "high.npz"], "the label 3 is no class"),
        ("Cli/score-labels", ["score", "same", "1", "--npz", "half.npz"], "the label 0.5 is no class"),
        ("Cli/score-labels", ["score", "same", "1", "--npz", "wide.npz"], "the labels are (1, 2)"),
        ("Cli/folder-exists", [*SHAPED, "--save", "gone/a.npz"], "gone/a.npz"),
        ("Cli/shape", [*SAME, "--shape", "1,3"], "'1,3'"),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], clause: str, words: list[str], piece: str) -> None:
    write_wrong_files()
    assert cli.run(words) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.count("\n") == 1
    assert f"[{clause}]" in streams.err
    assert piece in streams.err


def test_without_pillow(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert cli.run(LOOK) == 2
    assert "pip install" in capsys.readouterr().err


def write_sequences(second: bool = False) -> None:
    """A network of sequences: its loss reads its labels in one row; ``second`` adds an output that reads them too."""
    label = mx.sym.Variable("softmax_label")
    net = mx.sym.Reshape(mx.sym.Variable("data"), shape=(-1, 3))
    net = mx.sym.SoftmaxOutput(net, mx.sym.Reshape(label, shape=(-1,)), name="softmax")
    if second:
        net = mx.sym.Group([net, mx.sym.sum(label * 2, name="total")])
    net.save("steps-symbol.json")
    mx.nd.save("steps-0001.params", {"arg:unused": mx.nd.ones(1)})
    shares = [[[1, 2, 5], [5, 3, 2]], [[1, 8, 1], [6, 2, 2]], [[2, 2, 6], [1, 7, 2]]]
    np.savez("steps.npz", data=np.log(shares), softmax_label=[[2, 0], [1, 1], [0, 1]])


@pytest.mark.clause("Cli/zeros")
@pytest.mark.parametrize("second", [False, True])
def test_what_is_computed_from_labels_is_left_out(capsys: pytest.CaptureFixture[str], second: bool) -> None:
    write_sequences(second)
    words = ["steps", "1", "--npz", "steps.npz", "--batch-size", "2"]
    lines = said(capsys, "predict", *words, "--top", "1")
    assert lines[:4] == ["row 0", "  0.625000  class 2", "row 1", "  0.500000  class 0"]
    assert lines[8:] == ["row 4", "  0.600000  class 2", "row 5", "  0.700000  class 1"]


@pytest.mark.clause("Cli/zeros")
def test_boxes_of_a_network_that_was_saved_for_training(capsys: pytest.CaptureFixture[str]) -> None:
    scores, places = mx.sym.Variable("data"), mx.sym.Variable("places")
    anchors = mx.sym.contrib.MultiBoxPrior(mx.sym.Variable("map"), sizes=(0.5,))
    target = mx.sym.contrib.MultiBoxTarget(anchors, mx.sym.Variable("label"), scores)
    prob = mx.sym.SoftmaxOutput(scores, target[2], multi_output=True, name="cls_prob")
    loss = mx.sym.MakeLoss(mx.sym.smooth_l1(places - target[0]), name="loc_loss")
    boxes = mx.sym.contrib.MultiBoxDetection(prob, places, anchors, name="det")
    mx.sym.Group([prob, loss, boxes]).save("ssd-symbol.json")
    mx.nd.save("ssd-0001.params", {"arg:unused": mx.nd.ones(1)})
    np.savez("ssd.npz", data=np.log([[[1], [1], [8]]]), places=np.zeros((1, 4)), map=np.zeros((1, 1, 1, 1)))
    lines = said(capsys, "predict", "ssd", "1", "--npz", "ssd.npz")
    assert lines[0].startswith("cls_prob_output: float32 (1, 3, 1), from 0.1 to 0.8")
    assert lines[1] == "row 0: 1 box with a score of 0.5 or more"
    assert lines[2] == "  0.800000  class 1  left 0.2500 top 0.2500 right 0.7500 bottom 0.7500"
    assert len(lines) == 3


@pytest.mark.clause("Cli/score-file")
def test_score_of_sequences(capsys: pytest.CaptureFixture[str]) -> None:
    write_sequences()
    words = ["steps", "1", "--npz", "steps.npz", "--batch-size", "2"]
    assert said(capsys, "score", *words) == ["accuracy 0.6667 (4 of 6)"]


@pytest.mark.clause("Cli/parameters-there")
def test_empty_places_in_a_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write_identity(3)
    monkeypatch.setattr(loaded, "load_params", lambda *given: ({"fc_weight": None}, {}))
    assert cli.run(SHAPED) == 2
    assert "lack fc_weight" in capsys.readouterr().err
