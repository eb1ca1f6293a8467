"""All interleavings of small jobs: the rules keep their promises in every state, and changed rules do not."""

from __future__ import annotations

import pytest

from refimpl.kvstore.exploring import explore, job
from refimpl.kvstore.schedule import Faults

from .mutated_rules import AHEAD, APART, MUTANTS, Mutant, programs_of, step_of

JOBS = {
    "two servers": job(2, 2, 1),
    "asynchronous": job(2, 1, 1, "dist_async"),
    "ahead": job(2, 1, programs=(AHEAD, AHEAD)),
    "apart": job(2, 1, kind="dist_async", programs=(APART, APART)),
    "three workers": job(3, 1, 1),
}
WEATHER = (Faults(), Faults(drops=1), Faults(duplicates=1), Faults(crashes=1), Faults(kills=1))


@pytest.mark.clause("Cluster/explored", "Cluster/once", "Cluster/sync-round", "Cluster/barrier")
@pytest.mark.parametrize("faults", WEATHER, ids=lambda faults: str(faults)[7:-1])
@pytest.mark.parametrize("name", ["two servers", "asynchronous"])
def test_no_state_of_a_small_job_breaks_a_promise(name, faults):
    found = explore(JOBS[name], faults)
    assert found.violation is None
    assert found.whole
    assert found.ends >= 1


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["ahead", "apart", "three workers"])
@pytest.mark.parametrize("faults", [*WEATHER, Faults(drops=1, duplicates=1)], ids=lambda faults: str(faults)[7:-1])
def test_no_state_of_a_larger_job_breaks_a_promise(name, faults):
    found = explore(JOBS[name], faults)
    assert found.violation is None
    assert found.whole


@pytest.mark.clause("Cluster/explored")
def test_a_walk_that_is_not_finished_says_so():
    found = explore(JOBS["two servers"], Faults(drops=1), most=50)
    assert found.violation is None
    assert not found.whole
    assert found.states <= 60


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.old.strip()[:40]}")
def test_rules_with_one_changed_line_are_found(mutant: Mutant):
    made = job(mutant.workers, 1, 1, mutant.kind, programs_of(mutant))
    found = explore(made, mutant.faults, step_of(mutant))
    assert found.violation is not None
    assert found.violation.startswith(mutant.wrong)
    assert found.history
