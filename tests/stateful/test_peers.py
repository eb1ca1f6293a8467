"""Servers that keep copies for each other: processes end and disks are lost at any moment, no answer is forgotten."""

from __future__ import annotations

import json
import random
import shutil
import struct
import threading
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from refimpl.kvstore import messages as say
from refimpl.kvstore.machines import wire
from refimpl.kvstore.machines.neighbour import Neighbour
from refimpl.kvstore.machines.node import Node
from refimpl.kvstore.machines.peers import ASK, Backup, Copies, _message
from refimpl.kvstore.machines.serving import MESSAGES, QUESTION, Serving, name_of
from refimpl.kvstore.machines.sockets import Caller, Listener
from refimpl.kvstore.server import start, step

from .test_killed_workers import loop
from .test_nodes import asked_in, rows_and_all, whole


class Pair:
    """A server, and the one that keeps its copy; messages between them, which are lost when one of them ends.

    Attributes:
        answers: of those that left, the first to each request.
        answered: the number of the record after the last one whose answers left.
    """

    def __init__(self, folder: Path, snapshots: int) -> None:
        self.folder, self.snapshots = folder, snapshots
        self.answers: dict[tuple[int, int], str] = {}
        self.answered = 0
        self.asked: dict[tuple[int, int], say.Request] = {}
        self.start_owner()
        self.start_keeper()

    def start_owner(self) -> None:
        self.node = Node(0, 2, self.folder / "server-0", snapshot_after=self.snapshots)
        self.backup = Backup(self.node)
        self.waiting = deque([wire.encode([one]) for key, one in self.asked.items() if key not in self.answers])
        self.connect()

    def start_keeper(self) -> None:
        self.copies = Copies(self.folder / "server-1")
        self.connect()

    def connect(self) -> None:
        self.there: deque = deque()
        self.back: deque = deque()
        self.there += self.backup.begin()

    def lose(self, who: int, *, disk: bool) -> bool:
        """End a process, and lose its disk if the other one has all that was answered; whether it was lost."""
        other = self.copies.take([_message(ASK, 0)[0]])[0] if who == 0 else None
        has = self.node.log.position * self.backup.ready if other is None else struct.unpack("<BIQ", other[0])[2]
        lost = disk and has >= self.answered
        if lost:
            shutil.rmtree(self.folder / f"server-{who}", ignore_errors=True)
        self.start_keeper() if who else self.start_owner()
        return lost

    def ask(self, request: say.Request) -> None:
        self.asked[request.worker, request.number] = request
        self.waiting.append(wire.encode([request]))

    def move(self, drawn: random.Random) -> bool:
        """Let one of the things happen that can; False if there is none."""
        able = [name for name, queue in (("there", self.there), ("back", self.back)) if queue]
        able += ["carry_out"] if self.waiting and self.backup.ready else []
        if not able:
            return False
        which = drawn.choice(able)
        if which == "there":
            self.back += self.copies.take([b"".join(self.there.popleft())])
        elif which == "back":
            self.there += self.backup.take(self.back.popleft())
            released = self.backup.released()
            self.answered = max(self.answered, self.backup.safe) if released else self.answered
            for reply in released:
                self.answers.setdefault((reply.worker, reply.number), str(reply.body))
        else:
            count = drawn.randint(1, min(3, len(self.waiting)))
            self.there += self.backup.carry_out([self.waiting.popleft() for _ in range(count)])
        return True


    def settle(self, drawn: random.Random) -> None:
        """Let things happen until nothing can."""
        for _ in range(100_000):
            if not self.move(drawn):
                return
        raise AssertionError("the two go on sending each other the same")


@pytest.mark.clause("Cluster/keep-peer")
@pytest.mark.parametrize("function", [loop, rows_and_all])
@pytest.mark.parametrize("seed", range(4))
def test_whatever_ends_and_whichever_disk_is_lost_the_answers_are_those_of_a_calm_server(
    function, seed, tmp_path, monkeypatch
):
    snapshots = 3000 if seed % 2 else 1 << 30
    monkeypatch.setattr("refimpl.kvstore.machines.node.SNAPSHOT_AFTER", snapshots)
    requests = [one for one in asked_in(function, seed) if one.number >= 0]
    calm, expected = start(2), {}
    for request in requests:
        calm, replies = step(calm, request)
        for reply in replies:
            expected.setdefault((reply.worker, reply.number), str(reply.body))
    drawn, pair, lost = random.Random(seed), Pair(tmp_path, snapshots), {0: 0, 1: 0}
    for request in requests:
        pair.ask(request)
        for _ in range(drawn.randint(0, 6)):
            pair.move(drawn)
        if drawn.random() < 0.15:
            who = drawn.randrange(2)
            lost[who] += pair.lose(who, disk=drawn.random() < 0.7)
    pair.settle(drawn)
    assert sum(lost.values()) > 0
    assert pair.answers == expected
    assert whole(pair.node.state) == whole(calm)
    assert pair.backup.safe == pair.node.log.position
    shutil.rmtree(tmp_path / "server-0")
    pair.start_owner()
    pair.settle(drawn)
    assert whole(pair.node.state) == whole(calm)


@pytest.mark.clause("Cluster/keep-peer")
def test_no_answer_leaves_before_there_is_a_copy(tmp_path):
    pair, drawn = Pair(tmp_path, 1 << 30), random.Random(0)
    pair.settle(drawn)
    pair.there += pair.backup.carry_out([wire.encode([say.Request(0, 0, 0, 0, say.Open(0, True))])])
    assert pair.backup.released() == []
    assert pair.backup.waits
    (record,) = pair.there
    pair.backup.take(pair.copies.take([b"".join(record)])[0])
    (reply,) = pair.backup.released()
    assert (reply.number, pair.backup.waits) == (0, False)
    assert pair.copies.take(_message(ASK, 0))[0] == pair.copies.take(_message(ASK, 0))[0]


class Ring:
    """Three servers at real sockets, each of which keeps a copy for the one before it, in one thread."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o700)
        self.folder = folder
        self.head = Listener(f"ipc://{folder}/head")
        self.servings: list[Serving] = [None] * 3
        self.endpoints = [f"ipc://{folder}/{number}" for number in range(3)]
        for number in range(3):
            self.start(number)
        self.worker = Caller(self.endpoints[0], name_of(0, 0, 1))

    def start(self, number: int) -> None:
        node = Node(number, 1, self.folder / f"server-{number}")
        neighbour = Neighbour(number, 3, self.head.endpoint)
        self.servings[number] = Serving(node, Listener(self.endpoints[number]), neighbour=neighbour)

    def end(self, number: int) -> None:
        stop = threading.Event()
        stop.set()
        self.servings[number].run(stop)

    def turn(self, until, who=(0, 1, 2)) -> None:
        """Let the servers of ``who`` go on until something is the case."""
        for _ in range(3000):
            for name, _, _ in self.head.receive(0):
                self.head.send(name, QUESTION, [json.dumps(self.endpoints).encode()])
            for number in who:
                self.servings[number].once(0.01)
            if until():
                return
        raise AssertionError("it is never the case")

    def ask(self, number: int, body: say.Body) -> None:
        self.turn(lambda: self.worker.connected_anew() or self.worker.up)
        self.turn(lambda: self.worker.send(MESSAGES, wire.encode([say.Request(0, 0, number, number, body)])))


@pytest.mark.clause("Cluster/keep-peer")
@pytest.mark.usefixtures("no_longer_than_a_minute")
def test_a_server_that_lost_its_disk_has_it_back_from_the_next_one(tmp_path):
    pytest.importorskip("zmq")
    ring, answers = Ring(tmp_path), []

    def heard() -> bool:
        answers.extend(one for _, pieces in ring.worker.receive() for one in wire.decode(pieces))
        return bool(answers)

    ring.turn(lambda: all(one._backup.ready for one in ring.servings))
    ring.ask(0, say.Open(0, True))
    ring.turn(heard)
    ring.ask(1, say.Init(say.PartId(0, "w"), (2,), np.array([1.0, 2.0], "f")))
    ring.turn(lambda: heard() and len(answers) > 1)
    assert [reply.body for reply in answers] == [say.Done(), say.Done()]
    before = whole(ring.servings[0].node.state)
    ring.end(1)
    ring.end(0)
    shutil.rmtree(tmp_path / "server-0")
    ring.start(1)
    ring.start(0)
    ring.turn(lambda: ring.servings[0]._backup.ready)
    assert whole(ring.servings[0].node.state) == before
    assert ring.servings[0].node.report()["found"] == 2
    for number in range(3):
        ring.end(number)
    ring.worker.close()
    ring.head.close()
