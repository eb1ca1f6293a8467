"""The pytest plugin, as an installation has it: in a process of its own, in a folder with nothing but a backend."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from refimpl.oracle import judge, program_of, search
from refimpl.oracle.pytest_items import load, seconds_of

from .planted_bugs import planted

ROOT = Path(__file__).parents[2]
TOY = (
    "import sys\nsys.path.insert(0, {root!r})\n"
    "from tests.oracle.planted_bugs import planted\nmine = planted({bugs})\n"
)


def run(folder: Path, *options: str, bugs: str = "", plugins: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """pytest in a folder with the plugin, a backend and no tests."""
    shutil.copytree(ROOT / "refimpl/oracle/plugin", folder / "refimpl_oracle", dirs_exist_ok=True)
    (folder / "toy.py").write_text(TOY.format(root=str(ROOT), bugs=bugs))
    environment = {
        **os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "refimpl_oracle", "-p", "no:cacheprovider"]
    for plugin in plugins:
        command += ["-p", plugin]
    return subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )


def test_without_the_option_nothing_is_collected(tmp_path: Path) -> None:
    found = run(tmp_path)
    assert found.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, found.stdout


def test_a_sound_backend_passes_in_an_empty_folder(tmp_path: Path) -> None:
    found = run(tmp_path, "--oracle-backend=toy:mine", "--oracle-programs=16")
    assert found.returncode == pytest.ExitCode.OK, found.stdout
    assert "8 passed" in found.stdout


def test_a_python_that_is_not_there(tmp_path: Path) -> None:
    found = run(tmp_path, "--oracle-backend=toy:mine", "--oracle-python=/no/python")
    assert found.returncode != pytest.ExitCode.OK
    assert "there is no Python /no/python" in found.stdout + found.stderr


@pytest.mark.heavy
def test_a_planted_bug_fails_with_its_report(tmp_path: Path) -> None:
    found = run(
        tmp_path, "--oracle-backend=toy:mine", "--oracle-programs=4", "--oracle-report=out", "--oracle-level=1",
        bugs="'rounded'",
    )
    assert found.returncode == pytest.ExitCode.TESTS_FAILED, found.stdout
    assert "Traceback" not in found.stdout
    assert "  differs   " in found.stdout
    folders = sorted(folder.name for folder in (tmp_path / "out").iterdir())
    assert folders == [f"level1-{shard}" for shard in range(4)]
    data = json.loads((tmp_path / "out/level1-1/results.json").read_text())
    assert data["programs"] == 1
    assert (tmp_path / "out/level1-1/report.html").read_text().startswith("<!doctype html>")


@pytest.mark.heavy
def test_any_number_of_workers_runs_the_same_programs(tmp_path: Path) -> None:
    options = ("--oracle-backend=toy:mine", "--oracle-programs=80", "--oracle-report=out", "--oracle-seed=3")
    run(tmp_path, *options, "-n", "2", bugs="'rounded'", plugins=("xdist.plugin",))
    for level in (1, 2):
        for shard in range(4):
            data = json.loads((tmp_path / f"out/level{level}-{shard}/results.json").read_text())
            alone = search(planted("rounded"), seed=3, level=level, programs=10, start=shard * 1_000_000)
            assert [entry["original"] for entry in data["found"]] == [found.original for found in alone.found]
            assert data["statuses"] == dict(alone.statuses)


@pytest.mark.clause("Cli/oracle-input")
@pytest.mark.parametrize(("name", "message"), [
    ("toy", "'toy' names no implementation: write package.module:Name"),
    ("no_such_module:mine", "no_such_module:mine cannot be loaded: No module named 'no_such_module'"),
    ("json:mine", "json:mine cannot be loaded: module 'json' has no attribute 'mine'"),
    ("toy:mine(open('f'))", "names no implementation: write package.module:Name, or Name\\(key=literal\\)"),
    ("toy:mine.other", "names no implementation"), ("toy:mine(", "names no implementation"),
    ("json:dumps(colour=3)", "cannot be loaded"),
])
def test_a_backend_that_is_not_there_is_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(name)


def test_a_plain_function_is_called_and_a_function_with_literals_is_called_with_them() -> None:
    assert load("refimpl.oracle.backends.ours:tuned").form == "tuned"
    made: Any = load("types:SimpleNamespace(device='cpu', compile=True, most=-3)")
    assert (made.device, made.compile, made.most) == ("cpu", True, -3)


def test_a_backend_may_run_in_a_process_of_its_own() -> None:
    backend = load("tests.oracle.planted_bugs:sound", isolate=True)
    program = program_of(0, 0, planted().capabilities)
    assert judge(backend, program).status == "passed"
    backend.close()


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("5m", 300), ("1h", 3600), ("2.5", 2.5)])
def test_a_time_has_a_unit(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.clause("Cli/oracle-input")
@pytest.mark.parametrize("text", ["", "soon", "5 days", "-3s"])
def test_another_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no time: write 60s, 5m or 1h"):
        seconds_of(text)


@pytest.mark.heavy
def test_a_parameter_server_has_tests_of_its_level_alone(tmp_path: Path) -> None:
    found = run(tmp_path, "--oracle-backend=refimpl.oracle.backends.servers:LosesAPush", "--oracle-programs=4")
    assert found.returncode == pytest.ExitCode.TESTS_FAILED, found.stdout
    assert "level7[0]" in found.stdout
    assert "level2[0]" not in found.stdout
    assert "lost: worker 0's pull 0 of key" in found.stdout
