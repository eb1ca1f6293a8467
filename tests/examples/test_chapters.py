"""Runs the Python of every chapter, block after block in one namespace."""

from __future__ import annotations

from pathlib import Path

import pytest

from spec import trace


@pytest.mark.heavy
@pytest.mark.parametrize("file", trace.chapters(), ids=lambda file: str(file.relative_to(trace.ROOT)))
def test_chapter(file: Path) -> None:
    trace.run_chapter(file)
