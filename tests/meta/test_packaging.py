"""The installed package holds what the checkout holds."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_package_is_installed() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("\npackages = [")[2].partition("]")[0]
    listed = set(re.findall(r'"(refimpl[\w.]*)"', section))
    folder = re.search(r'"refimpl_oracle" = "(.*)"', text)[1].replace("/", ".")
    listed = {folder if name == "refimpl_oracle" else name for name in listed}  # under a name of its own
    present = {
        ".".join(("refimpl", *file.parent.relative_to(ROOT / "refimpl").parts))
        for file in (ROOT / "refimpl").rglob("__init__.py")
    }
    present |= {
        ".".join(("refimpl.kernels", *file.parent.relative_to(ROOT / "kernels").parts))
        for file in (ROOT / "kernels").rglob("__init__.py")
    }
    assert listed == present


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
