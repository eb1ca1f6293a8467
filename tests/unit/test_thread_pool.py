"""The thread pool of an executor group: contexts side by side."""

from __future__ import annotations

import gc
import threading

import pytest

from refimpl.module.thread_pool import ThreadPool
from tests.stateful.failing import nth


@pytest.mark.clause("ExecutorGroup/side-by-side")
@pytest.mark.parametrize("size", [1, 2, 5])
def test_every_context_runs_once(size):
    done = []
    ThreadPool(size).run(done.append)
    assert sorted(done) == list(range(size))


@pytest.mark.clause("ExecutorGroup/side-by-side")
def test_contexts_run_at_the_same_time():
    meeting = threading.Barrier(3, timeout=20)
    ThreadPool(3).run(lambda _: meeting.wait())


@pytest.mark.clause("ExecutorGroup/side-by-side")
@pytest.mark.parametrize(("failing", "speaks"), [({1, 2}, 1), ({0, 2}, 0), ({3}, 3)])
def test_the_first_failure_reaches_the_caller_when_all_have_stopped(failing, speaks):
    done = []

    def work(context):
        if context in failing:
            raise ValueError(context)
        done.append(context)

    pool = ThreadPool(4)
    with pytest.raises(ValueError, match=str(speaks)):
        pool.run(work)
    assert set(done) == set(range(4)) - failing
    pool.run(lambda _: None)


def test_the_first_context_runs_on_the_calling_thread():
    names = {}
    ThreadPool(2).run(lambda context: names.update({context: threading.current_thread()}))
    assert names[0] is threading.current_thread()
    assert names[1] is not names[0]


def test_threads_end_with_their_pool():
    pool = ThreadPool(3)
    threads = []
    pool.run(lambda _: threads.append(threading.current_thread()))
    others = [thread for thread in threads if thread is not threading.current_thread()]
    assert len(others) == 2
    del pool
    gc.collect()
    for thread in others:
        thread.join(timeout=20)
        assert not thread.is_alive()


@pytest.mark.clause("ExecutorGroup/side-by-side")
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_contexts_without_a_thread_take_turns(failing):
    pool, done = ThreadPool(4), {}

    def work(context):
        done[context] = threading.current_thread()
        if context == 2:
            raise ValueError(context)

    with nth("thread", failing):
        with pytest.raises(ValueError, match="2"):
            pool.run(work)
        assert sorted(done) == [0, 1, 2, 3]
        assert [done[context] is done[0] for context in (1, 2, 3)] == [context >= failing for context in (1, 2, 3)]
    pool.run(lambda context: done.update({context: threading.current_thread()}))
    assert len(set(done.values())) == 4
