"""Every row of the benchmark runs in MXNet 1.9.1 too, and in PyTorch where there is one, on small sizes.

    REFIMPL_MXNET_PYTHON=PATH REFIMPL_TORCH_PYTHON=PATH python -m pytest -m peer tests/peers/test_bench.py

About four minutes. Times are not looked at.
"""

from __future__ import annotations

import os
import sys

import pytest

from refimpl.cli.benchmark import interleaving
from refimpl.cli.benchmark.rows import GROUPS, ROWS

from .asking import PYTHON, needs_mxnet

TORCH = os.environ.get("REFIMPL_TORCH_PYTHON")
pytestmark = [pytest.mark.peer, needs_mxnet]


@pytest.mark.parametrize("group", [name for name in GROUPS if name != "start"])
def test_the_rows_of_a_group_run(group: str) -> None:
    pythons = {interleaving.OURS: sys.executable, "mxnet": PYTHON, **({"torch": TORCH} if TORCH else {})}
    wanted = interleaving.Wanted((group,), pythons, rounds=1, most=8)
    found = interleaving.run(wanted, lambda row: None)
    assert [row["errors"] for row in found["rows"] if row["errors"]] == []
    assert [row["name"] for row in found["rows"]] == [ROWS[n].name for n in interleaving.numbers(wanted)]
    assert all(row["median"].keys() >= {interleaving.OURS, "mxnet"} for row in found["rows"])
