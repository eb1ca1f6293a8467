"""The lab on kernels: the loops of an operator, judged by the laws of every page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...kernels.foundation import Op, get
from ...oracle.drawing.draws import Draw
from ...oracle.pages import laws
from ...oracle.pages.calls import Trial
from ...oracle.pages.draws import Example, example
from .lab import Broken, Lab, Law, demand, shown

OPERATOR = "_np_cumsum"

STUB = '''
"""The loops of cumsum, the running sums along an axis.

{rules}

A page of kernels/ gets arrays as buffers: buffer.shape is a tuple, buffer.size the number of elements, and buffer.flat
a one-dimensional NumPy array of them in C order. The axis is a number or None, and may count from the end.
"""

import numpy as np


def forward(p, a, out):
    """Fill out.flat with the running sums of a.flat along p.axis. What out holds before is garbage.

    With axis None there is one row. Otherwise element k of the row that begins at start is start + k * inner, where
    inner is the product of the sides behind the axis.
    """
    raise NotImplementedError("write this function")


def backward(p, head, d_a):
    """Fill d_a.flat with the gradient of a, from head.flat, that of the output: sums from the other end."""
    raise NotImplementedError("write this function")
'''


def page(student: Any) -> Op:
    """The page of cumsum with the student's functions; each call is noted."""
    own = {name: student.quietly(name) for name in ("forward", "backward")}

    def called(name: str) -> Callable[..., None]:
        def call(p: Any, source: Any, target: Any) -> None:
            student.note(f"{name}(axis={p.axis}, {shown(source.flat.reshape(source.shape))})")
            own[name](p, source, target)

        return call

    whole = get(OPERATOR)
    drawn = whole.cases
    assert drawn is not None

    def cases(draw: Draw) -> Any:
        found = drawn(draw)
        return found._replace(params={"axis": found.params["axis"]})

    return replace(whole, forward=called("forward"), backward=called("backward"), cases=cases)


def _pair(student: Any, draw: Draw, **how: Any) -> tuple[Example, Example]:
    """One case of the student's page, and of the real one."""
    of = example(page(student), draw, **how)
    return of, Example(get(OPERATOR), of.p, of.params, of.arrays)


def _same(got: np.ndarray, expected: np.ndarray) -> None:
    demand(bool(np.array_equal(got, expected)), expected, got)


def _forward(student: Any, draw: Draw, **how: Any) -> None:
    mine, real = _pair(student, draw, **how)
    _same(Trial(mine).forward()[0], Trial(real).forward()[0])


def _gradient(student: Any, draw: Draw) -> None:
    mine, real = _pair(student, draw)
    trials = Trial(mine), Trial(real)
    for trial in trials:
        trial.forward()
    got, expected = (trial.backward()[0] for trial in trials)
    assert got is not None
    assert expected is not None
    _same(got, expected)


def _law(*chosen: laws.Law) -> Callable[[Any, Draw], None]:
    def holds(student: Any, draw: Draw) -> None:
        op = page(student)
        for law in chosen:
            try:
                law(op, draw)
            except AssertionError as error:
                words = (law.__doc__ or "").strip().splitlines()[0]
                raise Broken(words, str(error).strip().splitlines()[0]) from error

    return holds


LAB = Lab(
    name="kernel", title="The loops of an operator", chapter="spec/adding-an-operator.md",
    task="""
Operators here are pages: what one computes, and loops that compute it on flat buffers. Write the loops of cumsum, both
ways. The laws are those that every page of kernels/ keeps: what is written, what is left alone, and whether the
gradient is the slope.
""",
    stub=STUB,
    answers=frozenset({"kernels", "cumsum"}),
    words={
        "contract/fills": "forward fills every element of the output, and backward every element of a gradient that"
        " is not None. Neither adds to what was there before, nor writes outside.",
        "cumsum/axis": "out[i] is the sum of the elements up to and with i along the axis, which may count from the"
        " end; axis=None reads the array as one row.",
        "cumsum/dtype": "The output has the type out.flat.dtype. Each element is cut to it first; whole numbers wrap"
        " around, and real ones are added in float64 and rounded once for each output.",
        "cumsum/gradient": "The gradient is the running sums of the head from the other end.",
        "contract/inputs-stay": "forward and backward change no input.",
    },
    laws=(
        Law(_law(laws.fills_outputs), "contract/fills", 30), Law(_forward, "cumsum/axis"),
        Law(lambda student, draw: _forward(student, draw, cancelling=True), "cumsum/dtype"),
        Law(_gradient, "cumsum/gradient"), Law(_law(laws.fills_gradients), "contract/fills", 30),
        Law(_law(laws.keeps_inputs), "contract/inputs-stay", 30),
        Law(_law(laws.gradient_is_slope), "cumsum/gradient", 30),
    ),
)
"""The lab."""
