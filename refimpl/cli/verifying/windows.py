"""Guesses about windows: what lies around the input, where windows begin, and how far apart they are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...base import MXNetError
from ...export.judging import distance
from ...export.layer import Layer
from .guesses import constant, with_arrays
from .guessing import Case, Guess

_MOST_STRIDE = 4
_MODES = {"edge": "its border repeated", "reflect": "its mirror image"}


def windows(case: Case) -> Iterator[Guess]:
    """Other pads, strides, dilations and windows of Convolution, Deconvolution and Pooling."""
    layer = case.layer
    if layer.operator == "Convolution" and layer.arrays[0].ndim == 4:
        yield from _convolution(case)
    elif layer.operator == "Pooling" and layer.arrays[0].ndim == 4:
        yield from _pooling(case)
    elif layer.operator == "Deconvolution" and layer.arrays[0].ndim == 4:
        yield from _deconvolution(case)


def _pairs(values: Any) -> tuple[int, int]:
    return (int(values[0]), int(values[1])) if values else (0, 0)


def _convolution(case: Case) -> Iterator[Guess]:
    """One convolution of stride 1 with wide borders holds every other one as a part."""
    layer, target = case.layer, case.target
    kernel, pad = _pairs(layer.params.kernel), _pairs(layer.params.pad)
    stride, dilate = (_pairs(values or (1, 1)) for values in (layer.params.stride, layer.params.dilate))
    for mode, described in _MODES.items() if max(pad) else ():
        sides = ((0, 0), (0, 0), *((side, side) for side in pad))
        if mode == "edge" or all(side < size for side, size in zip(pad, layer.arrays[0].shape[2:], strict=True)):
            def bordered(held: Layer, sides: Any = sides, mode: Any = mode) -> list[np.ndarray]:
                return held.run({"data": np.pad(held.arrays[0], sides, mode)}, pad=(0, 0))

            text = f"the reference surrounds the input with {described}, not with zeros"
            yield Guess("pad-or-stride", text, bordered)
    if target is None:
        yield from _hidden_convolution(case)
        return
    if target.ndim != 4 or target.shape[:2] != case.segment.exact.shape[:2]:
        return
    for width in dict.fromkeys((dilate, (1, 1), (2, 2))):
        border = tuple(max(w * (k - 1), p) for w, k, p in zip(width, kernel, pad, strict=True))
        try:
            full = layer.run(pad=border, stride=(1, 1), dilate=width)[0]
        except MXNetError:
            continue
        found = [
            list(_starts(full.shape[2 + axis], target.shape[2 + axis], border[axis])) for axis in (0, 1)
        ]
        for (top, down), (left, across) in itertools.product(*found):
            if ((top, left), (down, across), width) == (pad, stride, dilate):
                continue
            rows = slice(border[0] - top, border[0] - top + down * (target.shape[2] - 1) + 1, down)
            columns = slice(border[1] - left, border[1] - left + across * (target.shape[3] - 1) + 1, across)
            made = full[:, :, rows, columns]
            if np.all(distance(target, made) <= 1e-3 * np.max(np.abs(target), initial=0.0)):
                text = _described(case, (top, left), (down, across), width)
                yield Guess("pad-or-stride", text, constant([made]))


def _starts(full: int, size: int, border: int) -> Iterator[tuple[int, int]]:
    """(zeros before, stride) with which a window fits so many times."""
    for stride in range(1, _MOST_STRIDE + 1):
        for before in range(border + 1):
            if border - before + stride * (size - 1) < full:
                yield before, stride


def _described(case: Case, pad: tuple[int, int], stride: tuple[int, int], dilate: tuple[int, int]) -> str:
    p = case.layer.params
    said = []
    if pad != _pairs(p.pad):
        said.append(f"{pad} zeros before the first pixel, not {_pairs(p.pad)}")
    if stride != _pairs(p.stride or (1, 1)):
        said.append(f"stride {stride}, not {_pairs(p.stride or (1, 1))}")
    if dilate != _pairs(p.dilate or (1, 1)):
        said.append(f"dilate {dilate}, not {_pairs(p.dilate or (1, 1))}")
    return f"the reference has {' and '.join(said) or 'other zeros behind the last pixel'}"


def _hidden_convolution(case: Case) -> Iterator[Guess]:
    p = case.layer.params
    kernel, pad = _pairs(p.kernel), _pairs(p.pad)
    stride, dilate = (_pairs(values or (1, 1)) for values in (p.stride, p.dilate))
    for border in {(n, n) for n in range(max(kernel))} - {pad}:
        yield _with(case, pad=border)
    for step in ((1, 1), (2, 2), (3, 3)):
        if step != stride:
            yield _with(case, stride=step)
            for border in {(n, n) for n in range(max(kernel))} - {pad}:
                yield _with(case, stride=step, pad=border)
    if dilate == (1, 1):
        yield _with(case, dilate=(2, 2), pad=(2 * pad[0], 2 * pad[1]))


def _with(case: Case, **params: Any) -> Guess:
    now = case.layer.params
    said = " and ".join(f"{name} {value}, not {getattr(now, name) or 'the default'}" for name, value in params.items())
    return Guess("pad-or-stride", f"the reference has {said}", lambda held: held.run(**params))


def _pooling(case: Case) -> Iterator[Guess]:
    p = case.layer.params
    kernel, pad, stride = _pairs(p.kernel), _pairs(p.pad), _pairs(p.stride or (1, 1))
    for kind in ("max", "avg", "sum"):
        if kind != p.pool_type:
            text = f"the reference pools by {kind}, not by {p.pool_type}"
            yield Guess("setting", text, with_arrays({}, pool_type=kind))
    if p.global_pool:
        return
    yield Guess("pad-or-stride", "the reference pools the whole image", lambda held: held.run(global_pool=True))
    if p.pool_type == "avg":
        counted = p.count_include_pad is not False
        text = "the reference leaves zeros of the border out of averages" if counted else "the reference counts pad"
        yield Guess("pad-or-stride", text, lambda held: held.run(count_include_pad=not counted))
    conventions = (p.pooling_convention, "valid" if p.pooling_convention == "full" else "full")
    steps = {stride, *itertools.product(range(1, max(3, *kernel) + 1), repeat=2)}
    borders = {pad, *itertools.product(range(max(kernel) // 2 + 2), repeat=2)}
    for convention, step, border in itertools.product(conventions, sorted(steps), sorted(borders)):
        now = {"pooling_convention": p.pooling_convention, "stride": stride, "pad": pad}
        trial = {"pooling_convention": convention, "stride": step, "pad": border}
        changed = {name: value for name, value in trial.items() if value != now[name]}
        if len(changed) == 1 or (changed and len({*step}) == len({*border}) == 1):  # several: alike on both axes
            yield _with(case, **changed)
    for size in sorted({(n, n) for side in kernel for n in (side - 1, side + 1) if n > 0}):
        yield _with(case, kernel=size)
    yield from _uneven_borders(max(kernel), pad, -np.inf if p.pool_type == "max" else 0.0)


def _uneven_borders(widest: int, pad: tuple[int, ...], empty: float) -> Iterator[Guess]:
    """Pooling of an image with other borders before it than behind it, which hold ``empty``."""
    for before, after in itertools.product(range(widest), range(widest)):
        if (before, before) == pad and before == after:
            continue
        sides = ((0, 0), (0, 0), (before, after), (before, after))

        def bordered(held: Layer, sides: Any = sides) -> list[np.ndarray]:
            around = np.pad(held.arrays[0], sides, constant_values=empty)
            return held.run({"data": around}, pad=(0, 0), pooling_convention="valid")

        yield Guess("pad-or-stride", f"the reference pads {before} pixels before and {after} behind", bordered)


def _deconvolution(case: Case) -> Iterator[Guess]:
    p = case.layer.params
    kernel = _pairs(p.kernel)
    for step, border, more in itertools.product(range(1, 4), range(max(kernel)), range(2)):
        changed = {"stride": (step, step), "pad": (border, border), "adj": (more, more)}
        if any(_pairs(getattr(p, name) or (name == "stride",) * 2) != value for name, value in changed.items()):
            yield _with(case, **changed)


__all__ = ["windows"]
