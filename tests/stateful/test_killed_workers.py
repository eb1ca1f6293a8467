"""Workers whose process ends at any moment and is started again: the end is what it is without that, bit by bit."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore import messages as say
from refimpl.kvstore.distributed import PLACE
from refimpl.kvstore.machines import wire
from refimpl.kvstore.machines.node import Node, step_all
from refimpl.kvstore.server import start, step
from refimpl.optimizer.states import dumps_optimizer

from .training_to_launch import Augmented

FAULTS = mx.kv.Faults(drops=5, duplicates=5, crashes=2, kills=4)
DATA = (np.random.RandomState(1).uniform(-1, 1, (20, 5)) * 8).round() / 8
LABEL = np.arange(20) % 3


# --- loops of one's own ---------------------------------------------------------------------------


def loop(store) -> tuple[list, float]:
    """Momentum on the servers, compressed gradients that depend on what was pulled, and a barrier."""
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5, rescale_grad=1.0))
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    held = [nd.zeros(3), nd.zeros((4, 2))]
    store.init(["w", "v"], held)
    for i in range(3):
        store.push(["w", "v"], [nd.array([1.0, i, store.rank]) * (held[0] + 1), held[1] + np.random.rand()])
        store.pull(["w", "v"], out=held)
    store._barrier()
    return [array.asnumpy().tolist() for array in held], np.random.rand()


def run(function, seed: int | None = None, kills: Mapping[int, int] | None = None) -> tuple[list, tuple[int, int]]:
    """Results by rank, and the number of moves with the number of kills.

    Without a seed nothing goes wrong; with ``kills`` (move: how many requests had not been sent) that alone does.
    """
    np.random.seed(3), random.seed(3), mx.random.seed(3)
    seen.clear()
    calm = seed is None or kills is not None
    cluster = mx.kv.simulate(2, 2, seed or 0, faults=False if calm else FAULTS, returning=kills is not None)
    move, moves = cluster._move, itertools.count()

    def moving() -> bool:
        number = next(moves)
        if number in (kills or {}) and cluster._killable():
            cluster.kill(cluster._killable()[number % len(cluster._killable())].rank, kills[number])
        return move()

    cluster._move = moving
    results = cluster.run(function)
    return results, (next(moves), sum(event.action == "kill" for event in cluster.events))


@pytest.mark.clause("Cluster/kill")
@pytest.mark.parametrize("many", [6, pytest.param(60, marks=pytest.mark.heavy)])
def test_kills_leave_no_trace(many):
    (quiet, _), kills = run(loop), 0
    for seed in range(many):
        results, (_, killed) = run(loop, seed)
        assert results == quiet, f"seed {seed}"
        kills += killed
    assert kills > 2 * many


@pytest.mark.heavy
@pytest.mark.clause("Cluster/kill")
@pytest.mark.parametrize("unsent", [0, 1, 9])
def test_a_kill_at_every_point(unsent):
    quiet, (moves, _) = run(loop)
    for number in range(moves):
        assert run(loop, kills={number: unsent})[0] == quiet, f"move {number}"


@pytest.mark.clause("Cluster/batch")
def test_a_batch_of_requests_is_stepped_through_like_one_after_the_other():
    """All requests that reached a server in a run, cut into frames: the same replies and the same server."""
    requests = []

    def noting(server, request):
        requests.append(request)
        return step(server, request)

    mx.kv.simulate(2, 1, 5, faults=FAULTS, step=noting).run(loop)
    one, node = start(2), Node(0, 2)
    drawn, at = random.Random(2), 0
    while at < len(requests):
        batch = requests[at : at + drawn.randint(1, 12)]
        at += len(batch)
        expected, before = [], (str(node.state), node.state)
        for request in batch:
            one, replies = step(one, request)
            expected += replies
        replies = node.take([wire.encode(batch)])
        assert list(map(str, replies)) == list(map(str, expected))
        assert str(before[1]) == before[0]
    assert any(table.parts for table in node.state.tables.values())
    assert state_of(node.state) == state_of(one)


def state_of(server) -> Any:
    """All that a server knows, as text; arrays by their bits."""
    tables = [
        (name, [(part, held.value.tobytes(), held.version, str(held.queues)) for part, held in table.parts.items()],
         vars(table.optimizer) and str(sorted(table.optimizer._index_update_count.items())))
        for name, table in server.tables.items()
    ]
    return tables, str(server.connections), server.members


class Moody(mx.optimizer.Optimizer):
    """Fails for one key, after it has counted the update."""

    def update(self, index, weight, grad, state) -> None:
        self._update_count(index)
        if index == "b":
            raise ZeroDivisionError("by design")
        weight -= grad


@pytest.mark.clause("Cluster/batch", "Cluster/update-failed")
def test_an_optimizer_that_fails_in_a_batch_counts_what_it_counts_alone(monkeypatch):
    monkeypatch.setitem(mx.optimizer.Optimizer.opt_registry, "moody", Moody)
    parts = [say.PartId(0, key) for key in "abc"]
    optimizer = say.Command(0, say.OPTIMIZER, dumps_optimizer(Moody(learning_rate=1.0)).decode("latin-1"))
    bodies = [say.Open(0, True), optimizer, *(say.Init(part, (1,), np.zeros(1, "f")) for part in parts)]
    bodies += [say.Push(part, np.ones(1, "f")) for part in parts * 2]
    requests = [say.Request(0, 0, number, 0, body) for number, body in enumerate(bodies)]
    one, both = start(1), step_all(start(1), requests)[0]
    for request in requests:
        one, _ = step(one, request)
    assert state_of(both) == state_of(one)
    assert both.tables[0].optimizer._index_update_count == {"a": 2, "c": 2}
    assert [both.tables[0].parts[part].failure is None for part in parts] == [True, False, True]


# --- fit ------------------------------------------------------------------------------------------


class Asked(Augmented):
    """It is asked, and draws from a generator of its own."""

    restored = 0

    def __init__(self, inner) -> None:
        super().__init__(inner)
        self.drawn, self.at = np.random.RandomState(4), 0

    def reset(self) -> None:
        self.at = 0

    def next(self) -> mx.io.DataBatch:
        if self.at == 3:
            raise StopIteration
        self.at += 1
        rows = self.drawn.randint(0, len(DATA), self.batch_size)
        return mx.io.DataBatch([nd.array(DATA[rows])], [nd.array(LABEL[rows])], pad=0)

    def state(self) -> dict[str, Any]:
        return {"at": self.at, "drawn": self.drawn.get_state()}

    def restore(self, state) -> None:
        Asked.restored += 1
        self.at = state["at"]
        self.drawn.set_state(state["drawn"])


def network() -> mx.sym.Symbol:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc1")
    net = mx.sym.Dropout(mx.sym.BatchNorm(net, fix_gamma=False, name="bn"), p=0.3)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="fc2"), name="softmax")


seen: dict[tuple[int, int, int], str] = {}
"""What the metric said after (worker, epoch, batch), in whichever life."""


def training(kind: str, epochs: int = 2):
    """``fit`` with everything that has to come back; ``kind`` is what is special."""

    def work(store) -> tuple:
        data = mx.io.NDArrayIter(
            DATA[store.rank :: 2], LABEL[store.rank :: 2], 3, shuffle=True, last_batch_handle="roll_over"
        )
        wrapped = {"augmented": Augmented, "asked": Asked}.get(kind, lambda inner: inner)(data)
        contexts = [mx.cpu(0), mx.cpu(1), mx.cpu(2)] if kind == "three contexts" else mx.cpu()
        compression = {"type": "2bit", "threshold": 0.1} if kind == "compressed" else None
        module = mx.mod.Module(network(), context=contexts, compression_params=compression)
        metric = mx.metric.create(["acc", "ce"])

        def look(param) -> None:
            seen[store.rank, param.epoch, param.nbatch] = str(param.eval_metric.get_global_name_value())

        module.fit(
            wrapped, eval_data=mx.io.NDArrayIter(DATA, LABEL, 5, shuffle=True), eval_metric=metric, kvstore=store,
            optimizer="adam" if kind == "on workers" else "sgd", num_epoch=epochs, initializer=mx.init.Uniform(0.5),
            optimizer_params={"learning_rate": 0.1, **({} if kind == "on workers" else {"momentum": 0.9})},
            batch_end_callback=[look, mx.callback.Speedometer(3, 2)],
        )
        arguments, auxiliary = module.get_params()
        weights = {name: array.asnumpy().tobytes() for name, array in {**arguments, **auxiliary}.items()}
        after = np.random.rand(), random.random(), nd.random.normal(shape=(2,)).asnumpy().tolist()
        mine = sorted(each for each in seen.items() if each[0][0] == store.rank)
        return weights, mine, str(metric.get()), after

    return work


KINDS = ("plain", "augmented", "asked", "compressed", "on workers", "three contexts")


def same_after_kills(kind: str, seeds) -> None:
    quiet, (count, _) = run(training(kind))
    Asked.restored = 0
    for seed in seeds:
        drawn = random.Random(seed)
        moves = drawn.sample(range(count // 3, count // 2), 1) + drawn.sample(range(count // 2, count), 2)
        results, (_, kills) = run(training(kind), seed, {move: drawn.choice([0, 1, 99]) for move in moves})
        assert results == quiet, f"seed {seed}: {moves}"
        assert kills == 3
    assert bool(Asked.restored) == (kind == "asked")


@pytest.mark.clause("Cluster/keep", "Cluster/kill", "Cluster/return-data", "Cluster/return-state")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS[:5])
def test_fit_goes_on_where_it_was(kind, monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", str(int(kind != "on workers")))
    same_after_kills(kind, [0])


@pytest.mark.clause("Cluster/keep")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["plain", "asked"])
def test_what_is_kept_before_a_batch_does_not_hold_whole_streams(kind):
    sizes = []

    def noting(server, request):
        if isinstance(request.body, say.Keep) and request.body.name == PLACE:
            sizes.append(len(request.body.content))
        return step(server, request)

    mx.kv.simulate(2, 1, 0, faults=False, step=noting, returning=True).run(training(kind))
    assert len(sizes) > 8
    assert max(sizes) < 30_000  # all streams of one context are 2.5 MB


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_fit_goes_on_where_it_was_in_many_runs(kind, monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", str(int(kind != "on workers")))
    same_after_kills(kind, range(1, 8))
