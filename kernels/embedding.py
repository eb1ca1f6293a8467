"""Embedding, take, pick, one_hot: elements chosen by an array of indices.

[indexing/whole-numbers] indices may be of any type; a fraction is cut off towards zero.
    >>> run("pick", [[1, 2, 3]], [1.7]), run("one_hot", [-0.5], depth=2)
    ([2.0], [[1.0, 0.0]])

[Embedding/clip] out[i] = weight[data[i]]; an index below 0 counts as 0, one past the end as the last row.
    >>> run("Embedding", [0, 1.7, -1, 9], [[1, 2], [3, 4], [5, 6]], input_dim=3, output_dim=2)
    [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0]]

[Embedding/weight-shape] weight is (input_dim, output_dim); an unknown weight is inferred, any other refused.

[Embedding/type] the output has the type of weight, which is dtype where nothing else is known.

[Embedding/gradient] d_weight[row] is the sum of the heads of all places that read the row, added in order.
    >>> grad("Embedding", [2, 0, 2], [[0], [0], [0]], input_dim=3, output_dim=1, head=[[1], [10], [100]])
    (None, [[10.0], [0.0], [101.0]])

[Embedding/data-gradient] the gradient of data cannot be asked for.

[Embedding/sparse] _contrib_SparseEmbedding, the older name, is Embedding with a row_sparse gradient; deterministic
    has no meaning here, for every sum is in order.
    >>> run("_contrib_SparseEmbedding", [2, 0], [[1], [2], [3]], input_dim=3, output_dim=1, deterministic=True)
    [[3.0], [1.0]]

[take/axis] the indices of one axis of a are chosen; the axes of indices take its place.
    >>> run("take", [[1, 2, 3], [4, 5, 6]], [1, 0])
    [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]
    >>> run("take", [[1, 2, 3], [4, 5, 6]], [[2, 0]], axis=1)
    [[[3.0, 1.0]], [[6.0, 4.0]]]

[take/mode] outside indices count as the nearest one (clip), or modulo the side (wrap).
    >>> run("take", [1, 2, 3], [-1, 4]), run("take", [1, 2, 3], [-1, 4], mode="wrap")
    ([1.0, 3.0], [3.0, 2.0])

[take/raise] with mode="raise" indices outside 0 .. side - 1 are refused when the operator runs.

[take/gradient] each element of a takes the sum of the heads that read it; indices take none.
    >>> grad("take", [1, 2, 3], [2, 0, 2], head=[1, 10, 100])
    ([10.0, 0.0, 101.0], [0.0, 0.0, 0.0])

[pick/axis] one element along axis for each index; the index array lacks the axis, or has one element there.
    With keepdims the result keeps the axis.
    >>> run("pick", [[1, 2, 3], [4, 5, 6]], [0, 2])
    [1.0, 6.0]
    >>> run("pick", [[1, 2, 3], [4, 5, 6]], [[0, 1, 1]], axis=0, keepdims=True)
    [[1.0, 5.0, 6.0]]

[pick/mode] clip and wrap are those of take.
    >>> run("pick", [[1, 2, 3]], [4]), run("pick", [[1, 2, 3]], [4], mode="wrap")
    ([3.0], [2.0])

[pick/gradient] the chosen elements take the heads, all others zero; index takes none.
    >>> grad("pick", [[1, 2, 3]], [1], head=[5])
    ([[0.0, 5.0, 0.0]], [0.0])

[one_hot/row] each index becomes a row of depth numbers, on_value at the index and off_value elsewhere;
    an index outside the row leaves it all off. The type is dtype.
    >>> run("one_hot", [1, 3, -1], depth=3)
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    >>> run("one_hot", [[1]], depth=2, on_value=5, off_value=-1, dtype="int32")
    [[[-1.0, 5.0]]]
"""

from typing import Annotated, Literal, NamedTuple

import numpy as np

from .foundation import (
    AtLeast,
    Case,
    Loop,
    Op,
    Sources,
    items,
    known,
    merge,
    normal_axis,
    register,
    require,
    require_some,
    scalar,
    scratch,
    steps,
)
from .foundation.loops import clipped, outer_side_inner, truncated, wrapped, zero
from .multilinear import register_multilinear

DataType = Literal["float32", "float64", "float16", "int8", "uint8", "int32", "int64"]


class Params(NamedTuple):
    input_dim: Annotated[int, AtLeast(1)]
    output_dim: Annotated[int, AtLeast(1)]
    dtype: DataType = "float32"
    sparse_grad: bool = False


class SparseParams(NamedTuple):
    input_dim: Annotated[int, AtLeast(1)]
    output_dim: Annotated[int, AtLeast(1)]
    dtype: DataType = "float32"
    deterministic: bool = False

    @property
    def sparse_grad(self):
        return True


class TakeParams(NamedTuple):
    axis: int = 0
    mode: Literal["clip", "raise", "wrap"] = "clip"


class PickParams(NamedTuple):
    axis: int | None = -1
    keepdims: bool = False
    mode: Literal["clip", "wrap"] = "clip"


class OneHotParams(NamedTuple):
    depth: Annotated[int, AtLeast(0)]
    on_value: float = 1.0
    off_value: float = 0.0
    dtype: DataType = "float32"


# --- shapes and types ---------------------------------------------------------------------------


def infer(p, ins, outs):
    data, weight, out = *ins, outs[0]
    weight = merge("Embedding/weight-shape", "weight", weight, (p.input_dim, p.output_dim))
    if data is not None:
        out = merge("Embedding/clip", "output", out, (*data, p.output_dim))
    if out is not None:
        data = merge("Embedding/clip", "data", data, out[:-1])
    return [data, weight], [out]


def infer_type(p, ins, outs):
    kinds = [kind for kind in (ins[1], outs[0]) if kind is not None]
    kind = kinds[0] if kinds else np.dtype(p.dtype)
    return [ins[0], kind], [kind]


def infer_take(p, ins, outs):
    a, indices = ins
    if a is None or indices is None:
        return ins, outs
    axis = normal_axis("take/axis", p.axis, len(a))
    wanted = (*a[:axis], *indices, *a[axis + 1 :])
    require_some(f"axis {axis} of a", a[axis], wanted)
    return ins, [merge("take/axis", "output", outs[0], wanted)]


def infer_pick(p, ins, outs):
    data, index = ins
    require("pick/axis", p.axis is not None, "pick needs an axis; axis=None is not supported")
    if data is None:
        return ins, outs
    axis = normal_axis("pick/axis", p.axis, len(data))
    flat = (*data[:axis], *data[axis + 1 :]) or (1,)
    kept = (*data[:axis], 1, *data[axis + 1 :])
    index_is_kept = index is not None and len(index) == len(data)
    index = merge("pick/axis", "index", index, kept if index_is_kept else flat)
    require_some(f"axis {axis} of data", data[axis], flat)
    return [data, index], [merge("pick/axis", "output", outs[0], kept if p.keepdims else flat)]


def type_of_first(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    return [kind, ins[1]], [kind]


def infer_one_hot(p, ins, outs):
    indices, out = ins[0], outs[0]
    if indices is not None:
        out = merge("one_hot/row", "output", out, (*indices, p.depth))
    if out is not None:
        indices = merge("one_hot/row", "indices", indices, out[:-1])
    return [indices], [out]


def type_one_hot(p, ins, outs):
    return ins, [np.dtype(p.dtype)]


# --- loops --------------------------------------------------------------------------------------
# The array of which elements are chosen is (outer, side, inner).


@scalar
def row_of(index, side, wrap):
    """The row of ``side`` that an index names."""
    return wrapped(index, side) if wrap else clipped(index, side)


def choose(indices, a, out, wrap):
    """out[o, t, i] = a[o, indices[t], i]."""
    inner = out.shape[2]
    for o, t in items(out.shape[:2]):
        row = row_of(indices[t], a.shape[1], wrap)
        for i in range(inner):
            out[o, t, i] = a[o, row, i]


def collect(indices, head, d_a, wrap):
    """d_a[o, indices[t], i] = sum of head[o, t, i], in the order of t."""
    outer, count, inner = head.shape
    for o in items(outer):
        for s, i in steps(d_a.shape[1:]):
            d_a[o, s, i] = 0
        for t in range(count):
            row = row_of(indices[t], d_a.shape[1], wrap)
            for i in range(inner):
                d_a[o, row, i] += head[o, t, i]


def collect_cuda(indices, head, d_a, wrap):
    """The same sums with one column per item."""
    outer, count, inner = head.shape
    for o, i in items((outer, inner)):
        for s in range(d_a.shape[1]):
            d_a[o, s, i] = 0
        for t in range(count):
            d_a[o, row_of(indices[t], d_a.shape[1], wrap), i] += head[o, t, i]


def find_outside(indices, found, count, side):
    for _ in items(1):
        found[0] = 0
        for t in range(count):
            index = truncated(indices[t])
            if index < 0 or index >= side:
                found[0] = 1


def pick_one(index, data, out, wrap):
    """out[o, i] = data[o, index[o, i], i]."""
    for o, i in items(out.shape):
        out[o, i] = data[o, row_of(index[o, i], data.shape[1], wrap), i]


def put_one(index, head, d_data, wrap):
    """d_data[o, index[o, i], i] = head[o, i]."""
    for o, i in items(head.shape):
        d_data[o, row_of(index[o, i], d_data.shape[1], wrap), i] = head[o, i]


def hot_rows(out, indices, on, off):
    count, depth = out.shape
    for r in items(count):
        index = truncated(indices[r])
        for j in range(depth):
            out[r, j] = on if j == index else off


CHOOSE, COLLECT = Loop(choose), Loop(collect, cuda_function=collect_cuda)
FIND_OUTSIDE, HOT_ROWS = Loop(find_outside), Loop(hot_rows)
PICK_ONE, PUT_ONE = Loop(pick_one), Loop(put_one)


# --- the operators ------------------------------------------------------------------------------


def forward(p, data, weight, out):
    CHOOSE(data, weight.reshape((1, *weight.shape)), out.reshape((1, data.size, p.output_dim)), False)


def backward(p, head, data, d_data, d_weight):
    if d_weight is not None:
        COLLECT(data, head.reshape((1, data.size, p.output_dim)), d_weight.reshape((1, *d_weight.shape)), False)


def forward_take(p, a, indices, out):
    outer, side, inner = outer_side_inner(a.shape, p.axis % len(a.shape))
    if p.mode == "raise":
        (found,) = scratch(indices, 1, dtype=np.int64)
        FIND_OUTSIDE(indices, found, indices.size, side)
        require(
            "take/raise", not found.to_numpy()[0],
            f"take: indices outside 0 .. {side - 1} with mode='raise'; use clip or wrap to allow them",
        )
    CHOOSE(indices, a.reshape((outer, side, inner)), out.reshape((outer, indices.size, inner)), p.mode == "wrap")


def backward_take(p, head, indices, d_a, d_indices):
    zero(d_indices)
    if d_a is not None:
        outer, side, inner = outer_side_inner(d_a.shape, p.axis % len(d_a.shape))
        rows = head.reshape((outer, indices.size, inner))
        COLLECT(indices, rows, d_a.reshape((outer, side, inner)), p.mode == "wrap")


def forward_pick(p, data, index, out):
    outer, side, inner = outer_side_inner(data.shape, p.axis % len(data.shape))
    chosen = (outer, inner)
    PICK_ONE(index.reshape(chosen), data.reshape((outer, side, inner)), out.reshape(chosen), p.mode == "wrap")


def backward_pick(p, head, index, d_data, d_index):
    zero(d_index)
    if d_data is not None:
        zero(d_data)
        outer, side, inner = outer_side_inner(d_data.shape, p.axis % len(d_data.shape))
        chosen = (outer, inner)
        PUT_ONE(index.reshape(chosen), head.reshape(chosen), d_data.reshape((outer, side, inner)), p.mode == "wrap")


def forward_one_hot(p, indices, out):
    HOT_ROWS(out.reshape((indices.size, p.depth)), indices, p.on_value, p.off_value)


def backward_one_hot(p, head, d_indices):
    zero(d_indices)


def cases(draw):
    rows = draw.integer(1, 4)
    params = {"input_dim": rows, "output_dim": draw.integer(1, 4)}
    return Case(params, {"data": draw.shape(1, 3)}, {"data": ("ints", -1, rows + 1)})


def cases_take(draw):
    shape, mode = draw.shape(1, 3), draw.choice(["clip", "wrap", "raise"])
    axis = draw.integer(-len(shape), len(shape) - 1)
    values = ("labels", shape[axis]) if mode == "raise" else ("ints", -5, 5)
    return Case(
        {"axis": axis, "mode": mode}, {"a": shape, "indices": draw.shape(1, 2)}, {"indices": values}
    )


def cases_pick(draw):
    shape = draw.shape(1, 4)
    axis = draw.integer(-len(shape), len(shape) - 1)
    params = {"axis": axis, "keepdims": draw.boolean(), "mode": draw.choice(["clip", "wrap"])}
    return Case(params, {"data": shape}, {"index": ("ints", -5, 5)})


def cases_one_hot(draw):
    depth = draw.integer(1, 4)
    params = {"depth": depth, "dtype": draw.choice(["float32", "float64"]), "off_value": -2}
    return Case(params, {"indices": draw.shape(1, 3)}, {"indices": ("ints", -1, depth)})


register_multilinear(Op(
    name="Embedding", doc=__doc__, params=Params, inputs=("data", "weight"), infer=infer,
    infer_type=infer_type, forward=forward, backward=backward, needs=("data",),
    refuses_gradient={"data": "Embedding/data-gradient"}, cases=cases,
    aliases=("_sparse_Embedding",),
    refusals={
        "Embedding/weight-shape": {
            "params": {"input_dim": 3, "output_dim": 2}, "shapes": {"data": (4,), "weight": (2, 3)},
        },
    },
    tier=1, reports=Sources(1),
    difference_clauses={"": "Embedding/clip"},
), ("weight",))
register_multilinear(Op(
    name="_contrib_SparseEmbedding", doc=__doc__, params=SparseParams, inputs=("data", "weight"), infer=infer,
    infer_type=infer_type, forward=forward, backward=backward, needs=("data",),
    refuses_gradient={"data": "Embedding/data-gradient"}, cases=cases,
    tier=1, reports=Sources(1),
), ("weight",))


def report_take(infer, p, ins, outs):
    """What MXNet reports: nothing before all is known of the indices."""
    return infer(p, ins, outs) if known(ins[1]) else (ins, outs)


register_multilinear(Op(
    name="take", doc=__doc__, params=TakeParams, inputs=("a", "indices"), infer=infer_take,
    infer_type=type_of_first, forward=forward_take, backward=backward_take, needs=("indices",),
    no_gradient=("indices",), cases=cases_take,
    refusals={"take/axis": {"params": {"axis": 2}, "shapes": {"a": (2, 3), "indices": (4,)}}},
    tier=1, method="take", reports=report_take,
    runs_alone={"find_outside": "names the first index that is out of range; runs only with mode raise"},
), ("a",))
register_multilinear(Op(
    name="pick", doc=__doc__, params=PickParams, inputs=("data", "index"), infer=infer_pick,
    infer_type=type_of_first, forward=forward_pick, backward=backward_pick, needs=("index",),
    no_gradient=("index",), aliases=("choose_element_0index",), cases=cases_pick,
    refusals={"pick/axis": {"params": {}, "shapes": {"data": (2, 3), "index": (3,)}}},
    tier=1, method="pick",
), ("data",))
register(Op(
    name="one_hot", doc=__doc__, params=OneHotParams, inputs=("indices",), infer=infer_one_hot,
    infer_type=type_one_hot, forward=forward_one_hot, backward=backward_one_hot,
    no_gradient=("indices",), cases=cases_one_hot,
    tier=1, method="one_hot", reports=Sources(whole=True),
))
