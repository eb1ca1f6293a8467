"""The pytest plugin, as an installation has it: in a process of its own, in a folder with nothing but a backend."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from refimpl.oracle import judge, name_of, program_of, search
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


def test_a_sound_backend_passes_in_an_empty_folder_and_says_how_far_it_came(tmp_path: Path) -> None:
    found = run(tmp_path, "--oracle-backend=toy:mine", "--oracle-programs=16")
    assert found.returncode == pytest.ExitCode.OK, found.stdout
    assert "1 passed" in found.stdout
    assert "level 1: 8 programs: 8 passed" in found.stdout
    assert "level 2: 8 programs: 8 passed" in found.stdout


def cases_in(file: Path) -> dict[str, ET.Element]:
    """The test cases of a JUnit file by name."""
    return {case.attrib["name"]: case for case in ET.parse(file).iter("testcase")}


@pytest.mark.clause("oracle/junit")
@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.heavy)])
def test_each_cause_is_a_test_case_with_its_own_id(tmp_path: Path, workers: tuple[str, ...]) -> None:
    plugins = ("xdist.plugin",) if workers else ()
    options = ("--oracle-backend=toy:mine", "--oracle-programs=24", "--oracle-level=2", *workers)
    ids = []
    for seed in (0, 1):
        found = run(
            tmp_path, *options, f"--oracle-seed={seed}", f"--junitxml={seed}.xml", bugs="'tie'", plugins=plugins,
        )
        assert found.returncode == pytest.ExitCode.TESTS_FAILED, found.stdout
        assert "Traceback" not in found.stdout
        assert "  differs   " in found.stdout
        cases = cases_in(tmp_path / f"{seed}.xml")
        assert cases.pop("search").find("failure") is None
        ids.append(set(cases))
        for case in cases.values():
            told = {each.attrib["name"]: each.attrib["value"] for each in case.iter("property")}
            assert told["clause"] == "unary/at-zero"
            assert name_of(json.loads(told["replay"])) == told["program"]
            assert "relu gradient" in case.find("failure").text
    tie = "relu gradient of input 0 with write- zero is expected"
    assert tie in ids[0] & ids[1]  # two seeds have different programs and one id


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
    data = json.loads((tmp_path / "out/results.json").read_text())
    assert (data["programs"], data["drawn"]["levels"]) == (4, [1])
    alone = search(planted("rounded"), seed=0, level=1, programs=4)
    assert [entry["original"] for entry in data["found"]] == [found.original for found in alone.found]
    assert (tmp_path / "out/report.html").read_text().startswith("<!doctype html>")
    assert "<a href='report.html'>" in (tmp_path / "out/index.html").read_text()


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
    assert "level 7: 4 programs" in found.stdout
    assert "level 2" not in found.stdout
    assert "lost: worker 0's pull 0 of key" in found.stdout
