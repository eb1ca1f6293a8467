"""``refimpl oracle environment``, and the Python that it makes: no test uses a network."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from refimpl.cli import oracle_environment
from refimpl.cli.errors import CommandError
from refimpl.cli.oracle_environment import LIBRARIES, make
from refimpl.oracle.backends import isolate
from refimpl.oracle.pytest_items import load

from .test_cli_oracle import refimpl  # noqa: F401  # a fixture
from .test_comparing import one_operator


class Machine:
    """Runs no command; pip and npm fail for the packages of ``absent``."""

    def __init__(self, folder, absent=()):
        self.folder, self.absent, self.commands = folder, absent, []

    def __call__(self, command):
        self.commands.append([Path(command[0]).name, *command[1:]])
        words = {word.split("==")[0].split("@")[0] for word in command}
        if words & set(self.absent):
            text = "WARNING: slow\nERROR: no such\nERROR: package\n[notice] x\n"
            return subprocess.CompletedProcess(command, 1, "", text)
        if "venv" in words:
            self.folder.mkdir()
        if "onnxruntime-web" in words:
            package = self.folder / "node/node_modules/onnxruntime-web"
            package.mkdir(parents=True)
            (package / "package.json").write_text('{"version": "3.0"}', encoding="utf-8")
        names = [name for library in LIBRARIES.values() for name in library.packages]
        listed = json.dumps([{"name": name.replace("-", "_"), "version": "2.0"} for name in names])
        code, text = (1, "a needs b") if "check" in words else (0, listed)
        return subprocess.CompletedProcess(command, code, text, "")


@pytest.mark.clause("Cli/oracle-environment")
def test_one_library_that_is_absent_leaves_the_others(tmp_path, capsys):
    machine = Machine(tmp_path / "env", ["openvino"])
    assert make(tmp_path / "env", ["tract", "openvino", "iree", "onnxruntime-web"], machine) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "tract: tract 2.0", "openvino: not installed: ERROR: no such ERROR: package",
        "iree: iree-base-compiler 2.0, iree-base-runtime 2.0", "onnxruntime-web: onnxruntime-web 3.0",
    ]
    assert lines[4] == "pip: a needs b"
    assert lines[5].endswith(f"--python {tmp_path / 'env/bin/python'}")


def test_commands_by_which_an_environment_is_made(tmp_path):
    machine = Machine(tmp_path / "env")
    make(tmp_path / "env", ["torch==2.2.0", "onnxruntime-web==1.0"], machine)
    install = ["python", "-m", "pip", "install", "--quiet", "--upgrade"]
    assert [*install, "numpy", "numba", "onnx", "protobuf"] in machine.commands
    assert [*install, "--index-url", "https://download.pytorch.org/whl/cpu", "torch==2.2.0"] in machine.commands
    npm = machine.commands[-2]
    assert npm[0].startswith("npm")
    assert "--ignore-scripts" in npm
    assert npm[-2:] == [str(tmp_path / "env/node"), "onnxruntime-web@1.0"]


def test_a_library_that_needs_a_program(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(oracle_environment.shutil, "which", lambda name: None)
    assert make(tmp_path / "env", ["tinygrad"], Machine(tmp_path / "env")) == 1
    assert "tinygrad: not installed: there is no program clang here" in capsys.readouterr().out


@pytest.mark.clause("Cli/oracle-input")
def test_what_is_refused_before_anything_is_made(tmp_path):
    machine = Machine(tmp_path / "env", ["venv"])
    with pytest.raises(CommandError, match="unknown: nothing; there are iree, mnn"):
        make(tmp_path / "env", ["tract", "nothing"], machine)
    with pytest.raises(CommandError, match="is in refimpl's source tree"):
        make(Path(oracle_environment.__file__).parent / "env", ["tract"], machine)
    assert machine.commands == []
    with pytest.raises(CommandError, match="ERROR: no such"):
        make(tmp_path / "env", ["tract"], machine)


def test_the_command_ends_with_1_where_one_is_absent(refimpl, monkeypatch, tmp_path):  # noqa: F811
    asked = []

    def made(folder, names):
        asked.append((folder, names))
        return len(names) - 1

    monkeypatch.setattr(oracle_environment, "make", made)
    assert refimpl("environment", tmp_path / "env", "--only", "tract")[0] == 0
    assert refimpl("environment", tmp_path / "env")[0] == 1
    assert asked == [(tmp_path / "env", ["tract"]), (tmp_path / "env", list(oracle_environment.ENGINES))]


# --- the Python of a backend ----------------------------------------------------------------------


@pytest.fixture
def other(tmp_path):
    """Another Python, without any package."""
    venv.create(tmp_path / "other", symlinks=True)
    return str(tmp_path / "other" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


@pytest.mark.clause("oracle/other-python")
def test_packages_of_the_other_python_come_first(other, tmp_path, monkeypatch):
    site = next((tmp_path / "other").glob("lib*/**/site-packages"))
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.chdir(tmp_path)
    (site / "kernels.py").write_text("PLACE = 'here'")  # a name that refimpl's folder has, too
    (site / "sitecustomize.py").write_text(f"import sys\nsys.path += {[p for p in sys.path if 'packages' in p]!r}\n")
    (site / "mine.py").write_text(
        "import os, sys\nimport kernels\nfrom refimpl.oracle.backends import Reference\nclass Mine(Reference):\n"
        "    version = f\"{kernels.PLACE} {sys.prefix} {os.environ.get('PYTHONPATH')}\"\n"
    )
    with isolate("mine:Mine", other) as backend:
        assert backend.version == f"here {tmp_path / 'other'} None"
        assert backend.run(one_operator("relu", (0.5, -1.5)))["1/output0"].tolist() == [0.5, 0]


def test_check_runs_a_backend_in_another_python(refimpl, monkeypatch):  # noqa: F811
    asked = []
    monkeypatch.setattr("refimpl.oracle.pytest_items.isolated", lambda *given: asked.append(given) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        refimpl("check", "a:b", "--python", sys.executable)
    with pytest.raises(ZeroDivisionError):
        load("a:b(c=1)", isolate=True)
    assert asked == [("a:b", sys.executable), ("a:b(c=1)", sys.executable)]


@pytest.mark.clause("Cli/oracle-input")
def test_check_refuses_a_python_that_is_not_there(refimpl):  # noqa: F811
    code, said = refimpl("check", "a:b", "--python", "/no/python")
    assert code == 2
    assert "there is no Python /no/python" in said.err
