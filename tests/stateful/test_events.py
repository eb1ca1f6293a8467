"""The event log of a real job: what servers note, in which order it is written, and the page that is drawn from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import refimpl as mx
from refimpl import explain
from refimpl.explain.clusters.rounds import round_tables
from refimpl.kvstore import messages as say
from refimpl.kvstore.machines import wire
from refimpl.kvstore.machines.events import EventFile, Noting
from refimpl.kvstore.machines.node import Node, step_all
from refimpl.kvstore.server import start, step

from .test_killed_workers import FAULTS, loop
from .test_nodes import asked_in, whole

RECORDED = Path(__file__).parents[1] / "fixtures" / "real_cluster_events.jsonl"
# refimpl launch -n 2 -s 1 --events real_cluster_events.jsonl three_rounds.py
#     three_rounds.py: store = mx.kv.create("dist_sync"); store.init("w", mx.nd.zeros(2)); then three times
#     store.push("w", mx.nd.ones(2)), store.pull("w", out=...) and, after the second pull, time.sleep(3)
# kill -9 SERVER  when both workers had pulled for the second time


@pytest.mark.clause("Cluster/events")
def test_the_page_of_a_real_log_shows_its_rounds_and_the_server_that_was_killed():
    found = explain.logged(RECORDED)
    (run,) = found["runs"]
    assert (found["workers"], found["servers"], found["kind"]) == (2, 1, "dist_sync")
    assert round_tables(run) == [{"key": "key 'w'", "rounds": [
        {"number": 1, "arrived": [17, 19], "made": 19}, {"number": 2, "arrived": [23, 21], "made": 23},
        {"number": 3, "arrived": [27, 30], "made": 30},
    ]}]
    page = explain.cluster_page(found)
    assert "<title>server 0 is down</title>" in page
    assert "no pushes in this log" not in page


@pytest.mark.clause("Cluster/events")
def test_a_server_that_notes_does_the_same_and_notes_what_a_simulated_one_is_seen_to_do():
    """The arrivals of a simulated run with faults, which its own log tells, are what its server would note."""
    requests = []

    def noting(server, request):
        requests.append(request)
        return step(server, request)

    cluster = mx.kv.simulate(2, 1, 4, faults=FAULTS, step=noting, returning=True)
    cluster.run(loop)
    seen = [(e.worker, e.what) for e in cluster.events if e.action == "arrives" and " asks " in e.what]
    notes = Noting()
    noted, replies = step_all(start(2), requests, notes.step)
    calm, expected = step_all(start(2), requests)
    assert whole(noted) == whole(calm)
    assert str(replies) == str(expected)
    events = notes.taken()
    assert [(e["worker"], e["what"]) for e in events if e["action"] == "arrives"] == seen
    assert [(e["worker"], e["what"].split()[0]) for e in events if e["action"] == "answers"] == [
        (reply.worker, f"#{reply.number}") for reply in expected
    ]
    last: dict[str, int] = {}
    for event in events:
        last.update(event.get("versions", {}))
    (table,) = calm.tables.values()
    assert last == {str(part): held.version for part, held in table.parts.items()}
    assert notes.taken() == []


@pytest.mark.clause("Cluster/events")
def test_a_server_that_is_started_again_notes_what_is_in_its_log(tmp_path):
    def noted() -> tuple[Node, Noting]:
        notes = Noting()
        node = Node(0, 2, tmp_path / "log", step=notes.step)
        notes.replaying = False
        return node, notes

    requests = [one for one in asked_in(loop, 2) if one.number >= 0]
    node, notes = noted()
    for request in requests[:-1]:
        node.take([wire.encode([request])])
    first = notes.taken()
    node, again = noted()
    node.take([wire.encode([requests[-1]])])
    second = again.taken()
    same = ("action", "worker", "what")
    replayed = [event for event in second if event.get("replayed")]
    assert [[e[name] for name in same] for e in replayed] == [[e[name] for name in same] for e in first]
    assert [e["what"].split()[0] for e in second[len(replayed) :]][:1] == [f"#{requests[-1].number}"]


def event(action: str, worker: int | None, what: str, at: float, **more: Any) -> dict[str, Any]:
    return {"action": action, "worker": worker, "what": what, "at": at, **more}


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.clause("Cluster/events")
def test_lines_are_in_the_order_of_time_and_none_is_written_twice(tmp_path):
    file = EventFile(tmp_path / "log", 2, 2)
    push = [event("arrives", 0, f"#{number} asks Push key 'w'", number) for number in range(4)]
    file.note(1, [push[2]], last=2.5)
    file.note(0, push[:2], last=1.5)
    file.write(until=1.0)
    assert lines(tmp_path / "log") == []                  # nobody knows yet of which kind the stores are
    file.kind = "dist_sync"
    file.write(until=1.0)
    head, *told = lines(tmp_path / "log")
    assert head == {"workers": 2, "servers": 2, "kind": "dist_sync"}
    assert [(one["server"], one["at"]) for one in told] == [(0, 0), (0, 1)]
    # Server 0 took #2 before it was killed, and nobody heard of that; its log tells. #3 is new.
    from_log = [{**one, "at": 8.0, "replayed": True} for one in push[:3]]
    answer = event("answers", 0, "#2 gets Done", 8.0, replayed=True)
    file.note(0, [*from_log, answer, {**push[3], "at": 9.0}], last=1.75, restarted=8.5)
    file.note_kill(1)
    file.close()
    later = lines(tmp_path / "log")[3:]
    assert [(one["server"], one["action"], one["what"].split()[:1], one["at"]) for one in later[:-1]] == [
        (0, "arrives", ["#2"], 1.75), (0, "crash", [], 1.75), (1, "arrives", ["#2"], 2), (0, "restart", [], 8.5),
        (0, "arrives", ["#3"], 9.0),
    ]
    killed = later[-1]
    assert (killed["action"], killed["worker"], killed["server"]) == ("kill", 1, None)


@pytest.mark.clause("Cluster/events")
def test_events_that_nobody_asked_for_in_time_are_counted():
    notes = Noting(most=3)
    bodies = [say.Open(0, True), say.Barrier(0), say.Open(0, True)]
    step_all(start(1), [say.Request(0, 0, number, 0, body) for number, body in enumerate(bodies)], notes.step)
    first, *others = notes.taken()
    assert (first["action"], first["what"]) == ("unnoted", "3 events")
    assert [one["what"] for one in others] == ["#1 gets Done", "#2 asks Open", "#2 gets Done"]
