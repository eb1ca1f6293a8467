"""sort, argsort, topk: the elements along an axis in order, or the first k of them.

[sort/axis] one axis is sorted, -1 unless named, negative from the end; axis=None reads the array as one row.
    >>> run("sort", [[3, 1, 2], [1, 1, 0]]), run("sort", [[3, 1], [2, 0]], axis=0)
    ([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]], [[2.0, 0.0], [3.0, 1.0]])
    >>> run("sort", [[3, 1], [2, 0]], axis=None, is_ascend=False)
    [3.0, 2.0, 1.0, 0.0]

[sort/ties] equal elements keep the order of their indices, upwards and downwards.
    >>> run("argsort", [1, 0, 1, 0]), run("argsort", [1, 0, 1, 0], is_ascend=False)
    ([1.0, 3.0, 0.0, 2.0], [0.0, 2.0, 1.0, 3.0])

[sort/nan] NaN counts as larger than every number.
    >>> nan = float("nan")
    >>> run("sort", [nan, 1, float("inf"), 0]), run("argsort", [2, nan, 1], is_ascend=False)
    ([0.0, 1.0, inf, nan], [1.0, 0.0, 2.0])

[sort/shape] the output's shape is inferred from the input's, never the reverse.

[sort/gradient] the head goes back to the places that the elements came from. argsort has gradient zero.
    >>> grad("sort", [[3, 1, 2]], head=[[4, 5, 6]]), grad("argsort", [3, 1])
    ([[6.0, 4.0, 5.0]], None)

[topk/result] the first k elements in order, the largest first unless is_ascend: ret_typ="indices" gives where
    they are, "value" the elements, "both" first these and then those, "mask" 1 at their places and else 0.
    k below 1 means all; axis, ties and NaN are those of sort.
    >>> x = [[3, 1, 2], [1, 1, 0]]
    >>> run("topk", x, k=2), run("topk", x, k=2, ret_typ="mask")
    ([[0.0, 2.0], [0.0, 1.0]], [[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    >>> run("topk", x, k=1, ret_typ="both", axis=0), run("topk", x, ret_typ="value", is_ascend=True)
    (([[3.0, 1.0, 2.0]], [[0.0, 0.0, 0.0]]), [[1.0], [0.0]])
    >>> run("topk", x, k=2, axis=None), run("topk", x, k=2, axis=None, ret_typ="mask")
    ([0.0, 2.0], [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])

[topk/k] k is not larger than the side of the axis.

[topk/dtype] indices have type dtype (float32 unless named), which must hold every whole number below the side;
    values and masks have the type of data.
    >>> run("topk", [5, 7], dtype="int32")
    [1.0]

[topk/gradient] the head of the values goes back to their places, all others get zero; indices and masks have
    gradient zero.
    >>> grad("topk", [[3, 1, 2], [1, 1, 0]], k=2, ret_typ="value", head=[[1, 2], [3, 4]])
    [[1.0, 0.0, 2.0], [3.0, 4.0, 0.0]]
    >>> grad("topk", [3, 1], ret_typ="indices")
    [0.0, 0.0]
"""

from math import prod
from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, items, merge, normal_axis, register, require, scratch, told
from .foundation.loops import outer_side_inner, zero
from .shared.sorting import goes_first, put_in_order

IndexType = Literal["float16", "float32", "float64", "int32", "int64", "uint8"]
FEW = 32  # up to so many elements of a row are quicker to find than to sort
EXACT = {"float16": 2**11, "float32": 2**24, "uint8": 2**8 - 1, "int32": 2**31 - 1}


class SortParams(NamedTuple):
    axis: int | None = -1
    is_ascend: bool = True


class ArgsortParams(NamedTuple):
    axis: int | None = -1
    is_ascend: bool = True
    dtype: IndexType = "float32"


class TopkParams(NamedTuple):
    axis: int | None = -1
    k: int = 1
    ret_typ: Literal["both", "indices", "mask", "value"] = "indices"
    is_ascend: bool = False
    dtype: IndexType = "float32"


# --- shapes and types ---------------------------------------------------------------------------


def side_of(p, shape):
    """How many elements are put in order at a time."""
    if p.axis is None:
        return prod(shape)
    return shape[normal_axis("sort/axis", p.axis, len(shape))]


def count_of(p, shape):
    """How many elements of a row are chosen: all of them for sort and argsort."""
    k = getattr(p, "k", 0)
    return k if k > 0 else side_of(p, shape)


def chosen(p, shape):
    """The output's shape when ``p.k`` elements are chosen (all of them for sort and argsort)."""
    side, count = side_of(p, shape), count_of(p, shape)
    require(
        "topk/k", not told(side) or count <= side, f"k={count} is more than the {side} elements along axis {p.axis}",
    )
    if p.axis is None:
        return (count,)
    axis = p.axis % len(shape)
    return (*shape[:axis], count, *shape[axis + 1 :])


def infer(p, ins, outs):
    data = ins[0]
    if data is None:
        return ins, outs
    kind = getattr(p, "dtype", None)
    require(
        "topk/dtype", not told(side_of(p, data)) or side_of(p, data) - 1 <= EXACT.get(kind, 2**53),
        f"dtype={kind} cannot hold the indices of {side_of(p, data)} elements; use int32 or int64",
    )
    selected = chosen(p, data)  # refuses a k that is too large, whatever is returned
    shape = data if is_mask(p) else selected
    return [data], [merge("sort/shape", "output", out, shape) for out in outs]


def is_mask(p):
    return getattr(p, "ret_typ", "") == "mask"


def type_sort(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    return [kind], [kind, np.dtype(np.int64)]


def type_argsort(p, ins, outs):
    return ins, [np.dtype(p.dtype)]


def type_topk(p, ins, outs):
    if p.ret_typ == "indices":
        return ins, [np.dtype(p.dtype)]
    kind = ins[0] if ins[0] is not None else outs[0]
    index = [] if p.ret_typ == "mask" else [np.dtype(p.dtype if p.ret_typ == "both" else np.int64)]
    return [kind], [kind, *index]


def outputs(p):
    return ("output0", "output1") if p.ret_typ in ("both", "value") else ("output",)


# --- loops --------------------------------------------------------------------------------------
# data is (outer, side, inner); a row has the elements along side. order (outer, inner, side) holds indices.


def select(data, order, count, ascending):
    """Begin each row of order with the first ``count``: one walk over the row, which keeps the first so far."""
    for n, j in items(order.shape[:2]):
        last = data[n, 0, j]
        for i in range(data.shape[1]):
            x = data[n, i, j]
            if i < count or goes_first(x, last, ascending):
                at = min(i, count - 1)
                while at > 0 and goes_first(x, data[n, order[n, j, at - 1], j], ascending):
                    order[n, j, at] = order[n, j, at - 1]
                    at -= 1
                order[n, j, at] = i
                last = data[n, order[n, j, min(i, count - 1)], j]


def take_values(data, order, values):
    for n, k, j in items(values.shape):
        values[n, k, j] = data[n, order[n, j, k], j]


def take_indices(order, indices):
    for n, k, j in items(indices.shape):
        indices[n, k, j] = order[n, j, k]


def mark(order, mask, count):
    for n, j, k in items((*order.shape[:2], count)):
        mask[n, order[n, j, k], j] = 1


def put_back(head, indices, d_data):
    for n, k, j in items(head.shape):
        d_data[n, np.int64(indices[n, k, j]), j] = head[n, k, j]


SELECT, TAKE_VALUES, TAKE_INDICES = Loop(select), Loop(take_values), Loop(take_indices)
MARK, PUT_BACK = Loop(mark), Loop(put_back)


# --- the operators ------------------------------------------------------------------------------


def by_axis(p, buffer):
    """A buffer under the axes (outer, side, inner)."""
    if p.axis is None:
        return buffer.reshape((1, buffer.size, 1))
    return buffer.reshape(outer_side_inner(buffer.shape, p.axis % len(buffer.shape)))


def order_of(p, data):
    """The indices of every row of data, of which the first ``count_of(p, data.shape)`` are in order."""
    count, data = count_of(p, data.shape), by_axis(p, data)
    outer, side, inner = data.shape
    order, other = (each.reshape((outer, inner, side)) for each in scratch(data, data.size, data.size, dtype=np.int64))
    if data.device == "cpu" and 0 < count < side and count <= FEW:
        SELECT(data, order, count, p.is_ascend)
        return order
    return put_in_order(data, order, other, p.is_ascend)


def forward_both(p, data, values, indices):
    order = order_of(p, data)
    TAKE_VALUES(by_axis(p, data), order, by_axis(p, values))
    TAKE_INDICES(order, by_axis(p, indices))


def forward_argsort(p, data, indices):
    TAKE_INDICES(order_of(p, data), by_axis(p, indices))


def forward_topk(p, data, *outs):
    if len(outs) == 2:
        forward_both(p, data, *outs)
        return
    order = order_of(p, data)
    if p.ret_typ == "mask":
        zero(outs[0])
        MARK(order, by_axis(p, outs[0]), count_of(p, data.shape))
    else:
        TAKE_INDICES(order, by_axis(p, outs[0]))


def backward(p, head, *rest):
    *kept, d_data = rest
    if d_data is None:
        return
    zero(d_data)
    if kept:
        PUT_BACK(by_axis(p, head), by_axis(p, kept[-1]), by_axis(p, d_data))


def nothing(make, p, heads, inputs, outputs):
    return [None]


def cases(draw):
    shape = draw.shape(1, 4)
    axis = draw.choice([None, -1, 0, len(shape) - 1])
    return Case({"axis": axis, "is_ascend": draw.boolean()}, {"data": shape}, {"data": "apart"})


def cases_topk(draw):
    plain = cases(draw)
    shape, axis = plain.shapes["data"], plain.params["axis"]
    side = shape[axis] if axis is not None else prod(shape)
    more = {
        "k": draw.integer(0, side), "ret_typ": draw.choice(["both", "indices", "mask", "value"]),
        "dtype": draw.choice(["float32", "int32", "float64"]),
    }
    return Case({**plain.params, **more}, plain.shapes, plain.values)


AXIS = {"sort/axis": {"params": {"axis": 2}, "shapes": {"data": (2, 3)}}}
register(Op(
    name="sort", doc=__doc__, params=SortParams, outputs=("output0", "output1"), hidden=1, infer=infer,
    infer_type=type_sort, forward=forward_both, backward=backward, needs=("output1",), cases=cases,
    refusals={**AXIS, "sort/shape": {"shapes": {"data": (2, 3), "output0": (3,)}}},
    tier=1, method="sort", numbered_input=True,
))
register(Op(
    name="argsort", doc=__doc__, params=ArgsortParams, infer=infer, infer_type=type_argsort,
    forward=forward_argsort, gradient=nothing, cases=cases,
    refusals={**AXIS, "topk/dtype": {"params": {"dtype": "uint8"}, "shapes": {"data": (300,)}}},
    tier=1, method="argsort", numbered_input=True,
))
register(Op(
    name="topk", doc=__doc__, params=TopkParams, outputs=outputs, infer=infer, infer_type=type_topk,
    visible=lambda p: 2 if p.ret_typ == "both" else 1, forward=forward_topk, backward=backward,
    needs=lambda p: ("output1",) if len(outputs(p)) == 2 else (), cases=cases_topk,
    refusals={**AXIS, "topk/k": {"params": {"k": 4}, "shapes": {"data": (2, 3)}}},
    tier=1, method="topk", numbered_input=True,
))
