"""A kernel that is compiled soon, and cache folders of their own to keep it in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from refimpl.kernels.foundation import Loop, cache, loop


def double(x):  # without arrays, so that it is compiled soon
    return 2 * x


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache folder of its own; what was decided about others is forgotten."""
    monkeypatch.setenv("REFIMPL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(loop, "LOOPS", [])
    monkeypatch.setattr(cache, "_TOLD", set())
    cache.folder.cache_clear()
    cache._remove_old.cache_clear()
    yield tmp_path / "cache"
    cache.folder.cache_clear()


_KEPT: list[tuple[str, bytes]] = []  # its folder and name; its content


@pytest.fixture
def kept(root: Path) -> Path:
    """The file of the kernel, as an earlier process left it."""
    if not _KEPT:
        run()
        file = the_file(root)
        _KEPT.append((str(file.relative_to(root)), file.read_bytes()))
    name, content = _KEPT[0]
    assert Loop(double).cpu  # that makes its folder
    (root / name).write_bytes(content)
    (root / name).chmod(0o600)
    return root / name


def run(kernel: Loop | None = None, dtype: type = np.float32) -> Loop:
    """Call the kernel, as a new process would where none is given."""
    kernel = kernel or Loop(double)
    assert kernel.cpu(dtype(-1.5)) == -3.0
    return kernel


def loaded(kernel: Loop) -> bool:
    assert sum(kernel.cpu.stats.cache_hits.values()) + sum(kernel.cpu.stats.cache_misses.values()) == 1
    return bool(kernel.cpu.stats.cache_hits)


def the_file(root: Path) -> Path:
    file, = root.glob("*/*")
    return file
