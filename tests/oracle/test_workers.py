"""Searches by several processes: the number of workers changes nothing but the time."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from refimpl import MXNetError
from refimpl.oracle import examining, search
from refimpl.oracle.backends.named import named
from refimpl.oracle.workers import Alone, WorkersEnded, several

from .planted_bugs import planted

BUGS = "tests.oracle.planted_bugs:planted('tie', 'overwritten', 'no add')"


def told(result: Any) -> Any:
    """What must not depend on the workers."""
    causes = [(str(f.cause), f.number, f.again, f.program, f.clause, str(f.where)) for f in result.found]
    return causes, dict(result.statuses), dict(result.elements), [each[:2] for each in result.excluded]


class Eager(Alone):
    """Judges a whole round and shrinks its failures before the search sees the first of them, the last first."""

    shrunk = 0

    def judged(self, programs, wanted, exclude, left):
        found = []
        for program in reversed(programs):
            verdict = next(examining.judged(self.backend, [program]))
            shrunk = None
            if wanted(program, verdict):
                shrunk = examining.shrunk(self.backend, program, verdict, exclude, left())
                self.shrunk += 1
            found.append((verdict, lambda shrunk=shrunk: shrunk))
        return reversed(found)


@pytest.mark.clause("oracle/workers")
def test_programs_may_be_judged_and_shrunk_in_any_order():
    backend = planted("tie", "overwritten", "no add")
    options = {"seed": 4, "programs": 60, "level": 2, "repeats": 0}
    alone = told(search(backend, **options))
    assert len(alone[0]) >= 3
    assert alone[3]
    assert told(search(backend, workers=Eager(backend), **options)) == alone


def test_stored_programs_that_fail_are_not_shrunk():
    backend = planted("overwritten", "no add")
    eager = Eager(backend)
    result = search(backend, workers=eager, corpus=True, programs=0, explain=False)
    assert result.found
    assert eager.shrunk == 0


@pytest.mark.heavy
@pytest.mark.clause("oracle/workers")
def test_three_processes_find_what_one_finds():
    options = {"seed": 2, "programs": 60}
    alone = told(search(named(BUGS), **options))
    assert len(alone[0]) >= 3
    with several(partial(named, BUGS), 3, None) as processes:
        assert told(search(named(BUGS), workers=processes, **options)) == alone


class Ending:
    """A backend that ends its process."""

    capabilities = planted().capabilities

    def run(self, program):
        os._exit(3)


@pytest.mark.heavy
@pytest.mark.clause("oracle/workers")
def test_a_process_that_ends_is_said():
    name = "tests.oracle.test_workers:Ending"
    with several(partial(named, name), 2, None) as processes:  # noqa: SIM117
        with pytest.raises(WorkersEnded, match="run it with --isolate"):
            search(planted(), programs=8, workers=processes)


@pytest.mark.clause("oracle/workers")
def test_no_workers_are_refused_and_one_is_this_process():
    with pytest.raises(WorkersEnded, match="0 processes judge no programs; --workers is 1 or more"), several(
        planted, 0, None
    ):
        pass
    with several(planted, 1, None) as processes:
        assert processes is None


@pytest.mark.clause("Cluster/address", "Cluster/address-answers")
@pytest.mark.parametrize(("address", "message"), [
    ("10.1.1.1:6379", "executes what it is sent, by whomever"), ("127.0.0.1:1", "there is no Ray cluster at"),
])
def test_a_cluster_is_used_as_by_launch(monkeypatch, address: str, message: str):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(MXNetError, match=message), several(planted, 2, address):
        pass


@pytest.mark.ray
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason='Ray is not installed: pip install "refimpl[ray]"'
)
@pytest.mark.clause("oracle/workers")
def test_processes_of_a_ray_cluster_find_what_one_finds(tmp_path: Path):
    ray = importlib.import_module("ray")
    ray.init(address="local", num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    try:
        address = "127.0.0.1:" + ray.get_runtime_context().gcs_address.rpartition(":")[2]
        root = str(Path(__file__).parents[2])
        reports = []
        for more in ([], ["--workers", "2", "--address", address]):
            done = subprocess.run(
                [sys.executable, "-m", "refimpl", "oracle", "check", BUGS, "--seed", "2", "--programs", "60", *more],
                cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
                env={**os.environ, "PYTHONPATH": root},
            )
            assert done.returncode == 1, done.stderr[-2000:]
            reports.append(done.stdout[:done.stdout.index(" programs in ")])
    finally:
        ray.shutdown()
    assert reports[0].count("clause") >= 3
    assert reports[1] == reports[0]
