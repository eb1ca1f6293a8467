"""Calls that machine code makes: what kernels get, when it is Python that calls, failures, interruptions, threads."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from functools import cache, partial
from typing import Any
from unittest import mock

import numba
import numpy as np
import pytest

import refimpl as mx
from refimpl.engine import fast_road
from refimpl.executor.executor import run_steps
from refimpl.executor.memory_pool import Pool
from refimpl.kernels.tuned import hand_over, native_calls
from refimpl.kernels.tuned.hand_over import HandOver
from refimpl.module.thread_pool import ThreadPool
from refimpl.replay import pieces, side_by_side, update_calls
from refimpl.replay.pieces import Piece, Rows
from refimpl.replay.programs import Table
from refimpl.replay.side_by_side import Beside

from ..stateful import planted_failures
from ..stateful.failing import nth
from .bound import EXTRAS, SURROUNDINGS, WAYS, bits, dyadic

COMPILED = fast_road.road is not None and native_calls.KNOWN
pytestmark = [
    pytest.mark.skipif(not COMPILED, reason="there is machine code without checks only in the usual lane"),
    pytest.mark.usefixtures("nothing_has_failed"),  # after a failure the steps run
]

SHORT = np.arange(5, dtype=np.float32)
SQUARE = np.arange(6, dtype=np.int32).reshape(2, 3)


# --- what a kernel gets ----------------------------------------------------------------------------


def _listed(out, a, whole, single, pair, grid, double, mixed):
    """Everything that it was given, in a row."""
    out[0], out[1], out[2], out[3] = a.size, a[4], whole, single
    out[4], out[5], out[6] = pair[0], pair[1], grid.shape[0]
    out[7], out[8], out[9] = grid[1, 2], grid.strides[0], double
    out[10], out[11], out[12] = mixed[0][1], mixed[1], mixed[2][3]


def _told(out, number):
    out[0] = number


def _fails(out, number):
    if number > 0:
        raise ZeroDivisionError("a kernel's own")
    out[0] = number


def _waits(seen):
    """Says that it has begun, and goes on when it is told."""
    seen[0] = 1
    while seen[1] == 0:
        seen[seen[2]] += 1  # somewhere, so that the other element is read each time


def _nothing(out, number):
    pass


def _last(out, many):
    out[0] = many[-1]


@cache
def _compiled(function: Any) -> Any:
    return numba.njit(nogil=True)(function)


def _rows(*calls: tuple) -> Rows:
    """Rows that call kernels with the arguments behind them, in pieces for machine code."""
    made, codes = [], []
    for function, *args in calls:
        dispatcher = _compiled(function)
        kinds = tuple(map(numba.typeof, args))
        dispatcher.compile(kinds)
        codes.append(native_calls.code_of(dispatcher.overloads[kinds]))
        made.append(partial(dispatcher, *args))
    return pieces.walked(Rows(made, [*range(len(made))], codes, [Piece(0, len(made), None)]))


def _made(rows: Rows) -> list[int | None]:
    """Have machine code make what it can; how many calls these were, piece by piece."""
    return [piece.walk and piece.walk() for piece in rows.pieces]


@pytest.mark.clause("Executor/walk")
def test_a_kernel_gets_what_python_would_give_it() -> None:
    out = np.zeros(13)
    given = SHORT, -7, np.float32(1.5), (3, -4), SQUARE, -0.1, ((1, -(2**40)), np.float32(0.25), SHORT)
    assert _made(_rows((_listed, out, *given))) == [1]
    assert out.tolist() == [5, 4, -7, 1.5, 3, -4, 2, 5, 12, -0.1, -(2**40), 0.25, 3]


def test_calls_are_made_one_after_the_other() -> None:
    out = np.zeros(4)
    longer = [(_last, out[1 + number :], (*range(size),)) for number, size in enumerate((20, 60))]
    rows = _rows((_told, out, 1.0), *longer, (_told, out, 3.0), (_told, out[3:], 4.0))
    assert _made(rows) == [5]
    assert out.tolist() == [3, 19, 59, 4]
    assert rows.place[1] == 5


FLOATS = tuple(float(number) for number in range(11))


def _floats(out, first, many, number, last):
    out[0], out[1], out[2] = first, number, last
    for i in range(11):
        out[3 + i] = many[i]


def test_floats_beyond_the_registers_are_words() -> None:
    out = np.zeros(14)
    assert _made(_rows((_floats, out, 0.5, FLOATS, -7, np.float32(1.5)))) == [None if native_calls.PACKED else 1]
    assert native_calls.PACKED or out.tolist() == [0.5, -7, 1.5, *FLOATS]


def _floats_first(many, out):
    out[0] = many[8]


@pytest.mark.parametrize("many", [True, None], ids=["bool", "none"])
def test_what_cannot_be_handed_over_is_called_by_python(many: Any) -> None:
    out = np.zeros(1)
    rows = _rows((_told, out, 1.0), (_nothing, out, many), (_told, out, 3.0))
    assert [(piece.first, piece.last, piece.walk is None) for piece in rows.pieces] == [
        (0, 1, False), (1, 2, True), (2, 3, False),
    ]
    assert rows.place == (0, 0)


def test_floats_beyond_the_registers_need_words_before_them() -> None:
    assert _made(_rows((_floats_first, FLOATS, np.zeros(1)))) == [None]


def test_calls_with_too_many_words_are_made_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_calls, "SIZES", (7,))
    out = np.zeros(1)
    rows = _rows((_told, out, 1.0), (_last, out, (1,) * 20))
    assert [piece.walk is None for piece in rows.pieces] == [False, True]


def test_on_other_machines_python_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_calls, "KNOWN", False)
    rows = _rows((_told, np.zeros(1), 1.0))
    assert [piece.walk for piece in rows.pieces] == [None]


# --- failures and interruptions --------------------------------------------------------------------


def _run(rows: Rows) -> None:
    """Run rows as an executor does."""
    table = Table([], Pool())
    table.recorder.keep((False, None), rows)
    run_steps([], False, mx.cpu(), table)


@pytest.mark.clause("Executor/walk")
def test_a_kernel_that_fails_fails_as_it_does_in_python() -> None:
    out = np.zeros(3)
    rows = _rows((_told, out, 1.0), (_fails, out[1:], 2), (_told, out[2:], 3.0))
    assert _made(rows) == [1]
    with pytest.raises(ZeroDivisionError, match="a kernel's own"):
        _run(rows)
    assert out.tolist() == [1, 0, 0]


@pytest.mark.clause("Executor/walk")
def test_ctrl_c_is_noticed_between_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MOST_ELEMENTS", 3)
    seen, out = np.array([0, 0, 3, 0]), np.zeros(1)
    rows = _rows((_waits, seen), (_told, out, 1.0))
    assert [piece[:2] for piece in rows.pieces] == [(0, 1), (1, 2)]

    def interrupt() -> None:
        while not seen[0]:
            pass
        os.kill(os.getpid(), signal.SIGINT)
        seen[1] = 1

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        _run(rows)
    assert out.tolist() == [0]


ENDLESS = """
import threading
import numpy as np
from tests.laws.test_replay_pieces import _made, _rows, _waits

seen = np.array([0, 0, 3, 0])
threading.Thread(target=_made, args=(_rows((_waits, seen)),), daemon=True).start()
while not seen[0]:
    pass
print("left")
"""


@pytest.mark.heavy
def test_a_program_ends_while_calls_are_made() -> None:
    done = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")


# --- threads ---------------------------------------------------------------------------------------


@pytest.mark.clause("ExecutorGroup/side-by-side")
@pytest.mark.parametrize("turns", [0, 10**6], ids=["asleep", "watching"])
def test_other_threads_make_calls(turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "TURNS", turns)
    monkeypatch.setattr(side_by_side, "_cores", lambda: 3)
    pool, beside, out = ThreadPool(3), Beside(), np.zeros((3, 2))
    pool.beside = beside
    for turn in range(1, 5):
        others = [_rows((_told, out[i], turn), (_told, out[i, 1:], turn * i)) for i in (1, 2)]
        assert beside.walk(pool, others, lambda turn=turn: out[0].fill(turn)) == [2, 2]
        assert out.tolist() == [[turn, turn], [turn, turn], [turn, 2 * turn]]
        if turn % 2:
            pool.run(lambda context: out[context].fill(0))
            assert not out.any()


@pytest.mark.clause("ExecutorGroup/side-by-side")
def test_calls_of_contexts_without_a_thread_are_made_here() -> None:
    pool, out = ThreadPool(3), np.zeros(3)
    with nth("thread", 2):
        others = [_rows((_told, out[i:], i)) for i in (1, 2)]
        assert Beside().walk(pool, others, lambda: None) == [1, 1]
    assert out.tolist() == [0, 1, 2]


@pytest.mark.clause("ExecutorGroup/side-by-side")
def test_calls_up_to_one_that_fails_are_counted() -> None:
    out = np.zeros(2)
    others = [_rows((_told, out, 1.0), (_fails, out[1:], 2)), _rows((_told, out[1:], 3.0))]
    assert Beside().walk(ThreadPool(3), others, lambda: None) == [1, 1]


@pytest.mark.clause("ExecutorGroup/interrupted")
def test_no_calls_are_being_made_after_an_interruption() -> None:
    """At every moment of a run: what was ordered is made when the caller goes on, and the next run does everything."""
    pool, beside, out = ThreadPool(3), Beside(), np.zeros(3)
    pool.beside = beside
    others = [_rows(*[(_told, out[i:], turn) for turn in (7.0, 1.0)]) for i in (1, 2)]

    def run() -> None:
        beside.walk(pool, others, lambda: None)

    run()
    for moment in range(1, 1 + planted_failures.moments(run)):
        out[:] = 0
        planted_failures.interrupted(run, moment)
        assert not any(hand_over.is_busy for hand_over in beside.hand_overs), moment
        assert set(out) <= {0, 1}
        run()
        assert out.tolist() == [0, 1, 1]


# --- several contexts ------------------------------------------------------------------------------


def _trained(kind: str, surroundings: list[str], extra: str = "nothing") -> tuple[list[Any], list[int]]:
    """Steps of a module on three contexts: what they leave, and how often calls were handed over in each."""
    net = mx.sym.FullyConnected(mx.sym.tanh(mx.sym.Variable("data"), name="tanh"), num_hidden=3, name="fc")
    net = mx.sym.SoftmaxOutput(EXTRAS[extra](net), name="softmax")
    module = mx.mod.Module(net, context=[mx.cpu(number) for number in range(3)])
    module.bind([("data", (7, 40))], [("softmax_label", (7,))])
    names = net.list_arguments()
    shapes, _, _ = net.infer_shape(data=(7, 40))
    module.init_params(arg_params={
        name: mx.nd.array(dyadic(shape, number)) for number, (name, shape) in enumerate(zip(names, shapes, strict=True))
    }, allow_missing=True, initializer=mx.init.One())
    module.init_optimizer()
    history, counts = [], []
    with WAYS[kind](), mock.patch.object(Beside, "walk", autospec=True, side_effect=Beside.walk) as walk:
        for number, surrounding in enumerate(surroundings):
            mx.random.seed(number)
            batch = mx.io.DataBatch([mx.nd.array(dyadic((7, 40), number))], [mx.nd.array(np.arange(7) % 3)])
            told: list[Any] = []
            watched = module._exec_group.execs[1]
            if surrounding == "monitor":
                watched.set_monitor_callback(lambda name, array, told=told: told.append((name, bits([array]))))
            with SURROUNDINGS.get(surrounding, contextlib.nullcontext)():
                module.forward_backward(batch)
                module.update()
                mx.nd.waitall()
            watched.set_monitor_callback(None)
            execs = module._exec_group.execs
            history.append([told, [bits([*e.outputs, *e.arg_arrays, *e._bound.gradients]) for e in execs]])
            counts.append(walk.call_count)
            walk.reset_mock()
    return history, counts


@pytest.mark.clause("ExecutorGroup/deterministic", "Executor/table")
def test_contexts_side_by_side_give_the_bits_of_the_steps() -> None:
    around = ["nothing"] * 3 + ["monitor", "profiler", "threads", "no twins", "nothing"]
    expected, by_steps = _trained("steps", around)
    found, by_table = _trained("table", around)
    assert found == expected
    assert by_steps == [0] * 8
    assert by_table == [0, 2, 2, 0, 0, 0, 0, 2]


@pytest.mark.clause("ExecutorGroup/deterministic")
def test_an_update_that_two_threads_share_has_the_bits_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = _trained("steps", ["nothing"] * 6)
    monkeypatch.setattr(update_calls, "PIECE", 32)
    monkeypatch.setattr(side_by_side, "TURNS", 10**8)  # so that threads watch all the time
    monkeypatch.setattr(side_by_side, "_cores", lambda: 3)
    hand_over._LATEST.after_fork()  # other tests may have left threads that watch
    with mock.patch.object(HandOver, "share", autospec=True, side_effect=HandOver.share) as share:
        found, _ = _trained("table", ["nothing"] * 6)
    assert found == expected
    assert share.call_count == 5
    made = share.call_args.args[0]._words[hand_over.MADE]
    assert made == 12  # two of the four pieces of a weight, each with two sums, the rule and three copies


def test_shared_calls_are_counted_up_to_one_that_fails() -> None:
    out = np.zeros(3)
    first, second = _rows((_told, out, 1.0), (_told, out[1:], 2.0)), _rows((_fails, out[2:], 2), (_told, out, 3.0))
    assert HandOver(lambda: None, 0).share(first.place, second.place) == 2
    assert out.tolist() == [1, 2, 0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_process_knows_no_threads() -> None:
    pool = ThreadPool(2)
    beside = Beside()
    beside.walk(pool, [_rows((_told, np.zeros(1), 1.0))], lambda: None)
    assert hand_over.latest() is beside.hand_overs[0]
    child = os.fork()
    if not child:
        os._exit(hand_over.latest() is not None)
    assert os.waitpid(child, 0)[1] == 0


def test_halves_of_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of calls by hand: a mark, and for each piece a sum, the rule, and two copies."""
    monkeypatch.setattr(update_calls, "PIECE", 4)
    weights, grads, copies = ([mx.nd.ones((size,)) for size in (9, 4)] for _ in range(3))
    rows = [update_calls.Row(i, weights[i], [grads[i]] * 2, [copies[i]] * 2) for i in range(2)]
    call = update_calls.RuleCall(update_calls.ADD, (0, 1, 0), False, ())  # adds the sum of two ones to each weight
    walk = update_calls.Walk(rows, [[], []], [0, 0], call, 1)
    assert [count for _, count in walk._halves] == [1 + 2 * 4 + 4, 4]
    walk()
    assert [array.asnumpy().tolist() for array in (*weights, *copies)] == [[3.0] * 9, [3.0] * 4] * 2
    assert walk.done[0] == 1


@pytest.mark.parametrize("extra", ["Dropout", "Custom"])
def test_contexts_whose_calls_python_makes_are_work_for_threads(extra: str) -> None:
    expected, _ = _trained("steps", ["nothing"] * 4, extra)
    found, by_table = _trained("table", ["nothing"] * 4, extra)
    assert found == expected
    assert by_table[0] == 0
