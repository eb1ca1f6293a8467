"""Pooling as nodes of ONNX graphs: windows lie by rule, with explicit pads, whatever ceil_mode means to a runtime."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..base import decides
from .arranging import padded
from .building import Builder, NoForm, require_fixed

Sides = tuple[int, ...]


class Windows(NamedTuple):
    """The windows of a pooling with channels in axis 1; one number for each axis of the image."""

    kernel: Sides
    strides: Sides
    before: Sides
    after: Sides
    """Pixels that the last window needs behind the image; negative where it ends before the image does."""
    pad: Sides
    """Pixels behind the image that count in the size of a window."""
    image: Sides
    counts: Sides


@decides("Onnx/pooling")
def _windows(p: Any, image: Sides, counts: Sides) -> Windows:
    rank = len(image)
    strides, before = tuple(p.stride) or (1,) * rank, tuple(p.pad) or (0,) * rank
    after = tuple(
        (count - 1) * step + k - side - pad
        for count, step, k, side, pad in zip(counts, strides, p.kernel, image, before, strict=True)
    )
    return Windows(tuple(p.kernel), strides, before, after, before, image, counts)


def _sizes(w: Windows, *, padded: bool) -> np.ndarray:
    """The number of elements of each window that count: those of the image, or those of the padding too."""
    total = np.ones(())
    for k, step, pad, side, count in zip(w.kernel, w.strides, w.before, w.image, w.counts, strict=True):
        first = np.arange(count) * step - pad
        low, high = (-pad, side + pad) if padded else (0, side)
        total = np.multiply.outer(total, np.clip(first + k, low, high) - np.clip(first, low, high))
    return total


def _in_place(w: Windows) -> bool:
    """Whether ONNX's pads may say it: each is less than the kernel."""
    pairs = zip((*w.before, *w.after), w.kernel * 2, strict=True)
    return all(pad < k for pad, k in pairs)


def _padded(b: Builder, x: str, w: Windows, value: float) -> str:
    return padded(b, x, w.before, w.after, value)


def _largest(b: Builder, x: str, w: Windows, outside: float | None) -> str:
    if outside is None and _in_place(w):
        pads = [*w.before, *(max(pad, 0) for pad in w.after)]
        return b.add("MaxPool", x, kernel_shape=w.kernel, strides=w.strides, pads=pads)
    least = float(np.finfo(b.dtype).min) if outside is None else outside
    return b.add("MaxPool", _padded(b, x, w, least), kernel_shape=w.kernel, strides=w.strides)


def _mean(b: Builder, x: str, w: Windows, sizes: np.ndarray) -> str:
    """The sum of each window divided by its size."""
    whole = math.prod(w.kernel)
    uniform = bool((sizes == whole).all())
    if _in_place(w) and (uniform or np.array_equal(sizes, _sizes(w, padded=False))):
        pads = [*w.before, *(max(pad, 0) for pad in w.after)]
        return b.add(
            "AveragePool", x, kernel_shape=w.kernel, strides=w.strides, pads=pads, count_include_pad=int(uniform)
        )
    found = b.add("AveragePool", _padded(b, x, w, 0), kernel_shape=w.kernel, strides=w.strides)
    return found if uniform else b.add("Mul", found, b.constant(whole / np.maximum(sizes, 1)))


def _sum(b: Builder, x: str, w: Windows, channels: int) -> str:
    """By a convolution of each channel with ones, because a mean times the size is rounded twice."""
    ones = b.constant(np.ones((channels, 1, *w.kernel)))
    x = _padded(b, x, w, 0)
    return b.add("Conv", x, ones, kernel_shape=w.kernel, strides=w.strides, group=channels)


def _root(b: Builder, total: str, power: int) -> str:
    if power == 1:
        return total
    if power == 2:
        return b.add("Sqrt", total)
    return b.add("Mul", b.add("Sign", total), b.add("Pow", b.add("Abs", total), b.constant(1 / 3)))


def _powered(b: Builder, x: str, power: int) -> str:
    square = b.add("Mul", x, x) if power > 1 else x
    return b.add("Mul", square, x) if power == 3 else square


def _global(b: Builder, p: Any, x: str, rank: int) -> str:
    if p.pool_type in ("max", "avg"):
        return b.add({"max": "GlobalMaxPool", "avg": "GlobalAveragePool"}[p.pool_type], x)
    power = p.p_value if p.pool_type == "lp" else 1
    axes = list(range(2, rank + 2))
    return _root(b, b.reduced("ReduceSum", _powered(b, x, power), axes, keepdims=True), power)


def pooled(b: Builder, p: Any, s: Any, x: str) -> str:
    """The rule of Pooling."""
    rank = len(s[0]) - 2
    last = getattr(p, "layout", "").endswith("C")
    image, counts = (s[0][1:-1], b.outs[0][1:-1]) if last else (s[0][2:], b.outs[0][2:])
    if last:
        x = b.add("Transpose", x, perm=[0, rank + 1, *range(1, rank + 1)])
    if p.global_pool:
        found = _global(b, p, x, rank)
    else:
        require_fixed(image, "Pooling")
        w = _windows(p, tuple(map(int, image)), tuple(map(int, counts)))
        found = _local(b, p, x, w, int(s[0][-1 if last else 1]))
    return b.add("Transpose", found, perm=[0, *range(2, rank + 2), 1]) if last else found


def _local(b: Builder, p: Any, x: str, w: Windows, channels: int) -> str:
    if p.pool_type == "max":
        return _largest(b, x, w, None)
    if p.pool_type == "avg":
        return _mean(b, x, w, _sizes(w, padded=p.count_include_pad is not False))
    power = p.p_value if p.pool_type == "lp" else 1
    return _root(b, _sum(b, _powered(b, x, power), w, channels), power)


def pooled_as_before(b: Builder, p: Any, s: Any, x: str) -> str:
    """The rule of the older Pooling: padding is zeros, also for a maximum; avg divides by the size of the kernel."""
    if p.global_pool:
        return _global(b, p, x, len(s[0]) - 2)
    require_fixed(s[0][2:], "a pooling")
    w = _windows(p, tuple(map(int, s[0][2:])), tuple(map(int, b.outs[0][2:])))
    if p.pool_type == "max":
        if any(pad > allowed for pad, allowed in zip(w.after, w.pad, strict=True)) and any(w.pad):
            raise NoForm("a pooling of before 1.0 whose last window reaches beyond the padding")
        return _largest(b, x, w, 0.0 if any(w.pad) else None)
    if p.pool_type == "sum":
        return _sum(b, x, w, int(s[0][1]))
    return _mean(b, x, w, np.full(w.counts, math.prod(w.kernel)))


__all__ = ["pooled", "pooled_as_before"]
