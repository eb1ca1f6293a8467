"""Hostile calls of every operator: parameters, shapes, types and values that nobody means.

    python -m pytest -m long -k sizes        50,000 calls; REFIMPL_SIZES_SEED draws others

The default run makes one hundredth of them and more, on loops that run as Python with checked indices. With
``NUMBA_BOUNDSCHECK=1`` they run as machine code too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numba
import pytest

import refimpl as mx
from refimpl.kernels import distinct, get
from refimpl.oracle.pages.draws import SeededDraw
from refimpl.resource import random_streams

from . import hostile

OPERATORS = [op.name for op in distinct() if op.cases is not None]
each_operator = pytest.mark.parametrize("name", OPERATORS)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, about parameters such as infinity
ROOT = Path(__file__).parents[2]
CALLS, CHILDREN = 50_000, 2
SEED = int(os.environ.get("REFIMPL_SIZES_SEED", "0"))


@pytest.fixture(autouse=True, scope="module")
def _streams() -> None:
    random_streams(mx.cpu())  # many steps, which count for no operator


@each_operator
def test_stays_inside(name: str) -> None:
    for seed in range(2):
        hostile.stays_inside(get(name), SeededDraw(seed))


@each_operator
def test_takes_any_values(name: str) -> None:
    hostile.takes_any_values(get(name), SeededDraw(0))


@each_operator
def test_takes_any_memory(name: str) -> None:
    hostile.takes_any_memory(get(name), SeededDraw(0))


@pytest.mark.skipif(not numba.config.BOUNDSCHECK, reason="needs NUMBA_BOUNDSCHECK=1")
@each_operator
def test_machine_code_stays_inside(name: str) -> None:
    for seed in range(6):
        hostile.machine_code_stays_inside(get(name), SeededDraw(seed))


@pytest.mark.long
def test_fifty_thousand_calls(tmp_path: Path) -> None:
    seeds = -(-CALLS // len(OPERATORS))
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.laws.hostile_child", *map(str, (SEED * seeds, seeds, number, CHILDREN))],
            cwd=ROOT, env=os.environ | {"NUMBA_BOUNDSCHECK": "1", "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE, stderr=(tmp_path / str(number)).open("w"), text=True,
        )
        for number in range(CHILDREN)
    ]
    ended, wrong = Counter[str](), []
    for number, child in enumerate(children):
        printed, _ = child.communicate()
        log = (tmp_path / str(number)).read_text()
        assert child.returncode == 0, f"ended with {child.returncode} in {log[-3000:]}"
        found = json.loads(printed.splitlines()[-1])
        ended.update(found["ended"])
        wrong += found["wrong"]
    assert not wrong, "\n".join(wrong[:20])
    assert sum(ended.values()) == seeds * len(OPERATORS) >= CALLS
    assert ended["ran"] > CALLS // 2, ended  # what is always refused shows nothing
