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
    present = {
        ".".join(("refimpl", *file.parent.relative_to(ROOT / "refimpl").parts))
        for file in (ROOT / "refimpl").rglob("__init__.py")
    }
    present |= {
        ".".join(("refimpl.kernels", *file.parent.relative_to(ROOT / "kernels").parts))
        for file in (ROOT / "kernels").rglob("__init__.py")
    }
    assert listed == present


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
