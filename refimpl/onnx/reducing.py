"""Reductions, orders and selections by index, as nodes of ONNX graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import decides
from ..kernels.reduce import reduced_axes
from .building import Builder, NoForm, Rule, in_single, product, require_fixed

REDUCTIONS = {
    "sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin", "prod": "ReduceProd",
    "_square_sum": "ReduceSumSquare",
}


def over(b: Builder, op: str, x: str, axes: Sequence[int], rank: int) -> str:
    """A reduction over axes, which may be none; the axes stay, with side 1."""
    if axes:
        return b.reduced(op, x, axes, keepdims=True)
    return b.reduced(op, b.add("Unsqueeze", x, b.whole(rank)), [rank])


def _reduction(op: str) -> Rule:
    def rule(b: Builder, p: Any, s: Any, x: str) -> str:
        return b.shaped(over(b, op, x, reduced_axes(p, len(s[0])), len(s[0])), b.outs[0])

    return rule


def _without_nan(op: str, value: int) -> Rule:
    def rule(b: Builder, p: Any, s: Any, x: str) -> str:
        x = b.add("Where", b.add("IsNaN", x), b.constant(value), x)
        return b.shaped(over(b, op, x, reduced_axes(p, len(s[0])), len(s[0])), b.outs[0])

    return rule


def _norm(b: Builder, p: Any, s: Any, x: str) -> str:
    if p.out_dtype is not None:
        x = b.cast(x, b.dtype)
    axes = reduced_axes(p, len(s[0]))
    return b.shaped(over(b, "ReduceL1" if p.ord == 1 else "ReduceL2", x, axes, len(s[0])), b.outs[0])


def _moments(b: Builder, p: Any, s: Any, x: str) -> list[str]:
    if b.sources[0].kind != "f":
        raise NoForm("moments of whole numbers, whose mean is cut only where it is given out,")
    rank = len(s[0])
    axes = [a % rank for a in p.axes] if p.axes else list(range(rank))
    mean = b.reduced("ReduceMean", x, axes, keepdims=True)
    apart = b.add("Sub", x, mean)
    variance = b.reduced("ReduceMean", b.add("Mul", apart, apart), axes, keepdims=True)
    return [b.shaped(mean, b.outs[0]), b.shaped(variance, b.outs[1])]


def _l2(b: Builder, p: Any, s: Any, x: str) -> str:
    rank = len(s[0])
    axes = {"instance": range(1, rank), "channel": range(1, 2), "spatial": range(2, rank)}[p.mode]
    total = over(b, "ReduceSumSquare", x, list(axes), rank)
    if not axes:
        total = b.shaped(total, tuple(s[0]))
    return b.add("Div", x, b.add("Sqrt", b.add("Add", total, b.constant(p.eps))))


def _softmax(op: str, *, negate: bool = False) -> Rule:
    def rule(b: Builder, p: Any, s: Any, x: str, *length: str) -> str:
        kind = b.sources[0]
        if b.dtype.itemsize > kind.itemsize:
            x, kind = b.cast(x, b.dtype), b.dtype
        x = b.add("Neg", x) if negate else x
        x = b.add("Div", x, b.constant(p.temperature, kind)) if p.temperature else x
        if length:
            axis = p.axis % len(s[0])
            counts = _counts(b, s, axis, length[0])
            low = b.constant(-np.inf, kind)
            x = b.add("Softmax", b.add("Where", counts, x, low), axis=axis)
            x = b.add("Where", counts, x, b.constant(0, kind))
        else:
            x = b.add(op, x, axis=p.axis)
        return x if kind == b.dtype else b.cast(x, b.dtype)

    return rule


def _counts(b: Builder, s: Any, axis: int, length: str) -> str:
    """Whether an index along ``axis`` is below the length."""
    require_fixed((s[0][axis],), "softmax with lengths")
    ends = b.cast(length, np.int64)
    if len(s[0]) > 1:  # else the length is a vector of one number already
        ends = b.add("Unsqueeze", ends, b.whole(axis))
    indices = np.arange(int(s[0][axis])).reshape((-1, *(1,) * (len(s[0]) - axis - 1)))
    return b.add("Less", b.constant(indices, np.int64), ends)


# --- orders -------------------------------------------------------------------------------------------


def _arg(op: str) -> Rule:
    def rule(b: Builder, p: Any, s: Any, x: str) -> str:
        axis = getattr(p, "axis", 1)
        if axis is None:
            x, axis = b.shaped(x, (product(s[0]),)), 0
        return b.shaped(b.cast(b.add(op, x, axis=axis, keepdims=0), b.dtype), b.outs[0])

    return rule


def _row(b: Builder, p: Any, s: Any, x: str) -> tuple[str, int, int]:
    """An array that is put in order along an axis: its name, the axis and its side."""
    if p.axis is None:
        require_fixed(s[0], "an order of all elements")
        return b.shaped(x, (product(s[0]),)), 0, product(s[0])
    require_fixed((s[0][p.axis],), "an order")
    return x, p.axis % len(s[0]), int(s[0][p.axis])


def ordered(b: Builder, x: str, axis: int, count: int, *, largest: bool = True) -> list[str]:
    """The first ``count`` elements along an axis, and their indices as int64; of equal ones the lower index first."""
    return b.several("TopK", 2, x, b.whole(count), axis=axis, largest=int(largest), sorted=1)


def _sort(b: Builder, p: Any, s: Any, x: str) -> str:
    along, axis, side = _row(b, p, s, x)
    return ordered(b, along, axis, side, largest=not p.is_ascend)[0]


def _argsort(b: Builder, p: Any, s: Any, x: str) -> str:
    along, axis, side = _row(b, p, s, x)
    return b.cast(ordered(b, along, axis, side, largest=not p.is_ascend)[1], b.dtype)


def _topk(b: Builder, p: Any, s: Any, x: str) -> str | list[str]:
    along, axis, side = _row(b, p, s, x)
    values, indices = ordered(b, along, axis, p.k if p.k > 0 else side, largest=not p.is_ascend)
    if p.ret_typ == "value":
        return values
    if p.ret_typ == "mask":
        zeros = b.add("Mul", along, b.constant(0))
        ones = b.add("Expand", b.constant(1), b.add("Shape", indices))
        return b.shaped(b.add("ScatterElements", zeros, indices, ones, axis=axis), b.outs[0])
    return b.cast(indices, b.dtype) if p.ret_typ == "indices" else [values, b.cast(indices, b.types[1])]


def _cumsum(b: Builder, p: Any, s: Any, x: str) -> str:
    x = x if b.sources[0] == b.dtype else b.cast(x, b.dtype)
    return b.add("CumSum", b.shaped(x, b.outs[0]) if p.axis is None else x, b.constant(p.axis or 0, np.int64))


# --- selections ---------------------------------------------------------------------------------------


@decides("Onnx/indices")
def places(b: Builder, indices: str, side: int, mode: str, kind: np.dtype) -> str:
    """Indices as whole numbers inside 0 .. side - 1: the nearest (clip), modulo the side (wrap), or as they are."""
    if mode == "clip" and kind.kind == "f":  # before the cast, for numbers that no int64 holds
        indices = b.add("Min", b.add("Max", indices, b.constant(0, kind)), b.constant(side - 1, kind))
    whole = b.cast(indices, np.int64)
    if mode == "clip":
        return b.add("Min", b.add("Max", whole, b.constant(0, np.int64)), b.constant(side - 1, np.int64))
    return b.add("Mod", whole, b.constant(side, np.int64)) if mode == "wrap" else whole


def _take(b: Builder, p: Any, s: Any, x: str, indices: str) -> str:
    require_fixed((s[0][p.axis],), "take")
    return b.add("Gather", x, places(b, indices, int(s[0][p.axis]), p.mode, b.sources[1]), axis=p.axis)


def _embedding(b: Builder, p: Any, s: Any, data: str, weight: str) -> str:
    return b.add("Gather", weight, places(b, data, p.input_dim, "clip", b.sources[0]), axis=0)


def _pick(b: Builder, p: Any, s: Any, x: str, index: str) -> str:
    if p.axis is None:
        x, shape = b.shaped(x, (product(s[0]),)), (product(s[0]),)
    else:
        shape = tuple(s[0])
    axis = (-1 if p.axis is None else p.axis) % len(shape)
    require_fixed((shape[axis],), "pick")
    kept = tuple(1 if a == axis else side for a, side in enumerate(shape))
    rows = b.shaped(places(b, index, int(shape[axis]), p.mode, b.sources[1]), kept)
    return b.shaped(b.add("GatherElements", x, rows, axis=axis), b.outs[0])


def _batch_take(b: Builder, p: Any, s: Any, x: str, index: str) -> str:
    rows = product(s[0][:-1])
    chosen = b.shaped(places(b, index, int(s[0][-1]), "clip", b.sources[1]), (rows, 1))
    return b.shaped(b.add("GatherElements", b.shaped(x, (rows, s[0][-1])), chosen, axis=1), b.outs[0])


def _one_hot(b: Builder, p: Any, s: Any, indices: str) -> str:
    row = b.add("Unsqueeze", b.cast(indices, np.int64), b.whole(len(s[0])))
    same = b.add("Equal", row, b.constant(np.arange(p.depth), np.int64))
    return b.add("Where", same, b.constant(p.on_value), b.constant(p.off_value))


def _gather_nd(b: Builder, p: Any, s: Any, x: str, indices: str) -> str:
    order = [*range(1, len(s[1])), 0]
    return b.add("GatherND", x, b.add("Transpose", b.cast(indices, np.int64), perm=order))


# --- sequences ----------------------------------------------------------------------------------------


def _ends(b: Builder, s: Any, length: str, side: int, least: int = 0) -> str:
    """Lengths as whole numbers from ``least`` to the side."""
    whole = b.cast(b.add("Floor", length) if b.sources[1].kind == "f" else length, np.int64)
    return b.add("Min", b.add("Max", whole, b.constant(least, np.int64)), b.constant(side, np.int64))


def _mask(b: Builder, p: Any, s: Any, x: str, *length: str) -> str:
    if not length:
        return b.add("Identity", x)
    shape, axis = tuple(s[0]), p.axis
    require_fixed((shape[axis],), "SequenceMask along the batch")
    times = b.constant(np.arange(int(shape[axis])).reshape((-1, 1) if axis == 0 else (1, -1)), np.int64)
    ends = b.add("Unsqueeze", _ends(b, s, length[0], int(shape[axis])), b.whole(axis))
    inside = b.add("Less", times, ends)
    if len(shape) > 2:
        inside = b.add("Unsqueeze", inside, b.whole(*range(2, len(shape))))
    return b.add("Where", inside, x, b.constant(p.value))


def _last(b: Builder, p: Any, s: Any, x: str, *length: str) -> str:
    shape, axis = tuple(s[0]), p.axis
    require_fixed((shape[axis],), "SequenceLast along the batch")
    side = int(shape[axis])
    if not length:
        return b.shaped(b.cut(x, axis, side - 1, side), b.outs[0])
    row = b.add("Sub", _ends(b, s, length[0], side, 1), b.constant(1, np.int64))
    row = b.add("Unsqueeze", row, b.whole(axis, *range(2, len(shape))))
    kept = tuple(1 if a == axis else sides for a, sides in enumerate(shape))
    return b.shaped(b.add("GatherElements", x, b.add("Expand", row, b.sizes(kept)), axis=axis), b.outs[0])


def _backwards(b: Builder, p: Any, s: Any, x: str, *length: str) -> str:
    if not length:
        return b.add("Slice", x, b.whole(-1), b.whole(np.iinfo(np.int64).min), b.whole(0), b.whole(-1))
    if p.axis != 0:
        raise NoForm("SequenceReverse along another axis than the first")
    require_fixed((s[0][0],), "SequenceReverse along the batch")
    ends = _ends(b, s, length[0], int(s[0][0]), 1)
    return b.add("ReverseSequence", x, ends, time_axis=0, batch_axis=1)


def _multinomial(b: Builder, p: Any, s: Any, x: str) -> str | list[str]:
    if p.get_prob:
        raise NoForm("_sample_multinomial with get_prob")
    count = product(p.shape) if p.shape else 1
    rows = b.shaped(x, (product(s[0][:-1]), s[0][-1]))
    found = b.add("Multinomial", b.add("Log", rows), sample_size=int(count))  # int32
    return b.cast(b.shaped(found, b.outs[0]), b.dtype)


RULES: dict[str, Rule] = {
    **{name: _reduction(op) for name, op in REDUCTIONS.items()}, "nansum": _without_nan("ReduceSum", 0),
    "nanprod": _without_nan("ReduceProd", 1), "norm": _norm, "moments": in_single(_moments),
    "L2Normalization": in_single(_l2),
    "softmax": _softmax("Softmax"), "log_softmax": _softmax("LogSoftmax"),
    "softmin": _softmax("Softmax", negate=True), "argmax": _arg("ArgMax"), "argmin": _arg("ArgMin"),
    "argmax_channel": _arg("ArgMax"), "sort": _sort, "argsort": _argsort, "topk": _topk, "_np_cumsum": _cumsum,
    "take": _take, "Embedding": _embedding, "_contrib_SparseEmbedding": _embedding, "pick": _pick,
    "batch_take": _batch_take, "one_hot": _one_hot, "gather_nd": _gather_nd, "SequenceMask": _mask,
    "SequenceLast": _last, "SequenceReverse": _backwards, "_sample_multinomial": _multinomial,
}
