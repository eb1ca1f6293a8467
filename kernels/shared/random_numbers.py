"""Numbers of seven distributions, one after another from one engine (see random_streams.py).

A formula ``number(state, row, first, second)`` takes the engine whose row begins at ``row`` and the two parameters of
its distribution (a distribution with one gets it twice). ``fill`` calls it for a whole array: n numbers are shared
among the engines as [random/shares] says, and every ``per`` neighbours of them have the same parameters. So the numbers
are the same whether the parameters are given as numbers or in arrays.
"""

import math

import numpy as np

from ..foundation import Buffer, Loop, as_buffer, decides, items, scalar, scratch
from .random_streams import ROW, double, draw, new_streams, normal_double, normal_single, shares, single

FEW = 12  # from this mean on, a Poisson number is found by rejection
WHOLE = 2.0**52  # from here on every double is a whole number
MANY = 1e6  # above this mean, single precision no longer tells candidates apart


# --- the distributions ----------------------------------------------------------------------------


@scalar
def next_single(state, row):
    """A unit number from one draw."""
    return single(draw(state, row))


@scalar
def next_double(state, row):
    """A unit number from two draws."""
    word = draw(state, row)
    return double(word, draw(state, row))


@scalar
def uniform_single(state, row, low, high):
    return low + (high - low) * next_single(state, row)


@scalar
def uniform_double(state, row, low, high):
    return low + (high - low) * next_double(state, row)


@scalar
def gaussian_single(state, row, mean, deviation):
    return mean + deviation * normal_single(state, row)


@scalar
def gaussian_double(state, row, mean, deviation):
    return mean + deviation * normal_double(state, row)


@scalar
def exponential_single(state, row, rate, _):
    return -math.log(1.0 - np.float64(next_single(state, row))) / np.float64(rate)


@scalar
def exponential_double(state, row, rate, _):
    return -math.log(1.0 - next_double(state, row)) / np.float64(rate)


@scalar
def gamma_single(state, row, shape, size):
    """Marsaglia and Tsang: d (1 + c z)^3 of a normal number z, kept by chance; below shape 1 times u^(1/shape)."""
    third = 2.0 / 3 if shape < 1 else -1.0 / 3
    d = np.float32(np.float64(shape) + third)
    if not (d > 0 and d < math.inf):
        return np.float32(math.nan)
    k = np.float32(math.sqrt(9 * np.float64(d)))
    c = np.float32(1 / np.float64(k))
    while True:
        z = normal_single(state, row)
        if z > -k:
            x = np.float32(1 + np.float64(c * z))
            v = x * x * x
            kept = 0.5 * np.float64(z) * z + np.float64(d) * (1 - np.float64(v) + math.log(np.float64(v)))
            if math.log(1.0 - np.float64(next_single(state, row))) < kept:
                break
    number = d * v * np.float32(size)
    if shape < 1:
        power = np.float64(np.float32(1) / np.float32(shape))
        number = np.float32(number * math.pow(np.float64(next_single(state, row)), power))
    return number


@scalar
def gamma_double(state, row, shape, size):
    third = 2.0 / 3 if shape < 1 else -1.0 / 3
    d = np.float64(shape) + third
    if not (d > 0 and d < math.inf):
        return math.nan
    k = math.sqrt(9 * d)
    c = 1 / k
    while True:
        z = normal_double(state, row)
        if z > -k:
            x = 1 + c * z
            v = x * x * x
            if math.log(1.0 - next_double(state, row)) < 0.5 * z * z + d * (1 - v + math.log(v)):
                break
    number = d * v * np.float64(size)
    if shape < 1:
        number *= math.pow(next_double(state, row), np.float64(1) / np.float64(shape))
    return number


@scalar
def log_gamma_single(x):
    """ln(gamma(x)) for x above 8, by Stirling's series in single precision."""
    inverse = np.float32(1) / x
    square = inverse * inverse
    series = np.float32(-1 / 360) + square * np.float32(1 / 1260)
    series = np.float32(0.41893854) + inverse * (np.float32(1 / 12) + square * series)
    return (x - np.float32(0.5)) * (np.float32(math.log(np.float64(x))) - np.float32(1)) + series


@scalar
def poisson_few(state, row, mean):
    """Count the unit numbers that can be multiplied before the product falls to exp(-mean)."""
    least = np.float32(math.exp(-np.float64(mean)))
    count = 0
    product = next_single(state, row)
    while product > least:
        count += 1
        product = product * next_single(state, row)
    return np.float64(count)


@scalar
def poisson_some(state, row, mean):
    """Whole part of a number under a Lorentz curve, kept by chance; the chance in single precision."""
    width = np.float32(math.sqrt(2 * np.float64(mean)))
    log_mean = np.float32(math.log(np.float64(mean)))
    at_mean = mean * log_mean - log_gamma_single(mean + np.float32(1))
    while True:
        y = np.float32(math.tan(3.1415926 * np.float64(next_single(state, row))))
        number = width * y + mean
        if number >= 0:
            number = np.float32(math.floor(number))
            ratio = number * log_mean - log_gamma_single(number + np.float32(1)) - at_mean
            chance = 0.9 * (1 + np.float64(y * y)) * np.float64(np.float32(math.exp(np.float64(ratio))))
            if next_single(state, row) <= np.float32(chance):
                return np.float64(number)


@scalar
def poisson_many(state, row, mean):
    """The same in double precision; the ratio of two probabilities by Stirling's formula."""
    m = np.float64(mean)
    width = math.sqrt(2 * m)
    while True:
        y = math.tan(math.pi * np.float64(next_single(state, row)))
        number = width * y + m
        if number >= 0:
            if number < WHOLE:
                number = np.float64(math.floor(number))
            off = (number - m) / m
            ratio = -m * ((1 + off) * math.log1p(off) - off) - 0.5 * math.log1p(off) if number > 0 else -m
            if np.float64(next_single(state, row)) <= 0.9 * (1 + y * y) * math.exp(ratio):
                return np.float64(number)


@scalar
def poisson(state, row, mean, _):
    mean = np.float32(mean)
    if mean < FEW:
        return poisson_few(state, row, mean)
    if mean <= MANY:
        return poisson_some(state, row, mean)
    if mean < math.inf:
        return poisson_many(state, row, mean)
    return math.nan


@scalar
def negative_binomial(state, row, count, chance):
    """Poisson, with a mean from the gamma distribution."""
    size = np.float32((np.float32(1) - np.float32(chance)) / np.float32(chance))
    return poisson(state, row, gamma_single(state, row, np.float32(count), size), 0)


@scalar
def generalized_negative_binomial(state, row, mean, spread):
    mean, spread = np.float32(mean), np.float32(spread)
    if spread != 0:
        mean = gamma_single(state, row, np.float32(1) / spread, spread * mean)
    return poisson(state, row, mean, 0)


# --- arrays ---------------------------------------------------------------------------------------


def fill(out, state, first, second, n, engines, share, per):
    for j in items(engines):
        for i in range(j * share, min(j * share + share, n)):
            out[i] = number(state, j * ROW, first[i // per], second[i // per])  # noqa: F821  # bound below


# name of the distribution: its loop for single and for double precision
NUMBERS = {
    "uniform": (Loop(fill, number=uniform_single), Loop(fill, number=uniform_double)),
    "normal": (Loop(fill, number=gaussian_single), Loop(fill, number=gaussian_double)),
    "exponential": (Loop(fill, number=exponential_single), Loop(fill, number=exponential_double)),
    "gamma": (Loop(fill, number=gamma_single), Loop(fill, number=gamma_double)),
    "poisson": (Loop(fill, number=poisson),) * 2,
    "negative_binomial": (Loop(fill, number=negative_binomial),) * 2,
    "generalized_negative_binomial": (Loop(fill, number=generalized_negative_binomial),) * 2,
}


@decides("random/streams")
def draw_numbers(name: str, out: Buffer, parameters: list[Buffer], rng: Buffer | None) -> None:
    """Fill ``out``; ``parameters`` are one or two arrays, each element for as many neighbours in ``out``.

    Parameters that are whole numbers are taken as single precision ones.
    """
    state = new_streams(out.device) if rng is None else rng
    per = max(1, out.size // max(1, parameters[0].size))
    if parameters[0].dtype.kind != "f":
        wide = scratch(parameters[0], *(p.size for p in parameters), dtype=np.float32)
        for narrow, buffer in zip(parameters, wide, strict=True):
            buffer.copy_from(narrow)
        parameters = list(wide)
    NUMBERS[name][out.dtype == np.float64](
        out, state, parameters[0], parameters[-1], out.size, *shares(out.size), per
    )


def draw_alike(name: str, out: Buffer, parameters: tuple[float, ...], rng: Buffer | None) -> None:
    """Fill ``out`` with numbers of one distribution; its parameters are rounded to single precision."""
    given = [as_buffer(np.array([value], np.float32), out.device) for value in parameters]
    draw_numbers(name, out, given, rng)
