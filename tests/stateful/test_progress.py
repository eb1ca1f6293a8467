"""What a launcher tells of a job that runs: a table on a terminal, and elsewhere a line now and then."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from refimpl.kvstore import messages as say
from refimpl.kvstore.machines import wire
from refimpl.kvstore.machines.node import Node
from refimpl.kvstore.machines.progress import Display, Progress


def report(process: int = 10, **told: Any) -> dict[str, Any]:
    return {
        "process": process, "requests": 7, "bytes": 2_000_000, "rounds": 3, "waiting": [],
        "workers": [[0, 4, 4, 1_500_000], [1, 3, 3, 500_000]], **told,
    }


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.clause("Cluster/table")
def test_the_table_names_who_waits_for_whom():
    progress = Progress(2, 2, pids={0: 51, 1: 52}, restarts={0: 0, 1: 1})
    waiting = [[0, "key 'w'", 4, [1]]]
    progress.hear(0, report(waiting=waiting), 100.0)
    assert progress.waits(100.5) == {}                    # every round has waits as short as this
    progress.hear(0, report(waiting=waiting), 103.0)
    progress.hear(1, report(process=11, workers=[[0, 3, 1, 0]]), 99.0)
    assert progress.table(104.0) == [
        "          process  rounds  requests   MB  again",
        "worker 0       51       4         5  1.5      0  waits for round 4 of key 'w' for 4 s: worker 1 is missing",
        "worker 1       52       3         3  0.5      1",
        "server 0       10       3         7  2.0      0",
        "server 1       11       3         7  2.0      0  has not answered for 5 s",
    ]
    assert progress.waits(108.1) == {}                    # server 0 is away: nobody knows who waits
    progress.codes[1] = 0
    assert progress.waits(104.0) == {0: "round 4 of key 'w' for 4 s: worker 1 (has ended) is missing"}
    progress.hear(0, report(waiting=[[0, "the barrier", 0, [1]]]), 104.0)
    assert progress.waits(104.9) == {}                    # that is another wait, which has just begun
    assert progress.table(104.0)[2].endswith("1  has ended")


def test_what_a_node_reports_is_what_the_table_tells():
    node, progress = Node(0, 2), Progress(2, 1)
    part, one = say.PartId(0, "w"), np.ones(1, "f")
    bodies = [say.Open(0, True), say.Init(part, (1,), one), say.Push(part, one), say.Push(part, one), say.Pull(part)]
    frame = wire.encode([say.Request(0, 0, number, 0, body) for number, body in enumerate(bodies)])
    node.take([frame])
    node.take([wire.encode([say.Request(1, 0, 0, 0, say.Open(0, True)), say.Request(1, 0, 1, 0, say.Barrier(0))])])
    progress.hear(0, node.report(), 1.0)
    told = node.report()
    assert told["workers"][0] == [0, 2, 5, sum(map(len, frame))]
    assert told["workers"][1][:3] == [1, 0, 2]
    assert told["kinds"] == ["dist_sync"]
    assert progress.waits(3.0) == {
        0: "round 1 of key 'w' for 2 s: worker 1 is missing", 1: "the barrier for 2 s: worker 0 is missing",
    }


@pytest.mark.clause("Cluster/table")
def test_what_a_killed_server_was_asked_counts_on():
    progress = Progress(2, 1)
    assert progress.hear(0, report(), 0.0) is None
    progress.hear(0, report(process=20, requests=1, bytes=500_000, workers=[[0, 4, 1, 500_000]]), 1.0)
    assert progress.crashes == {0: 1}
    progress.restarts.update({0: 0, 1: 2})
    assert progress.summary(0, 12.34) == (
        "done after 12.3 s: 3 rounds, 8 requests, 2.5 MB to the servers, 2 workers and 1 servers started again"
    )
    assert progress.table(1.0)[1].split() == ["worker", "0", "-", "4", "5", "2.0", "0"]


@pytest.mark.clause("Cluster/table")
def test_a_terminal_shows_the_table_in_one_place():
    said, stream, clock = [], io.StringIO(), Clock()
    display = Display(lambda line: stream.write(f"SAID {line}\n") and said.append(line), stream, lambda: 30, clock)
    progress = Progress(1, 1)
    progress.hear(0, report(waiting=[[0, "the barrier", 0, [1]]]), 90.0)
    screen: list[str] = []
    for act in (display.show, display.show, lambda _: display.say("worker 0 runs"), display.show):
        act(progress)
    for piece in stream.getvalue().replace("\x1b[J", "").split("\x1b["):
        up, _, rest = piece.partition("F") if screen else ("0", "", piece)
        screen = [*screen[: len(screen) - int(up)], *rest.splitlines()]
    assert screen[0] == "SAID worker 0 runs"
    assert [line[:8].strip() for line in screen[1:]] == ["", "worker 0", "server 0"]
    assert max(map(len, screen)) == 29                    # a line that wraps could not be taken away


@pytest.mark.clause("Cluster/table")
def test_without_a_terminal_a_long_wait_is_told_once_and_now_and_then_how_it_goes():
    said, clock = [], Clock()
    display, progress = Display(said.append, clock=clock), Progress(2, 1, pids={0: 51, 1: 52})
    for second in range(130):
        clock.now = 100.0 + second
        waiting = [[1, "the barrier", 0, [0]]] if 20 <= second < 90 else []
        progress.hear(0, report(waiting=waiting), clock.now)
        display.show(progress)
    assert said == [
        "25 s: 3 rounds, 2.0 MB to the servers; worker 1 waits for the barrier for 5 s: worker 0 is missing",
        "85 s: 3 rounds, 2.0 MB to the servers; worker 1 waits for the barrier for 65 s: worker 0 is missing",
    ]
    clock.now += 5
    display.show(progress)
    assert said[2:] == ["134 s: 3 rounds, 2.0 MB to the servers; server 0 has not answered for 5 s"]


@pytest.mark.clause("Cluster/unreachable")
def test_who_was_not_heard_yet_is_named():
    assert Progress(2, 1, pids={0: 5}).line(60.0, 60.0) == (
        "60 s: 0 rounds, 0.0 MB to the servers; worker 1 has not started; server 0 has not answered"
    )
