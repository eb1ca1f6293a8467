"""Workers that are started again: what is refused, and the bounds of what servers and workers hold for them."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore import messages as say
from refimpl.kvstore import server_table, transport
from refimpl.kvstore.plain import pack, unpack
from refimpl.kvstore.random_numbers import Differences
from refimpl.kvstore.server import start, step
from refimpl.module.remembering import memory_of, remember

from .clusters import a, held, pair, refused

W = say.PartId(0, "w")


# --- plain values ---------------------------------------------------------------------------------

numbers = arrays.arrays(
    st.sampled_from([np.float32, np.int64, np.uint8, np.float16, np.bool_]), arrays.array_shapes(min_dims=0, min_side=0)
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | numbers,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)


def same(one, other) -> bool:
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    if isinstance(one, np.ndarray):
        return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    return type(one) is type(other) and (one == other or (one != one and other != other))


@pytest.mark.clause("Cluster/plain")
@settings(max_examples=min(settings.default.max_examples, 40))
@given(plain)
def test_plain_values_come_back(value):
    assert same(unpack(pack(value)), value)


@pytest.mark.clause("Cluster/plain")
@pytest.mark.parametrize("value", [object(), {1}, np.array([object()]), [np.datetime64("2020-01-01")]])
def test_other_values_are_not_kept(value):
    refused("Cluster/plain", lambda: pack(value))


@pytest.mark.clause("Cluster/plain")
@pytest.mark.parametrize("spoil", [
    lambda content: content[:-1], lambda content: b"XXXX" + content[4:], lambda content: content[:9],
    lambda content: content[:4] + b"\xff" * 8 + content[12:], lambda content: content.replace(b"<f4", b"|O8"),
    lambda content: content.replace(b"[20]", b"[-1]"), lambda content: content.replace(b"[20]", b"[99]"),
    lambda content: content.replace(b'{"a": 0}', b'{"a": 7}'),
    lambda content: content.replace(b'{"a": 0}', b'{"z": 0}'),
])
def test_damaged_values_are_refused(spoil):
    content = pack([np.arange(20, dtype=np.float32), "text"])
    assert spoil(content) != content
    assert refused("Cluster/plain", lambda: unpack(spoil(content), "the place")).startswith("the place is damaged")


# --- requests that come again ---------------------------------------------------------------------


def ask(server, number, body, answered=0):
    return step(server, say.Request(0, 0, number, answered, body))


@pytest.mark.clause("Cluster/repeat-alike")
def test_another_request_under_the_same_number_is_refused():
    server, _ = ask(start(1), 0, say.Open(0, True))
    server, _ = ask(server, 1, say.Init(W, (1,), np.zeros(1)))
    for body in (say.Pull(W), say.Init(say.PartId(0, "v"), (1,), np.zeros(1))):
        after, replies = ask(server, 1, body)
        assert after is server
        assert replies[0].body.clause == "Cluster/repeat-alike"
        assert "and has asked for Init key 'w' as #1 before" in replies[0].body.message
    assert ask(server, 1, say.Init(W, (1,), np.zeros(1)))[1][0].body == say.Done()


@pytest.mark.clause("Cluster/keep")
def test_a_server_keeps_the_way_to_the_first_place_and_the_newest_of_a_name():
    server, recall = start(1), say.Request(0, 0, -1, 0, say.Recall())
    assert step(server, recall)[1][0].body == say.Recalled({})
    bodies = [say.Open(0, True), say.Init(W, (1,), np.zeros(1)), say.Keep("p", b"1"), say.Push(W, np.ones(1))]
    bodies += [say.Pull(W), say.Keep("p", b"2"), say.Keep("q", b"3")]
    for number, body in enumerate(bodies):
        server, _ = ask(server, number, body, number if number > 2 else 0)
    assert step(server, recall)[1][0].body == say.Recalled({"p": b"2", "q": b"3"})
    assert step(server, recall)[0] is server
    assert [type(ask(server, number, bodies[number])[1][0].body) for number in (0, 1)] == [say.Done] * 2
    assert ask(server, 3, bodies[3])[1][0].body.clause == "Cluster/forgotten"
    new, _ = step(server, say.Request(0, 1, 0, 0, say.Join()))
    assert step(new, say.Request(0, 1, -1, 0, say.Recall()))[1][0].body == say.Recalled({})


# --- bounds ---------------------------------------------------------------------------------------


@pytest.mark.clause("Cluster/bytes-queued")
def test_pushes_that_are_far_ahead_are_refused(monkeypatch):
    monkeypatch.setattr(server_table, "QUEUED", 10)
    one, two = pair()
    for _ in range(5):
        one.push("w", a(1))
    two.push("w", a(1))
    assert "3 pushes of worker 0 to key 'w' wait" in refused("Cluster/bytes-queued", lambda: held(one, "w"))


@pytest.mark.clause("Cluster/bytes-waiting")
def test_a_worker_waits_before_it_sends_too_much(monkeypatch):
    monkeypatch.setattr(transport, "WAITING", 10)
    one, _ = pair()
    for _ in range(9):
        one.push("w", a(1))
    channels = [one._transport.channel(0, server) for server in range(2)]
    assert max(len(channel.unanswered) for channel in channels) == 3


@pytest.mark.clause("Cluster/bytes-kept")
def test_too_many_answers_are_given_up(monkeypatch, caplog):
    monkeypatch.setattr(transport, "KEPT", 10)
    store = mx.kv.simulate(faults=False, returning=True).store(0)
    store.init("w", a(1))
    for count in range(4):
        assert store._transport.states[0].connections[0].answered == (0 if count < 4 else 3)
        held(store, "w")
    held(store, "w")
    assert store._transport.states[0].connections[0].answered > 0
    assert [record.message[-20:] for record in caplog.records] == ["[Cluster/bytes-kept]"]


@pytest.mark.clause("Cluster/pull-all")
def test_all_keys_are_asked_for_before_one_is_waited_for():
    waiting = []

    def noting(server, request):
        if isinstance(request.body, say.Pull):
            waiting.append(len(cluster.channel(0, 0).unanswered))
        return step(server, request)

    cluster = mx.kv.simulate(faults=False, step=noting)
    store = cluster.store(0)
    store.init(["v", "w"], [a(1), a(2)])
    outs = [nd.zeros(1), nd.zeros(1)]
    store.pull(["v", "w"], out=outs)
    assert [out.asscalar() for out in outs] == [1, 2]
    assert waiting[0] == 2


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.clause("Cluster/kill")
def test_who_cannot_be_killed():
    cluster = mx.kv.simulate(2, faults=False, returning=True)
    assert "does not run now" in refused("Cluster/kill", lambda: cluster.kill(0))
    said = []

    def work(store) -> None:
        store.init("w", a(1))
        if store.rank == 0:
            said.append(refused("Cluster/kill", lambda: cluster.kill(0)))
        store._barrier()

    cluster.run(work)
    cluster = mx.kv.simulate(2, faults=False)
    cluster.run(lambda store: store.rank or said.append(refused("Cluster/kill", lambda: cluster.kill(1))))
    assert len(said) == 2


def trained(store, data=None, times=1, callback=None, metric="acc") -> None:
    """``fit`` of a small network."""
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2), name="softmax")
    module = mx.mod.Module(net)
    for _ in range(times):
        module.fit(
            data or mx.io.NDArrayIter(np.ones((6, 2)), np.zeros(6), 2), eval_metric=metric, kvstore=store, num_epoch=1,
            batch_end_callback=callback,
        )


def killed_in(batch: int, work, after: int = 0):
    """Run ``work(store, callback)`` with one worker, which is killed once in this batch of its ``after``-th fit."""
    cluster, seen = mx.kv.simulate(faults=False, returning=True), []

    def callback(param) -> None:
        seen.append(param.nbatch)

    move = cluster._move

    def moving() -> bool:
        if seen.count(batch) > after and "killed" not in seen and cluster._killable():
            seen.append("killed")
            cluster.kill(0)
        return move()

    cluster._move = moving
    return cluster.run(lambda store: work(store, callback))


@pytest.mark.clause("Cluster/return-one-fit")
def test_a_second_fit_is_not_returned_to():
    def work(store, callback) -> None:
        trained(store, times=2, callback=callback)

    message = refused("Cluster/return-one-fit", lambda: killed_in(0, work, after=1))
    assert "worker 0 was in call 2 of fit" in message


@pytest.mark.clause("Cluster/return-data")
def test_other_data_are_refused():
    made = []

    def work(store, callback) -> None:
        made.append(1)
        trained(store, mx.io.NDArrayIter(np.full((6, 2), len(made)), np.zeros(6), 2), callback=callback)

    message = refused("Cluster/return-data", lambda: killed_in(1, work))
    assert "worker 0 reads other data than before it was ended, in batch" in message
    assert len(made) == 2


@pytest.mark.clause("Cluster/return-state")
def test_what_cannot_be_kept_is_named():
    class Odd:
        def __init__(self) -> None:
            self.held = {1, 2}

        def __call__(self, param) -> None:
            pass

    store = mx.kv.simulate(faults=False, returning=True).store(0)
    assert "cannot keep a set" in refused("Cluster/return-state", lambda: trained(store, callback=Odd()))


@pytest.mark.clause("Cluster/return-state")
def test_an_object_that_is_not_made_again_is_refused():
    class Inner:
        number = 1

        def __init__(self) -> None:
            self.number = 2

    class Outer:
        inner = None

    before, after = Outer(), Outer()
    before.inner = Inner()
    refused("Cluster/return-state", lambda: remember(after, memory_of(before)))
    after.inner = Inner()
    before.inner.number = 5
    assert remember(after, memory_of(before)).inner.number == 5


@pytest.mark.clause("Cluster/keep-one-store")
def test_a_worker_with_two_stores_cannot_keep_its_place():
    cluster = mx.kv.simulate(faults=False, returning=True)
    store, _ = cluster.store(0), cluster.store(0)
    refused("Cluster/keep-one-store", lambda: trained(store))


def test_nothing_is_kept_where_nobody_returns(caplog):
    cluster = mx.kv.simulate(faults=False)
    with caplog.at_level(logging.WARNING):
        trained(cluster.store(0))
    assert "Keep" not in "\n".join(map(str, cluster.events))


@pytest.mark.clause("Cluster/keep")
@pytest.mark.parametrize("readable", [1, 2, None])
def test_random_numbers_that_were_told_before_the_last_can_be_drawn_again(readable):
    kept, told = {}, []
    differences = Differences(kept.__setitem__, "base", readable=readable)
    for seed in range(6):
        mx.random.seed(seed)
        mx.nd.random.uniform(shape=700_000).wait_to_read()  # which changes most of the streams
        np.random.seed(seed)
        told.append((differences.tell(), [mx.nd.random.uniform().asscalar(), np.random.rand()]))
        for state, numbers in told[-1 - (6 if readable is None else readable) :]:
            Differences(kept.__setitem__, "base", readable=readable).restore(state, dict(kept))
            assert [mx.nd.random.uniform().asscalar(), np.random.rand()] == numbers
    assert len(kept) == (6 if readable is None else readable + 1)
