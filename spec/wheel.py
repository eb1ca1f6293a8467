"""What the wheel's build adds to ``pyproject.toml``: the packages below those that it names, the deviations and the
source of the tests that prove rules, for ``refimpl rule``, and the scripts of ``refimpl examples``.

``pyproject.toml`` names the class below, so that ``pip install .`` and ``pip wheel .`` run it. In a checkout the
chapters and the tests themselves are read.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

from setuptools import find_packages
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent.parent
RULES = Path("refimpl/rules")
EXAMPLES, SCRIPTS = ROOT / "tests" / "examples" / "scripts", Path("refimpl/cli/scripts")


def sources(root: Path) -> dict[str, tuple[int, str]]:
    """``FILE::NAME`` of every test that the index names -> its first line and its source."""
    places = _module(root, "places")
    found: dict[str, tuple[int, str]] = {}
    for row in json.loads((root / RULES / "index.json").read_text(encoding="utf-8")):
        for place in row[3]:
            if place not in found:
                found[place] = places.found(place)
    return found


def deviations(root: Path) -> list[tuple[str, ...]]:
    """The rows of the chapters on deviations."""
    return _module(root, "deviations").of_chapters(root)


def _module(root: Path, name: str) -> Any:
    """A file of ``refimpl/rules/``, without the package, which needs Numba."""
    spec = importlib.util.spec_from_file_location(name, root / RULES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packages(folders: dict[str, str], root: Path = ROOT) -> list[str]:
    """The packages of ``folders``, name -> folder, and those below them but for folders that have a name there."""
    named = {Path(folder) for folder in folders.values()}
    below = {
        f"{name}.{found}" for name, folder in folders.items() for found in find_packages(str(root / folder))
        if Path(folder, *found.split(".")) not in named
    }
    return sorted({*folders, *below})


class BuildPy(build_py):
    """Copy the packages, and write the files of ``refimpl/rules`` and ``refimpl/cli/scripts`` beside them."""

    def finalize_options(self) -> None:
        """Do what setuptools does, then find the packages."""
        super().finalize_options()
        self.packages = packages(self.package_dir)

    def run(self) -> None:
        """Do what setuptools does, then write the files; not in an editable install, which reads the tests."""
        super().run()
        if not self.editable_mode:
            text = json.dumps(sources(ROOT), ensure_ascii=False, separators=(",", ":"))
            target = Path(self.build_lib, RULES, "tests.json.gz")
            target.write_bytes(gzip.compress(text.encode(), mtime=0))
            rows = json.dumps(deviations(ROOT), ensure_ascii=False)
            Path(self.build_lib, RULES, "deviations.json").write_text(rows, encoding="utf-8")
            Path(self.build_lib, SCRIPTS).mkdir(parents=True, exist_ok=True)
            for script in EXAMPLES.glob("*.py"):
                Path(self.build_lib, SCRIPTS, script.name).write_bytes(script.read_bytes())

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """The files of the build, with these."""
        scripts = (SCRIPTS / script.name for script in EXAMPLES.glob("*.py"))
        made = [RULES / "tests.json.gz", RULES / "deviations.json", *scripts]
        added = [] if self.editable_mode else [str(Path(self.build_lib, file)) for file in made]
        return [*super().get_outputs(include_bytecode), *added]
