"""A forked child uses what its parent made: threads, queues and locks are the child's own."""

import multiprocessing
import os
import select
import signal
import threading
from collections.abc import Callable

import numpy as np
import pytest

import refimpl as mx
from refimpl.io.iterator import DataIter
from refimpl.kernels.foundation import forks
from refimpl.module.thread_pool import ThreadPool

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
BOUND = 60
"""Seconds after which a child counts as one that hangs."""


def in_child(work: Callable[[], list]) -> list:
    """What ``work`` gives in a child that is forked now; a child that hangs is killed, and the test fails."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        try:
            os.write(writes, repr(work()).encode())
        finally:
            os._exit(0)
    os.close(writes)
    try:
        assert select.select([reads], [], [], BOUND)[0], "the child hangs"
        told = os.read(reads, 65536)
        assert told, "the child failed"
        return eval(told, {})  # a list of numbers
    finally:
        os.close(reads)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def trained(epochs: int) -> tuple[mx.mod.Module, mx.io.NDArrayIter]:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3)
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"), context=[mx.cpu(0), mx.cpu(1)])
    batches = mx.io.NDArrayIter(np.arange(32.0).reshape(8, 4) / 32, np.arange(8.0) % 3, batch_size=8)
    module.bind(batches.provide_data, batches.provide_label)
    module.init_params(mx.init.One())
    module.init_optimizer()
    one_epoch(module, batches, epochs)
    return module, batches


def one_epoch(module: mx.mod.Module, batches: mx.io.NDArrayIter, times: int = 1) -> list:
    for _ in range(times):
        batches.reset()
        for batch in batches:
            module.forward_backward(batch)
            module.update()
    return module.get_params()[0]["fullyconnected0_weight"].asnumpy().tolist()


@pytest.mark.clause("engine/forked")
@pytest.mark.parametrize("kind", ["naive", "threaded", "shuffled"])
def test_a_child_trains_the_module_of_its_parent(kind: str) -> None:
    with mx.engine.use(kind), mx.name.NameManager():
        module, batches = trained(2)
        found = in_child(lambda: one_epoch(module, batches))
        assert found == one_epoch(module, batches)


def _in_new_process(answer: multiprocessing.SimpleQueue) -> None:
    with mx.name.NameManager():
        module, batches = trained(1)
        answer.put(one_epoch(module, batches))


@pytest.mark.heavy
@pytest.mark.clause("engine/forked")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_of_multiprocessing_trains(method: str) -> None:
    with mx.name.NameManager():
        module, batches = trained(1)
    context = multiprocessing.get_context(method)
    answer = context.SimpleQueue()
    child = context.Process(target=_in_new_process, args=(answer,))
    child.start()
    try:
        assert answer._reader.poll(BOUND), "the child hangs"
        assert answer.get() == one_epoch(module, batches)
    finally:
        child.kill()
        child.join()


@pytest.mark.clause("engine/forked")
def test_a_lock_that_another_thread_holds_is_free_in_the_child() -> None:
    lock, taken, end = forks.own_lock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            taken.set()
            end.wait(BOUND)

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert taken.wait(BOUND)
        assert in_child(lambda: [lock.acquire(timeout=1)]) == [True]
    finally:
        end.set()
        other.join()


@pytest.mark.clause("engine/forked")
def test_a_lock_that_the_forking_thread_holds_stays_its_own() -> None:
    lock = forks.own_lock()
    with lock:
        assert in_child(lambda: [lock._is_owned(), lock.release()]) == [True, None]


@pytest.mark.clause("engine/forked")
def test_parent_and_child_draw_the_same_numbers() -> None:
    """As 1.9.1: both print the same after ``mx.random.seed(3); os.fork(); mx.nd.random.uniform(shape=(3,))``."""
    mx.random.seed(3)
    found = in_child(lambda: mx.nd.random.uniform(shape=(3,)).asnumpy().tolist())
    assert found == mx.nd.random.uniform(shape=(3,)).asnumpy().tolist()


class Slow(DataIter):
    """Three batches; the second one waits until somebody says so."""

    def __init__(self, go: threading.Event, begun: threading.Event) -> None:
        super().__init__(1)
        self.provide_data, self.provide_label = [mx.io.DataDesc("data", (1, 1))], []
        self.number, self._go, self._begun = 0, go, begun

    def reset(self) -> None:
        self.number = 0

    def next(self) -> mx.io.DataBatch:
        self.number += 1
        if self.number == 4:
            raise StopIteration
        if self.number == 2:
            self._begun.set()
            assert self._go.wait(BOUND)
        return mx.io.DataBatch([mx.nd.full((1, 1), self.number)], [], 0)


@pytest.mark.clause("PrefetchingIter/forked")
def test_a_child_goes_on_with_what_its_parent_prefetches() -> None:
    go, begun = threading.Event(), threading.Event()
    batches = mx.io.PrefetchingIter(Slow(go, begun))
    assert batches.next().data[0].asscalar() == 1
    assert begun.wait(BOUND)

    class Before:
        """The process begins to fork; what is held last is taken first."""

        acquire, release = staticmethod(go.set), staticmethod(lambda: None)

    before = Before()
    forks.hold_while_forking(before)
    assert in_child(lambda: [float(batch.data[0].asscalar()) for batch in batches]) == [2, 3]
    assert [batch.data[0].asscalar() for batch in batches] == [2, 3]
    del before


@pytest.mark.clause("engine/forked")
def test_work_that_forks_within_a_call_of_two_contexts_is_refused_in_the_child() -> None:
    pool = ThreadPool(2)
    told: list = []

    def work(context: int) -> None:
        if context == 0:
            told.append(os.fork())

    reads, writes = os.pipe()
    try:
        pool.run(work)
    except mx.MXNetError as error:
        os.write(writes, str(error).encode())
        os._exit(0)
    finally:
        if not told[0]:
            os._exit(1)
    assert select.select([reads], [], [], BOUND)[0]
    assert b"forked in the middle of a call" in os.read(reads, 4096)
    os.waitpid(told[0], 0)


@pytest.mark.clause("Cluster/forked")
def test_the_child_of_a_simulated_worker_may_not_use_its_store() -> None:
    def use(store: mx.kv.KVStore) -> list:
        try:
            store.pull(0, out=mx.nd.zeros(2))
        except mx.MXNetError as error:
            return [str(error)]
        return []

    def work(store: mx.kv.KVStore) -> list:
        store.init(0, mx.nd.ones(2))
        return in_child(lambda: use(store))

    (told,) = mx.kv.simulate(workers=1, servers=1, faults=False).run(work)
    assert "this process was forked by worker 0" in told[0]
