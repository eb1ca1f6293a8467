"""``refimpl oracle environment``: a Python with the libraries that backends need."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from ..base import decides, printable
from .errors import refuse, say

NEEDED = ("numpy", "numba", "onnx", "protobuf")
"""What every process of a backend needs. Refimpl itself is not installed: ``isolate`` brings its own."""
CPU_TORCH = ("--index-url", "https://download.pytorch.org/whl/cpu")
"""PyPI's torch needs 5 GB of CUDA on Linux."""


class Library(NamedTuple):
    """What a backend or an engine needs."""

    packages: tuple[str, ...] = ()
    """Of PyPI; the first one's version may be chosen."""
    options: tuple[str, ...] = ()
    """For pip."""
    npm: str = ""
    """A package of npm. It is installed without its scripts, which download binaries."""
    program: str = ""
    """A program that must be there already."""


ENGINES = {
    "iree": Library(("iree-base-compiler", "iree-base-runtime")),
    "mnn": Library(("MNN",)),
    "onnxruntime": Library(("onnxruntime",)),
    "onnxruntime-web": Library(npm="onnxruntime-web"),
    "openvino": Library(("openvino",)),
    "tinygrad": Library(("tinygrad",), program="clang"),
    "tract": Library(("tract",)),
    "tvm": Library(("apache-tvm",)),
}
"""Of ONNX models: installed where nothing else is named."""
LIBRARIES = {
    **ENGINES,
    "jax": Library(("jax",)),
    "mlx": Library(("mlx", "mlx-cpu")),
    "paddle": Library(("paddlepaddle",)),
    "tensorflow": Library(("tensorflow-cpu",)),
    "torch": Library(("torch",), options=CPU_TORCH),
}

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own


class NotInstalled(Exception):
    """Something could not be installed; the text says why."""


class Environment:
    """A virtual environment that is made.

    Args:
        folder: where.
        run: what runs a command.
    """

    def __init__(self, folder: Path, run: Run = _run) -> None:
        self.folder, self._run = folder, run
        self.python = folder.absolute() / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    def make(self) -> None:
        """Make it, or use the one that is there."""
        if not self.python.exists():
            self._do([sys.executable, "-m", "venv", str(self.folder)])
        self._pip(NEEDED)

    def add(self, library: Library, version: str = "") -> None:
        """Install a library; the newest one where no version is named.

        Raises:
            NotInstalled: with the reason.
        """
        if library.program and shutil.which(library.program) is None:
            raise NotInstalled(f"there is no program {library.program} here")
        pinned = f"=={version}" if version else ""
        if library.packages:
            self._pip((library.packages[0] + pinned, *library.packages[1:]), library.options)
        if library.npm:
            package = library.npm + (f"@{version}" if version else "")
            target = self.folder.absolute() / "node"
            target.mkdir(exist_ok=True)
            self._do([
                shutil.which("npm") or "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
                "--prefix", str(target), package,
            ])

    def installed(self, library: Library) -> str:
        """The names and versions of a library's packages."""
        if library.npm:
            text = (self.folder / "node/node_modules" / library.npm / "package.json").read_text(encoding="utf-8")
            return f"{library.npm} {json.loads(text)['version']}"
        found = json.loads(self._do([str(self.python), "-m", "pip", "list", "--format=json"]))
        versions = {each["name"].lower().replace("_", "-"): each["version"] for each in found}
        return ", ".join(f"{name} {versions.get(name.lower(), '')}" for name in library.packages)

    def conflicts(self) -> list[str]:
        """What pip says of packages that do not fit together."""
        done = self._run([str(self.python), "-m", "pip", "check"])
        return done.stdout.splitlines() if done.returncode else []

    def _pip(self, packages: Sequence[str], options: Sequence[str] = ()) -> None:
        self._do([str(self.python), "-m", "pip", "install", "--quiet", "--upgrade", *options, *packages])

    def _do(self, command: Sequence[str]) -> str:
        try:
            done = self._run(command)
        except OSError as error:
            raise NotInstalled(f"{command[0]}: {error.strerror}") from error
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.lower().startswith(("error", "npm err"))]
            raise NotInstalled(printable(" ".join(lines))[:300] or f"exit code {done.returncode}")
        return done.stdout


@decides("Cli/oracle-environment")
def make(folder: Path, names: Sequence[str], run: Run = _run) -> int:
    """Make an environment, and say what is in it.

    Args:
        folder: where.
        names: keys of ``LIBRARIES``, each with ``==VERSION`` or without.
        run: what runs a command.

    Returns:
        how many of the libraries could not be installed.

    Raises:
        CommandError: a name is unknown, the folder is in refimpl's source tree, or Python makes no environment.
    """
    wanted = [(name, *name.partition("==")[::2]) for name in names]
    unknown = [name for name, key, _ in wanted if key not in LIBRARIES]
    if unknown:
        raise refuse("Cli/oracle-input", f"unknown: {', '.join(unknown)}; there are {', '.join(LIBRARIES)}")
    tree = Path(__file__).resolve().parents[2]
    if (tree / "pyproject.toml").exists() and folder.resolve().is_relative_to(tree):
        raise refuse("Cli/oracle-input", f"{folder} is in refimpl's source tree: choose a folder outside")
    environment, missing = Environment(folder, run), 0
    try:
        environment.make()
    except NotInstalled as error:
        raise refuse("Cli/oracle-input", f"{folder}: {error}") from error
    for name, key, version in wanted:
        try:
            environment.add(LIBRARIES[key], version)
            say(f"{name}: {environment.installed(LIBRARIES[key])}", flush=True)
        except (NotInstalled, OSError) as error:
            missing += 1
            say(f"{name}: not installed: {error}", flush=True)
    for conflict in environment.conflicts():
        say(f"pip: {conflict}")
    say(f"use it: refimpl oracle check BACKEND --python {environment.python}")
    return missing


def environment(
    folder: Annotated[Path, typer.Argument(help="Folder for the environment, outside of refimpl's source tree.")],
    only: Annotated[
        str, typer.Option(help=f"Which, separated by commas, as tract or tract==0.22.0: {', '.join(LIBRARIES)}.")
    ] = ",".join(ENGINES),
) -> None:
    """Make a Python with the libraries that backends need. The exit code is 1 where one could not be installed.

    By default with all engines of ONNX models.
    """
    raise typer.Exit(1 if make(folder, [name.strip() for name in only.split(",") if name.strip()]) else 0)
