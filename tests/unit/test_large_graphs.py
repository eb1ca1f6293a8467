"""Graphs of thousands of nodes: what each node costs, and that depth is no limit."""

from __future__ import annotations

import gc
import sys
import threading

import numpy as np
import pytest

import refimpl as mx
from refimpl.cli.benchmark.rows.graphs import GRAPHS
from refimpl.kernels.foundation import collector_pause as collection
from refimpl.kernels.foundation import get
from refimpl.symbol import arrangement
from refimpl.symbol.arrangement import Block, LargePacking, Packing, arrange, needed
from refimpl.symbol.ir import Entry, Node


def _lines(work) -> int:
    """How many lines of Python ``work`` runs; a turn of a comprehension counts as one."""
    count = 0

    def watch(frame, event, arg):
        nonlocal count
        count += event == "line"
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("grad_req", ["write", "null"])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_node_of_a_large_graph_costs_what_one_of_a_small_graph_does(
    name: str, grad_req: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrangement, "MANY", 20)
    monkeypatch.setattr(arrangement, "LEAST_STEPS", 0)

    def cost(size: int) -> float:
        net, shapes = GRAPHS[name](mx, size)

        def bind() -> None:
            net.simple_bind(mx.cpu(), grad_req=grad_req, **shapes)

        bind()  # what is remembered from bind to bind
        return _lines(bind) / len(net.order())

    assert cost(420) <= 1.1 * cost(70)


def _overlap(one: Block, other: Block) -> bool:
    together = one.first <= other.last and other.first <= one.last
    return together and one.offset < other.offset + other.size and other.offset < one.offset + one.size


def _blocks(seed: int, count: int, mean_life: float, held: float = 0.0) -> list[Block]:
    """Blocks of some sizes that live for a while; the share ``held`` of them until the end."""
    draw, found = np.random.RandomState(seed), []
    for number in range(count):
        size = 64 * int(draw.choice([1, 3, 4, 10, 50]))
        last = min(count, number + int(draw.exponential(mean_life)))
        found.append(Block(mx.cpu(), size, size, number, count if draw.uniform() < held else last, []))
    return found


LIVES = [(3.0, 0.0), (3.0, 0.5), (100.0, 0.0), (30.0, 0.2)]


@pytest.mark.clause("memory/lifetime")
@pytest.mark.parametrize("way", range(len(arrangement.WAYS)))
@pytest.mark.parametrize(("mean_life", "held"), LIVES)
def test_many_blocks_that_live_together_lie_apart(way: int, mean_life: float, held: float) -> None:
    blocks = _blocks(1, 300, mean_life, held)
    total = arrangement.WAYS[way](blocks)
    assert total == max(b.offset + b.size for b in blocks) >= needed(blocks)
    assert min(b.offset for b in blocks) == 0
    for number, block in enumerate(blocks):
        assert not any(_overlap(block, other) for other in blocks[:number])


@pytest.mark.parametrize(("mean_life", "held"), LIVES)
def test_many_blocks_need_hardly_more_than_the_most_that_lives_at_once(mean_life: float, held: float) -> None:
    blocks = _blocks(2, 700, mean_life, held)
    assert len(blocks) > arrangement.MANY
    total = arrange(blocks)
    assert total == max(b.offset + b.size for b in blocks) <= 1.06 * needed(blocks)
    assert total == arrange(_blocks(2, 700, mean_life, held))


def test_a_large_packing_finds_the_gaps_that_a_small_one_finds() -> None:
    small, large = Packing(), LargePacking(())
    for block in sorted(_blocks(3, 400, 20.0), key=lambda b: -b.size):
        offset = small.gap(block)
        assert large.gap(block) == offset
        small.put(block, offset)
        large.put(block, offset)
    assert large.height == small.height
    assert large.steps < small.steps / 2


def test_a_search_among_too_many_neighbours_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrangement, "LEAST_STEPS", 0)
    blocks = [Block(mx.cpu(), 64, 64, 0, 9, []) for _ in range(1000)] + [Block(mx.cpu(), 64, 64, 10, 10, [])]
    assert arrangement.WAYS[-1](blocks) is None
    assert arrange(blocks) == needed(blocks) == 64 * 1000


DEEP = 3000  # deeper than Python's stack; nodes of MXNet's deepest networks are some thousands


def test_a_graph_may_be_deeper_than_the_stack() -> None:
    net, shapes = GRAPHS["chain"](mx, DEEP)
    assert net.infer_shape(**shapes)[1] == [(2, 2)]
    text = net.tojson()
    again = mx.sym.load_json(text)
    assert again.tojson() == text
    assert len(again.get_internals().list_outputs()) == DEEP + 1
    assert again.debug_str().count("\n") >= DEEP
    assert again.gradient(["data"]).list_arguments() == ["_head_grad_0", "data"]
    executor = again.simple_bind(mx.cpu(), **shapes)
    executor.arg_dict["data"][:] = 0
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((2, 2)))
    assert executor.grad_dict["data"].asnumpy().tolist() == [[0, 0], [0, 0]]
    assert executor.debug_str().count("\n") >= DEEP


def test_a_deep_graph_dies_without_a_stack() -> None:
    head = Entry(Node(None, "data"), 0)
    for _ in range(50_000):
        head = Entry(Node(get("identity"), "again", {}, [head]), 0)
    kept = [mx.sym.Symbol([head])]
    del head
    watched = threading.Thread(target=kept.clear)  # threads have the smallest stacks
    watched.start()
    watched.join()
    assert not kept


def test_the_collector_rests_while_something_is_bound_and_is_on_again_whatever_happens() -> None:
    assert gc.isenabled()
    with collection.paused():
        assert not gc.isenabled()
        with pytest.raises(RuntimeError, match="simple_bind error"):
            mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2).simple_bind(mx.cpu(), data=())
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        (mx.sym.Variable("a") * 2).simple_bind(mx.cpu(), a=(2,))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_long_pause_collects_young_garbage_often_and_all_of_it_seldom(monkeypatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(gc, "collect", asked.append)
    often, all_of_it = collection.Seldom.OFTEN, collection.Seldom.ALL
    for was_on in (True, False):
        seldom = collection.Seldom()
        (gc.enable if was_on else gc.disable)()
        try:
            with collection.paused():
                for _ in range(all_of_it):
                    seldom.done()
        finally:
            gc.enable()
        assert asked == ([1] * (all_of_it // often - 1) + [2]) * was_on
        asked.clear()


def test_the_last_thread_that_binds_turns_the_collector_on() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with collection.paused():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with collection.paused():
        thread.start()
        inside.wait()
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
