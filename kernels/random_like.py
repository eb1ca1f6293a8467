"""Random numbers in the shape and type of another array.

[random_like/as] `_random_NAME_like` draws what `_random_NAME` draws (random.py), with the shape and type
    of data; what data holds does not matter, and its gradient is zero.
    >>> run("_random_uniform_like", [5, 6, 7]), run("_random_uniform", shape=(3,))
    ([0.548814, 0.592845, 0.715189], [0.548814, 0.592845, 0.715189])
    >>> grad("_random_uniform_like", [5, 6, 7])
    >>> run("_random_normal_like", [5, 6], loc=10, scale=2), run("_random_exponential_like", [5, 6], lam=0.4)
    ([14.424413, 11.548008], [1.989686, 2.246401])
    >>> run("_random_gamma_like", [5, 6], alpha=2.5, beta=0.3), run("_random_poisson_like", [5, 6], lam=4)
    ([2.197992, 0.806314], [9.0, 5.0])
    >>> run("_random_negative_binomial_like", [5, 6], k=3, p=0.4)
    [9.0, 5.0]
    >>> run("_random_generalized_negative_binomial_like", [5, 6], mu=4, alpha=0.5)
    [10.0, 5.0]

[random_like/shape] the output has data's shape; either is inferred from the other.

[random_like/type] data is floating point.
"""

from typing import NamedTuple

from . import random
from .foundation import Case, Op, register, require, same_shape, same_type


class Uniform(NamedTuple):
    low: float = 0.0
    high: float = 1.0


class Normal(NamedTuple):
    loc: float = 0.0
    scale: float = 1.0


class Exponential(NamedTuple):
    lam: float = 1.0


class Gamma(NamedTuple):
    alpha: float = 1.0
    beta: float = 1.0


class Poisson(NamedTuple):
    lam: float = 1.0


class NegativeBinomial(NamedTuple):
    k: int = 1
    p: float = 1.0


class GeneralizedNegativeBinomial(NamedTuple):
    mu: float = 1.0
    alpha: float = 1.0


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "random_like/type", ins[0] is None or ins[0].kind == "f",
        f"random numbers like an array need one of floating point, got {ins[0]}; use Cast",
    )
    return ins, outs


def like(draw):
    def forward(p, data, out, *, rng):
        draw(p, out, rng=rng)

    return forward


def nothing(make, p, heads, inputs, outputs):
    return [None]


def cases(draw):
    return Case({}, {"data": draw.shape(1, 3)})


def binomial_cases(draw):
    return Case({"k": 2, "p": 0.5}, {"data": draw.shape(1, 3)})


for name, params, draw, case in (
    ("uniform", Uniform, random.uniform, cases),
    ("normal", Normal, random.normal, cases),
    ("exponential", Exponential, random.exponential, cases),
    ("gamma", Gamma, random.gamma, cases),
    ("poisson", Poisson, random.poisson, cases),
    ("negative_binomial", NegativeBinomial, random.negative_binomial, binomial_cases),
    (
        "generalized_negative_binomial", GeneralizedNegativeBinomial,
        random.generalized_negative_binomial, cases,
    ),
):
    register(Op(
        name=f"_random_{name}_like", doc=__doc__, params=params, infer=same_shape("random_like/shape"),
        infer_type=infer_type, forward=like(draw), gradient=nothing, random=True, cases=case,
        refusals={
            "random_like/shape": {"shapes": {"data": (2, 3), "output": (2,)}},
            "random_like/type": {"shapes": {"data": (2,)}, "dtypes": {"data": "int32"}},
        },
        tier=2, numbered_input=True,
    ))
