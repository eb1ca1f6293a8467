"""Worker programs on a cluster of MXNet processes and on the simulated one: the numbers must be the same."""

from __future__ import annotations

import json
import os
import socket
import subprocess

import numpy as np
import pytest

import refimpl as mx

from . import cluster_programs as programs

pytestmark = [pytest.mark.peer, pytest.mark.skipif("REFIMPL_MXNET_PYTHON" not in os.environ, reason="no MXNet")]
WORKERS, SERVERS, BOUND = 3, 2, "8"
CASES = [
    ("sums", "dist_sync"), ("sums", "dist_device_sync"), ("devices", "dist_sync"), ("devices", "dist_device_sync"),
    ("optimizers", "dist_sync"), ("optimizers", "dist"), ("big", "dist_sync"), ("codes", "dist_sync"),
    ("rows", "dist_sync"),
    ("commuting", "dist_async"), ("training", "dist_sync"), ("training", "dist_device_sync"),
]


def of_mxnet(name: str, kind: str) -> list:
    """What the workers of a real cluster return, in no order."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"} | {
        "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(port), "DMLC_NUM_WORKER": str(WORKERS),
        "DMLC_NUM_SERVER": str(SERVERS), "MXNET_KVSTORE_BIGARRAY_BOUND": BOUND,
    }
    python = os.environ["REFIMPL_MXNET_PYTHON"]

    def process(role: str, *command: str) -> subprocess.Popen:
        return subprocess.Popen(
            [python, *command], env=environment | {"DMLC_ROLE": role}, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )

    others = [process(role, "-c", "import mxnet") for role in ("scheduler", *["server"] * SERVERS)]
    workers = [process("worker", programs.__file__, name, kind) for _ in range(WORKERS)]
    try:
        return [json.loads(worker.communicate(timeout=120)[0].splitlines()[-1]) for worker in workers]
    finally:
        for each in (*others, *workers):
            each.kill()
            each.wait()


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_programs(name, kind, monkeypatch):
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", BOUND)
    expected = of_mxnet(name, kind)
    for seed in range(3):
        cluster = mx.kv.simulate(WORKERS, SERVERS, seed=seed)
        found = cluster.run(lambda store: getattr(programs, name)(mx, store), kind)
        for theirs in expected:
            assert_alike(found[0], theirs)
        assert json.dumps(found[0]) == json.dumps(found[1]) == json.dumps(found[2])


def assert_alike(ours, theirs) -> None:
    """Equal structures of numbers, equal to 6 digits.

    MXNet's servers add in the order in which pushes arrive: eight runs of ``training`` differed from each other by up
    to 1.8e-7, and each may differ as much from the sums made here.
    """
    if isinstance(ours, dict):
        assert sorted(ours) == sorted(theirs)
        for key in ours:
            assert_alike(ours[key], theirs[key])
    elif isinstance(ours, list):
        try:
            one, other = np.array(ours), np.array(theirs)
        except ValueError:
            for left, right in zip(ours, theirs, strict=True):
                assert_alike(left, right)
            return
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=4e-7)
    else:
        assert ours == pytest.approx(theirs, rel=1e-6, abs=4e-7)
