"""Random numbers: arrays of a given shape drawn from a device's streams (see random_streams.py).

[random/uniform] low + (high - low) * u with u in [0, 1); high may equal low but not lie below it.
    >>> run("_random_uniform", low=-1, high=3, shape=(3,))
    [1.195254, 1.371378, 1.860757]

[random/gaussian] loc + scale * (a normal number); scale is positive.
    >>> run("_random_normal", loc=10, scale=2, shape=(3,))
    [14.424413, 11.548008, 12.086881]

[random/exponential] -ln(1 - u) / lam, computed in double precision; the rate lam is positive.
    >>> run("_random_exponential", lam=0.4, shape=(3,))
    [1.989686, 2.246401, 3.139827]

[random/whole] _random_randint draws whole numbers of low .. high - 1 from two draws each: low +
    (first * 2^31 + second) mod (high - low); high lies above low.
    >>> run("_random_randint", low=0, high=10, shape=(4,))
    [1.0, 4.0, 3.0, 9.0]

[random/parameters] low, high, loc, scale and lam are rounded to single precision, whatever the
    output's type.

[random/shape] the shape is a parameter; without it, it must be known from the output.

[random/type] dtype is a parameter; without it the output's type holds, and float32 (int32) if there
    is none. An output of another type is refused. float16 numbers are single precision ones,
    rounded.
"""

from math import log
from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Shape, items, merge, refusal, register, require
from .random_streams import (
    ROW,
    draws,
    new_streams,
    normal_double,
    normal_single,
    shares,
    unit_double,
    unit_single,
    whole,
)

FloatName = Literal["None", "float16", "float32", "float64"]


class Uniform(NamedTuple):
    low: float = 0.0
    high: float = 1.0
    shape: Shape | None = None
    ctx: str = ""
    dtype: FloatName = "None"


class Normal(NamedTuple):
    loc: float = 0.0
    scale: float = 1.0
    shape: Shape | None = None
    ctx: str = ""
    dtype: FloatName = "None"


class Exponential(NamedTuple):
    lam: float = 1.0
    shape: Shape | None = None
    ctx: str = ""
    dtype: FloatName = "None"


class RandInt(NamedTuple):
    low: int
    high: int
    shape: Shape | None = None
    ctx: str = ""
    dtype: Literal["None", "int32", "int64"] = "None"


def infer(p, ins, outs):
    return ins, [merge("random/shape", "output", outs[0], p.shape)]


def type_rule(default):
    def infer_type(p, ins, outs):
        if p.dtype == "None":
            return ins, [np.dtype(default) if outs[0] is None else outs[0]]
        wanted = np.dtype(p.dtype)
        if outs[0] is not None and outs[0] != wanted:
            raise refusal(
                "random/type", f"the output is {outs[0]} but dtype={p.dtype} was asked for"
            )
        return ins, [wanted]

    return infer_type


def rounded(value):
    """Round a parameter as MXNet stores it."""
    return float(np.float32(value))


# --- loops --------------------------------------------------------------------------------------


def uniform_numbers(out, words, n, span, low):
    """out = low + span * u, the product and the sum each rounded to out's type."""
    for i in items(n):
        out[i] = unit(words, i)  # noqa: F821  # bound by Loop(uniform_numbers, unit=...)
        out[i] = out[i] * span
        out[i] = out[i] + low


def normal_numbers(out, state, n, engines, share, scale, loc):
    for j in items(engines):
        for i in range(j * share, min(j * share + share, n)):
            out[i] = number(state, j * ROW)  # noqa: F821  # bound by Loop(normal_numbers, number=...)
            out[i] = out[i] * scale
            out[i] = out[i] + loc


def exponential_numbers(out, words, n, lam):
    for i in items(n):
        out[i] = -log(1.0 - np.float64(unit(words, i))) / np.float64(lam)  # noqa: F821  # bound


def whole_numbers(out, words, n, low, span):
    for i in items(n):
        out[i] = low + whole(words[2 * i], words[2 * i + 1], span)


# each for single and for double precision
UNIFORM = Loop(uniform_numbers, unit=unit_single), Loop(uniform_numbers, unit=unit_double)
NORMAL = Loop(normal_numbers, number=normal_single), Loop(normal_numbers, number=normal_double)
EXPONENTIAL = Loop(exponential_numbers, unit=unit_single), Loop(exponential_numbers, unit=unit_double)
WHOLE_NUMBERS = Loop(whole_numbers)


# --- the operators ------------------------------------------------------------------------------


def uniform(p, out, *, rng):
    require(
        "random/uniform", p.high >= p.low,
        f"low must be less or equal to high in a uniform distribution, got low={p.low}, high={p.high}",
    )
    low = np.float32(p.low)
    span = np.float32(p.high) - low
    UNIFORM[out.dtype == np.float64](out, draws(out, rng), out.size, float(span), float(low))


def normal(p, out, *, rng):
    require(
        "random/gaussian", p.scale > 0,
        f"scale of a normal distribution has to be positive, got {p.scale}",
    )
    state = new_streams(out.device) if rng is None else rng
    fill = NORMAL[out.dtype == np.float64]
    fill(out, state, out.size, *shares(out.size), rounded(p.scale), rounded(p.loc))


def exponential(p, out, *, rng):
    require(
        "random/exponential", p.lam > 0,
        f"lam of an exponential distribution has to be positive, got {p.lam}",
    )
    EXPONENTIAL[out.dtype == np.float64](out, draws(out, rng), out.size, rounded(p.lam))


def randint(p, out, *, rng):
    require(
        "random/whole", p.high > p.low,
        f"high must lie above low, got low={p.low}, high={p.high}",
    )
    WHOLE_NUMBERS(out, draws(out, rng), out.size, p.low, p.high - p.low)


def float_cases(draw):
    dtype = draw.choice(("None", "float32", "float64"))
    return Case({"shape": draw.shape(1, 3), "dtype": dtype}, {})


def double_cases(draw):
    return Case({"shape": draw.shape(1, 3), "dtype": "float64"}, {})


def whole_cases(draw):
    low = draw.integer(-5, 5)
    return Case({"shape": draw.shape(1, 3), "low": low, "high": low + draw.integer(1, 9)}, {})


def refused(slug, **params):
    return {slug: {"params": {"shape": (2,), **params}, "shapes": {}}}


TABLE = (
    # name, parameters, forward, aliases, default type, cases, refusals
    (
        "_random_uniform", Uniform, uniform, ("random_uniform", "uniform"), "float32", float_cases,
        refused("random/uniform", low=2.0, high=1.0),
    ),
    (
        "_random_normal", Normal, normal, ("random_normal", "normal"), "float32", double_cases,
        refused("random/gaussian", scale=-1.0),
    ),
    (
        "_random_exponential", Exponential, exponential, ("random_exponential",), "float32", float_cases,
        refused("random/exponential", lam=0.0),
    ),
    (
        "_random_randint", RandInt, randint, ("random_randint",), "int32", whole_cases,
        refused("random/whole", low=5, high=5),
    ),
)

for name, params, run, aliases, dtype, cases, refusals in TABLE:
    register(Op(
        name=name, doc=__doc__, params=params, inputs=(), infer=infer, infer_type=type_rule(dtype),
        forward=run, random=True, aliases=aliases, cases=cases, refusals=refusals,
    ))
