"""Densities: how likely samples are under distributions, and how that changes with their parameters.

[random_pdf/shape] sample has the parameters' shape, followed by any number of axes: element i of the
    parameters is for the i-th block of sample. The output has sample's shape.
    >>> run("_random_pdf_normal", [[1, 2], [1, 2]], [0, 1], [1, 2])
    [[0.241971, 0.053991], [0.199471, 0.176033]]

[random_pdf/is-log] with is_log the output is the logarithm of the density.
    >>> run("_random_pdf_exponential", [[1, 2]], [2.5], is_log=True)
    [[-1.583709, -4.083709]]

[random_pdf/formulas] the densities of x, or probabilities where the distribution is one of whole numbers:
    uniform                 1 / (high - low)
    normal                  exp(-(x - mu)^2 / (2 sigma^2)) / (sqrt(2 pi) sigma)
    gamma                   beta^alpha x^(alpha - 1) exp(-beta x) / gamma(alpha)
    exponential             lam exp(-lam x)
    poisson                 lam^x exp(-lam) / gamma(x + 1)
    negative_binomial       gamma(x + k) / (gamma(x + 1) gamma(k)) p^k (1 - p)^x
    generalized_negative_binomial    the same with k = 1 / alpha, p = 1 / (mu alpha + 1)
    0^0 is 1. Beta of the gamma density is a rate, where that of `_random_gamma` is a size.
    >>> run("_random_pdf_gamma", [[1, 2, 5]], [2.5], [2])
    [[0.575904, 0.220448, 0.00216]]
    >>> run("_random_pdf_poisson", [[1, 2, 0]], [2]), run("_random_pdf_poisson", [[0, 1]], [0])
    ([[0.270671, 0.270671, 0.135335]], [[1.0, 0.0]])
    >>> run("_random_pdf_negative_binomial", [[1, 2, 0]], [2.5], [0.5])
    [[0.220971, 0.19335, 0.176777]]
    >>> run("_random_pdf_generalized_negative_binomial", [[1, 2, 0]], [2.5], [0.5])
    [[0.219479, 0.182899, 0.197531]]

[random_pdf/support] nobody tests whether x may occur: the formula is applied to it as it is.
    >>> run("_random_pdf_uniform", [[1, 2, 5]], [0], [4])
    [[0.25, 0.25, 0.25]]

[random_pdf/gradient] sample has a gradient where it is continuous, and zero where it counts; the parameters
    have one, added up over their samples.
    >>> grad("_random_pdf_exponential", [[1.0, 2.0]], [2.5], is_log=True)
    ([[-2.5, -2.5]], [-2.2])
    >>> grad("_random_pdf_poisson", [[1.0, 2.0, 0.0]], [2.5], is_log=True)
    ([[0.0, 0.0, 0.0]], [-1.8])

[random_pdf/precision] computed in double precision and rounded once.

[random_pdf/type] all arrays have one type, of floating point.
"""

import math
from math import prod
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Sources, items, merge, merge_all, register, require, same_type, scalar
from .unary import digamma


class Params(NamedTuple):
    is_log: bool = False


def infer(p, ins, outs):
    sample, *parameters = ins
    sample = merge("random_pdf/shape", "sample", sample, outs[0])
    each = merge_all("random_pdf/shape", "distribution parameters", parameters)
    if sample is not None and each is not None:
        require(
            "random_pdf/shape", len(each) <= len(sample),
            f"sample {list(sample)} has fewer axes than the distribution parameters {list(each)}",
        )
        rank = len(each)
        each = merge("random_pdf/shape", "distribution parameters", each, sample[:rank])
        sample = (*each, *sample[rank:])
    return [sample, *[each] * len(parameters)], [sample]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "random_pdf/type", ins[0] is None or ins[0].kind == "f",
        f"densities are computed in floating point, got {ins[0]}; use Cast",
    )
    return ins, outs


# --- logarithms of densities, and their slopes ----------------------------------------------------


@scalar
def ln(x):
    """The logarithm, infinite at 0 and NaN below it on every device."""
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


@scalar
def times_log(factor, x):
    """factor * ln(x), where 0 * ln(0) is 0."""
    return 0.0 if factor == 0 else factor * ln(x)


@scalar
def zero(x, a, b):
    return 0.0


@scalar
def uniform(x, low, high):
    return -math.log(high - low)


@scalar
def uniform_low(x, low, high):
    return 1 / (high - low)


@scalar
def uniform_high(x, low, high):
    return -1 / (high - low)


@scalar
def normal(x, mu, sigma):
    away = (x - mu) / sigma
    return -0.5 * away * away - math.log(sigma) - 0.5 * math.log(2 * math.pi)


@scalar
def normal_x(x, mu, sigma):
    return -(x - mu) / (sigma * sigma)


@scalar
def normal_mu(x, mu, sigma):
    return (x - mu) / (sigma * sigma)


@scalar
def normal_sigma(x, mu, sigma):
    away = (x - mu) / sigma
    return (away * away - 1) / sigma


@scalar
def gamma(x, alpha, beta):
    return alpha * math.log(beta) + times_log(alpha - 1, x) - beta * x - math.lgamma(alpha)


@scalar
def gamma_x(x, alpha, beta):
    return (0.0 if alpha == 1 else (alpha - 1) / x) - beta


@scalar
def gamma_alpha(x, alpha, beta):
    return math.log(beta) + math.log(x) - digamma(alpha)


@scalar
def gamma_beta(x, alpha, beta):
    return alpha / beta - x


@scalar
def exponential(x, lam, _):
    return math.log(lam) - lam * x


@scalar
def exponential_x(x, lam, _):
    return -lam


@scalar
def exponential_lam(x, lam, _):
    return 1 / lam - x


@scalar
def poisson(x, lam, _):
    return times_log(x, lam) - lam - math.lgamma(x + 1)


@scalar
def poisson_lam(x, lam, _):
    return (0.0 if x == 0 else x / lam) - 1


@scalar
def negative_binomial(x, k, p):
    ways = math.lgamma(x + k) - math.lgamma(x + 1) - math.lgamma(k)
    return ways + times_log(k, p) + times_log(x, 1 - p)


@scalar
def negative_binomial_k(x, k, p):
    return ln(p) + digamma(x + k) - digamma(k)


@scalar
def negative_binomial_p(x, k, p):
    return k / p - (0.0 if x == 0 else x / (1 - p))


@scalar
def generalized(x, mu, alpha):
    return negative_binomial(x, 1 / alpha, 1 / (mu * alpha + 1))


@scalar
def generalized_mu(x, mu, alpha):
    p = 1 / (mu * alpha + 1)
    return negative_binomial_p(x, 1 / alpha, p) * -alpha * p * p


@scalar
def generalized_alpha(x, mu, alpha):
    k, p = 1 / alpha, 1 / (mu * alpha + 1)
    return -negative_binomial_p(x, k, p) * mu * p * p - negative_binomial_k(x, k, p) * k * k


# --- loops ----------------------------------------------------------------------------------------
# Each is bound to a density and its slope. sample[k, i] is the i-th sample of distribution k, whose parameters are
# first[k] and second[k].


def densities(sample, first, second, out, is_log):
    """out[k, i] = density of sample[k, i], or its logarithm."""
    for k, i in items(out.shape):
        a, b = np.float64(first[k]), np.float64(second[k])
        value = log_density(np.float64(sample[k, i]), a, b)  # noqa: F821  # bound
        out[k, i] = value if is_log == 1 else math.exp(value)


def sample_slopes(sample, first, second, head, d_sample, is_log):
    """d_sample[k, i] = head[k, i] . density . slope of its logarithm, without the density where is_log is 1."""
    for k, i in items(d_sample.shape):
        x, a, b = np.float64(sample[k, i]), np.float64(first[k]), np.float64(second[k])
        factor = 1.0 if is_log == 1 else math.exp(log_density(x, a, b))  # noqa: F821  # bound
        d_sample[k, i] = head[k, i] * factor * slope(x, a, b)  # noqa: F821  # bound


def parameter_slopes(sample, first, second, head, d_parameter, is_log):
    """d_parameter[k] = sum of the same over the samples i of distribution k."""
    for k in items(sample.shape[0]):
        a, b = np.float64(first[k]), np.float64(second[k])
        total = 0.0
        for i in range(sample.shape[1]):
            x = np.float64(sample[k, i])
            factor = 1.0 if is_log == 1 else math.exp(log_density(x, a, b))  # noqa: F821  # bound
            total += head[k, i] * factor * slope(x, a, b)  # noqa: F821  # bound
        d_parameter[k] = total


# --- the operators --------------------------------------------------------------------------------


def by_distribution(sample, parameter):
    """The shape (distributions, samples of each)."""
    return parameter.size, prod(sample.shape[len(parameter.shape) :])


def forward_with(loop):
    def forward(p, sample, *arrays):
        *parameters, out = arrays
        shape = by_distribution(sample, parameters[0])
        loop(sample.reshape(shape), parameters[0], parameters[-1], out.reshape(shape), p.is_log)

    return forward


def backward_with(loops):
    def backward(p, head, *buffers):
        inputs, gradients = buffers[: len(loops)], buffers[len(loops) :]
        sample, first, second = inputs[0], inputs[1], inputs[-1]
        shape = by_distribution(sample, first)
        sample, head = sample.reshape(shape), head.reshape(shape)
        targets = [None if gradients[0] is None else gradients[0].reshape(shape), *gradients[1:]]
        for loop, gradient in zip(loops, targets, strict=True):
            if gradient is not None:
                loop(sample, first, second, head, gradient, p.is_log)

    return backward


def cases(inputs, sample, values):
    def drawn(draw):
        each = draw.shape(1, 2)
        shapes = {"sample": each + draw.shape(0, 1), **dict.fromkeys(inputs, each)}
        kinds = {"sample": sample, **dict(zip(inputs, values, strict=True))}
        return Case({"is_log": draw.boolean()}, shapes, kinds)

    return drawn


POSITIVE, COUNTS = "positive", ("ints", 0, 6)
TABLE = (
    # name, parameters, what cases hold, density, slope by sample, slopes by parameters
    ("uniform", ("low", "high"), "unit", ("unit", "above_one"), uniform, zero, uniform_low, uniform_high),
    ("normal", ("mu", "sigma"), "any", ("any", POSITIVE), normal, normal_x, normal_mu, normal_sigma),
    ("gamma", ("alpha", "beta"), POSITIVE, (POSITIVE,) * 2, gamma, gamma_x, gamma_alpha, gamma_beta),
    ("exponential", ("lam",), POSITIVE, (POSITIVE,), exponential, exponential_x, exponential_lam),
    ("poisson", ("lam",), COUNTS, (POSITIVE,), poisson, zero, poisson_lam),
    (
        "negative_binomial", ("k", "p"), COUNTS, (POSITIVE, "unit"), negative_binomial, zero,
        negative_binomial_k, negative_binomial_p,
    ),
    (
        "generalized_negative_binomial", ("mu", "alpha"), COUNTS, (POSITIVE,) * 2, generalized, zero,
        generalized_mu, generalized_alpha,
    ),
)

for name, inputs, sample, values, density, by_sample, *by_parameters in TABLE:
    loops = (
        Loop(sample_slopes, log_density=density, slope=by_sample),
        *[Loop(parameter_slopes, log_density=density, slope=slope) for slope in by_parameters],
    )
    names = ("sample", *inputs)
    register(Op(
        name=f"_random_pdf_{name}", doc=__doc__, params=Params, inputs=names, infer=infer,
        infer_type=infer_type, forward=forward_with(Loop(densities, log_density=density)),
        backward=backward_with(loops), needs=names, aliases=(f"random_pdf_{name}",),
        no_gradient=("sample",) if sample == COUNTS else (),
        differentiable=name != "negative_binomial", cases=cases(inputs, sample, values),
        refusals={
            "random_pdf/shape": {"shapes": {"sample": (2, 3), **dict.fromkeys(inputs, (3,))}},
            "random_pdf/type": {
                "shapes": dict.fromkeys(names, (2,)), "dtypes": dict.fromkeys(names, "int32"),
            },
        },
        tier=2, reports=Sources(),
    ))
