"""Guesses for layers that are sums of products: Convolution, Deconvolution, FullyConnected, and Embedding."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ...export.layer import Layer
from .guesses import fitted, matching, spelled_order, told, with_arrays
from .guessing import Case, Guess, along

OPERATORS = ("Convolution", "Deconvolution", "FullyConnected", "Embedding")
_MOST_PAIRS = 300  # channels of the input that are exchanged for a try


def _axis(layer: Layer) -> int:
    """The axis of the output that a filter makes."""
    return 1 if layer.operator in ("Convolution", "Deconvolution") else -1


def _parts(case: Case) -> tuple[np.ndarray, np.ndarray, int] | None:
    """(products without the bias, what the reference has of that, axis of the channels), where it can be said."""
    target, layer = case.comparable, case.layer
    if layer.operator not in OPERATORS or target is None:
        return None
    bias, axis = layer.array("bias"), _axis(layer)
    held = 0.0 if bias is None else along(bias, target.ndim, axis)
    return case.segment.exact - held, target - held, axis


def bias(case: Case) -> Iterator[Guess]:
    """No bias."""
    layer = case.layer
    for name in ("bias", "beta"):
        value = layer.array(name)
        if value is not None and value.any() and layer.operator != "LRN":
            text = f"the reference leaves the {name} out"
            yield Guess("bias-missing", text, with_arrays({name: np.zeros_like(value)}))


def transposed(case: Case) -> Iterator[Guess]:
    """The weight with its axes in another order, as it is stored elsewhere."""
    layer = case.layer
    weight = layer.array("weight")
    if layer.operator not in OPERATORS or weight is None:
        return
    for text, value in _orders(weight, case.source or layer.arrays[0].shape):
        if value.shape == weight.shape and not np.array_equal(value, weight):
            yield Guess("transposed", f"the reference's weight is {text}", with_arrays({"weight": value}))


def _orders(weight: np.ndarray, source: tuple[int, ...]) -> Iterator[tuple[str, np.ndarray]]:
    shape = weight.shape
    if weight.ndim == 2 and len(source) == 4 and source[1] * source[2] * source[3] == shape[1]:
        channels, height, width = source[1:]
        cube = weight.reshape(-1, channels, height, width)
        text = "applied to pixels whose channels come last"
        yield text, cube.transpose(0, 2, 3, 1).reshape(shape)
        yield text, weight.reshape(-1, height, width, channels).transpose(0, 3, 1, 2).reshape(shape)
        yield "applied to pixels of which width comes before height", cube.swapaxes(2, 3).reshape(shape)
    names = {2: ("outputs", "inputs"), 4: ("outputs", "inputs", "rows", "columns")}.get(weight.ndim)
    if names is None:
        return
    if weight.ndim == 4:
        yield "turned by half a circle, as for a true convolution", weight[:, :, ::-1, ::-1]
        yield "mirrored", weight[:, :, :, ::-1]
        yield "upside down", weight[:, :, ::-1]
    for order in itertools.permutations(range(weight.ndim)):
        moved = weight.transpose(order)
        said = ", ".join(names[axis] for axis in order)
        if moved.shape == shape:
            yield f"transposed to ({said})", moved
            continue
        yield f"transposed to ({said}), and read as if it were not", moved.reshape(shape)
        held = weight.reshape(moved.shape)
        yield f"stored as ({said})", held.transpose([order.index(axis) for axis in range(weight.ndim)])


def scaled(case: Case) -> Iterator[Guess]:
    """The weight times one number, the bias times one, or one number added."""
    parts = _parts(case)
    if parts is None:
        return
    products, wanted, _ = parts
    layer = case.layer
    weight, held = layer.array("weight"), layer.array("bias")
    scale = fitted(products, wanted)
    if scale is not None and weight is not None:
        text = f"the reference's weight is {told(scale)} times that here"
        yield Guess("weight-scaled", text, with_arrays({"weight": weight * scale}), 4)
    if held is not None and held.any():
        shaped = np.broadcast_to(case.segment.exact - products, products.shape)
        scale = fitted(shaped, wanted + shaped - products)
        if scale is not None:
            text = f"the reference's bias is {told(scale)} times that here"
            yield Guess("weight-scaled", text, with_arrays({"bias": held * scale}), 4)


def channels(case: Case) -> Iterator[Guess]:
    """Filters or channels of the input in each other's place."""
    layer, weight = case.layer, case.layer.array("weight")
    if layer.operator not in OPERATORS or weight is None:
        return
    parts = _parts(case)
    if parts is not None:
        order = matching(parts[0], parts[1], parts[2])
        if order is not None:
            yield Guess(
                "channels-swapped", f"the reference's weight has {spelled_order(order)}, as filters",
                lambda held: _filters(held, order),
            )
    if layer.operator == "Embedding":
        return
    yield from _inputs(case, weight)
    yield from _depthwise(case, weight)


def _filters(layer: Layer, order: np.ndarray) -> list[np.ndarray]:
    """The layer with its products in another order, and its bias as it was."""
    held = layer.array("bias")
    made = layer.run()[0]
    if held is None:
        return [np.take(made, order, _axis(layer))]
    shift = along(held, made.ndim, _axis(layer))
    return [np.take(made - shift, order, _axis(layer)) + shift]


def _inputs(case: Case, weight: np.ndarray) -> Iterator[Guess]:
    """Channels of the input: all reversed, as blue before red, or two of them."""
    axis = 0 if case.layer.operator == "Deconvolution" else 1
    count = weight.shape[axis]
    if count < 2:
        return
    reverse = np.arange(count)[::-1]
    yield Guess(
        "channels-swapped", f"the reference reads its input with {spelled_order(reverse)}",
        with_arrays({"weight": np.take(weight, reverse, axis)}),
    )
    pairs = itertools.combinations(range(count), 2)
    if case.target is None or count * (count - 1) // 2 > _MOST_PAIRS:
        return
    for first, second in pairs:
        order = np.arange(count)
        order[[first, second]] = second, first
        yield Guess(
            "channels-swapped", f"the reference reads its input with {spelled_order(order)}",
            with_arrays({"weight": np.take(weight, order, axis)}),
        )


def _depthwise(case: Case, weight: np.ndarray) -> Iterator[Guess]:
    """Filters of a convolution in groups in each other's place: each goes on reading its own channels."""
    layer, target = case.layer, case.comparable
    if layer.operator != "Convolution" or layer.params.num_group == 1 or target is None or weight.ndim != 4:
        return
    parts = _parts(case)
    assert parts is not None
    products, wanted, _ = parts
    size = np.abs(products).max(axis=(0, 2, 3), initial=1e-30)
    moved = np.flatnonzero(np.abs(products - wanted).max(axis=(0, 2, 3)) > 1e-5 * size)
    best, order = np.full(len(moved), np.inf), np.arange(len(weight))
    shift = case.segment.exact - products
    for turn in range(1, len(weight)):
        made = layer.run({"weight": np.roll(weight, -turn, axis=0)})[0]
        off = np.abs(made - shift - wanted).sum(axis=(0, 2, 3))[moved]
        closer = off < best
        best[closer], order[moved[closer]] = off[closer], (moved[closer] + turn) % len(weight)
    for place in moved:  # a filter whose channel is 0 does not show that it moved
        if order[order[place]] == order[place]:
            order[order[place]] = place
    if len(moved):
        yield Guess(
            "channels-swapped", f"the reference's weight has {spelled_order(order)}, as filters",
            with_arrays({"weight": weight[order]}),
        )


def some_channels(case: Case) -> Iterator[Guess]:
    """Each filter times a number of its own, or each with another bias."""
    parts = _parts(case)
    weight = case.layer.array("weight")
    if parts is None or weight is None or case.layer.operator not in ("Convolution", "FullyConnected"):
        return
    products, wanted, axis = parts
    rows, aims = (np.moveaxis(v, axis, 0).reshape(v.shape[axis], -1) for v in (products, wanted))
    squares = (rows * rows).sum(axis=1)
    scales = np.where(squares > 0, (rows * aims).sum(axis=1) / np.where(squares > 0, squares, 1), 1.0)
    changed = np.flatnonzero(np.abs(scales - 1) > 1e-4)
    exact = np.where(np.abs(scales - 1) > 1e-4, scales, 1.0)
    if rows.shape[1] > 1 and len(changed):
        text = f"the reference's weight is scaled in {_some(changed, len(scales))}, by {told(exact[changed[0]])}"
        shaped = exact.reshape(-1, *[1] * (weight.ndim - 1))
        yield Guess("weight-scaled", text, with_arrays({"weight": weight * shaped}), 4)
    if rows.shape[1] > 1 and case.layer.array("bias") is not None:
        shift = (aims - rows).mean(axis=1)
        moved = np.flatnonzero(np.abs(shift) > 1e-5 * np.abs(rows).max(initial=1e-30))
        held = case.layer.array("bias")
        assert held is not None
        text = f"the reference's bias is another in {_some(moved, len(shift))}"
        yield Guess("bias-other", text, with_arrays({"bias": held + shift}), 4)


def _some(changed: np.ndarray, count: int) -> str:
    """Which of all channels, in words."""
    if len(changed) == count:
        return "every channel"
    shown = ", ".join(str(int(i)) for i in changed[:4])
    return f"{len(changed)} of {count} channels: {shown}{' ...' * (len(changed) > 4)}"


__all__ = ["bias", "channels", "scaled", "some_channels", "transposed"]
