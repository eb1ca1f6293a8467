"""The cluster: servers as values, commands, and bad weather."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore import messages as say
from refimpl.kvstore.server import start, step
from refimpl.optimizer.states import dumps_optimizer

from .clusters import a, adding, held, pair, refused

# --- commands -------------------------------------------------------------------------------------


@pytest.mark.clause("Cluster/commands")
def test_commands(caplog):
    cluster = mx.kv.simulate(servers=2, faults=False)
    store = cluster.store(0, "dist_async")
    with caplog.at_level("INFO"):
        store._send_command_to_servers(9, "what?")
        store._send_command_to_servers(5, "")
    assert [record.message for record in caplog.records] == ["unknown command 9 was ignored"] * 2
    store._send_command_to_servers(3, "")
    assert [state.tables[0].sync for state in cluster.states] == [True, True]


@pytest.mark.clause("Cluster/optimizer")
def test_the_optimizer_is_worker_0s():
    stores = pair()
    stores[1].set_optimizer(mx.optimizer.SGD(learning_rate=100.0))
    stores[0].set_optimizer(adding())
    stores[1].set_optimizer(mx.optimizer.SGD(learning_rate=100.0))
    for store in stores:
        store.push("w", a(1))
    assert held(stores[0], "w") == [2]


@pytest.mark.clause("Cluster/optimizer")
def test_an_optimizer_starts_afresh():
    def momentum() -> mx.optimizer.Optimizer:
        return mx.optimizer.SGD(learning_rate=1.0, momentum=1.0, rescale_grad=1.0)

    store = mx.kv.simulate(faults=False).store(0)
    store.init("w", nd.zeros(1))
    seen = []
    for _ in range(2):
        store.set_optimizer(momentum())
        for _ in range(2):
            store.push("w", a(1))
            seen.append(held(store, "w")[0])
    assert seen == [-1, -3, -4, -6]


class Failing(mx.optimizer.Optimizer):
    """Cannot do its work."""

    def update(self, index, weight, grad, state) -> None:
        raise ZeroDivisionError("by design")


@pytest.mark.clause("Cluster/update-failed")
def test_a_failed_update_is_told(monkeypatch):
    monkeypatch.setitem(mx.optimizer.Optimizer.opt_registry, "failing", Failing)
    store = mx.kv.simulate(faults=False).store(0)
    store.init(["v", "w"], [nd.zeros(1), nd.zeros(1)])
    store.set_optimizer(Failing())
    store.push("w", a(1))
    for _ in range(2):
        assert "ZeroDivisionError: by design" in refused("Cluster/update-failed", lambda: held(store, "w"))
    assert held(store, "v") == [0]
    store.replace("w", a(4))
    assert held(store, "w") == [4]


@pytest.mark.clause("Cluster/server-class")
def test_the_class_of_mxnets_servers(capsys):
    # MXNet 1.9.1: KVStoreServer(mx.kv.create())._controller()(1, "body", None) prints the line below
    store = mx.kv.create()
    server = mx.kv.KVStoreServer(store)
    assert server.run() is None
    obey = server._controller()
    obey(0, dumps_optimizer(adding()), None)
    store.init(0, a(1))
    store.push(0, a(2))
    assert held(store, 0) == [3]
    obey(1, "body", None)
    assert capsys.readouterr().out == "server 0, unknown command (1, body)\n"
    refused("Command/optimizer", lambda: obey(0, b"cos\nsystem\n(S'true'\ntR."))


# --- the server as a value ------------------------------------------------------------------------


def ask(server, worker, number, body, incarnation=0):
    return step(server, say.Request(worker, incarnation, number, 0, body))


W = say.PartId(0, "w")


def opened(workers: int = 2):
    server = start(workers)
    for worker in range(workers):
        server, _ = ask(server, worker, 0, say.Open(0, True))
        server, _ = ask(server, worker, 1, say.Init(W, (1,), np.zeros(1) if worker == 0 else None))
    return server


@pytest.mark.clause("Cluster/once")
@pytest.mark.clause("Cluster/pure")
def test_requests_count_in_order_and_once():
    server = opened(1)
    push = say.Push(W, np.ones(1))
    early, replies = ask(server, 0, 3, push)
    assert replies == []
    assert early.tables == server.tables
    done, replies = ask(early, 0, 2, push)
    assert [reply.number for reply in replies] == [2, 3]
    assert done.tables[0].parts[W].version == 2
    again, replies = ask(done, 0, 2, push)
    assert [(reply.number, reply.body) for reply in replies] == [(2, say.Done())]
    assert again.tables[0].parts[W].version == 2
    assert server.tables[0].parts[W].version == 0


@pytest.mark.clause("Cluster/once")
def test_answers_are_kept_until_they_are_known_to_have_come():
    server = opened(1)
    server, _ = step(server, say.Request(0, 0, 2, 2, say.Pull(W)))
    assert sorted(server.connections[0].answers) == [2]


@pytest.mark.clause("Cluster/forgotten")
def test_a_request_whose_answer_was_forgotten_is_refused():
    server = opened(1)
    server, _ = step(server, say.Request(0, 0, 2, 2, say.Pull(W)))
    after, replies = ask(server, 0, 0, say.Open(0, True))
    assert [(reply.number, reply.body.clause) for reply in replies] == [(0, "Cluster/forgotten")]
    assert after is server
    server, _ = step(server, say.Request(0, 0, 3, 0, say.Pull(W)))  # it left before the one above
    assert sorted(server.connections[0].answers) == [2, 3]
    assert ask(server, 0, 1, say.Init(W, (1,), np.zeros(1)))[1][0].body.clause == "Cluster/forgotten"


def with_optimizer(optimizer, key="w"):
    """A server with one worker, and a part of two zeros that the optimizer updates."""
    server, part = start(1), say.PartId(0, key)
    command = say.Command(0, say.OPTIMIZER, dumps_optimizer(optimizer).decode("latin-1"))
    for number, body in enumerate([say.Open(0, True), command, say.Init(part, (2,), np.zeros(2, np.float32))]):
        server, _ = ask(server, 0, number, body)
    return server, part


@pytest.mark.clause("Cluster/pure")
@pytest.mark.parametrize("again", [copy.deepcopy, lambda server: pickle.loads(pickle.dumps(server))])
def test_a_server_that_was_written_and_read_goes_on(again):
    server, part = with_optimizer(mx.optimizer.SGD(learning_rate=1.0, momentum=0.5))
    for number in (3, 4):
        server, replies = ask(again(server), 0, number, say.Push(part, np.ones(2, np.float32)))
        assert [type(reply.body).__name__ for reply in replies] == ["Done"]
    assert server.tables[0].parts[part].failure is None
    assert server.tables[0].parts[part].value.tolist() == [-2.5, -2.5]  # -1, then -1 - 1.5


@pytest.mark.clause("Cluster/optimizer-noise", "Cluster/pure")
def test_noise_depends_on_the_part_and_its_update_alone():
    def noise(key="w", updates=2):
        server, part = with_optimizer(mx.optimizer.SGLD(learning_rate=1.0, wd=0.0), key)
        for number in range(updates):
            mx.random.seed(number), np.random.seed(number)
            mx.nd.random.normal(shape=(number + 1,))
            server, _ = ask(server, 0, 3 + number, say.Push(part, np.zeros(2, np.float32)))
        return server.tables[0].parts[part].value.tolist()

    assert noise() == noise()
    assert len({tuple(noise("w", 1)), tuple(noise("v", 1)), tuple(np.subtract(noise(), noise("w", 1)))}) == 3
    server, part = with_optimizer(mx.optimizer.SGLD())
    mx.random.seed(3), np.random.seed(3)
    expected = mx.nd.random.normal(shape=(3,)).asnumpy().tolist(), np.random.rand()
    mx.random.seed(3), np.random.seed(3)
    ask(server, 0, 3, say.Push(part, np.zeros(2, np.float32)))
    assert (mx.nd.random.normal(shape=(3,)).asnumpy().tolist(), np.random.rand()) == expected


class Drawing(mx.optimizer.Optimizer):
    """Draws from NumPy's global generator and from Python's."""

    def update(self, index, weight, grad, state) -> None:
        weight[:] = [np.random.rand(), random.random()]


@pytest.mark.clause("Cluster/optimizer-noise")
def test_a_users_rule_draws_the_same_too(monkeypatch):
    monkeypatch.setitem(mx.optimizer.Optimizer.opt_registry, "drawing", Drawing)
    seen = []
    for seed in (1, 2):
        np.random.seed(seed), random.seed(seed)
        server, part = with_optimizer(Drawing())
        server, _ = ask(server, 0, 3, say.Push(part, np.zeros(2, np.float32)))
        seen.append(server.tables[0].parts[part].value.tolist())
        assert (np.random.rand(), random.random()) == (np.random.RandomState(seed).rand(), random.Random(seed).random())
    assert seen[0] == seen[1] != [0, 0]


@pytest.mark.clause("Cluster/open")
def test_a_store_is_opened_first():
    _, replies = ask(start(1), 0, 0, say.Pull(W))
    assert replies[0].body.clause == "Cluster/open"


@pytest.mark.clause("Cluster/return")
def test_an_old_life_says_nothing():
    server = opened(2)
    server, _ = ask(server, 1, 0, say.Leave(), incarnation=1)
    after, replies = ask(server, 1, 2, say.Push(W, np.ones(1)))
    assert replies == []
    assert after is server


@pytest.mark.clause("Cluster/leave")
def test_leaving_ends_the_waits_of_others():
    server = opened(2)
    server, _ = ask(server, 1, 2, say.Push(W, np.ones(1)))
    server, _ = ask(server, 1, 3, say.Push(W, np.full(1, 10.0)))
    server, replies = ask(server, 0, 2, say.Barrier(0))
    server, replies = ask(server, 1, 4, say.Leave())
    assert sorted((reply.worker, reply.number) for reply in replies) == [(0, 2), (1, 4)]
    for number, total in ((3, 3.0), (4, 12.0), (5, 2.0)):  # what it pushed ahead counts in its rounds
        server, _ = ask(server, 0, number, say.Push(W, np.full(1, 2.0)))
        assert server.tables[0].parts[W].value.tolist() == [total]


def test_leaving_through_the_store():
    one, two = pair()
    one.push("w", a(1))
    two.leave()
    assert held(one, "w") == [1]
    assert one._transport.membership() == {0}


# --- bad weather ----------------------------------------------------------------------------------


@pytest.mark.clause("Cluster/crash")
def test_a_server_that_stays_down_is_named():
    cluster = mx.kv.simulate(workers=1, servers=1, faults=False)
    store = cluster.store(0)
    store.init("w", a(3))
    cluster.crash(0, for_good=True)
    assert "server 0, which is down" in refused("Cluster/who-is-missing", lambda: held(store, "w"))
    cluster.restart(0)
    assert held(store, "w") == [3]


@pytest.mark.clause("Cluster/who-is-missing")
@pytest.mark.parametrize(("fate", "words"), [
    ("return", "worker 1 (has ended)"), ("raise", "worker 1 (ended with KeyError)"), ("leave first", None),
    ("barrier", "worker 1 (waits for something else)"),
])
def test_whoever_waits_in_vain_is_told_for_whom(fate, words):
    told = []

    def work(store):
        store.init("w", nd.zeros(1))
        if store.rank == 1:
            if fate == "raise":
                raise KeyError("mine")
            if fate == "leave first":
                store.leave()
            if fate == "barrier":
                store._barrier()
            return None
        store.push("w", a(1))
        try:
            return held(store, "w")
        except mx.MXNetError as error:
            told.append(str(error))
            raise

    cluster = mx.kv.simulate(workers=2, servers=1, seed=5)
    if words is None:
        assert cluster.run(work)[0] == [1]
        return
    with pytest.raises(KeyError if fate == "raise" else mx.MXNetError):
        cluster.run(work)
    assert words in told[0]
    assert "round 1 of key 'w'" in told[0]


@pytest.mark.clause("Cluster/worker-error")
def test_others_go_on_when_a_worker_fails(caplog):
    done = []

    def work(store):
        if store.rank == 0:
            raise ValueError("mine")
        done.append(store.rank)

    with pytest.raises(ValueError, match="mine"):
        mx.kv.simulate(workers=3, seed=0).run(work)
    assert sorted(done) == [1, 2]
    assert [record.message for record in caplog.records] == ["worker 0 ended with ValueError: mine"]


@pytest.mark.clause("Cluster/lose")
def test_the_waiting_call_of_a_lost_worker_fails():
    def work(store):
        store.init("w", nd.zeros(1))
        store._barrier()
        if store.rank == 0:
            store.push("w", a(1))
            cluster.lose(1)
            return held(store, "w")
        try:
            store._barrier()
        except mx.MXNetError as error:
            return str(error)
        return None

    cluster = mx.kv.simulate(workers=2, servers=1, faults=False)
    value, message = cluster.run(work)
    assert value == [1]
    assert message == "worker 1 was lost [Cluster/who-is-missing]"


@pytest.mark.clause("Cluster/weather")
def test_faults_are_as_many_as_were_allowed():
    def work(store):
        store.init("w", nd.zeros(1))
        for _ in range(60):
            store.push("w", a(1))
        return held(store, "w")

    cluster = mx.kv.simulate(workers=2, seed=2, faults=mx.kv.Faults(drops=3, duplicates=2, crashes=1))
    assert cluster.run(work) == [[2], [2]]
    happened = [event.action for event in cluster.events]
    assert [happened.count(action) for action in ("drop", "duplicate", "crash", "restart")] == [3, 2, 1, 1]
    assert "worker 0  server 0  #0 asks Open" in "\n".join(map(str, cluster.events))


@pytest.mark.clause("Cluster/barrier")
def test_a_barrier_that_is_called_again():
    """The first call was given up on: it is answered, so that its answer need not be kept for ever."""
    server = opened(2)
    server, replies = ask(server, 0, 2, say.Barrier(0))
    assert replies == []
    server, replies = ask(server, 0, 3, say.Barrier(0))
    assert [(reply.worker, reply.number) for reply in replies] == [(0, 2)]
    server, replies = ask(server, 1, 2, say.Barrier(0))
    assert sorted((reply.worker, reply.number) for reply in replies) == [(0, 3), (1, 2)]


@pytest.mark.clause("Cluster/barrier", "Cluster/leave")
def test_a_barrier_waits_for_certain_workers_not_for_a_number():
    """Worker 1 left and calls nevertheless: it is one worker at the barrier, but not the one that is waited for."""
    server = opened(2)
    server, _ = ask(server, 1, 2, say.Leave())
    server, replies = ask(server, 1, 3, say.Barrier(0))
    assert replies == []
    server, replies = ask(server, 0, 2, say.Barrier(0))
    assert sorted((reply.worker, reply.number) for reply in replies) == [(0, 2), (1, 3)]
