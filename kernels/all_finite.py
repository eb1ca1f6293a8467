"""all_finite, multi_all_finite, _contrib_allclose, reset_arrays: whole arrays checked, or set to zero.

[all_finite/result] 1 if no element of data is infinite or NaN, else 0; float32 of shape (1,). multi_all_finite looks
    at num_arrays arrays, of any types.
    >>> run("all_finite", [1, 2]), run("all_finite", [1, float("nan")]), run("all_finite", [float("-inf")])
    ([1.0], [0.0], [0.0])
    >>> run("multi_all_finite", [1, 2], [float("inf")], num_arrays=2)
    [0.0]

[all_finite/init-output] with init_output=False a result of 1 leaves what is in the output: several calls with one
    ``out`` tell whether all arrays were finite. An output that is new holds 0.

[all_finite/gradient] a gradient cannot be asked for, here and below.

[all_finite/shape] the output has shape (1,).

[_contrib_allclose/result] uint8 of shape (): 1 if for all elements |a - b| <= atol + rtol |b|, where equal infinities
    are close, other infinities are not, and two NaN are close if equal_nan.
    >>> nan, inf = float("nan"), float("inf")
    >>> run("_contrib_allclose", [1, inf, nan], [1, inf, nan]), run("_contrib_allclose", [1], [1.1], rtol=0.2)
    (1.0, 1.0)
    >>> run("_contrib_allclose", [1], [inf]), run("_contrib_allclose", [nan], [nan], equal_nan=False)
    (0.0, 0.0)

[_contrib_allclose/shape] a and b have one shape and type.

[reset_arrays/zero] all elements of num_arrays arrays become 0, in place; there is no output.
"""

from typing import NamedTuple

import numpy as np

from .foundation import Case, Count, Loop, Op, items, merge, register, same_type
from .foundation.loops import FILL, zero


class FiniteParams(NamedTuple):
    init_output: bool = True


class MultiParams(NamedTuple):
    num_arrays: Count = 1
    init_output: bool = True


class CloseParams(NamedTuple):
    rtol: float = 1e-5
    atol: float = 1e-8
    equal_nan: bool = True


class ResetParams(NamedTuple):
    num_arrays: Count


def infer(p, ins, outs):
    return ins, [merge("all_finite/shape", "output", outs[0], (1,))]


def infer_type(p, ins, outs):
    return ins, [np.dtype(np.float32)]


def infer_close(p, ins, outs):
    shape = merge("_contrib_allclose/shape", "b", ins[1], ins[0])
    return [shape, shape], [merge("_contrib_allclose/shape", "output", outs[0], ())]


def type_close(p, ins, outs):
    ins, _ = same_type(p, ins, [])
    return ins, [np.dtype(np.uint8)]


def infer_reset(p, ins, outs):
    return ins, []


# --- loops --------------------------------------------------------------------------------------
# every item that finds a fault writes the same 0, so that their order does not matter


def find_infinite(data, out, n):
    for i in items(n):
        if data[i] - data[i] != 0:  # NaN too: it equals nothing
            out[0] = 0


def find_apart(a, b, out, rtol, atol, equal_nan, n):
    for i in items(n):
        x, y = np.float64(a[i]), np.float64(b[i])
        close = x == y or (equal_nan != 0 and x != x and y != y)
        if not close and abs(y) - abs(y) == 0:
            close = abs(x - y) <= atol + rtol * abs(y)
        if not close:
            out[0] = 0


FIND_INFINITE, FIND_APART = Loop(find_infinite), Loop(find_apart)


# --- the operators ------------------------------------------------------------------------------


def forward(p, data, out):
    forward_multi(p, [data], out)


def forward_multi(p, arrays, out):
    if p.init_output:
        FILL(out, 1, 1)
    for data in arrays:
        FIND_INFINITE(data, out, data.size)


def leaves_output(p):
    return not p.init_output


def forward_close(p, a, b, out):
    FILL(out, 1, 1)
    rtol, atol = (np.float64(np.float32(value)) for value in (p.rtol, p.atol))
    FIND_APART(a, b, out, rtol, atol, p.equal_nan, a.size)


def reset(p, arrays):
    for array in arrays:
        zero(array)


def cases(draw):
    return Case({}, {"data": draw.shape(1, 4)})


def cases_multi(draw):
    return Case({}, {"args": [draw.shape(1, 3) for _ in range(draw.integer(1, 3))]})


def cases_close(draw):
    params = {"rtol": draw.choice((1e-5, 0.5)), "atol": draw.choice((0, 1.1)), "equal_nan": draw.boolean()}
    return Case(params, {"a": draw.shape(1, 2)})


register(Op(
    name="all_finite", doc=__doc__, params=FiniteParams, infer=infer, infer_type=infer_type,
    forward=forward, partial=leaves_output, cases=cases, no_gradient_clause="all_finite/gradient",
    refusals={"all_finite/shape": {"shapes": {"data": (2,), "output": (2,)}}},
    tier=2,
))
register(Op(
    name="multi_all_finite", doc=__doc__, params=MultiParams, variadic="num_arrays",
    all_inputs=("array_",), infer=infer, infer_type=infer_type, forward=forward_multi, partial=leaves_output,
    cases=cases_multi, no_gradient_clause="all_finite/gradient",
    tier=2,
))
register(Op(
    name="_contrib_allclose", doc=__doc__, params=CloseParams, inputs=("a", "b"), infer=infer_close,
    infer_type=type_close, forward=forward_close, cases=cases_close, no_gradient_clause="all_finite/gradient",
    refusals={"_contrib_allclose/shape": {"shapes": {"a": (2, 3), "b": (3,)}}},
    tier=1,
))
register(Op(
    name="reset_arrays", doc=__doc__, params=ResetParams, variadic="num_arrays", all_inputs=("array_",),
    outputs=(), infer=infer_reset, infer_type=infer_reset, forward=reset, cases=cases_multi,
    no_gradient_clause="all_finite/gradient",
    mutates=tuple(f"array_{i}" for i in range(1000)),
    tier=2,
))
