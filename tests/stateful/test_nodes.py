"""Servers that write down what they are asked: whenever a process ends, the next one knows all that was answered."""

from __future__ import annotations

import dataclasses
import errno
import os
import random

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore import messages as say
from refimpl.kvstore.machines import wire
from refimpl.kvstore.machines.node import Node, step_all
from refimpl.kvstore.machines.snapshots import decode_server, encode_server
from refimpl.kvstore.optimizer_step import as_value
from refimpl.kvstore.server import start, step

from .test_killed_workers import FAULTS, loop


def adam() -> mx.optimizer.Optimizer:
    schedule = mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.1)
    return mx.optimizer.Adam(learning_rate=0.1, multi_precision=True, lr_scheduler=schedule)


def rows_and_all(store) -> None:
    """What ``loop`` does not do: rows, float16 in float32, Adam, a split key, what is kept, a failure."""
    store.set_optimizer(adam())
    rows = nd.sparse.row_sparse_array((nd.ones((2, 3)), [0, 3]), shape=(5, 3))
    store.init(["r", "h", "s"], [nd.ones((5, 3)).tostype("row_sparse"), nd.ones(4, dtype="float16"), nd.array(5.0)])
    for i in range(3):
        store.push("r", rows * (store.rank + 1))
        store.push("h", nd.ones(4, dtype="float16") * i)
        out = nd.sparse.zeros("row_sparse", (5, 3))
        store.row_sparse_pull("r", out=out, row_ids=nd.array([3, 1]))
        store.keep(f"note {i}", {"at": i, "numbers": np.arange(3)})
    try:
        store.pull("unknown", out=nd.zeros(1))
    except mx.MXNetError:
        store._barrier()


def asked_in(function, seed: int, servers: int = 1, returning: bool = True) -> list[say.Request]:
    """All requests that reach server 0 in a run with faults, as they come."""
    requests = []

    def noting(server, request):
        requests.append(request)
        return step(server, request)

    mx.kv.simulate(2, servers, seed, faults=FAULTS, step=noting, returning=returning).run(function)
    return requests


def frames_of(requests, seed: int) -> list[list[bytes]]:
    """The requests as frames of some each, some of these in pieces."""
    drawn, at, frames = random.Random(seed), 0, []
    while at < len(requests):
        count = drawn.randint(1, 6)
        pieces = wire.encode(requests[at : at + count])
        frames.append(list(pieces) if drawn.random() < 0.5 else [b"".join(pieces)])
        at += count
    return frames


def whole(value) -> object:
    """All that a server knows, to be compared: arrays by type and bits, objects by what they hold."""
    if isinstance(value, nd.NDArray):
        return type(value).__name__, whole(as_value(value))
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, mx.optimizer.Optimizer):
        counts = [value.num_update, sorted(value._index_update_count.items(), key=str)]
        return type(value).__name__, counts, str(sorted(vars(value.lr_scheduler or value).items())[:2])
    if dataclasses.is_dataclass(value):
        return type(value).__name__, [whole(getattr(value, one.name)) for one in dataclasses.fields(value)]
    if isinstance(value, dict):
        return [(str(key), whole(one)) for key, one in value.items()]
    return [whole(one) for one in value] if isinstance(value, (list, tuple)) else str(value)


@pytest.mark.clause("Cluster/server-bytes")
@pytest.mark.parametrize("function", [loop, rows_and_all])
def test_a_server_as_bytes_goes_on_as_it_would(function):
    requests = asked_in(function, 3)
    drawn = random.Random(1)
    expected = start(2)
    server = start(2)
    for request in requests:
        expected, replies = step(expected, request)
        server, again = step(server, request)
        assert str(again) == str(replies)
        if drawn.random() < 0.2:
            server = decode_server(encode_server(server))
            assert whole(server) == whole(expected)
    assert whole(decode_server(encode_server(server))) == whole(expected)


@pytest.mark.clause("Cluster/server-bytes")
@pytest.mark.parametrize("damage", [b"", b"RIPV", encode_server(start(2))[:-9] + b"]" * 9])
def test_bytes_that_hold_no_server_are_refused(damage):
    with pytest.raises(mx.MXNetError) as caught:
        decode_server(damage, "the file")
    assert caught.value.clause == "Cluster/server-bytes"
    assert str(caught.value).startswith("the file")


@pytest.mark.clause("Cluster/recover", "Cluster/log-first")
@pytest.mark.parametrize("function", [loop, rows_and_all])
@pytest.mark.parametrize("snapshots", [1 << 30, 3000])
def test_a_node_knows_after_its_end_all_that_it_answered(function, snapshots, tmp_path, monkeypatch):
    """It ends after any frame, before or after the replies leave; the requests without answers come again."""
    monkeypatch.setattr("refimpl.kvstore.machines.node.SNAPSHOT_AFTER", snapshots)
    drawn = random.Random(snapshots)
    node, calm = Node(0, 2, tmp_path, snapshot_after=snapshots), start(2)
    for pieces in frames_of(asked_in(function, 4), 5):
        requests = wire.decode(b"".join(pieces))
        calm, expected = step_all(calm, requests)
        replies = node.take([pieces])
        assert str(replies) == str(expected)
        if drawn.random() < 0.3:
            node = Node(0, 2, tmp_path, snapshot_after=snapshots)
            assert whole(node.state) == whole(calm)
    assert whole(Node(0, 2, tmp_path).state) == whole(calm)
    assert (tmp_path / "snapshot").exists() == (snapshots == 3000)


@pytest.mark.clause("Cluster/log-first")
def test_what_was_cut_off_was_not_answered(tmp_path):
    """The process ends while it writes: the record counts for nothing, and comes again."""
    frames = frames_of(asked_in(loop, 2), 1)
    node = Node(0, 2, tmp_path)
    for pieces in frames[:-1]:
        node.take([pieces])
    before = whole(node.state)
    last = node.take([frames[-1]])
    (segment,) = tmp_path.glob("*.log")
    with segment.open("r+b") as file:
        file.truncate(node._log._end - 100)
    again = Node(0, 2, tmp_path)
    assert whole(again.state) == before
    assert str(again.take([frames[-1]])) == str(last)


@pytest.mark.clause("Cluster/log-space")
def test_a_full_disk_refuses_requests_that_are_not_carried_out(tmp_path, monkeypatch):
    node = Node(0, 1, tmp_path)
    node.take([wire.encode([say.Request(0, 0, 0, 0, say.Open(0, True))])])
    before = node.state

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwritev", full)
    (reply,) = node.take([wire.encode([say.Request(0, 0, 1, 0, say.Barrier(0))])])
    assert reply.body.clause == "Cluster/log-space"
    assert "No space left" in reply.body.message
    assert node.state is before


@pytest.mark.clause("Cluster/snapshot", "Cluster/recover")
def test_a_server_without_space_for_a_snapshot_goes_on_with_its_log(tmp_path, monkeypatch, caplog):
    node, before = Node(0, 1, tmp_path, snapshot_after=100), os.ftruncate

    def full(file, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "ftruncate", full)
    for number in range(4):
        (reply,) = node.take([wire.encode([say.Request(0, 0, number, 0, say.Open(0, True))])])
        assert reply.body == say.Done()
    assert "server 0 cannot write a snapshot: [Errno 28] No space left on device" in caplog.text
    monkeypatch.setattr(os, "ftruncate", before)
    assert not (tmp_path / "snapshot").exists()
    assert Node(0, 1, tmp_path).recovered == 4


@pytest.mark.clause("Cluster/requests-only")
def test_replies_sent_to_a_server_are_dropped(tmp_path):
    node = Node(0, 1, tmp_path)
    assert node.take([wire.encode([say.Reply(0, 0, 0, say.Done())])]) == []
    assert node.state == start(1)


def test_a_node_tells_who_waits():
    node = Node(1, 2)
    part = say.PartId(0, "w")
    zero, one = np.zeros(1, "f"), np.ones(1, "f")
    bodies = [say.Open(0, True), say.Init(part, (1,), zero), say.Push(part, one), say.Pull(part)]
    node.take([wire.encode([say.Request(0, 0, number, 0, body) for number, body in enumerate(bodies)])])
    assert node.why(0, 3) == ("round 1 of key 'w'", [1])
    report = node.report()
    assert report["waiting"] == [[0, "key 'w'", 1, [1]]]
    assert (report["server"], report["requests"], report["rounds"]) == (1, 4, 0)


@pytest.mark.clause("Cluster/random-again", "Cluster/keep")
def test_how_a_process_began_is_no_place_to_return_to():
    """What is asked between the first random numbers and the first place is answered again for good."""
    part = say.PartId(0, "w")
    init = say.Init(part, (1,), np.zeros(1, "f"))
    bodies = [say.Keep(say.START, b"numbers"), say.Open(0, True), init, say.Keep("place", b""), say.Pull(part)]
    server = start(1)
    for number, body in enumerate(bodies):
        server, _ = step(server, say.Request(0, 0, number, 3 if number == 4 else 0, body))
    for number, body in enumerate(bodies[:3]):
        server, (reply,) = step(server, say.Request(0, 0, number, 0, body))
        assert reply.body == say.Done(), number
    _, (reply,) = step(server, say.Request(0, 0, -2, 0, say.Recall()))
    assert reply.body.kept == {"start": b"numbers", "place": b""}
