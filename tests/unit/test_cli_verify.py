"""``refimpl verify``: networks of MXNet 1.9.1 against what MXNet computed, and every way in which it says no.

tests/fixtures/make_references.py made the checkpoints and references with MXNet 1.9.1.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli, rules
from refimpl.cli.options import with_labels
from refimpl.cli.verifying import clauses, guesses
from refimpl.kernels import distinct

THIN = Path(__file__).parents[1] / "fixtures" / "thin"
QUICK = ["resnet-v2", "lstm"]
SLOW = ["resnet-v1", "mobilenet-v1", "mobilenet-v2", "inception-v3", "ssd"]
WHOLE = [*QUICK, *(pytest.param(name, marks=pytest.mark.heavy) for name in SLOW)]
"""Graphs of 1.9.1 and 0.8, 0.8, 0.11, 1.9.1, 0.11, 0.11."""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small("small")


def small(prefix: str, **changes: Any) -> None:
    """A checkpoint of three layers whose numbers can be followed by hand."""
    data = mx.sym.Variable("data")
    net = mx.sym.FullyConnected(data, num_hidden=2, name="first")
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="relu", name="act"), num_hidden=1, name="second")
    arrays = {
        "first_weight": [[1, 2], [3, -1]], "first_bias": [0.5, 0], "second_weight": [[2, 4]], "second_bias": [1],
    }
    mx.model.save_checkpoint(prefix, 1, net, {k: mx.nd.array(v) for k, v in {**arrays, **changes}.items()}, {})


DATA = np.array([[1, 1], [0, 2]], np.float32)
FIRST = np.array([[3.5, 2], [4.5, -2]], np.float32)  # by hand
ACT = np.array([[3.5, 2], [4.5, 0]], np.float32)
SECOND = np.array([[16], [10]], np.float32)


def reference(**arrays: Any) -> None:
    whole = {"data": DATA, "first_output": FIRST, "act_output": ACT, "second_output": SECOND, **arrays}
    np.savez("r.npz", **{name: value for name, value in whole.items() if value is not None})


def found(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = cli.run(["verify", *(words or ("small", "1", "r.npz")), "--json"])
    return code, json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.run(["verify", *(words or ("small", "1", "r.npz"))]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


# --- networks of MXNet ------------------------------------------------------------------------------


@pytest.mark.clause("Cli/verify", "Verify/layer-by-layer", "Verify/last-known", "Verify/bounds")
@pytest.mark.parametrize("name", WHOLE)
def test_mxnets_numbers_are_no_difference(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, said = found(capsys, str(THIN / name), "0", str(THIN / f"{name}-reference.npz"))
    assert (code, said["first"], said["unknown"]) == (0, None, [])
    verdicts = {row["verdict"] for row in said["outputs"]}
    assert verdicts == {"equal", "absent"}  # small files do not hold every layer


@pytest.mark.parametrize("name", WHOLE)
def test_inspect_and_predict_take_the_same_checkpoints(capsys: pytest.CaptureFixture[str], name: str) -> None:
    with np.load(THIN / f"{name}-reference.npz") as arrays:
        held = {key: arrays[key] for key in arrays.files}
    shape = ",".join(map(str, held["data"].shape))
    assert cli.run(["inspect", str(THIN / name), "0", "--shape", f"data={shape}", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    (output,) = said["outputs"]
    assert output["shape"] == list(held[output["name"]].shape)
    style = {"resnet-v1": "0.8 or older", "lstm": "0.8 or older", "resnet-v2": "1.9.1", "mobilenet-v2": "1.9.1"}
    assert (said["mxnet"] or "0.8 or older") == style.get(name, "0.11.0")
    np.savez("in.npz", data=held["data"])
    assert cli.run(["predict", str(THIN / name), "0", "--npz", "in.npz", "--save", "out.npz"]) == 0
    with np.load("out.npz") as made:
        np.testing.assert_allclose(made[output["name"]], held[output["name"]], rtol=2e-5, atol=2e-6)


@pytest.mark.heavy
@pytest.mark.clause("Explain/no-loss")
@pytest.mark.parametrize("name", ["lstm", "resnet-v2", "ssd"])
def test_explain_takes_a_checkpoint_and_a_shape(capsys: pytest.CaptureFixture[str], name: str) -> None:
    with np.load(THIN / f"{name}-reference.npz") as arrays:
        shape = ",".join(map(str, arrays["data"].shape))
    assert cli.run(["explain", str(THIN / name), "--epoch", "0", "--shape", f"data={shape}", "-o", "step.html"]) == 0
    assert f"wrote step.html: {name}, epoch 0" in capsys.readouterr().out
    assert Path("step.html").stat().st_size < 1_000_000


def test_plot_takes_labels_of_sequences_from_the_data() -> None:
    """MXNet's shapes; the label, which is reshaped to rows, does not follow from the data."""
    net = mx.sym.load(str(THIN.parent / "lstm-symbol.json"))
    assert dict(zip(net.list_arguments(), net.infer_shape_partial(data=(2, 9))[0], strict=True))["softmax_label"] == ()
    given = with_labels(net, {"data": (2, 9)})
    assert given == {"data": (2, 9), "softmax_label": (2, 9)}
    assert net.infer_shape(**given)[1] == [(18, 20)]
    assert with_labels(net, {"softmax_label": (3,)}) == {"softmax_label": (3,)}


# --- what is said ---------------------------------------------------------------------------------


@pytest.mark.clause("Cli/verify", "Verify/json")
def test_what_is_said_of_equal_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    reference()
    code, said = found(capsys)
    assert code == 0
    assert list(said) == ["version", "prefix", "outputs", "unknown", "first", "epoch", "reference", "reference_epoch"]
    assert said["outputs"][0] == {
        "name": "first_output", "layer": "first", "operator": "FullyConnected", "verdict": "equal", "difference": 0.0,
        "allowed": 0.0, "place": [],
    }
    assert cli.run(["verify", "small", "1", "r.npz"]) == 0
    assert capsys.readouterr().out == (
        "small against r.npz: 3 outputs of layers compared\nno layer differs by more than rounding\n"
    )


@pytest.mark.clause("Verify/first", "Verify/layer-by-layer")
def test_the_first_layer_is_named_and_not_its_followers(capsys: pytest.CaptureFixture[str]) -> None:
    """The reference has twice the first weight; the others are right for what they read."""
    first = 2 * FIRST - [0.5, 0]
    act = np.maximum(first, 0)
    reference(first_output=first, act_output=act, second_output=act @ [[2], [4]] + 1)
    code, said = found(capsys)
    assert code == 1
    assert [row["verdict"] for row in said["outputs"]] == ["differs", "equal", "equal"]
    assert {key: said["first"][key] for key in ("layer", "kind", "clause", "suspects")} == {
        "layer": "first", "kind": "weight-scaled", "clause": "FullyConnected/flatten", "suspects": ["first"],
    }
    assert said["first"]["text"] == "the reference's weight is 2 times that here"
    assert cli.run(["verify", "small", "1", "r.npz"]) == 1
    out = capsys.readouterr().out
    assert "the first layer that differs: first (FullyConnected)\n  first_output is off by 2 at [1, 1] where" in out
    assert "rule FullyConnected/flatten: data is read as" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.clause("Verify/last-known", "Verify/first")
def test_a_layer_without_a_value_is_searched(capsys: pytest.CaptureFixture[str]) -> None:
    act = np.maximum(FIRST - [0.5, 0], 0)
    reference(first_output=None, act_output=None, second_output=act @ [[2], [4]] + 1)
    _, said = found(capsys)
    assert said["first"]["suspects"] == ["first", "act", "second"]
    assert (said["first"]["layer"], said["first"]["kind"]) == ("first", "bias-missing")
    assert [row["verdict"] for row in said["outputs"]] == ["absent", "absent", "differs"]
    assert cli.run(["verify", "small", "1", "r.npz"]) == 1
    assert "the reference lacks the outputs of 2 layers before it: first, act" in capsys.readouterr().out


@pytest.mark.clause("Verify/bounds")
@pytest.mark.parametrize(("off", "code"), [(2.0**-21, 0), (2.0**-12, 1)])
def test_rounding_is_no_difference(capsys: pytest.CaptureFixture[str], off: float, code: int) -> None:
    reference(second_output=(SECOND * (1 + off)).astype(np.float32))
    assert found(capsys)[0] == code


@pytest.mark.clause("Verify/bounds")
def test_numbers_of_half_precision_are_seen_within_wide_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    """A sum of 9,000 terms may be off by more than float16 rounds."""
    draw = np.random.default_rng(3)
    weight = draw.normal(size=(16, 9000)).astype(np.float32)
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=16, no_bias=True, name="wide")
    mx.model.save_checkpoint("wide", 1, net, {"wide_weight": mx.nd.array(weight)}, {})
    data = draw.normal(size=(1, 9000)).astype(np.float32)
    exact = data.astype(np.float64) @ weight.T.astype(np.float64)
    for value, expected in ((exact.astype(np.float32), None), (exact.astype(np.float16), "half-precision")):
        np.savez("wide.npz", data=data, wide_output=value.astype(np.float32))
        _, said = found(capsys, "wide", "1", "wide.npz")
        assert (said["first"] and said["first"]["kind"]) == expected


@pytest.mark.clause("Verify/not-finite")
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_no_number_is_a_difference(capsys: pytest.CaptureFixture[str], value: float) -> None:
    second = SECOND.copy()
    second[1] = value
    reference(second_output=second)
    _, said = found(capsys)
    assert (said["first"]["layer"], said["first"]["kind"]) == ("second", "nan")
    assert "the first at [1, 0]" in said["first"]["text"]
    assert said["outputs"][2]["difference"] is None
    bad = np.full_like(ACT, value)
    reference(first_output=bad, act_output=np.where(np.isnan(bad), 0, bad), second_output=None)
    assert found(capsys)[1]["first"]["layer"] == "first"  # and relu of NaN is 0


@pytest.mark.clause("Verify/kinds")
def test_what_no_guess_gives_is_told_by_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    second = SECOND.copy()
    second[0] += 1
    reference(second_output=second)
    first = found(capsys)[1]["first"]
    assert first["kind"] == "unexplained"
    assert first["text"].startswith("1 of 2 numbers differ")


@pytest.mark.clause("Verify/reference")
def test_an_output_of_another_shape_is_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    reference(first_output=FIRST.T.copy()[:, :1], act_output=None, second_output=None)
    _, said = found(capsys)
    assert said["outputs"][0]["verdict"] == "shape"
    assert said["first"]["text"] == "the reference has shape (2, 1), the layer gives (2, 2)"
    assert cli.run(["verify", "small", "1", "r.npz"]) == 1
    assert "first_output has shape (2, 1), here it is (2, 2)" in capsys.readouterr().out


def test_a_value_may_be_called_as_its_layer(capsys: pytest.CaptureFixture[str]) -> None:
    reference(second_output=None, second=SECOND * 2, other=SECOND)
    _, said = found(capsys)
    assert (said["first"]["layer"], said["unknown"]) == ("second", ["other_output"])


@pytest.mark.clause("Verify/checkpoint")
def test_a_second_checkpoint(capsys: pytest.CaptureFixture[str]) -> None:
    small("other", second_weight=[[2.0002, 4.0004]])
    flags = ("--shape", "data=2,2")
    code, said = found(capsys, "small", "1", "other", "1", *flags)
    assert (code, said["first"]["layer"], said["reference_epoch"]) == (1, "second", 1)
    assert said["first"]["kind"] == "weight-scaled"
    assert found(capsys, "small", "1", "small", "1", *flags)[0] == 0


def test_clauses_exist() -> None:
    assert clauses.clause_of("transposed", "Convolution") == "Convolution/weight-shape"
    assert clauses.clause_of("unexplained", "Convolution") == "Convolution/cross-correlation"
    assert {clause for op in distinct() for clause in op.difference_clauses.values()} <= set(rules)
    assert clauses.clause_of("unexplained", "broadcast_add") in rules


def test_numbers_are_rounded_to_short_types() -> None:
    values = np.array([1 + 2.0**-8, 1 + 2.0**-9, 1 + 3 * 2.0**-9, 1 + 2.0**-11, 3.0])
    assert guesses.rounded(values, "bfloat16").tolist() == [1.0, 1.0, 1.0078125, 1.0, 3.0]
    assert guesses.rounded(values, "TF32").tolist() == [*values[:3], 1.0, 3.0]


@pytest.mark.clause("Verify/kinds")
@pytest.mark.parametrize(("change", "kind"), [
    pytest.param(
        lambda w: np.concatenate([w[:60], w[60:90][::-1], w[90:]]), "unexplained", marks=pytest.mark.heavy,
    ),
    (lambda w: np.concatenate([w[:-40], np.zeros(40)]), "bias-missing"),
    pytest.param(lambda w: np.concatenate([w[:120] * 1.7, w[120:]]), "weight-scaled", marks=pytest.mark.heavy),
    (lambda w: np.concatenate([p.reshape(4, -1)[[0, 2, 1, 3]].ravel() for p in np.split(w, [120, 220, 240])]),
     "channels-swapped"),
    (lambda w: np.concatenate([w[:120], w[120:220].reshape(4, 5, 5).swapaxes(1, 2).ravel(), w[220:]]), "transposed"),
])
def test_parts_of_recurrent_parameters(capsys: pytest.CaptureFixture[str], change: Any, kind: str) -> None:
    """The vector of the fixture: (20, 6) and (20, 5) weights, two biases of 20."""
    net, arguments, states = mx.model.load_checkpoint(str(THIN / "lstm"), 0)
    vector = arguments["lstm_parameters"].asnumpy()
    net = net.get_internals()["lstm_output"]
    arguments = {name: value for name, value in arguments.items() if name in net.list_arguments()}
    mx.model.save_checkpoint("whole", 0, net, arguments, states)
    mx.model.save_checkpoint("other", 0, net, {**arguments, "lstm_parameters": mx.nd.array(change(vector))}, states)
    _, said = found(capsys, "whole", "0", "other", "0", "--shape", "data=2,9")
    assert (said["first"]["layer"], said["first"]["kind"]) == ("lstm", kind)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.clause("Verify/reference")
@pytest.mark.parametrize(("arrays", "text"), [
    ({"data": None}, "r.npz lacks data, which the network reads; it has first_output, act_output, second_output"),
    ({"first_output": None, "act_output": None, "second_output": None}, "r.npz has no output of a layer, but nothing"),
    ({"first_output": None, "act_output": None, "second_output": None, "x": DATA}, "but x; small has first_output, "),
])
def test_references_that_lack_something(
    capsys: pytest.CaptureFixture[str], arrays: dict[str, Any], text: str,
) -> None:
    reference(**arrays)
    error = refused(capsys)
    assert text in error
    assert error.endswith("[Verify/reference]\n")


@pytest.mark.clause("Cli/fits-network")
def test_an_input_of_the_wrong_shape(capsys: pytest.CaptureFixture[str]) -> None:
    reference(data=DATA[:, :1])
    assert "[Cli/fits-network]" in refused(capsys)


@pytest.mark.clause("Verify/reference")
@pytest.mark.parametrize(("words", "text"), [
    (("small", "1", "none.npz"), "none.npz does not exist; an npz file is expected"),
    (("small", "1", "."), ". is no file; an npz file is expected"),
    (("small", "1", "small"), "a second checkpoint needs its epoch behind it"),
    (("small", "1", "r.npz", "--shape", "data=2,2"), "--shape is for a second checkpoint"),
])
def test_words_that_name_no_reference(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], text: str) -> None:
    reference()
    assert text in refused(capsys, *words)


@pytest.mark.clause("Cli/npz")
@pytest.mark.parametrize("kind", ["objects", "cut", "text", "huge"])
def test_damaged_files(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    reference()
    content = Path("r.npz").read_bytes()
    if kind == "objects":
        np.savez("r.npz", data=DATA, first_output=np.array([Path("x")], object))
    elif kind == "cut":
        Path("r.npz").write_bytes(content[: len(content) // 2])
    elif kind == "text":
        Path("r.npz").write_text("no zip", encoding="ascii")
    else:
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 2), }\n"
        with zipfile.ZipFile("r.npz", "w") as file:
            file.writestr("data.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    assert "[Cli/npz]" in refused(capsys)


@pytest.mark.clause("Cli/checkpoint-exists", "Cli/input-shape")
def test_checkpoints_that_are_not_there_or_say_too_little(capsys: pytest.CaptureFixture[str]) -> None:
    reference()
    assert "[Cli/checkpoint-exists]" in refused(capsys, "small", "7", "r.npz")
    assert "[Cli/input-shape]" in refused(capsys, "small", "1", "small", "1")
    assert "[Cli/checkpoint-exists]" in refused(capsys, "small", "1", "none", "1")
    shutil.copy("small-symbol.json", "bare-symbol.json")
    mx.nd.save("bare-0001.params", {"arg:first_bias": mx.nd.ones(2)})
    assert "[Cli/parameters-there]" in refused(capsys, "bare", "1", "r.npz")
