"""Workers and servers at real sockets find what the simulated cluster finds, also when servers end and come back."""

from __future__ import annotations

import json
import os
import stat

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore import messages as say
from refimpl.kvstore.histories import History, check
from refimpl.kvstore.machines import remote, seat, sockets, wire
from refimpl.kvstore.machines.node import Node
from refimpl.kvstore.machines.serving import MESSAGES, QUESTION, Serving, name_of

from . import cluster_cases
from .histories_to_launch import worked
from .real_servers import servers

pytest.importorskip("zmq")
pytestmark = pytest.mark.usefixtures("no_longer_than_a_minute")


def program(store, pause=lambda at: None) -> list:
    """Momentum on the servers, codes of two bits, a split key, rows, a barrier and a refusal."""
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5, rescale_grad=1.0))
    keys = ["w", "v", "big"]
    held = [nd.zeros(3), nd.zeros((4, 2)), nd.zeros((20, 3))]
    store.init(keys, held)
    store.init("r", nd.ones((4, 2)).tostype("row_sparse"))
    found = []
    for i in range(4):
        pause(i)
        store.push(keys, [nd.array([1.0, i, store.rank]) * (held[0] + 1), held[1] + i, held[2] + store.rank])
        store.push("r", nd.sparse.row_sparse_array(([[1.0, i]], [store.rank]), shape=(4, 2)))
        store.pull(keys, out=held)
        out = nd.sparse.zeros("row_sparse", (4, 2))
        store.row_sparse_pull("r", out=out, row_ids=nd.array([0, 1, 3]))
        found.append([array.asnumpy().tolist() for array in (*held, out)])
    store._barrier()
    try:
        store.push("w", nd.zeros(3))
        store._send_command_to_servers(say.OPTIMIZER, "nonsense")
    except mx.MXNetError as error:
        found.append(error.clause)
    return found


@pytest.fixture(autouse=True)
def _split(monkeypatch):
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", "50")


@pytest.mark.clause("Cluster/resend", "Cluster/recover")
def test_real_sockets_give_what_the_simulated_cluster_gives(tmp_path):
    expected = mx.kv.simulate(2, 2, faults=False).run(program)
    with servers(2, 2, tmp_path) as real:
        assert real.run(program) == expected
    assert expected[0][-1] == "Command/optimizer"
    assert [node.requests > 30 for node in real.nodes] == [True, True]


def test_twelve_cases_in_the_simulated_cluster_give_what_mxnets_live_cluster_gave(monkeypatch):
    monkeypatch.delenv("MXNET_KVSTORE_BIGARRAY_BOUND")
    cluster = mx.kv.simulate(2, 2, seed=1)
    for case in cluster_cases.CASES:
        found = cluster.run(case, "dist_async" if case is cluster_cases.eager else "dist_sync")
        assert found == [cluster_cases.RECORDED[case.__name__]] * 2


@pytest.mark.clause("Cluster/resend", "Cluster/recover")
@pytest.mark.parametrize("victims", [[0], [1], [0, 1]])
def test_servers_that_end_come_back_with_all_that_they_answered(victims, tmp_path):
    expected = mx.kv.simulate(2, 2, faults=False).run(program)
    with servers(2, 2, tmp_path) as real:

        def pause(at: int, store_is_first: bool) -> None:
            if store_is_first and at in (1, 3):
                for number in victims:
                    real.end(number)
                for number in victims:
                    real.start(number)

        found = real.run(lambda store: program(store, lambda at: pause(at, store.rank == 0)))
        assert found == expected
        assert all(real.nodes[number].recovered for number in victims)


@pytest.mark.clause("Cluster/resend", "Cluster/recover", "Cluster/async")
def test_what_workers_of_an_asynchronous_store_saw_is_sound_while_servers_end(tmp_path):
    with servers(2, 2, tmp_path) as real:

        def pause(rank: int, number: int) -> None:
            if rank == 0 and number in (3, 6, 11):
                real.end(number % 2)
                real.start(number % 2)

        histories = real.run(lambda store: worked(store, 1, 15, lambda number: pause(store.rank, number)), "dist_async")
    together = History(2, 15)
    for event in (event for history in histories for event in history.events):
        together.add(event)
    assert sum(event.kind == "pull" for event in together.events) > 15
    assert check(together, "dist_async") == []


@pytest.mark.clause("Cluster/resend")
def test_what_is_asked_while_a_server_is_away_is_carried_out_when_it_is_back(tmp_path):
    with servers(1, 1, tmp_path) as real:
        transport = real.transport(0)
        transport.send(0, 0, say.Open(0, True)).wait()
        real.end(0)
        ticket = transport.send(0, 0, say.Init(say.PartId(0, "w"), (1,), np.ones(1, "f")))
        assert ticket.answer is None
        real.start(0)
        assert ticket.wait() == say.Done()
        transport.close()


@pytest.mark.clause("Cluster/server-moved")
def test_a_server_that_is_started_elsewhere_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "ASKED", 0.0)
    with servers(1, 1, tmp_path) as real:
        head = sockets.Listener(f"ipc://{tmp_path}/head")
        transport = real.transport(0, head=head.endpoint)
        transport.send(0, 0, say.Open(0, True)).wait()
        real.end(0)
        serving = Serving(Node(0, 1, tmp_path / "server-0"), sockets.Listener(f"ipc://{tmp_path}/elsewhere"))
        ticket = transport.send(0, 0, say.Init(say.PartId(0, "w"), (1,), np.ones(1, "f")))
        while ticket.answer is None:
            transport._hear(0.02)
            for name, _, _ in head.receive(0.02):
                head.send(name, QUESTION, [json.dumps([f"ipc://{tmp_path}/elsewhere"]).encode()])
            serving.once(0.02)
        assert ticket.answer == say.Done()
        transport.close()
        for each in (serving._listener, head):
            each.close()


@pytest.mark.clause("Cluster/resend")
def test_a_connection_that_is_not_ready_yet_is_tried_again(tmp_path, monkeypatch):
    """ZeroMQ may tell of a connection before it takes a message."""
    send, refused = sockets.Caller.send, []

    def late(caller, kind, pieces):
        refused.append(kind)
        return len(refused) > 3 and send(caller, kind, pieces)

    monkeypatch.setattr(sockets.Caller, "send", late)
    with servers(1, 1, tmp_path) as real:
        transport = real.transport(0)
        assert transport.send(0, 0, say.Open(0, True)).wait() == say.Done()
        assert len(refused) == 4
        transport.close()


@pytest.mark.clause("Cluster/last-pushes")
def test_a_worker_that_ends_waits_for_its_pushes(tmp_path):
    with servers(1, 1, tmp_path) as real:
        transport = real.transport(0)
        part = say.PartId(0, "w")
        transport.send(0, 0, say.Open(0, True))
        transport.send(0, 0, say.Init(part, (1,), np.zeros(1, "f")))
        transport.send(0, 0, say.Push(part, np.full(1, 7, "f")))
        transport.close()
        assert real.nodes[0].state.tables[0].parts[part].value.tolist() == [7]
        with pytest.raises(mx.MXNetError, match="worker 0 has closed its connections"):
            transport.send(0, 0, say.Pull(part)).wait()


@pytest.mark.clause("Cluster/waits-by-name")
def test_a_long_wait_says_for_whom_and_ends_when_they_have_ended(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(remote, "TOLD", 0.05)
    with servers(2, 1, tmp_path) as real:
        transport = real.transport(0)
        part = say.PartId(0, "w")
        for body in (say.Open(0, True), say.Init(part, (1,), np.zeros(1, "f")), say.Push(part, np.ones(1, "f"))):
            transport.send(0, 0, body)
        asking = sockets.Caller(real.endpoints[0], b"launcher 1")
        ticket = transport.send(0, 0, say.Pull(part))

        def telling(message: str, *words) -> None:
            if "missing" in message % words:  # it has said so: now worker 1 ends
                asking.connected_anew()
                asking.send(QUESTION, [json.dumps({"report": True, "ended": [1]}).encode()])

        monkeypatch.setattr(remote.LOG, "warning", telling)
        with pytest.raises(mx.MXNetError, match=r"for round 1 of key 'w': worker 1 \(has ended\) is missing") as caught:
            ticket.wait()
        assert caught.value.clause == "Cluster/who-is-missing"
        asking.close()
        transport.close()


@pytest.mark.clause("Cluster/waits-by-name")
def test_patience_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "TOLD", 0.02)
    with servers(2, 1, tmp_path) as real:
        transport = real.transport(0, patience=0.01)
        with pytest.raises(mx.MXNetError, match=r"waited \d+ s for the barrier: worker 1 is missing; the"):
            transport.send(0, 0, say.Open(0, True))
            transport.send(0, 0, say.Barrier(0)).wait()
        transport.close()


def test_a_worker_that_has_left_is_refused(tmp_path):
    with servers(2, 1, tmp_path) as real:
        transport = real.transport(0)
        transport.stop(0)
        with pytest.raises(mx.MXNetError, match="worker 0 has left"):
            transport.send(0, 0, say.Open(0, True)).wait()
        assert real.nodes[0].state.members == {1}
        transport.close()


# --- who may call ---------------------------------------------------------------------------------


class Stranger:
    """Frames at hand, in the place of a socket."""

    def __init__(self, *arrived) -> None:
        self.arrived, self.sent = list(arrived), []

    def receive(self, seconds):
        arrived, self.arrived = self.arrived, []
        return arrived

    def denied(self):
        return 0

    def send(self, to, kind, pieces) -> None:
        self.sent.append((to, kind, b"".join(pieces)))


OPEN = say.Request(0, 0, 0, 0, say.Open(0, True))


@pytest.mark.clause("Cluster/stranger")
def test_frames_of_strangers_and_damaged_ones_are_dropped(caplog):
    frame = b"".join(wire.encode([OPEN]))
    whole, damaged = [frame], [frame[:70] + bytes([frame[70] ^ 1]) + frame[71:]]
    name = name_of(0, 0, 1)
    node = Node(0, 1)
    listener = Stranger(
        (b"launcher 1", MESSAGES, whole), (name_of(1, 0, 1), MESSAGES, whole), (name, b"x", whole),
        (name, MESSAGES, damaged), (name, QUESTION, [b"{"]), (name, QUESTION, [b'{"why": 3}']),
    )
    serving = Serving(node, listener)
    serving.once(0)
    assert (node.requests, listener.sent) == (0, [])
    assert "its checksum is" in caplog.text
    listener.arrived = [(name, MESSAGES, damaged), (name, MESSAGES, whole)]
    serving.once(0)
    assert node.requests == 1
    assert [(to, len(wire.decode(content))) for to, _, content in listener.sent] == [(name, 1)]


def test_replies_go_to_the_newest_process_of_a_worker():
    frame = [b"".join(wire.encode([OPEN]))]
    listener = Stranger((name_of(0, 1, 7), MESSAGES, frame), (name_of(0, 0, 5), MESSAGES, frame))
    Serving(Node(0, 1), listener).once(0)
    assert {to for to, _, _ in listener.sent} == {name_of(0, 1, 7)}


@pytest.mark.clause("Cluster/keys")
@pytest.mark.parametrize("mode", [0o710, 0o720, 0o740, 0o701, 0o702, 0o704])
def test_a_folder_that_the_group_or_others_can_use_is_refused(tmp_path, mode):
    tmp_path.chmod(mode)
    with pytest.raises(mx.MXNetError, match=rf"mode {mode:o}.*chmod 700"):
        sockets.require_safe(f"ipc://{tmp_path}/x", keys=False)
    tmp_path.chmod(0o700)
    sockets.require_safe(f"ipc://{tmp_path}/x", keys=False)


@pytest.mark.clause("Cluster/keys")
def test_a_folder_whose_owner_is_somebody_else_is_refused(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(mx.MXNetError, match="need a folder of your own") as caught:
        sockets.require_safe(f"ipc://{tmp_path}/x", keys=False)
    assert caught.value.clause == "Cluster/keys"


@pytest.mark.clause("Cluster/keys")
def test_a_folder_of_others_is_refused(tmp_path):
    tmp_path.chmod(0o755)
    for end in (lambda at: sockets.Listener(at), lambda at: sockets.Caller(at, b"x")):
        with pytest.raises(mx.MXNetError, match=r"mode 755.*chmod 700") as caught:
            end(f"ipc://{tmp_path}/x")
        assert caught.value.clause == "Cluster/keys"


@pytest.mark.clause("Cluster/keys")
def test_an_address_that_others_reach_needs_keys():
    for end in (lambda at: sockets.Listener(at), lambda at: sockets.Caller(at, b"x")):
        with pytest.raises(mx.MXNetError, match="there are no keys") as caught:
            end("tcp://127.0.0.1:*")
        assert caught.value.clause == "Cluster/keys"


@pytest.mark.clause("Cluster/keys")
def test_who_has_no_key_is_not_heard():
    """A key that is known is; another, or none, never gets a connection."""
    mine, theirs, other = sockets.new_keys(), sockets.new_keys(), sockets.new_keys()
    listener = sockets.Listener("tcp://127.0.0.1:*", mine, [theirs.public])
    friend = sockets.Caller(listener.endpoint, b"friend", theirs, mine.public)
    stranger = sockets.Caller(listener.endpoint, b"stranger", other, mine.public)
    liar = sockets.Caller(listener.endpoint, b"liar", theirs, other.public)
    heard = []
    while not (heard and (stranger.refused or stranger.up)):
        sockets.wait_for([friend, stranger, liar], 0.1)
        for caller in (stranger, liar, friend):
            caller.connected_anew()
            caller.send(b"m", [b"content"])
        heard += listener.receive(0.1)
    assert {bytes(name) for name, _, _ in heard} == {b"friend"}
    assert (stranger.up, stranger.refused, liar.up, friend.refused) == (False, True, False, False)
    for one in (friend, stranger, liar, listener):
        one.close()


def test_sockets_are_files_of_ones_own(tmp_path):
    tmp_path.chmod(0o700)
    listener = sockets.Listener(f"ipc://{tmp_path}/x")
    assert stat.S_ISSOCK((tmp_path / "x").stat().st_mode)
    listener.close()


# --- a place in a job -----------------------------------------------------------------------------


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Servers, and the variables of worker 0 of two."""
    with servers(2, 1, tmp_path) as real:
        told = {"servers": real.endpoints, "restarts": 0, "returning": True, "patience": 60}
        for name, value in (("REFIMPL_JOB", json.dumps(told)), ("DMLC_NUM_WORKER", "2"), ("DMLC_WORKER_ID", "0")):
            monkeypatch.setenv(name, value)
        yield real, told
        for *_, taken in seat._taken:
            taken.transport.close()
        seat._taken.clear()


@pytest.mark.clause("Cluster/seat")
def test_create_finds_its_place(job):
    real, _ = job
    store, other = mx.kv.create("dist_sync"), mx.kv.create("dist_async")
    assert (store.type, store.rank, store.num_workers, store.returning) == ("dist_sync", 0, 2, True)
    assert [table.sync for table in real.nodes[0].state.tables.values()] == [True, False]
    assert other._transport is store._transport
    assert mx.kv.create("local").type == "local"
    assert mx.kv.simulate(1, 1).run(lambda: mx.kv.create("dist").num_workers, kind=None) == [1]


@pytest.mark.clause("Cluster/random-again")
def test_a_process_that_is_started_again_draws_the_same_numbers(job, monkeypatch):
    _, told = job
    mx.random.seed(4), np.random.seed(4)
    mx.kv.create("dist_sync")
    drawn = np.random.rand(), nd.random.uniform(shape=2).asnumpy().tolist()
    monkeypatch.setenv("REFIMPL_JOB", json.dumps({**told, "restarts": 1}))
    mx.random.seed(9), np.random.seed(9)
    mx.kv.create("dist_sync")
    assert (np.random.rand(), nd.random.uniform(shape=2).asnumpy().tolist()) == drawn


@pytest.mark.clause("Cluster/seat")
@pytest.mark.parametrize("name", ["DMLC_ROLE", "DMLC_PS_ROOT_URI"])
def test_other_launchers_are_refused(name, monkeypatch):
    monkeypatch.setenv(name, "worker")
    with pytest.raises(mx.MXNetError, match=f"{name} are set.*refimpl launch -n") as caught:
        mx.kv.create("dist_sync")
    assert caught.value.clause == "Cluster/seat"


@pytest.mark.clause("Cluster/seat")
@pytest.mark.parametrize("text", ["", "{}", '{"servers": 3}', "[]"])
def test_damaged_variables_are_refused(text, monkeypatch):
    monkeypatch.setenv("REFIMPL_JOB", text)
    with pytest.raises(mx.MXNetError, match="REFIMPL_JOB is not what") as caught:
        mx.kv.create("dist_sync")
    assert caught.value.clause == "Cluster/seat"


def test_another_process_has_no_place_of_its_parents(job, monkeypatch):
    first = mx.kv.create("dist_sync")._transport
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert seat.seat_here().transport is not first
