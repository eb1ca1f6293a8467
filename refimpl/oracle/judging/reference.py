"""What a program must give: this implementation's trace, and how far a correct one may be from each element.

The trace is found in the program's own precision by machine code of the pages' own text: no faster twin runs, and no
call that was recorded is repeated, so that both can be judged like any other implementation. The values in double
precision and their bounds cost a hundred times as much, because pages then run as Python (see ``bounds``): they are
found when an element is not equal, and only then. Bounds that are proved cost more again: they are found when an
element is outside of the first ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import refimpl

from ...base import decides
from ...kernels.foundation.loop import plain_kernels
from ..bounds import RIGOROUS, rigorous, tracking
from ..programs import interpreter
from .metric_values import metric_bounds

Program = dict[str, Any]
Trace = dict[str, np.ndarray]


class Expected(NamedTuple):
    """One array of a trace: values in double precision, and how far a correct result may be from each.

    A bound of 0 demands equality; an infinite one, nothing.
    """

    values: np.ndarray
    bounds: np.ndarray


@decides("oracle/plain-loops")
def trace_of(program: Program) -> Trace:
    """Run a program here, in the pages' own loops.

    Raises:
        interpreter.Refused: this implementation refuses a step.
    """
    with plain_kernels():
        return interpreter.run(refimpl, program)


def expected_of(program: Program) -> dict[str, Expected]:
    """Run a program here in double precision with a bound for every element of its trace."""
    with tracking() as shadow:
        return _with_metrics({n: Expected(*pair) for n, pair in interpreter.run(refimpl, program, shadow.of).items()})


def _with_metrics(found: dict[str, Expected]) -> dict[str, Expected]:
    """The same, with bounds for the values of metrics, of which NumPy keeps none."""
    for name, bound in metric_bounds(found).items():
        found[name] = Expected(found[name].values, np.full(found[name].values.shape, bound))
    return found


def proved_of(program: Program) -> dict[str, Expected] | None:
    """The same from exact rationals, with bounds that are proved; None where that needs too many numbers."""
    rigorous.made.numbers = 0
    try:
        with tracking(RIGOROUS) as shadow:
            found = {name: Expected(*pair) for name, pair in interpreter.run(refimpl, program, shadow.of).items()}
    except interpreter.Refused:  # by the limit; the reference itself did not refuse the program before
        return None
    return None if rigorous.made.numbers > rigorous.MOST else _with_metrics(found)
