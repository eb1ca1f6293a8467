"""``refimpl warm``: what it runs, that nothing is left to compile afterwards, and what it refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from refimpl import cli

FIXTURES = Path(__file__).parents[1] / "fixtures"
RESIDUAL, DETECTOR = str(FIXTURES / "residual"), str(FIXTURES / "detector")


@pytest.mark.clause("Cli/warm")
@pytest.mark.parametrize("words", [[RESIDUAL], [RESIDUAL, "4", "--train"]])
def test_a_network_is_run_whole(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert cli.run(["warm", *words, "--jobs", "1"]) == 0
    assert re.fullmatch(r"compiled \d+ kernels \(\d+\.\d s of compilation\) in \d+\.\d s\n", capsys.readouterr().out)


@pytest.mark.heavy
@pytest.mark.clause("Cli/warm")
def test_nothing_is_left_to_compile(tmp_path: Path) -> None:
    def warm(*words: str) -> int:
        environment = {**os.environ, "REFIMPL_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-m", "refimpl.cli", "warm", RESIDUAL, "4", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return int(re.findall(r"compiled (\d+) kernels", done.stdout)[0])

    assert warm("--train", "--jobs", "2") > 10
    assert warm("--train", "--jobs", "1") == 0
    code = (
        "import refimpl as mx, sys; from refimpl.cli.compiling import watched\n"
        "with watched(lambda watch: None) as watch:\n"
        f"    module = mx.mod.Module.load({RESIDUAL!r}, 4)\n"
        "    module.bind([('data', (1, 3, 16, 16))], [('softmax_label', (1,))])\n"
        "    module.init_optimizer(optimizer_params={'momentum': 0.9})\n"
        "    module.forward_backward(mx.io.DataBatch([mx.nd.ones((1, 3, 16, 16))], [mx.nd.ones(1)]))\n"
        "    module.update()\n"
        "    mx.nd.waitall()\n"
        "sys.exit(watch.done)\n"
    )
    environment = {**os.environ, "REFIMPL_CACHE_DIR": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


@pytest.mark.clause("Cli/optimizer", "Cli/input-shape", "Cli/checkpoint-exists", "Cli/fits-network", "Cli/input-name")
@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("Cli/optimizer", [RESIDUAL, "--optimizer", "sdg"]),
        ("Cli/input-shape", [DETECTOR, "4"]),
        ("Cli/checkpoint-exists", ["gone"]),
        ("Cli/checkpoint-exists", [RESIDUAL, "5"]),
        ("Cli/fits-network", [RESIDUAL, "4", "--shape", "data=1,4,16,16"]),
        ("Cli/input-name", [RESIDUAL, "4", "--shape", "date=1,4,16,16"]),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], clause: str, words: list[str]) -> None:
    assert cli.run(["warm", *words]) == 2
    streams = capsys.readouterr()
    assert f"[{clause}]" in streams.err
    assert streams.err.count("\n") == 1
