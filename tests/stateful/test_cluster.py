"""The simulated cluster under thousands of random schedules: what it hands out is what a sound server hands out.

Pushes are tags, so that each pull says which pushes it holds (``refimpl.kvstore.histories``), or any numbers at all,
which one machine must turn into the same bits. Faults are drawn with the schedule.
"""

from __future__ import annotations

import itertools
import random
import re

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore.histories import History, check
from refimpl.kvstore.schedule import SOME
from refimpl.kvstore.server import step
from refimpl.oracle.backends.broken_servers import BROKEN, Again, Forgetful, Unordered
from refimpl.oracle.backends.simulated_cluster import run_tagged

from .cluster_programs import (
    BOUND,
    FATES,
    Program,
    everything,
    last_reads,
    run_with_fates,
    tagged_program,
)
from .cluster_rounds import draw_rounds, on_one_machine, run_rounds, same

MANY = min(settings.default.max_examples, 100)  # 4, in CI's lane of heavy tests 6
KINDS = ("dist_sync", "dist_async")
schedules = st.lists(st.integers(0, 40), min_size=60, max_size=160)
"""Decisions: where a list ends the run goes on with zeros, which are calm."""
randomness = st.randoms(use_true_random=False)


def _trimmed(drawn: list[int]) -> list[int]:
    """Without the last zeros, which change nothing."""
    while drawn and not drawn[-1]:
        drawn = drawn[:-1]
    return drawn


@pytest.fixture(autouse=True, scope="module")
def split_small_arrays():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", str(BOUND))
        yield


def require_sound(program: Program, outcome) -> None:
    """Nobody waited in vain, each pull holds what it must, and in the end everybody holds everything."""
    assert outcome.failures == []
    assert list(map(str, check(outcome.history, program.kind))) == []
    last = last_reads(outcome)
    for key, ends in everything(program).items():
        assert len(last[key]) == program.workers
        assert all(value.tolist() == ends.tolist() for value in last[key])


# --- sound ----------------------------------------------------------------------------------------


@pytest.mark.clause("Cluster/once", "Cluster/durable", "Cluster/sync-round", "Cluster/async", "Cluster/barrier")
@pytest.mark.parametrize("block", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_and_nothing_counts_twice(kind, block):
    for seed in range(block * 5 * MANY, (block + 1) * 5 * MANY):
        program = tagged_program(random.Random(f"{kind} {seed}"), kind, sparse=0.2)
        require_sound(program, run_tagged(program, seed))


@settings(max_examples=10 * MANY)
@given(randomness, st.sampled_from(KINDS), schedules)
def test_no_schedule_loses_or_doubles_anything(drawn, kind, schedule):
    program = tagged_program(drawn, kind, sparse=0.2)
    require_sound(program, run_tagged(program, faults=SOME, schedule=schedule))


@pytest.mark.clause("Cluster/rank-order", "Cluster/split", "Cluster/rows", "Cluster/compression", "Cluster/replace")
@pytest.mark.filterwarnings("ignore:Accumulating with float16")
@pytest.mark.parametrize("block", range(4))
def test_rounds_are_bit_equal_to_one_machine(block):
    for seed in range(block * 8 * MANY, (block + 1) * 8 * MANY):
        rounds = draw_rounds(random.Random(seed))
        pulled, expected = run_rounds(rounds, seed), on_one_machine(rounds)
        for worker in range(rounds.workers):
            assert same(pulled.seen[worker], expected), f"seed {seed}, worker {worker}: {rounds}"


@pytest.mark.filterwarnings("ignore:Accumulating with float16")
@settings(max_examples=10 * MANY)
@given(randomness, schedules)
def test_rounds_of_any_schedule_are_bit_equal_to_one_machine(drawn, schedule):
    rounds = draw_rounds(drawn)
    pulled, expected = run_rounds(rounds, schedule=schedule, faults=SOME), on_one_machine(rounds)
    for worker in range(rounds.workers):
        assert same(pulled.seen[worker], expected)


def _step_twice(server, request):
    """If a server were changed by a step, it would show in the second one."""
    step(server, request)
    return step(server, request)


@pytest.mark.clause("Cluster/pure")
@pytest.mark.filterwarnings("ignore:Accumulating with float16")
def test_a_step_can_be_taken_again():
    for seed in range(4 * MANY):
        rounds = draw_rounds(random.Random(seed))
        pulled, expected = run_rounds(rounds, seed, step=_step_twice), on_one_machine(rounds)
        assert all(same(seen, expected) for seen in pulled.seen.values()), f"seed {seed}"


@pytest.mark.parametrize("kind", KINDS)
def test_codes_arrive_with_what_earlier_ones_left_out(kind):
    for seed in range(3 * MANY):
        program = tagged_program(random.Random(seed), kind)
        outcome = run_tagged(program, seed, threshold=0.5)
        assert outcome.failures == []
        assert list(map(str, check(outcome.history, kind, threshold=0.5))) == []


@pytest.mark.clause("Cluster/pairing")
@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, KINDS)))
def test_two_stores_do_not_meet(kinds):
    for seed in range(MANY):
        histories = [History(2, 3), History(2, 3)]

        def work(histories=histories) -> None:
            pairs = list(zip(histories, [mx.kv.create(kind) for kind in kinds], strict=True))
            for history, store in pairs:
                store.set_optimizer(mx.optimizer.create("test"))
                store.init("w", nd.zeros((3, history.width)))
            out = nd.zeros((3, 6))
            for number in range(4):
                for history, store in pairs[:: 1 if number % 2 else -1] if number < 3 else ():
                    store.push("w", nd.array(history.push(store.rank, "w", 3)))
                for history, store in pairs:
                    if number == 3:
                        store._barrier()
                        history.barrier(store.rank)
                    store.pull("w", out=out)
                    history.pull(store.rank, "w", out.asnumpy())
                    assert number < 3 or out.asnumpy().tolist() == [[1.0] * 6] * 3

        mx.kv.simulate(2, 2, seed).run(work, kind=None)
        assert [list(map(str, check(*pair))) for pair in zip(histories, kinds, strict=True)] == [[], []]


# --- one fault at every point ---------------------------------------------------------------------


def _before_move(number, fault):
    """Let ``fault(cluster)`` happen before move ``number``."""

    def prepare(cluster) -> None:
        move, moves = cluster._move, itertools.count()

        def moving() -> bool:
            if next(moves) == number:
                fault(cluster)
            return move()

        cluster._move = moving

    return prepare


def _crash_first(cluster) -> None:
    cluster.crash(0)


def _crash_second(cluster) -> None:
    cluster.crash(1)


def _drop_oldest(cluster) -> None:
    if cluster._in_flight:
        cluster._lose_packet(cluster._in_flight[0])


def _drop_newest(cluster) -> None:
    if cluster._in_flight:
        cluster._lose_packet(cluster._in_flight[-1])


def _double_oldest(cluster) -> None:
    cluster._in_flight += cluster._in_flight[:1]


@pytest.mark.heavy
@pytest.mark.clause("Cluster/crash", "Cluster/durable")
@pytest.mark.parametrize("fault", [_crash_first, _crash_second, _drop_oldest, _drop_newest, _double_oldest])
@pytest.mark.parametrize("kind", KINDS)
def test_one_fault_at_every_point(kind, fault):
    script = [("push", "w"), ("push", "w"), ("pull", "w"), ("barrier", None)]
    program = Program(kind, 2, {"w": 6}, [script, script])
    calm = run_tagged(program, faults=False, schedule=[])
    require_sound(program, calm)
    moves = len(calm.cluster.events)
    assert moves > 40
    for number in range(moves + 20):
        outcome = run_tagged(program, faults=False, schedule=[], prepare=_before_move(number, fault))
        require_sound(program, outcome)


# --- again ----------------------------------------------------------------------------------------


@pytest.mark.clause("Cluster/replay")
@pytest.mark.parametrize("kind", KINDS)
def test_a_schedule_repeats_everything(kind):
    for seed in range(MANY):
        program = tagged_program(random.Random(seed), kind)
        first = run_tagged(program, seed)
        again = run_tagged(program, schedule=first.cluster.schedule)
        assert list(again.cluster.events) == list(first.cluster.events)
        assert again.answers == first.answers
        assert again.cluster.schedule == first.cluster.schedule


# --- broken ---------------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize(("broken", "kind"), [(broken, kind) for broken in BROKEN for kind in broken.kinds])
def test_a_broken_server_is_caught_each_time(broken, kind):
    triggered = 0
    for seed in range(4 * MANY):
        program = tagged_program(random.Random(seed), kind, **broken.given)
        server = broken(program, random.Random(seed).randrange(1000))
        violations = check(run_tagged(program, seed, step=server).history, kind)
        assert bool(violations) == bool(server.triggered), f"seed {seed}"
        if violations:
            assert violations[0].name in broken.names, f"seed {seed}: {violations[0]}"
            triggered += 1
    assert triggered >= MANY // 5


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
def test_forgotten_residuals_are_caught_each_time(kind):
    triggered = 0
    for seed in range(3 * MANY):
        program = tagged_program(random.Random(seed), kind, pushes=4)
        forgetful = Forgetful()
        history = run_tagged(program, seed, threshold=0.5, spoil=forgetful, least=0).history
        violations = check(history, kind, threshold=0.5)
        assert {violation.name for violation in violations} == ({"residual"} if forgetful.triggered else set())
        triggered += bool(violations)
        assert all(violation.explanation.endswith("is forgotten") for violation in violations)
    assert triggered > MANY


SHRUNK = settings(max_examples=2000, database=None, derandomize=True, deadline=None)


@pytest.mark.heavy
@pytest.mark.parametrize(("broken", "script"), [
    (Again, [("push", "w"), ("pull", "w")]),
    (Unordered, [("push", "w"), ("push", "w")]),
])
def test_the_schedule_of_a_failure_shrinks(broken, script):
    """To a few decisions that are not 0, some 3 for Again and 9 for Unordered; in a random schedule some 50 are not."""
    program = Program("dist_async", 1, {"w": 1}, [script, [("pull", "w")]])

    def fails(schedule) -> bool:
        outcome = run_tagged(program, faults=SOME, schedule=schedule, step=broken(program, 0))
        return any(violation.name in broken.names for violation in check(outcome.history, program.kind))

    schedule = find(st.lists(st.integers(0, 11), min_size=36, max_size=48).map(_trimmed), fails, settings=SHRUNK)
    assert fails(schedule)
    assert sum(decision > 0 for decision in schedule) <= 12, schedule


# --- workers that go ------------------------------------------------------------------------------


def _draw_fates(drawn: random.Random) -> tuple:
    workers, rounds = drawn.randint(1, 4), drawn.randint(1, 4)
    fates = [drawn.choice(FATES) for _ in range(workers - 1)] + ["stays"]
    at = [drawn.randint(0, rounds - 1) for _ in range(workers)]
    return drawn.choice(KINDS), fates, at, rounds, drawn.randint(1, 2), drawn.choice([1, 5])


def _require_reasons(outcome, fates) -> None:
    """Whoever waited in vain was told for whom: for somebody who ended without a word."""
    silent = {worker for worker, fate in enumerate(fates) if fate in ("returns early", "raises")}
    gone = {worker for worker, fate in enumerate(fates) if fate.startswith("is lost")}
    for failure in map(str, outcome.failures):
        assert failure.endswith("[Cluster/who-is-missing]")
        if lost := re.match(r"worker (\d+) was lost", failure):
            assert int(lost[1]) in gone
        else:
            named = {int(worker) for worker in re.findall(r"worker (\d+) \((?:has ended|ended with Quit)\)", failure)}
            assert named
            assert named <= silent | gone


@pytest.mark.clause("Cluster/who-is-missing", "Cluster/leave", "Cluster/lose", "Cluster/return", "Cluster/worker-error")
def test_every_wait_ends_or_names_who_is_missing():
    for seed in range(30 * MANY):
        kind, fates, at, rounds, servers, rows = _draw_fates(random.Random(seed))
        outcome = run_with_fates(kind, fates, at, rounds, seed, servers, rows)
        assert list(map(str, check(outcome.history, kind))) == [], f"seed {seed}"
        _require_reasons(outcome, fates)
        if outcome.results is not None and "returns early" not in fates:
            stays = [one for one, fate in zip(outcome.results, fates, strict=True) if fate == "stays"]
            assert set(stays) == {"done"}, f"seed {seed}: {fates}"


@settings(max_examples=5 * MANY)
@given(randomness, schedules)
def test_every_wait_of_any_schedule_ends(drawn, schedule):
    kind, fates, at, rounds, servers, rows = _draw_fates(drawn)
    outcome = run_with_fates(kind, fates, at, rounds, 0, servers, rows, schedule=schedule)
    assert list(map(str, check(outcome.history, kind))) == []
    _require_reasons(outcome, fates)


@pytest.mark.clause("Cluster/return")
def test_an_answer_to_an_old_life_does_not_stop_a_request_from_being_sent_again():
    for seed in range(20 * MANY):
        cluster = mx.kv.simulate(1, 1, seed, faults=mx.kv.Faults(drops=6, duplicates=6))
        cluster.store(0)
        cluster.lose(0)
        cluster.connect(0)
        cluster.store(0).init("w", nd.zeros((2,)))


@pytest.mark.clause("Cluster/lose")
@pytest.mark.parametrize("go", ["lose", "stop"])
def test_who_is_gone_says_nothing(go):
    cluster = mx.kv.simulate(2, 1, faults=False)
    here, gone = cluster.stores()
    for store in (here, gone):
        store.init("w", nd.zeros((1,)))
    getattr(cluster, go)(1)
    gone.push("w", nd.array([8.0]))
    here.push("w", nd.array([1.0]))
    out = nd.zeros((1,))
    here.pull("w", out=out)
    assert out.asscalar() == 1
    with pytest.raises(mx.MXNetError, match=r"worker 1 (was lost|has left); cluster.connect\(1\) lets it come back"):
        gone.pull("w", out=out)


# --- what these programs found --------------------------------------------------------------------


@pytest.mark.clause("Cluster/split")
def test_a_part_without_rows_is_updated():
    def work(store) -> list:
        store.set_optimizer(mx.optimizer.create("test"))
        store.init("w", nd.zeros((1, BOUND)))
        out = nd.ones((1, BOUND))
        store.pushpull("w", nd.ones((1, BOUND)), out=out)
        return out.asnumpy().tolist()

    assert mx.kv.simulate(2, 3, faults=False).run(work) == [[[2.0] * BOUND]] * 2


@pytest.mark.clause("Cluster/multi-precision")
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_float16_weights_gather_what_float16_would_drop(kind, late):
    """1024 + 1/4 is 1024 in float16: four pushes of 1/4 move the weight only if it is kept in float32."""

    def work(store) -> float:
        optimizer = mx.optimizer.create("sgd", learning_rate=1.0, rescale_grad=-1.0, multi_precision=True)
        if not late:
            store.set_optimizer(optimizer)
        store.init(0, nd.full((1,), 1024.0, dtype="float16"))
        if late:
            store.set_optimizer(optimizer)
        for _ in range(4):
            store.push(0, nd.full((1,), 0.25, dtype="float16"))
        out = nd.zeros((1,), dtype="float16")
        store.pull(0, out=out)
        assert out.dtype == np.float16
        return out.asscalar()

    assert mx.kv.simulate(1, 1).run(work, kind) == [1025.0]
