"""Implementations that are as right as ours and round otherwise: the oracle must find nothing here.

Each sums in another way; operators are NumPy in single precision. ``--oracle-backend=refimpl.oracle.backends.variants``
and one of these:

===========  ============================================================================
sequential   from the first to the last term
backwards    from the last to the first
pairwise     halves of halves
blocked      four sums side by side, products fused with additions, then the four together
double       in double precision, rounded once
===========  ============================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels.reduce import reduced_axes
from .common import shape_after
from .decorators import Arrays, Symbol, executor_backend
from .describing import described

Array = np.ndarray
Products = Callable[[Array, Array], Array]
"""From two arrays of one shape to the sums of their products along the last axis."""


def _sequential(a: Array, b: Array) -> Array:
    total = np.zeros(a.shape[:-1], a.dtype)
    for i in range(a.shape[-1]):
        total = total + a[..., i] * b[..., i]
    return total


def _backwards(a: Array, b: Array) -> Array:
    return _sequential(a[..., ::-1], b[..., ::-1])


def _pairwise(a: Array, b: Array) -> Array:
    terms = a * b
    while terms.shape[-1] > 1:
        odd = terms[..., -1:] if terms.shape[-1] % 2 else terms[..., :0]
        even = terms.shape[-1] // 2 * 2
        terms = np.concatenate([terms[..., :even:2] + terms[..., 1:even:2], odd], -1)
    return terms[..., 0] if terms.shape[-1] else np.zeros(terms.shape[:-1], a.dtype)


def _blocked(a: Array, b: Array) -> Array:
    total = np.zeros((4, *a.shape[:-1]), a.dtype)
    for i in range(a.shape[-1]):
        exact = a[..., i].astype(np.float64) * b[..., i]  # the product of two float32 fits
        total[i % 4] = (exact + total[i % 4]).astype(a.dtype)
    return (total[0] + total[1]) + (total[2] + total[3])


def _double(a: Array, b: Array) -> Array:
    return (a.astype(np.float64) * b).sum(-1).astype(a.dtype)


WAYS: dict[str, Products] = {
    "sequential": _sequential, "backwards": _backwards, "pairwise": _pairwise, "blocked": _blocked, "double": _double,
}


class Operators:
    """Rules ``(p, *inputs) -> (output, pull)``, where ``pull(head)`` gives the inputs' gradients."""

    def __init__(self, products: Products) -> None:
        self.products = products
        self.rules: dict[str, Callable[..., Any]] = {
            **_ELEMENTWISE, "Reshape": _moved("Reshape"), "Flatten": _moved("Flatten"), "slice_axis": _slice_axis,
            "tile": self.tile, "sum": self.sum, "mean": self.mean, "FullyConnected": self.dense,
            "batch_dot": self.batch_dot, "softmax": self.softmax, "log_softmax": self.log_softmax,
            "broadcast_add": self.broadcast(lambda a, b: a + b, lambda a, b: (1.0, 1.0)),
            "broadcast_sub": self.broadcast(lambda a, b: a - b, lambda a, b: (1.0, -1.0)),
            "broadcast_mul": self.broadcast(lambda a, b: a * b, lambda a, b: (b, a)),
        }

    def total(self, x: Array) -> Array:
        """Sums along the last axis."""
        return self.products(x, np.ones_like(x))

    def over(self, x: Array, axes: tuple[int, ...]) -> Array:
        """Sums along some axes, which disappear."""
        kept = [a for a in range(x.ndim) if a not in axes]
        return self.total(x.transpose(*kept, *axes).reshape(*[x.shape[a] for a in kept], -1))

    def matmul(self, a: Array, b: Array) -> Array:
        """The product of two matrices, or of stacks of them."""
        wide = np.broadcast_arrays(a[..., :, None, :], np.swapaxes(b, -1, -2)[..., None, :, :])
        return self.products(*wide)

    def sum(self, p: Any, x: Array) -> Any:
        """Sums along some axes."""
        axes = reduced_axes(p, x.ndim)
        kept = tuple(1 if a in axes else side for a, side in enumerate(x.shape))
        made = self.over(x, axes).reshape(shape_after("sum", p, x))
        return made, lambda g: [np.broadcast_to(g.reshape(kept), x.shape)]

    def mean(self, p: Any, x: Array) -> Any:
        """Means along some axes."""
        count = x.dtype.type(np.prod([x.shape[a] for a in reduced_axes(p, x.ndim)]))
        made, pull = self.sum(p, x)
        return made / count, lambda g: [pull(g)[0] / count]

    def dense(self, p: Any, x: Array, weight: Array, bias: Array | None = None) -> Any:
        """FullyConnected."""
        rows = x.reshape(len(x), -1) if p.flatten else x.reshape(-1, x.shape[-1])
        shape = (len(x), p.num_hidden) if p.flatten else (*x.shape[:-1], p.num_hidden)
        made = self.matmul(rows, weight.T)
        made = made if bias is None else made + bias.reshape(-1)

        def pull(g: Array) -> list[Array]:
            heads = g.reshape(-1, p.num_hidden)
            slopes = [self.matmul(heads, weight).reshape(x.shape), self.matmul(heads.T, rows)]
            return slopes if bias is None else [*slopes, self.total(heads.T).reshape(bias.shape)]

        return made.reshape(shape), pull

    def batch_dot(self, p: Any, a: Array, b: Array) -> Any:
        """Products of two stacks of matrices."""
        left = np.swapaxes(a, -1, -2) if p.transpose_a else a
        right = np.swapaxes(b, -1, -2) if p.transpose_b else b

        def pull(g: Array) -> list[Array]:
            d_left = self.matmul(g, np.swapaxes(right, -1, -2))
            d_right = self.matmul(np.swapaxes(left, -1, -2), g)
            return [np.swapaxes(d_left, -1, -2) if p.transpose_a else d_left,
                    np.swapaxes(d_right, -1, -2) if p.transpose_b else d_right]

        return self.matmul(left, right), pull

    def softmax(self, p: Any, x: Array, *length: Array) -> Any:
        """softmax along an axis, of the leading elements that count."""
        scaled = np.moveaxis(x / x.dtype.type(p.temperature or 1.0), p.axis, -1)
        ends = length[0].reshape(*scaled.shape[:-1], 1) if length else scaled.shape[-1]
        counts = np.arange(scaled.shape[-1]) < ends
        largest = np.where(counts, scaled, -np.inf).max(-1, keepdims=True)
        powers = np.where(counts, np.exp(np.minimum(scaled - largest, 0)), 0).astype(x.dtype)
        total = self.total(powers)[..., None]
        made = powers / np.where(total == 0, 1, total)

        def pull(g: Array) -> list[Any]:
            heads = np.moveaxis(g, p.axis, -1).astype(x.dtype)
            slope = (heads - self.products(heads, made)[..., None]) * made / x.dtype.type(p.temperature or 1.0)
            return [np.moveaxis(slope, -1, p.axis), *(np.zeros_like(count) for count in length)]

        return np.moveaxis(made, -1, p.axis).astype(p.dtype or x.dtype), pull

    def log_softmax(self, p: Any, x: Array) -> Any:
        """log_softmax along an axis."""
        scaled = np.moveaxis(x / x.dtype.type(p.temperature or 1.0), p.axis, -1)
        shifted = scaled - scaled.max(-1, keepdims=True)
        made = shifted - np.log(self.total(np.exp(shifted)))[..., None]

        def pull(g: Array) -> list[Array]:
            heads = np.moveaxis(g, p.axis, -1).astype(x.dtype)
            slope = (heads - np.exp(made) * self.total(heads)[..., None]) / x.dtype.type(p.temperature or 1.0)
            return [np.moveaxis(slope, -1, p.axis)]

        return np.moveaxis(made, -1, p.axis).astype(p.dtype or x.dtype), pull

    def tile(self, p: Any, x: Array) -> Any:
        """Copies side by side."""
        rank = max(len(p.reps), x.ndim)
        reps, shape = (1,) * (rank - len(p.reps)) + tuple(p.reps), (1,) * (rank - x.ndim) + x.shape
        split = [side for pair in zip(reps, shape, strict=True) for side in pair]
        return np.tile(x, reps), lambda g: [self.over(g.reshape(split), tuple(range(0, 2 * rank, 2))).reshape(x.shape)]

    def broadcast(self, pair: Callable[..., Array], slopes: Callable[..., Any]) -> Callable[..., Any]:
        """A rule of two operands that are stretched to one shape."""
        def gathered(g: Array, like: Array) -> Array:
            shape = (1,) * (g.ndim - like.ndim) + like.shape
            axes = tuple(a for a in range(g.ndim) if shape[a] != g.shape[a])
            return (self.over(g, axes) if axes else g).reshape(like.shape)

        def rule(p: Any, a: Array, b: Array) -> Any:
            return pair(a, b), lambda g: [
                gathered((g * s).astype(g.dtype), of) for s, of in zip(slopes(a, b), (a, b), strict=True)
            ]

        return rule


def _moved(name: str) -> Callable[..., Any]:
    return lambda p, x: (x.reshape(shape_after(name, p, x)), lambda g: [g.reshape(x.shape)])


def _slice_axis(p: Any, x: Array) -> Any:
    where = (slice(None),) * (p.axis % x.ndim) + (slice(p.begin, p.end),)

    def pull(g: Array) -> list[Array]:
        slope = np.zeros_like(x)
        slope[where] = g
        return [slope]

    return x[where], pull


def _map(function: Callable[..., Array], *slopes: Callable[..., Any]) -> Callable[..., Any]:
    """A rule of ``function(p, *inputs)`` and a slope ``(p, output, *inputs)`` for each input."""
    def rule(p: Any, *inputs: Array) -> Any:
        out = function(p, *inputs)
        return out, lambda g: [(g * slope(p, out, *inputs)).astype(g.dtype) for slope in slopes]

    return rule


_ELEMENTWISE = {
    "elemwise_add": _map(lambda p, a, b: a + b, *(lambda p, y, a, b: 1.0,) * 2),
    "elemwise_sub": _map(lambda p, a, b: a - b, lambda p, y, a, b: 1.0, lambda p, y, a, b: -1.0),
    "elemwise_mul": _map(lambda p, a, b: a * b, lambda p, y, a, b: b, lambda p, y, a, b: a),
    "elemwise_div": _map(lambda p, a, b: a / b, lambda p, y, a, b: 1 / b, lambda p, y, a, b: -(a / b) / b),
    "negative": _map(lambda p, x: -x, lambda p, y, x: -1.0),
    "abs": _map(lambda p, x: abs(x), lambda p, y, x: np.sign(x)),
    "square": _map(lambda p, x: x * x, lambda p, y, x: 2 * x), "_copy": _map(lambda p, x: x, lambda p, y, x: 1.0),
    "_mul_scalar": _map(lambda p, x: x * np.float32(p.scalar), lambda p, y, x: np.float32(p.scalar)),
    "_plus_scalar": _map(lambda p, x: x + np.float32(p.scalar), lambda p, y, x: 1.0),
    "relu": _map(lambda p, x: np.maximum(x, 0), lambda p, y, x: np.where(x > 0, 1.0, 0.0)),
    "tanh": _map(lambda p, x: np.tanh(x), lambda p, y, x: 1 - y * y),
    "exp": _map(lambda p, x: np.exp(x), lambda p, y, x: y),
    "sigmoid": _map(lambda p, x: 1 / (1 + np.exp(-x)), lambda p, y, x: y * (1 - y)),
    "BlockGrad": lambda p, x: (x, None),
    "clip": _map(lambda p, x: np.clip(x, np.float32(p.a_min), np.float32(p.a_max)),
                 lambda p, y, x: (x >= np.float32(p.a_min)) & (x <= np.float32(p.a_max))),
}
STYLES = ("dyadic", "smooth", "normal", "tied", "wide", "onehot")


def variant(name: str) -> Any:
    """The backend that sums in the way ``name``, one of ``WAYS``."""
    return backend_of(Operators(WAYS[name]), f"NumPy, {name}")


def backend_of(operators: Operators, version: str) -> Any:
    """A backend of level 2 that follows some rules.

    Args:
        operators: the rules.
        version: how the backend describes itself.
    """
    def run(
        symbol: Symbol, args: Arrays, aux: Arrays, grads_in: Arrays, grad_req: dict[str, str], head_grads: Any,
        is_train: bool,
    ) -> Any:
        made: list[Any] = []
        with np.errstate(all="ignore"):
            for node in symbol.nodes:
                inputs = [made[number][0] for number, _ in node.inputs]
                made.append((args[node.name], None) if node.op == "null" else operators.rules[node.op](node.p, *inputs))
            outputs = [made[number][0] for number, _ in symbol.heads]
            if head_grads is None:
                return outputs, {}, aux
            slopes: dict[int, Any] = {}  # of what an output depends on; 0 times infinity would be no 0
            for (number, _), head in zip(symbol.heads, head_grads, strict=True):
                slopes[number] = slopes[number] + head if number in slopes else head
            for number, node in reversed(list(enumerate(symbol.nodes))):
                if node.op not in ("null", "BlockGrad") and number in slopes:
                    for (source, _), slope in zip(node.inputs, made[number][1](slopes[number]), strict=True):
                        slopes[source] = slopes[source] + slope if source in slopes else slope
        wanted = [(i, node.name) for i, node in enumerate(symbol.nodes) if node.name in grads_in]
        found = {name: slopes.get(i, np.zeros_like(args[name])) for i, name in wanted}
        return outputs, {n: grads_in[n] + g if grad_req[n] == "add" else g for n, g in found.items()}, aux

    return described(executor_backend(operators=operators.rules, styles=STYLES)(run), version)


sequential, backwards, pairwise, blocked, double = map(variant, WAYS)
backend = sequential
