"""Jobs on real processes that Ray starts and watches: the lane `ray` of .ci/run."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

import refimpl as mx
from refimpl import explain
from refimpl.explain.clusters.rounds import round_tables
from refimpl.kvstore.histories import check

from . import cluster_cases, histories_to_launch
from .killed_jobs import SCRIPT, Job, Nodes, history_of, kill_often, killed_job, undisturbed

pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("ray", "zmq")),
        reason='Ray is not installed: pip install "refimpl[ray]"',
    ),
]
SCRIPTS = Path(__file__).parents[1] / "examples" / "scripts"
SEED = int(os.environ.get("REFIMPL_KILLS_SEED", "1"))


@pytest.mark.clause("Cluster/launch", "Cluster/seat")
def test_twelve_cases_on_real_processes_give_what_mxnets_live_cluster_gave():
    job = Job([cluster_cases.__file__], ["--keep", "disk"])
    assert job.end() == 0, job.lines
    found = list(map(json.loads, job.written("CASE")))
    expected = [[name, rank, value] for name, value in cluster_cases.RECORDED.items() for rank in (0, 1)]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert not list(Path("/tmp").glob(f"refimpl-job-{job.process.pid}-*"))


@pytest.mark.clause("Cluster/recover", "Cluster/kill", "Cluster/restart", "Cluster/random-again")
def test_six_kills_leave_no_trace():
    job, epochs = killed_job(SEED, kills=6, gap=1.5)
    assert job.results == undisturbed(epochs), job.lines
    assert len(job.killed) == 6
    assert not [line for line in job.lines if "raylet" in line]
    assert {who.split()[0] for who in job.killed} == {"worker", "server"}


@pytest.mark.clause("Cluster/recover")
def test_the_example_ends_with_the_weights_of_the_simulated_cluster_when_a_server_is_killed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    example = importlib.import_module("cluster_digits")
    given = argparse.Namespace(epochs=3, batch_size=16, lr=0.1, mom=0.5, seed=1)
    results = mx.kv.simulate(2, 2, faults=False).run(lambda store: example.train(store, given, lambda _: None))
    expected = [f"worker {rank} | worker {rank}: accuracy {found:.4f}, weights {example.digest(weights)}"
                for rank, (weights, found) in enumerate(results)]
    state, events = tmp_path / "state", tmp_path / "events"
    job = Job([SCRIPTS / "cluster_digits.py", "--epochs", "3"], ["--state", str(state), "--events", str(events)])
    while sum(file.stat().st_size for file in state.rglob("*.log")) < 2_000_000 and job.process.poll() is None:
        time.sleep(0.05)                                  # some of the 132 rounds
    job.kill(["server 0"])
    assert job.end() == 0, job.lines
    assert sorted(line for line in job.lines if "weights" in line) == expected
    assert any("server 0 was killed and is started again" in line for line in job.lines)
    (weight,) = [one for one in round_tables(explain.logged(events)["runs"][0]) if one["key"] == "key 'fc1_weight'"]
    assert [row["number"] for row in weight["rounds"] if None not in row["arrived"]] == list(range(1, 133))


@pytest.mark.clause("Cluster/keep-peer")
def test_a_server_that_is_killed_and_loses_its_disk_has_all_from_the_next_one(tmp_path):
    state = tmp_path / "state"
    job = Job([SCRIPT, "3", "0.05"], ["--state", str(state), "--keep", "peer"])
    while sum(file.stat().st_size for file in state.glob("server-0/*.log")) < 100_000 and job.process.poll() is None:
        time.sleep(0.05)
    job.kill(["server 0"])
    shutil.rmtree(state / "server-0")
    assert job.end() == 0, job.lines
    assert job.results == undisturbed(3), job.lines
    assert any("server 0 was killed and is started again" in line for line in job.lines), job.lines


@pytest.mark.long
@pytest.mark.clause("Cluster/async", "Cluster/kill", "Cluster/recover")
def test_what_workers_of_an_asynchronous_store_saw_is_sound_while_processes_are_killed(tmp_path):
    """Two minutes."""
    pushes = 400
    job = Job([histories_to_launch.__file__, str(SEED), str(pushes), "0.1"])
    kill_often(job, SEED, kills=20, gap=1.5)
    assert (job.process.returncode, len(job.killed)) == (0, 20), job.lines
    history = history_of(job, tmp_path)
    assert sum(event.kind == "push" for event in history.events) == 2 * pushes
    assert sum(event.kind == "pull" for event in history.events) > pushes
    assert check(history, "dist_async") == []


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
@pytest.mark.parametrize("shard", range(int(os.environ.get("REFIMPL_KILLS", "1000")) // 25))
def test_many_kills_leave_no_trace(shard, capsys):
    """REFIMPL_KILLS=200 in shards of 25, each of which says how many ran; minutes: about two for each."""
    job, epochs = killed_job(SEED + shard, kills=25, gap=1.5)
    with capsys.disabled():
        print(f"shard {shard}: {len(job.killed)} kills of 25")
    assert job.results == undisturbed(epochs), (shard, job.lines)
    assert len(job.killed) > 25 * 0.9


@pytest.mark.long
@pytest.mark.clause("Cluster/server-moved", "Cluster/restart")
def test_nodes_that_are_lost_leave_no_trace():
    """Half of ten kills are those of a node's raylet; three minutes."""
    with Nodes() as nodes:
        job, epochs = killed_job(SEED, kills=10, gap=6.0, nodes=nodes)
    assert job.results == undisturbed(epochs), job.lines
    assert "raylet" in job.killed
    assert len(job.killed) == 10


def test_twelve_cases_were_recorded():
    assert [case.__name__ for case in cluster_cases.CASES] == list(cluster_cases.RECORDED)
    assert mx.__version__
