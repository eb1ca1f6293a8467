"""Arrays made from nothing: zeros, ones, a constant, a range; and zeros or ones like another array.

[creation/shape] the shape is the parameter's; sides that a symbol leaves unknown are inferred from the consumer.
    >>> run("_zeros", shape=(1, 2)), run("_ones", shape=2)
    ([[0.0, 0.0]], [1.0, 1.0])

[creation/dtype] the type is the parameter's, float32 unless given; a value is cut to whole numbers.
    >>> run("_full", shape=2, value=2.5), run("_full", shape=2, value=2.5, dtype="int32")
    ([2.5, 2.5], [2.0, 2.0])

[creation/like] zeros_like and ones_like take shape and type from their input, whose gradient is zero.
    >>> run("zeros_like", [5, 6]), run("ones_like", [5, 6]), grad("ones_like", [5, 6])
    ([0.0, 0.0], [1.0, 1.0], None)

[_arange/values] start, start + step, ... before stop; each repeated; with stop=None from 0 to start. Start and
    step are cut to the type first.
    >>> run("_arange", start=1, stop=2, step=0.25), run("_arange", start=3)
    ([1.0, 1.25, 1.5, 1.75], [0.0, 1.0, 2.0])
    >>> run("_arange", start=5, stop=0, step=-2), run("_arange", start=0, stop=2, repeat=2)
    ([5.0, 3.0, 1.0], [0.0, 0.0, 1.0, 1.0])

[_arange/range] an empty range, a step of 0 or repeat below 1 is refused.

[_arange/infer-range] with infer_range=True and stop=None the values go up from start, and the consumer's
    shape says how many there are.
"""

import math
from typing import Annotated, Literal, NamedTuple

import numpy as np

from .foundation import (
    REQUIRED,
    UNKNOWN,
    AtLeast,
    Case,
    Loop,
    Op,
    Shape,
    items,
    merge,
    register,
    require,
    same_shape,
    whole_part,
)
from .foundation.loops import FILL

Numbers = Literal["float16", "float32", "float64", "int8", "int32", "int64", "uint8"]
Dtypes = Literal["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool"]


class Params(NamedTuple):
    shape: Shape = ()
    ctx: str = ""
    dtype: Dtypes = "float32"


class FullParams(NamedTuple):
    shape: Shape | None = None
    ctx: str = ""
    dtype: Dtypes = "float32"
    value: float = REQUIRED


class RangeParams(NamedTuple):
    start: float
    stop: float | None = None
    step: float = 1.0
    repeat: Annotated[int, AtLeast(1)] = 1
    infer_range: bool = False
    ctx: str = ""
    dtype: Numbers = "float32"


def infer(p, ins, outs):
    return [], [merge("creation/shape", "output", outs[0], p.shape or None)]


def infer_type(p, ins, outs):
    return [], [np.dtype(p.dtype)]


def infer_range(p, ins, outs):
    require("_arange/range", p.step != 0, "step must not be 0")
    if p.stop is None and p.infer_range:
        return [], [merge("creation/shape", "output", outs[0], (UNKNOWN,))]
    start, stop = (0.0, p.start) if p.stop is None else (p.start, p.stop)
    steps = (stop - start) / p.step
    require(
        "_arange/range", 0 < steps < math.inf, f"no number lies between {start} and {stop} in steps of {p.step}"
    )
    count = math.ceil(steps)
    return [], [merge("creation/shape", "output", outs[0], (count * p.repeat,))]


# --- loops ---------------------------------------------------------------------------------------


def count_up(out, start, step, repeat, n):
    for i in items(n):
        out[i] = start + (i // repeat) * step


COUNT_UP = Loop(count_up)


# --- the operators -------------------------------------------------------------------------------


def forward_zeros(p, out):
    FILL(out, 0, out.size)


def forward_ones(p, out):
    FILL(out, 1, out.size)


def forward_full(p, out):
    FILL(out, p.value if out.dtype.kind == "f" else whole_part("value", p.value), out.size)


def forward_range(p, out):
    start = 0.0 if p.stop is None and not p.infer_range else p.start
    start, step = (start, p.step) if out.dtype.kind == "f" else (whole_part("start", start), whole_part("step", p.step))
    COUNT_UP(out, start, step, p.repeat, out.size)


def forward_zeros_like(p, data, out):
    FILL(out, 0, out.size)


def forward_ones_like(p, data, out):
    FILL(out, 1, out.size)


def nothing(make, p, heads, inputs, outputs):
    return [None]


def cases(draw):
    return Case({"shape": draw.shape(1, 4), "dtype": draw.choice(("float32", "float64", "int32"))}, {})


def cases_full(draw):
    return Case({**cases(draw).params, "value": draw.choice((0, 2.5, -3))}, {})


def cases_range(draw):
    step = draw.choice((-1.5, -1, 0.25, 2))
    start = draw.integer(-3, 3)
    stop = start + step * draw.integer(1, 5) - step * draw.choice((0, 0.5))
    return Case({"start": start, "stop": stop, "step": step, "repeat": draw.integer(1, 3)}, {})


def cases_like(draw):
    return Case({}, {"data": draw.shape(1, 4)})


for name, params, forward, case in (
    ("_zeros", Params, forward_zeros, cases),
    ("_ones", Params, forward_ones, cases),
    ("_full", FullParams, forward_full, cases_full),
):
    register(Op(
        name=name, doc=__doc__, params=params, inputs=(), states="shape", infer=infer, infer_type=infer_type,
        forward=forward, cases=case,
        refusals={"creation/shape": {
            "params": {"shape": (2, 3), "value": 1} if name == "_full" else {"shape": (2, 3)},
            "shapes": {"output": (3,)},
        }},
        tier=1,
    ))

register(Op(
    name="_arange", doc=__doc__, params=RangeParams, inputs=(), infer=infer_range,
    infer_type=infer_type, forward=forward_range, cases=cases_range,
    refusals={"_arange/range": {"params": {"start": 3, "stop": 0}}},
    tier=1,
))

for name, forward, aliases, rows in (
    ("zeros_like", forward_zeros_like, ("_sparse_zeros_like",), "none"),
    ("ones_like", forward_ones_like, (), ""),
):
    register(Op(
        name=name, doc=__doc__, infer=same_shape("creation/like"), forward=forward,
        gradient=nothing, aliases=aliases, cases=cases_like, shape_only=("data",),
        refusals={"creation/like": {"shapes": {"data": (2, 3), "output": (2,)}}},
        tier=1, method=name, numbered_input=True, gradient_rows=rows,
    ))
