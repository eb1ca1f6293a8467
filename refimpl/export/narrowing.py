"""A few elements of a layer's output, and the small layer of the same operator that computes them.

A convolution of a large picture costs as much as the picture is large; 500 of its elements cost 500 sums. So the judge
draws elements first and then cuts out what they read: pixels under the filter, channels, rows.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..kernels import convolution, deconvolution
from .layer import Layer

Shape = tuple[int, ...]

spacing: Any = convolution.spacing  # pages are untyped
target_of: Any = deconvolution.target_of
whole_sizes: Any = deconvolution.whole_sizes

MOST_TERMS = 4_000_000  # products that the drawn elements of a layer may need
MOST_TRACKED = 20_000  # numbers of a row of which bounds are kept
_ROWS = 4  # rows of a matrix product, each with many columns


class Part(NamedTuple):
    """Elements of an output, and how they are computed."""

    layer: Layer
    """With what the elements read; its output ``index`` has them."""
    at: np.ndarray
    """Positions of the elements in the output of the whole layer, seen as flat."""
    take: Any
    """Positions of the same elements in the output of ``layer``, seen as flat."""
    terms: int = 0
    """How many products each is a sum of; 0 where it is no sum of products."""


Rule = Callable[[Layer, Shape, int, np.random.Generator], "Part | None"]
RULES: dict[str, Rule] = {}
"""Operator -> what cuts a few elements out of its layer, or gives None where it cannot."""


def rule(*operators: str) -> Callable[[Rule], Rule]:
    """Register a rule for operators."""

    def kept(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(operators, function))
        return function

    return kept


def narrowed(layer: Layer, index: int, shape: Shape, count: int, rng: np.random.Generator) -> Part:
    """At most ``count`` elements of an output, drawn.

    Args:
        layer: with its inputs.
        index: of the output.
        shape: of the output.
        count: the number of elements.
        rng: what draws.
    """
    found = RULES.get(layer.operator)
    if found is None and layer.node.op is not None and layer.node.op.elementwise:
        found = _elementwise
    part = found(layer, shape, count, rng) if found is not None and index == 0 and 0 not in shape else None
    if part is None:
        at = drawn(shape, count, rng)
        part = Part(layer, at, at, _terms(layer, prod(shape)))
    return part


def drawn(shape: Shape, count: int, rng: np.random.Generator) -> np.ndarray:
    """Flat positions of elements, the corners of the array among them, in ascending order."""
    size = prod(shape)
    if size <= count:
        return np.arange(size)
    sides = [np.unique([0, side - 1]) for side in shape[-4:]]
    leading = [np.zeros(1, int)] * (len(shape) - len(sides))
    corners = np.ravel_multi_index(np.meshgrid(*leading, *sides, indexing="ij"), shape).reshape(-1)
    return np.unique(np.concatenate([corners[: count // 2], rng.choice(size, count, replace=False)])[:count])


def _terms(layer: Layer, size: int) -> int:
    """The number of products in each element, of operators whose whole output is computed."""
    p, name = layer.params, layer.operator
    if name == "Pooling" and p.pool_type in ("avg", "sum"):
        return prod(layer.arrays[0].shape[2:] if p.global_pool else p.kernel) + 2
    if name in ("sum", "mean"):
        return max(1, layer.arrays[0].size // max(size, 1)) + 2
    if name.startswith("_contrib_interleaved_matmul"):
        return max(layer.arrays[0].shape) + layer.arrays[0].shape[-1] // (3 * p.heads) + 3
    if name == "_contrib_div_sqrt_dim":
        return 4
    if name in ("dot", "batch_dot"):
        return max(max(value.shape, default=1) for value in layer.arrays) + 2
    return 0


# --- one element of each input --------------------------------------------------------------------


def _elementwise(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part:
    at = drawn(shape, count, rng)
    places = np.unravel_index(at, shape)
    given = [np.broadcast_to(value, shape)[places] for value in layer.arrays]
    return Part(Layer(layer.node, given), at, np.arange(len(at)))


@rule("where")
def _where(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    return _elementwise(layer, shape, count, rng) if layer.arrays[0].shape == shape else None  # else it is for rows


@rule("LeakyReLU")
def _leaky_relu(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part:
    if len(layer.arrays) == 1:
        return _elementwise(layer, shape, count, rng)
    at = drawn(shape, count, rng)
    gamma = np.broadcast_to(layer.arrays[1], shape[1])[np.unravel_index(at, shape)[1]]
    return Part(Layer(layer.node, [layer.arrays[0].reshape(-1)[at][None], gamma]), at, np.arange(len(at)))


@rule("BatchNorm")
def _batch_norm(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    if layer.params.output_mean_var:
        return None
    at = drawn(shape, count, rng)
    channels = np.unravel_index(at, shape)[layer.params.axis % len(shape)]
    arrays = [layer.arrays[0].reshape(-1)[at][None], *[value[channels] for value in layer.arrays[1:]]]
    return Part(layer.changed(arrays, axis=1), at, np.arange(len(at)))


# --- rows -----------------------------------------------------------------------------------------


def _rows(
    layer: Layer, shape: Shape, axes: Shape, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """Rows that are computed together: their numbers and values, and drawn places in the output and in the rows.

    ``axes`` are those that a row goes along.
    """
    kept = tuple(axis for axis in range(len(shape)) if axis not in axes)
    order = (*kept, *axes)
    side = prod(shape[axis] for axis in axes)
    if side > MOST_TRACKED or layer.arrays[0].shape != shape:
        return None
    rows = layer.arrays[0].transpose(order).reshape(-1, side)
    flat = np.arange(prod(shape)).reshape(shape).transpose(order).reshape(-1, side)
    many = max(1, min(len(rows), MOST_TRACKED // side))
    numbers = np.sort(rng.choice(len(rows), many, replace=False))
    take = drawn((many, side), count, rng)
    return numbers, rows[numbers], flat[numbers].reshape(-1)[take], take


@rule("softmax", "log_softmax", "softmin")
def _softmax(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    if len(layer.arrays) > 1:
        return None
    found = _rows(layer, shape, (layer.params.axis % len(shape),), count, rng)
    return found and Part(layer.changed([found[1]], axis=-1), found[2], found[3])


@rule("SoftmaxActivation")
def _softmax_activation(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    axes = (1 if layer.params.mode == "channel" else len(shape) - 1,)
    found = _rows(layer, shape, axes, count, rng)
    return found and Part(layer.changed([found[1]], mode="instance"), found[2], found[3])


@rule("LayerNorm")
def _layer_norm(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    found = _rows(layer, shape, (layer.params.axis % len(shape),), count, rng)
    if found is None or layer.params.output_mean_var:
        return None
    return Part(layer.changed([found[1], *layer.arrays[1:]], axis=-1), found[2], found[3])


@rule("L2Normalization")
def _l2_normalization(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    axes = {"channel": (1,), "instance": tuple(range(1, len(shape))), "spatial": tuple(range(2, len(shape)))}
    found = _rows(layer, shape, axes[layer.params.mode], count, rng)
    return found and Part(layer.changed([found[1]], mode="instance"), found[2], found[3])


@rule("InstanceNorm")
def _instance_norm(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    found = _rows(layer, shape, tuple(range(2, len(shape))), count, rng)
    if found is None:
        return None
    channels = found[0] % shape[1]
    arrays = [found[1][None], *[value[channels] for value in layer.arrays[1:]]]
    return Part(layer.changed(arrays), found[2], found[3])


@rule("LRN")
def _lrn(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    found = _rows(layer, shape, (1,), count, rng)
    return found and Part(layer.changed([found[1][:, :, None, None]]), found[2], found[3])


# --- sums of products -----------------------------------------------------------------------------


def _grid(rows: int, columns: int, terms: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Rows and columns of a matrix that are ``count`` elements together."""
    count = max(16, min(count, MOST_TERMS // max(terms, 1)))
    few = min(rows, max(_ROWS, count // columns))
    return [np.sort(rng.choice(n, k, replace=False)) for n, k in ((rows, few), (columns, min(columns, count // few)))]


@rule("FullyConnected")
def _fully_connected(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    data, weight, *bias = layer.arrays
    data = data.reshape(prod(shape[:-1]), -1)
    rows, columns = _grid(len(data), len(weight), weight.shape[1], count, rng)
    arrays = [data[rows], weight[columns], *[value[columns] for value in bias]]
    at = (rows[:, None] * len(weight) + columns).reshape(-1)
    small = layer.changed(arrays, num_hidden=len(columns), flatten=True)
    return Part(small, at, np.arange(len(at)), weight.shape[1] + 1)


@rule("dot", "batch_dot")
def _product(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    """Some rows of the left matrix, or of each of a batch of them."""
    left, right = layer.arrays[:2]
    p = layer.params
    if left.ndim < 2 or not left.ndim == right.ndim == len(shape):
        return None
    axis = left.ndim - (1 if p.transpose_a else 2)
    terms = left.shape[-2 if p.transpose_a else -1]
    batch = prod(shape[:-2])
    few = int(max(1, min(shape[-2], _ROWS * MOST_TERMS // max(1, batch * shape[-1] * terms))))
    rows = np.sort(rng.choice(shape[-2], few, replace=False))
    take = drawn((batch, few, shape[-1]), count, rng)
    places = np.unravel_index(take, (batch, few, shape[-1]))
    at = np.ravel_multi_index((places[0], rows[places[1]], places[2]), (batch, *shape[-2:]))
    return Part(layer.changed([left.take(rows, axis), *layer.arrays[1:]]), at, take, terms + 1)


def _taps(shape: Shape, count: int, terms: int, rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    at = drawn(shape, max(16, min(count, MOST_TERMS // max(terms, 1))), rng)
    return at, list(np.unravel_index(at, shape))


def _along(values: np.ndarray, axis: int, rank: int) -> np.ndarray:
    """A matrix whose rows are elements, with its columns on one of ``rank`` axes behind elements and channels."""
    return values.reshape(len(values), 1, *(1,) * axis, -1, *(1,) * (rank - axis - 1))


def _patches(data: np.ndarray, image: np.ndarray, channels: np.ndarray, pixels: list[np.ndarray]) -> np.ndarray:
    """What each element reads: (elements, channels, *taps). A pixel of -1 is outside, and zero."""
    rank = len(pixels)
    places = [_along(each, axis, rank) for axis, each in enumerate(pixels)]
    inside = np.logical_and.reduce(np.broadcast_arrays(*[place >= 0 for place in places]))
    index = image.reshape(-1, *(1,) * (rank + 1)), channels.reshape(*channels.shape, *(1,) * rank)
    return np.where(inside, data[index + tuple(np.maximum(place, 0) for place in places)], 0)


@rule("Convolution")
def _convolution(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    """Each element becomes a filter of its own group, as large as what it reads."""
    data, weight, *bias = layer.arrays
    p = layer.params
    own = weight.shape[1]
    terms = own * prod(p.kernel)
    at, (image, filters, *places) = _taps(shape, count, terms, rng)
    pixels = []
    for place, kernel, stride, dilate, pad, side in zip(places, p.kernel, *spacing(p), data.shape[2:], strict=True):
        pixel = place[:, None] * stride - pad + np.arange(kernel) * dilate
        pixels.append(np.where((pixel >= 0) & (pixel < side), pixel, -1))
    channels = (filters // (shape[1] // p.num_group) * own)[:, None] + np.arange(own)
    read = _patches(data, image, channels, pixels)
    many = len(at)
    small = layer.changed(
        [read.reshape(1, -1, *p.kernel), weight[filters], *[value[filters] for value in bias]],
        stride=(), dilate=(), pad=(), num_filter=many, num_group=many,
    )
    return Part(small, at, np.arange(many), terms + 1)


@rule("Deconvolution")
def _deconvolution(layer: Layer, shape: Shape, count: int, rng: np.random.Generator) -> Part | None:
    """Each element becomes a filter of its own group, of those taps that reach it."""
    data, weight, *bias = layer.arrays
    p = layer.params
    own, per_group = weight.shape[0] // p.num_group, weight.shape[1]
    stride, dilate, pad = spacing(p)
    if target_of(p) is not None:
        pad = tuple((w - o + 1) // 2 for w, o in zip(whole_sizes(p, data.shape[2:]), shape[2:], strict=True))
    terms = own * prod(-(-k // s) if e == 1 else k for k, s, e in zip(p.kernel, stride, dilate, strict=True))
    at, (image, filters, *places) = _taps(shape, count, terms, rng)
    pixels, taps = [], []
    for axis, place in enumerate(places):
        tap = np.arange(p.kernel[axis])
        twice = place[:, None] + pad[axis] - tap * dilate[axis]
        valid = (twice % stride[axis] == 0) & (twice >= 0) & (twice // stride[axis] < data.shape[2 + axis])
        first = np.argsort(~valid, axis=1, kind="stable")[:, : max(1, int(valid.sum(1).max()))]
        held = np.take_along_axis(valid, first, 1)
        pixels.append(np.where(held, np.take_along_axis(twice, first, 1) // stride[axis], -1)[:, ::-1])
        taps.append(np.where(held, first, 0))
    kernel = tuple(each.shape[1] for each in taps)
    channels = (filters // per_group * own)[:, None] + np.arange(own)
    read = _patches(data, image, channels, pixels)
    rank = len(taps)
    index = channels.reshape(*channels.shape, *(1,) * rank), (filters % per_group).reshape(-1, *(1,) * (rank + 1))
    filled = weight[index + tuple(_along(each, axis, rank) for axis, each in enumerate(taps))]
    many = len(at)
    small = layer.changed(
        [read.reshape(1, -1, *kernel), filled.reshape(-1, 1, *kernel), *[value[filters] for value in bias]],
        kernel=kernel, stride=(), dilate=(), pad=tuple(side - 1 for side in kernel), adj=(), target_shape=(),
        num_filter=many, num_group=many,
    )
    return Part(small, at, np.arange(many), terms + 1)


__all__ = ["RULES", "Part", "drawn", "narrowed"]
