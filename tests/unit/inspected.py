"""What the tests of ``refimpl inspect`` share: checkpoints of MXNet 1.9.1 in a folder, and ways to change them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import refimpl as mx
from refimpl import cli

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture(name="folder", autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own with the checkpoints of MXNet 1.9.1."""
    monkeypatch.chdir(tmp_path)
    for pattern in ("mxnet-symbol.json", "mxnet-0003.*", "resnet-*", "lstm-*"):
        for file in FIXTURES.glob(pattern):
            shutil.copy(file, tmp_path)
    return tmp_path


@pytest.fixture(name="inspect")
def inspecting(capsys: pytest.CaptureFixture[str]) -> Any:
    """Inspect with --json: (exit code, what was found)."""

    def call(*words: str) -> tuple[int, dict[str, Any]]:
        code = cli.run(["inspect", *words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def problems(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["kind"], one["about"]) for one in found["problems"]]


def outputs(found: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {layer["name"]: tuple(layer["outputs"][0]) for layer in found["layers"]}


def change(prefix: str = "mxnet-0003", **changes: Any) -> None:
    """Write a params file again with other arrays; None takes one away. ``arg_x`` means ``arg:x``."""
    arrays = mx.nd.load(f"{prefix}.params")
    for key, array in changes.items():
        name = key.replace("_", ":", 1)
        if array is None:
            del arrays[name]
        else:
            arrays[name] = mx.nd.array(array)
    mx.nd.save(f"{prefix}.params", arrays)


def change_graph(old: str, new: str, file: str = "mxnet-symbol.json") -> None:
    text = Path(file).read_text(encoding="utf-8")
    assert old in text
    Path(file).write_text(text.replace(old, new), encoding="utf-8")
