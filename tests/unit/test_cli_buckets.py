"""The files of BucketingModule.save_checkpoint on the command line.

tests/fixtures/make_buckets.py made the checkpoint and printed these numbers with MXNet 1.9.1.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refimpl import cli

FIXTURES = Path(__file__).parents[1] / "fixtures" / "buckets"
EXPECTED = {
    4: [[0.18932027, 0.01654023, 0.13828528, 0.65585423], [0.26518458, 0.06856467, 0.1410886, 0.52516216]],
    6: [[0.22972675, 0.01455345, 0.107488, 0.64823180], [0.14130673, 0.00328681, 0.05247956, 0.80292696]],
    3: [[0.16528647, 0.03784543, 0.17520618, 0.62166196], [0.40513271, 0.11209224, 0.1788272, 0.30394787]],
}


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for file in FIXTURES.iterdir():
        shutil.copy(file, tmp_path)


def inspected(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = cli.run(["inspect", "words", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.clause("Cli/bucket")
@pytest.mark.parametrize("key", EXPECTED)
def test_a_bucket_predicts_what_mxnet_predicted(key: int) -> None:
    np.savez("in.npz", data=np.arange(2 * key).reshape(2, key) % 7)
    assert cli.run(["predict", "words", "5", "--bucket", str(key), "--npz", "in.npz", "--save", "out.npz"]) == 0
    with np.load("out.npz") as made:
        np.testing.assert_allclose(made["softmax_output"], EXPECTED[key], rtol=0, atol=1e-6)


@pytest.mark.clause("Cli/bucket")
@pytest.mark.parametrize("epoch", [[], ["5"]])
def test_a_bucket_is_warmed(capsys: pytest.CaptureFixture[str], epoch: list[str]) -> None:
    words = ["--bucket", "3", "--jobs", "1", "--shape", "data=2,3"]
    shapes = [] if epoch else ["--shape", "embed_weight=7,3"]
    assert cli.run(["warm", "words", *epoch, *words, *shapes]) == 0
    assert capsys.readouterr().out.startswith("compiled ")


@pytest.mark.clause("Cli/bucket")
@pytest.mark.parametrize(("words", "piece"), [
    (["predict", "words", "5", "--shape", "data=2,3"], "words has the buckets 6, 4, 3, each a network: name one"),
    (["warm", "words"], "name one, as `refimpl predict words ... --bucket 6`"),
    (["score", "words", "5"], "words has the buckets 6, 4, 3"),
    (["plot", "words"], "words has the buckets 6, 4, 3"),
    (["predict", "words", "5", "--bucket", "5", "--shape", "data=2,5"], "words-5-symbol.json does not exist; words"),
    (["inspect", "words", "--bucket", "7"], "words-7-symbol.json does not exist; words has the buckets 6, 4, 3"),
    (["inspect", "none", "--bucket", "7"], "none-7-symbol.json does not exist; there is no none.buckets"),
])
def test_a_bucket_must_be_named(capsys: pytest.CaptureFixture[str], words: list[str], piece: str) -> None:
    assert cli.run(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert piece in err
    assert "[Cli/bucket]" in err


@pytest.mark.clause("Inspect/buckets")
def test_inspect_tells_one_bucket(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = inspected(capsys)
    assert (code, found["bucket"], found["buckets"], found["mxnet"]) == (0, 6, [6, 4, 3], "1.9.1")
    assert found["symbol"]["file"] == "words-6-symbol.json"
    assert [one["name"] for one in found["parameters"]] == ["embed_weight", "fc_weight", "fc_bias"]
    code, found = inspected(capsys, "--bucket", "3", "--shape", "data=2,3")
    assert (code, found["bucket"], found["outputs"]) == (0, 3, [{"name": "softmax_output", "shape": [2, 4]}])
    assert cli.run(["inspect", "words"]) == 0
    assert "\nbuckets: 6, 4, 3; this is bucket 6, --bucket shows another\n" in capsys.readouterr().out


@pytest.mark.clause("Inspect/buckets")
def test_inspect_compares_all_buckets(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("words-4-symbol.json").read_text(encoding="utf-8")
    Path("words-4-symbol.json").write_text(text.replace("fc_bias", "other_bias"), encoding="utf-8")
    _, found = inspected(capsys)
    assert [(one["kind"], one["about"]) for one in found["problems"]] == [("missing-parameter", "other_bias")]
    Path("words-3-symbol.json").unlink()
    code, found = inspected(capsys)
    assert (code, found["problems"][0]["message"]) == (1, "words-3-symbol.json does not exist")
    Path("words.buckets").write_bytes(b"no list")
    _, found = inspected(capsys, "5", "--bucket", "4")
    assert ("damaged-file", "words.buckets") in [(one["kind"], one["about"]) for one in found["problems"]]
