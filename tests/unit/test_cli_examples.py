"""``refimpl examples``: scripts that come with the package."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from refimpl import cli

examples = importlib.import_module("refimpl.cli.examples")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.mark.clause("Cli/examples")
def test_they_are_listed_and_shown(capsys) -> None:
    for words in (["examples"], ["examples", "list"]):
        assert cli.run(words) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("svrg_digits: SVRG against SGD where the optimum is known")
        assert [line.partition(":")[0] for line in lines[:-1]] == examples.names()
    assert "digits_training" not in examples.names()
    assert cli.run(["examples", "show", "cluster-digits"]) == 0
    assert capsys.readouterr().out == (examples.CHECKOUT / "cluster_digits.py").read_text(encoding="utf-8")


@pytest.mark.clause("Cli/examples")
def test_one_is_run_with_its_arguments(capsys) -> None:
    before = list(sys.path)
    assert cli.run(["examples", "run", "svrg_digits", "--help"]) == 0
    assert "--passes" in capsys.readouterr().out
    assert cli.run(["examples", "run", "svrg_digits", "--no-such-flag"]) == 2
    assert "unrecognized arguments" in capsys.readouterr().err
    assert sys.path == before


@pytest.mark.clause("Cli/examples")
def test_a_copy_brings_what_it_imports(capsys) -> None:
    assert cli.run(["examples", "copy", "cluster_digits", "."]) == 0
    found = {file.name for file in Path.cwd().iterdir()}
    assert found == {"cluster_digits.py", "digits_training.py", "mlp_digits.py"}
    assert cli.run(["examples", "copy", "mlp_digits", "."]) == 2
    assert "[Cli/example-keeps]" in capsys.readouterr().err
    assert cli.run(["examples", "copy", "mlp_digits", "nowhere"]) == 2
    assert "[Cli/folder-exists]" in capsys.readouterr().err


@pytest.mark.heavy
@pytest.mark.clause("Cli/examples")
def test_a_copy_runs_anywhere() -> None:
    assert cli.run(["examples", "copy", "mlp_digits", "."]) == 0
    done = subprocess.run(
        [sys.executable, "mlp_digits.py", "--epochs", "1"], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.clause("Cli/example-keeps")
def test_no_file_is_overwritten(capsys) -> None:
    Path("lenet_digits.py").write_text("mine")
    assert cli.run(["examples", "copy", "lenet_digits", "."]) == 2
    assert Path("lenet_digits.py").read_text() == "mine"
    assert len(list(Path.cwd().iterdir())) == 1


@pytest.mark.clause("Cli/example-known")
@pytest.mark.parametrize("command", [["show"], ["run"], ["copy"]])
def test_another_name_is_refused(command, capsys) -> None:
    assert cli.run(["examples", *command, "svrg_digit", *(["."] if command == ["copy"] else [])]) == 2
    error = capsys.readouterr().err
    assert "did you mean svrg_digits" in error
    assert "[Cli/example-known]" in error


def test_the_wheel_brings_them(monkeypatch, tmp_path, capsys) -> None:
    (tmp_path / "scripts").mkdir()
    text = '"""Mine.\n\nMore."""\nif __name__ == "__main__":\n    print("ran")\n'
    (tmp_path / "scripts" / "mine.py").write_text(text)
    monkeypatch.setattr(examples, "INSTALLED", tmp_path / "scripts")
    assert cli.run(["examples"]) == 0
    assert capsys.readouterr().out.startswith("mine: Mine.\n")
    assert cli.run(["examples", "run", "mine"]) == 0
    assert capsys.readouterr().out == "ran\n"
