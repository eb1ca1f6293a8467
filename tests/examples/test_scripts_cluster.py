"""The script that trains on a cluster and kills a server."""

from __future__ import annotations

import importlib
from pathlib import Path

import numba
import pytest

SCRIPTS = Path(__file__).with_name("scripts")
pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="training interpreted loops takes minutes")


@pytest.mark.clause("Cluster/durable")
def test_training_survives_a_server(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    found = importlib.import_module("cluster_digits").main(["--epochs", "2", "--workers", "3"])
    batches = 2 * (1437 // (3 * 16))
    assert found["as in peace"]
    assert all(found[f"{name} alike"] for name in ("peace", "killed", "async"))
    assert [found[f"{name} applied"] for name in ("peace", "killed", "async")] == [{batches}, {batches}, {3 * batches}]
    assert found["killed accuracy"] == found["peace accuracy"] > 0.7
    assert found["async accuracy"] > 0.7
    assert "3 crash, 3 restart" in capsys.readouterr().out
