"""Engines and deferred failures: what each does, and when it says so."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

import refimpl as mx
from tests.stateful.failing import nth

pytestmark = pytest.mark.usefixtures("nothing_has_failed")


def _failing() -> mx.nd.NDArray:
    """A negative scale is found only while the operator runs (MXNet 1.9.1 does the same)."""
    return mx.nd.random.normal(0, -1, shape=(2,))


@pytest.fixture(params=["naive", "threaded", "shuffled"])
def engine(request: pytest.FixtureRequest):  # a generator of engines
    """Each engine in turn."""
    with mx.engine.use(request.param, seed=5) as chosen:
        yield chosen


@pytest.mark.clause("engine/deferred")
def test_a_failure_is_seen_by_readers(engine: mx.engine.Engine) -> None:
    x = _failing()
    y = x + 1
    for read in (y.asnumpy, x.wait_to_read, y.asscalar if y.size == 1 else y.asnumpy, x.asnumpy):
        with pytest.raises(mx.MXNetError, match="scale"):
            read()


@pytest.mark.clause("engine/deferred")
def test_waitall_raises_each_failure_once(engine: mx.engine.Engine) -> None:
    kept = [_failing(), _failing()]
    for _ in kept:
        with pytest.raises(mx.MXNetError, match="scale"):
            mx.nd.waitall()
    mx.nd.waitall()
    with pytest.raises(mx.MXNetError, match="scale"):
        kept[0].asnumpy()


@pytest.mark.clause("engine/deferred")
def test_waitall_raises_an_inherited_failure_once(engine: mx.engine.Engine) -> None:
    x = _failing()
    kept = [x, x + 1, x * 2]
    with pytest.raises(mx.MXNetError, match="scale"):
        mx.nd.waitall()
    mx.nd.waitall()
    assert len(kept) == 3


DERIVED = {
    "copy()": lambda x: x.copy(),
    "astype('float64')": lambda x: x.astype("float64"),
    "copyto(y)": lambda x: x.copyto(mx.nd.zeros((2,))),
    "as_in_context(cpu(1))": lambda x: x.as_in_context(mx.cpu(1)),
    "reshape((2, 1))": lambda x: x.reshape((2, 1)),
    "x[0]": lambda x: x[0],
    "x[0:1][0:1]": lambda x: x[0:1][0:1],
    "detach()": lambda x: x.detach(),
}


@pytest.mark.clause("engine/deferred")
@pytest.mark.parametrize("derive", DERIVED.values(), ids=list(DERIVED))
def test_copies_and_parts_inherit_a_failure(engine: mx.engine.Engine, derive: Callable) -> None:
    made = derive(_failing())
    with pytest.raises(mx.MXNetError, match="scale"):
        made.asnumpy()


@pytest.mark.clause("engine/deferred")
def test_failures_of_many_threads_are_all_kept() -> None:
    kept: list[mx.nd.NDArray] = []

    def work() -> None:
        for _ in range(100):
            _failing()[:] = 1  # comes and goes
            kept.append(_failing())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failed in kept:
        with pytest.raises(mx.MXNetError, match="scale"):
            failed.asnumpy()


@pytest.mark.clause("engine/deferred")
def test_new_values_in_a_part_end_the_failure_of_that_part(engine: mx.engine.Engine) -> None:
    x = mx.nd.zeros((4,))
    first, second, rest = x[0:1], x[1:2], x[2:4]
    mx.nd.random.normal(0, -1, shape=(4,), out=x)
    second[:] = 5
    assert second.asnumpy().tolist() == [5]
    for failed in (first, rest, x):
        with pytest.raises(mx.MXNetError, match="scale"):
            failed.asnumpy()
    first[:] = 4
    rest[:] = 6
    assert x.asnumpy().tolist() == [4, 5, 6, 6]


@pytest.mark.clause("engine/deferred")
def test_new_values_end_a_failure(engine: mx.engine.Engine) -> None:
    x = _failing()
    x[:] = 3
    assert x.asnumpy().tolist() == [3, 3]
    x = _failing()
    mx.nd.ones((2,), out=x)
    assert x.asnumpy().tolist() == [1, 1]
    x = _failing()
    mx.nd.elemwise_add(mx.nd.ones((2,)), mx.nd.ones((2,)), out=x)
    assert x.asnumpy().tolist() == [2, 2]


@pytest.mark.clause("engine/deferred")
def test_a_failure_dies_with_its_arrays(engine: mx.engine.Engine) -> None:
    x = _failing()
    with pytest.raises(mx.MXNetError):
        x.wait_to_read()
    del x
    mx.nd.waitall()
    assert mx.nd.ones((2,)).asnumpy().tolist() == [1, 1]


def test_refusals_before_running_are_not_deferred(engine: mx.engine.Engine) -> None:
    with pytest.raises(mx.MXNetError, match="elemwise_add"):
        mx.nd.elemwise_add(mx.nd.ones((2,)), mx.nd.ones((3,)))


@pytest.mark.clause("engine/choice")
def test_unknown_engine() -> None:
    with pytest.raises(ValueError, match="naive, threaded, shuffled"):
        mx.engine.set_engine("fast")


@pytest.mark.clause("engine/order")
def test_the_queue_is_data() -> None:
    """Two readers of one array may swap; the writer that follows waits for both."""
    with mx.engine.use("shuffled") as engine:
        a = mx.nd.zeros((2,))
        kept = [mx.nd.tanh(a), mx.nd.square(a)]
        mx.nd.square(a, out=a)
        first, second, third = engine.queue.pending
        assert (first.waits_for, second.waits_for, third.waits_for) == (set(), set(), {first, second})
        assert str(engine.queue).splitlines() == [
            "  0 tanh on cpu(0)", "  1 square on cpu(0)", "  2 square on cpu(0)  after [0, 1]",
        ]
    assert kept[0].asnumpy().tolist() == [0, 0]


@pytest.mark.clause("engine/choice")
def test_threaded_contexts_work_side_by_side() -> None:
    """A task on cpu(1) runs while one on cpu(0) is under way: each waits for the other to begin."""
    met = threading.Barrier(2, timeout=30)
    with mx.engine.use("threaded"):
        made = [mx.nd.zeros((1,), ctx) for ctx in (mx.cpu(0), mx.cpu(1))]
        for array in made:
            mx.engine.run("meet", str(array.context), met.wait, [], [array._buffer])
        mx.nd.waitall()
    assert not met.broken


@pytest.mark.clause("engine/no-thread")
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_threaded_does_without_a_thread(failing: int) -> None:
    """Work on three contexts, each with a step that waits for the one on the context before."""
    with mx.engine.use("threaded") as engine, nth("thread", failing) as counter:
        total = mx.nd.ones((2,), mx.cpu(0))
        for context in (mx.cpu(0), mx.cpu(1), mx.cpu(2), mx.cpu(0)):
            total = (total.as_in_context(context) + 1) * 2
        assert total.asnumpy().tolist() == [46, 46]
        mx.nd.waitall()
        assert engine.idle
    assert counter.failed


def test_setting_the_engine_finishes_the_work() -> None:
    mx.engine.set_engine("shuffled", seed=1)
    x = mx.nd.ones((2,)) + 1
    mx.engine.set_engine("naive")
    assert mx.engine.current().name == "naive"
    assert x._buffer.flat.tolist() == [2, 2]


def test_bulk_changes_nothing_but_remembers() -> None:
    before = mx.engine.set_bulk_size(10)
    with mx.engine.bulk(20):
        assert (mx.nd.ones((1,)) + 1).asscalar() == 2
    assert mx.engine.set_bulk_size(before) == 10


@pytest.mark.clause("engine/choice")
@pytest.mark.parametrize(
    ("value", "name", "raised"), [("NaiveEngine", "naive", True), ("ThreadedEngine", "threaded", False)]
)
def test_environment(value: str, name: str, raised: bool) -> None:
    script = f"""
import refimpl as mx
assert mx.engine.current().name == {name!r}
try:
    x = mx.nd.random.normal(0, -1, shape=(2,))
    assert not {raised}
except mx.MXNetError:
    assert {raised}
"""
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "MXNET_ENGINE_TYPE": value}, check=False, timeout=120,
        capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stderr


def test_numpy_sees_finished_values(engine: mx.engine.Engine) -> None:
    x = mx.nd.array([1, 2]) * 3
    assert np.asarray(x).tolist() == [3, 6]


def failing_executor():
    executor = (mx.sym.random.normal(0, -1, (2,)) + mx.sym.Variable("b")).bind(mx.cpu(), {"b": mx.nd.ones((2,))})
    executor.forward()
    return executor.outputs[0]


def failing_call():
    return mx.nd.random.normal(0, -1, (2,)) + 1


# MXNet 1.9.1: after `asnumpy` or `wait_to_read` of an array or of an executor's output raised, `waitall` raises nothing
@pytest.mark.clause("engine/deferred")
@pytest.mark.parametrize("fail", [failing_executor, failing_call])
@pytest.mark.parametrize("read", [mx.nd.NDArray.asnumpy, mx.nd.NDArray.wait_to_read])
def test_waitall_does_not_raise_again_what_a_read_raised(fail, read):
    array = fail()
    with pytest.raises(mx.MXNetError, match="scale"):
        read(array)
    mx.nd.waitall()


# MXNet 1.9.1: x, y = two such arrays; x.asnumpy() raises, waitall raises the failure of y, waitall raises nothing
@pytest.mark.clause("engine/deferred")
def test_waitall_raises_another_failure():
    read, unread = failing_call(), failing_call()
    with pytest.raises(mx.MXNetError, match="scale"):
        read.asnumpy()
    with pytest.raises(mx.MXNetError, match="scale"):
        mx.nd.waitall()
    mx.nd.waitall()
    del unread
