"""_contrib_interleaved_matmul_*: the products of attention with many heads, over arrays that hold queries, keys and
values side by side.

An array is (times, batch, heads * parts * size): at each time, head after head, the parts one after another. Scores and
attention are (batch * heads, query times, key times), the heads of one batch row together.

[interleaved_matmul/selfatt-qk] parts are query, key, value; score[i, j] = query[i] . key[j] / sqrt(size).
    >>> run("_contrib_interleaved_matmul_selfatt_qk", [[[1, 10, 0]], [[2, 20, 0]]], heads=1)
    [[[10.0, 20.0], [20.0, 40.0]]]
    >>> run("_contrib_interleaved_matmul_selfatt_qk", [[[1, 2, 0, 1, 0, 3, 5, 7, 8, 8, 2, 2]]], heads=1)
    [[[6.5]]]

[interleaved_matmul/selfatt-valatt] out[i] = the sum over j of attention[i, j] value[j], (times, batch, heads * size).
    >>> run("_contrib_interleaved_matmul_selfatt_valatt", [[[0, 0, 3]], [[0, 0, 4]]], [[[1, 0], [2, 10]]], heads=1)
    [[[3.0]], [[46.0]]]

[interleaved_matmul/encdec-qk] queries have one part, keys_values two, key and value.
    >>> run("_contrib_interleaved_matmul_encdec_qk", [[[1]], [[2]]], [[[10, 0]], [[20, 0]], [[30, 0]]], heads=1)
    [[[10.0, 20.0, 30.0], [20.0, 40.0, 60.0]]]

[interleaved_matmul/encdec-valatt] out[i] = the sum over j of attention[i, j] value[j].
    >>> run("_contrib_interleaved_matmul_encdec_valatt", [[[0, 3]], [[0, 4]]], [[[2, 10]]], heads=1)
    [[[46.0]]]

[interleaved_matmul/shape] arrays have three axes; times, batch and sizes agree, and unknown ones are inferred.

[interleaved_matmul/heads] the last axis divides into heads times parts.

[interleaved_matmul/sum-order] products are added in increasing index (a tuned twin fuses product and sum); scores are
    divided last.

[interleaved_matmul/types] all arrays have one type, single or double precision.
    >>> run("_contrib_interleaved_matmul_encdec_qk", [[[1 / 3]]], [[[1, 0]]], heads=1, dtype="float64")
    [[[0.333333]]]

[interleaved_matmul/gradient] of each product towards both factors; parts that it does not read have gradient 0.
    >>> name = "_contrib_interleaved_matmul_selfatt_qk"
    >>> grad(name, [[[1, 10, 0]], [[2, 20, 0]]], heads=1, head=[[[1, 0], [0, 2]]])
    [[[10.0, 1.0, 0.0]], [[40.0, 4.0, 0.0]]]
    >>> grad("_contrib_interleaved_matmul_encdec_valatt", [[[0, 3]], [[0, 4]]], [[[2, 10]]], heads=1)
    ([[[0.0, 2.0]], [[0.0, 10.0]]], [[[3.0, 4.0]]])
"""

from math import sqrt
from typing import Annotated, NamedTuple

from .foundation import UNKNOWN, AtLeast, Buffer, Case, Loop, Op, items, merge, register, require, scratch, told
from .foundation.facts import Sources
from .foundation.loops import BLOCKS, zero
from .shared.products import PRODUCT, Product


class Params(NamedTuple):
    heads: Annotated[int, AtLeast(1)]


# --- shapes -------------------------------------------------------------------------------------


def size_of(p, shape, parts):
    """Numbers in one part of one head."""
    last = shape[2]
    require(
        "interleaved_matmul/heads", last % (p.heads * parts) == 0,
        f"a last axis of {last} cannot be cut into {parts} parts for each of {p.heads} heads",
    )
    return last // (p.heads * parts)


def joined(p, arrays, scores):
    """Known (query times, key times, batch, size) of ``arrays`` (name, shape, parts, axis of times), and scores."""
    times, batch, size = (UNKNOWN, UNKNOWN), (UNKNOWN,), (UNKNOWN,)
    for name, given, parts, places in arrays:
        shape = merge("interleaved_matmul/shape", name, given, (UNKNOWN,) * 3)
        clause = "interleaved_matmul/shape"
        batch = merge(clause, f"batch of {name}", (shape[1],), batch)
        size = merge(clause, f"size of {name}", (size_of(p, shape, parts),), size)
        times = merge(clause, f"times of {name}", tuple(shape[0] if here else UNKNOWN for here in places), times)
    scores = merge("interleaved_matmul/shape", "scores", scores, (batch[0] * p.heads, *times))
    if told(scores[0]) and not told(batch[0]):
        require(
            "interleaved_matmul/heads", scores[0] % p.heads == 0,
            f"{scores[0]} score matrices cannot be shared by {p.heads} heads",
        )
        batch = (scores[0] // p.heads,)
    return scores[1], scores[2], batch[0], size[0], (batch[0] * p.heads, *scores[1:])


def merged(p, arrays, scores):
    """Shapes of arrays, each (name, shape, parts, (is it long as queries, as keys)), and of scores."""
    while True:
        queries, keys, batch, size, found = joined(p, arrays, scores)
        shapes = [
            (queries if places[0] else keys, batch, p.heads * parts * size) for _, _, parts, places in arrays
        ]
        if shapes == [shape for _, shape, _, _ in arrays] and found == scores:
            return shapes, found
        arrays = [(n, new, parts, places) for (n, _, parts, places), new in zip(arrays, shapes, strict=True)]
        scores = found


BOTH, QUERIES, KEYS = (True, True), (True, False), (False, True)


def infer_self_scores(p, ins, outs):
    (qkv,), scores = merged(p, [("queries_keys_values", ins[0], 3, BOTH)], outs[0])
    return [qkv], [scores]


def infer_self_values(p, ins, outs):
    arrays = [("queries_keys_values", ins[0], 3, BOTH), ("output", outs[0], 1, BOTH)]
    (qkv, out), scores = merged(p, arrays, ins[1])
    return [qkv, scores], [out]


def infer_scores(p, ins, outs):
    arrays = [("queries", ins[0], 1, QUERIES), ("keys_values", ins[1], 2, KEYS)]
    shapes, scores = merged(p, arrays, outs[0])
    return shapes, [scores]


def infer_values(p, ins, outs):
    arrays = [("keys_values", ins[0], 2, KEYS), ("output", outs[0], 1, QUERIES)]
    (kv, out), scores = merged(p, arrays, ins[1])
    return [kv, scores], [out]


# --- loops --------------------------------------------------------------------------------------


def divide(out, n, by):
    for i in items(n):
        out[i] /= by


DIVIDE = Loop(divide)


# --- the operators ------------------------------------------------------------------------------


class Matrix(NamedTuple):
    """Part of an array, read as a matrix: element (i, j) lies at start + i * row_step + j * column_step."""

    buffer: Buffer
    start: int
    rows: int
    columns: int
    row_step: int
    column_step: int

    @property
    def transposed(self):
        return Matrix(self.buffer, self.start, self.columns, self.rows, self.column_step, self.row_step)

    @property
    def memory(self):
        buffer = self.buffer
        return Buffer(buffer.flat[self.start :], (buffer.size - self.start,), buffer.device)


def sides(p, buffer, parts, which, group):
    """One part of one head in one row of the batch, as a matrix (times, size)."""
    times, batch, wide = buffer.shape
    size = wide // (p.heads * parts)
    row, head = divmod(group, p.heads)
    return Matrix(buffer, row * wide + (head * parts + which) * size, times, size, batch * wide, 1)


def scores_of(buffer, group):
    _, queries, keys = buffer.shape
    return Matrix(buffer, group * queries * keys, queries, keys, keys, 1)


def product(left, right, target, spare=None):
    """target = left . right; ``spare`` holds the result where the rows of ``target`` do not follow each other."""
    n, m = target.rows, target.columns
    dense = target.row_step == m
    out = target.memory if dense else spare
    steps = left.row_step, left.column_step, right.row_step, right.column_step
    PRODUCT(left.memory, right.memory, out, Product(n, m, left.columns, *steps))
    if not dense:
        BLOCKS(spare, target.buffer, n, m, 0, m, target.start, target.row_step)


def score(p, queries, keys, out, q, k):
    """``q`` and ``k`` are (parts, which) of the two arrays."""
    size = queries.shape[2] // (p.heads * q[0])
    for group in range(out.shape[0]):
        left, right = sides(p, queries, *q, group), sides(p, keys, *k, group)
        product(left, right.transposed, scores_of(out, group))
    DIVIDE(out, out.size, sqrt(size))


def score_back(p, head, queries, keys, d_queries, d_keys, q, k):
    groups, rows, columns = head.shape
    size = queries.shape[2] // (p.heads * q[0])
    (spare,) = scratch(head, max(rows, columns) * size)
    for target in (d_queries, d_keys):
        zero(target)
    for group in range(groups):
        slope = scores_of(head, group)
        if d_queries is not None:
            target = sides(p, d_queries, *q, group)
            product(slope, sides(p, keys, *k, group), target, spare)
        if d_keys is not None:
            target = sides(p, d_keys, *k, group)
            product(slope.transposed, sides(p, queries, *q, group), target, spare)
    for target in (d_queries, None if d_keys is d_queries else d_keys):
        if target is not None:
            DIVIDE(target, target.size, sqrt(size))


def weigh(p, values, attention, out, v):
    groups, rows, _ = attention.shape
    (spare,) = scratch(out, rows * (out.shape[2] // p.heads))
    for group in range(groups):
        left, right = scores_of(attention, group), sides(p, values, *v, group)
        product(left, right, sides(p, out, 1, 0, group), spare)


def weigh_back(p, head, values, attention, d_values, d_attention, v):
    groups, _, columns = attention.shape
    (spare,) = scratch(head, columns * (head.shape[2] // p.heads))
    zero(d_values)
    for group in range(groups):
        slope = sides(p, head, 1, 0, group)
        if d_values is not None:
            target = sides(p, d_values, *v, group)
            product(scores_of(attention, group).transposed, slope, target, spare)
        if d_attention is not None:
            right = sides(p, values, *v, group).transposed
            product(slope, right, scores_of(d_attention, group))


def forward_self_scores(p, qkv, out):
    score(p, qkv, qkv, out, (3, 0), (3, 1))


def backward_self_scores(p, head, qkv, d_qkv):
    if d_qkv is not None:
        score_back(p, head, qkv, qkv, d_qkv, d_qkv, (3, 0), (3, 1))


def forward_self_values(p, qkv, attention, out):
    weigh(p, qkv, attention, out, (3, 2))


def backward_self_values(p, *buffers):
    weigh_back(p, *buffers, (3, 2))


def forward_scores(p, queries, keys_values, out):
    score(p, queries, keys_values, out, (1, 0), (2, 0))


def backward_scores(p, *buffers):
    score_back(p, *buffers, (1, 0), (2, 0))


def forward_values(p, keys_values, attention, out):
    weigh(p, keys_values, attention, out, (2, 1))


def backward_values(p, *buffers):
    weigh_back(p, *buffers, (2, 1))


def cases_of(names):
    def cases(draw):
        heads, queries, keys, batch, size = (draw.integer(1, 3) for _ in range(5))
        parts = {"queries_keys_values": 3, "queries": 1, "keys_values": 2}
        shapes = {
            name: (keys if name == "keys_values" else queries, batch, heads * parts[name] * size)
            for name in names if name in parts
        }
        if "attention" in names:
            shapes["attention"] = (batch * heads, queries, queries if "queries_keys_values" in names else keys)
        return Case({"heads": heads}, shapes)

    return cases


REFUSED = {
    "interleaved_matmul/heads": {"params": {"heads": 2}, "shapes": {"queries_keys_values": (2, 1, 9)}},
    "interleaved_matmul/shape": {"params": {"heads": 1}, "shapes": {"queries_keys_values": (2, 9)}},
}
for name, names, how, refusals in (
    ("selfatt_qk", ("queries_keys_values",), (infer_self_scores, forward_self_scores, backward_self_scores), REFUSED),
    (
        "selfatt_valatt", ("queries_keys_values", "attention"),
        (infer_self_values, forward_self_values, backward_self_values),
        {"interleaved_matmul/shape": {
            "params": {"heads": 1}, "shapes": {"queries_keys_values": (2, 1, 9), "attention": (1, 3, 2)},
        }},
    ),
    (
        "encdec_qk", ("queries", "keys_values"), (infer_scores, forward_scores, backward_scores),
        {"interleaved_matmul/shape": {
            "params": {"heads": 1}, "shapes": {"queries": (2, 1, 2), "keys_values": (3, 1, 6)},
        }},
    ),
    ("encdec_valatt", ("keys_values", "attention"), (infer_values, forward_values, backward_values), {}),
):
    infer, forward, backward = how
    register(Op(
        name=f"_contrib_interleaved_matmul_{name}", doc=__doc__, params=Params, inputs=names, infer=infer,
        forward=forward, backward=backward, needs=names, cases=cases_of(names), refusals=refusals,
        tier=2, reports=Sources() if name == "selfatt_qk" else None,
    ))
