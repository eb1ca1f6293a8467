"""_contrib_quantized_act, _contrib_quantized_flatten, _contrib_quantized_concat, _contrib_quantized_embedding: choosing
and arranging quantized numbers, with the range that they stand for.

[quantized_layout/range] the range of data goes through unchanged, except that of a concatenation.

[_contrib_quantized_act/value] int8 data with negative numbers made 0. uint8 data has none; its bits are read as int8,
    so 200 comes out as -56.
    >>> run("_contrib_quantized_act", np.int8([-3, 0, 5]), [-1], [1], act_type="relu")
    ([0.0, 0.0, 5.0], [-1.0], [1.0])
    >>> run("_contrib_quantized_act", np.uint8([100, 200]), [-1.0], [1.0], act_type="relu")
    ([100.0, -56.0], [-1.0], [1.0])

[_contrib_quantized_act/relu] act_type is relu, no other.

[_contrib_quantized_flatten/value] every axis but the first is folded into one; one that is not there has side 1.
    >>> run("_contrib_quantized_flatten", np.int8([[[1, 2], [3, 4]]]), [-1], [1])
    ([[1.0, 2.0, 3.0, 4.0]], [-1.0], [1.0])

[_contrib_quantized_concat/value] num_args arrays along axis dim, as Concat does, and then the least and the largest end
    of each. The result is int8 where one of them is, else uint8; its range reaches from the least to the largest of
    all ends and 0. Each element times (s / R) / (t / Q) is rounded, halves to even, and kept inside the type: s and R
    are the steps (127.5 or 255.5) and the larger absolute end of the result, t and Q those of the piece.
    >>> run("_contrib_quantized_concat", np.int8([[100]]), np.uint8([[200]]),
    ...     [-2.0], [1.0], [-1.0], [1.0], num_args=2)
    ([[100.0, 50.0]], [-2.0], [1.0])

[_contrib_quantized_embedding/value] row data of the int8 weight, as Embedding does.
    >>> run("_contrib_quantized_embedding", [1, -1, 9], np.int8([[1, 2], [3, 4]]), [-1], [2],
    ...     input_dim=2, output_dim=2)
    ([[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]], [-1.0], [2.0])

[quantized_layout/shape] outputs have the shapes that are inferred from the inputs, ends of ranges (1,).

[quantized_layout/types] data is int8 or uint8, the embedding's weight int8; ends of ranges are float32.

[_contrib_quantized_act/gradient] there is none, as in MXNet; for the other three it is zero.
"""

from dataclasses import dataclass
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from . import concat, embedding
from .foundation import UNKNOWN, Case, Count, Loop, Op, Sources, items, known, merge, register, require
from .foundation.loops import COPY
from .shared.boxes import nothing
from .shared.quantized import BYTE, BYTES, SINGLE, STEPS, TO, kept, ranges, reach, typed, types

SHAPE, TYPES = "quantized_layout/shape", "quantized_layout/types"
RANGE = ("min_data", "max_data")
OUTPUTS = ("output", "min_output", "max_output")


class ActParams(NamedTuple):
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"]


class ConcatParams(NamedTuple):
    num_args: Count
    dim: int = 1


def infer_act(p, ins, outs):
    require(
        "_contrib_quantized_act/relu", p.act_type == "relu",
        f"_contrib_quantized_act only supports act_type=relu, not {p.act_type}; dequantize the data first",
    )
    data = merge(SHAPE, "data", ins[0], outs[0])
    return [data, *ranges(SHAPE, ins[1:])], [data, *ranges(SHAPE, outs[1:])]


def infer_flatten(p, ins, outs):
    data, out = ins[0], outs[0]
    if data is not None:
        require(SHAPE, len(data) >= 1, "data must have at least one axis")
        out = merge(SHAPE, "output", out, (data[0], prod(data[1:]) if known(data[1:]) else UNKNOWN))
    return [data, *ranges(SHAPE, ins[1:])], [out, *ranges(SHAPE, outs[1:])]


def infer_concat(p, ins, outs):
    pieces, whole = concat.infer(p, ins[: p.num_args], outs[:1])
    return [*pieces, *ranges(SHAPE, ins[p.num_args :])], [*whole, *ranges(SHAPE, outs[1:])]


def infer_embedding(p, ins, outs):
    (data, weight), rows = embedding.infer(p, ins[:2], outs[:1])
    return [data, weight, *ranges(SHAPE, ins[2:])], [*rows, *ranges(SHAPE, outs[1:])]


def type_concat(p, ins, outs):
    n = p.num_args
    pieces = typed(TYPES, [BYTES] * n, ins[:n])
    whole = outs[0]
    if BYTE in pieces:
        (whole,) = typed(TYPES, [(BYTE,)], outs[:1])
    elif None not in pieces:
        (whole,) = typed(TYPES, [(pieces[0],)], outs[:1])
    singles = typed(TYPES, [(SINGLE,)] * (2 * n + 2), [*ins[n:], *outs[1:]])
    return [*pieces, *singles[: 2 * n]], [whole, *singles[2 * n :]]


def type_embedding(p, ins, outs):
    weight, *ends = typed(TYPES, [(BYTE,), (SINGLE,), (SINGLE,)], ins[1:])
    return [ins[0], weight, *ends], typed(TYPES, [(BYTE,), (SINGLE,), (SINGLE,)], outs)


# --- loops ----------------------------------------------------------------------------------------


def rectify(data, out, unsigned, n):
    for i in items(n):
        value = np.int64(data[i])
        if unsigned:
            out[i] = value if value < 128 else value - 256
        else:
            out[i] = max(value, 0)


def widen(low, high, out_low, out_high, first):
    """Take one more range in; the first joins 0."""
    for _ in items(1):
        least = np.float32(0) if first else out_low[0]
        largest = np.float32(0) if first else out_high[0]
        out_low[0] = low[0] if low[0] < least else least
        out_high[0] = high[0] if high[0] > largest else largest


class Place(NamedTuple):
    """Where the runs of a piece begin in those of the result, and how many steps the types of both have."""

    start: int
    steps: np.float32
    out_steps: np.float32


def rescale(data, low, high, out_low, out_high, out, g: Place):
    """out[r, start + i] = data[r, i] (s / R) / (t / Q), rounded; see [_contrib_quantized_concat/value]."""
    scale = (g.out_steps / reach(out_low[0], out_high[0])) / (g.steps / reach(low[0], high[0]))
    for r, i in items(data.shape):
        out[r, g.start + i] = formula(np.float32(data[r, i]) * scale)  # noqa: F821  # bound by Loop


RECTIFY, WIDEN = Loop(rectify), Loop(widen)
RESCALE = {kind: Loop(rescale, formula=TO[kind]) for kind in BYTES}


# --- the operators --------------------------------------------------------------------------------


def copy_range(low, high, out_low, out_high):
    COPY(low, out_low, 1)
    COPY(high, out_high, 1)


def forward_act(p, data, low, high, out, out_low, out_high):
    RECTIFY(data, out, data.dtype != BYTE, data.size)
    copy_range(low, high, out_low, out_high)


def forward_flatten(p, data, low, high, out, out_low, out_high):
    COPY(data, out, data.size)
    copy_range(low, high, out_low, out_high)


def forward_concat(p, arrays, out, out_low, out_high):
    n = p.num_args
    pieces, lows, highs = arrays[:n], arrays[n::2], arrays[n + 1 :: 2]
    for k in range(n):
        WIDEN(lows[k], highs[k], out_low, out_high, k == 0)
    axis = p.dim % len(out.shape)
    runs, start = prod(out.shape[:axis]), 0
    whole = out.reshape((runs, prod(out.shape[axis:])))
    for piece, low, high in zip(pieces, lows, highs, strict=True):
        run = prod(piece.shape[axis:])
        place = Place(start, STEPS[piece.dtype], STEPS[out.dtype])
        RESCALE[out.dtype](piece.reshape((runs, run)), low, high, out_low, out_high, whole, place)
        start += run


def forward_embedding(p, data, weight, low, high, out, out_low, out_high):
    embedding.forward(p, data, weight, out)
    copy_range(low, high, out_low, out_high)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranged(Op):
    """An operator on num_args arrays, which are followed by two inputs for the range of each."""

    def input_names(self, p):
        """Names of the arrays, then arg0_min, arg0_max and so on."""
        arrays = [f"arg{k}" for k in range(p.num_args)]
        return (*arrays, *[f"{name}_{end}" for name in arrays for end in ("min", "max")])


def byte(draw):
    """An element type, and the values that it can hold."""
    kind = draw.choice(("int8", "uint8"))
    return kind, ("ints", -128, 127) if kind == "int8" else ("ints", 0, 255)


def cases_act(draw):
    kind, values = byte(draw)
    return Case({"act_type": "relu"}, {"data": draw.shape(1, 3)}, {"data": values}, {"data": kind})


def cases_flatten(draw):
    kind, values = byte(draw)
    return Case({}, {"data": draw.shape(1, 4)}, {"data": values}, {"data": kind})


def cases_concat(draw):
    case = concat.cases(draw)
    pieces = case.shapes["args"]
    kinds, values = {}, {}
    for k in range(len(pieces)):
        kinds[f"arg{k}"], values[f"arg{k}"] = byte(draw)
        values |= {f"arg{k}_min": "any", f"arg{k}_max": "positive"}
    return Case(case.params, {"args": [*pieces, *[(1,)] * (2 * len(pieces))]}, values, kinds)


def cases_embedding(draw):
    case = embedding.cases(draw)
    return case._replace(values={**case.values, "weight": ("ints", -128, 127)}, types={"weight": "int8"})


register(Op(
    name="_contrib_quantized_act", doc=__doc__, params=ActParams, inputs=("data", *RANGE), outputs=OUTPUTS,
    infer=infer_act, infer_type=types(TYPES, [BYTES, (SINGLE,), (SINGLE,)], [(BYTE,), (SINGLE,), (SINGLE,)]),
    forward=forward_act, no_gradient_clause="_contrib_quantized_act/gradient", cases=cases_act,
    refusals={
        "_contrib_quantized_act/relu": {"params": {"act_type": "tanh"}, "shapes": {"data": (2,)}},
        SHAPE: {"params": {"act_type": "relu"}, "shapes": {"data": (2,), "min_data": (2,)}},
        TYPES: {"params": {"act_type": "relu"}, "shapes": {"data": (2,)}, "dtypes": {"data": "int32"}},
    },
    tier=3, reports=Sources(1, whole=True),
))
register(Op(
    name="_contrib_quantized_flatten", doc=__doc__, inputs=("data", *RANGE), outputs=OUTPUTS, infer=infer_flatten,
    infer_type=kept(TYPES), forward=forward_flatten, gradient=nothing, differentiable=False,
    cases=cases_flatten,
    refusals={SHAPE: {"shapes": {"data": (2, 3), "output": (3, 2)}}},
    tier=3, reports=Sources(1, whole=True),
))
register(Ranged(
    name="_contrib_quantized_concat", doc=__doc__, params=ConcatParams, variadic="num_args", outputs=OUTPUTS,
    infer=infer_concat, infer_type=type_concat, forward=forward_concat, gradient=nothing, differentiable=False,
    cases=cases_concat,
    tier=3,
    runs_alone={"widen": "the two ends of a range"},
))
register(Op(
    name="_contrib_quantized_embedding", doc=__doc__, params=embedding.Params,
    inputs=("data", "weight", "min_weight", "max_weight"), outputs=OUTPUTS, infer=infer_embedding,
    infer_type=type_embedding, forward=forward_embedding, gradient=nothing, differentiable=False,
    cases=cases_embedding,
    tier=3, reports=Sources(1),
))
