"""Scripts that train nets: digits by Module, characters by BucketingModule, ratings by embeddings."""

from __future__ import annotations

import ast
import importlib
import logging
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numba
import pytest

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="training interpreted loops takes minutes"),
]
SCRIPTS = Path(__file__).with_name("scripts")
ROOT = SCRIPTS.parents[2]
MINE = ["char_lstm_bucketing", "lenet_digits", "matrix_factorization", "mlp_digits"]


@pytest.fixture
def script(monkeypatch, caplog):
    """Gives a script as a module, and lets its log be read."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    caplog.set_level(logging.INFO)

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    return load


@pytest.mark.parametrize("name", [*MINE, "digits_training"])
def test_only_the_import_line_tells_the_library(name):
    tree = ast.parse((SCRIPTS / f"{name}.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    ours = [ast.unparse(node) for node in imports if "refimpl" in ast.unparse(node)]
    assert ours == ["import refimpl as mx"]


@pytest.mark.parametrize("name", MINE)
def test_a_script_has_a_main(name):
    text = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
    assert "def main(" in text
    assert text.endswith('if __name__ == "__main__":\n    main()\n')


def test_a_script_runs_from_the_command_line(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, SCRIPTS / "mlp_digits.py", "--epochs", "1", "--model-prefix", "net"],
        capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "accuracy on 360 held-out digits: 0." in run.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net-0001.params", "net-symbol.json"]


def test_an_mlp_learns_the_digits_and_is_resumed(script, caplog, tmp_path):
    prefix = str(tmp_path / "mlp")
    first = script("mlp_digits").main(["--epochs", "3", "--model-prefix", prefix])
    assert first > 0.85
    assert sum("Speed: " in line for line in caplog.messages) == 6  # 23 batches, every 10
    assert "Saved checkpoint to " + f'"{prefix}-0003.params"' in caplog.messages
    caplog.clear()

    second = script("mlp_digits").main(["--epochs", "8", "--model-prefix", prefix, "--load-epoch", "3"])
    assert f"loaded model {prefix}-0003.params" in caplog.messages
    starts = [line for line in caplog.messages if "Train-accuracy=" in line]
    assert [line.split("]")[0] for line in starts] == [f"Epoch[{epoch}" for epoch in range(3, 8)]
    assert float(starts[0].split("=")[1]) > first - 0.05, "it went on, and did not begin anew"
    assert second > 0.95


def test_the_number_of_contexts_does_not_matter(script):
    one, two, three = (
        script("mlp_digits").main(["--epochs", "2", "--cpus", str(count)]) for count in (1, 2, 3)
    )
    assert one == pytest.approx(two, abs=0.01) == pytest.approx(three, abs=0.01)


def test_a_convolutional_net_learns_the_digits(script, caplog, tmp_path):
    prefix = str(tmp_path / "lenet")
    assert script("lenet_digits").main(["--epochs", "2", "--model-prefix", prefix]) > 0.9
    resumed = script("lenet_digits").main(["--epochs", "3", "--model-prefix", prefix, "--load-epoch", "2"])
    assert resumed > 0.93
    assert "Epoch[2] Train-accuracy=" in caplog.text


def test_ratings_are_predicted_as_well_as_the_noise_allows(script):
    training, held_out = script("matrix_factorization").main([])
    assert training < 0.11
    assert 0.095 < held_out < 0.12


def test_a_character_model_beats_frequencies(script, caplog):
    perplexity, baseline = script("char_lstm_bucketing").main(
        ["--epochs", "2", "--lines", "1500", "--num-hidden", "64", "--disp-batches", "10"]
    )
    assert "buckets [16, 32, 48, 64, 80]" in caplog.text
    assert 15 < baseline < 40
    assert perplexity < baseline / 2


def test_characters_of_any_text(script, tmp_path):
    """Of two characters in turn, the next is certain; frequencies alone leave a choice of two."""
    text = tmp_path / "text"
    text.write_text("\n".join(("ab" * 40)[n : 80 - m] for n in (0, 1) for m in range(75)), encoding="utf-8")
    perplexity, baseline = script("char_lstm_bucketing").main([
        "--text", str(text), "--epochs", "2", "--batch-size", "2", "--num-hidden", "8", "--num-layers", "2",
    ])
    assert baseline == pytest.approx(2, abs=0.1)
    assert 1 <= perplexity < 1.3
