"""No single fault of the system breaks a promise: each call of each scenario fails, and the power goes at any time."""

from __future__ import annotations

import pytest

from .enumerate import results
from .scenarios import SCENARIOS
from .system_calls import compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="calls are made to fail on Linux, with a C compiler")

SOME = ("write", "save states", "write records", "read records", "log snapshot")
"""What the default lane enumerates, in a few seconds."""

THE_REST = tuple(name for name in SCENARIOS if name not in SOME)
WRITING = tuple(name for name, scenario in SCENARIOS.items() if scenario.changes)


def _none(broken) -> None:
    assert not broken, "\n".join(f"{line.get('again', line)}: {line['broken']}" for line in broken)


@pytest.mark.clause(
    "Files/atomic", "Files/together", "Files/leftovers", "Files/readable", "RecordIO/disk-full", "Cluster/log"
)
def test_no_failing_call_breaks_a_promise():
    broken, counts = results(*SOME)
    _none(broken)
    assert all(counts[name]["held"] >= 20 for name in SOME)


@pytest.mark.heavy
def test_no_failing_call_breaks_a_promise_of_the_other_scenarios():
    broken, counts = results(*THE_REST)
    _none(broken)
    assert all(counts[name]["held"] >= 10 for name in THE_REST)


@pytest.mark.clause("Files/atomic", "States/same-save", "Cluster/log-torn", "Cluster/snapshot")
def test_whatever_the_disk_holds_after_a_loss_of_power_is_old_or_new_or_refused():
    broken, counts = results("--power", "write", "write records", "log", "log snapshot")
    _none(broken)
    assert all(count["held"] >= 5 for count in counts.values())


@pytest.mark.heavy
def test_the_same_of_all_scenarios_that_write():
    broken, counts = results("--power", *WRITING)
    _none(broken)
    assert len(counts) == len(WRITING)


def _sentences(*arguments: str) -> str:
    broken, _ = results(*arguments)
    return " ".join(sentence for line in broken for sentence in line["broken"])


def test_the_enumeration_sees_acts_that_break_their_promises():
    assert "a flush that failed is not told" in _sentences("careless: swallows")
    assert "neither the old nor the new" in _sentences("careless: in place")
    assert "it leaves a file open" in _sentences("careless: kept open")
    assert "neither the old nor the new" in _sentences("--power", "careless: in place")
    assert "what was done is lost" in _sentences("--power", "careless: in place")
