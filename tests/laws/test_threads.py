"""Calls in parts: the bits of whole calls for any number of threads, who makes parts, failures, the switch."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any
from unittest import mock

import numba
import numpy as np
import pytest

import refimpl as mx
from refimpl.executor import in_parts, table
from refimpl.executor.in_parts import InParts
from refimpl.kernels.foundation import cuts, native_calls, workers
from refimpl.kernels.foundation.hand_over import _state, _swap
from refimpl.kernels.foundation.workers import Workers

from .bound import bits, walked_at_once

pytestmark = pytest.mark.heavy  # each of its kernels is compiled

COMPILED = not (numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK or table.SIMULATED) and native_calls.KNOWN
compiled_only = pytest.mark.skipif(not COMPILED, reason="there is machine code without checks only in the usual lane")

DATA = mx.sym.Variable("data")
IMAGES = (5, 24, 9, 10)
NETS: dict[str, Any] = {
    "3 x 3": mx.sym.Convolution(DATA, kernel=(3, 3), pad=(1, 1), num_filter=20, name="one"),
    "groups": mx.sym.Convolution(
        DATA, kernel=(3, 2), stride=(2, 1), num_filter=40, num_group=2, no_bias=True, name="one"
    ),
    "1 x 1": mx.sym.Convolution(DATA, kernel=(1, 1), num_filter=40, name="one"),
    "dense": mx.sym.FullyConnected(DATA, num_hidden=37, name="one"),
}
"""Networks of one kernel forward, one for the gradient by data, and one for that by weight."""


@pytest.fixture(autouse=True)
def _small_calls_are_cut(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(cuts, "WORTH", 1)
    monkeypatch.setattr(workers, "_cores", lambda: 4)
    with walked_at_once():
        yield


def _trained(net: str, threads: int) -> tuple[list[Any], list[Any]]:
    """The outputs and gradients of the fourth of four runs, and what is called in parts."""
    with mock.patch.dict(os.environ, {in_parts.SWITCH: str(threads)}):
        shape = (29, 50) if net == "dense" else IMAGES
        executor = NETS[net].simple_bind(mx.cpu(), data=shape)
    for number, array in enumerate(executor.arg_arrays):
        array[:] = np.random.RandomState(number).uniform(-1, 1, array.shape)
    head = mx.nd.array(np.random.RandomState(9).uniform(-1, 1, executor.outputs[0].shape))
    for _ in range(4):
        for array in (*executor.outputs, *executor.grad_arrays):
            array[:] = np.nan  # so that no number of an earlier run stands for one that is not written
        executor.forward(is_train=True)
        executor.backward(head)
    program = executor.program
    tables = [each.rows(is_train=True) for each in (program.forward_table, program.backward_table)]
    found = [call for rows in tables if rows for call in rows.calls if isinstance(call, InParts)]
    return bits([*executor.outputs, *(g for g in executor.grad_arrays if g is not None)]), found


@compiled_only
@pytest.mark.clause("Executor/threads")
@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("net", NETS)
def test_any_number_of_threads_gives_the_same_bits(net: str, threads: int) -> None:
    with mx.executor.use("steps"):
        expected, _ = _trained(net, 1)
    found, parts = _trained(net, threads)
    assert len(parts) >= 3  # columns that are left over may be a call of their own
    assert max(call.workers for call in parts) == threads - 1
    assert found == expected


@compiled_only
@pytest.mark.parametrize("net", NETS)
def test_no_part_works_in_the_memory_of_another(net: str) -> None:
    """Of all arguments of a kernel, its results and the memory to work in are those that it writes."""
    written = {
        "out", "result", "panels", "edge", "image", "narrow", "turned", "sums", "packed", "lists", "nothing",
    }
    for call in _trained(net, 3)[1]:
        parts = [dict(zip(cuts.names_of(call.loop), args, strict=True)) for args in call.parts]
        for one, other in itertools.combinations(parts, 2):
            for name in written & {*one}:
                if one[name].size:
                    assert not np.shares_memory(one[name], other[name]), name


@compiled_only
def test_small_calls_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "WORTH", 10**9)
    assert _trained("3 x 3", 2)[1] == []


@compiled_only
def test_one_thread_cuts_nothing() -> None:
    assert _trained("3 x 3", 1)[1] == []


@compiled_only
@pytest.mark.clause("Executor/threads")
def test_contexts_share_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def trained(threads: int) -> list[Any]:
        monkeypatch.setenv(in_parts.SWITCH, str(threads))
        net = mx.sym.SoftmaxOutput(mx.sym.Flatten(NETS["3 x 3"]), name="softmax")
        module = mx.mod.Module(net, context=[mx.cpu(0), mx.cpu(1)])
        module.bind([("data", (10, *IMAGES[1:]))], [("softmax_label", (10,))])
        values = np.random.RandomState(2).uniform(-1, 1, (20, IMAGES[1], 3, 3))
        module.init_params(arg_params={"one_weight": mx.nd.array(values), "one_bias": mx.nd.zeros(20)})
        module.init_optimizer(optimizer_params={"learning_rate": 0.125})
        data = np.random.RandomState(1).uniform(-1, 1, (10, *IMAGES[1:]))
        batch = mx.io.DataBatch([mx.nd.array(data)], [mx.nd.arange(10)])
        for _ in range(6):
            module.forward_backward(batch)
            module.update()
        return bits([*module.get_outputs(), *module.get_params()[0].values()])

    assert trained(2) == trained(1)


# --- who makes a part ------------------------------------------------------------------------------


def _meets(seen, mine, other):
    """Says that it runs, and waits for the other part for a while; whether that runs too."""
    places = seen.ctypes.data
    _swap(places + 8 * mine, 1)
    turn = 0
    while _state(places + 8 * other) == 0 and turn < 2_000_000_000:
        turn += 1
    if _state(places + 8 * other) == 0:
        raise ZeroDivisionError("it is alone")


def _told(seen, mine, other):
    if other < 0:
        raise ZeroDivisionError("a kernel's own")
    seen[mine] += 1


@cache
def _compiled(function: Any) -> Any:
    dispatcher = numba.njit(nogil=True)(function)
    dispatcher.compile(tuple(map(numba.typeof, (np.zeros(4, np.int64), 0, 0))))
    return dispatcher


def _form(function: Any) -> native_calls.Form:
    (kernel,) = _compiled(function).overloads.values()
    form = native_calls.form_of(kernel)
    assert form is not None
    return form


def _split(function: Any, *calls: tuple[Any, ...]) -> None:
    """Make calls as parts of one."""
    record, _held = workers.written(_form(function), calls)
    workers.splitter()[1].entry_point(record)


@pytest.fixture
def own_workers(monkeypatch: pytest.MonkeyPatch) -> Workers:
    own = Workers()
    monkeypatch.setattr(workers, "WORKERS", own)
    return own


@compiled_only
def test_parts_are_made_side_by_side(own_workers: Workers) -> None:
    own_workers.places(1)
    seen = np.zeros(4, np.int64)
    _form(_meets), workers.splitter()  # compiled before the worker watches, which it does for some milliseconds
    with own_workers.watching(1):
        _split(_meets, (seen, 0, 1), (seen, 1, 0))
    assert seen[:2].tolist() == [1, 1]
    assert own_workers.words[0][workers.MADE] == 1


@compiled_only
def test_where_no_worker_watches_the_thread_makes_all_parts(own_workers: Workers) -> None:
    seen = np.zeros(4, np.int64)
    _split(_told, (seen, 0, 0), (seen, 1, 0), (seen, 2, 0))
    assert seen.tolist() == [1, 1, 1, 0]


@compiled_only
def test_a_part_that_its_worker_has_not_begun_is_taken_back(own_workers: Workers) -> None:
    own_workers.places(1)
    own_workers.words[0][0] = workers.WATCHING  # and no thread is there
    seen = np.zeros(4, np.int64)
    _split(_told, (seen, 0, 0), (seen, 1, 0))
    assert seen.tolist() == [1, 1, 0, 0]
    assert own_workers.words[0][0] == workers.WATCHING


@compiled_only
def test_workers_are_no_more_than_free_cores(own_workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_cores", lambda: 1)
    own_workers.places(2)
    with own_workers.watching(2):
        assert [words[0] for words in own_workers.words] == [workers.ASLEEP] * 2


@compiled_only
@pytest.mark.parametrize("failing", [0, 1])
def test_a_part_that_fails_is_told(failing: int, own_workers: Workers) -> None:
    seen = np.zeros(4, np.int64)
    with pytest.raises(RuntimeError, match="a part of a kernel's call failed"):
        _split(_told, *[(seen, number, -1 if number == failing else 0) for number in range(2)])


@compiled_only
def test_threads_that_run_at_once_take_turns_with_a_worker(own_workers: Workers) -> None:
    own_workers.places(1)
    seen = [np.zeros(4, np.int64) for _ in range(2)]

    def run(mine: np.ndarray) -> None:
        record, _held = workers.written(_form(_told), [(mine, 0, 0), (mine, 1, 0)])
        for _ in range(2000):
            workers.splitter()[1].entry_point(record)

    _form(_told)
    with own_workers.watching(1):
        others = [threading.Thread(target=run, args=(one,)) for one in seen]
        for other in others:
            other.start()
        for other in others:
            other.join()
    assert [one.tolist() for one in seen] == [[2000, 2000, 0, 0]] * 2


@compiled_only
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_process_starts_workers_of_its_own(own_workers: Workers) -> None:
    own_workers.places(1)
    own_workers.words[0][:] = workers.WATCHING  # and no thread is there
    child = os.fork()
    if not child:
        os._exit(int(own_workers.words[0][0] != workers.ASLEEP or own_workers.words[0][workers.RUNS] != 0))
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.clause("Executor/threads-switch")
@pytest.mark.parametrize("asked", ["0", "65", "two", "-1", "1.5", ""])
def test_the_switch_is_a_number_of_threads(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(in_parts.SWITCH, asked)
    with pytest.raises(mx.MXNetError, match=f"REFIMPL_THREADS must be a whole number from 1 to 64, it is '{asked}'"):
        (mx.sym.Variable("a") * 2).bind(mx.cpu(), {"a": mx.nd.ones(2)})
