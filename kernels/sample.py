"""Random numbers of several distributions at once: each element of the parameters stands for one.

[sample/as] `_sample_NAME` draws from the distribution of `_random_NAME` (random.py), with an array for each
    of its parameters; normal calls them mu and sigma.
    >>> run("_sample_uniform", [0, 100], [1, 200], shape=(2,))
    [[0.548814, 0.592845], [171.518936, 184.426575]]
    >>> run("_sample_poisson", [0, 4, 1000])
    [0.0, 9.0, 1051.0]
    >>> run("_sample_negative_binomial", [3], [0.4], shape=(3,))
    [[9.0, 5.0, 4.0]]
    >>> run("_sample_generalized_negative_binomial", [4], [0.5], shape=(3,))
    [[10.0, 5.0, 4.0]]

[sample/shape] the output has the parameters' shape followed by shape: element i of the parameters makes the
    i-th block of it. The parameters have one shape.
    >>> run("_sample_exponential", [[1, 1000]], shape=(1, 2))
    [[[[0.795875, 0.89856]], [[0.001256, 0.00186]]]]

[sample/type] the parameters have one type; the output has that of dtype, float32 unless given. Formulas are
    computed in the wider of the two.

[sample/outside] parameters are not checked, unlike those of `_random_NAME`: the formulas are applied as they
    are. Where they have no answer (alpha of -2/3 or less, a mean that is infinite or NaN), it is NaN.
    >>> run("_sample_poisson", [-1]), run("_sample_gamma", [-1], [1])
    ([0.0], [nan])

[sample/gradient] the gradient of the parameters is zero.
    >>> grad("_sample_normal", [0], [1], shape=(3,))
    (None, None)
"""

from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Op, Shape, merge, merge_all, register, same_type
from .shared.random_numbers import draw_numbers


class Params(NamedTuple):
    shape: Shape = ()
    dtype: Literal["None", "float16", "float32", "float64"] = "None"


def infer(p, ins, outs):
    each = merge_all("sample/shape", "distribution parameters", ins)
    (out,) = outs
    count = len(p.shape)
    if out is not None and len(out) >= count:
        before = out[: len(out) - count]
        each = merge("sample/shape", "distribution parameters", each, before or None)
    if each is not None:
        out = merge("sample/shape", "output", out, (*each, *p.shape))
    return [each] * len(ins), [out]


def infer_type(p, ins, outs):
    ins, _ = same_type(p, ins, [])
    return ins, [np.dtype("float32" if p.dtype == "None" else p.dtype)]


def drawing(name):
    def forward(p, *arrays, rng):
        *parameters, out = arrays
        draw_numbers(name, out, parameters, rng)

    return forward


def no_gradients(make, p, heads, inputs, outputs):
    return [None] * len(inputs)


def cases(*names):
    def drawn(draw):
        params = {"shape": draw.shape(0, 2), "dtype": "float64"}
        each = draw.shape(1, 2)
        return Case(params, dict.fromkeys(names, each), dict.fromkeys(names, "positive"))

    return drawn


for name, *inputs in (
    ("uniform", "low", "high"),
    ("normal", "mu", "sigma"),
    ("gamma", "alpha", "beta"),
    ("exponential", "lam"),
    ("poisson", "lam"),
    ("negative_binomial", "k", "p"),
    ("generalized_negative_binomial", "mu", "alpha"),
):
    register(Op(
        name=f"_sample_{name}", doc=__doc__, params=Params, inputs=tuple(inputs), infer=infer,
        infer_type=infer_type, forward=drawing(name), gradient=no_gradients, random=True,
        aliases=(f"sample_{name}",), differentiable=False, cases=cases(*inputs),
        refusals={"sample/shape": {
            "params": {"shape": (2,)}, "shapes": {inputs[0]: (2,), inputs[-1]: (2,), "output": (3, 2)},
        }},
        tier=2,
    ))
