"""Ctrl-C while contexts are at work, and while work is handed to an engine."""

from __future__ import annotations

import threading

import pytest

import refimpl as mx
from refimpl import engine, nd
from refimpl.module.thread_pool import ThreadPool

from ..stateful import planted_failures


@pytest.mark.clause("ExecutorGroup/interrupted")
@pytest.mark.parametrize("part", [0, 0.3, 0.6, 0.9])
def test_no_context_is_at_work_after_an_interruption(part):
    """At several moments of a run: what has begun has ended, and the next run does everything."""
    begun, ended = [], []

    def work(context):
        begun.append(context)
        for _ in range(200):
            nd.ones((2,)).asnumpy()
        ended.append(context)

    pool = ThreadPool(3)
    pool.run(work)
    moments = planted_failures.moments(lambda: pool.run(work))
    begun.clear()
    ended.clear()
    assert planted_failures.interrupted(lambda: pool.run(work), 1 + int(part * moments))
    assert set(begun) - set(ended) <= {0}  # what was interrupted itself
    ended.clear()
    pool.run(work)
    assert sorted(ended) == [0, 1, 2]


@pytest.mark.clause("ExecutorGroup/interrupted")
def test_an_interruption_waits_for_who_is_at_work():
    at_work, go_on, ended = threading.Event(), threading.Event(), []

    def work(context):
        if context == 0:
            assert at_work.wait(20)
            threading.Timer(0.01, go_on.set).start()
            raise KeyboardInterrupt
        at_work.set()
        assert go_on.wait(20)
        ended.append(context)

    with pytest.raises(KeyboardInterrupt):
        ThreadPool(2).run(work)
    assert ended == [1]


@pytest.mark.clause("engine/interrupted")
def test_a_task_whose_handing_over_was_interrupted_keeps_nobody_waiting():
    x, one = nd.zeros((2,)), nd.ones((2,))

    def add():
        nd.elemwise_add(x, one, out=x)

    with engine.use("threaded"):
        add()
        moments = planted_failures.moments(add)
        for moment in range(1, moments + 1):
            before = x.asnumpy()[0]
            planted_failures.interrupted(add, moment)
            finished = threading.Thread(target=engine.wait_all, daemon=True)
            finished.start()
            finished.join(20)
            idle = engine.current().idle
            engine.current().queue.pending.clear()  # so that a failure is told, and not waited for
            assert idle, f"moment {moment} of {moments}"
            assert x.asnumpy()[0] - before in (0, 1)


@pytest.mark.clause("engine/interrupted", "engine/unfinished")
def test_what_an_interrupted_task_was_to_write_holds_no_values(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    x = nd.ones((2,))
    with engine.use("shuffled"):
        y = nd.square(x)
        with monkeypatch.context() as patch:
            patch.setattr("refimpl.kernels.foundation.run.fill", interrupted)
            with pytest.raises(KeyboardInterrupt):
                y.asnumpy()
        with pytest.raises(mx.MXNetError) as caught:
            (y + 1).asnumpy()
        assert caught.value.clause == "engine/unfinished"
        y[:] = 3
        assert (y + 1).asnumpy().tolist() == [4, 4]


@pytest.mark.clause("Executor/before-forward")
def test_backward_before_forward_computes_with_zeros():
    # MXNet 1.9.1: exp(data * w).simple_bind(cpu(), data=(3,), w=(3,)), data = 2, w = 1, backward(ones) gives
    # 3.9e-11, 9.2e-41, 0 for w: what memory held
    net = mx.sym.square(mx.sym.exp(mx.sym.Variable("data") * mx.sym.Variable("w")))
    first = net.simple_bind(mx.cpu(), data=(3,), w=(3,))
    first.arg_dict["data"][:] = 2
    first.backward(nd.ones((3,)))
    assert first.grad_dict["w"].asnumpy().tolist() == [0, 0, 0]
    first.forward(is_train=True)
    first.backward(nd.ones((3,)))
    assert first.grad_dict["w"].asnumpy().tolist() == [4, 4, 4]
    first.forward(is_train=True)
    smaller = first.reshape(data=(2,), w=(2,))  # in the same memory, which holds exp(0) now
    smaller.backward(nd.ones((2,)))
    assert smaller.grad_dict["w"].asnumpy().tolist() == [0, 0]


@pytest.mark.clause("Executor/unfinished")
def test_backward_is_refused_where_forward_was_left():
    """Also in an executor that shares the memory, of which the forward was finished."""
    net = mx.sym.square(mx.sym.square(mx.sym.Variable("x"), name="inner"))
    whole = net.simple_bind(mx.cpu(), x=(4,))
    part = whole.reshape(x=(2,))
    whole.forward(is_train=True)

    def fail(name, _):
        raise ValueError(name)

    part.set_monitor_callback(fail)
    with pytest.raises(ValueError, match="inner_output"):
        part.forward(is_train=True)
    for executor in (whole, part):
        with pytest.raises(mx.MXNetError) as caught:
            executor.backward(nd.ones(executor.outputs[0].shape))
        assert caught.value.clause == "Executor/unfinished"
    assert whole.outputs[0].asnumpy().tolist() == [0, 0, 0, 0]
    with pytest.raises(mx.MXNetError) as caught:
        part.outputs[0].asnumpy()
    assert caught.value.clause == "engine/unfinished"
    whole.forward(is_train=True)
    whole.backward(nd.ones((4,)))


@pytest.mark.clause("Executor/unfinished", "Module/unfinished")
def test_a_batch_of_another_size_comes_after_a_backward_that_was_left():
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc"), name="softmax")
    for _ in range(2):  # the first module compiles the kernels, which takes many moments
        module = mx.mod.Module(net, context=[mx.cpu(0), mx.cpu(1)])
        module.bind([("data", (4, 2))], [("softmax_label", (4,))])
        module.init_params()
        module.forward(mx.io.DataBatch([nd.ones((4, 2))], [nd.zeros(4)]), is_train=True)
        last = planted_failures.moments(module.backward)
    assert planted_failures.interrupted(module.backward, last // 2)
    with pytest.raises(mx.MXNetError) as caught:
        module._exec_group.grad_arrays[0][0].asnumpy()
    assert caught.value.clause == "engine/unfinished"
    module.forward_backward(mx.io.DataBatch([nd.ones((6, 2))], [nd.zeros(6)]))
    assert module._exec_group.grad_arrays[0][0].asnumpy().shape == (2, 2)
