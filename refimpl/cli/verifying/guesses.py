"""Guesses that suit any layer: no numbers, half precision, axes, settings, exchanged layers, factors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from ...export.layer import Layer
from ...symbol.ir import Entry, Node
from .guessing import Case, Change, Guess, along
from .walk import is_half

LEARNED = ("weight", "bias", "gamma", "beta", "moving_mean", "moving_var", "parameters")
_NEVER = {"cudnn_off", "cudnn_tune", "output_mean_var", "no_bias", "use_global_stats", "state_outputs", "ret_typ"}
_NUMBERS = {
    "eps": (0.0, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 2e-5, 1e-4, 1e-3, 1e-2),
    "slope": (0.0, 0.01, 0.1, 0.2, 0.25, 0.3),
    "nsize": (3, 5, 7), "alpha": (1e-4, 2e-4, 1e-3), "beta": (0.5, 0.75, 1.0), "knorm": (1.0, 2.0),
    "a_max": (1.0, 6.0),
}


def constant(outputs: list[np.ndarray]) -> Change:
    """A change whose result is known already."""
    return lambda _: outputs


def replacing(index: int, change: Any) -> Change:
    """The layer as it is, with one output changed afterwards."""

    def run(layer: Layer) -> list[np.ndarray]:
        made = layer.run()
        made[index] = change(made[index])
        return made

    return run


def with_arrays(arrays: dict[str, np.ndarray], **params: Any) -> Change:
    """The layer with other inputs, by the operator's names, and other parameters."""
    return lambda layer: layer.run(arrays, **params)


def learned(layer: Layer) -> dict[str, np.ndarray]:
    """The parameters of a layer by the operator's names for them."""
    names = list(layer.node.signature.inputs)
    return {
        name: value for name, value, entry in zip(names, layer.arrays, layer.node.inputs, strict=False)
        if name in LEARNED and entry.node.is_variable
    }


# --- half precision -------------------------------------------------------------------------------


def rounded(value: np.ndarray, kind: str) -> np.ndarray:
    """Numbers with the significant bits of a shorter type, in double precision."""
    if value.dtype.kind != "f":
        return value
    if kind == "float16":
        return value.astype(np.float16).astype(np.float64)
    bits = value.astype(np.float32).view(np.uint32)
    dropped = 13 if kind == "TF32" else 16
    kept = bits + np.uint32((1 << (dropped - 1)) - 1) + ((bits >> np.uint32(dropped)) & np.uint32(1))
    return (kept & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)).view(np.float32).astype(np.float64)


def half(case: Case) -> Iterator[Guess]:
    """Outputs, parameters or inputs with eleven or eight significant bits."""
    target, segment = case.comparable, case.segment
    if segment.unit >= 2.0**-11:
        return
    if target is not None and is_half(target):
        slack = 2.0**-11 / segment.unit
        yield Guess(
            "half-precision", "the reference computes in half precision: its numbers are those of float16",
            lambda layer: layer.run(), slack,
        )
    for kind in ("float16", "bfloat16", "TF32"):
        held = {name: rounded(value, kind) for name, value in learned(case.layer).items()}
        alone = [({name: value}, f"{name} is") for name, value in held.items()] if len(held) > 1 else []
        for arrays, what in [(held, "parameters are"), *alone]:
            if arrays and kind != "TF32":
                yield Guess("half-precision", f"the reference's {what} rounded to {kind}", with_arrays(arrays), 2)

        def narrowed(layer: Layer, kind: str = kind) -> list[np.ndarray]:
            return layer.run([rounded(value, kind) for value in layer.arrays])

        yield Guess("half-precision", f"the reference rounds what the layer reads to {kind}", narrowed, 2)


# --- axes -----------------------------------------------------------------------------------------


def axes(case: Case) -> Iterator[Guess]:
    """The output, or the input, with its axes in another order."""
    layer, index = case.layer, case.segment.index
    target = case.target
    if target is not None:
        exact = case.segment.exact
        for order in _orders(exact.ndim):
            if exact.transpose(order).shape == target.shape:
                text = f"the reference's output has its axes in the order {order}"
                yield Guess("transposed", text, replacing(index, lambda out, order=order: out.transpose(order)))
    if learned(layer) or not layer.arrays or layer.arrays[0].ndim < 2:
        return
    for order in _orders(layer.arrays[0].ndim):
        def moved(held: Layer, order: tuple[int, ...] = order) -> list[np.ndarray]:
            return held.run([held.arrays[0].transpose(order), *held.arrays[1:]])

        yield Guess("transposed", f"the reference reads its input with the axes in the order {order}", moved)


def _orders(rank: int) -> list[tuple[int, ...]]:
    return [order for order in itertools.permutations(range(rank)) if order != tuple(range(rank))] if rank < 5 else []


# --- settings -------------------------------------------------------------------------------------


def settings(case: Case) -> Iterator[Guess]:
    """Each choice and each truth value of the operator, otherwise."""
    layer = case.layer
    if layer.params is None or layer.operator in ("Convolution", "Deconvolution", "Pooling", "RNN", "Cast"):
        return
    for name, hint in get_type_hints(type(layer.params)).items():
        now = getattr(layer.params, name)
        if name in _NEVER:
            continue
        kind = "batchnorm-eps" if name == "eps" and layer.operator == "BatchNorm" else "setting"
        choices = _NUMBERS.get(name, ()) if isinstance(now, (int, float)) else _choices(hint)
        if hint is bool:
            choices = (not now,)
        for value in choices:
            if value != now:
                text = f"the reference has {name}={value}; here it is {now}"
                yield Guess(kind, text, with_arrays({}, **{name: value}))


def _choices(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(value for part in get_args(hint) for value in _choices(part))


# --- other layers ---------------------------------------------------------------------------------


def exchanged(case: Case) -> Iterator[Guess]:
    """The parameters of another layer, the inputs in another order, the next layer first."""
    layer = case.layer
    for node, held in case.others:
        text = f"the reference computes with the parameters of {node.name}"
        yield Guess("layers-exchanged", text, with_arrays(held))
    if not learned(layer) and 1 < len(layer.arrays) < 6:
        for order in itertools.permutations(range(len(layer.arrays))):
            if order != tuple(range(len(layer.arrays))):
                def reordered(held: Layer, order: tuple[int, ...] = order) -> list[np.ndarray]:
                    return held.run([held.arrays[i] for i in order])

                yield Guess("layers-exchanged", f"the reference reads its inputs in the order {order}", reordered)
    if layer.arrays and layer.node.visible_count() == 1:
        yield Guess(
            "layers-exchanged", "the reference leaves the layer out: its output is its input",
            lambda held: [held.arrays[0]],
        )
    if case.after is None:
        return
    after = case.after

    def first(held: Layer) -> list[np.ndarray]:
        return held.run([Layer(after, [held.arrays[0]]).run()[0], *held.arrays[1:]])

    def then(held: Layer) -> list[np.ndarray]:
        made = held.run()
        return [Layer(after, [made[0]]).run()[0], *made[1:]]

    yield Guess("layers-exchanged", f"the reference runs {after.name} before it", first)
    yield Guess("layers-exchanged", f"the reference's output is that of {after.name}, which follows", then)


def followed(readers: list[tuple[Node, Entry]]) -> Node | None:
    """The only reader of a layer, where it reads nothing else."""
    if len(readers) != 1:
        return None
    reader, _ = readers[0]
    return reader if reader.op is not None and len(reader.inputs) == 1 else None


# --- numbers --------------------------------------------------------------------------------------


def factor(case: Case) -> Iterator[Guess]:
    """The whole output times one number, or for hidden layers, parameters times likely numbers."""
    target = case.comparable
    if target is not None:
        exact = case.segment.exact
        scale = fitted(exact, target)
        if scale is not None:
            yield Guess(
                "weight-scaled", f"the reference's output is {told(scale)} times what is computed here",
                replacing(case.segment.index, lambda out: out * scale), 4,
            )
        return
    for name, value in learned(case.layer).items():
        if name in ("weight", "gamma", "parameters"):
            for scale in (-1.0, 0.0, 0.1, 0.25, 0.5, 0.9, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 10.0, 1 / 255, 255.0):
                yield Guess(
                    "weight-scaled", f"the reference's {name} is {told(scale)} times that here",
                    with_arrays({name: value * scale}),
                )


def permuted(case: Case) -> Iterator[Guess]:
    """The channels of the output in another order."""
    target = case.comparable
    if target is None or target.ndim < 2:
        return
    for axis in {1, target.ndim - 1}:
        order = matching(case.segment.exact, target, axis)
        if order is not None:
            yield Guess(
                "channels-swapped", f"the reference's output has {spelled_order(order)}",
                replacing(case.segment.index, lambda out, axis=axis, order=order: np.take(out, order, axis)),
            )


def fitted(exact: np.ndarray, target: np.ndarray) -> float | None:
    """The number that turns one array into the other as well as any."""
    good = np.isfinite(exact) & np.isfinite(target)
    square = float(np.sum(exact[good] ** 2))
    return float(np.sum(exact[good] * target[good])) / square if square else None


def solved(start: float, off: Callable[[float], np.ndarray]) -> float:
    """The number near ``start`` for which least is off, by Gauss and Newton.

    Args:
        start: where the search begins.
        off: gives the differences that are left.
    """
    found = start
    for _ in range(12):
        step = max(abs(found) * 1e-6, 1e-12)
        slope = (off(found + step) - off(found - step)).ravel() / (2 * step)
        square = float(slope @ slope)
        if not square or not np.isfinite(square):
            break
        found -= float(slope @ off(found).ravel()) / square
    return found


def matching(exact: np.ndarray, target: np.ndarray, axis: int) -> np.ndarray | None:
    """For each channel of ``target`` the channel of ``exact`` that is most like it; None if one is taken twice."""
    count = exact.shape[axis]
    if count < 2 or count > 4096:
        return None
    rows, wanted = (np.moveaxis(v, axis, 0).reshape(count, -1) for v in (exact, target))
    if not (np.isfinite(rows).all() and np.isfinite(wanted).all()):
        return None
    order = np.arange(count)
    size = np.maximum(np.abs(rows).max(axis=1), 1e-30)
    moved = np.flatnonzero(np.abs(rows - wanted).max(axis=1) > 1e-5 * size)
    if not len(moved):
        return None
    for place in moved:
        order[place] = moved[int(np.argmin(np.abs(rows[moved] - wanted[place]).sum(axis=1)))]
    return order if len(set(order.tolist())) == count else None


def spelled_order(order: np.ndarray) -> str:
    """Which channels changed places, in words."""
    moved = [int(i) for i in np.flatnonzero(order != np.arange(len(order)))]
    if np.array_equal(order, np.arange(len(order))[::-1]):
        return "its channels in the reverse order"
    if len(moved) == 2:
        return f"channels {moved[0]} and {moved[1]} in each other's place"
    shown = ", ".join(f"{int(order[i])} in place of {i}" for i in moved[:4])
    return f"channels in another order: {shown}{' ...' * (len(moved) > 4)}"


def told(number: float) -> str:
    """A number that was fitted, without the digits that an error made."""
    near = float(f"{number:.4g}")
    return f"{near if abs(near - number) <= 1e-5 * abs(number) else float(f'{number:.6g}'):g}"


def without_numbers(target: np.ndarray, exact: np.ndarray) -> str | None:
    """What is to be said where one has numbers and the other none."""
    bad, here = ~np.isfinite(target), ~np.isfinite(exact)
    if target.shape != exact.shape or np.array_equal(bad, here):
        return None
    if (bad & ~here).any():
        place = ", ".join(str(int(i)) for i in np.argwhere(bad & ~here)[0])
        return (
            f"the reference has {int(np.isnan(target).sum())} NaN and {int(np.isinf(target).sum())} infinite values"
            f" of {target.size}, the first at [{place}], where the layer gives numbers"
        )
    place = ", ".join(str(int(i)) for i in np.argwhere(here & ~bad)[0])
    return f"here are {int(here.sum())} values that are no finite numbers, the first at [{place}], unlike there"


__all__ = [
    "along", "axes", "constant", "exchanged", "factor", "fitted", "followed", "half", "learned", "matching",
    "permuted", "rounded", "settings", "solved", "spelled_order", "told", "with_arrays", "without_numbers",
]
