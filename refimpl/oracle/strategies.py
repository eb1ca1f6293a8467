"""Hypothesis strategies of programs, for tests of one's own.

    from hypothesis import given
    from refimpl.oracle import judge, strategies as st

    @given(st.programs(level=2, capabilities=Mine.capabilities))
    def test_executor(program):
        assert judge(Mine(), program).status != "failed"

:func:`smallest` hands a program that a seed gave to Hypothesis, which makes its choices small: the same choices are
replayed from Hypothesis's own database, so shapes, operators and values shrink together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import NoSuchExample

from ..kernels.foundation import get
from .drawing.choices import NOTHING, Capabilities, Exclusions
from .drawing.drawn_executors import of_graph
from .drawing.drawn_graphs import Graph
from .drawing.draws import Draw, SeededDraw
from .judging.reference import Program
from .numbering import DRAWERS
from .programs.values import DTYPES, STYLES

_between = lru_cache(maxsize=1024)(st.integers)  # to make a strategy takes longer than to draw from it


class HypothesisDraw(Draw):
    """Choices of Hypothesis: each of several possibilities is one ``integers(low, high)``, so that records of others
    can be replayed.
    """

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """See :class:`Draw`."""
        return low if low == high else self._draw(_between(low, high))


class _Recorded(SeededDraw):
    """Choices from a seed, recorded as Hypothesis does: where there is one possibility, nothing is chosen."""

    def integer(self, low: int, high: int) -> int:
        chosen = super().integer(low, high)
        if low == high:
            self.choices.pop()
        return chosen


@st.composite
def programs(
    draw: Any, level: int = 2, capabilities: Capabilities | None = None, exclude: Exclusions = NOTHING
) -> Program:
    """Programs of a level.

    Args:
        draw: given by Hypothesis.
        level: 1 to 7, see ``programs.program.LEVELS``.
        capabilities: those of the implementation; everything by default.
        exclude: patterns that are not drawn.
    """
    return DRAWERS[level](HypothesisDraw(draw), capabilities or Capabilities(level=level), exclude)


@st.composite
def calls(draw: Any, operator: str, level: int = 2, capabilities: Capabilities | None = None) -> Program:
    """Programs of one operator with variables as inputs.

    Args:
        draw: given by Hypothesis.
        operator: its name.
        level: 1 for forward, 2 for gradients too.
        capabilities: dtypes, styles of values and requirements to draw from.
    """
    source = HypothesisDraw(draw)
    chosen = (capabilities or Capabilities())._replace(operators=frozenset({operator}))  # none that fits shapes
    while True:
        graph = Graph(source, chosen)
        outputs = graph.call(get(operator))
        if outputs is not None:
            return of_graph(level, source, graph, outputs, chosen)


@st.composite
def arrays(
    draw: Any, shapes: Sequence[tuple[int, ...]] | None = None, dtypes: Sequence[str] = ("float32",),
    styles: Sequence[str] = STYLES,
) -> dict[str, Any]:
    """Arrays as data, see ``programs.values``; ``array_of`` makes them.

    Args:
        draw: given by Hypothesis.
        shapes: to choose from; any of rank 1 to 4 by default.
        dtypes: to choose from.
        styles: of values, to choose from.
    """
    for unknown in set(dtypes) - set(DTYPES):
        raise ValueError(f"dtype {unknown!r} is none of {', '.join(DTYPES)}")
    source = HypothesisDraw(draw)
    shape = source.choice(list(shapes)) if shapes else source.shape(1, 4)
    return {
        "shape": list(shape), "dtype": source.choice(list(dtypes)), "style": source.choice(list(styles)),
        "seed": source.integer(0, 9999),
    }


def smallest(
    seed: int | str, drawn: Callable[[Draw], Program], fails: Callable[[Program], bool], attempts: int = 500
) -> Program:
    """The smallest program that Hypothesis finds by making the choices of a failing one smaller.

    Args:
        seed: the seed of the failing program.
        drawn: draws a program.
        fails: whether a program fails in the same way.
        attempts: the largest number of programs to try.
    """
    source = _Recorded(seed)
    original = drawn(source)
    database = InMemoryExampleDatabase()
    key = b"choices of a seed"
    # The second place is for what Hypothesis has not made small yet.
    database.save(key + b".secondary", choices_to_bytes(source.choices))
    chosen = settings(
        database=database, max_examples=attempts, phases=(Phase.reuse, Phase.shrink), deadline=None, derandomize=False,
        suppress_health_check=list(HealthCheck),
    )
    strategy = st.composite(lambda draw: drawn(HypothesisDraw(draw)))()
    try:
        return find(strategy, fails, settings=chosen, database_key=key)
    except NoSuchExample:
        return original


__all__ = ["HypothesisDraw", "arrays", "calls", "programs", "smallest"]
