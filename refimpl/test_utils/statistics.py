"""Tests of random generators: whether the numbers that they draw fit their distribution.

A generator is a function of a number n that returns n samples, as a NumPy array or an NDArray.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..base import refusal
from .compare import as_numpy

Generator = Callable[[int], Any]
Check = tuple[float, np.ndarray, np.ndarray]


def gen_buckets_probs_with_ppf(
    ppf: Callable[[float], float], nbuckets: int
) -> tuple[list[tuple[float, float]], list[float]]:
    """Intervals of equal probability, and their probabilities; ``ppf`` is the inverse distribution function."""
    edges = [ppf(i / nbuckets) for i in range(nbuckets + 1)]
    return list(pairwise(edges)), [1 / nbuckets] * nbuckets


def mean_check(generator: Generator, mu: float, sigma: float, nsamples: int = 1000000) -> bool:
    """Whether the mean of the samples is within three standard errors of ``mu``.

    Args:
        generator: a function from a count to so many samples.
        mu, sigma: mean and standard deviation of the distribution.
        nsamples: how many samples are drawn.
    """
    mean = float(np.mean(_samples(generator, nsamples)))
    return bool(abs(mean - mu) < 3 * sigma / math.sqrt(nsamples))


def var_check(generator: Generator, sigma: float, nsamples: int = 1000000) -> bool:
    """Whether the variance of the samples is within three standard errors of that of a normal distribution."""
    variance = float(np.var(_samples(generator, nsamples), ddof=1))
    return bool(abs(variance - sigma**2) < 3 * math.sqrt(2 * sigma**4 / (nsamples - 1)))


def _samples(generator: Generator, nsamples: int) -> np.ndarray:
    return np.asarray(as_numpy(generator(nsamples))).reshape(-1)


def chi_square_check(
    generator: Generator, buckets: Sequence, probs: Sequence[float], nsamples: int = 1000000
) -> Check:
    """Pearson's test of how often samples fall into buckets.

    Args:
        generator: what is tested.
        buckets: intervals (low, high), high not included, for numbers; or the values of a discrete one.
        probs: the probability of each bucket; together 1.
        nsamples: how many samples are drawn.

    Returns:
        The p-value, how many samples fell into each bucket, and how many should.

    Raises:
        AssertionError: buckets and probabilities are not lists of equal length.
        ValueError: the probabilities do not add up to 1, or samples lie outside all buckets.
    """
    if not isinstance(buckets, list) or len(buckets) != len(probs):
        raise refusal(
            "test_utils/buckets", f"give a list of buckets and as many probabilities, got {buckets!r} and"
            f" {probs!r}", AssertionError,
        )
    samples = _samples(generator, nsamples)
    if isinstance(buckets[0], (list, tuple)):
        observed = [((samples >= low) & (samples < high)).sum() for low, high in buckets]
    else:
        observed = [(samples == value).sum() for value in buckets]
    found, wanted = np.array(observed), nsamples * np.asarray(probs, np.float64)
    if found.sum() != samples.size or abs(wanted.sum() - nsamples) > 1e-6 * nsamples:
        raise refusal(
            "test_utils/buckets", f"{found.sum()} of {samples.size} samples lie in the buckets, whose"
            f" probabilities add up to {sum(probs)}: let the buckets cover everything", ValueError,
        )
    statistic = float((((found - wanted) ** 2) / wanted).sum())
    return chi_square_tail(statistic, len(buckets) - 1), found, wanted.astype(np.int32)


def verify_generator(
    generator: Generator, buckets: Sequence, probs: Sequence[float], nsamples: int = 1000000,
    nrepeat: int = 5, success_rate: float = 0.2, alpha: float = 0.05,
) -> list[float]:
    """Repeat :func:`chi_square_check`; the p-values, of which a share ``success_rate`` must exceed ``alpha``.

    Args:
        generator: a function from a count to so many samples.
        buckets: intervals (pairs) of a continuous distribution, or values of a discrete one.
        probs: the probability of each bucket.
        nsamples: how many samples are drawn each time.
        nrepeat: how often.
        success_rate: the share of repetitions that must succeed.
        alpha: the p-value that a success exceeds.

    Raises:
        AssertionError: too few of them do.
    """
    results = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    p_values = [result[0] for result in results]
    if sum(p > alpha for p in p_values) < nrepeat * success_rate:
        raise refusal(
            "test_utils/generator",
            f"the generator fails: p of chi-square is {p_values}, obs_freq={[r[1].tolist() for r in results]},"
            f" expected_freq={results[0][2].tolist()}.\nbuckets={buckets}, probs={probs}", AssertionError,
        )
    return p_values


def chi_square_tail(statistic: float, freedom: int) -> float:
    """Probability that a chi-square variable with ``freedom`` degrees is larger than ``statistic``.

    This is the regularised upper incomplete gamma function Q(freedom / 2, statistic / 2): below its mean
    from the series of its complement, above from the continued fraction, evaluated by Lentz's method.
    """
    a, x = freedom / 2, statistic / 2
    if x <= 0 or a <= 0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * 1e-17:
            n += 1
            term *= x / n
            total += term
        return 1 - front * total
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    fraction = d
    for i in range(1, 10_000):
        step = -i * (i - a)
        b += 2
        d = 1 / (step * d + b or tiny)
        c = b + step / c or tiny
        fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return front * fraction
