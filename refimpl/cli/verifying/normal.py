"""Guesses about BatchNorm: eps, statistics, gamma, and channels in each other's place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...export.layer import Layer
from .guesses import solved, spelled_order, told, with_arrays
from .guessing import Case, Guess

PARTS = ("gamma", "beta", "moving_mean", "moving_var")


def _is_norm(layer: Layer) -> bool:
    return layer.operator == "BatchNorm"


def likely(case: Case) -> Iterator[Guess]:
    """Statistics of the batch, those of a new network, and others that are often taken instead."""
    layer = case.layer
    if not _is_norm(layer):
        return
    _, _, mean, var = (layer.array(name) for name in PARTS)
    assert mean is not None
    assert var is not None
    zeros, ones = np.zeros_like(mean), np.ones_like(var)

    def of_batch(held: Layer) -> list[np.ndarray]:
        data = held.arrays[0]
        rest = tuple(i for i in range(data.ndim) if i != held.params.axis % data.ndim)
        return held.run({"moving_mean": data.mean(axis=rest), "moving_var": data.var(axis=rest)})

    for text, statistics in (
        ("mean 0 and variance 1, as before a training", {"moving_mean": zeros, "moving_var": ones}),
        ("mean 0", {"moving_mean": zeros}),
        ("variance 1", {"moving_var": ones}),
        ("the mean for the variance and the variance for the mean", {"moving_mean": var, "moving_var": mean}),
        ("the square of the variance, as if it were a deviation", {"moving_var": var * var}),
        ("the root of the variance", {"moving_var": np.sqrt(np.abs(var))}),
    ):
        yield Guess("batchnorm-statistics", f"the reference takes {text}", with_arrays(statistics))
    yield Guess("batchnorm-statistics", "the reference takes the statistics of the batch, as in training", of_batch)


def fits(case: Case) -> Iterator[Guess]:
    """One number from the reference: eps, or a factor of gamma, of the mean or of the variance."""
    lines = _lines(case)
    if lines is None:
        return
    layer, scales, shifts = case.layer, *lines
    gamma, beta, mean, var = _numbers(layer)
    eps = layer.params.eps
    good = (scales != 0) & (gamma != 0) & np.isfinite(scales)
    if good.any():
        sums = (gamma[good] / scales[good]) ** 2  # variance and eps
        weights = 1 / np.maximum(sums, 1e-30)
        found = float(np.sum((sums - var[good]) * weights) / np.sum(weights))
        if found > 0:  # the fit of lines is no more than a start where a channel has few pixels
            target = case.comparable
            found = solved(found, lambda eps: layer.run(eps=max(eps, 0.0))[0] - target)
        if found > -float(np.min(var, initial=0.0)):
            text = f"the reference computes with eps {told(found)}; here it is {told(eps)}"
            yield Guess("batchnorm-eps", text, lambda held: held.run(eps=found), 8)
        factor = float(np.median((sums - eps) / np.where(var[good] == 0, 1, var[good])))
        if factor > 0:
            text = f"the reference's moving_var is {told(factor)} times that here"
            yield Guess("batchnorm-statistics", text, with_arrays({"moving_var": var * factor}), 8)
        exact = gamma / np.sqrt(var + eps)
        ratio = float(np.median(scales[good] / exact[good]))
        if not layer.params.fix_gamma:
            text = f"the reference's gamma is {told(ratio)} times that here"
            yield Guess("weight-scaled", text, with_arrays({"gamma": gamma * ratio}), 8)
        means = (beta - shifts)[good] / scales[good]
        held = mean[good]
        if (held * held).sum() > 0:
            factor = float((means * held).sum() / (held * held).sum())
            text = f"the reference's moving_mean is {told(factor)} times that here"
            yield Guess("batchnorm-statistics", text, with_arrays({"moving_mean": mean * factor}), 8)
    held = shifts + mean * scales
    if (beta * beta).sum() > 0:
        ratio = float((held * beta).sum() / (beta * beta).sum())
        yield Guess(
            "weight-scaled", f"the reference's beta is {told(ratio)} times that here",
            with_arrays({"beta": beta * ratio}), 8,
        )


def channels(case: Case) -> Iterator[Guess]:
    """The numbers of each channel are those of another one."""
    lines = _lines(case)
    if lines is None:
        return
    layer, scales, shifts = case.layer, *lines
    held = {name: layer.array(name) for name in PARTS}
    gamma, beta, mean, var = held.values()
    assert gamma is not None and beta is not None and mean is not None and var is not None  # noqa: PT018
    factor = (1.0 if layer.params.fix_gamma else gamma) / np.sqrt(var + layer.params.eps)
    own = np.stack([factor * np.ones_like(var), beta - mean * factor])
    off = np.abs(np.stack([scales, shifts])[:, :, None] - own[:, None, :]).sum(axis=0)
    order = np.argmin(off, axis=1)
    if len(set(order.tolist())) == len(order) and (order != np.arange(len(order))).any():
        yield Guess(
            "channels-swapped", f"the reference has {spelled_order(order)}",
            with_arrays({name: value[order] for name, value in held.items() if value is not None}),
        )
    for names in (("moving_mean", "moving_var"), ("gamma", "beta"), *((name,) for name in PARTS)):
        for pair in _two(scales, shifts, own):
            order = np.arange(len(var))
            order[pair] = order[pair[::-1]]
            chosen = {name: value[order] for name, value in held.items() if value is not None and name in names}
            text = f"the reference's {' and '.join(names)} have {spelled_order(order)}"
            yield Guess("channels-swapped", text, with_arrays(chosen))


def _numbers(layer: Layer) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Gamma as it counts, beta, mean and variance."""
    gamma, beta, mean, var = (layer.array(name) for name in PARTS)
    assert gamma is not None and beta is not None and mean is not None and var is not None  # noqa: PT018
    return np.ones_like(gamma) if layer.params.fix_gamma else gamma, beta, mean, var


def _two(scales: np.ndarray, shifts: np.ndarray, own: np.ndarray) -> Iterator[list[int]]:
    """The two channels that differ, if there are two."""
    off = np.abs(np.stack([scales, shifts]) - own) > 1e-4 * (np.abs(own) + 1e-6)
    changed = [int(i) for i in np.flatnonzero(off.any(axis=0))]
    if len(changed) == 2:
        yield changed


def others(case: Case) -> Iterator[Guess]:
    """Other statistics, channel by channel; or another gamma and beta, which look alike."""
    lines = _lines(case)
    if lines is None:
        return
    layer, scales, shifts = case.layer, *lines
    gamma, beta, mean, var = _numbers(layer)
    with np.errstate(all="ignore"):
        found = np.where(scales * gamma > 0, (gamma / scales) ** 2 - layer.params.eps, var)
        means = np.where(scales != 0, (beta - shifts) / scales, mean)
    if (found + layer.params.eps > 0).all():
        yield Guess(
            "batchnorm-statistics", "the reference has another moving_mean or moving_var (or another gamma or beta)",
            with_arrays({"moving_mean": means, "moving_var": found}), 16,
        )


def _lines(case: Case) -> tuple[np.ndarray, np.ndarray] | None:
    """The factor and the shift of each channel that turn the input into what the reference has, by least squares."""
    layer, target = case.layer, case.comparable
    if not _is_norm(layer) or target is None or not np.isfinite(target).all():
        return None
    axis = layer.params.axis
    count = target.shape[axis]
    data, wanted = (np.moveaxis(v, axis, 0).reshape(count, -1) for v in (layer.arrays[0], target))
    if data.shape[1] < 2 or not np.isfinite(data).all():
        return None
    centre, middle = data.mean(axis=1, keepdims=True), wanted.mean(axis=1, keepdims=True)
    spread = ((data - centre) ** 2).sum(axis=1)
    products = ((data - centre) * (wanted - middle)).sum(axis=1)
    flat = spread <= 1e-20 * np.maximum((data**2).sum(axis=1), 1e-30)
    own = (1.0 if layer.params.fix_gamma else layer.arrays[1]) / np.sqrt(layer.arrays[4] + layer.params.eps)
    scales = np.where(flat, own, products / np.where(flat, 1, spread))
    return scales, middle[:, 0] - scales * centre[:, 0]


__all__ = ["channels", "fits", "likely", "others"]
