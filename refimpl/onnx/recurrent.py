"""Fused RNNs and attention as nodes of ONNX graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels.foundation import get
from .building import Builder, NoForm, Rule, in_single, require_fixed

GATES = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn_tanh": (0,), "rnn_relu": (0,)}
"""ONNX's order of the gates, as places in MXNet's: LSTM i o f c of i f c o, GRU z r h of r z n."""


class _Parameters:
    """The one vector of parameters, cut in the order that [RNN/parameters] states."""

    def __init__(self, b: Builder, p: Any, name: str, inputs: int) -> None:
        self.b, self.p, self.name, self.place = b, p, name, 0
        self.gates, self.size = len(GATES[p.mode]), p.state_size
        self.ways = 2 if p.bidirectional else 1
        self.matrices = [
            [(self._matrix(inputs if layer == 0 else self.ways * self.size), self._matrix(self.size))
             for _ in range(self.ways)]
            for layer in range(p.num_layers)
        ]
        self.biases = [[(self._bias(), self._bias()) for _ in range(self.ways)] for _ in range(p.num_layers)]

    def _part(self, *shape: int) -> str:
        """The next numbers, with ONNX's order of gates."""
        count, b = math.prod(shape), self.b
        found = b.cut(self.name, 0, self.place, self.place + count)
        self.place += count
        order = GATES[self.p.mode]
        found = b.shaped(found, (self.gates, count // self.gates))
        if order != tuple(range(self.gates)):
            found = b.add("Gather", found, b.whole(*order), axis=0)
        return b.shaped(found, (1, *shape))

    def _matrix(self, columns: int) -> str:
        return self._part(self.gates * self.size, columns)

    def _bias(self) -> str:
        return self._part(self.gates * self.size)

    def layer(self, number: int) -> tuple[str, str, str]:
        """W, R and B of a layer, one row for each direction."""
        b = self.b
        weights = [self._joined([pair[which] for pair in self.matrices[number]]) for which in range(2)]
        biases = [b.add("Concat", *pair, axis=1) for pair in self.biases[number]]
        return weights[0], weights[1], self._joined(biases)

    def _joined(self, parts: list[str]) -> str:
        return parts[0] if len(parts) == 1 else self.b.add("Concat", *parts, axis=0)


def _options(p: Any, op: str, ways: int) -> dict[str, Any]:
    """The attributes of ONNX's recurrent operators."""
    options: dict[str, Any] = {"hidden_size": p.state_size}
    if ways == 2:
        options["direction"] = "bidirectional"
    if op == "GRU":
        options["linear_before_reset"] = 1
    if op == "RNN":
        options["activations"] = [{"rnn_tanh": "Tanh", "rnn_relu": "Relu"}[p.mode]] * ways
    return options


def _rnn(b: Builder, p: Any, s: Any, *inputs: str) -> list[str]:
    given = dict(zip(get("RNN").input_names(p), inputs, strict=True))
    if p.projection_size is not None:
        raise NoForm("RNN with projection_size")
    if p.lstm_state_clip_min is not None or p.lstm_state_clip_max is not None:
        raise NoForm("RNN with lstm_state_clip_min and lstm_state_clip_max, because ONNX clips before the gates,")
    times, batch, width = s[0]
    cut = _Parameters(b, p, given["parameters"], int(width))
    lengths = ""
    if p.use_sequence_length:
        lengths = b.add("Min", b.cast(given["sequence_length"], np.int32), b.constant(int(times), np.int32))
        empty = b.add("Unsqueeze", b.add("LessOrEqual", lengths, b.constant(0, np.int32)), b.whole(0, 2))
    x, lasts = given["data"], []
    op, ways = {"lstm": "LSTM", "gru": "GRU"}.get(p.mode, "RNN"), cut.ways
    options = _options(p, op, ways)
    for layer in range(p.num_layers):
        weight, recurrent, bias = cut.layer(layer)
        rows = slice(layer * ways, (layer + 1) * ways)
        states = [
            given[name] if p.num_layers == 1 else b.cut(given[name], 0, rows.start, rows.stop)
            for name in ("state", "state_cell") if name in given
        ]
        out, *last = b.several(op, 3 if op == "LSTM" else 2, x, weight, recurrent, bias, lengths, *states, **options)
        if lengths:  # ONNX Runtime gives zeros as the last state of a row without times
            last = [b.add("Where", empty, first, one) for first, one in zip(states, last, strict=True)]
        lasts.append(last)
        x = b.add("Transpose", out, perm=[0, 2, 1, 3])
        x = b.shaped(x, (times, batch, ways * p.state_size))
    if not p.state_outputs:
        return [x]
    whole = [one[0] if p.num_layers == 1 else b.add("Concat", *one, axis=0) for one in zip(*lasts, strict=True)]
    return [x, *whole]


# --- attention ----------------------------------------------------------------------------------------
# An array is (times, batch, heads * parts * size); scores are (batch * heads, query times, key times).


def _part(b: Builder, p: Any, shape: Any, x: str, parts: int, which: int, *, turned: bool = False) -> str:
    """One part of every head: (batch, heads, times, size), or with times last."""
    times, batch, wide = shape
    size = wide // (p.heads * parts)
    split = b.shaped(x, (times, batch, p.heads, parts, size))
    one = b.add("Gather", split, b.constant(which, np.int64), axis=3)
    return b.add("Transpose", one, perm=[1, 2, 3, 0] if turned else [1, 2, 0, 3])


def _scores(b: Builder, p: Any, query: str, key: str, size: int) -> str:
    found = b.add("MatMul", query, key)
    return b.shaped(b.add("Div", found, b.constant(math.sqrt(size))), b.outs[0])


def _self_scores(b: Builder, p: Any, s: Any, qkv: str) -> str:
    size = int(s[0][2]) // (3 * p.heads)
    return _scores(b, p, _part(b, p, s[0], qkv, 3, 0), _part(b, p, s[0], qkv, 3, 1, turned=True), size)


def _scores_between(b: Builder, p: Any, s: Any, queries: str, kv: str) -> str:
    size = int(s[0][2]) // p.heads
    return _scores(b, p, _part(b, p, s[0], queries, 1, 0), _part(b, p, s[1], kv, 2, 0, turned=True), size)


def _values(parts: int) -> Rule:
    def rule(b: Builder, p: Any, s: Any, x: str, attention: str) -> str:
        _, batch, _ = s[0]
        weights = b.shaped(attention, (batch, p.heads, *s[1][1:]))
        found = b.add("MatMul", weights, _part(b, p, s[0], x, parts, parts - 1))
        return b.shaped(b.add("Transpose", found, perm=[2, 0, 1, 3]), b.outs[0])

    return rule


# --- sampling -----------------------------------------------------------------------------------------


def _sampled(b: Builder, x: str, grid: str) -> str:
    """An image at the places of a grid (batch, 2, high, wide)."""
    mode = "linear" if b.opset >= 20 else "bilinear"
    places = b.add("Transpose", grid, perm=[0, 2, 3, 1])
    return b.add("GridSample", x, places, mode=mode, padding_mode="zeros", align_corners=1)


def _affine_grid(b: Builder, loc: str, batch: int, target: tuple[int, int]) -> str:
    high, wide = target
    y, x = np.meshgrid(_ticks(high), _ticks(wide), indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), np.ones(high * wide)])
    moved = b.add("MatMul", b.shaped(loc, (batch, 2, 3)), b.constant(points))
    return b.shaped(moved, (batch, 2, high, wide))


def _ticks(count: int) -> np.ndarray:
    return np.array([-1.0]) if count == 1 else -1 + 2 * np.arange(count) / (count - 1)


def _grid(b: Builder, p: Any, s: Any, x: str) -> str:
    if p.transform_type == "affine":
        return _affine_grid(b, x, s[0][0], p.target_shape)
    require_fixed(s[0][2:], "GridGenerator")
    high, wide = (int(side) for side in s[0][2:])
    y, across = np.meshgrid(np.arange(high), np.arange(wide), indexing="ij")
    steps = np.array([2 / max(wide - 1, 1), 2 / max(high - 1, 1)]).reshape((2, 1, 1))
    moved = b.add("Add", x, b.constant(np.stack([across, y])))
    return b.add("Sub", b.add("Mul", moved, b.constant(steps)), b.constant(1))


def _transformed(b: Builder, p: Any, s: Any, x: str, loc: str) -> str:
    return _sampled(b, x, _affine_grid(b, loc, s[1][0], p.target_shape))


RULES: dict[str, Rule] = {
    "RNN": _rnn, "_contrib_interleaved_matmul_selfatt_qk": _self_scores,
    "_contrib_interleaved_matmul_selfatt_valatt": _values(3),
    "_contrib_interleaved_matmul_encdec_qk": _scores_between, "_contrib_interleaved_matmul_encdec_valatt": _values(2),
    "BilinearSampler": lambda b, p, s, x, grid: _sampled(b, x, grid), "GridGenerator": in_single(_grid),
    "SpatialTransformer": in_single(_transformed),
}
