"""The page for readers of PyTorch and JAX: its blocks in their languages run, where these are installed.

    REFIMPL_TORCH_PYTHON=PATH REFIMPL_JAX_PYTHON=PATH python -m pytest -m peer tests/peers/test_other_languages.py

The blocks of the page in Python are run with the other chapters; both blocks of a pair make the same assertions.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "spec/course/from-pytorch-and-jax.md"
BLOCK = re.compile(r"^```py (torch|jax)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(found[1], found[2]) for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]
pytestmark = pytest.mark.peer


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_in_another_language_holds(number: int, tmp_path: Path) -> None:
    language, code = BLOCKS[number]
    python = os.environ.get(f"REFIMPL_{language.upper()}_PYTHON")
    if not python:
        pytest.skip(f"set REFIMPL_{language.upper()}_PYTHON to a Python that has {language}")
    assert "assert " in code
    (tmp_path / "block.py").write_text(code, encoding="utf-8")
    done = subprocess.run([python, "block.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_every_pair_has_a_block_of_each_side() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        assert "```python\n" in section, section[:40]
        assert BLOCK.search(section), section[:40]
