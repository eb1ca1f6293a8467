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

[random/gamma] Marsaglia's and Tsang's method: normal numbers, some of them refused by chance. alpha
    is the shape and beta the size (the mean is alpha * beta); both are positive.
    >>> run("_random_gamma", alpha=2.5, beta=0.3, shape=(3,))
    [2.197992, 0.806314, 1.325502]

[random/poisson] below a mean of 12, unit numbers are multiplied until the product falls to exp(-lam);
    from there on candidates under a Lorentz curve are refused by chance. lam is not negative. Unit
    numbers and formulas have single precision whatever the output's type, so the spread is up to 3 %
    too wide near a million; above a million the formulas have double precision.
    >>> run("_random_poisson", lam=4, shape=(6,)), run("_random_poisson", lam=100, shape=(3,))
    ([9.0, 5.0, 6.0, 5.0, 3.0, 8.0], [94.0, 98.0, 91.0])

[random/negative-binomial] the failures before k successes that have a chance of p each: a Poisson
    number whose mean is a gamma number with alpha = k and beta = (1 - p) / p. Neither k nor p may be
    negative, and p must not be 0; from p = 1 on there are no failures.
    >>> run("_random_negative_binomial", k=3, p=0.4, shape=(6,))
    [9.0, 5.0, 4.0, 1.0, 12.0, 6.0]

[random/generalized-negative-binomial] a Poisson number whose mean is a gamma number with alpha = 1 /
    alpha and beta = mu * alpha (mu itself where alpha is 0), so that the mean is mu and the variance
    mu + alpha mu^2. Neither may be negative.
    >>> run("_random_generalized_negative_binomial", mu=4, alpha=0.5, shape=(6,))
    [10.0, 5.0, 4.0, 1.0, 12.0, 6.0]

[random/whole] _random_randint draws whole numbers of low .. high - 1 from two draws each: low +
    (first * 2^31 + second) mod (high - low); high lies above low, by less than 2^63.
    >>> run("_random_randint", low=0, high=10, shape=(4,))
    [1.0, 4.0, 3.0, 9.0]

[random/parameters] parameters that are no whole numbers are rounded to single precision, whatever the
    output's type.

[random/shape] the shape is a parameter; without it, or when it is (), it must be known from the output.

[random/type] dtype is a parameter; without it the output's type holds, and float32 (int32) if there
    is none. An output of another type is refused. float16 numbers are single precision ones,
    rounded.
"""

from math import log
from typing import Literal, NamedTuple

import numpy as np

from .foundation import (
    Case,
    Long,
    Loop,
    Op,
    Shape,
    decides,
    items,
    merge,
    refusal,
    register,
    require,
)
from .shared.random_numbers import draw_alike
from .shared.random_streams import (
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


class Gamma(NamedTuple):
    alpha: float = 1.0
    beta: float = 1.0
    shape: Shape | None = None
    ctx: str = ""
    dtype: FloatName = "None"


class Poisson(NamedTuple):
    lam: float = 1.0
    shape: Shape | None = None
    ctx: str = ""
    dtype: FloatName = "None"


class NegativeBinomial(NamedTuple):
    k: int = 1
    p: float = 1.0
    shape: Shape | None = None
    ctx: str = ""
    dtype: FloatName = "None"


class GeneralizedNegativeBinomial(NamedTuple):
    mu: float = 1.0
    alpha: float = 1.0
    shape: Shape | None = None
    ctx: str = ""
    dtype: FloatName = "None"


class RandInt(NamedTuple):
    low: Long
    high: Long
    shape: Shape | None = None
    ctx: str = ""
    dtype: Literal["None", "int32", "int64"] = "None"


def infer(p, ins, outs):
    return ins, [merge("random/shape", "output", outs[0], p.shape or None)]


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


@decides("random/parameters")
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


def gamma(p, out, *, rng):
    require(
        "random/gamma", p.alpha > 0 and p.beta > 0,
        f"alpha and beta of a gamma distribution have to be positive, got {p.alpha} and {p.beta}",
    )
    draw_alike("gamma", out, (p.alpha, p.beta), rng)


def poisson(p, out, *, rng):
    require(
        "random/poisson", p.lam >= 0,
        f"lam of a Poisson distribution has to be non-negative, got {p.lam}",
    )
    draw_alike("poisson", out, (p.lam,), rng)


def negative_binomial(p, out, *, rng):
    require(
        "random/negative-binomial", p.k >= 0 and p.p > 0,
        f"k has to be non-negative and p positive in a negative binomial distribution, got k={p.k}, p={p.p}",
    )
    draw_alike("negative_binomial", out, (p.k, p.p), rng)


def generalized_negative_binomial(p, out, *, rng):
    require(
        "random/generalized-negative-binomial", p.mu >= 0 and p.alpha >= 0,
        "mu and alpha of a generalized negative binomial distribution have to be non-negative,"
        f" got {p.mu} and {p.alpha}",
    )
    draw_alike("generalized_negative_binomial", out, (p.mu, p.alpha), rng)


def randint(p, out, *, rng):
    require(
        "random/whole", 0 < p.high - p.low < 2**63,
        f"high must lie above low, by less than 2**63, got low={p.low}, high={p.high}",
    )
    WHOLE_NUMBERS(out, draws(out, rng), out.size, p.low, p.high - p.low)


def float_cases(draw):
    dtype = draw.choice(("None", "float32", "float64"))
    return Case({"shape": draw.shape(1, 3), "dtype": dtype}, {})


def double_cases(draw):
    return Case({"shape": draw.shape(1, 3), "dtype": "float64"}, {})


def half_cases(draw):
    return Case({"shape": draw.shape(1, 3), "k": draw.integer(1, 3), "p": 0.5}, {})


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
        "_random_gamma", Gamma, gamma, ("random_gamma",), "float32", double_cases,
        refused("random/gamma", alpha=0.0),
    ),
    (
        "_random_poisson", Poisson, poisson, ("random_poisson",), "float32", float_cases,
        refused("random/poisson", lam=-1.0),
    ),
    (
        "_random_negative_binomial", NegativeBinomial, negative_binomial,
        ("random_negative_binomial",), "float32", half_cases,
        refused("random/negative-binomial", p=0.0),
    ),
    (
        "_random_generalized_negative_binomial", GeneralizedNegativeBinomial,
        generalized_negative_binomial, ("random_generalized_negative_binomial",), "float32",
        float_cases, refused("random/generalized-negative-binomial", mu=-1.0),
    ),
    (
        "_random_randint", RandInt, randint, ("random_randint",), "int32", whole_cases,
        refused("random/whole", low=5, high=5),
    ),
)

for name, params, run, aliases, dtype, cases, refusals in TABLE:
    register(Op(
        name=name, doc=__doc__, params=params, inputs=(), states="shape", infer=infer, infer_type=type_rule(dtype),
        forward=run, random=True, aliases=aliases, cases=cases, refusals=refusals,
        tier=2 if "binomial" in name else 1,
    ))
