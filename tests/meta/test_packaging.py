"""The installed package holds what the checkout holds."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from spec import release, wheel

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent.parent


def _checkout(root: Path, kernels: str) -> Path:
    """A checkout with five packages, and ``kernels`` as the text or the target of refimpl/kernels."""
    for folder in ("refimpl", "refimpl/cli", "refimpl/cli/entry", "refimpl/data/raw", "kernels", "kernels/shared"):
        (root / folder).mkdir(parents=True)
        if folder != "refimpl/data/raw":
            (root / folder / "__init__.py").touch()
    if kernels == "link":
        (root / "refimpl/kernels").symlink_to("../kernels")
    else:
        (root / "refimpl/kernels").write_text("../kernels")
    return root


@pytest.mark.parametrize("kernels", ["link", "text"])
def test_packages_are_found_with_the_link_and_without(tmp_path: Path, kernels: str) -> None:
    folders = {"refimpl": "refimpl", "refimpl.kernels": "kernels", "refimpl_entry": "refimpl/cli/entry"}
    found = wheel.packages(folders, _checkout(tmp_path, kernels))
    assert found == ["refimpl", "refimpl.cli", "refimpl.kernels", "refimpl.kernels.shared", "refimpl_entry"]


def test_every_package_is_installed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert set(settings["packages"]) == set(settings["package-dir"])
    assert settings["cmdclass"] == {"build_py": "spec.wheel.BuildPy"}
    folders = settings["package-dir"]
    installed = []
    for package in wheel.packages(folders):
        top = max((name for name in folders if f"{package}.".startswith(f"{name}.")), key=len)
        installed.append(ROOT.joinpath(folders[top], *package.removeprefix(top).split(".")))
    present = {file.parent.resolve() for name in ("refimpl", "kernels") for file in (ROOT / name).rglob("__init__.py")}
    assert sorted(installed) == sorted(present)


def test_the_pytest_plugin_imports_neither_refimpl_nor_numba(tmp_path: Path) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[project.entry-points.pytest11]")[2].partition("\n[")[0]
    name = re.search(r'^refimpl-oracle = "(\w+)"$', section, re.MULTILINE)[1]
    folder = ROOT / re.search(rf'"{name}" = "(.*)"', text)[1]
    shutil.copytree(folder, tmp_path / name)  # as an installation does
    code = f"import sys, {name}; assert not {{'refimpl', 'numba', 'numpy'}} & set(sys.modules); print({name}.__file__)"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(found.stdout.strip()).parent == tmp_path / name


def test_version_is_one() -> None:
    import refimpl

    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{refimpl.__version__}"' in text


def test_a_checkout_without_links_is_found(tmp_path: Path) -> None:
    for name in ("refimpl", "kernels"):
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True)
    link = tmp_path / "refimpl" / "kernels"
    assert link.is_symlink() or link.is_file()  # Git on Windows makes the file itself
    link.unlink()
    link.write_text("../kernels")
    code = "import refimpl.kernels.dot as dot; print(dot.__file__)"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(found.stdout.strip()).resolve() == (tmp_path / "kernels" / "dot.py").resolve()


DISTRIBUTIONS = {
    **dict.fromkeys(("MNN", "_tools", "iree", "openvino", "tinygrad", "tract", "tvm"), ""),  # engines
    "typing_extensions": "",  # for type checkers only, which bring it
    "PIL": "pillow", "cv2": "", "mxnet": "", "jax": "", "torch": "", "scipy": "",
    "mlx": "", "paddle": "", "tensorflow": "",
}
"""Imported names of other distributions; an empty one is somebody else's library, which no extra of ours brings."""


def test_every_imported_package_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    declared = {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in lines}
    sources = [*(ROOT / "kernels").rglob("*.py"), *(ROOT / "refimpl").rglob("*.py")]
    pattern = re.compile(r"^ *(?:from (\w+)[\w.]* import|import (\w+)) ?", re.MULTILINE)
    found = chain(*(pattern.findall(file.read_text(encoding="utf-8")) for file in sources))
    needed = {left or right for left, right in found}
    needed -= {"refimpl", "programs", *sys.stdlib_module_names}
    assert {"numba", "llvmlite", "numpy"} <= needed
    assert sorted(name for name in needed if DISTRIBUTIONS.get(name, name) not in {"", *declared}) == []


def test_what_a_release_says_of_itself() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"] == "Apache-2.0"
    assert project["authors"]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    tested = set(re.findall(r'python: "(3\.\d+)"', workflow))
    said = {line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert said - {"3.12"} == tested  # every lane runs with 3.12
    assert set(release.versions(ROOT).values()) == {project["version"]}


def test_a_tag_of_another_version_is_not_released() -> None:
    assert len([line for line in release.problems(ROOT, "v999.0.0") if "the tag says 999.0.0" in line]) == 4


def test_python_runs_the_package(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(sys, "argv", ["refimpl", "--version"])
    with pytest.raises(SystemExit) as ended:  # as python -m refimpl
        importlib.import_module("refimpl.__main__")
    assert ended.value.code == 0
    assert re.fullmatch(r"refimpl \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)
