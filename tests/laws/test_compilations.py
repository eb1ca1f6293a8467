"""Kernels are compiled once: not for a shape, a rank or a parameter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numba
import pytest
from numba.core import event, types

from refimpl.kernels import distinct
from refimpl.kernels.foundation import LOOPS
from refimpl.kernels.foundation.loop import Loop, python_loops
from refimpl.oracle.pages.calls import Trial, has_gradient
from refimpl.oracle.pages.draws import SeededDraw, example

CALLS = 1000
WARM_UP = 60  # calls per operator


def _some_calls(first_seed: int, count: int) -> None:
    """``count`` random calls spread over all pages, both ways, in float32."""
    operators = [op for op in distinct() if op.cases is not None]
    for turn in range(count):
        op = operators[turn % len(operators)]
        draw = SeededDraw(first_seed + turn)
        of = example(op, draw)
        trial = Trial(of, is_train=op.mode and draw.boolean())
        trial.forward()
        if has_gradient(of):
            trial.backward()


@pytest.mark.heavy
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with the JIT disabled")
def test_random_calls_compile_nothing_after_warm_up() -> None:
    """The warm-up is long enough to meet every parameter that chooses a loop of its own."""
    _some_calls(1_000_000, WARM_UP * len(distinct()))
    with event.install_recorder("numba:compile") as recorder:
        _some_calls(2_000_000, CALLS)
    compiled = {str(happened.data["dispatcher"]) for _, happened in recorder.buffer}
    assert not compiled


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with the JIT disabled")
def test_each_loop_has_one_form_per_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """The types that a loop is compiled for differ in element types, never in rank, layout or geometry."""
    called: dict[Loop, set[tuple]] = defaultdict(set)
    unwrapped = Loop.unwrapped

    def noted(loop: Loop, args: Sequence[Any]) -> list[Any]:
        given = unwrapped(loop, args)
        called[loop].add(tuple(map(numba.typeof, given)))  # what Numba compiles for
        return given

    monkeypatch.setattr(Loop, "unwrapped", noted)
    with python_loops():  # whose arguments are those of machine code
        _some_calls(3_000_000, 2 * len(distinct()))
    assert len(called) > len(LOOPS) // 2
    for loop, signatures in called.items():
        geometries: dict[tuple, list] = {}
        for signature in signatures:
            arrays = [kind for kind in signature if hasattr(kind, "ndim")]
            assert all(kind.ndim == 1 and kind.layout == "C" for kind in arrays), (loop, signature)
            named = [kind for kind in signature if isinstance(kind, types.BaseTuple)]
            known = geometries.setdefault(tuple(kind.dtype for kind in arrays), named)
            assert known == named, (loop, known, named)


def test_loops_of_one_name_compute_the_same() -> None:
    """Machine code is kept on disk by page, name and line: another formula needs another name."""
    bound: dict[tuple[str, int], set[frozenset]] = {}
    for loop in LOOPS:
        source = loop._source
        formulas = frozenset(
            (name, value) for name, value in source.__globals__.items() if getattr(value, "__scalar__", False)
        )
        bound.setdefault((loop.name, source.__code__.co_firstlineno), set()).add(formulas)
    assert [name for name, found in bound.items() if len(found) > 1] == []
