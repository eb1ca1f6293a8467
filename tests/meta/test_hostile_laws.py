"""The laws of hostile calls can see: loops that trust an index, a count or working memory are noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from refimpl.kernels import get
from refimpl.kernels.foundation import Case, Loop, Op, items, merge, same_shape, scratch
from refimpl.ndarray import dense
from refimpl.oracle.pages.draws import SeededDraw
from tests.laws import hostile

SEEDS = 120


def noticed(law: Callable[[Op, Any], None], op: Op) -> bool:
    """Whether ``op`` breaks the law in some draws."""
    for seed in range(SEEDS):
        try:
            law(op, SeededDraw(seed))
        except AssertionError:
            return True
    return False


class Params(NamedTuple):
    count: int = 1


def trusting(data, index, out, n):
    for i in items(n):
        out[i] = data[int(index[i])]


def wrapping(data, index, out, n):
    for i in items(n):
        at = int(index[i]) if index[i] == index[i] and abs(index[i]) < n else 0
        out[i] = data[at]  # a negative one is Python's last element, and another array's in machine code


def counting(data, index, out, n):
    for i in items(n):
        out[i] = data[0]


def remembering(data, memory, out, n):
    for i in items(n):
        out[i] = data[i] if data[i] == data[i] else memory[i]


TRUSTING, WRAPPING, COUNTING, REMEMBERING = map(Loop, (trusting, wrapping, counting, remembering))


def page(loop: Loop) -> Op:
    def infer(p: Any, ins: list, outs: list) -> tuple[list, list]:
        shape = merge("x/y", "index", ins[0], merge("x/y", "data", ins[1], outs[0]))
        return [shape, shape], [shape]

    def forward(p: Params, data: Any, index: Any, out: Any) -> None:
        loop(data, index, out, out.size + p.count - 1)

    def cases(draw: Any) -> Case:
        shape = draw.shape(1, 2)
        return Case({}, {"data": shape}, {"index": ("ints", 0, 0)})

    return Op(name="Odd", doc="", params=Params, inputs=("data", "index"), infer=infer, forward=forward, cases=cases)


@pytest.mark.parametrize("law", [hostile.stays_inside, hostile.takes_any_values])
@pytest.mark.parametrize("loop", [TRUSTING, WRAPPING], ids=str)
def test_an_index_that_is_trusted_is_noticed(loop: Loop, law: Callable) -> None:
    assert noticed(law, page(loop))


def test_a_count_that_is_trusted_is_noticed() -> None:
    assert noticed(hostile.stays_inside, page(COUNTING))


def test_topk_without_its_check_is_noticed() -> None:
    op = get("topk")

    def careless(p: Any, ins: list, outs: list) -> tuple[list, list]:
        return op.infer(p._replace(k=1) if p.ret_typ == "mask" else p, ins, outs)

    assert not noticed(hostile.stays_inside, op)
    assert noticed(hostile.stays_inside, replace(op, infer=careless))


def test_a_result_of_working_memory_is_noticed() -> None:
    def forward(p: Any, data: Any, out: Any) -> None:
        REMEMBERING(data, *scratch(data, data.size), out, out.size)

    op = Op(
        name="Odd", doc="", all_inputs=("data",), infer=same_shape("x/y"), forward=forward,
        cases=lambda draw: Case({}, {"data": draw.shape(1, 2)}),
    )
    assert noticed(hostile.takes_any_values, op)


def test_an_error_without_a_clause_is_noticed() -> None:
    op = get("sqrt")

    def forward(p: Any, data: Any, out: Any) -> None:
        op.forward(p, data, out)
        if data.flat[0] < 0:
            raise ZeroDivisionError

    assert noticed(hostile.stays_inside, replace(op, forward=forward))
    assert noticed(hostile.takes_any_values, replace(op, forward=forward))


def test_writing_over_an_input_that_is_read_later_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not noticed(hostile.takes_any_memory, get("transpose"))
    monkeypatch.setattr(dense, "_may_write", lambda *_: True)
    for name in ("transpose", "cumsum", "SliceChannel"):
        assert noticed(hostile.takes_any_memory, get(name))
