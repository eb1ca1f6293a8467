"""Jobs on real processes that Ray starts and watches: the lane `ray` of .ci/run."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import time
from pathlib import Path

import pytest

import refimpl as mx

from . import cluster_cases
from .killed_jobs import SCRIPT, Job, killed_job, undisturbed

pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("ray", "zmq")),
        reason='Ray is not installed: pip install "refimpl[ray]"',
    ),
]
SEED = int(os.environ.get("REFIMPL_KILLS_SEED", "1"))


@pytest.mark.clause("Cluster/launch", "Cluster/seat")
def test_twelve_cases_on_real_processes_give_what_mxnets_live_cluster_gave():
    job = Job([cluster_cases.__file__], ["--keep", "disk"])
    assert job.end() == 0, job.lines
    found = [json.loads(line.removeprefix("CASE ")) for line in job.lines if line.startswith("CASE ")]
    expected = [[name, rank, value] for name, value in cluster_cases.RECORDED.items() for rank in (0, 1)]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert not list(Path("/tmp").glob(f"refimpl-job-{job.process.pid}-*"))


@pytest.mark.clause("Cluster/recover", "Cluster/kill", "Cluster/restart", "Cluster/random-again")
def test_six_kills_leave_no_trace():
    job, epochs = killed_job(SEED, kills=6, gap=1.5)
    assert job.results == undisturbed(epochs), job.lines
    assert len(job.killed) == 6
    assert {who.split()[0] for who in job.killed} == {"worker", "server"}


@pytest.mark.clause("Cluster/resume")
def test_a_killed_launcher_ends_the_job_and_the_same_command_goes_on(tmp_path):
    command, options = [SCRIPT, "8", "0.1"], ["--state", str(tmp_path / "state")]
    first = Job(command, options)
    pids = [first.pid(who) for who in ("worker 0", "worker 1", "server 0", "server 1")]
    while sum(file.stat().st_size for file in tmp_path.rglob("*.log")) < 100_000:  # some batches
        time.sleep(0.1)
    os.kill(first.process.pid, signal.SIGKILL)
    end = time.monotonic() + 60
    while any(_lives(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.1)
    assert not [pid for pid in pids if _lives(pid)]
    second = Job(command, options)
    assert second.end() == 0, second.lines
    assert second.results == undisturbed(8)
    assert not list((tmp_path / "state").iterdir())


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.long
def test_many_kills_leave_no_trace():
    """REFIMPL_KILLS=200 in jobs of 25; minutes: about two for each job."""
    total, many = 0, int(os.environ.get("REFIMPL_KILLS", "1000"))
    for seed in range(SEED, SEED + many // 25):
        job, epochs = killed_job(seed, kills=25, gap=1.5)
        assert job.results == undisturbed(epochs), (seed, job.lines)
        total += len(job.killed)
        print(f"seed {seed}: {total} kills of {many}")
    assert total > many * 0.9


def test_twelve_cases_were_recorded():
    assert [case.__name__ for case in cluster_cases.CASES] == list(cluster_cases.RECORDED)
    assert mx.__version__
