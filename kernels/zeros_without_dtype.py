"""_zeros_without_dtype: zeros whose type others may decide.

[_zeros_without_dtype/dtype] zeros of a shape, whose type is that of the consumer, or the one numbered dtype (float32,
    float64, float16, uint8, int32, int8, int64, bool from 0).
    >>> run("_zeros_without_dtype", shape=(1, 2))
    [[0.0, 0.0]]

[_zeros_without_dtype/number] dtype lies between -1 (not said) and 7.

[_zeros_without_dtype/shape] sides that a symbol leaves unknown are inferred from the consumer.
"""

from typing import NamedTuple

import numpy as np

from .foundation import Case, Op, Shape, merge, register, require
from .foundation.loops import zero

NUMBERED = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")


class Params(NamedTuple):
    shape: Shape | None = None
    ctx: str = ""
    dtype: int = -1


def infer(p, ins, outs):
    return [], [merge("_zeros_without_dtype/shape", "output", outs[0], p.shape or None)]


def infer_type(p, ins, outs):
    require(
        "_zeros_without_dtype/number", -1 <= p.dtype < len(NUMBERED),
        f"dtype={p.dtype} must be -1 or a number below {len(NUMBERED)}: {', '.join(NUMBERED)}",
    )
    return [], [outs[0] if p.dtype < 0 else np.dtype(NUMBERED[p.dtype])]


# --- the operator -------------------------------------------------------------------------------


def forward(p, out):
    zero(out)


register(Op(
    name="_zeros_without_dtype", doc=__doc__, params=Params, inputs=(), states="shape", infer=infer,
    infer_type=infer_type, forward=forward,
    cases=lambda draw: Case({"shape": draw.shape(1, 4), "dtype": draw.choice((0, 1, 4))}, {}),
    refusals={
        "_zeros_without_dtype/number": {"params": {"shape": (2,), "dtype": 9}},
        "_zeros_without_dtype/shape": {"params": {"shape": (2,)}, "shapes": {"output": (3,)}},
    },
    tier=1,
))
