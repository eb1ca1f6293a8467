"""The expected results of a program: this implementation's trace, and the bound of each element.

The trace is computed in the program's own precision by machine code of the pages' own text: no faster twin runs, and
no recorded call is replayed, so that both can be judged like any other implementation. The values in double precision
and their bounds cost a hundred times as much, because pages then run as Python (see ``bounds``): they are computed only
when an element is not equal. Proved bounds cost more again: they are computed only when an element is outside its first
bound.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

import refimpl

from ...base import decides
from ...kernels.foundation import get
from ...kernels.foundation.loop import plain_kernels
from ..bounds import FIRST_ORDER, NOTHING, RIGOROUS, Declared, rigorous, tracking
from ..bounds.tracking import one_thread
from ..programs import interpreter
from ..programs.program import operators
from .executing import REFERENCE, OneExecutor
from .metric_values import metric_bounds

Program = dict[str, Any]
Trace = dict[str, np.ndarray]


class Expected(NamedTuple):
    """One array of a trace: values in double precision, and how far a correct result may be from each.

    A bound of 0 demands equality; an infinite one, nothing.
    """

    values: np.ndarray
    bounds: np.ndarray


class Truth:
    """The expected results of a program. Each part is computed when it is first read; a graph is bound once for all.

    Args:
        program: a checked program of levels 1 to 6.
        declared: the arithmetic of the implementation that is judged.
    """

    def __init__(self, program: Program, declared: Declared = NOTHING) -> None:
        self.program, self.declared = program, declared
        self._session: Any = None

    @cached_property
    @decides("oracle/plain-loops")
    def trace(self) -> Trace:
        """The trace in the program's own precision, from the pages' own loops.

        Raises:
            interpreter.Refused: this implementation refuses a step.
        """
        with plain_kernels(), one_thread():
            self._session = interpreter.begun(refimpl, self.program, sessions=REFERENCE)
            return interpreter.followed(self._session)

    @cached_property
    def expected(self) -> dict[str, Expected]:
        """The trace in double precision, with a bound for every element."""
        with tracking(FIRST_ORDER, self.declared) as shadow:
            return _with_metrics(self._followed(shadow.of))

    @cached_property
    def proved(self) -> dict[str, Expected] | None:
        """The same from exact rationals, with bounds that are proved; None where that needs too many numbers."""
        rigorous.made.numbers = 0
        try:
            with tracking(RIGOROUS, self.declared) as shadow:
                found = self._followed(shadow.of)
        except interpreter.Refused:  # by the limit; the reference itself did not refuse the program before
            return None
        return None if rigorous.made.numbers > rigorous.MOST else _with_metrics(found)

    def expected_of(self, names: Collection[str]) -> dict[str, Expected]:
        """The arrays of ``expected`` with these names, and maybe others; steps that they do not need are not run."""
        if "expected" in self.__dict__ or self.program["level"] > 2 or not self._leaves_arrays_alone():
            return self.expected
        with tracking(FIRST_ORDER, self.declared) as shadow:
            return self._followed(shadow.of, names)

    def _leaves_arrays_alone(self) -> bool:
        """Whether no operator changes its inputs or draws numbers: a step then matters only for its recorded arrays."""
        ops = [get(name) for name in set(operators(self.program))]
        return not any(op.mutates or op.random for op in ops)

    def _followed(self, look: Callable[[Any], Any], names: Collection[str] | None = None) -> dict[str, Expected]:
        session, needed = self._session, None
        if session is None or not session.again(look):
            session = interpreter.begun(refimpl, self.program, look, REFERENCE)
        elif names is not None:
            needed = interpreter.needed_steps(self.program, names)
            assert isinstance(session, OneExecutor)
            session.only(names)
        return {name: Expected(*pair) for name, pair in interpreter.followed(session, needed).items()}


def trace_of(program: Program) -> Trace:
    """``Truth(program).trace``."""
    return Truth(program).trace


def expected_of(program: Program, declared: Declared = NOTHING) -> dict[str, Expected]:
    """``Truth(program, declared).expected``."""
    return Truth(program, declared).expected


def _with_metrics(found: dict[str, Expected]) -> dict[str, Expected]:
    """The same, with bounds for the values of metrics, of which NumPy keeps none."""
    for name, bound in metric_bounds(found).items():
        found[name] = Expected(found[name].values, np.full(found[name].values.shape, bound))
    return found
