"""Types of the inputs of ``refimpl predict``, ``score``, ``verify`` and ``explain``, against MXNet 1.9.1.

tests/fixtures/make_typed.py made the checkpoints and references with MXNet 1.9.1.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli

THIN = Path(__file__).parents[1] / "fixtures" / "thin"
TYPED = ["quantized", "half", "stated"]
"""int8 layers; float16 arrays of a float32 network; ``__dtype__`` float64."""


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def found(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and report of ``refimpl verify``."""
    code = cli.run(["verify", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.clause("Cli/input-types", "Verify/bounds")
@pytest.mark.parametrize("name", TYPED)
def test_no_type_comes_from_the_arrays_of_a_file(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Every layer that MXNet recorded is there."""
    code, said = found(capsys, str(THIN / name), "0", str(THIN / f"{name}-reference.npz"))
    assert (code, said["first"], said["unknown"]) == (0, None, [])
    assert {row["verdict"] for row in said["outputs"]} == {"equal"}
    with np.load(THIN / f"{name}-reference.npz") as arrays:
        data, expected = arrays["data"], arrays["softmax_output"]
    np.savez("in.npz", data=data)
    assert cli.run(["predict", str(THIN / name), "0", "--npz", "in.npz", "--save", "out.npz"]) == 0
    with np.load("out.npz") as made:
        assert made["data"].dtype == data.dtype
        np.testing.assert_allclose(made["softmax_output"], expected, rtol=1e-5)
    np.savez("in.npz", data=data, label=expected.argmax(axis=1))
    capsys.readouterr()
    assert cli.run(["score", str(THIN / name), "0", "--npz", "in.npz"]) == 0
    assert capsys.readouterr().out == "accuracy 1.0000 (3 of 3)\n"


@pytest.mark.clause("Cli/input-types")
@pytest.mark.parametrize("name", TYPED)
def test_a_layer_of_other_types_that_differs_is_named(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """The first layer of the file's reference, with one number changed."""
    with np.load(THIN / f"{name}-reference.npz") as arrays:
        held = {key: arrays[key] for key in arrays.files}
    layer = "quantized_fc1_output" if name == "quantized" else "fc1_output"
    held[layer][0, 0] += 1
    np.savez("changed.npz", **held)
    code, said = found(capsys, str(THIN / name), "0", "changed.npz")
    assert (code, said["first"]["output"]) == (1, layer)


@pytest.mark.clause("Cli/input-types")
def test_explain_takes_stated_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["explain", str(THIN / "stated"), "--shape", "data=3,6", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["slices"]["inputs"][0]
    assert (data["name"], data["dtype"]) == ("data", "float64")


@pytest.mark.clause("Cli/input-types")
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_inputs_have_the_type_that_the_symbol_states(capsys: pytest.CaptureFixture[str], dtype: str) -> None:
    net = mx.sym.FullyConnected(mx.sym.Variable("data", dtype=dtype), num_hidden=2, no_bias=True, name="z")
    net = mx.sym.BatchNorm(net, name="a")
    gamma = {name: mx.nd.ones(2, dtype="float32" if dtype == "float16" else dtype) for name in ("a_gamma", "a_beta")}
    states = {"a_moving_mean": mx.nd.zeros(2), "a_moving_var": mx.nd.ones(2)}
    mx.model.save_checkpoint("typed", 1, net, {**gamma, "z_weight": mx.nd.ones((2, 3), dtype=dtype)}, states)
    assert cli.run(["predict", "typed", "1", "--shape", "data=2,3"]) == 0
    assert capsys.readouterr().out.startswith(f"a_output: {dtype} (2, 2), from")


@pytest.mark.clause("Cli/input-types")
def test_fractions_for_whole_numbers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    net = mx.sym.Cast(mx.sym.Variable("data", dtype="int8"), dtype="float32", name="wide")
    mx.model.save_checkpoint("whole", 1, net, {"unused": mx.nd.ones(1)}, {})
    for value, code in ((2.0, 0), (2.5, 2)):
        np.savez("in.npz", data=np.full((1, 2), value))
        assert cli.run(["predict", "whole", "1", "--npz", "in.npz"]) == code
    streams = capsys.readouterr()
    assert streams.out.startswith("wide_output: float32 (1, 2), from 2 to 2")
    assert "data has fractions, and the network takes int8; give whole numbers [Cli/input-types]" in streams.err
