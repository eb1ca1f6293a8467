"""Runs the Python of every chapter, block after block in one namespace."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest

from spec import trace

TRAINING = {"README.md", "spec/records/tutorials.md"}  # networks that take a minute or more in interpreted loops


@pytest.mark.heavy
@pytest.mark.parametrize("file", trace.chapters(), ids=lambda file: str(file.relative_to(trace.ROOT)))
def test_chapter(file: Path) -> None:
    if numba.config.DISABLE_JIT and file.relative_to(trace.ROOT).as_posix() in TRAINING:
        pytest.skip("training interpreted loops takes minutes")
    trace.run_chapter(file)
